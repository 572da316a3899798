/**
 * Conversations that rest, taken out of the lists until they live again (`spec/state-db-writes.md` M4, F9).
 */
import { WriteRefused } from '../../write-refused.ts';
import { idList } from '../connection.ts';
import { flagsLineage } from '../flags-lineage.ts';
import { isChainEdge } from '../lineage.ts';
import { CANONICAL_TITLE } from '../titles.ts';
import { AllSessions, type JudgedSession } from './all-sessions.ts';
import { sameIds } from './expected-ids.ts';
import { areArchived } from './session-flags.ts';
import { SessionGraph } from './session-graph.ts';
import { isGuarded } from './session-removal.ts';
import { requireColumns } from './session-rows.ts';
import type { StoreOperation } from './store-operation.ts';

export const DEFAULT_IDLE_DAYS = 3;
const DAY = 86_400;

export interface SweepInput {
  readonly idleDays: number;
  readonly expectedIds: readonly string[] | null;
}

export interface SweepResult {
  /** Every session that was archived, with the earlier segments of its conversation. */
  readonly sessionIds: readonly string[];
  /** Of these, the last segments. */
  readonly tipIds: readonly string[];
}

/** Throws VALIDATION for a negative time, SET_CHANGED when other conversations (by their last segments) rest than those expected. */
export const archiveStaleSessions: StoreOperation<SweepInput, SweepResult, SweepResult> = {
  patience: 'ROUTINE',
  touchesMessages: false,
  plan: (store, { idleDays, expectedIds }, { now }) => {
    requireColumns(store, ['archived']);
    if (!(idleDays >= 0)) throw new WriteRefused('VALIDATION', 'idleDays is 0 or more.');
    const sessions = new AllSessions(store);
    const graph = new SessionGraph(store);
    const limit = now - idleDays * DAY;
    const tips = [...sessions.all()].filter(
      (session) => isRestingTip(sessions, session, limit) && !isGuarded(store, graph, session.id, now),
    );
    const tipIds = tips.map(({ id }) => id);
    if (expectedIds !== null && !sameIds(expectedIds, tipIds)) throw new WriteRefused('SET_CHANGED', '', { details: { ids: tipIds } });
    const lineages = tips.flatMap((session) => flagsLineage(sessions, session));
    // Only rows that the sweep hides are marked as its own.
    const sessionIds = [...new Set(lineages)].filter((id) => sessions.get(id)?.archived === false);
    return { sessionIds, tipIds };
  },
  execute: (transaction, plan) => {
    const swept = transaction.shape.hasColumn('sessions', 'auto_archived') ? ', auto_archived = 1' : '';
    transaction.run(`UPDATE sessions SET archived = 1${swept} WHERE id IN (SELECT value FROM json_each(?))`, [idList(plan.sessionIds)]);
    return plan;
  },
  preview: (plan) => plan,
  wasMade: (store, { sessionIds }) => areArchived(store, sessionIds, true),
};

function isRestingTip(sessions: AllSessions, session: JudgedSession, limit: number): boolean {
  if (session.archived || session.recency === null || session.recency >= limit) return false;
  if (sessions.children(session.id).some((child) => isChainEdge(session, child))) return false;
  const lineage = flagsLineage(sessions, session).flatMap((id) => sessions.get(id) ?? []);
  return !lineage.some(({ pinned, hidden, title }) => pinned || (hidden && title === CANONICAL_TITLE));
}
