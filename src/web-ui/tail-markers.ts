/**
 * What the last messages of a sidecar tell about how a turn ended (`spec/webui-recovery.md` 6.1, 13.1; `spec/live-turns.md` 5).
 * Pure: over the end of the file's list of messages, which may begin inside a message.
 */
import { type Payload, word } from '../live/journal/payload.ts';
import { inWindow, isJsonObject, parseJson } from '../state-db/decode.ts';
import { type JournalRetry, journalRetryOf } from './interruption.ts';

export interface SidecarTail {
  /** Epoch seconds, whole ones as the owner writes them, when the last message is a cancellation marker. */
  readonly cancelledAt: number | null;
  /** Epoch seconds of the marker that says that the last turn was interrupted. */
  readonly interruptedAt: number | null;
  /** What a repair brought back of the last turn. */
  readonly recovered: {
    /** The run it was taken from. */
    readonly runId: string | null;
    /** Messages. */
    readonly count: number;
    /** The owner will look into the run's journal again. */
    readonly pendingRetry: boolean;
  } | null;
  /** The owner's next look into a run's journal, as far as it is queued. */
  readonly retry: JournalRetry | null;
}

export const NO_MARKERS: SidecarTail = { cancelledAt: null, interruptedAt: null, recovered: null, retry: null };

/**
 * The markers among the last messages: those back to the last answer that is neither recovered nor an error.
 * The owner recognises a cancellation by its text; a marker of an interruption has a type.
 */
export function tailMarkers(text: string): SidecarTail {
  const messages = messagesIn(text);
  const last = messages.at(-1);
  const turn = messages.slice(messages.findLastIndex(isSettledAnswer) + 1);
  const interruption = turn.findLast(isInterruption);
  const recovered = turn.filter(isRecovered);
  const retry = turn.findLast((message) => isTruthy(message._pending_journal_recovery));
  const runId = word(recovered.findLast((message) => word(message, '_recovered_stream_id') !== null) ?? {}, '_recovered_stream_id');
  return {
    cancelledAt: last !== undefined && isCancellation(last) ? timeOf(last) : null,
    interruptedAt: interruption === undefined ? null : timeOf(interruption),
    recovered:
      recovered.length === 0 && retry === undefined
        ? null
        : { runId: runId ?? word(retry ?? {}, '_journal_retry_stream_id'), count: recovered.length, pendingRetry: retry !== undefined },
    retry: journalRetryOf(messages),
  };
}

function isSettledAnswer(message: Payload): boolean {
  return message.role === 'assistant' && !isTruthy(message._error) && !isRecovered(message) && !isTruthy(message._partial);
}

function isRecovered(message: Payload): boolean {
  return isTruthy(message._recovered) || isTruthy(message._recovered_from_run_journal);
}

function isInterruption(message: Payload): boolean {
  return message.role === 'assistant' && isTruthy(message._error) && message.type === 'interrupted';
}

const CANCELLED = /task cancell?ed/i;

function isCancellation(message: Payload): boolean {
  if (message.role !== 'assistant' || !isTruthy(message._error) || message.type === 'interrupted') return false;
  return message.type === 'cancelled' || message.type === 'canceled' || CANCELLED.test(textOf(message.content));
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => (isJsonObject(part) && typeof part.text === 'string' ? part.text : '')).join('\n');
}

function timeOf(message: Payload): number | null {
  return typeof message.timestamp === 'number' ? inWindow(message.timestamp) : null;
}

/** A flag as the owner reads it. */
function isTruthy(value: unknown): boolean {
  return Boolean(value);
}

/** Inside a string the quotes are escaped, so what looks like this begins an object. */
const MESSAGE_START = /\{\s*"role"\s*:/g;
const STRING_OR_BRACE = /"(?:[^"\\]|\\.)*"|[{}]/gs;

/** The whole messages in the text, in their order. */
function messagesIn(text: string): Payload[] {
  const messages: Payload[] = [];
  const start = new RegExp(MESSAGE_START);
  for (let found = start.exec(text); found !== null; found = start.exec(text)) {
    const end = endOfObject(text, found.index);
    if (end === null) continue;
    const message = parseJson(text.slice(found.index, end));
    if (!isJsonObject(message)) continue;
    messages.push(message);
    start.lastIndex = end;
  }
  return messages;
}

function endOfObject(text: string, from: number): number | null {
  const token = new RegExp(STRING_OR_BRACE);
  token.lastIndex = from;
  let depth = 0;
  for (let found = token.exec(text); found !== null; found = token.exec(text)) {
    if (found[0] === '{') depth++;
    else if (found[0] === '}' && --depth === 0) return token.lastIndex;
  }
  return null;
}
