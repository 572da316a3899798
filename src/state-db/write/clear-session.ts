/**
 * A session emptied: every row goes, the session stays (`spec/state-db-writes.md` F12).
 */
import { WriteRefused } from '../../write-refused.ts';
import type { StoreReading } from '../store-reading.ts';
import { type Admitted, admit, checkAdmission } from './admission.ts';
import { SessionGraph } from './session-graph.ts';
import { requireSession } from './session-rows.ts';
import type { StoreOperation } from './store-operation.ts';

export interface ClearInput {
  readonly sessionId: string;
  /** Must be true: nothing brings the rows back. */
  readonly confirm: boolean;
}

export interface ClearResult {
  readonly sessionId: string;
  readonly deletedMessages: number;
  /** The newest row that went; what came later isn't meant by a repeat. Null when there was none. */
  readonly throughRowId: string | null;
  /** When it was done, in epoch seconds; null in a preview. */
  readonly madeAt: number | null;
}

interface ClearPlan extends ClearResult {
  readonly admitted: Admitted;
}

/** Throws NOT_FOUND, VALIDATION without `confirm`, SESSION_WRITE_GUARDED while a turn or a compression is under way. */
export const clearSession: StoreOperation<ClearInput, ClearPlan, ClearResult> = {
  patience: 'ROUTINE',
  touchesMessages: true,
  plan: (store, { sessionId, confirm }, { now }) => {
    if (!confirm) throw new WriteRefused('VALIDATION', 'confirm has to be true.');
    const graph = new SessionGraph(store);
    requireSession(graph, sessionId);
    const admission = { rejectLease: 'SESSION_WRITE_GUARDED', rejectLock: 'SESSION_WRITE_GUARDED' } as const;
    const admitted = checkAdmission(store, graph, sessionId, admission, now);
    const row = store.get('SELECT COUNT(*) AS rows, CAST(MAX(m.id) AS TEXT) AS newest FROM messages m WHERE m.session_id = ?', [sessionId]);
    const throughRowId = typeof row?.newest === 'string' ? row.newest : null;
    return { sessionId, deletedMessages: Number(row?.rows ?? 0), throughRowId, madeAt: null, admitted };
  },
  execute: (transaction, plan, { now }) => {
    admit(transaction, plan.admitted);
    transaction.run('DELETE FROM messages WHERE session_id = ?', [plan.sessionId]);
    transaction.run('UPDATE sessions SET message_count = 0, tool_call_count = 0 WHERE id = ?', [plan.sessionId]);
    return { ...told(plan), madeAt: now };
  },
  preview: told,
  wasMade: (store, planned) => isCleared(store, planned),
};

function told({ sessionId, deletedMessages, throughRowId, madeAt }: ClearPlan): ClearResult {
  return { sessionId, deletedMessages, throughRowId, madeAt };
}

function isCleared(store: StoreReading, { sessionId, throughRowId }: ClearResult): boolean {
  if (throughRowId === null) return true;
  const row = store.get('SELECT 1 AS there FROM messages WHERE session_id = ? AND id <= CAST(? AS INTEGER) LIMIT 1', [
    sessionId,
    throughRowId,
  ]);
  return row === undefined;
}
