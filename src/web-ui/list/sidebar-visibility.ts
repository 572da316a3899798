/** Stage C: which rows a list shows by default (`spec/webui-listing.md` 6). */
import type { ListRow, VisibilityState } from './list-row.ts';
import { hasLiveSign, rowTime } from './row-order.ts';
import { type BackgroundKind, backgroundKind } from './source-class.ts';

/** Which background work the list shows. */
export interface BackgroundSwitches {
  readonly cron: boolean;
  readonly webhook: boolean;
  readonly kanban: boolean;
}

export const NO_BACKGROUND: BackgroundSwitches = { cron: false, webhook: false, kanban: false };

/** The state of each row, in the order of the rows. */
export function sidebarVisibility(rows: readonly ListRow[], switches: BackgroundSwitches): VisibilityState[] {
  const kinds = rows.map(backgroundKind);
  const roots = lineageRoots(rows);
  const states = rows.map((row, index): VisibilityState => {
    if (isSwitchedOff(kinds[index] ?? null, switches)) return hiddenBackground(row);
    return row.isSnapshot ? 'SNAPSHOT_HIDDEN' : 'VISIBLE';
  });
  preferSnapshots(rows, roots, kinds, states);
  rescue(rows, roots, kinds, states);
  return states;
}

/** 6.3, 6.5 for rows that have no snapshots among them. */
export function backgroundVisibility(row: ListRow, switches: BackgroundSwitches): VisibilityState {
  return isSwitchedOff(backgroundKind(row), switches) ? hiddenBackground(row) : 'VISIBLE';
}

function isSwitchedOff(kind: BackgroundKind | null, switches: BackgroundSwitches): boolean {
  return kind !== null && !switches[kind];
}

/** 6.5: with a project and a message it stays, for the page of its project. */
function hiddenBackground(row: ListRow): VisibilityState {
  return row.projectId && messagesOf(row) > 0 ? 'PROJECT_ONLY' : 'BACKGROUND_HIDDEN';
}

function messagesOf(row: ListRow): number {
  return row.messageCount > 0 ? row.messageCount : Math.max(row.actualMessageCount ?? 0, 0);
}

/** 6.1: the conversation of each row, as far as the list itself tells. */
export function lineageRoots(rows: readonly ListRow[]): string[] {
  if (!rows.some((row) => row.parentSessionId !== null)) return rows.map((row) => row.lineageRootId || row.id);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return rows.map((row) => {
    if (row.lineageRootId) return row.lineageRootId;
    if (row.isChildSession || row.sessionSource === 'fork' || row.parentSessionId === null) return row.id;
    const seen = new Set<string>();
    let at = row;
    while (!seen.has(at.id)) {
      seen.add(at.id);
      const parent = at.parentSessionId === null ? undefined : byId.get(at.parentSessionId);
      if (parent === undefined) break;
      at = parent;
    }
    return at.id;
  });
}

/** 6.2: a snapshot that holds more than what goes on from it is shown, and may stand for it. */
function preferSnapshots(
  rows: readonly ListRow[],
  roots: readonly string[],
  kinds: readonly (BackgroundKind | null)[],
  states: VisibilityState[],
): void {
  const withSnapshot = new Set(rows.flatMap((row, index) => (row.isSnapshot ? [roots[index]] : [])));
  if (withSnapshot.size === 0) return;
  const groups = new Map<string, number[]>();
  for (const [index, root] of roots.entries()) {
    if (!withSnapshot.has(root) || kinds[index] === 'cron') continue;
    const group = groups.get(root);
    if (group === undefined) groups.set(root, [index]);
    else group.push(index);
  }
  for (const group of groups.values()) preferSnapshot(group, rows, states);
}

function preferSnapshot(group: readonly number[], rows: readonly ListRow[], states: VisibilityState[]): void {
  const at = (index: number) => rows[index] as ListRow;
  const visible = group.filter((index) => !at(index).isSnapshot);
  if (visible.length === 0 || visible.some((index) => hasLiveSign(at(index)))) return;
  const best = group.filter((index) => at(index).isSnapshot).sort((a, b) => byFullness(at(a), at(b)))[0];
  if (best === undefined || messagesOf(at(best)) <= Math.max(...visible.map((index) => messagesOf(at(index))))) return;
  states[best] = 'VISIBLE';
  const isNewer = Math.max(...visible.map((index) => rowTime(at(index)))) > rowTime(at(best));
  const withMessages = visible.filter((index) => messagesOf(at(index)) > 0).length;
  if (isNewer || withMessages > 1) return;
  for (const index of visible) states[index] = 'SNAPSHOT_HIDDEN';
}

function byFullness(a: ListRow, b: ListRow): number {
  return messagesOf(b) - messagesOf(a) || rowTime(b) - rowTime(a);
}

/** 6.4: no conversation with messages is lost: the fullest hidden row of one that has no visible row comes back. */
function rescue(
  rows: readonly ListRow[],
  roots: readonly string[],
  kinds: readonly (BackgroundKind | null)[],
  states: VisibilityState[],
): void {
  if (!states.includes('SNAPSHOT_HIDDEN')) return;
  const covered = new Set(roots.filter((_, index) => states[index] === 'VISIBLE' && messagesOf(rows[index] as ListRow) > 0));
  const best = new Map<string, number>();
  for (const [index, row] of rows.entries()) {
    const root = roots[index] as string;
    if (states[index] === 'VISIBLE' || kinds[index] !== null || covered.has(root) || messagesOf(row) === 0) continue;
    const known = best.get(root);
    if (known === undefined || byFullness(row, rows[known] as ListRow) < 0) best.set(root, index);
  }
  for (const index of best.values()) states[index] = 'RESCUED';
}
