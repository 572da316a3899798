/** The orders of the list and the rows that are no sessions yet (`spec/webui-listing.md` 3.3, 3.5). Newest first; equal keys keep their order. */
import type { ListRow } from './list-row.ts';
import { UNTITLED } from './list-titles.ts';

/** Stage A and F: the time of the last message, else of the last save, else 0. A rename does not move a session that has messages. */
export function rowTime(row: Pick<ListRow, 'lastMessageAt' | 'updatedAt'>): number {
  return row.lastMessageAt || row.updatedAt || 0;
}

export function byTime(a: ListRow, b: ListRow): number {
  return rowTime(b) - rowTime(a);
}

/** Stage A: pinned ones first. */
export function byPinAndTime(a: ListRow, b: ListRow): number {
  return Number(b.pinned) - Number(a.pinned) || byTime(a, b);
}

/** The time by which the newest row of a chat is told. */
export function chatTime(row: Pick<ListRow, 'lastMessageAt' | 'updatedAt' | 'createdAt'>): number {
  return row.lastMessageAt || row.updatedAt || row.createdAt || 0;
}

/** Stage G: rows with a run under way first, then by time, where a prompt that waits counts as a message. */
export function byActivity(streaming: (row: ListRow) => boolean): (a: ListRow, b: ListRow) => number {
  return (a, b) => Number(isRunning(b, streaming)) - Number(isRunning(a, streaming)) || activityTime(b) - activityTime(a);
}

function isRunning(row: ListRow, streaming: (row: ListRow) => boolean): boolean {
  return row.activeStreamId !== null && (row.hasPending || streaming(row));
}

export function activityTime(row: Pick<ListRow, 'lastMessageAt' | 'updatedAt' | 'createdAt' | 'pendingStartedAt'>): number {
  const base = [row.lastMessageAt, row.updatedAt, row.createdAt].find((time) => time !== null && time > 0) ?? 0;
  return Math.max(base, row.pendingStartedAt ?? 0);
}

/** 3.5: an untitled draft that nothing was said in. */
export function isEmptyDraft(row: ListRow): boolean {
  return row.title === UNTITLED && row.messageCount === 0 && !hasLiveSign(row) && !row.worktreePath;
}

/** A run, or a prompt that waits for one. */
export function hasLiveSign(row: Pick<ListRow, 'activeStreamId' | 'hasPending'>): boolean {
  return Boolean(row.activeStreamId) || row.hasPending;
}
