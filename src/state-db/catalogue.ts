/**
 * Every session of one store in memory: what lists filter and sort by, parents and children, and one list item a conversation.
 * Lists, lineage and live updates read from here, so that the cost of a page does not depend on the size of the store.
 * Pure: `catalogue-sync.ts` feeds it from SQL and keeps it exact.
 */

import type { EntryOverlay, StoredEntries } from './entry-overlay.ts';
import {
  CHAIN_STEPS,
  chain,
  chainMembers,
  chainRoot,
  type EdgeKind,
  edgeKind,
  isChainEdge,
  isListable,
  type LineageGraph,
} from './lineage.ts';
import type { LineageCollapse, ListClass, ListItem } from './list-item.ts';
import type { SessionOrder } from './list-order.ts';
import { OrderedItems } from './ordered-items.ts';
import type { SessionEntry } from './session-record.ts';

export interface CatalogueChange {
  readonly before: SessionEntry | undefined;
  readonly after: SessionEntry | undefined;
}

/** A session with what its place among the others says of it. */
export interface PlacedSession extends SessionEntry {
  /** The id of the first segment of its conversation. */
  readonly conversationId: string;
  readonly edgeKind: EdgeKind | null;
}

export class Catalogue implements LineageGraph<SessionEntry> {
  readonly #entries = new Map<string, SessionEntry>();
  readonly #children = new Map<string, Set<string>>();
  readonly #delegates = new Map<string, Set<string>>();
  readonly #items = new Map<string, ListItem>();
  readonly #rootOfMember = new Map<string, string>();
  readonly #placed = new Map<string, PlacedSession>();
  readonly #orders = new Map<string, OrderedItems>();
  readonly #overlay: EntryOverlay | null;
  /** As state.db alone has them; kept where an overlay makes others of them. */
  readonly #stored = new Map<string, SessionEntry>();
  #version = 0;
  #storedVersion: object = {};
  #storedShape: object = {};
  #storedRows = 0;

  constructor(overlay: EntryOverlay | null = null) {
    this.#overlay = overlay;
  }

  /** Grows with every change; answers that were computed at one version are good until the next. */
  get version(): number {
    return this.#version;
  }

  /** Sessions that state.db has. */
  get storedSize(): number {
    return this.#ofStore.size;
  }

  /** Message rows that these have together, of any state. */
  get storedRows(): number {
    return this.#storedRows;
  }

  get(id: string): SessionEntry | undefined {
    return this.#entries.get(id);
  }

  entries(): IterableIterator<SessionEntry> {
    return this.#entries.values();
  }

  /** A session as state.db has it. */
  stored(id: string): SessionEntry | undefined {
    return this.#ofStore.get(id);
  }

  get storedEntries(): StoredEntries {
    return { version: this.#storedVersion, shape: this.#storedShape, entries: () => this.#ofStore.values() };
  }

  /** Kept apart where an overlay makes other entries of them. */
  get #ofStore(): ReadonlyMap<string, SessionEntry> {
    return this.#overlay === null ? this.#entries : this.#stored;
  }

  children(id: string): SessionEntry[] {
    return this.#resolve(this.#children.get(id));
  }

  /** Sessions whose `_delegate_from` marker names this one, wherever their parent pointer leads. */
  delegatesOf(id: string): SessionEntry[] {
    return this.#resolve(this.#delegates.get(id));
  }

  edgeKindOf(entry: SessionEntry): EdgeKind | null {
    return edgeKind(entry, this.#parentOf(entry));
  }

  /** The id of the first segment of the conversation that a session belongs to. */
  conversationIdOf(entry: SessionEntry): string {
    return this.#rootOfMember.get(entry.id) ?? chainRoot(this, entry).id;
  }

  /** The session with its place; the same object until either changes. */
  placed(entry: SessionEntry): PlacedSession {
    if (this.#entries.get(entry.id) !== entry) return this.#place(entry);
    const known = this.#placed.get(entry.id);
    if (known !== undefined) return known;
    const placed = this.#place(entry);
    this.#placed.set(entry.id, placed);
    return placed;
  }

  #place(entry: SessionEntry): PlacedSession {
    return { ...entry, conversationId: this.conversationIdOf(entry), edgeKind: this.edgeKindOf(entry) };
  }

  /** The list item of the conversation that a session belongs to. */
  conversationOf(entry: SessionEntry): ListItem | undefined {
    return this.#items.get(this.conversationIdOf(entry));
  }

  /** The list item whose first segment has this id. */
  itemOf(rootId: string): ListItem | undefined {
    return this.#items.get(rootId);
  }

  /** A stored row as a list item of its own. */
  rowItem(id: string): ListItem | undefined {
    const entry = this.#entries.get(id);
    return entry === undefined ? undefined : this.#singleItem(entry);
  }

  /** Items in an order; built at first use, kept from then on. With NONE every row is an item of its own. */
  ordered(order: SessionOrder, collapse: LineageCollapse): OrderedItems {
    const key = `${order}:${collapse}`;
    const known = this.#orders.get(key);
    if (known !== undefined) return known;
    const items = collapse === 'LINEAGE' ? [...this.#items.values()] : [...this.#entries.values()].map((entry) => this.#singleItem(entry));
    const built = new OrderedItems(order, items);
    this.#orders.set(key, built);
    return built;
  }

  /** Takes over new states of sessions in state.db (undefined: gone) and returns what really changed. */
  apply(states: Iterable<readonly [string, SessionEntry | undefined]>): CatalogueChange[] {
    const overlay = this.#overlay;
    this.#storedVersion = {};
    if (overlay === null) return this.#take(states);
    const composed: [string, SessionEntry | undefined][] = [];
    for (const [id, stored] of states) {
      const before = this.#stored.get(id);
      this.#countRows(before, stored);
      if (!isSameShape(before, stored)) this.#storedShape = {};
      if (stored === undefined) this.#stored.delete(id);
      else this.#stored.set(id, stored);
      composed.push([id, overlay.compose(id, stored)]);
    }
    return this.#take(composed);
  }

  #countRows(before: SessionEntry | undefined, after: SessionEntry | undefined): void {
    this.#storedRows += (after?.stats?.total ?? 0) - (before?.stats?.total ?? 0);
  }

  /** Composes sessions again: what lies beside state.db changed. */
  recompose(ids: Iterable<string>): CatalogueChange[] {
    const overlay = this.#overlay;
    if (overlay === null) return [];
    const states: [string, SessionEntry | undefined][] = [];
    for (const id of new Set(ids)) {
      const after = overlay.compose(id, this.#stored.get(id));
      if (after !== this.#entries.get(id)) states.push([id, after]);
    }
    return this.#take(states);
  }

  #take(states: Iterable<readonly [string, SessionEntry | undefined]>): CatalogueChange[] {
    const changes: CatalogueChange[] = [];
    const touched = new Set<string>();
    const moved: string[] = [];
    for (const [id, after] of states) {
      const before = this.#entries.get(id);
      if (before === undefined && after === undefined) continue;
      if (this.#overlay === null) this.#countRows(before, after);
      changes.push({ before, after });
      touched.add(id);
      // A session that appears, goes, or ends by compression changes what its children are.
      for (const child of this.#children.get(id) ?? []) touched.add(child);
      if (before?.parentId !== after?.parentId) moved.push(id);
      // One that stays where it was keeps its place among the children of its parent.
      const isMoved = before?.parentId !== after?.parentId || before?.delegateFrom !== after?.delegateFrom;
      if (isMoved) this.#unlink(before);
      if (after === undefined) this.#entries.delete(id);
      else this.#entries.set(id, after);
      if (isMoved) this.#link(after);
    }
    if (changes.length === 0) return changes;
    this.#version++;
    this.#touchDescendants(moved, touched);
    this.#touchContinuations(touched);
    this.#rebuildItems(touched);
    return changes;
  }

  /** What goes on by the Web UI's rules alone is of the class of its first segment. */
  #touchContinuations(touched: Set<string>): void {
    const below = [...touched];
    for (let id = below.pop(); id !== undefined; id = below.pop()) {
      for (const child of this.#children.get(id) ?? []) {
        if (touched.has(child) || this.#entries.get(child)?.beside?.isContinuation !== true) continue;
        touched.add(child);
        below.push(child);
      }
    }
  }

  /** A parent pointer that moved can close or open a loop, and that says what everyone below it is. */
  #touchDescendants(moved: readonly string[], touched: Set<string>): void {
    const below = [...moved];
    const seen = new Set(below);
    for (let id = below.pop(); id !== undefined; id = below.pop()) {
      for (const child of this.#children.get(id) ?? []) {
        touched.add(child);
        if (seen.has(child)) continue;
        seen.add(child);
        below.push(child);
      }
    }
  }

  #rebuildItems(touched: ReadonlySet<string>): void {
    const dirty = new Set(touched);
    const staleRoots = new Set<string>();
    for (const id of touched) {
      const root = this.#rootOfMember.get(id);
      if (root === undefined) continue;
      staleRoots.add(root);
      for (const member of this.#items.get(root)?.members ?? []) dirty.add(member.id);
    }
    const roots = new Set<string>();
    for (const id of dirty) {
      this.#rootOfMember.delete(id);
      this.#placed.delete(id);
      const entry = this.#entries.get(id);
      if (entry !== undefined) roots.add(this.#findRoot(entry).id);
    }
    const removed: ListItem[] = [];
    for (const id of new Set([...staleRoots, ...roots])) {
      const item = this.#items.get(id);
      if (item === undefined) continue;
      removed.push(item);
      this.#items.delete(id);
    }
    const added: ListItem[] = [];
    for (const id of roots) {
      const root = this.#entries.get(id);
      if (root === undefined) continue;
      const item = this.#buildItem(root);
      this.#items.set(id, item);
      for (const member of item.members) this.#rootOfMember.set(member.id, id);
      added.push(item);
    }
    for (const [key, ordered] of this.#orders) {
      if (key.endsWith(':LINEAGE')) ordered.replace(removed, added);
      else this.#replaceRows(ordered, touched);
    }
  }

  #replaceRows(ordered: OrderedItems, touched: ReadonlySet<string>): void {
    const added: ListItem[] = [];
    for (const id of touched) {
      const entry = this.#entries.get(id);
      if (entry !== undefined) added.push(this.#singleItem(entry));
    }
    ordered.replaceIds(touched, added);
  }

  /** The top of the chain edges; where they lead into a loop, its member with the smallest id, so that everyone finds the same one. */
  #findRoot(entry: SessionEntry): SessionEntry {
    const path = [entry];
    const seen = new Map([[entry.id, 0]]);
    for (let current = entry; ; ) {
      const parent = this.#parentOf(current);
      if (parent === undefined || !isChainEdge(parent, current)) return current;
      const again = seen.get(parent.id);
      if (again !== undefined) return path.slice(again).reduce((a, b) => (a.id < b.id ? a : b));
      seen.set(parent.id, path.length);
      path.push(parent);
      current = parent;
    }
  }

  #buildItem(root: SessionEntry): ListItem {
    if (root.endReason !== 'compression') return this.#singleItem(root);
    const members = chainMembers(this, root);
    const tip = chain(this, root).at(-1) ?? root;
    return { root, tip, members, listClass: this.#classOf(root), isSegment: false, recency: newest(members) };
  }

  #singleItem(entry: SessionEntry): ListItem {
    const parent = this.#parentOf(entry);
    const isSegment = parent !== undefined && isChainEdge(parent, entry);
    return {
      root: entry,
      tip: entry,
      members: [entry],
      listClass: isSegment ? 'LISTED' : this.#classOf(entry),
      isSegment,
      recency: entry.recency,
    };
  }

  #classOf(entry: SessionEntry): ListClass {
    const begun = this.#beginOf(entry);
    if (begun === null) return this.#isInLoop(entry) ? 'ORPHAN' : 'LISTED';
    if (begun !== entry) return this.#classOf(begun);
    const parent = this.#parentOf(entry);
    if (isListable(entry, parent)) return 'LISTED';
    if (entry.delegateFrom !== null) return 'DELEGATE';
    return parent === undefined || this.#isInLoop(entry) ? 'ORPHAN' : 'DELEGATE';
  }

  /**
   * Up over segments that go on by the Web UI's rules alone: what stands for them all in its list is of the class of the first. Null where there are
   * too many, or they go round.
   */
  #beginOf(entry: SessionEntry): SessionEntry | null {
    let current = entry;
    for (let steps = 0; steps < CHAIN_STEPS; steps++) {
      const parent = current.beside?.isContinuation === true ? this.#parentOf(current) : undefined;
      if (parent === undefined) return current;
      current = parent;
    }
    return null;
  }

  #isInLoop(entry: SessionEntry): boolean {
    const seen = new Set<string>();
    for (let current: SessionEntry | undefined = entry; current !== undefined; current = this.#parentOf(current)) {
      if (seen.has(current.id)) return true;
      seen.add(current.id);
    }
    return false;
  }

  #parentOf(entry: SessionEntry): SessionEntry | undefined {
    return entry.parentId === null ? undefined : this.#entries.get(entry.parentId);
  }

  #link(entry: SessionEntry | undefined): void {
    if (entry === undefined) return;
    if (entry.parentId !== null) addTo(this.#children, entry.parentId, entry.id);
    if (typeof entry.delegateFrom === 'string') addTo(this.#delegates, entry.delegateFrom, entry.id);
  }

  #unlink(entry: SessionEntry | undefined): void {
    if (entry === undefined) return;
    if (entry.parentId !== null) this.#children.get(entry.parentId)?.delete(entry.id);
    if (typeof entry.delegateFrom === 'string') this.#delegates.get(entry.delegateFrom)?.delete(entry.id);
  }

  #resolve(ids: ReadonlySet<string> | undefined): SessionEntry[] {
    const found: SessionEntry[] = [];
    for (const id of ids ?? []) {
      const entry = this.#entries.get(id);
      if (entry !== undefined) found.push(entry);
    }
    return found;
  }
}

/** Whether a session is the same but for what was said in it. */
function isSameShape(a: SessionEntry | undefined, b: SessionEntry | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  const isSpoken = ({ stats }: SessionEntry) => stats === null || stats.total > 0;
  return isSpoken(a) === isSpoken(b) && SHAPE.every((key) => a[key] === b[key]);
}

const SHAPE = [
  'source',
  'title',
  'parentId',
  'endReason',
  'endedAt',
  'archived',
  'pinned',
  'branchedFrom',
  'delegateFrom',
  'resetFrom',
  'sessionKey',
] as const;

function newest(entries: readonly SessionEntry[]): number | null {
  let recency: number | null = null;
  for (const entry of entries) {
    if (entry.recency !== null && (recency === null || entry.recency > recency)) recency = entry.recency;
  }
  return recency;
}

function addTo(map: Map<string, Set<string>>, key: string, id: string): void {
  const set = map.get(key);
  if (set === undefined) map.set(key, new Set([id]));
  else set.add(id);
}
