/**
 * Continuations that older programs left behind, ended so that nothing takes them for live (`spec/state-db-writes.md` C5).
 */
import { idList } from '../connection.ts';
import { isForkBound } from '../lineage.ts';
import { AllSessions, type JudgedSession } from './all-sessions.ts';
import { SessionGraph } from './session-graph.ts';
import { areEnded, isGuarded } from './session-removal.ts';
import { requireColumns } from './session-rows.ts';
import type { StoreOperation } from './store-operation.ts';

const OLDER_THAN_SECONDS = 7 * 86_400;

export interface FinalizeResult {
  readonly sessionIds: readonly string[];
}

/** Those untouched for seven days, open, with messages and without a call of a model, whose parent a compression ended. */
export const finalizeOrphanedCompressions: StoreOperation<Record<string, never>, FinalizeResult, FinalizeResult> = {
  patience: 'ROUTINE',
  touchesMessages: false,
  plan: (store, _, { now }) => {
    requireColumns(store, ['api_call_count']);
    const sessions = new AllSessions(store);
    const graph = new SessionGraph(store);
    const orphans = [...sessions.all()].filter((session) => isOrphan(sessions, session, now - OLDER_THAN_SECONDS));
    return { sessionIds: orphans.map(({ id }) => id).filter((id) => !isGuarded(store, graph, id, now)) };
  },
  execute: (transaction, plan, { now }) => {
    transaction.run(
      "UPDATE sessions SET ended_at = ?, end_reason = 'orphaned_compression' WHERE ended_at IS NULL AND id IN (SELECT value FROM json_each(?))",
      [now, idList(plan.sessionIds)],
    );
    return plan;
  },
  preview: (plan) => plan,
  wasMade: (store, { sessionIds }) => areEnded(store, sessionIds),
};

function isOrphan(sessions: AllSessions, session: JudgedSession, limit: number): boolean {
  const parent = session.parentId === null ? undefined : sessions.get(session.parentId);
  const isContinuation = parent?.endReason === 'compression' && !isForkBound(session, { resets: true });
  const isOld = session.startedAt !== null && Math.max(session.startedAt, session.recency ?? session.startedAt) < limit;
  return isContinuation && isOld && !session.isEnded && session.hasRows && session.apiCallCount === 0;
}
