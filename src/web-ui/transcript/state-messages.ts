/**
 * The messages of sessions as the Web UI reads them from the store: the rows that the model is sent, in the order in which they were stored
 * (`spec/webui-transcript.md` 3, 4, 6.1).
 */
import type { StoreShape } from '../../state-db/columns.ts';
import { idList } from '../../state-db/connection.ts';
import type { SqlRow } from '../../state-db/decode.ts';
import type { Bindable, StoreReading } from '../../state-db/store-reading.ts';
import { continuationChain } from './continuations.ts';
import { revisionOf, type TranscriptRevision } from './revision.ts';
import { OPTIONAL_COLUMNS, REQUIRED_COLUMNS, stateMessage } from './state-message.ts';
import type { Message } from './values.ts';

export interface StateSnapshot {
  readonly messages: readonly Message[];
  /** The durable row of each message as decimal text; null where the store has no ids. */
  readonly rowIds: readonly (string | null)[];
  /** Of exactly these rows; null where they aren't all live rows of the one session, or where the store can't tell (6.1). */
  readonly revision: TranscriptRevision | null;
  /** Some text was no valid UTF-8 and shows replacement characters, or a payload was no text (hazard H17). */
  readonly degraded: boolean;
  /** The chain has more ancestors than are read (hazard H11). */
  readonly truncated: boolean;
}

export interface StateQuery {
  /** Rows of earlier segments too (5). */
  readonly stitch?: boolean;
  /** Epoch seconds: rows from then on, and those without a time. Throws RangeError for NaN, which SQLite would take for NULL. */
  readonly since?: number | null;
  /** Archived and rewound rows too: for recovery and audit only, they never go back to a model. */
  readonly includeInactive?: boolean;
  /** At most so many of the newest rows; 1 at least. A safety net, not a page. */
  readonly limit?: number | null;
}

const EMPTY: StateSnapshot = { messages: [], rowIds: [], revision: null, degraded: false, truncated: false };
const OF_SESSIONS = 'session_id IN (SELECT value FROM json_each(?))';
const REPLACEMENT = '�';

/** One session; an unknown one has no messages. */
export function readStateMessages(store: StoreReading, sessionId: string, query: StateQuery = {}): StateSnapshot {
  const { shape } = store;
  const { since = null, includeInactive = false } = query;
  if (since !== null && Number.isNaN(since)) throw new RangeError('NaN is no time.');
  if (!isReadable(shape)) return EMPTY;
  const limit = query.limit == null || Number.isNaN(query.limit) ? null : Math.max(1, Math.trunc(query.limit));
  return store.snapshot(() => {
    const chain = query.stitch === true ? continuationChain(store, sessionId) : { ids: [sessionId], truncated: false };
    const rows = limitedRows(store, chain.ids, { since, includeInactive, limit });
    const isWhole = chain.ids.length === 1 && since === null && !includeInactive && limit === null;
    return snapshotOf(shape, sessionId, rows, isWhole, chain.truncated);
  });
}

/** Many sessions whole, without their earlier segments, in one statement. */
export function readManyStateMessages(store: StoreReading, sessionIds: readonly string[]): Map<string, StateSnapshot> {
  const { shape } = store;
  if (!isReadable(shape)) return new Map(sessionIds.map((id) => [id, EMPTY]));
  const sql = `SELECT session_id, ${selected(shape)} FROM messages WHERE ${OF_SESSIONS}${liveOnly(shape)}
    ORDER BY session_id, ${durableOrder(shape)}`;
  const bySession = Map.groupBy(store.all(sql, [idList(sessionIds)]), (row) => String(row.session_id));
  return new Map(sessionIds.map((id) => [id, snapshotOf(shape, id, bySession.get(id) ?? [], true, false)]));
}

/** Whether the store has what messages are made of; with `session_id`, which every row is found by. */
export function isReadable(shape: StoreShape): boolean {
  return ['session_id', ...REQUIRED_COLUMNS].every((column) => shape.hasColumn('messages', column));
}

/** The columns of a message that the store has, as a select list. */
export function selected(shape: StoreShape): string {
  const columns = ['id', ...REQUIRED_COLUMNS, ...OPTIONAL_COLUMNS, 'active'].filter((column) => shape.hasColumn('messages', column));
  return columns.map((column) => (column === 'id' ? 'id, CAST(id AS TEXT) AS row_id' : `"${column}"`)).join(', ');
}

/** A condition that leaves out inactive rows where the store knows such rows. */
export function liveOnly(shape: StoreShape): string {
  return shape.hasColumn('messages', 'active') ? ' AND (active IS NULL OR active <> 0)' : '';
}

/** The order in which rows were stored wins over their clocks. */
export function durableOrder(shape: StoreShape): 'id' | 'timestamp' {
  return shape.hasColumn('messages', 'id') ? 'id' : 'timestamp';
}

interface RowLimits {
  readonly since: number | null;
  readonly includeInactive: boolean;
  readonly limit: number | null;
}

function limitedRows(store: StoreReading, ids: readonly string[], { since, includeInactive, limit }: RowLimits): SqlRow[] {
  const { shape } = store;
  const order = durableOrder(shape);
  const floor = since === null ? '' : ' AND (timestamp IS NULL OR timestamp >= ?)';
  const newest = limit === null ? ` ORDER BY ${order}` : ` ORDER BY ${order} DESC LIMIT ?`;
  const where = `${OF_SESSIONS}${includeInactive ? '' : liveOnly(shape)}${floor}`;
  const values: Bindable[] = [idList(ids), ...(since === null ? [] : [since]), ...(limit === null ? [] : [BigInt(limit)])];
  const rows = store.all(`SELECT ${selected(shape)} FROM messages WHERE ${where}${newest}`, values);
  return limit === null ? rows : rows.reverse();
}

function snapshotOf(shape: StoreShape, id: string, rows: readonly SqlRow[], isWhole: boolean, truncated: boolean): StateSnapshot {
  const [hasIds, hasActive, hasPayloads] = ['id', 'active', 'api_content'].map((column) => shape.hasColumn('messages', column));
  return {
    messages: rows.map(stateMessage),
    rowIds: rows.map((row) => (hasIds === true ? String(row.row_id) : null)),
    revision: isWhole && hasIds === true && hasActive === true ? revisionOf(id, rows, hasPayloads === true) : null,
    degraded: rows.some(isDegraded),
    truncated,
  };
}

/** Invalid bytes of a text are replaced when the cell is read. */
function isDegraded(row: SqlRow): boolean {
  if (row.api_content instanceof Uint8Array) return true;
  return Object.values(row).some((cell) => typeof cell === 'string' && cell.includes(REPLACEMENT));
}
