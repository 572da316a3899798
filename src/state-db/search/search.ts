/**
 * Full-text search over every index layout, degraded honestly (`spec/state-db.md` 10). Runs outside the main thread: ranking many hits
 * can take seconds, and nothing inside SQLite can stop it.
 */
import { decodeCursor, encodeCursor } from '../../cursor.ts';
import { InvalidInput } from '../../errors.ts';
import { idList, type Positional, type StoreConnection } from '../connection.ts';
import { parseJson, type SqlRow } from '../decode.ts';
import { isIndexDamage, sqliteCode } from '../health.ts';
import { isVisibleSql } from '../visibility.ts';
import { type IndexState, readIndexState } from './index-state.ts';
import { likeGroups, likePattern } from './like-terms.ts';
import { type RoutedQuery, routeQuery, type SearchRoute, substringRetry } from './route.ts';
import { plainTokens, sanitizeQuery } from './sanitize.ts';
import { snippets } from './snippets.ts';

export type SearchOrder = 'RANK' | 'NEWEST' | 'OLDEST';

export interface SearchQuery {
  readonly text: string;
  readonly order: SearchOrder;
  readonly limit: number;
  readonly after: string | null;
  readonly sessionIds: readonly string[] | null;
  readonly sources: readonly string[] | null;
  readonly excludeSources: readonly string[] | null;
  readonly roles: readonly string[] | null;
  readonly includeInactive: boolean;
  readonly includeReasoning: boolean;
  /** Epoch seconds, inclusive. */
  readonly since: number | null;
  /** Epoch seconds, exclusive. */
  readonly before: number | null;
}

export interface SearchHit {
  readonly rowId: string;
  readonly sessionId: string;
  readonly snippet: string;
  readonly cursor: string;
}

export interface SearchAnswer {
  readonly hits: readonly SearchHit[];
  readonly hasNextPage: boolean;
  readonly route: SearchRoute;
  readonly degraded: boolean;
  readonly indexPercent: number;
}

interface RawHit {
  readonly rowId: string;
  readonly sessionId: string;
  /** The value that the order sorts by: rank or timestamp. */
  readonly key: number | null;
}

type Position = readonly [key: number | null, rowId: string];

/** Throws `InvalidInput` for a damaged cursor, `StoreUnreadable` through the caller for a damaged store; a damaged index only degrades. */
export function search(connection: StoreConnection, query: SearchQuery, generation: string): SearchAnswer {
  const sanitized = sanitizeQuery(query.text);
  const state = readIndexState(connection);
  const routed = routeQuery(sanitized, state, query);
  const indexPercent = state.unusable !== null ? 0 : (state.rebuild?.percent ?? 100);
  const found = runRoute(connection, query, sanitized, routed, state, generation);
  const hits = found.hits.slice(0, query.limit);
  const list = listName(found.route, query.order);
  const texts = snippets(connection, hits, found.table, found.expression, plainTokens(sanitized));
  return {
    hits: hits.map((hit) => ({
      rowId: hit.rowId,
      sessionId: hit.sessionId,
      snippet: texts.get(hit.rowId) ?? '',
      cursor: encodeCursor(list, generation, [hit.key, hit.rowId]),
    })),
    hasNextPage: found.hits.length > query.limit,
    route: found.route,
    degraded: found.degraded || state.rebuild !== null,
    indexPercent,
  };
}

interface Found {
  readonly hits: RawHit[];
  readonly route: SearchRoute;
  readonly degraded: boolean;
  readonly table: IndexTable | null;
  readonly expression: string;
}

type IndexTable = 'messages_fts' | 'messages_fts_cjk' | 'messages_fts_trigram';

const TABLES = { FTS: 'messages_fts', CJK: 'messages_fts_cjk', TRIGRAM: 'messages_fts_trigram' } as const;

function runRoute(
  connection: StoreConnection,
  query: SearchQuery,
  sanitized: string,
  routed: RoutedQuery,
  state: IndexState,
  generation: string,
): Found {
  if (routed.route === 'EMPTY') return { hits: [], route: 'EMPTY', degraded: false, table: null, expression: '' };
  if (routed.route === 'LIKE') return like(connection, query, routed, generation);
  const table = TABLES[routed.route];
  const position = positionOf(query, routed.route, generation);
  try {
    const hits = match(connection, query, table, routed.expression, position);
    const found: Found = { hits, route: routed.route, degraded: routed.degraded, table, expression: routed.expression };
    const retry = hits.length === 0 && position === null ? substringRetry(sanitized, state, query) : null;
    const answer = retry === null ? found : { ...found, ...retry, hits: match(connection, query, retry.table, retry.expression, null) };
    return state.rebuild === null ? answer : supplement(connection, query, answer, sanitized, state.rebuild);
  } catch (error) {
    if (isSyntaxError(error)) return { hits: [], route: routed.route, degraded: routed.degraded, table: null, expression: '' };
    if (!isIndexDamage(error)) throw error;
    return like(connection, query, { ...routed, route: 'LIKE', expression: sanitized, degraded: true }, generation);
  }
}

/** What is left of a query after sanitising can still be no FTS5 expression (`-word`); that finds nothing (10.3). */
function isSyntaxError(error: unknown): boolean {
  return (
    sqliteCode(error) === 'SQLITE_ERROR' &&
    error instanceof Error &&
    /fts5: syntax error|no such column|unknown special query|unterminated string/.test(error.message)
  );
}

function match(
  connection: StoreConnection,
  query: SearchQuery,
  table: IndexTable,
  expression: string,
  position: Position | null,
): RawHit[] {
  const where = conditions(connection, query);
  const key = query.order === 'RANK' ? `${table}.rank` : 'm.timestamp';
  const rows = connection.all(
    `SELECT CAST(m.id AS TEXT) AS id, m.session_id AS session_id, ${key} AS sort_key
     FROM ${table} JOIN messages m ON m.id = ${table}.rowid JOIN sessions s ON s.id = m.session_id
     WHERE ${table} MATCH ? AND ${where.sql} ${after(query.order, key, position)}
     ORDER BY ${orderBy(query.order, key)}, ${table}.rank LIMIT ?`,
    [expression, ...where.parameters, ...afterParameters(position), query.limit + 1],
  );
  return rows.map(toHit);
}

function like(connection: StoreConnection, query: SearchQuery, routed: RoutedQuery, generation: string): Found {
  const position = positionOf(query, 'LIKE', generation);
  const found = { route: 'LIKE', degraded: routed.degraded, table: null, expression: '' } as const;
  const terms = likeCondition(connection, query, routed);
  if (terms === null) return { ...found, hits: [] };
  const where = conditions(connection, query);
  const order = query.order === 'OLDEST' ? 'OLDEST' : 'NEWEST';
  const rows = connection.all(
    `SELECT CAST(m.id AS TEXT) AS id, m.session_id AS session_id, m.timestamp AS sort_key
     FROM messages m JOIN sessions s ON s.id = m.session_id
     WHERE ${where.sql} AND ${terms.sql} ${after(order, 'm.timestamp', position)}
     ORDER BY ${orderBy(order, 'm.timestamp')} LIMIT ?`,
    [...where.parameters, ...terms.parameters, ...afterParameters(position), query.limit + 1],
  );
  return { ...found, hits: rows.map(toHit) };
}

/** Rows that a rebuild has not reached yet, found as substrings and appended (10.6). */
function supplement(
  connection: StoreConnection,
  query: SearchQuery,
  found: Found,
  sanitized: string,
  rebuild: NonNullable<IndexState['rebuild']>,
): Found {
  if (found.hits.length >= query.limit) return found;
  const terms = plainTokens(sanitized);
  if (terms.length === 0) return found;
  const where = conditions(connection, query);
  const each = terms.map(() => columnsLike(connection, false));
  const rows = connection.all(
    `SELECT CAST(m.id AS TEXT) AS id, m.session_id AS session_id, m.timestamp AS sort_key FROM messages m JOIN sessions s ON s.id = m.session_id
     WHERE m.id > ? AND m.id <= ? AND ${where.sql} AND ${each.join(' AND ')} ORDER BY m.timestamp DESC LIMIT ?`,
    [rebuild.progress, rebuild.highWater, ...where.parameters, ...terms.flatMap((term) => columnPatterns(term, false)), query.limit + 1],
  );
  const known = new Set(found.hits.map((hit) => hit.rowId));
  return { ...found, hits: [...found.hits, ...rows.map(toHit).filter((hit) => !known.has(hit.rowId))] };
}

interface Condition {
  readonly sql: string;
  readonly parameters: Positional;
}

/** The filters of 10.4: rows that are shown at all, and what the caller asked for. An empty list of sources is a real filter. */
function conditions(connection: StoreConnection, query: SearchQuery): Condition {
  const { shape } = connection;
  const parts: [string, ...(string | number)[]][] = [];
  if (!query.includeInactive) parts.push([isVisibleSql(shape, 'm')]);
  if (shape.hasColumn('messages', 'display_kind')) parts.push(["(m.display_kind IS NULL OR m.display_kind <> 'hidden')"]);
  if (query.sessionIds !== null) parts.push(['m.session_id IN (SELECT value FROM json_each(?))', idList(query.sessionIds)]);
  if (query.sources !== null) parts.push(['s.source IN (SELECT value FROM json_each(?))', idList(query.sources)]);
  if (query.excludeSources !== null) parts.push(['s.source NOT IN (SELECT value FROM json_each(?))', idList(query.excludeSources)]);
  if (query.roles !== null && query.roles.length > 0) parts.push(['m.role IN (SELECT value FROM json_each(?))', idList(query.roles)]);
  if (query.since !== null) parts.push(['m.timestamp >= ? AND m.timestamp <= 4200000000.0', query.since]);
  if (query.before !== null) parts.push(['m.timestamp < ? AND m.timestamp >= 0.0', query.before]);
  return {
    sql: parts.length === 0 ? '1' : parts.map(([sql]) => sql).join(' AND '),
    parameters: parts.flatMap(([, ...parameters]) => parameters),
  };
}

function likeCondition(connection: StoreConnection, query: SearchQuery, routed: RoutedQuery): Condition | null {
  const groups =
    routed.likeForm === 'ANY' ? plainTokens(routed.expression).map((text) => [{ text, negated: false }]) : likeGroups(routed.expression);
  if (groups.length === 0) return null;
  const column = columnsLike(connection, query.includeReasoning);
  const sql = groups.map((group) => `(${group.map((term) => (term.negated ? `NOT ${column}` : column)).join(' AND ')})`).join(' OR ');
  return { sql: `(${sql})`, parameters: groups.flat().flatMap((term) => columnPatterns(term.text, query.includeReasoning)) };
}

/** Columns in which a term may occur; structured content is decoded first, since LIKE stops at its leading NUL (10.1). */
function columnsLike(connection: StoreConnection, includeReasoning: boolean): string {
  connection.defineFunction('caduceus_text', textOfStructured);
  const content = "CASE WHEN substr(CAST(m.content AS BLOB), 1, 6) = X'006A736F6E3A' THEN caduceus_text(m.content) ELSE m.content END";
  const columns = [content, 'm.tool_name', 'm.tool_calls'];
  const reasoning = ['reasoning', 'reasoning_content', 'reasoning_details'].map((name) => {
    const column = connection.shape.columnOr('messages', name, 'm', 'NULL');
    return `(CASE WHEN m.role = 'assistant' THEN ${column} END)`;
  });
  const all = includeReasoning ? [...columns, ...reasoning] : columns;
  return `(${all.map((column) => `ifnull(${column} LIKE ? ESCAPE '\\', 0)`).join(' OR ')})`;
}

function columnPatterns(text: string, includeReasoning: boolean): string[] {
  return Array.from({ length: includeReasoning ? 6 : 3 }, () => likePattern(text));
}

/** All strings inside structured content, so that escapes in the stored JSON don't hide a word. */
function textOfStructured(content: unknown): string {
  if (typeof content !== 'string') return '';
  const strings: string[] = [];
  const collect = (value: unknown) => {
    if (typeof value === 'string') strings.push(value);
    else if (Array.isArray(value)) value.forEach(collect);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(collect);
  };
  collect(parseJson(content.slice(6)) ?? content.slice(6));
  return strings.join('\n');
}

function orderBy(order: SearchOrder, key: string): string {
  if (order === 'RANK') return `${key} ASC, m.id ASC`;
  return order === 'NEWEST' ? `${key} DESC, m.id DESC` : `${key} ASC, m.id ASC`;
}

function after(order: SearchOrder, key: string, position: Position | null): string {
  if (position === null) return '';
  return order === 'NEWEST' ? `AND (${key}, m.id) < (?, ?)` : `AND (${key}, m.id) > (?, ?)`;
}

function afterParameters(position: Position | null): Positional {
  return position === null ? [] : [position[0], BigInt(position[1])];
}

function positionOf(query: SearchQuery, route: SearchRoute, generation: string): Position | null {
  if (query.after === null) return null;
  const [key, rowId] = decodeCursor(query.after, listName(route, query.order), generation);
  if ((key !== null && typeof key !== 'number') || typeof rowId !== 'string' || !/^\d{1,19}$/.test(rowId)) {
    throw new InvalidInput('The cursor is damaged. Start again without it.', {}, 'BAD_CURSOR');
  }
  return [key ?? null, rowId];
}

function listName(route: SearchRoute, order: SearchOrder): string {
  return `search:${route}:${order}`;
}

function toHit(row: SqlRow): RawHit {
  const key = row.sort_key;
  return { rowId: String(row.id), sessionId: String(row.session_id), key: typeof key === 'number' && Number.isFinite(key) ? key : null };
}
