/**
 * How far a new transcript is the one that is stored (`spec/state-db-writes.md` RW1 step 2a, RW2).
 */
import { type Content, decodeContent } from '../content.ts';
import { stripMemoryBlocks } from '../conversation.ts';
import { parseJson, type SqlRow } from '../decode.ts';
import { canonicalJson } from '../logical-message.ts';
import type { StoreReading } from '../store-reading.ts';
import { isLiveSql } from '../visibility.ts';
import { trimSpace } from '../whitespace.ts';
import type { TranscriptMessage } from './message-encoding.ts';
import { contentCell, isGiven, toolCallsCell } from './stored-value.ts';

/** Whether two contents say the same: texts without recalled memory and outer blanks, anything else by value (RW2). */
export function isSameContent(one: Content, other: Content): boolean {
  return comparable(one, true) === comparable(other, true);
}

/** The number of messages, from the first on, that the live rows hold already. */
export function commonPrefix(store: StoreReading, sessionId: string, messages: readonly TranscriptMessage[]): number {
  const { shape } = store;
  const rows = store.all(
    `SELECT ${shape.selectList('messages', ['role', 'content', 'tool_call_id', 'tool_calls'], 'm')} FROM messages m
     WHERE m.session_id = ? AND ${isLiveSql(shape, 'm')} ORDER BY m.id LIMIT ?`,
    [sessionId, BigInt(messages.length)],
  );
  const differing = rows.findIndex((row, index) => keyOfRow(row) !== keyOfMessage(messages[index]));
  return differing < 0 ? rows.length : differing;
}

function keyOfRow({ role, content, tool_call_id: callId, tool_calls: calls }: SqlRow): string {
  return key(role, content, callId, calls);
}

/** As the row of the message would read: what no cell can hold is refused here already. */
function keyOfMessage(message: TranscriptMessage | undefined): string {
  if (message === undefined) return '';
  const { role = 'unknown', content, tool_call_id: callId, tool_calls: calls } = message;
  return key(role, contentCell(content), callId, toolCallsCell(calls));
}

function key(role: unknown, content: unknown, callId: unknown, calls: unknown): string {
  const stored = typeof content === 'string' ? decodeContent(content) : content;
  const hasLens = role === 'user' || role === 'assistant';
  return JSON.stringify([textOf(role), comparable(stored, hasLens), textOf(callId), callsOf(calls)]);
}

function comparable(content: unknown, hasLens: boolean): string | null {
  if (typeof content === 'bigint' || typeof content === 'number') return String(content);
  return canonicalJson(hasLens && typeof content === 'string' ? trimSpace(stripMemoryBlocks(content)) : (content ?? null));
}

/** TEXT columns turn numbers into digits. */
function textOf(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}

function callsOf(calls: unknown): string | null {
  if (typeof calls !== 'string') return null;
  const parsed = parseJson(calls);
  if (parsed === undefined) return calls;
  return isGiven(parsed) ? (canonicalJson(parsed) ?? calls) : null;
}
