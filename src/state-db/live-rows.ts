/**
 * Rows of `messages` as a follower reads them: what is new, what a digest says of the rest, and one print a row for finding what
 * changed (`spec/live-turns.md` 7.3, 14.1). Every function takes any number of sessions and runs one statement.
 */
import { hash } from 'node:crypto';
import type { StoreShape } from './columns.ts';
import { idList, type StoreConnection } from './connection.ts';
import type { SqlRow } from './decode.ts';
import { decodeMessage, MESSAGE_COLUMNS, type MessageRecord } from './message-row.ts';
import { isSummaryCarrier } from './summary-markers.ts';
import { isLiveSql } from './visibility.ts';

/** What is compared of a row to find out whether it changed. Lengths are bytes as stored; NULL counts 0. */
export interface RowPrint {
  readonly rowId: string;
  readonly live: boolean;
  /** Summarised away, still history; never true of a live row. */
  readonly archived: boolean;
  readonly contentBytes: number;
  readonly callsBytes: number;
  /** Of display_metadata and display_kind together. */
  readonly displayBytes: number;
  /** display_identity in hex; null where the store has none. */
  readonly identity: string | null;
  /** Of rows younger than the bound asked for: eight hex digits each for content, calls and display; null for older ones. */
  readonly hash: string | null;
}

/** The sums that tell whether rows were touched (14.1 `d`); the session's rewind counter belongs to it but isn't a row's. */
export interface RowsDigest {
  readonly rows: number;
  readonly live: number;
  readonly archived: number;
  /** Sums of the marks of live and of archived rows: one row that goes and another one that comes back leave the counts as they were. */
  readonly liveMarks: number;
  readonly archivedMarks: number;
  readonly contentBytes: number;
  readonly callsBytes: number;
  readonly displayBytes: number;
}

export const NO_DIGEST: RowsDigest = {
  rows: 0,
  live: 0,
  archived: 0,
  liveMarks: 0,
  archivedMarks: 0,
  contentBytes: 0,
  callsBytes: 0,
  displayBytes: 0,
};

const MARKS = 1_000_003;

/** A number for a row id, small enough that many can be added. */
export function markOf(rowId: bigint): number {
  return Math.abs(Number(rowId % BigInt(MARKS)));
}

/** A row with what a follower tells about it. Of content over 256 KiB only the first 64 KiB are read. */
export interface LiveRow
  extends RowPrint,
    Pick<
      MessageRecord,
      | 'sessionId'
      | 'role'
      | 'content'
      | 'toolCallId'
      | 'toolCalls'
      | 'toolName'
      | 'timestamp'
      | 'finishReason'
      | 'observed'
      | 'displayKind'
      | 'displayMetadata'
    > {
  readonly contentCut: boolean;
  /** Written by a compaction, by its flag or its text. */
  readonly summary: boolean;
  /** Never shown to people. */
  readonly modelOnly: boolean;
}

const LOWEST = -(2n ** 63n);
const WHOLE_CONTENT = 262_144;
const CONTENT_HEAD = 65_536;

const FOLLOWED_COLUMNS: ReadonlySet<string> = new Set([
  'session_id',
  'role',
  'tool_call_id',
  'tool_calls',
  'tool_name',
  'timestamp',
  'finish_reason',
  'observed',
  '_compressed_summary',
  'active',
  'compacted',
  'display_kind',
  'display_metadata',
]);

/** Rows of the sessions with ids above `after` in id order, at most `limit` of them. */
export function rowsAfter(
  connection: StoreConnection,
  sessionIds: readonly string[],
  after: string,
  limit: number,
  youngSince: number,
): LiveRow[] {
  // Without an index of (session, id) the end of the table is read instead: whatever is new lies there.
  const source = connection.shape.hasIndex('idx_messages_session_id')
    ? 'json_each(:sessions) s CROSS JOIN messages x ON x.session_id = s.value AND x.id > :after'
    : 'messages x WHERE x.id > :after AND +x.session_id IN (SELECT value FROM json_each(:sessions))';
  const sql = `SELECT ${rowColumns(connection)} FROM messages m
    WHERE m.id IN (SELECT x.id FROM ${source} ORDER BY x.id LIMIT :limit) ORDER BY m.id`;
  return connection.all(sql, { sessions: idList(sessionIds), after: BigInt(after), limit, young: youngSince }).map(decodeLiveRow);
}

/** Every row of the sessions, in id order. */
export function rowsOf(connection: StoreConnection, sessionIds: readonly string[], youngSince: number): LiveRow[] {
  if (sessionIds.length === 0) return [];
  const sql = `SELECT ${rowColumns(connection)} FROM messages m
    WHERE m.session_id IN (SELECT value FROM json_each(:sessions)) AND m.id > :lowest ORDER BY m.id`;
  return connection.all(sql, { sessions: idList(sessionIds), lowest: LOWEST, young: youngSince }).map(decodeLiveRow);
}

/**
 * What the end of a session looks like up to a row id: its newest live row, its newest user rows, and up to 200 rows since the last of
 * them, in id order.
 */
export function tailOf(connection: StoreConnection, sessionId: string, upTo: string, youngSince: number): LiveRow[] {
  const live = isLiveSql(connection.shape, 'x');
  const upTail = (condition: string, limit: number) =>
    `SELECT id FROM (SELECT x.id AS id FROM messages x WHERE x.session_id = :session AND x.id <= :upTo AND ${live} AND ${condition}
      ORDER BY x.id DESC LIMIT ${limit})`;
  const sql = `SELECT ${rowColumns(connection)} FROM messages m
    WHERE m.id IN (${upTail('1', 1)} UNION ${upTail("x.role = 'user'", 20)}
      UNION ${upTail(`x.id >= (${upTail("x.role = 'user'", 1)})`, 200)}) ORDER BY m.id`;
  return connection.all(sql, { session: sessionId, upTo: BigInt(upTo), young: youngSince }).map(decodeLiveRow);
}

/** Digests over the rows with ids up to `upTo`; sessions without rows have zeros. Reads no overflow pages. */
export function rowDigests(connection: StoreConnection, sessionIds: readonly string[], upTo: string): Map<string, RowsDigest> {
  const { shape } = connection;
  const bytes = (name: string, sql: string) => `IFNULL(SUM(${sql}), 0) AS ${name}`;
  const sql = `SELECT m.session_id AS session_id, COUNT(*) AS row_count, SUM(${isLiveSql(shape, 'm')}) AS live, SUM(${isArchivedSql(shape, 'm')}) AS archived,
      ${marks('live_marks', isLiveSql(shape, 'm'))}, ${marks('archived_marks', isArchivedSql(shape, 'm'))},
      ${bytes('content_bytes', 'octet_length(m.content)')}, ${bytes('calls_bytes', 'octet_length(m.tool_calls)')},
      ${bytes('display_bytes', displayBytesSql(shape))}
    FROM messages m WHERE m.session_id IN (SELECT value FROM json_each(?)) AND m.id <= ? GROUP BY m.session_id`;
  const found = new Map<string, RowsDigest>(sessionIds.map((id) => [id, NO_DIGEST]));
  for (const row of connection.all(sql, [idList(sessionIds), BigInt(upTo)])) {
    found.set(String(row.session_id), {
      rows: Number(row.row_count),
      live: Number(row.live),
      archived: Number(row.archived),
      liveMarks: Number(row.live_marks),
      archivedMarks: Number(row.archived_marks),
      contentBytes: Number(row.content_bytes),
      callsBytes: Number(row.calls_bytes),
      displayBytes: Number(row.display_bytes),
    });
  }
  return found;
}

export type RowCounts = Pick<RowsDigest, 'rows' | 'live' | 'liveMarks'>;

/** How many rows up to `upTo` there are, and which of them are live: from a covering index, so cheap enough for every pass. */
export function rowCounts(connection: StoreConnection, sessionIds: readonly string[], upTo: string): Map<string, RowCounts> {
  const live = isLiveSql(connection.shape, 'm');
  // The plus keeps the bound out of the choice of an index: the one of (session, id) doesn't cover `active`.
  const sql = `SELECT m.session_id AS session_id, COUNT(*) AS row_count, SUM(${live}) AS live, ${marks('live_marks', live)}
    FROM messages m WHERE m.session_id IN (SELECT value FROM json_each(?)) AND +m.id <= ? GROUP BY m.session_id`;
  const found = new Map<string, RowCounts>(sessionIds.map((id) => [id, NO_DIGEST]));
  for (const row of connection.all(sql, [idList(sessionIds), BigInt(upTo)])) {
    found.set(String(row.session_id), { rows: Number(row.row_count), live: Number(row.live), liveMarks: Number(row.live_marks) });
  }
  return found;
}

/** One print for every row of the sessions, in id order. */
export function rowPrints(connection: StoreConnection, sessionIds: readonly string[], youngSince: number): Map<string, RowPrint[]> {
  if (sessionIds.length === 0) return new Map();
  const sql = `SELECT m.session_id AS session_id, ${printColumns(connection)} FROM messages m
    WHERE m.session_id IN (SELECT value FROM json_each(:sessions)) ORDER BY m.id`;
  const found = new Map<string, RowPrint[]>(sessionIds.map((id) => [id, []]));
  for (const row of connection.all(sql, { sessions: idList(sessionIds), young: youngSince })) {
    found.get(String(row.session_id))?.push(decodePrint(row));
  }
  return found;
}

/** Prints of the rows whose time is at or after the bound, by row id: an edit of equal length shows in their hash (7.3). */
export function youngPrints(connection: StoreConnection, sessionIds: readonly string[], youngSince: number): RowPrint[] {
  const sql = `SELECT ${printColumns(connection)} FROM messages m
    WHERE m.session_id IN (SELECT value FROM json_each(:sessions)) AND m.timestamp >= :young ORDER BY m.id LIMIT 500`;
  return connection.all(sql, { sessions: idList(sessionIds), young: youngSince }).map(decodePrint);
}

function marks(name: string, condition: string): string {
  return `IFNULL(SUM(${condition} * abs(m.id % ${MARKS})), 0) AS ${name}`;
}

/** Not live, and summarised away (4.2). */
export function isArchivedSql(shape: StoreShape, alias: string): string {
  return shape.hasColumn('messages', 'compacted') ? `(NOT ${isLiveSql(shape, alias)} AND IFNULL(${alias}.compacted, 0) <> 0)` : '0';
}

function displayBytesSql(shape: StoreShape): string {
  const parts = ['display_metadata', 'display_kind'].filter((column) => shape.hasColumn('messages', column));
  return parts.length === 0 ? '0' : parts.map((column) => `IFNULL(octet_length(m.${column}), 0)`).join(' + ');
}

function printColumns(connection: StoreConnection): string {
  const { shape } = connection;
  connection.defineFunction('live_hash', hashOf);
  const metadata = shape.columnOr('messages', 'display_metadata', 'm', 'NULL');
  const kind = shape.columnOr('messages', 'display_kind', 'm', 'NULL');
  const part = (sql: string) => `CASE WHEN ${sql} IS NULL THEN '${NOTHING}' ELSE live_hash(${sql}) END`;
  const identity = shape.hasColumn('messages', 'display_identity') ? 'hex(m.display_identity)' : 'NULL';
  return `CAST(m.id AS TEXT) AS id, ${isLiveSql(shape, 'm')} AS is_live, ${isArchivedSql(shape, 'm')} AS is_archived,
    octet_length(m.content) AS content_bytes, octet_length(m.tool_calls) AS calls_bytes, ${displayBytesSql(shape)} AS display_bytes,
    ${identity} AS identity,
    CASE WHEN m.timestamp >= :young THEN ${part('m.content')} || ${part('m.tool_calls')} || ${part(`nullif(concat_ws('|', ${metadata}, ${kind}), '')`)} END AS hash`;
}

function rowColumns(connection: StoreConnection): string {
  const columns = MESSAGE_COLUMNS.filter((column) => FOLLOWED_COLUMNS.has(column));
  return `${printColumns(connection)}, ${connection.shape.selectList('messages', columns, 'm')},
    CASE WHEN octet_length(m.content) > ${WHOLE_CONTENT} THEN CAST(substr(CAST(m.content AS BLOB), 1, ${CONTENT_HEAD}) AS TEXT) ELSE m.content END AS content`;
}

const NOTHING = '00000000';

/** Tells two values of a cell apart; no protection against somebody who wants them to look alike. */
function hashOf(value: unknown): string {
  return hash('sha1', value instanceof Uint8Array ? value : String(value), 'hex').slice(0, 8);
}

function decodePrint(row: SqlRow): RowPrint {
  return {
    rowId: String(row.id),
    live: row.is_live === 1,
    archived: row.is_archived === 1,
    contentBytes: Number(row.content_bytes ?? 0),
    callsBytes: Number(row.calls_bytes ?? 0),
    displayBytes: Number(row.display_bytes ?? 0),
    identity: typeof row.identity === 'string' && row.identity !== '' ? row.identity : null,
    hash: typeof row.hash === 'string' ? row.hash : null,
  };
}

function decodeLiveRow(row: SqlRow): LiveRow {
  const message = decodeMessage(row);
  const print = decodePrint(row);
  const { sessionId, role, content, toolCallId, toolCalls, toolName, timestamp, finishReason, observed, displayKind, displayMetadata } =
    message;
  return {
    ...print,
    sessionId,
    role,
    content,
    toolCallId,
    toolCalls,
    toolName,
    timestamp,
    finishReason,
    observed,
    displayKind,
    displayMetadata,
    contentCut: print.contentBytes > WHOLE_CONTENT,
    summary: isSummaryCarrier(message),
    modelOnly: displayMetadata?.model_only === true,
  };
}
