/**
 * Sessions that nobody needs any more, taken out together (`spec/state-db-writes.md` M2, M3, M5). What is pinned, or in which a turn or a
 * compression is under way, stays.
 */
import { WriteRefused } from '../../write-refused.ts';
import { idList } from '../connection.ts';
import { flagsLineage } from '../flags-lineage.ts';
import { isChainEdge } from '../lineage.ts';
import type { StoreReading } from '../store-reading.ts';
import { CANONICAL_TITLE } from '../titles.ts';
import { AllSessions, type JudgedSession } from './all-sessions.ts';
import { sameIds } from './expected-ids.ts';
import { refuseOnline } from './heal-route.ts';
import { SessionGraph } from './session-graph.ts';
import { areEnded, areGone, planRemoval, type Removal, remove, withoutGuarded } from './session-removal.ts';
import type { StoreOperation } from './store-operation.ts';
import { readVacuumFacts, vacuumObstacle } from './vacuum-gates.ts';
import type { WriteTransaction } from './write-connection.ts';

export const DEFAULT_RETENTION_DAYS = 90;
const DAY = 86_400;
/** Sources whose runtimes leave sessions open when they die. */
const LEFT_OPEN: ReadonlySet<string> = new Set(['cli', 'cron', 'kanban', 'acp', 'api_server', 'subagent', 'tool', 'recovered']);
const REAP_REASON = 'startup_orphan_reap';

export interface PruneInput {
  /**
   * INACTIVE: ended, and untouched for that long. GHOSTS: of the terminal, ended, untitled and without a row. NEVER_ACTIVE: open, of a routing
   * key, in which nothing ever happened; their routes go too, so no gateway may run.
   */
  readonly filter: 'INACTIVE' | 'GHOSTS' | 'NEVER_ACTIVE';
  readonly olderThanDays: number;
  /** Only sessions of this source; null: of any. */
  readonly source: string | null;
  /** Also end open sessions of runtimes that left them behind that long ago. */
  readonly closeStale: boolean;
  readonly expectedIds: readonly string[] | null;
}

export interface PruneResult {
  readonly deletedIds: readonly string[];
  readonly orphanedIds: readonly string[];
  readonly skippedGuarded: readonly string[];
  readonly closedIds: readonly string[];
  /** Whether the routes of the sessions went too. */
  readonly dropsRoutes: boolean;
  /** Whether compacting the file afterwards is worth while. */
  readonly vacuumDue: boolean;
}

interface PrunePlan extends Removal {
  readonly skippedGuarded: readonly string[];
  readonly closedIds: readonly string[];
  readonly dropsRoutes: boolean;
}

/** Throws VALIDATION for a negative age, SET_CHANGED when other sessions would go than those expected, GATEWAY_ONLINE for NEVER_ACTIVE. */
export const pruneSessions: StoreOperation<PruneInput, PrunePlan, PruneResult> = {
  patience: 'ROUTINE',
  touchesMessages: true,
  plan: (store, input, { now }) => {
    if (!(input.olderThanDays >= 0)) throw new WriteRefused('VALIDATION', 'olderThanDays is 0 or more.');
    const isNeverActive = input.filter === 'NEVER_ACTIVE';
    if (isNeverActive) refuseOnline(store, now);
    const sessions = new AllSessions(store);
    const graph = new SessionGraph(store);
    const limit = now - input.olderThanDays * DAY;
    const wanted = [...sessions.all()].filter((session) => input.source === null || session.source === input.source);
    const chosen = wanted.filter((session) => isChosen(store, sessions, session, input.filter, { limit, now }));
    const { free, guarded } = withoutGuarded(
      store,
      graph,
      chosen.map(({ id }) => id),
      now,
    );
    const ids = wholeChains(sessions, free);
    if (input.expectedIds !== null && !sameIds(input.expectedIds, ids)) throw new WriteRefused('SET_CHANGED', '', { details: { ids } });
    const stale = input.closeStale ? wanted.filter((session) => isLeftOpen(sessions, session, limit)) : [];
    const closed = withoutGuarded(
      store,
      graph,
      stale.map(({ id }) => id).filter((id) => !ids.includes(id)),
      now,
    );
    return {
      ...planRemoval(store, graph, ids, now),
      skippedGuarded: [...guarded, ...closed.guarded],
      closedIds: closed.free,
      dropsRoutes: isNeverActive,
    };
  },
  execute: (transaction, plan, { now }) => {
    if (plan.dropsRoutes) dropRoutes(transaction, plan.ids);
    remove(transaction, plan);
    if (plan.closedIds.length > 0) {
      transaction.run(
        'UPDATE sessions SET ended_at = ?, end_reason = ? WHERE ended_at IS NULL AND id IN (SELECT value FROM json_each(?))',
        [now, REAP_REASON, idList(plan.closedIds)],
      );
    }
    const facts = readVacuumFacts(transaction);
    return { ...told(plan), vacuumDue: vacuumObstacle({ ...facts, pruned: plan.ids.length, holders: 0, now }) === null };
  },
  preview: told,
  wasMade: (store, { deletedIds, closedIds }) => areGone(store, deletedIds) && areEnded(store, closedIds),
};

function told({ ids, orphanedIds, skippedGuarded, closedIds, dropsRoutes }: PrunePlan): PruneResult {
  return { deletedIds: ids, orphanedIds, skippedGuarded, closedIds, dropsRoutes, vacuumDue: false };
}

interface Clock {
  readonly limit: number;
  readonly now: number;
}

function isChosen(
  store: StoreReading,
  sessions: AllSessions,
  session: JudgedSession,
  filter: PruneInput['filter'],
  { limit, now }: Clock,
): boolean {
  if (filter === 'INACTIVE') return session.isEnded && isOlder(ageFrom(session), limit) && !isPinned(sessions, session);
  const isUntitled = session.title === null || session.title === '';
  if (!isUntitled || session.hasRows || isPinned(sessions, session)) return false;
  if (filter === 'GHOSTS') return session.source === 'tui' && session.isEnded && isOlder(session.startedAt, now - DAY);
  return isNeverActive(store, session) && isOlder(session.startedAt, limit);
}

/** One that was reaped counts from then: it was open until somebody noticed. */
function ageFrom(session: JudgedSession): number | null {
  if (session.endReason === REAP_REASON) return session.endedAt;
  if (session.recency === null) return null;
  return Math.max(session.recency, session.startedAt ?? session.recency);
}

/** A time that isn't known is never old. */
function isOlder(time: number | null, limit: number): boolean {
  return time !== null && time < limit;
}

function isPinned(sessions: AllSessions, session: JudgedSession): boolean {
  return flagsLineage(sessions, session).some((id) => sessions.get(id)?.pinned === true);
}

function isNeverActive(store: StoreReading, session: JudgedSession): boolean {
  const { sessionKey, lastActivityAt, archived, isEnded } = session;
  const counters = [
    session.storedMessageCount,
    session.toolCallCount,
    session.apiCallCount,
    session.inputTokens,
    session.outputTokens,
    session.cacheReadTokens,
    session.cacheWriteTokens,
    session.reasoningTokens,
  ];
  const isKeyed = store.shape.hasColumn('sessions', 'session_key') && sessionKey !== null && sessionKey !== '';
  return isKeyed && !isEnded && !archived && lastActivityAt === null && counters.every((count) => count === 0);
}

function isLeftOpen(sessions: AllSessions, session: JudgedSession, limit: number): boolean {
  const isBotChat = session.title === CANONICAL_TITLE && session.hidden;
  return (
    !session.isEnded && LEFT_OPEN.has(session.source) && isOlder(ageFrom(session), limit) && !isBotChat && !isPinned(sessions, session)
  );
}

/** A compressed segment goes only together with every continuation, so that no conversation loses its beginning (M3). */
function wholeChains(sessions: AllSessions, ids: readonly string[]): string[] {
  const kept = new Set(ids);
  for (let before = -1; before !== kept.size; ) {
    before = kept.size;
    for (const id of kept) {
      const session = sessions.get(id);
      if (session === undefined) continue;
      const goesOn = sessions.children(id).some((child) => isChainEdge(session, child) && !kept.has(child.id));
      if (goesOn) kept.delete(id);
    }
  }
  return [...kept];
}

function dropRoutes(transaction: WriteTransaction, ids: readonly string[]): void {
  if (!transaction.shape.hasTable('gateway_routing') || ids.length === 0) return;
  transaction.run(
    `DELETE FROM gateway_routing WHERE json_valid(entry_json)
     AND json_extract(entry_json, '$.session_id') IN (SELECT value FROM json_each(?))`,
    [idList(ids)],
  );
}
