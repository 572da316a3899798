/**
 * Sessions deleted on purpose: one segment, a whole conversation, several at once, those that hold nothing (`spec/state-db-writes.md` F11, F12).
 */
import { WriteRefused } from '../../write-refused.ts';
import { chainMembers, chainRoot, delegateCascade } from '../lineage.ts';
import type { StoreReading } from '../store-reading.ts';
import { sameIds } from './expected-ids.ts';
import { SessionGraph } from './session-graph.ts';
import { areGone, planRemoval, type Removal, remove, withoutGuarded } from './session-removal.ts';
import { requireSession } from './session-rows.ts';
import type { StoreOperation } from './store-operation.ts';

/** F12: so many ids in one request. */
export const MOST_DELETED = 500;

export interface DeleteInput {
  readonly sessionId: string;
  /** LINEAGE takes every segment of the conversation; a middle segment alone leaves its continuation without a parent (Z10). */
  readonly scope: 'SEGMENT' | 'LINEAGE';
  /** What a preview said would be deleted; null: nothing is expected. */
  readonly expectedDeleteIds: readonly string[] | null;
  /** Delete it only when it has no row, no title and no children. */
  readonly onlyIfEmpty: boolean;
}

export interface DeleteResult {
  /** With the delegates of those that were named. */
  readonly deletedIds: readonly string[];
  /** Children that stay, without their parent. */
  readonly orphanedIds: readonly string[];
}

/**
 * F11. Throws NOT_FOUND, DELETE_SET_CHANGED when another set would go than the expected one, SESSION_WRITE_GUARDED while a turn or a
 * compression is under way in any of them.
 */
export const deleteSession: StoreOperation<DeleteInput, Removal, DeleteResult> = {
  patience: 'ROUTINE',
  touchesMessages: true,
  plan: (store, { sessionId, scope, expectedDeleteIds, onlyIfEmpty }, { now }) => {
    const graph = new SessionGraph(store);
    const session = requireSession(graph, sessionId);
    if (onlyIfEmpty && !isEmpty(store, sessionId)) return planRemoval(store, graph, [], now);
    const named = scope === 'SEGMENT' ? [session] : chainMembers(graph, chainRoot(graph, session));
    const ids = withDelegates(
      graph,
      named.map(({ id }) => id),
    );
    refuseOtherSet(expectedDeleteIds, ids);
    return planRemoval(store, graph, ids, now);
  },
  execute: (transaction, plan) => {
    remove(transaction, plan);
    return told(plan);
  },
  preview: told,
  wasMade: (store, { deletedIds }) => areGone(store, deletedIds),
};

export interface DeleteManyInput {
  readonly ids: readonly string[];
  readonly expectedDeleteIds: readonly string[] | null;
}

export interface DeleteManyResult extends DeleteResult {
  /** Named, and not in the store. */
  readonly skippedIds: readonly string[];
}

interface DeleteManyPlan extends Removal {
  readonly skippedIds: readonly string[];
}

/** F12: all or none of those that exist. Throws TOO_MANY, and what `deleteSession` throws but NOT_FOUND. */
export const deleteSessions: StoreOperation<DeleteManyInput, DeleteManyPlan, DeleteManyResult> = {
  patience: 'ROUTINE',
  touchesMessages: true,
  plan: (store, { ids, expectedDeleteIds }, { now }) => {
    if (ids.length > MOST_DELETED) throw new WriteRefused('TOO_MANY', `At most ${MOST_DELETED} sessions are deleted at once.`);
    const graph = new SessionGraph(store);
    const named = [...new Set(ids)];
    const known = named.filter((id) => graph.get(id) !== undefined);
    const all = withDelegates(graph, known);
    refuseOtherSet(expectedDeleteIds, all);
    return { ...planRemoval(store, graph, all, now), skippedIds: named.filter((id) => graph.get(id) === undefined) };
  },
  execute: (transaction, plan) => {
    remove(transaction, plan);
    return { ...told(plan), skippedIds: plan.skippedIds };
  },
  preview: (plan) => ({ ...told(plan), skippedIds: plan.skippedIds }),
  wasMade: (store, { deletedIds }) => areGone(store, deletedIds),
};

export interface DeleteEmptyInput {
  readonly expectedDeleteIds: readonly string[] | null;
}

/** F12: every session that ended, isn't archived, and holds nothing. One in which a turn is under way is left alone. */
export const deleteEmptySessions: StoreOperation<DeleteEmptyInput, Removal, DeleteResult> = {
  patience: 'ROUTINE',
  touchesMessages: true,
  plan: (store, { expectedDeleteIds }, { now }) => {
    const graph = new SessionGraph(store);
    const archived = store.shape.hasColumn('sessions', 'archived') ? 'AND ifnull(s.archived, 0) = 0' : '';
    const rows = store.all(
      `SELECT s.id AS id FROM sessions s WHERE ifnull(s.message_count, 0) = 0 AND s.ended_at IS NOT NULL ${archived}
       AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.session_id = s.id) ORDER BY s.id`,
    );
    const { free } = withoutGuarded(
      store,
      graph,
      rows.map(({ id }) => String(id)),
      now,
    );
    refuseOtherSet(expectedDeleteIds, free);
    return planRemoval(store, graph, free, now);
  },
  execute: (transaction, plan) => {
    remove(transaction, plan);
    return told(plan);
  },
  preview: told,
  wasMade: (store, { deletedIds }) => areGone(store, deletedIds),
};

function told({ ids, orphanedIds }: Removal): DeleteResult {
  return { deletedIds: ids, orphanedIds };
}

/** The sessions, and after each what it delegated, down to the last. */
function withDelegates(graph: SessionGraph, ids: readonly string[]): string[] {
  const all = new Set<string>();
  for (const id of ids) {
    const session = graph.get(id);
    all.add(id);
    for (const delegate of session === undefined ? [] : delegateCascade(graph, session)) all.add(delegate);
  }
  return [...all];
}

export function refuseOtherSet(expected: readonly string[] | null, ids: readonly string[]): void {
  if (expected === null || sameIds(expected, ids)) return;
  throw new WriteRefused('DELETE_SET_CHANGED', '', { details: { deleteIds: ids } });
}

/** Rows of any state count: a rewound turn can be restored. */
export function isEmpty(store: StoreReading, sessionId: string): boolean {
  const row = store.get(
    `SELECT 1 AS empty FROM sessions s WHERE s.id = ? AND ifnull(s.title, '') = ''
     AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.session_id = s.id)
     AND NOT EXISTS (SELECT 1 FROM sessions c WHERE c.parent_session_id = s.id)`,
    [sessionId],
  );
  return row !== undefined;
}
