/**
 * Messages as new rows of a session, each of them once (`spec/state-db-writes.md` A14 O5, RW4, W16).
 */
import { WriteRefused } from '../../write-refused.ts';
import { KnownMessages, type KnownRow, liveTwin } from './known-messages.ts';
import { encodeBatch } from './message-batch.ts';
import { type EncodedMessage, encodeMessage, type TranscriptMessage } from './message-encoding.ts';
import { keepNewestCheckpoint } from './newest-checkpoint.ts';
import { epochSeconds, nonEmptyString } from './stored-value.ts';
import type { ToolCallUids } from './tool-call-uids.ts';
import type { WriteTransaction } from './write-connection.ts';

export interface InsertOptions {
  /** GATEWAY: messages that come one by one, with the keys of V2. BATCH: rows of a turn, on one clock and with paired calls. */
  readonly path: 'GATEWAY' | 'BATCH';
  /** Epoch seconds. */
  readonly now: number;
  readonly mintUid: () => string;
  /**
   * SKIP: a message that the conversation has already is not written again. INSERT: it is, since the row is a further copy of one: a
   * transcript that is written anew keeps its uids (V9).
   */
  readonly known: 'SKIP' | 'INSERT';
  /** False for a writer that sets the counters of the session itself. */
  readonly addToCounters: boolean;
  /**
   * A live row that was there before and is the same byte for byte is taken for the message (RW4), where the message brings its time and no uid:
   * a time that is made up here proves nothing, and another uid says that it is another message.
   */
  readonly adoptTwins?: boolean;
  /** Leave the items of a compaction only to the newest live row that has some (RW1 step 3). */
  readonly keepNewestCheckpoint?: boolean;
}

export interface InsertedMessage {
  readonly rowId: string;
  /** Null where the store keeps none. */
  readonly uid: string | null;
  /** Whether the row was there before; then nothing was written. */
  readonly duplicate: boolean;
  /** Epoch seconds as stored; null for a row from before whose time can't be read. */
  readonly timestamp: number | null;
  /** What the caller's message is to carry from now on (V10). */
  readonly toolCallUids: ToolCallUids | null;
  readonly toolCallUid: string | null;
  readonly warnings: readonly string[];
}

/**
 * One for each message, in order. Runs inside the caller's transaction and asks for no admission. Throws `WriteRefused`: VALIDATION for a
 * value that no cell can hold, SESSION_ROW_MISSING.
 */
export function insertMessages(
  transaction: WriteTransaction,
  sessionId: string,
  messages: readonly TranscriptMessage[],
  options: InsertOptions,
): InsertedMessage[] {
  if (transaction.get('SELECT 1 AS found FROM sessions WHERE id = ?', [sessionId]) === undefined) {
    throw new WriteRefused('SESSION_ROW_MISSING', '', { details: { sessionId } });
  }
  const known = options.known === 'SKIP' ? KnownMessages.read(transaction, sessionId, messages) : null;
  const taken = new Set<string>();
  let rows = 0;
  let toolCalls = 0;
  const inserted = encodeAll(transaction, sessionId, messages, options).map(([message, encoded]) => {
    const mayBeTwin =
      options.adoptTwins === true && nonEmptyString(message.message_uid) === null && epochSeconds(message.timestamp) !== null;
    const before = known?.find(message) ?? (mayBeTwin ? liveTwin(transaction, sessionId, encoded, taken) : null);
    if (before !== null) {
      taken.add(before.rowId);
      return asDuplicate(before, encoded);
    }
    const rowId = insertEncoded(transaction, encoded);
    taken.add(rowId);
    known?.add(message, { rowId, uid: encoded.uid, timestamp: encoded.timestamp });
    rows++;
    toolCalls += encoded.toolCallCount;
    const { uid, timestamp, toolCallUids, toolCallUid, warnings } = encoded;
    return { rowId, uid, duplicate: false, timestamp, toolCallUids, toolCallUid, warnings };
  });
  if (options.addToCounters) addToCounters(transaction, sessionId, rows, toolCalls);
  if (options.keepNewestCheckpoint === true) keepNewestCheckpoint(transaction, sessionId);
  return inserted;
}

/** Writes one row and gives its id. */
export function insertEncoded(transaction: WriteTransaction, { columns, values }: EncodedMessage): string {
  const names = columns.map((column) => `"${column}"`).join(', ');
  const sql = `INSERT INTO messages (${names}) VALUES (${columns.map(() => '?').join(', ')})`;
  return String(transaction.run(sql, values).lastInsertRowid);
}

/** W16: what a counter held is added to, whatever it was. */
export function addToCounters(transaction: WriteTransaction, sessionId: string, messages: number, toolCalls: number): void {
  const amounts = { message_count: messages, tool_call_count: toolCalls };
  const changed = Object.entries(amounts).filter(([column, n]) => n !== 0 && transaction.shape.hasColumn('sessions', column));
  if (changed.length === 0) return;
  const assignments = changed.map(([column]) => `${column} = COALESCE(${column}, 0) + ?`).join(', ');
  transaction.run(`UPDATE sessions SET ${assignments} WHERE id = ?`, [...changed.map(([, n]) => BigInt(n)), sessionId]);
}

function encodeAll(
  { shape }: WriteTransaction,
  sessionId: string,
  messages: readonly TranscriptMessage[],
  { path, now, mintUid }: InsertOptions,
): (readonly [TranscriptMessage, EncodedMessage])[] {
  const options = { sessionId, shape, now, mintUid };
  if (path === 'GATEWAY') return messages.map((message) => [message, encodeMessage(message, { ...options, path })]);
  return encodeBatch(messages, options).flatMap((encoded, index) => {
    const message = messages[index];
    return message === undefined ? [] : [[message, encoded] as const];
  });
}

/** The row from before has other uids of calls than those just made up, so they aren't told. */
function asDuplicate(row: KnownRow, { toolCallUid }: EncodedMessage): InsertedMessage {
  return { ...row, duplicate: true, toolCallUids: null, toolCallUid, warnings: [] };
}
