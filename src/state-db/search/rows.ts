/**
 * The statements of a search: rows that an index matches, rows that hold a text, rows that an index has not reached yet
 * (`spec/state-db.md` 10.4 to 10.6). Each gives one row more than a page has, in the order of the page.
 */
import { idList, type StoreConnection } from '../connection.ts';
import { parseJson, type SqlRow } from '../decode.ts';
import type { Positional } from '../store-reading.ts';
import { isVisibleSql } from '../visibility.ts';
import type { IndexState } from './index-state.ts';
import { likeGroups, likePattern } from './like-terms.ts';
import type { RoutedQuery } from './route.ts';
import { plainTokens } from './sanitize.ts';
import type { SearchOrder, SearchQuery } from './search-query.ts';

export type IndexTable = 'messages_fts' | 'messages_fts_cjk' | 'messages_fts_trigram';

export interface RawHit {
  readonly rowId: string;
  readonly sessionId: string;
  /** The value that the order sorts by: rank, or a time inside the window. */
  readonly key: number;
}

/** The key and row id of the last hit of the page before. */
export type Position = readonly [key: number, rowId: string];

export function matchRows(
  connection: StoreConnection,
  query: SearchQuery,
  table: IndexTable,
  expression: string,
  position: Position | null,
): RawHit[] {
  const where = conditions(connection, query);
  const key = query.order === 'RANK' ? `${table}.rank` : timeKey(query.order);
  return read(
    connection,
    `SELECT CAST(m.id AS TEXT) AS id, m.session_id AS session_id, ${key} AS sort_key
     FROM ${table} JOIN messages m ON m.id = ${table}.rowid JOIN sessions s ON s.id = m.session_id
     WHERE ${table} MATCH ? AND ${where.sql} ${after(query.order, key, position)}
     ORDER BY ${orderBy(query.order, key)}, ${table}.rank LIMIT ?`,
    [expression, ...where.parameters, ...afterParameters(position), query.limit + 1],
  );
}

/** Rows that hold the text itself; newest first unless the oldest were asked for. */
export function likeRows(connection: StoreConnection, query: SearchQuery, routed: RoutedQuery, position: Position | null): RawHit[] {
  const terms = likeCondition(connection, query, routed);
  if (terms === null) return [];
  const where = conditions(connection, query);
  const order = query.order === 'OLDEST' ? 'OLDEST' : 'NEWEST';
  const key = timeKey(order);
  return read(
    connection,
    `SELECT CAST(m.id AS TEXT) AS id, m.session_id AS session_id, ${key} AS sort_key
     FROM messages m JOIN sessions s ON s.id = m.session_id
     WHERE ${where.sql} AND ${terms.sql} ${after(order, key, position)}
     ORDER BY ${orderBy(order, key)} LIMIT ?`,
    [...where.parameters, ...terms.parameters, ...afterParameters(position), query.limit + 1],
  );
}

/** Rows that a rebuild has not reached yet and that hold every word of the query, newest first (10.6). */
export function gapRows(
  connection: StoreConnection,
  query: SearchQuery,
  sanitized: string,
  rebuild: NonNullable<IndexState['rebuild']>,
  position: Position | null,
): RawHit[] {
  const terms = plainTokens(sanitized);
  if (terms.length === 0) return [];
  const where = conditions(connection, query);
  const key = timeKey('NEWEST');
  const each = terms.map(() => columnsLike(connection, false));
  return read(
    connection,
    `SELECT CAST(m.id AS TEXT) AS id, m.session_id AS session_id, ${key} AS sort_key FROM messages m JOIN sessions s ON s.id = m.session_id
     WHERE m.id > ? AND m.id <= ? AND ${where.sql} AND ${each.join(' AND ')} ${after('NEWEST', key, position)}
     ORDER BY ${orderBy('NEWEST', key)} LIMIT ?`,
    [
      rebuild.progress,
      rebuild.highWater,
      ...where.parameters,
      ...terms.flatMap((term) => columnPatterns(term, false)),
      ...afterParameters(position),
      query.limit + 1,
    ],
  );
}

function read(connection: StoreConnection, sql: string, parameters: Positional): RawHit[] {
  return connection.all(sql, parameters).map((row: SqlRow) => ({
    rowId: String(row.id),
    sessionId: String(row.session_id),
    key: Number(row.sort_key),
  }));
}

/** A time that can't be trusted comes last in either order. */
function timeKey(order: SearchOrder): string {
  return `(CASE WHEN m.timestamp BETWEEN 0.0 AND 4200000000.0 THEN m.timestamp ELSE ${order === 'OLDEST' ? '4200000001.0' : '-1.0'} END)`;
}

function orderBy(order: SearchOrder, key: string): string {
  return order === 'NEWEST' ? `${key} DESC, m.id DESC` : `${key} ASC, m.id ASC`;
}

function after(order: SearchOrder, key: string, position: Position | null): string {
  if (position === null) return '';
  return order === 'NEWEST' ? `AND (${key}, m.id) < (?, ?)` : `AND (${key}, m.id) > (?, ?)`;
}

function afterParameters(position: Position | null): Positional {
  return position === null ? [] : [position[0], BigInt(position[1])];
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
