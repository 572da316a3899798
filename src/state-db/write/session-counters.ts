/**
 * The counters of a session, set to what its live rows say (`spec/state-db-writes.md` W16, Z8).
 */
import { isLiveSql } from '../visibility.ts';
import { toolCallCount } from './stored-value.ts';
import type { WriteTransaction } from './write-connection.ts';

/** For writers that take rows out of the transcript or put them back. */
export function recountSession(transaction: WriteTransaction, sessionId: string): void {
  const { shape } = transaction;
  const live = `FROM messages m WHERE m.session_id = ? AND ${isLiveSql(shape, 'm')}`;
  const messages = transaction.get(`SELECT count(*) AS n ${live}`, [sessionId])?.n ?? 0;
  const calls = transaction.all(`SELECT m.tool_calls AS calls ${live} AND m.tool_calls IS NOT NULL`, [sessionId]);
  const counts = { message_count: Number(messages), tool_call_count: calls.reduce((sum, row) => sum + toolCallCount(row.calls), 0) };
  const kept = Object.entries(counts).filter(([column]) => shape.hasColumn('sessions', column));
  if (kept.length === 0) return;
  transaction.run(`UPDATE sessions SET ${kept.map(([column]) => `${column} = ?`).join(', ')} WHERE id = ?`, [
    ...kept.map(([, count]) => BigInt(count)),
    sessionId,
  ]);
}
