/**
 * The end of a session's rows with the proof that what lies before is known, from one snapshot (`spec/webui-transcript.md` 7).
 */
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
  const { shape } = store;
  if (sessionId === '' || Number.isNaN(floor) || !isReadable(shape)) return null;
  const version = store.dataVersion();
  const found = store.snapshot((): RegenerationTail => {
    const from = `FROM messages WHERE session_id = ?${liveOnly(shape)}`;
    const order = durableOrder(shape);
    const counts = store.get(`SELECT SUM(timestamp < ?) AS earlier, SUM(timestamp IS NULL) AS timeless ${from}`, [floor, sessionId]);
    const prefix = store.all(`SELECT ${selected(shape)} ${from} AND timestamp < ? ORDER BY ${order}`, [sessionId, floor]);
    const rows = store.all(`SELECT ${selected(shape)} ${from} AND (timestamp IS NULL OR timestamp >= ?) ORDER BY ${order}`, [
      sessionId,
      floor,
    ]);
    const tail = rows.map(stateMessage);
    return {
      prefix: { count: Number(counts?.earlier ?? 0), nullTimestampCount: Number(counts?.timeless ?? 0) },
      prefixKeys: prefix.map(visibleKeyOf),
      tail,
      tailKeys: tail.map((message) => new MessageKeys(message, 'STATE').visible.key),
    };
  });
  return store.dataVersion() === version ? found : null;
}
