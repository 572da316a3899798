/** Conversations of several rows shown as one, with what hangs on them (`spec/webui-listing.md` 5.5). */
import type { ListedRow, ListRow } from './list-row.ts';
import { rowTime } from './row-order.ts';

export interface Conversation<R extends ListRow = ListedRow> {
  /** The row that stands for the conversation. */
  readonly row: R;
  /** The others of it, newest first. */
  readonly segments: readonly R[];
  /** Forks and child sessions that are shown below it. */
  readonly children: readonly R[];
}

/** The conversation a row belongs to; null for a row that stands by itself. */
export function lineageKey<R extends ListRow>(row: R, byId: ReadonlyMap<string, R>): string | null {
  if (row.isChildSession || row.sessionSource === 'fork') return null;
  if (row.lineageRootId) return row.lineageRootId;
  const parent = row.parentSessionId === null ? undefined : byId.get(row.parentSessionId);
  if (row.isSnapshot || parent?.isSnapshot === true) return topOfSnapshots(row, byId);
  return parent === undefined ? row.parentSessionId : null;
}

function topOfSnapshots<R extends ListRow>(row: R, byId: ReadonlyMap<string, R>): string {
  const seen = new Set<string>();
  let at = row;
  while (!seen.has(at.id)) {
    seen.add(at.id);
    const parent = at.parentSessionId === null ? undefined : byId.get(at.parentSessionId);
    if (parent === undefined || !(parent.isSnapshot || at.isSnapshot)) break;
    at = parent;
  }
  return at.id;
}

/**
 * The shown rows as conversations, in their order. `hidden` are rows that are not shown: a child whose ancestor is archived and hidden goes
 * with it, and so does one of another surface whose parent is out of view.
 */
export function collapseRows<R extends ListRow>(shown: readonly R[], hidden: readonly ListRow[] = []): Conversation<R>[] {
  const byId = new Map(shown.map((row) => [row.id, row]));
  const hiddenById = new Map(hidden.map((row) => [row.id, row]));
  const keys = new Map(shown.map((row) => [row.id, lineageKey(row, byId)]));
  const groups = new Map<string, R[]>();
  for (const row of shown) {
    if (isNested(row)) continue;
    const key = keys.get(row.id) ?? row.id;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  const holders = holdersOf(groups);
  const children = new Map<string, R[]>();
  const alone: R[] = [];
  for (const row of shown) {
    if (!isNested(row)) continue;
    const holder = holderOf(row, holders, groups, hiddenById, keys.get(row.id) ?? null);
    if (holder === null) alone.push(row);
    else if (holder !== undefined) children.set(holder.id, [...(children.get(holder.id) ?? []), row]);
  }
  const representatives = [...groups.values()].map(representativeOf);
  const order = new Map(shown.map((row, index) => [row.id, index]));
  return [...representatives, ...alone]
    .map((row) => {
      const group = holders.get(row.id)?.group ?? [];
      return {
        row,
        segments: group.filter((other) => other.id !== row.id).sort((a, b) => rowTime(b) - rowTime(a)),
        children: children.get(row.id) ?? [],
      };
    })
    .sort((a, b) => (order.get(a.row.id) ?? 0) - (order.get(b.row.id) ?? 0));
}

function isNested(row: ListRow): boolean {
  return !row.pinned && (row.isChildSession || (row.sessionSource === 'fork' && row.parentSessionId !== null));
}

function representativeOf<R extends ListRow>(group: readonly R[]): R {
  const ids = new Set(group.map((row) => row.id));
  const named = group.find((row) => row.lineageTipId !== null && ids.has(row.lineageTipId))?.lineageTipId;
  const tip = group.find((row) => row.id === named);
  const best = [...group].sort(
    (a, b) => (b.segmentCount ?? 0) - (a.segmentCount ?? 0) || Number(a.isSnapshot) - Number(b.isSnapshot) || rowTime(b) - rowTime(a),
  )[0];
  return tip ?? best ?? (group[0] as R);
}

interface Holder<R> {
  readonly row: R;
  readonly group: readonly R[];
}

/** By the id of every segment. */
function holdersOf<R extends ListRow>(groups: ReadonlyMap<string, readonly R[]>): Map<string, Holder<R>> {
  const holders = new Map<string, Holder<R>>();
  for (const group of groups.values()) {
    const holder = { row: representativeOf(group), group };
    for (const row of group) holders.set(row.id, holder);
  }
  return holders;
}

/** The row to show a nested one under; null when it stands by itself, undefined when it is not shown at all. */
function holderOf<R extends ListRow>(
  row: R,
  holders: ReadonlyMap<string, Holder<R>>,
  groups: ReadonlyMap<string, readonly R[]>,
  hidden: ReadonlyMap<string, ListRow>,
  key: string | null,
): R | null | undefined {
  const isOfExternal = row.crossSurface && row.parentSource !== null && row.parentSource !== 'webui';
  if (isOfExternal) return null;
  for (const id of [row.parentSessionId, row.parentLineageTipId, row.parentLineageRootId, key]) {
    if (id === null) continue;
    const group = groups.get(id);
    const holder = holders.get(id)?.row ?? (group === undefined ? undefined : representativeOf(group));
    if (holder !== undefined && holder.id !== row.id) return holder;
  }
  if (row.crossSurface || hasArchivedAncestor(row, hidden)) return undefined;
  return null;
}

function hasArchivedAncestor(row: ListRow, hidden: ReadonlyMap<string, ListRow>): boolean {
  const seen = new Set<string>();
  let id = row.parentSessionId ?? row.parentLineageRootId;
  while (id !== null && !seen.has(id)) {
    seen.add(id);
    const ancestor = hidden.get(id);
    if (ancestor === undefined) return false;
    if (ancestor.archived) return true;
    id = ancestor.parentSessionId;
  }
  return false;
}
