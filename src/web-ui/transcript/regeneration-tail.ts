/**
 * The end of a session's rows with the proof that what lies before is known, from one snapshot (`spec/webui-transcript.md` 7).
 */
import { idList } from '../../state-db/connection.ts';
import type { StoreReading } from '../../state-db/store-reading.ts';
import { MessageKeys } from './message-keys.ts';
import { type PrefixSummary, visibleKeyOf } from './session-summaries.ts';
import { stateMessage } from './state-message.ts';
import { durableOrder, isReadable, liveOnly, selected } from './state-messages.ts';
import type { Message } from './values.ts';

export interface RegenerationTail {
  /** Live rows before the floor, and live rows without a time; the latter are in the tail. */
  readonly prefix: PrefixSummary;
  /** Visible keys of the live rows before the floor, in the order in which they were stored. */
  readonly prefixKeys: readonly string[];
  readonly tail: readonly Message[];
  /** The rows of the tail as decimal text; null where the store has no ids. */
  readonly tailRowIds: readonly (string | null)[];
  readonly tailKeys: readonly string[];
}

/** A connection that knows whether another one has committed meanwhile. */
export interface VersionedReading extends StoreReading {
  dataVersion(): number;
}

/**
 * Reads the tail from a time (epoch seconds). Null when nothing can be proven: a blank id, NaN, a store without the columns, or a commit of
 * anyone during the read, to whatever session; then read everything. Errors of the store are thrown.
 */
export function regenerationTail(store: VersionedReading, sessionId: string, floor: number): RegenerationTail | null {
  const [found = null] = regenerationTails(store, [sessionId], floor, 0);
  return found === 'TOO_LARGE' ? null : found;
}

/** The same of many sessions, in their order, in three statements. TOO_LARGE: more live rows than `largest`; 0 is no limit. */
export function regenerationTails(
  store: VersionedReading,
  sessionIds: readonly string[],
  floor: number,
  largest: number,
): (RegenerationTail | 'TOO_LARGE' | null)[] {
  const { shape } = store;
  if (Number.isNaN(floor) || !isReadable(shape)) return sessionIds.map(() => null);
  const version = store.dataVersion();
  const found = store.snapshot(() => {
    const from = `FROM messages WHERE session_id IN (SELECT value FROM json_each(?))${liveOnly(shape)}`;
    const order = durableOrder(shape);
    const countsOf = `SELECT session_id, COUNT(*) AS n, SUM(timestamp < ?) AS earlier, SUM(timestamp IS NULL) AS timeless ${from}`;
    const rows = store.all(`${countsOf} GROUP BY session_id`, [floor, idList(sessionIds)]);
    const counts = new Map(rows.map((row) => [String(row.session_id), row]));
    const isTooLarge = (id: string) => largest > 0 && Number(counts.get(id)?.n ?? 0) > largest;
    const small = idList(sessionIds.filter((id) => !isTooLarge(id)));
    const read = (condition: string) => {
      const sql = `SELECT session_id, ${selected(shape)} ${from} AND ${condition} ORDER BY ${order}`;
      return Map.groupBy(store.all(sql, [small, floor]), (row) => String(row.session_id));
    };
    const prefixes = read('timestamp < ?');
    const tails = read('(timestamp IS NULL OR timestamp >= ?)');
    return sessionIds.map((id): RegenerationTail | 'TOO_LARGE' | null => {
      if (id === '') return null;
      if (isTooLarge(id)) return 'TOO_LARGE';
      const { earlier, timeless } = counts.get(id) ?? {};
      const tail = (tails.get(id) ?? []).map(stateMessage);
      return {
        prefix: { count: Number(earlier ?? 0), nullTimestampCount: Number(timeless ?? 0) },
        prefixKeys: (prefixes.get(id) ?? []).map(visibleKeyOf),
        tail,
        tailRowIds: (tails.get(id) ?? []).map(({ row_id }) => (row_id === undefined ? null : String(row_id))),
        tailKeys: tail.map((message) => new MessageKeys(message, 'STATE').visible.key),
      };
    });
  });
  return store.dataVersion() === version ? found : sessionIds.map(() => null);
}
