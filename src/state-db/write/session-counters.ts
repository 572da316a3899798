/**
 * The counters of a session, set from its live rows by those who change which rows are live (`spec/state-db-writes.md` W16, 0.3).
 */
import { isLiveSql } from '../visibility.ts';
import { toolCallCount } from './stored-value.ts';
import type { WriteTransaction } from './write-connection.ts';

/** Sets message_count and tool_call_count, whatever they held; stored calls that are no list count 1. */
export function recountSession(transaction: WriteTransaction, sessionId: string): void {
  const { shape } = transaction;
  const live = `m.session_id = ? AND ${isLiveSql(shape, 'm')}`;
  const counters: Record<string, bigint> = {};
  if (shape.hasColumn('sessions', 'message_count')) {
    const row = transaction.get(`SELECT COUNT(*) AS n FROM messages m WHERE ${live}`, [sessionId]);
    counters.message_count = BigInt(Number(row?.n ?? 0));
  }
  if (shape.hasColumn('sessions', 'tool_call_count') && shape.hasColumn('messages', 'tool_calls')) {
    const rows = transaction.all(`SELECT m.tool_calls AS calls FROM messages m WHERE ${live} AND m.tool_calls IS NOT NULL`, [sessionId]);
    counters.tool_call_count = BigInt(rows.reduce((sum, { calls }) => sum + toolCallCount(calls), 0));
  }
  const names = Object.keys(counters);
  if (names.length === 0) return;
  transaction.run(`UPDATE sessions SET ${names.map((name) => `${name} = ?`).join(', ')} WHERE id = ?`, [
    ...Object.values(counters),
    sessionId,
  ]);
}
