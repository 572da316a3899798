/**
 * Taking back what was said from one message of a person on (`spec/state-db-writes.md` 10.1): the rows stay, hidden and restorable.
 */
import { WriteRefused } from '../../write-refused.ts';
import { type Content, decodeContent } from '../content.ts';
import { messageColumns } from '../display-plan.ts';
import { decodeMessage, type MessageRecord } from '../message-row.ts';
import type { StoreReading } from '../store-reading.ts';
import { splitTurn } from '../user-turns.ts';
import { isLiveSql } from '../visibility.ts';
import { type Admitted, admit, checkAdmission, DEFAULT_TTL_SECONDS } from './admission.ts';
import { isSameContent } from './common-prefix.ts';
import { completeDisplayIndex } from './display-index.ts';
import { type ExpectedState, requireExpectedState } from './expected-state.ts';
import { insertMessages } from './insert-messages.ts';
import type { TranscriptMessage } from './message-encoding.ts';
import { recountSession } from './session-counters.ts';
import { type GraphSession, SessionGraph } from './session-graph.ts';
import type { OperationContext, StoreOperation } from './store-operation.ts';
import type { WriteTransaction } from './write-connection.ts';

export interface RewindTarget {
  readonly sessionId: string;
  /** Row id, decimal digits. */
  readonly targetId: string;
  /** The target carries a summary too: keep it as a row of its own. */
  readonly preserveHandoff?: boolean;
  /** What the person is known to have said there; another text is a conflict, and the target has to be live. */
  readonly expectedTargetContent?: Content;
}

export interface RewindToMessageInput extends RewindTarget, ExpectedState {
  readonly leaseToken?: string | null;
}

export interface RewoundRows {
  readonly sessionId: string;
  readonly targetId: string;
  readonly rewoundCount: number;
  /** Every row that was live before, in order. */
  readonly retiredIds: readonly string[];
  /** The newest live row afterwards; null where none is left, and for a scaffold that is not written yet. */
  readonly newHeadId: string | null;
  /** The scaffold that keeps the summary. */
  readonly replacementId: string | null;
  readonly replacementUid: string | null;
  /** Of the session, afterwards; null where the store counts none. */
  readonly rewindCount: number | null;
}

/** What a rewind will do. */
export interface RewindPlan {
  readonly admitted: Admitted;
  readonly targetId: string;
  readonly scaffold: TranscriptMessage | null;
  /** As far as it is known beforehand. */
  readonly rows: RewoundRows;
}

const ROW_ID = /^[0-9]{1,19}$/;

/** Steps 1 and 2: whether anybody else is at work, and whether the session is what the caller saw. Throws `WriteRefused`. */
export function admitRewind(
  store: StoreReading,
  { sessionId, leaseToken, ...expected }: ExpectedState & { readonly sessionId: string; readonly leaseToken?: string | null },
  now: number,
): Admitted {
  if (!store.shape.hasColumn('messages', 'active')) throw new WriteRefused('SCHEMA_UNSUPPORTED', 'It can not hide messages.');
  const graph = new SessionGraph(store);
  const session: GraphSession | undefined = graph.get(sessionId);
  if (session === undefined) throw new WriteRefused('NOT_FOUND', 'There is no such session.');
  const admitted = checkAdmission(
    store,
    graph,
    sessionId,
    {
      lease: leaseToken == null ? null : { holder: leaseToken, ttlSeconds: DEFAULT_TTL_SECONDS },
      rejectLease: 'SESSION_BUSY',
      rejectLock: 'COMPRESSION_IN_PROGRESS',
      rejectClosed: true,
    },
    now,
  );
  requireExpectedState(store, graph, session, expected);
  return admitted;
}

/** Steps 3 to 6. Throws `WriteRefused`: NOT_FOUND, VALIDATION for a target that is none, TRANSCRIPT_CHANGED for one with another text. */
export function planRewind(store: StoreReading, admitted: Admitted, target: RewindTarget): RewindPlan {
  const { sessionId, targetId, preserveHandoff = false, expectedTargetContent } = target;
  const row = targetRow(store, sessionId, targetId);
  if (row.role !== 'user') throw new WriteRefused('VALIDATION', 'The target must be a user message.');
  const { handoff, human } = splitTurn(row);
  if (preserveHandoff || expectedTargetContent !== undefined) {
    if (!row.active) throw new WriteRefused('VALIDATION', 'The target is not active.');
    if (human === null) throw new WriteRefused('VALIDATION', 'The target is not a user-originated turn.');
    if (expectedTargetContent !== undefined && !isSameContent(human.content, expectedTargetContent)) {
      throw new WriteRefused('TRANSCRIPT_CHANGED', 'The target holds another text than the one expected.');
    }
    if (preserveHandoff && handoff === null) throw new WriteRefused('VALIDATION', 'The target carries no summary.');
  }
  const live = isLiveSql(store.shape, 'm');
  const retired = store.all(
    `SELECT CAST(m.id AS TEXT) AS id FROM messages m WHERE m.session_id = ? AND m.id >= ? AND ${live} ORDER BY m.id`,
    [sessionId, BigInt(targetId)],
  );
  const head = store.get(
    `SELECT CAST(m.id AS TEXT) AS id FROM messages m WHERE m.session_id = ? AND m.id < ? AND ${live} ORDER BY m.id DESC LIMIT 1`,
    [sessionId, BigInt(targetId)],
  );
  const scaffold: TranscriptMessage | null =
    preserveHandoff && handoff !== null
      ? // The summary is as old as it was: a rewind is no news of a session.
        { role: 'user', content: handoff.content, display_kind: 'hidden', _compressed_summary: true, timestamp: row.timestamp }
      : null;
  const rows: RewoundRows = {
    sessionId,
    targetId,
    rewoundCount: retired.length,
    retiredIds: retired.map(({ id }) => String(id)),
    newHeadId: scaffold !== null || head === undefined ? null : String(head.id),
    replacementId: null,
    replacementUid: null,
    rewindCount: rewindCountOf(store, sessionId, 1),
  };
  return { admitted, targetId, scaffold, rows };
}

/** Steps 5 to 7, in the caller's transaction. */
export function executeRewind(transaction: WriteTransaction, plan: RewindPlan, { now, mintUid }: OperationContext): RewoundRows {
  const { shape } = transaction;
  const { sessionId } = plan.rows;
  admit(transaction, plan.admitted);
  // A row that is live and archived would come back into view as history.
  const flags = shape.hasColumn('messages', 'compacted') ? 'active = 0, compacted = 0' : 'active = 0';
  transaction.run(`UPDATE messages AS m SET ${flags} WHERE m.session_id = ? AND m.id >= ? AND ${isLiveSql(shape, 'm')}`, [
    sessionId,
    BigInt(plan.targetId),
  ]);
  const [scaffold] = insertMessages(transaction, sessionId, plan.scaffold === null ? [] : [plan.scaffold], {
    path: 'BATCH',
    now,
    mintUid,
    known: 'INSERT',
    addToCounters: false,
  });
  if (shape.hasColumn('sessions', 'rewind_count')) {
    transaction.run('UPDATE sessions SET rewind_count = COALESCE(rewind_count, 0) + 1 WHERE id = ?', [sessionId]);
  }
  recountSession(transaction, sessionId);
  completeDisplayIndex(transaction, sessionId);
  if (scaffold === undefined) return plan.rows;
  return { ...plan.rows, newHeadId: scaffold.rowId, replacementId: scaffold.rowId, replacementUid: scaffold.uid };
}

/**
 * Whether a rewind that was never acknowledged was made (K20). Throws when the rows tell neither, since others changed them after it.
 */
export function wasRewound(store: StoreReading, planned: RewoundRows): boolean {
  const found = store.all(
    `SELECT m.active AS active FROM json_each(?) i JOIN messages m ON m.id = CAST(i.value AS INTEGER) AND m.session_id = ?`,
    [JSON.stringify(planned.retiredIds), planned.sessionId],
  );
  if (found.length < planned.retiredIds.length) throw new WriteRefused('INDETERMINATE');
  if (found.some(({ active }) => active === null || active !== 0)) return false;
  // Rows can have been retired by others as well; the count tells whether this rewind was among what happened.
  const count = rewindCountOf(store, planned.sessionId, 0);
  return planned.rewindCount === null || count === null || count >= planned.rewindCount;
}

/** A rewind whose target the caller names, as the owning programs have it below their turns. */
export const rewindToMessage: StoreOperation<RewindToMessageInput, RewindPlan, RewoundRows> = {
  patience: 'ROUTINE',
  touchesMessages: true,
  plan: (store, { leaseToken, expectedActiveIds, expectedRevision, ...target }, { now }) => {
    const { sessionId } = target;
    const expected = { expectedActiveIds: expectedActiveIds ?? null, expectedRevision: expectedRevision ?? null };
    return planRewind(store, admitRewind(store, { sessionId, leaseToken: leaseToken ?? null, ...expected }, now), target);
  },
  execute: executeRewind,
  preview: ({ rows }) => rows,
  wasMade: wasRewound,
};

function targetRow(store: StoreReading, sessionId: string, targetId: string): MessageRecord {
  const row = ROW_ID.test(targetId)
    ? store.get(`SELECT ${messageColumns(store, 'm')} FROM messages m WHERE m.id = ? AND m.session_id = ?`, [BigInt(targetId), sessionId])
    : undefined;
  if (row === undefined) throw new WriteRefused('NOT_FOUND', 'The target is not in this session.');
  const record = decodeMessage(row);
  return { ...record, content: decodeContent(record.rawContent) };
}

function rewindCountOf(store: StoreReading, sessionId: string, more: number): number | null {
  if (!store.shape.hasColumn('sessions', 'rewind_count')) return null;
  const row = store.get('SELECT s.rewind_count AS n FROM sessions s WHERE s.id = ?', [sessionId]);
  return Number(row?.n ?? 0) + more;
}
