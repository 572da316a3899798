/**
 * Flags of a conversation, written to the whole compression lineage at once (`spec/state-db-writes.md` F8 to F10).
 */
import { WriteRefused } from '../../write-refused.ts';
import { idList } from '../connection.ts';
import { flagsLineage } from '../flags-lineage.ts';
import type { StoreReading } from '../store-reading.ts';
import { CANONICAL_TITLE } from '../titles.ts';
import { sameIds } from './expected-ids.ts';
import { SessionGraph } from './session-graph.ts';
import { requireColumns, requireSession } from './session-rows.ts';
import type { StoreOperation } from './store-operation.ts';

const OF_LINEAGE = 'WHERE id IN (SELECT value FROM json_each(?))';

export interface ArchiveInput {
  readonly sessionId: string;
  readonly archived: boolean;
  /** The sessions that a preview said would follow; null: none are expected. */
  readonly expectedCascade: readonly string[] | null;
}

export interface ArchiveResult {
  readonly sessionId: string;
  readonly archived: boolean;
  /** The session and those that follow along. */
  readonly sessionIds: readonly string[];
  /** Epoch seconds. */
  readonly at: number;
}

/** F8, F9. Throws NOT_FOUND, and CASCADE_CHANGED when other sessions follow than those expected. */
export const setSessionArchived: StoreOperation<ArchiveInput, ArchiveResult, ArchiveResult> = {
  patience: 'ROUTINE',
  touchesMessages: false,
  plan: (store, { sessionId, archived, expectedCascade }, { now }) => {
    requireColumns(store, ['archived']);
    const sessionIds = lineageOf(store, sessionId);
    if (expectedCascade !== null && !sameIds(expectedCascade, sessionIds)) {
      throw new WriteRefused('CASCADE_CHANGED', '', { details: { sessionIds } });
    }
    return { sessionId, archived, sessionIds, at: now };
  },
  execute: (transaction, plan) => {
    // From now on it is a person's archive, which no revival undoes.
    const swept = transaction.shape.hasColumn('sessions', 'auto_archived') ? ', auto_archived = 0' : '';
    transaction.run(`UPDATE sessions SET archived = ?${swept} ${OF_LINEAGE}`, [plan.archived ? 1n : 0n, idList(plan.sessionIds)]);
    return plan;
  },
  preview: (plan) => plan,
  wasMade: (store, { sessionIds, archived }) => areArchived(store, sessionIds, archived),
};

/** Whether all of the sessions are in the archive, or none. */
export function areArchived(store: StoreReading, ids: readonly string[], archived: boolean): boolean {
  const row = store.get(`SELECT 1 AS other FROM sessions ${OF_LINEAGE} AND (ifnull(archived, 0) <> 0) <> ? LIMIT 1`, [
    idList(ids),
    archived ? 1n : 0n,
  ]);
  return row === undefined;
}

export interface FlagsInput {
  readonly sessionId: string;
  /** Null leaves a flag as it is. */
  readonly pinned: boolean | null;
  readonly hidden: boolean | null;
  readonly read: boolean | null;
}

export interface FlagsResult {
  readonly sessionId: string;
  readonly sessionIds: readonly string[];
}

interface FlagsPlan extends FlagsResult, FlagsInput {}

/** F8, F10. Throws NOT_FOUND, and VALIDATION when no flag is given. */
export const setSessionFlags: StoreOperation<FlagsInput, FlagsPlan, FlagsResult> = {
  patience: 'ROUTINE',
  touchesMessages: false,
  plan: (store, input) => {
    const { pinned, hidden, read } = input;
    if (pinned === null && hidden === null && read === null) throw new WriteRefused('VALIDATION', 'Give at least one flag.');
    requireColumns(store, [
      ...(pinned === null ? [] : ['pinned', 'hidden']),
      ...(hidden === null ? [] : ['hidden']),
      ...(read === null ? [] : ['last_read_at']),
    ]);
    return { ...input, sessionIds: lineageOf(store, input.sessionId) };
  },
  execute: (transaction, plan, { now }) => {
    const ids = idList(plan.sessionIds);
    if (plan.pinned !== null) {
      transaction.run(`UPDATE sessions SET pinned = ? ${OF_LINEAGE}`, [plan.pinned ? 1n : 0n, ids]);
      // What is pinned shows, but for the hidden chat of a bot.
      if (plan.pinned) transaction.run(`UPDATE sessions SET hidden = 0 ${OF_LINEAGE} AND title IS NOT ?`, [ids, CANONICAL_TITLE]);
    }
    if (plan.hidden !== null) transaction.run(`UPDATE sessions SET hidden = ? ${OF_LINEAGE}`, [plan.hidden ? 1n : 0n, ids]);
    // 0 is unread; NULL would mean that nobody ever kept track.
    if (plan.read !== null) transaction.run(`UPDATE sessions SET last_read_at = ? ${OF_LINEAGE}`, [plan.read ? now : 0, ids]);
    return told(plan);
  },
  preview: told,
};

function told({ sessionId, sessionIds }: FlagsPlan): FlagsResult {
  return { sessionId, sessionIds };
}

function lineageOf(store: StoreReading, sessionId: string): string[] {
  const graph = new SessionGraph(store);
  return flagsLineage(graph, requireSession(graph, sessionId));
}
