/**
 * Messages of a spool put into a session in one go, those that it has already left out (`spec/state-db-writes.md` S7, K11).
 */
import { admit, checkAdmission } from './admission.ts';
import { insertMessages } from './insert-messages.ts';
import type { TranscriptMessage } from './message-encoding.ts';
import { SessionGraph } from './session-graph.ts';
import type { OperationContext } from './store-operation.ts';
import type { WriteTransaction } from './write-connection.ts';

/** The number of messages that were not there. Throws SESSION_ROW_MISSING, SESSION_CLOSED. */
export function recoverBatch(
  transaction: WriteTransaction,
  sessionId: string,
  messages: readonly TranscriptMessage[],
  { now, mintUid }: OperationContext,
): number {
  admit(transaction, checkAdmission(transaction, new SessionGraph(transaction), sessionId, { rejectClosed: true }, now));
  const options = { path: 'BATCH', now, mintUid, known: 'SKIP', addToCounters: true } as const;
  return insertMessages(transaction, sessionId, messages, options).filter(({ duplicate }) => !duplicate).length;
}
