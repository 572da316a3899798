/**
 * Lineage: pure functions over sessions and their parent pointers (`spec/state-db.md` 6). Pointers may form a loop; every walk keeps
 * the set of what it has seen.
 */
import type { SessionEntry } from './session-record.ts';

export type LineageNode = Pick<
  SessionEntry,
  | 'id'
  | 'parentId'
  | 'endReason'
  | 'endedAt'
  | 'startedAt'
  | 'source'
  | 'sessionKey'
  | 'branchedFrom'
  | 'delegateFrom'
  | 'resetFrom'
  | 'recency'
>;

/** What a walk needs: sessions by id, and the children of one. */
export interface LineageGraph<N extends LineageNode = LineageNode> {
  get(id: string): N | undefined;
  children(id: string): readonly N[];
}

export type EdgeKind = 'COMPRESSION' | 'BRANCH' | 'RESET' | 'DELEGATE' | 'TOOL' | 'UNKNOWN';

/** 6.1: ends by which a new conversation takes over the routing key. */
export const RESET_REASONS: ReadonlySet<string> = new Set([
  'session_reset',
  'session_switch',
  'idle',
  'daily',
  'suspended',
  'resume_pending_expired',
]);
/** 6.3: steps of a chain walk, and of a walk over parents. */
export const CHAIN_STEPS = 1000;
export const PARENT_STEPS = 100;
const RESUME_STEPS = 32;

// ---------------------------------------------------------------- edge predicates (6.2)

export function isBranch(child: LineageNode, parent: LineageNode | undefined): boolean {
  if (child.branchedFrom !== null) return true;
  return (
    parent !== undefined &&
    parent.endReason === 'branched' &&
    child.startedAt !== null &&
    parent.endedAt !== null &&
    child.startedAt >= parent.endedAt
  );
}

export function isCompressionChild(parent: LineageNode | undefined): boolean {
  return parent?.endReason === 'compression';
}

function isLegacyReset(child: LineageNode, parent: LineageNode | undefined): boolean {
  return (
    parent !== undefined &&
    RESET_REASONS.has(parent.endReason ?? '') &&
    child.sessionKey !== null &&
    child.sessionKey !== '' &&
    child.sessionKey === parent.sessionKey
  );
}

export function isReset(child: LineageNode, parent: LineageNode | undefined): boolean {
  return child.resetFrom !== null || isLegacyReset(child, parent);
}

export function isTool(node: LineageNode): boolean {
  return node.source === 'tool';
}

/** A marker names the parent itself: a fork, whatever ended the parent. A marker that names another row was inherited. */
export function isForkBound(child: LineageNode, options: { resets: boolean }): boolean {
  if (isTool(child)) return true;
  const markers = options.resets ? [child.branchedFrom, child.delegateFrom, child.resetFrom] : [child.branchedFrom, child.delegateFrom];
  return child.parentId === null ? markers.some((marker) => marker !== null) : markers.includes(child.parentId);
}

/** parent -> child continues the same conversation, by presence of markers; no comparison of times. */
export function isChainEdge(parent: LineageNode, child: LineageNode): boolean {
  return (
    parent.endReason === 'compression' &&
    child.branchedFrom === null &&
    child.delegateFrom === null &&
    !isReset(child, parent) &&
    !isTool(child)
  );
}

/** The kind of the edge from a child to its parent, bound test first (6.2 [R]); null for a session without a parent pointer. */
export function edgeKind(child: LineageNode, parent: LineageNode | undefined): EdgeKind | null {
  if (child.parentId === null) return null;
  if (isTool(child)) return 'TOOL';
  if (child.branchedFrom === child.parentId) return 'BRANCH';
  if (child.delegateFrom === child.parentId) return 'DELEGATE';
  if (child.resetFrom === child.parentId) return 'RESET';
  if (parent === undefined) {
    if (child.branchedFrom !== null) return 'BRANCH';
    if (child.resetFrom !== null) return 'RESET';
    return child.delegateFrom !== null ? 'DELEGATE' : 'UNKNOWN';
  }
  if (isCompressionChild(parent)) return 'COMPRESSION';
  if (isLegacyReset(child, parent)) return 'RESET';
  if (isBranch(child, parent)) return 'BRANCH';
  return 'DELEGATE';
}

/** 7.1: rows that a list shows by themselves: roots, branches and resets, without delegates. */
export function isListable(node: LineageNode, parent: LineageNode | undefined): boolean {
  if (node.delegateFrom !== null) return false;
  return node.parentId === null || isBranch(node, parent) || isReset(node, parent);
}

// ---------------------------------------------------------------- chain, tip, root (6.3)

/** Best candidate first: chains that go on, then open ones, then recency, start and id, all descending, NULL last. */
export function compareContinuations(a: LineageNode, b: LineageNode): number {
  const rank = (node: LineageNode) => (node.endReason === 'compression' ? 0 : node.endedAt === null ? 1 : 2);
  return (
    rank(a) - rank(b) ||
    descending(a.recency, b.recency) ||
    descending(a.startedAt, b.startedAt) ||
    (a.id < b.id ? 1 : a.id > b.id ? -1 : 0)
  );
}

export function descending(a: number | null, b: number | null): number {
  if (a === b) return 0;
  if (a === null) return 1;
  if (b === null) return -1;
  return b - a;
}

/** The conversation from s on: s, its best continuation, and so on. At most 1000 steps; ends at a loop. */
export function chain<N extends LineageNode>(graph: LineageGraph<N>, start: N): N[] {
  const nodes = [start];
  const seen = new Set([start.id]);
  for (let current = start; nodes.length <= CHAIN_STEPS; ) {
    const from = current;
    if (from.endReason !== 'compression') break;
    const candidates = graph.children(from.id).filter((child) => isChainEdge(from, child));
    const next = candidates.sort(compareContinuations)[0];
    if (next === undefined || seen.has(next.id)) break;
    seen.add(next.id);
    nodes.push(next);
    current = next;
  }
  return nodes;
}

export function tip<N extends LineageNode>(graph: LineageGraph<N>, start: N): N {
  return chain(graph, start).at(-1) ?? start;
}

/** The segments before s, root first, s excluded: climbs while s continues its parent. */
export function chainAncestors<N extends LineageNode>(graph: LineageGraph<N>, start: N): N[] {
  const nodes: N[] = [];
  const seen = new Set([start.id]);
  for (let current = start; current.parentId !== null; ) {
    const parent = graph.get(current.parentId);
    if (parent === undefined || seen.has(parent.id) || !isChainEdge(parent, current)) break;
    seen.add(parent.id);
    nodes.unshift(parent);
    current = parent;
  }
  return nodes;
}

/** The first segment of the conversation; its id stays when the session id rotates. */
export function chainRoot<N extends LineageNode>(graph: LineageGraph<N>, start: N): N {
  return chainAncestors(graph, start)[0] ?? start;
}

/** Every segment of the conversation that s belongs to, root first: what came before it, s, and its best continuations. */
export function segments<N extends LineageNode>(graph: LineageGraph<N>, start: N): N[] {
  return [...chainAncestors(graph, start), ...chain(graph, start)];
}

/** Every session that can be reached from s along chain edges, side continuations too; s first (7.3: order by activity). */
export function chainMembers<N extends LineageNode>(graph: LineageGraph<N>, start: N): N[] {
  const members = [start];
  const seen = new Set([start.id]);
  for (let index = 0; index < members.length; index++) {
    const parent = members[index];
    if (parent === undefined || parent.endReason !== 'compression') continue;
    for (const child of graph.children(parent.id)) {
      if (seen.has(child.id) || !isChainEdge(parent, child)) continue;
      seen.add(child.id);
      members.push(child);
    }
  }
  return members;
}

/** Parents whatever the edge, s first. A missing parent row is still the last id (6.3); at most 100 steps. */
export function parentWalk(graph: LineageGraph, start: LineageNode): string[] {
  const ids = [start.id];
  const seen = new Set(ids);
  for (let current: LineageNode | undefined = start; current !== undefined && ids.length < PARENT_STEPS; ) {
    const parentId: string | null = current.parentId;
    if (parentId === null || parentId === '' || seen.has(parentId)) break;
    seen.add(parentId);
    ids.push(parentId);
    current = graph.get(parentId);
  }
  return ids;
}

// ---------------------------------------------------------------- lineages for single purposes (6.3)

/** Resume display of v26: an explicit branch stands alone, everything else shows its whole parent walk, root first. */
export function displayLineage(graph: LineageGraph, start: LineageNode): string[] {
  return start.branchedFrom === null ? parentWalk(graph, start).reverse() : [start.id];
}

/** The export lineage: climbs by the bound test, then follows the earliest started continuation; [s] when s isn't on that path. */
export function compressionLineage(graph: LineageGraph, start: LineageNode): string[] {
  if (isForkBound(start, { resets: true })) return [start.id];
  let root = start;
  const climbed = new Set([start.id]);
  while (root.parentId !== null) {
    const parent = graph.get(root.parentId);
    if (parent === undefined || climbed.has(parent.id) || !isContinuationOf(parent, root)) break;
    climbed.add(parent.id);
    root = parent;
  }
  const ids = [root.id];
  const seen = new Set(ids);
  for (let current: LineageNode = root; current.endReason === 'compression'; ) {
    const from: LineageNode = current;
    const next = graph
      .children(from.id)
      .filter((child) => isContinuationOf(from, child))
      .sort((a, b) => descending(b.startedAt, a.startedAt) || (a.id < b.id ? -1 : 1))[0];
    if (next === undefined || seen.has(next.id)) break;
    seen.add(next.id);
    ids.push(next.id);
    current = next;
  }
  return seen.has(start.id) ? ids : [start.id];
}

function isContinuationOf(parent: LineageNode, child: LineageNode): boolean {
  return parent.endReason === 'compression' && !isForkBound(child, { resets: true }) && !isLegacyReset(child, parent);
}

/** The one open continuation of a compressed session by the bound test; null for none and for several. */
export function liveContinuation<N extends LineageNode>(graph: LineageGraph<N>, parent: N): N | null {
  if (parent.endReason !== 'compression') return null;
  const open = graph.children(parent.id).filter((child) => child.endedAt === null && !isForkBound(child, { resets: true }));
  return open.length === 1 ? (open[0] ?? null) : null;
}

/** Where a resume lands: from the tip on, at most 32 nodes over unmarked children, the deepest with rows; else the tip. */
export function resumeTarget<N extends LineageNode>(graph: LineageGraph<N>, start: N, hasRows: (node: N) => boolean): N {
  const from = tip(graph, start);
  const seen = new Set([from.id]);
  let best: N | null = null;
  for (let current = from, steps = 0; steps < RESUME_STEPS; steps++) {
    if (hasRows(current)) best = current;
    const parent = current;
    const next = graph
      .children(parent.id)
      .filter((child) => child.branchedFrom === null && child.delegateFrom === null && child.resetFrom === null)
      .filter((child) => !isLegacyReset(child, parent) && !isTool(child))
      .sort((a, b) => descending(a.startedAt, b.startedAt) || (a.id < b.id ? 1 : -1))[0];
    if (next === undefined || seen.has(next.id)) break;
    seen.add(next.id);
    current = next;
  }
  return best ?? from;
}

/** The key under which a turn lease of s lies: the first segment that is no fork (12.2). */
export function leaseKey(graph: LineageGraph, start: LineageNode): string {
  const seen = new Set([start.id]);
  let current = start;
  while (current.parentId !== null && !isForkBound(current, { resets: true })) {
    const parent = graph.get(current.parentId);
    if (parent === undefined || seen.has(parent.id) || parent.endReason !== 'compression') break;
    seen.add(parent.id);
    current = parent;
  }
  return current.id;
}

/**
 * What is deleted with s: delegates that name it, and its children that carry a delegate marker, recursively; never s itself. A branch of its
 * parent stays, also with the marker of a delegate that it took over with the configuration (`field-cases` F63).
 */
export function delegateCascade(graph: LineageGraph & { delegatesOf(id: string): readonly LineageNode[] }, start: LineageNode): string[] {
  const found: string[] = [];
  const seen = new Set([start.id]);
  for (const queue = [start.id]; queue.length > 0; ) {
    const id = queue.shift();
    if (id === undefined) break;
    const marked = graph.children(id).filter((child) => child.delegateFrom !== null);
    for (const node of [...graph.delegatesOf(id), ...marked]) {
      if (seen.has(node.id) || (node.parentId !== null && node.branchedFrom === node.parentId)) continue;
      seen.add(node.id);
      found.push(node.id);
      queue.push(node.id);
    }
  }
  return found;
}
