/** How many rows of a session a person wrote, as the Web UI's list counts them (`spec/webui-listing.md` 4, 7.1). */
import { idList } from './connection.ts';
import type { StoreReading } from './store-reading.ts';

const COUNTS = `SELECT session_id, COUNT(*) AS n FROM messages
  WHERE session_id IN (SELECT value FROM json_each(?)) AND lower(role) = 'user' GROUP BY session_id`;

/** Rows of any state with the role `user`, whatever its case, in one statement that reads every row of these sessions. Null where it can't be told. */
export function userMessageCounts(store: StoreReading, ids: readonly string[]): ReadonlyMap<string, number> | null {
  if (!['session_id', 'role'].every((column) => store.shape.hasColumn('messages', column))) return null;
  const counted = new Map(store.all(COUNTS, [idList(ids)]).map((row) => [String(row.session_id), Number(row.n)]));
  return new Map(ids.map((id) => [id, counted.get(id) ?? 0]));
}
