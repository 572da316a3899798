/**
 * A message that was a row before, and what of it is to be written there (`spec/state-db-writes.md` B2 to B5, B8).
 */
import { rowsByUid } from '../message-facts.ts';
import type { StoreReading } from '../store-reading.ts';
import { isLiveSql } from '../visibility.ts';
import { isBlank } from '../whitespace.ts';
import { changedCells, messageOf } from './changed-cells.ts';
import type { TranscriptMessage } from './message-encoding.ts';
import { snapshotToken } from './prune-messages.ts';
import { digestColumns } from './row-digest.ts';
import type { Cells } from './row-in-place.ts';
import { isVersion, type StoredRow, storedRow } from './stored-row.ts';
import { nonEmptyString } from './stored-value.ts';

export interface Held {
  readonly row: StoredRow;
  /** Empty where the row stays as it is. */
  readonly cells: Cells;
}

/** What two rows must share to be one message, when nothing else says so. */
const PAYLOAD = ['role', 'content', 'timestamp', 'tool_call_id', 'tool_calls', 'tool_name', 'message_uid'];

/**
 * Null for a message that is no row yet. One with the version of its row is the truth, and its columns are written (B3); one that was read
 * from an older version gives way to the row (B4); without a version only an answer that is still blank is filled (B5).
 */
export function reconciled(store: StoreReading, sessionId: string, message: TranscriptMessage, mintUid: () => string): Held | null {
  const row = targetOf(store, sessionId, message);
  if (row === null) return null;
  const token = snapshotToken(message._db_row_snapshot);
  if (token !== null) return { row, cells: isVersion(store, row, token) ? ownedCells(store, row, message, mintUid) : {} };
  const isFilled = row.role === 'assistant' && isBlankCell(row.cells.content) && !isBlankCell(message.content);
  if (!isFilled) return { row, cells: {} };
  const original = messageOf(row);
  return { row, cells: changedCells(store.shape, row, { original, replacement: { ...original, content: message.content } }, mintUid) };
}

/** B8: the row itself while it is live, else the one later live row with the same payload; null where there is none or more than one. */
export function activeRow(store: StoreReading, row: StoredRow): StoredRow | null {
  if (row.isLive) return row;
  const columns = PAYLOAD.filter((column) => store.shape.hasColumn('messages', column));
  const clones = store.all(
    `SELECT CAST(m.id AS TEXT) AS id FROM messages m WHERE m.session_id = ? AND m.id > ? AND ${isLiveSql(store.shape, 'm')}
     AND ${columns.map((column) => `m."${column}" IS ?`).join(' AND ')} LIMIT 2`,
    [row.sessionId, BigInt(row.rowId), ...columns.map((column) => row.cells[column] ?? null)],
  );
  const [only] = clones;
  return only === undefined || clones.length > 1 ? null : storedRow(store, String(only.id));
}

/** B2. */
function targetOf(store: StoreReading, sessionId: string, message: TranscriptMessage): StoredRow | null {
  const rowId = rowIdOf(message._row_id);
  if (rowId !== null) {
    const row = storedRow(store, rowId);
    return row === null || row.sessionId !== sessionId || row.role !== message.role ? null : (activeRow(store, row) ?? row);
  }
  const uid = nonEmptyString(message.message_uid);
  if (snapshotToken(message._db_row_snapshot) === null || uid === null || typeof message.role !== 'string') return null;
  const [newest] = rowsByUid(store, [{ sessionId, role: message.role, uid }]);
  return newest == null ? null : storedRow(store, newest);
}

/** B3: the columns that the digest covers; what a message doesn't know of its tokens and uids stays. */
function ownedCells(store: StoreReading, row: StoredRow, message: TranscriptMessage, mintUid: () => string): Cells {
  const { token_count, absorbed_message_uids, api_content } = row.cells;
  const replacement = { absorbed_message_uids, api_content, ...message, token_count: message.token_count ?? token_count };
  const cells = changedCells(store.shape, row, { original: messageOf(row), replacement }, mintUid);
  const owned = new Set([...digestColumns(store.shape), ...('content' in cells ? ['api_content'] : [])]);
  return Object.fromEntries(Object.entries(cells).filter(([column]) => owned.has(column)));
}

function rowIdOf(value: unknown): string | null {
  if (typeof value === 'string') return /^[1-9]\d{0,18}$/.test(value) ? value : null;
  return (typeof value === 'number' && Number.isSafeInteger(value)) || typeof value === 'bigint' ? String(value) : null;
}

function isBlankCell(value: unknown): boolean {
  return value === null || value === undefined || (typeof value === 'string' && isBlank(value));
}
