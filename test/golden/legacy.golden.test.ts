/**
 * Stores of older owners that nobody has migrated, against three answers each: of the code that wrote them, of v26 that reads them without
 * being allowed to migrate (and mostly fails), and of v26 after its migration, which ours are to equal where defaults fill the gap.
 */
import { exportedMessage, exportSessions } from '../../src/state-db/export.ts';
import { resumeTarget, tip } from '../../src/state-db/lineage.ts';
import { listTotals } from '../../src/state-db/listing.ts';
import { messagePages } from '../../src/state-db/messages.ts';
import { readIndexState } from '../../src/state-db/search/index-state.ts';
import { nextTitle, pickByTitle, type TitledSession } from '../../src/state-db/titles.ts';
import { type GoldenCase, loadGolden, toUpstreamMessage } from '../support/golden.ts';
import { goldenKind, type Handler, type Rule, type Verdict, verdict } from './compare.ts';
import { conversation } from './conversations.ts';
import type { GoldenRow } from './golden-rows.ts';
import { searched } from './searched.ts';
import { likeGolden, listQuery, Upstream } from './upstream.ts';

const STORES = ['legacy-04', 'legacy-06'] as const;

interface LegacyCase extends Omit<GoldenCase, 'args'> {
  readonly args: readonly unknown[];
  readonly kwargs: Readonly<Record<string, unknown>>;
}

type Answer = (upstream: Upstream, first: string, kwargs: LegacyCase['kwargs']) => unknown;

const GENERATION = 'golden';

function titled({ catalogue }: Upstream): TitledSession[] {
  return [...catalogue.entries()].flatMap(({ id, title, startedAt }) => (title === null ? [] : [{ id, title, startedAt }]));
}

function liveMessages({ connection }: Upstream, id: string): unknown {
  const page = { size: 1000, direction: 'FORWARD', after: null, before: null } as const;
  const [found] = messagePages(connection, [{ sessionIds: [id], view: 'LIVE', page }], GENERATION);
  return found?.items.map(({ node }) => exportedMessage(node));
}

const ANSWERS: Readonly<Record<string, Answer>> = {
  get_session: (upstream, id) => upstream.getSession(id),
  list_sessions_rich: (upstream, _, kwargs) => upstream.listSessions(kwargs),
  get_messages: liveMessages,
  get_messages_as_conversation: (upstream, id) => conversation(upstream, { session_id: id }).map(toUpstreamMessage),
  message_count: ({ catalogue }, id) => (id === '' ? catalogue.totalRows : (catalogue.get(id)?.stats?.total ?? 0)),
  session_count: ({ catalogue }) => listTotals(catalogue, listQuery({ include_children: true, include_hidden: true })).visible,
  get_compression_tip: ({ catalogue, entry }, id) => tip(catalogue, entry(id)).id,
  resolve_resume_session_id: ({ catalogue, entry }, id) => resumeTarget(catalogue, entry(id), ({ stats }) => (stats?.total ?? 0) > 0).id,
  search_messages: (upstream, query) => searched(upstream, query),
  resolve_session_by_title: (upstream, title) => pickByTitle(title, titled(upstream))?.id ?? null,
  get_next_title_in_lineage: (upstream, base) => nextTitle(base, titled(upstream).map(({ title }) => title)),
  export_session: ({ connection, entry }, id) => exportSessions(connection, [entry(id)], { largest: 0 })[0],
  // An inline or single-column index could be made over into the newest layout.
  fts_optimize_available: ({ connection }) => ['E', 'I'].includes(readIndexState(connection).layout),
};

const same = (a: LegacyCase) => (b: LegacyCase) =>
  a.function === b.function && JSON.stringify([a.args, a.kwargs]) === JSON.stringify([b.args, b.kwargs]);
