/**
 * Ends of sessions: the first reason stays, a reset may take the place of an accident (`spec/state-db-writes.md` 13.2, F1, F2).
 */
import { WriteRefused } from '../../write-refused.ts';
import { RESET_REASONS } from '../lineage.ts';
import type { StoreReading } from '../store-reading.ts';
import { type StoredEnd, storedEnd } from './session-rows.ts';
import type { StoreOperation } from './store-operation.ts';
import type { WriteTransaction } from './write-connection.ts';

/** Ends that come about by an accident of the runtime, after which the session can be resumed. */
export const RECOVERABLE_REASONS: ReadonlySet<string> = new Set([
  'agent_close',
  'ws_orphan_reap',
  'superseded_by_resume',
  'startup_orphan_reap',
]);
/** Ends that shape a lineage; only the owning programs write them. */
const STRUCTURAL_REASONS: ReadonlySet<string> = new Set(['compression', 'orphaned_compression', 'branched']);
const LONGEST_REASON = 200;

const END = 'UPDATE sessions SET ended_at = ?, end_reason = ? WHERE id = ?';
const ADVANCE = `INSERT INTO conversation_generations (source, session_key, generation) VALUES (?, ?, 1)
  ON CONFLICT (source, session_key) DO UPDATE SET generation = generation + 1`;

export interface EndInput {
  readonly sessionId: string;
  readonly reason: string;
}

export interface EndResult {
  readonly sessionId: string;
  /** False: the session had ended before, and its reason stays. */
  readonly changed: boolean;
  /** How it is ended now; epoch seconds, null for a stored time that is none. */
  readonly endedAt: number | null;
  readonly endReason: string | null;
}

/** F1. Throws NOT_FOUND, and INVALID_REASON for a reason that shapes a lineage. A session that has ended already is no error. */
export const endSession: StoreOperation<EndInput, EndResult, EndResult> = {
  patience: 'ROUTINE',
  touchesMessages: false,
  plan: (store, { sessionId, reason }, { now }) => {
    if (reason.trim() === '' || reason.length > LONGEST_REASON) {
      throw new WriteRefused('INVALID_REASON', `A reason has 1 to ${LONGEST_REASON} characters.`);
    }
    if (STRUCTURAL_REASONS.has(reason)) throw new WriteRefused('INVALID_REASON');
    const before = storedEnd(store, sessionId);
    return planned(sessionId, before, !before.isEnded, { endedAt: now, endReason: reason.toWellFormed() });
  },
  execute: end,
  preview: (plan) => plan,
  wasMade,
};

/** F2: as an end, and also over an accident. Throws NOT_FOUND, and INVALID_REASON for a reason that is no reset. */
export const markSessionReset: StoreOperation<EndInput, EndResult, EndResult> = {
  patience: 'ROUTINE',
  touchesMessages: false,
  plan: (store, { sessionId, reason }, { now }) => {
    if (!RESET_REASONS.has(reason)) throw new WriteRefused('INVALID_REASON', `A reset is one of ${[...RESET_REASONS].join(', ')}.`);
    const before = storedEnd(store, sessionId);
    const mayEnd = !before.isEnded || RECOVERABLE_REASONS.has(before.reason ?? '');
    return planned(sessionId, before, mayEnd, { endedAt: now, endReason: reason });
  },
  execute: end,
  preview: (plan) => plan,
  wasMade,
};

function planned(sessionId: string, before: StoredEnd, changed: boolean, end: Pick<EndResult, 'endedAt' | 'endReason'>): EndResult {
  return { sessionId, changed, ...(changed ? end : { endedAt: before.endedAt, endReason: before.reason }) };
}

function end(transaction: WriteTransaction, plan: EndResult): EndResult {
  if (!plan.changed) return plan;
  transaction.run(END, [plan.endedAt, plan.endReason, plan.sessionId]);
  if (RESET_REASONS.has(plan.endReason ?? '')) advanceGeneration(transaction, plan.sessionId);
  return plan;
}

function wasMade(store: StoreReading, { sessionId, endedAt, endReason }: EndResult): boolean {
  return (
    store.get('SELECT 1 AS made FROM sessions WHERE id = ? AND ended_at IS ? AND end_reason IS ?', [sessionId, endedAt, endReason]) !==
    undefined
  );
}

/** A reset begins a new conversation under the same routing key. */
function advanceGeneration(transaction: WriteTransaction, sessionId: string): void {
  const key = routingKey(transaction, sessionId);
  if (key !== null) transaction.run(ADVANCE, [key.source, key.sessionKey]);
}

function routingKey(store: StoreReading, sessionId: string): { source: string; sessionKey: string } | null {
  const { shape } = store;
  if (!shape.hasTable('conversation_generations') || !shape.hasColumn('sessions', 'session_key')) return null;
  const row = store.get('SELECT source, session_key FROM sessions WHERE id = ?', [sessionId]);
  if (typeof row?.source !== 'string' || typeof row.session_key !== 'string' || row.source === '' || row.session_key === '') return null;
  return { source: row.source, sessionKey: row.session_key };
}
