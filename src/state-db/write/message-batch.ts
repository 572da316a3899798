/**
 * The messages of a turn as rows (`spec/state-db-writes.md` V6, V10): one clock for those without a time, and results paired with the calls
 * before them.
 */
import { type EncodedMessage, type EncodingOptions, encodeMessage, type TranscriptMessage } from './message-encoding.ts';
import { nonEmptyString } from './stored-value.ts';

/** Seconds by which a generated time follows the time before it. */
const CLOCK_STEP = 0.000001;

/**
 * The cells of each message, in order. To write a batch in chunks, encode it whole and cut afterwards, since pairs can span chunks (B1).
 * Throws `WriteRefused` with `VALIDATION` for a value that no cell can hold.
 */
export function encodeBatch(messages: readonly TranscriptMessage[], options: Omit<EncodingOptions, 'path'>): EncodedMessage[] {
  const pairs = new CallPairs();
  let now = options.now;
  return messages.map((message) => {
    const encoded = encodeMessage(pairs.paired(message), { ...options, now, path: 'BATCH' });
    now = Math.max(now, encoded.timestamp) + CLOCK_STEP;
    pairs.follow(message, encoded);
    return encoded;
  });
}

/** The calls since the last message of a user, by the provider's id; the nearest row that names an id has it. */
class CallPairs {
  readonly #open = new Map<string, readonly string[]>();

  /** The message with the uid of the call that it answers, where it brings none. */
  paired(message: TranscriptMessage): TranscriptMessage {
    if (message.role !== 'tool') return message;
    if (nonEmptyString(message._tool_call_uid) !== null || nonEmptyString(message.tool_call_uid) !== null) return message;
    const id = nonEmptyString(message.tool_call_id);
    const [uid, ...later] = (id === null ? undefined : this.#open.get(id)) ?? [];
    if (id === null || uid === undefined) return message;
    // Of several occurrences each result takes the next one; a repeated result of a single call has the uid of that call.
    if (later.length > 0) this.#open.set(id, later);
    return { ...message, _tool_call_uid: uid };
  }

  follow(message: TranscriptMessage, encoded: EncodedMessage): void {
    if (message.role === 'user') this.#open.clear();
    if (message.role !== 'assistant') return;
    for (const [id, slot] of Object.entries(encoded.toolCallUids ?? {})) this.#open.set(id, typeof slot === 'string' ? [slot] : slot);
  }
}
