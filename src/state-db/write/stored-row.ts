/**
 * One row of `messages` as a guarded write reads it: every cell exact, and its version (`spec/state-db-writes.md` D1, P5, P6).
 */
import { WriteRefused } from '../../write-refused.ts';
import type { SqlRow, SqlValue } from '../decode.ts';
import type { StoreReading } from '../store-reading.ts';
import { isLiveSql } from '../visibility.ts';
import { digestColumns, parseRowVersion, rowDigest, rowVersion } from './row-digest.ts';

export interface StoredRow {
  readonly rowId: string;
  readonly sessionId: string;
  readonly role: string;
  /** Live: part of what the model is given. */
  readonly isLive: boolean;
  readonly isArchived: boolean;
  /** All columns, integers as bigints. */
  readonly cells: Readonly<Record<string, SqlValue>>;
  /** The token of its version as it is now. */
  readonly version: string;
}

const HIGHEST_ROW_ID = 2n ** 63n - 1n;

/** The row, or null where there is none. */
export function storedRow(store: StoreReading, rowId: string): StoredRow | null {
  return storedRows(store, [rowId]).get(rowId) ?? null;
}

/** The rows that are there, by id; one statement. Ids that are no row ids are not there. */
export function storedRows(store: StoreReading, rowIds: readonly string[]): Map<string, StoredRow> {
  const ids = rowIds.filter((id) => /^\d{1,19}$/.test(id) && BigInt(id) <= HIGHEST_ROW_ID);
  if (ids.length === 0) return new Map();
  const { shape } = store;
  const sql = `SELECT m.*, (${isLiveSql(shape, 'm')}) AS _is_live FROM messages m WHERE m.id IN (SELECT value FROM json_each(?))`;
  const rows = store.exact(sql, [`[${ids.map(BigInt).join(',')}]`]);
  return new Map(rows.map((row) => [String(row.id), toStoredRow(store, row)]));
}

/**
 * Whether a token names this version of the row; it may be of either scheme (D5). Throws VALIDATION for a text that is no token, which must
 * not count as another version.
 */
export function isVersion(store: StoreReading, row: StoredRow, token: string): boolean {
  const parsed = parseRowVersion(token);
  if (parsed === null) throw new WriteRefused('VALIDATION', 'A rowVersion is not one that this server gave.');
  return rowDigest(row.cells, digestColumns(store.shape, parsed.scheme)) === parsed.digest;
}

export function versionConflict(row: StoredRow): WriteRefused {
  return new WriteRefused('ROW_VERSION_CONFLICT', '', { details: { rowId: row.rowId, currentRowVersion: row.version } });
}

function toStoredRow(store: StoreReading, row: SqlRow): StoredRow {
  const cells: Record<string, SqlValue> = {};
  for (const [column, cell] of Object.entries(row)) if (column !== '_is_live') cells[column] = cell ?? null;
  return {
    rowId: String(row.id),
    sessionId: String(row.session_id),
    role: typeof row.role === 'string' ? row.role : '',
    isLive: row._is_live === 1n,
    isArchived: typeof row.compacted === 'bigint' && row.compacted !== 0n,
    cells,
    version: rowVersion(row, store.shape),
  };
}
