/**
 * The messages of sessions as the Web UI reads them from the store: the rows that the model is sent, in the order in which they were stored
 * (`spec/webui-transcript.md` 3, 4, 6.1).
 */
import type { StoreShape } from '../../state-db/columns.ts';
import { idList } from '../../state-db/connection.ts';
import type { SqlRow } from '../../state-db/decode.ts';
import type { StoreReading } from '../../state-db/store-reading.ts';
import { type ContinuationChain, continuationChains } from './continuations.ts';
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
  const [found] = readStateSnapshots(store, [sessionId], query, 0);
  return found === undefined || found === 'TOO_LARGE' ? EMPTY : found;
}

/**
 * Many sessions by one query, in their order and on one snapshot, with statements that don't grow with their number. TOO_LARGE: more messages
 * than `largest`; 0 is no limit.
 */
export function readStateSnapshots(
  store: StoreReading,
  sessionIds: readonly string[],
  query: StateQuery,
  largest: number,
): (StateSnapshot | 'TOO_LARGE')[] {
  const { shape } = store;
  const { since = null, includeInactive = false, stitch = false } = query;
  if (since !== null && Number.isNaN(since)) throw new RangeError('NaN is no time.');
  if (!isReadable(shape)) return sessionIds.map(() => EMPTY);
  const limit = query.limit == null || Number.isNaN(query.limit) ? null : Math.max(1, Math.trunc(query.limit));
  return store.snapshot(() => {
    const stitched = stitch ? continuationChains(store, sessionIds) : null;
    const chains = sessionIds.map((id) => stitched?.get(id) ?? { ids: [id], truncated: false });
    const limits = { since, includeInactive, limit, largest };
    const rows = limitedRows(store, chains, limits);
    return sessionIds.map((sessionId, index) => {
      const { ids, truncated } = chains[index] ?? { ids: [sessionId], truncated: false };
      const isWhole = ids.length === 1 && since === null && !includeInactive && limit === null;
      const found = rows.get(index) ?? [];
      return found === 'TOO_LARGE' ? found : snapshotOf(shape, sessionId, found, isWhole, truncated);
    });
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
  readonly largest: number;
}

/** The rows of each chain by its place: one statement, and one that counts them first where their number has a limit. */
function limitedRows(
  store: StoreReading,
  chains: readonly ContinuationChain[],
  { since, includeInactive, limit, largest }: RowLimits,
): Map<number, SqlRow[] | 'TOO_LARGE'> {
  const { shape } = store;
  const order = durableOrder(shape);
  const floor = since === null ? '' : ' AND (timestamp IS NULL OR timestamp >= :since)';
  const from = `FROM segments CROSS JOIN messages ON session_id = segment WHERE true${includeInactive ? '' : liveOnly(shape)}${floor}`;
  const found = new Map<number, SqlRow[] | 'TOO_LARGE'>();
  const values = { ...(since === null ? {} : { since }), ...(limit === null ? {} : { limit: BigInt(limit) }) };
  const segmentsOf = (places: readonly number[]) =>
    JSON.stringify(places.flatMap((chain) => (chains[chain]?.ids ?? []).map((segment) => ({ chain, segment }))));
  const all = [...chains.keys()];
  if (largest > 0 && (limit === null || limit > largest)) {
    const counts = store.all(`${SEGMENTS} SELECT chain, COUNT(*) AS n ${from} GROUP BY chain`, { ...values, segments: segmentsOf(all) });
    for (const { chain, n } of counts) if (Math.min(Number(n), limit ?? Number(n)) > largest) found.set(Number(chain), 'TOO_LARGE');
  }
  const newest = `, newest AS (SELECT chain AS of_chain, messages.rowid AS of_row,
    ROW_NUMBER() OVER (PARTITION BY chain ORDER BY ${order} DESC) AS place ${from})`;
  const sql =
    limit === null
      ? `${SEGMENTS} SELECT chain, ${selected(shape)} ${from} ORDER BY chain, ${order}`
      : `${SEGMENTS}${newest} SELECT of_chain AS chain, ${selected(shape)} FROM newest CROSS JOIN messages ON messages.rowid = of_row
         WHERE place <= :limit ORDER BY of_chain, ${order}`;
  const small = all.filter((chain) => !found.has(chain));
  const rows = store.all(sql, { ...values, segments: segmentsOf(small) });
  for (const [chain, ofChain] of Map.groupBy(rows, ({ chain }) => Number(chain))) found.set(chain, ofChain);
  return found;
}

/** Chains by their places; no column of messages has one of these names. */
const SEGMENTS = `WITH segments(chain, segment) AS (SELECT value ->> 'chain', value ->> 'segment' FROM json_each(:segments))`;

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
