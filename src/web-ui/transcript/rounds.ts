/**
 * How often a person and the agent took turns, for the offer to hand a conversation over (`spec/webui-transcript.md` 18).
 */
import { idList } from '../../state-db/connection.ts';
import type { SqlRow } from '../../state-db/decode.ts';
import type { StoreReading } from '../../state-db/store-reading.ts';
import { liveOnly } from './state-messages.ts';
import { withoutBytes } from './structured-content.ts';
import { isoSeconds } from './timestamps.ts';
import { roleOf } from './values.ts';

/** Rounds from which a hand-off is offered. */
export const HANDOFF_ROUNDS = 10;

export interface RoundsQuery {
  readonly sessionId: string;
  /** Epoch seconds: what came later counts, and what has no time that can be read. */
  readonly since?: number | null;
}

/** The rounds of many sessions, in the order of the queries, in one statement. Inactive rows count unless only active ones are to (H22). */
export function conversationRounds(store: StoreReading, queries: readonly RoundsQuery[], activeOnly = false): number[] {
  const { shape } = store;
  if (!['session_id', 'role', 'timestamp'].every((column) => shape.hasColumn('messages', column))) return queries.map(() => 0);
  const order = shape.hasColumn('messages', 'id') ? 'session_id, timestamp, id' : 'session_id, timestamp';
  const where = `session_id IN (SELECT value FROM json_each(?))${activeOnly ? liveOnly(shape) : ''}`;
  const sql = `SELECT session_id, role, timestamp FROM messages WHERE ${where} ORDER BY ${order}`;
  const ids = idList(queries.map(({ sessionId }) => sessionId));
  const rows = Map.groupBy(store.all(sql, [ids]), (row) => String(row.session_id));
  return queries.map(({ sessionId, since = null }) => countRounds(rows.get(sessionId) ?? [], since));
}

/** Counts messages of a person that were followed by an answer; several in a row are one. Rows are in order of time. */
export function countRounds(rows: readonly SqlRow[], since: number | null = null): number {
  let asked = false;
  let answered = false;
  let rounds = 0;
  for (const row of rows) {
    const time = secondsOf(row);
    if (since !== null && time !== null && time <= since) continue;
    const role = roleOf({ role: withoutBytes(row.role ?? null) });
    if (role === 'user') {
      if (asked && answered) rounds += 1;
      asked = true;
      answered = false;
    } else if (role === 'assistant' && asked) answered = true;
  }
  return asked && answered ? rounds + 1 : rounds;
}

function secondsOf({ timestamp }: SqlRow): number | null {
  if (typeof timestamp === 'number' || typeof timestamp === 'bigint') return Number(timestamp);
  return typeof timestamp === 'string' ? isoSeconds(timestamp, 'LOCAL') : null;
}
