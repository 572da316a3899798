/**
 * One message at the end of a session (`spec/state-db-writes.md` A6, G-8): written unless the conversation has its uid.
 */
import { WriteRefused } from '../../write-refused.ts';
import { type Admission, type Admitted, admit, checkAdmission, type Lease } from './admission.ts';
import { insertMessages } from './insert-messages.ts';
import { KnownMessages } from './known-messages.ts';
import type { TranscriptMessage } from './message-encoding.ts';
import { SessionGraph } from './session-graph.ts';
import type { StoreOperation } from './store-operation.ts';

export interface AppendInput {
  readonly sessionId: string;
  readonly message: TranscriptMessage;
  readonly lease: Lease | null;
  /** False for a message that got its uid just now and was never tried: then the conversation can't have it, and isn't searched for it. */
  readonly mayBeKnown: boolean;
}

export interface AppendedMessage {
  readonly rowId: string;
  readonly duplicate: boolean;
}

interface AppendPlan {
  readonly sessionId: string;
  readonly message: TranscriptMessage;
  /** The row that has the message already. */
  readonly known: string | null;
  readonly admitted: Admitted | null;
}

/** Throws SESSION_ROW_MISSING, SESSION_CLOSED, TURN_LEASE_LOST, VALIDATION. A message that is there already is let through: it is no write. */
export const appendMessage: StoreOperation<AppendInput, AppendPlan, AppendedMessage> = {
  patience: 'TRANSCRIPT',
  touchesMessages: true,
  plan: (store, { sessionId, message, lease, mayBeKnown }, { now }) => {
    const graph = new SessionGraph(store);
    if (graph.get(sessionId) === undefined) throw new WriteRefused('SESSION_ROW_MISSING', '', { details: { sessionId } });
    const known = mayBeKnown ? KnownMessages.read(store, sessionId, [message]).find(message) : null;
    if (known !== null) return { sessionId, message, known: known.rowId, admitted: null };
    const admission: Admission = { lease, rejectClosed: true };
    return { sessionId, message, known: null, admitted: checkAdmission(store, graph, sessionId, admission, now) };
  },
  execute: (transaction, { sessionId, message, known, admitted }, { now, mintUid }) => {
    if (known !== null) return { rowId: known, duplicate: true };
    if (admitted !== null) admit(transaction, admitted);
    const [inserted] = insertMessages(transaction, sessionId, [message], {
      path: 'BATCH',
      now,
      mintUid,
      known: 'INSERT',
      addToCounters: true,
    });
    if (inserted === undefined) throw new Error('a message was not inserted');
    return { rowId: inserted.rowId, duplicate: false };
  },
  preview: ({ known }) => ({ rowId: known ?? '', duplicate: known !== null }),
};
