/**
 * A transcript written anew (`spec/state-db-writes.md` RW1): kept as far as it is the same, or with what it replaces deleted.
 */
import { WriteRefused } from '../../write-refused.ts';
import { idList } from '../connection.ts';
import type { StoreReading } from '../store-reading.ts';
import { isLiveSql } from '../visibility.ts';
import { activeIds } from './active-ids.ts';
import { type Admitted, admit, checkAdmission, DEFAULT_TTL_SECONDS } from './admission.ts';
import { commonPrefix } from './common-prefix.ts';
import { completeDisplayIndex } from './display-index.ts';
import { type ExpectedState, isExpectedStateGiven, requireExpectedState } from './expected-state.ts';
import { insertMessages } from './insert-messages.ts';
import { encodeBatch } from './message-batch.ts';
import type { TranscriptMessage } from './message-encoding.ts';
import { recountSession } from './session-counters.ts';
import { SessionGraph } from './session-graph.ts';
import type { StoreOperation } from './store-operation.ts';

/**
 * ARCHIVE_DROPPED: rows that begin the same stay, the others are hidden and can be looked at. ACTIVE_ONLY: the live rows are deleted,
 * archived history stays. DESTRUCTIVE: every row is deleted.
 */
export type RewriteMode = 'ARCHIVE_DROPPED' | 'ACTIVE_ONLY' | 'DESTRUCTIVE';

export interface RewriteTranscriptInput extends ExpectedState {
  readonly sessionId: string;
  readonly mode: RewriteMode;
  /** The whole transcript, in order. */
  readonly messages: readonly TranscriptMessage[];
  /** For DESTRUCTIVE: yes, the history too. For ACTIVE_ONLY: without saying what is there (Y5). */
  readonly force?: boolean;
  readonly leaseToken?: string | null;
  /** Refuse while anybody else runs a turn or compresses; default true. */
  readonly rejectOthers?: boolean;
}

export interface RewrittenTranscript {
  readonly sessionId: string;
  /** Messages whose rows stayed. */
  readonly kept: number;
  readonly inserted: number;
  readonly insertedIds: readonly string[];
  /** Null where the store keeps none. */
  readonly insertedUids: readonly (string | null)[];
  /** Rows that are hidden now. */
  readonly retiredIds: readonly string[];
  /** Rows that are gone. */
  readonly deletedIds: readonly string[];
  /** Epoch seconds; null in a dry run. */
  readonly madeAt: number | null;
}

interface RewritePlan {
  readonly admitted: Admitted;
  readonly input: RewriteTranscriptInput;
  readonly kept: number;
  readonly retiredIds: readonly string[];
  readonly deletedIds: readonly string[];
}

const HERE = 'm.id IN (SELECT CAST(value AS INTEGER) FROM json_each(?))';

/**
 * Throws `WriteRefused`: VALIDATION without an expected state or `force` where something would be deleted, TRANSCRIPT_CHANGED, and what the
 * guards refuse.
 */
export const rewriteTranscript: StoreOperation<RewriteTranscriptInput, RewritePlan, RewrittenTranscript> = {
  patience: 'ROUTINE',
  touchesMessages: true,
  plan: (store, input, { now, mintUid }) => {
    requireConsent(input);
    const admitted = admitRewrite(store, input, now);
    const { sessionId, mode, messages } = input;
    // A dry run refuses what the write would refuse.
    encodeBatch(messages, { sessionId, shape: store.shape, now, mintUid });
    if (mode === 'DESTRUCTIVE') return { admitted, input, kept: 0, retiredIds: [], deletedIds: allIds(store, sessionId) };
    const live = activeIds(store, sessionId);
    if (mode === 'ACTIVE_ONLY') return { admitted, input, kept: 0, retiredIds: [], deletedIds: live };
    if (!store.shape.hasColumn('messages', 'active')) throw new WriteRefused('SCHEMA_UNSUPPORTED', 'It can not hide messages.');
    const kept = commonPrefix(store, sessionId, messages);
    return { admitted, input, kept, retiredIds: live.slice(kept), deletedIds: [] };
  },
  execute: (transaction, plan, { now, mintUid }) => {
    const { sessionId, messages } = plan.input;
    admit(transaction, plan.admitted);
    if (plan.deletedIds.length > 0) {
      // By what they are and not by id, so that no later row could slip through.
      const which = plan.input.mode === 'DESTRUCTIVE' ? '1' : isLiveSql(transaction.shape, 'm');
      transaction.run(`DELETE FROM messages AS m WHERE m.session_id = ? AND ${which}`, [sessionId]);
    }
    if (plan.retiredIds.length > 0) {
      const flags = transaction.shape.hasColumn('messages', 'compacted') ? 'active = 0, compacted = 0' : 'active = 0';
      transaction.run(`UPDATE messages AS m SET ${flags} WHERE m.session_id = ? AND ${HERE}`, [sessionId, idList(plan.retiredIds)]);
    }
    const inserted = insertMessages(transaction, sessionId, messages.slice(plan.kept), {
      path: 'BATCH',
      now,
      mintUid,
      known: 'INSERT',
      addToCounters: false,
      keepNewestCheckpoint: true,
    });
    recountSession(transaction, sessionId);
    completeDisplayIndex(transaction, sessionId);
    return {
      ...resultOf(plan),
      insertedIds: inserted.map(({ rowId }) => rowId),
      insertedUids: inserted.map(({ uid }) => uid),
      madeAt: now,
    };
  },
  preview: resultOf,
  wasMade,
};

function requireConsent(input: RewriteTranscriptInput): void {
  if (input.mode === 'ARCHIVE_DROPPED') return;
  const isForced = input.force === true;
  if (input.mode === 'DESTRUCTIVE' && !isForced)
    throw new WriteRefused('VALIDATION', 'DESTRUCTIVE deletes the history too; it needs force.');
  if (!isExpectedStateGiven(input) && (input.mode === 'DESTRUCTIVE' || !isForced)) {
    throw new WriteRefused('VALIDATION', `${input.mode} deletes rows; say what is there with expectedRevision or expectedActiveIds.`);
  }
}

function admitRewrite(store: StoreReading, input: RewriteTranscriptInput, now: number): Admitted {
  const { sessionId, leaseToken } = input;
  const graph = new SessionGraph(store);
  const session = graph.get(sessionId);
  if (session === undefined) throw new WriteRefused('NOT_FOUND', 'There is no such session.');
  const rejects = input.rejectOthers !== false;
  const admission = {
    lease: leaseToken == null ? null : { holder: leaseToken, ttlSeconds: DEFAULT_TTL_SECONDS },
    rejectLease: rejects ? ('SESSION_BUSY' as const) : null,
    rejectLock: rejects ? ('COMPRESSION_IN_PROGRESS' as const) : null,
    rejectClosed: true,
  };
  const admitted = checkAdmission(store, graph, sessionId, admission, now);
  requireExpectedState(store, graph, session, input);
  return admitted;
}

function resultOf({ input, kept, retiredIds, deletedIds }: RewritePlan): RewrittenTranscript {
  const inserted = input.messages.length - kept;
  return { sessionId: input.sessionId, kept, inserted, insertedIds: [], insertedUids: [], retiredIds, deletedIds, madeAt: null };
}

/** K18, K38: judged by both ends, what went and what came. Throws when they tell different tales. */
function wasMade(store: StoreReading, planned: RewrittenTranscript): boolean {
  const { sessionId } = planned;
  const removed = [...planned.retiredIds, ...planned.deletedIds];
  const isGone = removed.length > 0 && store.get(liveAmongSql(store), [sessionId, idList(removed)]) === undefined;
  const first = planned.insertedIds[0];
  const row = first === undefined ? undefined : rowOf(store, sessionId, first);
  const isThere = row !== undefined && (planned.insertedUids[0] ?? null) === row.uid;
  if (removed.length === 0 && first === undefined) return true;
  if (removed.length === 0) return isThere;
  if (first === undefined || isGone === isThere) return isGone;
  throw new WriteRefused('INDETERMINATE');
}

function liveAmongSql(store: StoreReading): string {
  return `SELECT 1 AS found FROM messages m WHERE m.session_id = ? AND ${HERE} AND ${isLiveSql(store.shape, 'm')} LIMIT 1`;
}

function rowOf(store: StoreReading, sessionId: string, rowId: string): { readonly uid: string | null } | undefined {
  const uid = store.shape.columnOr('messages', 'message_uid', 'm', 'NULL');
  const row = store.get(`SELECT ${uid} AS uid FROM messages m WHERE m.id = ? AND m.session_id = ?`, [BigInt(rowId), sessionId]);
  return row === undefined ? undefined : { uid: typeof row.uid === 'string' ? row.uid : null };
}

function allIds(store: StoreReading, sessionId: string): string[] {
  const rows = store.all('SELECT CAST(m.id AS TEXT) AS id FROM messages m WHERE m.session_id = ? ORDER BY m.id', [sessionId]);
  return rows.map(({ id }) => String(id));
}
