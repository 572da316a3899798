/**
 * The live rows of a session by their ids, against which a writer compares what its caller saw (`spec/state-db-writes.md` L3, L4).
 */
import type { StoreReading } from '../store-reading.ts';
import { isLiveSql } from '../visibility.ts';

/** Ids in order, as decimal digits; rows that a projection hides are among them. */
export function activeIds(store: StoreReading, sessionId: string): string[] {
  const rows = store.all(
    `SELECT CAST(m.id AS TEXT) AS id FROM messages m WHERE m.session_id = ? AND ${isLiveSql(store.shape, 'm')} ORDER BY m.id`,
    [sessionId],
  );
  return rows.map(({ id }) => String(id));
}

/** The id of the newest live row; null when there is none, which the owning programs call 0. */
export function watermark(store: StoreReading, sessionId: string): string | null {
  const row = store.get(
    `SELECT CAST(m.id AS TEXT) AS id FROM messages m WHERE m.session_id = ? AND ${isLiveSql(store.shape, 'm')} ORDER BY m.id DESC LIMIT 1`,
    [sessionId],
  );
  return row === undefined ? null : String(row.id);
}
