/**
 * Values that the owner keeps about a store as a whole (`spec/state-db.md` 4.6): clean-up clocks, gates of one-time jobs, state of features
 * of single sessions (`goal:<id>`, `loop:<id>`, `heartbeat:<id>`).
 */
import { idList, type StoreConnection } from './connection.ts';
import { RowReader } from './decode.ts';

/** Values by key; keys without one are missing. */
export function storeMeta(connection: StoreConnection, keys: readonly string[]): Map<string, string> {
  const found = new Map<string, string>();
  if (!connection.shape.hasTable('state_meta')) return found;
  const rows = connection.all('SELECT key, value FROM state_meta WHERE key IN (SELECT value FROM json_each(?))', [idList(keys)]);
  for (const row of rows) {
    const value = new RowReader(row).quietText('value');
    if (value !== null) found.set(String(row.key), value);
  }
  return found;
}
