/**
 * Lists of sessions from the catalogue: filters, order, keyset pages, totals, and what the defaults keep out (`spec/state-db.md` 7).
 */
import { type CursorKey, decodeCursor, encodeCursor } from '../cursor.ts';
import { InvalidInput } from '../errors.ts';
import { LazyItem, type Page, type PageRequest } from '../paging.ts';
import type { SessionOrigin, UnlistedReason } from './beside.ts';
import type { Catalogue } from './catalogue.ts';
import { idTest, titleOrIdTest } from './find-sessions.ts';
import type { LineageCollapse, ListItem } from './list-item.ts';
import type { OrderKey, SessionOrder } from './list-order.ts';

export interface SessionFilter {
  readonly sources?: readonly string[] | null | undefined;
  readonly excludeSources?: readonly string[] | null | undefined;
  readonly origins?: readonly string[] | null | undefined;
  readonly archived?: boolean | null | undefined;
  readonly includeArchived?: boolean | null | undefined;
  readonly pinned?: boolean | null | undefined;
  readonly includeHidden?: boolean | null | undefined;
  readonly includeBackground?: boolean | null | undefined;
  readonly includeDelegates?: boolean | null | undefined;
  readonly includeOrphans?: boolean | null | undefined;
  readonly includeEmpty?: boolean | null | undefined;
  /** Also what the Web UI's own list leaves out for reasons of its own. */
  readonly includeUnlisted?: boolean | null | undefined;
  readonly projectId?: string | null | undefined;
  readonly titleContains?: string | null | undefined;
  /** In the id of any segment, letters of any case. */
  readonly idContains?: string | null | undefined;
  /** In the title or id of any segment, see `titleOrIdTest`. */
  readonly titleOrIdContains?: string | null | undefined;
  readonly sessionKey?: string | null | undefined;
  readonly cwdPrefix?: string | null | undefined;
  readonly minMessageCount?: number | null | undefined;
  /** Epoch seconds, inclusive. */
  readonly activeSince?: number | null | undefined;
  /** Epoch seconds, exclusive. */
  readonly activeBefore?: number | null | undefined;
}

export interface ListQuery {
  readonly filter: SessionFilter;
  readonly order: SessionOrder;
  readonly collapse: LineageCollapse;
}

/** Why a row is no entry of a list with the default filter. */
export type HiddenReason = 'SEGMENT' | 'DELEGATE' | 'ORPHAN' | 'BACKGROUND' | 'ARCHIVED' | 'HIDDEN' | 'EMPTY' | UnlistedReason;

/** Sources of runs that nobody is talking to. */
export const BACKGROUND_SOURCES: ReadonlySet<string> = new Set(['cron', 'webhook', 'kanban', 'tool', 'oneshot']);

/** One page; forward from `after` or backward from `before`, each item once whatever is inserted meanwhile. */
export function listPage(catalogue: Catalogue, query: ListQuery, page: PageRequest, generation: string): Page<ListItem> {
  const ordered = catalogue.ordered(query.order, query.collapse);
  const matches = matcher(query.filter);
  const list = listName(query);
  const after = page.after === null ? null : orderKeyOf(decodeCursor(page.after, list, generation));
  const before = page.before === null ? null : orderKeyOf(decodeCursor(page.before, list, generation));
  const start = after === null ? 0 : page.inclusive ? ordered.positionOf(after) : ordered.positionAfter(after);
  const end = before === null ? ordered.length : page.inclusive ? ordered.positionAfter(before) : ordered.positionOf(before);
  const found: { key: OrderKey; item: ListItem }[] = [];
  const step = page.direction === 'FORWARD' ? 1 : -1;
  for (let index = step === 1 ? start : end - 1; index >= start && index < end && found.length <= page.size; index += step) {
    const item = ordered.at(index);
    const key = ordered.keyAt(index);
    if (item !== undefined && key !== undefined && matches(item) === null) found.push({ key, item });
  }
  const more = found.length > page.size;
  const taken = found.slice(0, page.size);
  if (step === -1) taken.reverse();
  return {
    items: taken.map(({ key, item }) => new LazyItem(item, () => encodeCursor(list, generation, cursorKey(key)))),
    hasNextPage: step === 1 ? more : page.before !== null,
    hasPreviousPage: step === 1 ? page.after !== null : more,
  };
}

/** Pinned entries of the same list that a page of it doesn't show, newest start first, to be shown after the page (7.3). */
export function pinnedBeyond(catalogue: Catalogue, query: ListQuery, shownRootIds: ReadonlySet<string>): ListItem[] {
  return matching(catalogue, { ...query, order: 'STARTED' }).filter(({ root }) => root.pinned && !shownRootIds.has(root.id));
}

/** How many entries each source has; entries without a source count as `cli` (7.8). Largest first, then by name. */
export function countsBySource(catalogue: Catalogue, query: ListQuery): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { root } of matching(catalogue, query)) {
    const source = root.source.trim() === '' ? 'cli' : root.source;
    counts.set(source, (counts.get(source) ?? 0) + 1);
  }
  return new Map([...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)));
}

export interface Workspace {
  readonly cwd: string;
  readonly sessions: number;
  /** Epoch seconds of the newest start in it; null when none is known. */
  readonly lastStartedAt: number | null;
}

/** The folders that the entries of a list were started in, the most used first. */
export function workspaces(catalogue: Catalogue, query: ListQuery): Workspace[] {
  const found = new Map<string, Workspace>();
  for (const { root } of matching(catalogue, query)) {
    if (root.cwd === null || root.cwd.trim() === '') continue;
    const known = found.get(root.cwd) ?? { cwd: root.cwd, sessions: 0, lastStartedAt: null };
    const lastStartedAt = Math.max(known.lastStartedAt ?? -1, root.startedAt ?? -1);
    found.set(root.cwd, { ...known, sessions: known.sessions + 1, lastStartedAt: lastStartedAt < 0 ? null : lastStartedAt });
  }
  return [...found.values()].sort((a, b) => b.sessions - a.sessions || (a.cwd < b.cwd ? -1 : 1));
}

/** Every entry of a list, in its order. */
function matching(catalogue: Catalogue, query: ListQuery): ListItem[] {
  const ordered = catalogue.ordered(query.order, query.collapse);
  const matches = matcher(query.filter);
  const items: ListItem[] = [];
  for (let index = 0; index < ordered.length; index++) {
    const item = ordered.at(index);
    if (item !== undefined && matches(item) === null) items.push(item);
  }
  return items;
}

/** Entries by where they run; archived ones are counted whether the list shows them or not. */
export interface SurfaceCounts {
  readonly webUi: number;
  readonly terminal: number;
  readonly archivedWebUi: number;
  readonly archivedTerminal: number;
}

export interface ListTotals {
  readonly visible: number;
  readonly hidden: ReadonlyMap<HiddenReason, number>;
  readonly surfaces: SurfaceCounts;
}

/** How many entries all pages together have, and how many rows the defaults keep out, by reason: each row has exactly one. */
export function listTotals(catalogue: Catalogue, query: ListQuery): ListTotals {
  const ordered = catalogue.ordered(query.order, query.collapse);
  const counter = totalsCounter(query);
  for (let index = 0; index < ordered.length; index++) {
    const item = ordered.at(index);
    if (item !== undefined) counter.add(item);
  }
  return counter.totals;
}

/** Counts items one by one; the segments behind a tip are hidden rows of their own. */
export function totalsCounter({ filter, collapse }: ListQuery): { readonly totals: ListTotals; readonly add: (item: ListItem) => void } {
  const hidden = new Map<HiddenReason, number>();
  const surfaces = { webUi: 0, terminal: 0, archivedWebUi: 0, archivedTerminal: 0 };
  const totals = { visible: 0, hidden, surfaces };
  const matches = matcher(filter);
  const matchesArchived = matcher({ ...filter, includeArchived: true });
  const count = (why: HiddenReason, rows: number) => {
    if (rows > 0) hidden.set(why, (hidden.get(why) ?? 0) + rows);
  };
  return {
    totals,
    add: (item) => {
      const reason = matches(item);
      if (reason === 'FILTERED') return;
      if (reason === null) totals.visible++;
      else count(reason, 1);
      if (collapse === 'LINEAGE') count('SEGMENT', item.members.length - 1);
      if (reason === null || (reason === 'ARCHIVED' && matchesArchived(item) === null)) surfaces[surfaceOf(item)]++;
    },
  };
}

const TERMINALS: ReadonlySet<string> = new Set(['cli', 'tui', 'acp']);

function surfaceOf(item: ListItem): keyof SurfaceCounts {
  const { beside, source } = item.tip;
  const isTerminal = beside?.isTerminal ?? TERMINALS.has(source.trim().toLowerCase());
  if (flaggedOf(item).archived) return isTerminal ? 'archivedTerminal' : 'archivedWebUi';
  return isTerminal ? 'terminal' : 'webUi';
}

/** Says of an item why it is not shown: FILTERED by what the caller asked for, a reason of the defaults, or null when it is shown. */
export function matcher(filter: SessionFilter): (item: ListItem) => HiddenReason | 'FILTERED' | null {
  const wanted = askedFor(filter);
  const sources = filter.sources ? new Set(filter.sources) : null;
  return (item) => {
    if (!wanted(item)) return 'FILTERED';
    const { root } = item;
    const flagged = flaggedOf(item);
    if (item.listClass === 'DELEGATE' && filter.includeDelegates !== true) return 'DELEGATE';
    if (item.listClass === 'ORPHAN' && filter.includeOrphans !== true) return 'ORPHAN';
    // Whoever names a source wants to see it, background or not.
    if (sources === null && filter.includeBackground !== true && BACKGROUND_SOURCES.has(root.source)) return 'BACKGROUND';
    if (flagged.archived && filter.archived !== true && filter.includeArchived !== true) return 'ARCHIVED';
    if (root.hidden && filter.includeHidden !== true && filter.archived !== true) return 'HIDDEN';
    if (filter.includeEmpty !== true && isEmpty(item)) return 'EMPTY';
    return filter.includeUnlisted === true ? null : unlistedReason(item, filter, sources !== null);
  };
}

function askedFor(filter: SessionFilter): (item: ListItem) => boolean {
  const tests: ((item: ListItem) => boolean)[] = [];
  const { sources, excludeSources, origins, pinned, titleContains, activeSince, activeBefore, sessionKey, cwdPrefix, minMessageCount } =
    filter;
  if (sources) tests.push(inSet(new Set(sources), true));
  if (excludeSources) tests.push(inSet(new Set(excludeSources), false));
  if (origins) tests.push((item) => item.members.some((member) => originsOf(member).some((origin) => origins.includes(origin))));
  if (filter.projectId != null) tests.push((item) => item.members.some(({ beside }) => beside?.projectId === filter.projectId));
  if (filter.archived === true) tests.push((item) => flaggedOf(item).archived);
  if (pinned != null) tests.push((item) => flaggedOf(item).pinned === pinned);
  if (sessionKey != null) tests.push((item) => item.root.sessionKey === sessionKey);
  if (cwdPrefix != null) tests.push((item) => isBelow(item.root.cwd, cwdPrefix));
  if (minMessageCount != null) tests.push((item) => item.root.storedMessageCount >= minMessageCount);
  if (titleContains != null) tests.push(titleTest(titleContains));
  if (filter.idContains != null) tests.push(overMembers(idTest(filter.idContains)));
  if (filter.titleOrIdContains != null) tests.push(overMembers(titleOrIdTest(filter.titleOrIdContains)));
  if (activeSince != null) tests.push((item) => item.recency !== null && item.recency >= activeSince);
  if (activeBefore != null) tests.push((item) => item.recency !== null && item.recency < activeBefore);
  return (item) => tests.every((test) => test(item));
}

function inSet(sources: ReadonlySet<string>, expected: boolean): (item: ListItem) => boolean {
  return (item) => sources.has(item.root.source) === expected;
}

function overMembers(test: (members: ListItem['members']) => boolean): (item: ListItem) => boolean {
  return (item) => test(item.members);
}

function titleTest(text: string): (item: ListItem) => boolean {
  const wanted = text.toLowerCase();
  return (item) => item.members.some((member) => member.title?.toLowerCase().includes(wanted) === true);
}

/** Equal to the prefix, or below it by a separator of either kind (`spec/state-db.md` 7.1). */
function isBelow(cwd: string | null, prefix: string): boolean {
  const trimmed = prefix.replace(/[/\\]+$/, '');
  return cwd !== null && (cwd === trimmed || cwd.startsWith(`${trimmed}/`) || cwd.startsWith(`${trimmed}\\`));
}

/** The segment whose flags are those of the conversation: state.db writes them to all, the Web UI to the file of the newest. */
function flaggedOf({ root, tip }: ListItem): ListItem['root'] {
  return tip.beside === null ? root : tip;
}

export function originsOf({ beside }: ListItem['root']): readonly SessionOrigin[] {
  return beside?.origins ?? STATE_DB_ALONE;
}

const STATE_DB_ALONE: readonly SessionOrigin[] = ['STATE_DB'];

/** Null where the Web UI's list shows any segment, or knows none of them; reasons that the caller lifted don't count. */
function unlistedReason({ members, tip }: ListItem, filter: SessionFilter, namesSources: boolean): UnlistedReason | null {
  const known = members.filter((member) => member.beside !== null);
  if (known.length === 0 || known.some(({ beside }) => beside?.unlisted === null)) return null;
  const reason = tip.beside?.unlisted ?? known.at(-1)?.beside?.unlisted ?? null;
  if (reason === 'BACKGROUND' && (namesSources || filter.includeBackground === true)) return null;
  return reason === 'EMPTY' && filter.includeEmpty === true ? null : reason;
}

/** No row of any state in the whole conversation, and no counter that says there were some (`field-cases` F13, F19). */
export function isEmpty(item: ListItem): boolean {
  return item.members.every(
    ({ stats, storedMessageCount, beside }) =>
      stats !== null && stats.total === 0 && storedMessageCount === 0 && (beside?.messageCount ?? 0) === 0,
  );
}

/** Cursors of one order and collapse mean nothing in another. */
export function listName(query: ListQuery): string {
  return `sessions:${query.order}:${query.collapse}`;
}

export function cursorKey(key: OrderKey): CursorKey {
  return [key.id, key.recency, key.startedAt, key.pinned, key.title];
}

/** Throws `InvalidInput` for a cursor that holds something else. */
export function orderKeyOf(key: CursorKey): OrderKey {
  const [id, recency, startedAt, pinned, title] = key;
  if (typeof id !== 'string' || !isNumberOrNull(recency) || !isNumberOrNull(startedAt) || (title !== null && typeof title !== 'string')) {
    throw new InvalidInput('The cursor is damaged. Start again without it.', {}, 'BAD_CURSOR');
  }
  return { id, recency, startedAt, pinned: pinned === true, title };
}

function isNumberOrNull(value: unknown): value is number | null {
  return value === null || typeof value === 'number';
}
