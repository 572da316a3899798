/**
 * The rows of a turn, written together, and reconciled with those that are there already (`spec/state-db-writes.md` B1 to B6).
 */

import { WriteRefused } from '../../write-refused.ts';
import { idList } from '../connection.ts';
import type { StoreReading } from '../store-reading.ts';
import { type Admitted, admit, checkAdmission, type Lease } from './admission.ts';
import { conversationIds } from './conversation-ids.ts';
import { completeDisplayIndex } from './display-index.ts';
import { type InsertedMessage, insertMessages } from './insert-messages.ts';
import { encodeBatch } from './message-batch.ts';
import type { TranscriptMessage } from './message-encoding.ts';
import { type Held, reconciled } from './reconcile.ts';
import { changeRow } from './row-in-place.ts';
import { SessionGraph } from './session-graph.ts';
import type { OperationContext, StoreOperation } from './store-operation.ts';
import { storedRows } from './stored-row.ts';
import type { WriteTransaction } from './write-connection.ts';

export interface AppendBatchInput {
  readonly sessionId: string;
  /** With `_row_id` and `_db_row_snapshot` where a message is a row already. */
  readonly messages: readonly TranscriptMessage[];
  readonly lease: Lease | null;
}

export interface AppendedRow {
  readonly rowId: string;
  /** Null where the store keeps none. */
  readonly messageUid: string | null;
  readonly rowVersion: string;
}

export interface AppendedBatch {
  readonly sessionId: string;
  /** New rows, in the order of the messages. */
  readonly inserted: readonly AppendedRow[];
  /** Rows that were there before and stand for a message. */
  readonly adopted: readonly AppendedRow[];
  /** The row of each message. */
  readonly rowIds: readonly string[];
}

interface Plan {
  readonly sessionId: string;
  readonly admitted: Admitted;
  /** For each message the row that it is already, with what is to be written there; null for a new one. */
  readonly held: readonly (Held | null)[];
  readonly messages: readonly TranscriptMessage[];
}

/**
 * Appends messages in one transaction; those whose uid the conversation has, or that are a live row byte for byte, are not written again.
 * Throws TURN_LEASE_LOST, SESSION_CLOSED, SESSION_ROW_MISSING, VALIDATION.
 */
export const appendBatch: StoreOperation<AppendBatchInput, Plan, AppendedBatch> = {
  patience: 'TRANSCRIPT',
  touchesMessages: true,
  plan: (store, { sessionId, messages, lease }, context) => {
    const admitted = checkAdmission(store, new SessionGraph(store), sessionId, { lease, rejectClosed: true }, context.now);
    const held = messages.map((message) => reconciled(store, sessionId, message, context.mintUid));
    return { sessionId, admitted, held, messages: paired(store, sessionId, messages, held, context) };
  },
  execute: (transaction, plan, context) => {
    admit(transaction, plan.admitted);
    writeHeld(transaction, plan);
    const fresh = plan.messages.filter((_, index) => plan.held[index] === null);
    const rows = insertMessages(transaction, plan.sessionId, fresh, {
      path: 'BATCH',
      now: context.now,
      mintUid: context.mintUid,
      known: 'SKIP',
      addToCounters: true,
      adoptTwins: true,
    });
    return outcome(transaction, plan, rows);
  },
  preview: ({ sessionId, held }) => {
    const adopted = held.flatMap((row) => (row === null ? [] : [row.row]));
    return {
      sessionId,
      inserted: [],
      adopted: adopted.map(({ rowId, version, cells }) => ({ rowId, messageUid: uidOf(cells.message_uid), rowVersion: version })),
      rowIds: adopted.map(({ rowId }) => rowId),
    };
  },
  wasMade: (store, { sessionId, inserted }) => inserted.every((row) => isThere(store, sessionId, row)),
};

/** Results of calls that a row from before makes get the uids which that row has. */
function paired(
  { shape }: StoreReading,
  sessionId: string,
  messages: readonly TranscriptMessage[],
  held: readonly (Held | null)[],
  { now, mintUid }: OperationContext,
): readonly TranscriptMessage[] {
  if (held.every((row) => row === null)) return messages;
  const known = messages.map((message, index) => ({ ...message, ...uidsOf(held[index] ?? null) }));
  const encoded = encodeBatch(known, { sessionId, shape, now, mintUid });
  return messages.map((message, index) => {
    const { toolCallUids, toolCallUid } = encoded[index] ?? {};
    return {
      ...message,
      ...(toolCallUids != null && { _tool_call_uids: toolCallUids }),
      ...(toolCallUid != null && { _tool_call_uid: toolCallUid }),
    };
  });
}

function uidsOf(held: Held | null): TranscriptMessage {
  return held === null ? {} : { _tool_call_uids: held.row.cells.tool_call_uids, _tool_call_uid: held.row.cells.tool_call_uid };
}

function writeHeld(transaction: WriteTransaction, { sessionId, held }: Plan): void {
  const changed = held.filter((row) => row !== null && Object.keys(row.cells).length > 0);
  if (changed.length > 0) completeDisplayIndex(transaction, sessionId);
  for (const item of changed) if (item !== null) changeRow(transaction, item.row, item.cells, { withTwin: false });
}

function outcome(transaction: WriteTransaction, { sessionId, held }: Plan, fresh: readonly InsertedMessage[]): AppendedBatch {
  const left = [...fresh];
  const placed = held.map((item) => {
    if (item !== null) return { rowId: item.row.rowId, duplicate: true };
    const { rowId, duplicate } = left.shift() ?? { rowId: '', duplicate: true };
    return { rowId, duplicate };
  });
  const rowIds = placed.map(({ rowId }) => rowId);
  const rows = storedRows(transaction, rowIds);
  const told = (duplicate: boolean): AppendedRow[] =>
    placed.flatMap((item) => {
      const row = rows.get(item.rowId);
      if (item.duplicate !== duplicate || row === undefined) return [];
      return [{ rowId: row.rowId, messageUid: uidOf(row.cells.message_uid), rowVersion: row.version }];
    });
  return { sessionId, inserted: told(false), adopted: told(true), rowIds };
}

/**
 * By the lasting id, which a compaction takes along to other rows; else by the row, whose id another message may have got after a rollback.
 * Throws where such a row is of the session and not as it was written: nobody can tell then.
 */
function isThere(store: StoreReading, sessionId: string, { rowId, messageUid, rowVersion }: AppendedRow): boolean {
  const sessions = conversationIds(store, sessionId);
  if (messageUid === null) {
    const row = storedRows(store, [rowId]).get(rowId);
    if (row === undefined || !sessions.includes(row.sessionId)) return false;
    if (row.version !== rowVersion) throw new WriteRefused('INDETERMINATE', 'A row was changed since, or is another message.');
    return true;
  }
  const sql = `SELECT 1 AS found FROM messages m WHERE m.session_id IN (SELECT value FROM json_each(?)) AND m.message_uid = ? LIMIT 1`;
  return store.get(sql, [idList(sessions), messageUid]) !== undefined;
}

function uidOf(cell: unknown): string | null {
  return typeof cell === 'string' ? cell : null;
}
