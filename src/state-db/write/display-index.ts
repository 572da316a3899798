/**
 * The display columns of a session, completed (`spec/state-db-writes.md` D12): every visible row gets its identity, and the copies of one
 * message the slot of the first of them.
 */
import type { StoreShape } from '../columns.ts';
import type { SqlRow } from '../decode.ts';
import { isVisibleSql } from '../visibility.ts';
import { displayIdentity, IDENTITY_SOURCE_COLUMNS } from './display-identity.ts';
import type { WriteTransaction } from './write-connection.ts';

/** Rows that are read at a time. */
const BATCH = 1000;
const LOWEST = -(2n ** 63n);

const UPDATE = 'UPDATE messages SET display_identity = ?, display_order = ? WHERE id = ?';

/** Whether a visible row of the session lacks its identity or its slot; false where the store has no such columns. */
export function lacksDisplayIndex(connection: WriteTransaction, sessionId: string): boolean {
  const { shape } = connection;
  if (!shape.hasColumn('messages', 'display_identity') || !shape.hasColumn('messages', 'display_order')) return false;
  const row = connection.get(
    `SELECT 1 AS lacking FROM messages m WHERE m.session_id = ? AND ${isVisibleSql(shape, 'm')}
     AND (m.display_identity IS NULL OR m.display_order IS NULL) LIMIT 1`,
    [sessionId],
  );
  return row !== undefined;
}

/**
 * Completes a session in which a visible row lacks something, as a whole; any other session is left as it is. Runs inside the caller's
 * transaction. Gives the number of rows that were changed: rows that are right are not written.
 */
export function completeDisplayIndex(connection: WriteTransaction, sessionId: string): number {
  if (!lacksDisplayIndex(connection, sessionId)) return 0;
  const sql = visibleRowsSql(connection.shape);
  const slots = new Map<string, bigint>();
  let changed = 0;
  let after = LOWEST;
  for (;;) {
    const rows = connection.exact(sql, [sessionId, after]);
    for (const row of rows) {
      const id = BigInt(String(row.id));
      const identity = displayIdentity(row);
      const key = identity.toString('latin1');
      const slot = slots.get(key) ?? id;
      slots.set(key, slot);
      if (!isStored(row, identity, slot)) changed += connection.run(UPDATE, [identity, slot, id]).changes;
      after = id;
    }
    if (rows.length < BATCH) return changed;
  }
}

function visibleRowsSql(shape: StoreShape): string {
  return `SELECT m.id, m.display_identity, m.display_order, ${shape.selectList('messages', IDENTITY_SOURCE_COLUMNS, 'm')}
    FROM messages m WHERE m.session_id = ? AND m.id > ? AND ${isVisibleSql(shape, 'm')} ORDER BY m.id LIMIT ${BATCH}`;
}

function isStored(row: SqlRow, identity: Uint8Array, slot: bigint): boolean {
  const { display_identity: stored, display_order: order } = row;
  return order === slot && stored instanceof Uint8Array && Buffer.compare(stored, identity) === 0;
}
