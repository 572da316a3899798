/**
 * Rows of the list that can be told at once when single files are saved, while composing the whole list has to wait: those that stand by
 * themselves. A row counts as such when the list made of it alone says of it what the whole list says, nothing refers to it, and the save
 * changed nothing that other rows are tied to it by. Everything else waits. Pure.
 */
import { isSame, listRowOf } from './beside-entry.ts';
import type { Known } from './known-session.ts';
import { type ListedRow, type ListRow, sidecarRow } from './list/list-row.ts';
import { fold, isMessaging } from './list/source-class.ts';
import type { SidecarRow } from './sidecar/sidecar-row.ts';

/** More are no single saves. */
const MOST = 16;

/** What a save may change: no other row is placed or hidden by it. */
const OWN_KEYS: ReadonlySet<string> = new Set([
  'title',
  'workspace',
  'model',
  'modelProvider',
  'messageCount',
  'userMessageCount',
  'updatedAt',
  'lastMessageAt',
  'pinned',
  'archived',
  'projectId',
  'activeStreamId',
  'hasPending',
  'pendingStartedAt',
] satisfies (keyof ListRow)[]);
const TIES = Object.keys(sidecarRow({ id: '' })).filter((key) => !OWN_KEYS.has(key)) as (keyof ListRow)[];
const ROW_KEYS = [...Object.keys(sidecarRow({ id: '' })), 'visibility'] as (keyof ListedRow)[];

export function isSameKnown(a: Known, b: Known): boolean {
  const isSameBeside = a.sidecar === b.sidecar && a.claude === b.claude && a.tombstones === b.tombstones;
  return isSameBeside && ROW_KEYS.every((key) => a.row[key] === b.row[key] || isSame(a.row[key], b.row[key]));
}

/** The files of sessions that were there before and are other ones now; null when they are more than single saves. `isMore`: files came or went. */
export function savedFiles(
  before: ReadonlyMap<string, SidecarRow>,
  now: ReadonlyMap<string, SidecarRow>,
): { readonly saved: readonly SidecarRow[]; readonly isMore: boolean } | null {
  const saved: SidecarRow[] = [];
  let known = 0;
  for (const [id, row] of now) {
    const old = before.get(id);
    if (old === undefined) continue;
    known += 1;
    if (old !== row && saved.push(row) > MOST) return null;
  }
  return { saved, isMore: known < now.size || known < before.size };
}

/**
 * `tied`: as `tiedIds` gives them of the list; `composeAlone`: the list made of one file and what the store has of its session, as both were
 * when the list was made or as they are.
 */
export function savedAlone(
  known: ReadonlyMap<string, Known>,
  tied: ReadonlySet<string>,
  saved: readonly SidecarRow[],
  composeAlone: (file: SidecarRow, when: 'THEN' | 'NOW') => Known | undefined,
): Map<string, Known> {
  const changed = new Map<string, Known>();
  for (const file of saved) {
    const before = known.get(file.id);
    if (before?.sidecar == null || tied.has(file.id) || !standsAlone(before.row, listRowOf(before.sidecar), listRowOf(file))) continue;
    const then = composeAlone(before.sidecar, 'THEN');
    const now = composeAlone(file, 'NOW');
    if (then === undefined || now === undefined || !isSameKnown(then, before)) continue;
    if (standsAlone(now.row, listRowOf(file), listRowOf(file)) && now.row.visibility.state === before.row.visibility.state)
      changed.set(file.id, now);
  }
  return changed;
}

/** Sessions that others refer to. No save that is shown alone makes another of them. */
export function tiedIds(known: ReadonlyMap<string, Known>): Set<string> {
  const tied = new Set<string>();
  for (const [id, { row, sidecar }] of known) {
    for (const other of [
      row.parentSessionId,
      row.lineageRootId,
      row.lineageTipId,
      row.visibility.representedBy,
      sidecar?.parentSessionId,
    ]) {
      if (other != null && other !== id) tied.add(other);
    }
  }
  return tied;
}

/** Chats are hidden by newer ones, terminals by counts that are made for all of them, segments by each other. */
function standsAlone(listed: ListedRow, before: ListRow, now: ListRow): boolean {
  if (listed.isSnapshot || listed.isCliSession || listed.parentSessionId !== null || listed.lineageRootId !== null) return false;
  if ([listed, before, now].some((row) => isMessaging(row) || fold(row.sessionSource) === 'messaging')) return false;
  return TIES.every((key) => before[key] === now[key] || isSame(before[key], now[key]));
}
