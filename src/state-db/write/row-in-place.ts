/**
 * Changes of one row that stays where it is, also in display order (`spec/state-db-writes.md` P9 to P11, D9 to D11). The triggers of a store
 * take the identity and the slot from a row whose payload changes, and from all that share its old identity; here they get them back.
 */
import type { SqlRow, SqlValue } from '../decode.ts';
import { isVisibleSql } from '../visibility.ts';
import { displayIdentity, IDENTITY_SOURCE_COLUMNS } from './display-identity.ts';
import type { WriteTransaction } from './write-connection.ts';

/** Cells by column; names are of the store's own columns. */
export type Cells = Readonly<Record<string, SqlValue>>;

/** What a row's archived twin does not take over: it gets an id of its own, is out of the transcript, and joins the slot by its identity. */
const NOT_COPIED: ReadonlySet<string> = new Set(['id', 'active', 'compacted', 'display_order']);
const RESTORE = 'UPDATE messages SET display_identity = ?, display_order = ? WHERE id = ?';

interface Slot {
  readonly identity: SqlValue;
  readonly order: SqlValue;
}

/**
 * Writes the cells into a row. Its session's display index has to be complete (`completeDisplayIndex`). With `withTwin` the row as it was is
 * kept beside it, archived; gives the id of that twin, else null.
 */
export function changeRow(
  transaction: WriteTransaction,
  row: { readonly rowId: string; readonly sessionId: string },
  cells: Cells,
  { withTwin }: { readonly withTwin: boolean },
): string | null {
  const id = BigInt(row.rowId);
  const before = slotOf(transaction, id);
  const twin = withTwin ? copyAsArchived(transaction, id) : null;
  const peers = before === null ? [] : peersOf(transaction, row, before.identity, twin);
  const columns = Object.keys(cells);
  transaction.run(`UPDATE messages SET ${columns.map((column) => `"${column}" = ?`).join(', ')} WHERE id = ?`, [
    ...Object.values(cells),
    id,
  ]);
  if (before !== null) restore(transaction, id, before, peers);
  return twin;
}

/** Null where the store has no display columns, or no such row. */
function slotOf(transaction: WriteTransaction, id: bigint): Slot | null {
  const { shape } = transaction;
  if (!shape.hasColumn('messages', 'display_identity') || !shape.hasColumn('messages', 'display_order')) return null;
  const [row] = transaction.exact('SELECT display_identity AS identity, display_order AS slot FROM messages WHERE id = ?', [id]);
  return row === undefined ? null : { identity: row.identity ?? null, order: row.slot ?? id };
}

function copyAsArchived(transaction: WriteTransaction, id: bigint): string {
  const columns = transaction.shape.columnsOf('messages').filter((column) => !NOT_COPIED.has(column));
  const names = columns.map((column) => `"${column.replaceAll('"', '""')}"`).join(', ');
  const sql = `INSERT INTO messages (${names}, active, compacted) SELECT ${names}, 0, 1 FROM messages WHERE id = ?`;
  return String(transaction.run(sql, [id]).lastInsertRowid);
}

/** The rows that the trigger will take for copies of this one, as they are now. */
function peersOf(
  transaction: WriteTransaction,
  { rowId, sessionId }: { readonly rowId: string; readonly sessionId: string },
  identity: SqlValue,
  twin: string | null,
): SqlRow[] {
  if (identity === null) return twin === null ? [] : [{ id: BigInt(twin), slot: null }];
  return transaction.exact(
    `SELECT m.id AS id, m.display_order AS slot FROM messages m
     WHERE m.session_id = ? AND m.display_identity = ? AND m.id <> ? AND ${isVisibleSql(transaction.shape, 'm')}`,
    [sessionId, identity, BigInt(rowId)],
  );
}

function restore(transaction: WriteTransaction, id: bigint, before: Slot, peers: readonly SqlRow[]): void {
  for (const peer of peers) transaction.run(RESTORE, [before.identity, peer.slot ?? before.order, peer.id ?? null]);
  const columns = transaction.shape.selectList('messages', IDENTITY_SOURCE_COLUMNS, 'm');
  const [row] = transaction.exact(`SELECT ${columns} FROM messages m WHERE m.id = ?`, [id]);
  if (row !== undefined) transaction.run(RESTORE, [displayIdentity(row), before.order, id]);
}
