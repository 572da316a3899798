/**
 * Archives that a sweep made, not a person: they end when the conversation lives again (`spec/state-db-writes.md` F9).
 */
import { idList } from '../connection.ts';
import type { StoreReading } from '../store-reading.ts';
import type { WriteTransaction } from './write-connection.ts';

const REVIVE = 'UPDATE sessions SET archived = 0, auto_archived = 0 WHERE id IN (SELECT value FROM json_each(?))';

/** Of a lineage, the sessions to take out of the archive: none when a person archived any of them. */
export function planRevival(store: StoreReading, lineage: readonly string[]): string[] {
  if (!store.shape.hasColumn('sessions', 'auto_archived') || !store.shape.hasColumn('sessions', 'archived')) return [];
  const rows = store.all(
    'SELECT id, ifnull(auto_archived, 0) <> 0 AS swept FROM sessions WHERE ifnull(archived, 0) <> 0 AND id IN (SELECT value FROM json_each(?))',
    [idList(lineage)],
  );
  return rows.every((row) => row.swept === 1) ? rows.map((row) => String(row.id)) : [];
}

export function revive(transaction: WriteTransaction, ids: readonly string[]): void {
  if (ids.length > 0) transaction.run(REVIVE, [idList(ids)]);
}
