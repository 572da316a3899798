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
import { type GoldenRow, previewOf } from './golden-rows.ts';
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
  message_count: ({ catalogue }, id) => (id === '' ? catalogue.storedRows : (catalogue.get(id)?.stats?.total ?? 0)),
  session_count: ({ catalogue }) => listTotals(catalogue, listQuery({ include_children: true, include_hidden: true })).visible,
  get_compression_tip: (upstream, id) => tip(upstream.catalogue, upstream.entry(id)).id,
  resolve_resume_session_id: (upstream, id) =>
    resumeTarget(upstream.catalogue, upstream.entry(id), ({ stats }) => (stats?.total ?? 0) > 0).id,
  search_messages: (upstream, query) => searched(upstream, query),
  resolve_session_by_title: (upstream, title) => pickByTitle(title, titled(upstream))?.id ?? null,
  get_next_title_in_lineage: (upstream, base) =>
    nextTitle(
      base,
      titled(upstream).map(({ title }) => title),
    ),
  export_session: (upstream, id) => exportSessions(upstream.connection, [upstream.entry(id)], { largest: 0 })[0],
  // An inline or single-column index could be made over into the newest layout.
  fts_optimize_available: ({ connection }) => ['E', 'I'].includes(readIndexState(connection).layout),
};

const same = (a: LegacyCase) => (b: LegacyCase) =>
  a.function === b.function && JSON.stringify([a.args, a.kwargs]) === JSON.stringify([b.args, b.kwargs]);

function migratedAnswer(store: string, golden: LegacyCase): LegacyCase | undefined {
  return loadGolden<LegacyCase>(store, 'migrated-v26').cases.find(same(golden));
}

/** The answer of the code that wrote the store, where it was asked the same. */
function writtenAnswer(store: string, golden: LegacyCase): unknown {
  return loadGolden<LegacyCase>(store, 'as-written').cases.find(same(golden))?.result;
}

/** Rows of the store by the code that wrote it. */
function written(store: string, name: 'get_session' | 'get_messages'): Map<unknown, GoldenRow> {
  const cases = loadGolden<LegacyCase>(store, 'as-written').cases.filter((golden) => golden.function === name && golden.result !== null);
  return new Map((cases.map(({ result }) => result) as GoldenRow[]).flat().map((row) => [row.id, row]));
}

/** What differs between a store before and after its migration, as changes of the migrated answer. */
function migrationRules(store: string, golden: LegacyCase): Rule[] {
  if (golden.function === 'search_messages') return searchRules(store, golden);
  const sessions = written(store, 'get_session');
  const messages = [...written(store, 'get_messages').values()];
  const before = (row: GoldenRow): GoldenRow => {
    const own = sessions.get(row.id);
    if (own === undefined || !('model_config' in row)) return row;
    return { ...row, model_config: own.model_config, ...('system_prompt_hash' in row ? { system_prompt_hash: null } : {}) };
  };
  const described = (row: GoldenRow): GoldenRow =>
    row.preview === '' ? { ...row, preview: previewOf(messages.filter((message) => message.session_id === row.id)) } : row;
  const eachRow = (change: (row: GoldenRow) => GoldenRow) => (answer: unknown) => {
    if (Array.isArray(answer)) return answer.map(change);
    return typeof answer === 'object' && answer !== null ? change(answer as GoldenRow) : answer;
  };
  // The marker of a delegate is stamped by a migration: without it a child is a child, and a resume goes on in it.
  const unstamped = (target: unknown) => (store === 'legacy-04' && target === 'm_l04_cli' ? 'm_l04_child' : target);
  return [
    { id: 'not-migrated', adjust: golden.function === 'resolve_resume_session_id' ? unstamped : eachRow(before) },
    ...(golden.function === 'list_sessions_rich' ? [{ id: 'structured-preview', adjust: eachRow(described) }] : []),
  ];
}

/** A hit as it was before upstream appended a row in an earlier case of the same file. */
function withoutAppended(hit: GoldenRow): GoldenRow {
  const context = (hit.context as GoldenRow[]).filter((part) => part.content !== 'after migration docker');
  return { ...hit, context };
}

function searchRules(store: string, golden: LegacyCase): Rule[] {
  const query = String(golden.args[0]);
  const rows = written(store, 'get_messages');
  const contentOf = (row: GoldenRow) => String(rows.get(row.id)?.content ?? '');
  const onRows = (change: (rows: readonly GoldenRow[]) => readonly GoldenRow[]) => (answer: unknown) => change(answer as GoldenRow[]);
  const isCjk = /[\u4e00-\u9fff]/.test(query);
  const rules: Rule[] = [
    { id: 'writes-elsewhere', adjust: onRows((hits) => hits.filter((hit) => rows.has(hit.id)).map(withoutAppended)) },
    {
      id: 'phrase-stays-whole',
      adjust: onRows((hits) => (query.startsWith('"') ? hits.filter((hit) => contentOf(hit).includes(query.slice(1, -1))) : hits)),
    },
  ];
  if (store !== 'legacy-04') return rules;
  const narrow = onRows((hits) => {
    const asWritten = writtenAnswer(store, golden);
    if (Array.isArray(asWritten)) return asWritten as GoldenRow[];
    return hits.filter((hit) => contentOf(hit).includes(query)).map((hit) => ({ ...hit, snippet: String(hit.snippet).trimEnd() }));
  });
  const unmarked = onRows((hits) => hits.map((hit) => ({ ...hit, snippet: contentOf(hit).slice(0, 120) })));
  return [...rules, isCjk ? { id: 'no-trigram-index', adjust: unmarked } : { id: 'narrow-index', adjust: narrow }];
}

function answer(upstream: Upstream, golden: LegacyCase): unknown {
  const [first] = golden.args;
  return ANSWERS[golden.function ?? '']?.(upstream, typeof first === 'string' ? first : '', golden.kwargs);
}

/** A row with the columns that the rows of the answer have. */
function likeSome(result: unknown): (row: unknown) => unknown {
  const columns: GoldenRow = Object.assign({}, ...(Array.isArray(result) ? result : []));
  return (row) => likeGolden(row, columns);
}

function againstMigrated(upstream: Upstream, golden: LegacyCase): Verdict {
  if (golden.function === 'append_message') return { deviations: ['writes-elsewhere'] };
  const actual = answer(upstream, golden);
  const rules = migrationRules(upstream.name, golden);
  return verdict(Array.isArray(actual) ? actual.map(likeSome(golden.result)) : likeGolden(actual, golden.result), golden.result, rules);
}

/** Equal to the answer of this file, else equal to the one after the migration, which `id` explains. */
function againstEither(id: string): (upstream: Upstream, golden: LegacyCase) => Verdict {
  return (upstream, golden) => {
    const own = golden.error === undefined ? againstMigrated(upstream, golden) : { difference: `upstream raised ${golden.error.type}` };
    if (!('difference' in own)) return own;
    const migrated = migratedAnswer(upstream.name, golden);
    const other = migrated === undefined ? own : againstMigrated(upstream, migrated);
    return 'difference' in other
      ? { difference: `${own.difference}; migrated: ${other.difference}` }
      : { deviations: [id, ...other.deviations] };
  };
}

function handlers(judge: (upstream: Upstream, golden: LegacyCase) => Verdict): Record<string, Handler<Upstream>> {
  const compare: Handler<Upstream> = (upstream, golden) => judge(upstream, golden as unknown as LegacyCase);
  return Object.fromEntries([...Object.keys(ANSWERS), 'append_message'].map((name) => [name, compare]));
}

goldenKind('as-written', STORES, Upstream.open, handlers(againstEither('older-upstream')));
goldenKind('readonly-v26', STORES, Upstream.open, handlers(againstEither('unmigrated-store')));
goldenKind('migrated-v26', STORES, Upstream.open, handlers(againstMigrated));
