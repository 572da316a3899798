/** Queries as they are searched for, their routes, hits, snippets and surroundings against `SessionDB.search_messages`. */
import { decodeCursor } from '../../src/cursor.ts';
import { isJsonObject } from '../../src/state-db/decode.ts';
import { messagesByRowId } from '../../src/state-db/messages.ts';
import { sanitizeQuery } from '../../src/state-db/search/sanitize.ts';
import type { SearchAnswer, SearchHit } from '../../src/state-db/search/search.ts';
import { type GoldenCase, goldenDifference } from '../support/golden.ts';
import { goldenKind, type Handler, type Rule, type Verdict, verdict } from './compare.ts';
import { type GoldenRow, goldenMessages, trusted } from './golden-rows.ts';
import { TIME_WINDOW } from './rules.ts';
import { GENERATION, hitsOf, rowsOf, searchPage } from './searched.ts';
import { likeGolden, Upstream } from './upstream.ts';

const STORES = ['basic', 'lineage', 'hostile', 'walled', 'badconfig'] as const;

const ROUTES: Readonly<Record<string, string>> = { FTS: 'fts5', TRIGRAM: 'trigram', LIKE: 'like_scan', EMPTY: 'empty' };

/** The value that an order sorts by; rows with an equal one may come in any order. */
function sortKey(hit: SearchHit, answer: SearchAnswer, args: GoldenCase['args']): unknown {
  const order = args.sort === 'newest' || args.sort === 'oldest' ? String(args.sort).toUpperCase() : 'RANK';
  return decodeCursor(hit.cursor, `search:${answer.route}:${order}`, GENERATION)[0];
}

/** Upstream's ids are ours, up to the order of equal keys, also where a page ends among them. */
function orderVerdict(upstream: Upstream, golden: GoldenCase, answer: SearchAnswer): Verdict {
  const everyHit = searchPage(upstream, golden.args, 1000, null);
  const keys = new Map(everyHit.hits.map((hit) => [Number(hit.rowId), sortKey(hit, everyHit, golden.args)]));
  const ours = answer.hits.map((hit) => Number(hit.rowId));
  if (new Set(ours).size !== ours.length) return { difference: 'a row was found twice' };
  const keysOf = (ids: readonly number[]) => ids.map((id) => (keys.has(id) ? keys.get(id) : `row ${id}`));
  let theirs = idsOf(golden.result);
  const deviations: string[] = [];
  for (const rule of idRules(upstream, golden, answer, ours)) {
    if (goldenDifference(keysOf(ours), keysOf(theirs)) === null) break;
    const adjusted = rule.adjust(theirs);
    if (adjusted.join() === theirs.join()) continue;
    theirs = adjusted;
    deviations.push(rule.id);
  }
  const difference = goldenDifference(keysOf(ours), keysOf(theirs));
  return difference === null ? { deviations } : { difference: `rows ${ours.join()} instead of ${theirs.join()} (${difference})` };
}

interface IdRule {
  readonly id: string;
  readonly adjust: (ids: readonly number[]) => number[];
}

/** What changes the rows that are found, or their order, by what upstream's own answers say about those rows. */
function idRules({ name }: Upstream, { args }: GoldenCase, { route }: SearchAnswer, ours: readonly number[]): IdRule[] {
  const rows = new Map([...goldenMessages(name).values()].flat().map((row) => [Number(row.id), row]));
  const byTime = (direction: 1 | -1) => (ids: readonly number[]) =>
    ids.toSorted((a, b) => direction * (Number(rows.get(a)?.timestamp) - Number(rows.get(b)?.timestamp)));
  const rules: IdRule[] = [{ id: 'hidden-not-searched', adjust: (ids) => ids.filter((id) => rows.get(id)?.display_kind !== 'hidden') }];
  // Rows of unknown time come last: those of the page that have one are the first, and further ones follow them.
  const isTimed = (id: number) => trusted(rows.get(id)?.timestamp) !== null;
  const untimedLast = (ids: readonly number[]) => {
    const timed = ids.filter(isTimed);
    return ids.every(isTimed) ? [...ids] : [...timed, ...ours.slice(timed.length)];
  };
  if (args.sort === 'newest' || args.sort === 'oldest') rules.push({ id: 'time-window', adjust: untimedLast });
  const roles = Array.isArray(args.role_filter) ? args.role_filter : [];
  if (roles.includes('tool')) rules.push({ id: 'tool-role-like', adjust: byTime(-1) });
  if (route === 'LIKE' && args.sort === 'oldest') rules.push({ id: 'oldest-first', adjust: byTime(1) });
  return rules;
}

function idsOf(result: unknown): number[] {
  return (result as (number | GoldenRow)[]).map((row) => (typeof row === 'number' ? row : Number(row.id)));
}

const found: Handler<Upstream> = (upstream, golden) => {
  if (golden.error?.type === 'ValueError') return byTypes(upstream, golden);
  const answer = hitsOf(upstream, golden.args);
  const query = queryVerdict(golden, answer);
  if ('difference' in query) return query;
  const rows = rowVerdict(upstream, golden, answer);
  return 'difference' in rows ? rows : { deviations: [...query.deviations, ...rows.deviations] };
};

function rowVerdict(upstream: Upstream, golden: GoldenCase, answer: SearchAnswer): Verdict {
  const ordered = orderVerdict(upstream, golden, answer);
  if ('difference' in ordered || golden.projection === 'id') return ordered;
  const byId = new Map(rowsOf(upstream, searchPage(upstream, golden.args, 1000, null).hits).map((row) => [row.id, row]));
  const expected = (golden.result as GoldenRow[]).filter((row) => !ordered.deviations.includes('hidden-not-searched') || byId.has(row.id));
  const actual = expected.map((row) => byId.get(row.id));
  const rows = verdict(likeGolden(actual, expected), expected, [TIME_WINDOW, bytesInContext(upstream), largeSnippet(upstream, golden)]);
  return 'difference' in rows ? rows : { deviations: [...ordered.deviations, ...rows.deviations] };
}

/** Upstream tells the route before it searches; here the answer tells what answered, which can be the second try of a Latin query. */
function queryVerdict(golden: GoldenCase, answer: SearchAnswer): Verdict {
  const { sanitized, path } = golden as GoldenCase & { readonly sanitized?: string; readonly path?: string };
  const ours = sanitizeQuery(String(golden.args.query));
  if (sanitized !== undefined && ours !== sanitized) {
    return { difference: `searches for ${JSON.stringify(ours)} instead of ${JSON.stringify(sanitized)}` };
  }
  if (path === undefined || ROUTES[answer.route] === path) return { deviations: [] };
  const secondTry = path === 'fts5' && answer.route === 'TRIGRAM';
  return secondTry ? { deviations: ['route-taken'] } : { difference: `goes the route ${answer.route} instead of ${path}` };
}

/** Bytes where text belongs are shown as text; upstream's context is empty there. At most one row of a session has them. */
function bytesInContext({ name }: Upstream): Rule {
  const texts = new Map<unknown, string>();
  for (const row of [...goldenMessages(name).values()].flat()) {
    const bytes = isJsonObject(row.content) ? row.content.$bytes : undefined;
    if (typeof bytes === 'string') texts.set(row.session_id, new TextDecoder().decode(Buffer.from(bytes, 'hex')));
  }
  const adjust = (rows: unknown) =>
    (rows as GoldenRow[]).map((row) => {
      const text = texts.get(row.session_id);
      if (text === undefined || !Array.isArray(row.context)) return row;
      const context = (row.context as GoldenRow[]).map((part) => (part.content === '' ? { ...part, content: text } : part));
      return { ...row, context };
    });
  return { id: 'bytes-as-text', adjust };
}

const LARGE = 64 * 1024;

/** FTS5's snippet() takes seconds on a large row: there it is cut around the first term, without marks. */
function largeSnippet({ connection }: Upstream, { args }: GoldenCase): Rule {
  const adjust = (rows: unknown) => {
    const messages = messagesByRowId(connection, new Set((rows as GoldenRow[]).map((row) => String(row.id))));
    return (rows as GoldenRow[]).map((row) => {
      const text = String(messages.get(String(row.id))?.content);
      if (text.length <= LARGE) return row;
      const start = Math.max(0, text.indexOf(String(args.query)) - 40);
      return { ...row, snippet: text.slice(start, start + 120) };
    });
  };
  return { id: 'large-row-snippet', adjust };
}

/** Upstream refuses an unknown name among `fields`; here the schema does, before anything is searched. */
function byTypes(upstream: Upstream, golden: GoldenCase): Verdict {
  const { fields, ...others } = golden.args;
  const searches = Array.isArray(fields) && fields[0] === 'bogus' && searchPage(upstream, others, 20, null).route !== 'EMPTY';
  return searches ? { deviations: ['fields-by-schema'] } : { difference: 'upstream was expected to refuse a field' };
}

goldenKind('search_messages', [...STORES, 'dense'], Upstream.open, { '': found });
