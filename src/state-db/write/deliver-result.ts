/**
 * The result of work that was delegated and ended apart from its turn, delivered into the conversation once (`spec/state-db-writes.md` B7).
 */
import { WriteRefused } from '../../write-refused.ts';
import { idList } from '../connection.ts';
import { RowReader } from '../decode.ts';
import type { StoreReading } from '../store-reading.ts';
import { type Admitted, admit, checkAdmission } from './admission.ts';
import { conversationIds } from './conversation-ids.ts';
import { insertMessages } from './insert-messages.ts';
import { SessionGraph } from './session-graph.ts';
import type { StoreOperation } from './store-operation.ts';
import { storedMetadata } from './stored-metadata.ts';

export interface DeliveryInput {
  readonly sessionId: string;
  readonly delegationId: string;
  /** Tells several notices of one delegation apart; null for its only one. */
  readonly notice: string | null;
  readonly content: unknown;
  /** The model is told, the person is not shown. */
  readonly suppressed: boolean;
}

export interface Delivery {
  readonly sessionId: string;
  /** The row of the notice; null in a preview of a new one. */
  readonly rowId: string | null;
  /** It was there before, and nothing was written. */
  readonly duplicate: boolean;
}

interface Plan {
  readonly input: DeliveryInput;
  readonly existing: Delivery | null;
  /** Null where nothing is to be written. */
  readonly admitted: Admitted | null;
}

/** Throws VALIDATION for no delegation id, SESSION_BUSY while a turn runs, SESSION_CLOSED, SESSION_ROW_MISSING, SCHEMA_UNSUPPORTED. */
export const deliverResult: StoreOperation<DeliveryInput, Plan, Delivery> = {
  patience: 'TRANSCRIPT',
  touchesMessages: true,
  plan: (store, input, { now }) => {
    const { sessionId, delegationId, notice } = input;
    if (!store.shape.hasColumn('messages', 'display_metadata'))
      throw new WriteRefused('SCHEMA_UNSUPPORTED', 'Its messages have no metadata.');
    if (delegationId === '') throw new WriteRefused('VALIDATION', 'A result has the id of its delegation.');
    const existing = deliveredRow(store, sessionId, delegationId, notice);
    const admitted =
      existing === null
        ? checkAdmission(store, new SessionGraph(store), sessionId, { rejectLease: 'SESSION_BUSY', rejectClosed: true }, now)
        : null;
    return { input, existing, admitted };
  },
  execute: (transaction, { input, existing, admitted }, { now, mintUid }) => {
    if (existing !== null) return existing;
    if (admitted !== null) admit(transaction, admitted);
    const { sessionId, delegationId, notice, content, suppressed } = input;
    const message = {
      role: 'user',
      content,
      display_kind: suppressed ? 'hidden' : 'async_delegation_complete',
      display_metadata: { delegation_id: delegationId, ...(notice !== null && { delivery_notice: notice }) },
    };
    const [row] = insertMessages(transaction, sessionId, [message], { path: 'BATCH', now, mintUid, known: 'INSERT', addToCounters: true });
    return { sessionId, rowId: row?.rowId ?? null, duplicate: false };
  },
  preview: ({ input, existing }) => existing ?? { sessionId: input.sessionId, rowId: null, duplicate: false },
};

/** A notice that was delivered anywhere in the conversation, whatever became of it. */
function deliveredRow(store: StoreReading, sessionId: string, delegationId: string, notice: string | null): Delivery | null {
  const rows = store.all(
    `SELECT CAST(m.id AS TEXT) AS id, m.session_id AS session_id, m.display_metadata AS metadata FROM messages m
     WHERE m.session_id IN (SELECT value FROM json_each(?)) AND m.role = 'user' AND instr(m.display_metadata, 'delegation_id') > 0 ORDER BY m.id`,
    [idList(conversationIds(store, sessionId))],
  );
  const found = rows.find((row) => {
    const metadata = storedMetadata(new RowReader(row).quietText('metadata'));
    return metadata?.delegation_id === delegationId && (metadata.delivery_notice ?? null) === notice;
  });
  return found === undefined ? null : { sessionId: String(found.session_id), rowId: String(found.id), duplicate: true };
}
