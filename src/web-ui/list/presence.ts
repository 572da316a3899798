/**
 * Rows whose session may be gone (`spec/webui-listing.md` 10): decisions only. Nothing that could not be read is ever a reason to drop a
 * row: a store that is missing or locked has every session, and no session without messages.
 */
import { isBlank, type ListRow } from './list-row.ts';
import { UNTITLED } from './list-titles.ts';
import { hasLiveSign } from './row-order.ts';
import { fold, isCli, isWebUi } from './source-class.ts';
import type { StoreRows } from './store-rows.ts';

type Probed = Pick<StoreRows, 'sessions'> | null;

/** Whether the store is known not to hold the session. */
export function isGoneFrom(store: Probed, id: string): boolean {
  return store !== null && !isBlank(id) && !store.sessions.has(id);
}

/** Whether the store is known to hold the session without a single message. */
export function isEmptyIn(store: Probed, id: string): boolean {
  return store?.sessions.get(id)?.stats?.total === 0;
}

/** 10.2: an imported session that its store has lost. Its file stays, it is only not listed. */
export function isOrphanImport(row: ListRow, isExternal: boolean, store: Probed): boolean {
  if (isExternal || isWebUi(row) || !isGoneFrom(store, row.id)) return false;
  const names = [row.sourceTag, row.rawSource, row.sessionSource, row.sourceLabel].map(fold);
  return isCli(row) || names.some((name) => name === 'api' || name === 'api_server');
}

/** 10.3: a Web UI row that is worth asking about. */
export function isPruneCandidate(row: ListRow): boolean {
  if (!isWebUi(row) || hasLiveSign(row) || row.worktreePath) return false;
  return row.title !== UNTITLED || row.messageCount > 0;
}

export interface Backing {
  /** The store is known to hold the session without a message. */
  readonly emptyInStore: boolean;
  /** Messages in the Web UI's file; null when it could not be read. */
  readonly sidecarMessages: number | null;
  /** In the list of sessions without messages that were dropped before. */
  readonly tombstoned: boolean;
}

export interface PruneDecision {
  readonly drop: boolean;
  /** What a pruning does to the list of dropped sessions; a reader does nothing. */
  readonly tombstone: 'LEAVE' | 'RECORD' | 'CLEAR';
}

/** 10.3 for a candidate. */
export function pruneDecision({ emptyInStore, sidecarMessages, tombstoned }: Backing): PruneDecision {
  if (emptyInStore && sidecarMessages === 0) return { drop: true, tombstone: tombstoned ? 'LEAVE' : 'RECORD' };
  return { drop: false, tombstone: tombstoned && sidecarMessages !== null ? 'CLEAR' : 'LEAVE' };
}
