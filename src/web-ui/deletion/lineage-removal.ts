/**
 * A session of the Web UI taken out of a store with what it delegated, by the Web UI's rules (`spec/webui-transcript.md` 19.3). The rules of the
 * Hermes Agent for its own sessions are others (`spec/state-db-writes.md` F11).
 */
import { idList } from '../../state-db/connection.ts';
import type { StoreReading } from '../../state-db/store-reading.ts';
import type { SessionGraph } from '../../state-db/write/session-graph.ts';
import { planRemoval, type Removal, remove } from '../../state-db/write/session-removal.ts';
import type { WriteTransaction } from '../../state-db/write/write-connection.ts';
import { WriteRefused } from '../../write-refused.ts';
import { lineageRow, removedWith } from './removed-lineage.ts';

const COLUMNS = ['model_config', 'source', 'end_reason', 'started_at', 'ended_at'] as const;
/** Tables whose rows go with their session, also where no foreign key takes them along. */
const BY_SESSION = ['compression_locks', 'session_model_usage', 'telegram_dm_topic_bindings'] as const;

/**
 * `among`: nothing but these is deleted, whatever would go with the targets by now. Throws SCHEMA_UNSUPPORTED, and SESSION_WRITE_GUARDED while
 * a turn or a compression is under way in any of them.
 */
export function planLineageRemoval(
  store: StoreReading,
  graph: SessionGraph,
  targets: readonly string[],
  now: number,
  among: readonly string[] | null = null,
): Removal {
  for (const column of ['id', 'parent_session_id']) {
    if (!store.shape.hasColumn('sessions', column)) throw new WriteRefused('SCHEMA_UNSUPPORTED');
  }
  const more = COLUMNS.map((column) => `${store.shape.columnOr('sessions', column, 's', 'NULL')} AS ${column}`).join(', ');
  const rows = store.all(`SELECT s.id AS id, s.parent_session_id AS parent_session_id, ${more} FROM sessions s ORDER BY s.id`);
  const ids = removedWith(rows.map(lineageRow), targets);
  const allowed = among === null ? null : new Set(among);
  return planRemoval(store, graph, allowed === null ? ids : ids.filter((id) => allowed.has(id)), now);
}

export function removeLineage(transaction: WriteTransaction, removal: Removal): void {
  remove(transaction, removal);
  for (const table of BY_SESSION) {
    if (!transaction.shape.hasTable(table)) continue;
    transaction.run(`DELETE FROM ${table} WHERE session_id IN (SELECT value FROM json_each(?))`, [idList(removal.ids)]);
  }
}
