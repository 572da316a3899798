/** Tips, roots, lineages, resume targets, delete sets, lease keys and locks of every session against upstream's walks. */
import {
  compressionLineage,
  delegateCascade,
  leaseKey,
  liveContinuation,
  parentWalk,
  resumeTarget,
  tip,
} from '../../src/state-db/lineage.ts';
import { liveFacts } from '../../src/state-db/liveness.ts';
import type { SessionEntry } from '../../src/state-db/session-record.ts';
import type { GoldenCase } from '../support/golden.ts';
import { answersInstead, goldenKind, type Handler, type Rule, type Verdict, verdict } from './compare.ts';
import { Upstream } from './upstream.ts';

const STORES = ['basic', 'lineage', 'hostile', 'badconfig', 'walled'] as const;

type Walk = (upstream: Upstream, entry: SessionEntry) => unknown;

/** A walk from a session; from an id that the store lacks, upstream answers with what it was given. */
function walk(ours: Walk, ofUnknown: (id: string) => unknown): Handler<Upstream> {
  return (upstream, { args, result }) => {
    const id = String(Object.values(args)[0]);
    const entry = upstream.catalogue.get(id);
    return verdict(entry === undefined ? ofUnknown(id) : ours(upstream, entry), result);
  };
}

const itself = (id: string) => id;
const alone = (id: string) => [id];
const hasRows = ({ stats }: SessionEntry) => (stats?.total ?? 0) > 0;

/** The golden answer names the holder; this server tells only that a lock is held, and of its holder pid and platform (12.1). */
function lock({ connection, now }: Upstream, { args, result }: GoldenCase): Verdict {
  const hold = liveFacts(connection, now).locks.get(String(args.session_id));
  const rule: Rule = { id: 'holder-not-shown', adjust: (holder) => (holder === null ? null : 'held') };
  return verdict(hold?.live === true ? 'held' : null, result, [rule]);
}

/** A child whose configuration is damaged has no marker; upstream's walk fails at it and stays where it is. */
const resume: Handler<Upstream> = ({ catalogue, name }, { args, result }) => {
  const id = String(args.session_id);
  const entry = catalogue.get(id);
  const rule: Rule = {
    id: 'bad-model-config',
    adjust: (target) => (name === 'badconfig' && target === 'm_bc0' ? 'm_bc_child' : target),
  };
  return verdict(entry === undefined ? id : resumeTarget(catalogue, entry, hasRows).id, result, [rule]);
};

const deleteTargets: Handler<Upstream> = ({ catalogue, name }, golden) => {
  const id = String(golden.args.session_id);
  const entry = catalogue.get(id);
  const targets = entry === undefined ? [] : [id, ...delegateCascade(catalogue, entry)];
  // A set: what is deleted first isn't part of the answer.
  if (golden.error === undefined) return verdict(targets.toSorted(), (golden.result as string[]).toSorted());
  // The two damaged configurations of this store hold no marker, and nothing delegates.
  return answersInstead('bad-model-config', golden, name === 'badconfig' && targets.join() === id);
};

goldenKind('lineage', STORES, Upstream.open, {
  get_compression_tip: walk(({ catalogue }, entry) => tip(catalogue, entry).id, itself),
  get_compression_lineage: walk(
    ({ catalogue }, entry) => compressionLineage(catalogue, entry),
    () => [],
  ),
  _session_lineage_root_to_tip: walk(({ catalogue }, entry) => parentWalk(catalogue, entry).reverse(), alone),
  get_conversation_root: walk(({ catalogue }, entry) => parentWalk(catalogue, entry).at(-1), itself),
  resolve_resume_session_id: resume,
  _is_explicit_branch_session: walk(
    (_, entry) => entry.branchedFrom !== null,
    () => false,
  ),
  get_session_delete_targets: deleteTargets,
  _session_turn_lease_key: walk(({ catalogue }, entry) => leaseKey(catalogue, entry), itself),
  get_compression_lock_holder: lock,
  find_live_compression_child: walk(
    ({ catalogue }, entry) => {
      const child = liveContinuation(catalogue, entry);
      return child === null ? null : { id: child.id };
    },
    () => null,
  ),
});
