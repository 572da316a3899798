/**
 * Sessions that are opened again (`spec/state-db-writes.md` F3, F4, C3): never so that a conversation gets two heads.
 */
import { WriteRefused } from '../../write-refused.ts';
import { isJsonObject, parseJson } from '../decode.ts';
import { flagsLineage } from '../flags-lineage.ts';
import { RESET_REASONS } from '../lineage.ts';
import type { StoreReading } from '../store-reading.ts';
import { type Admitted, admit, checkAdmission } from './admission.ts';
import { RECOVERABLE_REASONS } from './end-session.ts';
import { SessionGraph } from './session-graph.ts';
import { hasContinuation, requireSession, storedEnd, unmarkedResets } from './session-rows.ts';
import type { StoreOperation } from './store-operation.ts';
import { planRevival, revive } from './sweep-archive.ts';

const REOPEN = 'UPDATE sessions SET ended_at = NULL, end_reason = NULL WHERE id = ?';
/** As the owning programs stamp it: the text that SQLite makes, and not Python's. */
const STAMP_RESET = "UPDATE sessions SET model_config = json_set(?, '$._reset_from', ?) WHERE id = ?";

/** Ends that are no deliberate close: the clean-up of a runtime, and the boundaries of a conversation. */
const NOT_EXPLICIT: ReadonlySet<string> = new Set([
  ...RECOVERABLE_REASONS,
  'tui_shutdown',
  'ws_disconnect',
  'idle_timeout',
  'lru_evict',
  'compression',
  ...RESET_REASONS,
  'new_session',
]);

export interface ReopenInput {
  readonly sessionId: string;
  /** Open it only when somebody closed it on purpose (F4). */
  readonly explicitCloseOnly: boolean;
  /** The reason that was read; null: none is expected. */
  readonly expectedEndReason: string | null;
}

export interface ReopenResult {
  readonly sessionId: string;
  readonly changed: boolean;
  /** What had ended it; null when nothing was changed. */
  readonly clearedReason: string | null;
}

interface ReopenPlan extends ReopenResult {
  readonly admitted: Admitted | null;
  /** Configurations of children to be marked as resets, as JSON text by id. */
  readonly resets: ReadonlyMap<string, string>;
  readonly revivedIds: readonly string[];
}

/**
 * F3, F4. Throws NOT_FOUND, HAS_CONTINUATION for a compressed segment that goes on elsewhere, SESSION_BUSY while a turn runs in the
 * conversation, COMPRESSION_IN_PROGRESS while it is compressed, CONFLICT when another reason than the expected one ended it.
 */
export const reopenSession: StoreOperation<ReopenInput, ReopenPlan, ReopenResult> = {
  patience: 'ROUTINE',
  touchesMessages: false,
  plan: (store, { sessionId, explicitCloseOnly, expectedEndReason }, { now }) => {
    const end = storedEnd(store, sessionId);
    const graph = new SessionGraph(store);
    if (expectedEndReason !== null && end.reason !== expectedEndReason) {
      throw new WriteRefused('CONFLICT', '', { details: { endReason: end.reason } });
    }
    const unchanged = { sessionId, changed: false, clearedReason: null, admitted: null, resets: new Map(), revivedIds: [] };
    if (!end.isEnded && end.reason === null) return unchanged;
    if (explicitCloseOnly && (NOT_EXPLICIT.has(end.reason ?? '') || hasContinuation(graph, sessionId))) return unchanged;
    const isCompressed = end.reason === 'compression';
    if (isCompressed && hasContinuation(graph, sessionId)) throw new WriteRefused('HAS_CONTINUATION');
    const admitted = checkAdmission(
      store,
      graph,
      sessionId,
      { rejectLease: 'SESSION_BUSY', rejectLock: isCompressed ? 'COMPRESSION_IN_PROGRESS' : null },
      now,
    );
    return {
      sessionId,
      changed: true,
      clearedReason: end.reason,
      admitted,
      resets: resetConfigurations(store, graph, sessionId),
      revivedIds: planRevival(store, flagsLineage(graph, requireSession(graph, sessionId))),
    };
  },
  execute: (transaction, plan) => {
    if (plan.admitted !== null) admit(transaction, plan.admitted);
    for (const [id, config] of plan.resets) transaction.run(STAMP_RESET, [config, plan.sessionId, id]);
    if (plan.changed) transaction.run(REOPEN, [plan.sessionId]);
    revive(transaction, plan.revivedIds);
    return told(plan);
  },
  preview: told,
  wasMade: (store, { sessionId, changed }) => !changed || !storedEnd(store, sessionId).isEnded,
};

function told({ sessionId, changed, clearedReason }: ReopenPlan): ReopenResult {
  return { sessionId, changed, clearedReason };
}

function resetConfigurations(store: StoreReading, graph: SessionGraph, sessionId: string): Map<string, string> {
  const configurations = new Map<string, string>();
  for (const child of unmarkedResets(graph, requireSession(graph, sessionId))) {
    const stored = store.get('SELECT model_config FROM sessions WHERE id = ?', [child.id])?.model_config;
    if (stored === null || stored === '') configurations.set(child.id, '{}');
    // One that is no JSON object can't carry a mark, and isn't this operation's to mend.
    else if (typeof stored === 'string' && isJsonObject(parseJson(stored))) configurations.set(child.id, stored);
  }
  return configurations;
}

export interface OrphanedParentResult {
  readonly sessionId: string;
  /** False: no compression had closed it, or it is open already. */
  readonly reopened: boolean;
}

interface OrphanedParentPlan extends OrphanedParentResult {
  readonly admitted: Admitted | null;
}

/** C3. Throws NOT_FOUND, HAS_CONTINUATION when any child continues it, COMPRESSION_IN_PROGRESS while its lock is held. */
export const reopenOrphanedCompressionParent: StoreOperation<{ readonly sessionId: string }, OrphanedParentPlan, OrphanedParentResult> = {
  patience: 'ROUTINE',
  touchesMessages: false,
  plan: (store, { sessionId }, { now }) => {
    const end = storedEnd(store, sessionId);
    if (!end.isEnded || end.reason !== 'compression') return { sessionId, reopened: false, admitted: null };
    const graph = new SessionGraph(store);
    if (hasContinuation(graph, sessionId)) throw new WriteRefused('HAS_CONTINUATION');
    const admitted = checkAdmission(store, graph, sessionId, { rejectLock: 'COMPRESSION_IN_PROGRESS' }, now);
    return { sessionId, reopened: true, admitted };
  },
  execute: (transaction, { sessionId, reopened, admitted }) => {
    if (admitted !== null) admit(transaction, admitted);
    if (reopened) transaction.run(REOPEN, [sessionId]);
    return { sessionId, reopened };
  },
  preview: ({ sessionId, reopened }) => ({ sessionId, reopened }),
  wasMade: (store, { sessionId, reopened }) => !reopened || !storedEnd(store, sessionId).isEnded,
};
