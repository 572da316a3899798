/**
 * Changes of one message of a person: its words, or whether it counts at all (`spec/state-db-writes.md` B8, Z8).
 */
import { WriteRefused } from '../../write-refused.ts';
import type { StoreReading } from '../store-reading.ts';
import { type Admitted, admit, checkAdmission, type Lease } from './admission.ts';
import { changedCells, messageOf } from './changed-cells.ts';
import { completeDisplayIndex } from './display-index.ts';
import { type Cells, changeRow } from './row-in-place.ts';
import { recountSession } from './session-counters.ts';
import { SessionGraph } from './session-graph.ts';
import type { OperationContext, StoreOperation } from './store-operation.ts';
import { isVersion, type StoredRow, storedRow, versionConflict } from './stored-row.ts';

export interface UserRowInput {
  readonly rowId: string;
  readonly rowVersion: string;
  readonly lease: Lease | null;
}

export interface EditInput extends UserRowInput {
  readonly content: unknown;
}

export interface ChangedUserRow {
  readonly sessionId: string;
  readonly rowId: string;
  /** Of the row as it is now; in a preview, as it is before. */
  readonly rowVersion: string;
  /** It was as asked for already, and nothing was written. */
  readonly alreadyApplied: boolean;
}

interface UserRowPlan {
  readonly row: StoredRow;
  readonly admitted: Admitted;
  readonly cells: Cells;
}

/**
 * New words for a live message of a person; what the provider was given in their place is dropped (V11), the row stays in its place. Throws
 * NOT_FOUND, ROW_NOT_LIVE, ROW_NOT_REWRITABLE, ROW_VERSION_CONFLICT, SESSION_BUSY, COMPRESSION_IN_PROGRESS, SESSION_CLOSED, TURN_LEASE_LOST.
 */
export const editUserMessage: StoreOperation<EditInput, UserRowPlan, ChangedUserRow> = {
  patience: 'ROUTINE',
  touchesMessages: true,
  plan: (store, input, context) => {
    const row = userRow(store, input.rowId);
    if (!row.isLive) throw new WriteRefused('ROW_NOT_LIVE', '', { details: { rowId: row.rowId } });
    const admitted = admission(store, row.sessionId, input.lease, context);
    const original = messageOf(row);
    const cells = changedCells(store.shape, row, { original, replacement: { ...original, content: input.content } }, context.mintUid);
    if (!isVersion(store, row, input.rowVersion) && Object.keys(cells).length > 0) throw versionConflict(row);
    return { row, admitted, cells };
  },
  execute: (transaction, plan) => {
    const { row, admitted, cells } = plan;
    admit(transaction, admitted);
    if (Object.keys(cells).length === 0) return unwritten(plan);
    completeDisplayIndex(transaction, row.sessionId);
    changeRow(transaction, row, cells, { withTwin: false });
    return { ...unwritten(plan), rowVersion: storedRow(transaction, row.rowId)?.version ?? row.version };
  },
  preview: unwritten,
  wasMade: (store, { rowId, rowVersion }) => storedRow(store, rowId)?.version === rowVersion,
};

/**
 * Takes a message of a person out of the transcript; it stays on disk. The counters of the session follow. Throws as `editUserMessage`, and
 * SCHEMA_UNSUPPORTED where rows have no such flag. One that is out already is no error.
 */
export const deactivateMessage: StoreOperation<UserRowInput, UserRowPlan, ChangedUserRow> = {
  patience: 'ROUTINE',
  touchesMessages: true,
  plan: (store, input, context) => {
    if (!store.shape.hasColumn('messages', 'active')) throw new WriteRefused('SCHEMA_UNSUPPORTED', 'Its messages can not be set aside.');
    const row = userRow(store, input.rowId);
    if (row.isArchived && !row.isLive) throw new WriteRefused('ROW_NOT_LIVE', '', { details: { rowId: row.rowId } });
    const admitted = admission(store, row.sessionId, input.lease, context);
    if (!isVersion(store, row, input.rowVersion)) throw versionConflict(row);
    return { row, admitted, cells: row.isLive ? { active: 0n } : {} };
  },
  execute: (transaction, plan) => {
    const { row, admitted, cells } = plan;
    admit(transaction, admitted);
    if (Object.keys(cells).length === 0) return unwritten(plan);
    // The trigger moves the other copies of the message to another slot, for which they need to know theirs.
    completeDisplayIndex(transaction, row.sessionId);
    transaction.run('UPDATE messages SET active = 0 WHERE id = ?', [BigInt(row.rowId)]);
    recountSession(transaction, row.sessionId);
    return unwritten(plan);
  },
  preview: unwritten,
};

function userRow(store: StoreReading, rowId: string): StoredRow {
  const row = storedRow(store, rowId);
  if (row === null) throw new WriteRefused('NOT_FOUND', 'There is no such message.');
  if (row.role !== 'user') throw new WriteRefused('ROW_NOT_REWRITABLE', 'It is no message of a person.', { details: { rowId } });
  return row;
}

function admission(store: StoreReading, sessionId: string, lease: Lease | null, { now }: OperationContext): Admitted {
  const asked = { lease, rejectLease: 'SESSION_BUSY', rejectLock: 'COMPRESSION_IN_PROGRESS', rejectClosed: true } as const;
  return checkAdmission(store, new SessionGraph(store), sessionId, asked, now);
}

function unwritten({ row, cells }: UserRowPlan): ChangedUserRow {
  const { sessionId, rowId, version } = row;
  return { sessionId, rowId, rowVersion: version, alreadyApplied: Object.keys(cells).length === 0 };
}
