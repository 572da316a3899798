/**
 * Which sessions of a state.db are one conversation to the list (`spec/webui-listing.md` 5). It differs from `state-db/lineage.ts`, which
 * follows the agent: here `cli_close` continues as well as `compression`, both sources must agree, the child must begin no earlier than
 * 2 s before its parent ended, and a chain has the freshest tip of all its branches instead of the best child at each step. Never for
 * anything that deletes.
 */
import { RESET_REASONS } from '../../state-db/lineage.ts';
import { isBlank, NO_LINEAGE, type RowLineage } from './list-row.ts';
import { fold } from './source-class.ts';
import { hasMessages, lastTime, type StoreRows, type StoreSession } from './store-rows.ts';

/** Ends after which a conversation goes on in another session. */
const CONTINUED: ReadonlySet<string> = new Set(['compression', 'cli_close']);
/** The parent's end and the child's beginning are separate writes. Seconds. */
const TOLERANCE = 2;

export type RelationKind = 'CONTINUATION' | 'FORK' | 'RESET' | 'DELEGATE' | 'CROSS_SURFACE' | 'CHILD';

/** Whether the end of a session lets it go on in another. */
export function mayContinue(session: StoreSession): boolean {
  return CONTINUED.has(session.endReason ?? '');
}

/** K1 to K9 (5.1). `isFork` says what the Web UI's own file knows of the child. */
export function isContinuation(parent: StoreSession | undefined, child: StoreSession | undefined, isFork = false): boolean {
  if (parent === undefined || child === undefined || isFork) return false;
  if (child.branchedFrom === parent.id || child.delegateFrom === parent.id || child.resetFrom === parent.id) return false;
  if (fold(child.source) === 'tool' || crossesSurfaces(parent, child) || !mayContinue(parent)) return false;
  return parent.endedAt === null || (child.startedAt ?? 0) + TOLERANCE >= parent.endedAt;
}

function crossesSurfaces(parent: StoreSession, child: StoreSession): boolean {
  const [above, below] = [fold(parent.source), fold(child.source)];
  return above !== '' && below !== '' && above !== below;
}

/** 5.2: what a child is to its parent. */
export function relationOf(parent: StoreSession, child: StoreSession, isFork = false): RelationKind {
  if (isContinuation(parent, child, isFork)) return 'CONTINUATION';
  const startedAfter = parent.endedAt !== null && child.startedAt !== null && child.startedAt >= parent.endedAt;
  if (isFork || child.branchedFrom !== null || (parent.endReason === 'branched' && startedAfter)) return 'FORK';
  const sameKey = !isBlank(child.sessionKey) && child.sessionKey === parent.sessionKey;
  if (child.resetFrom !== null || (RESET_REASONS.has(parent.endReason ?? '') && sameKey)) return 'RESET';
  if (fold(child.source) === 'subagent' || child.delegateFrom === parent.id) return 'DELEGATE';
  return crossesSurfaces(parent, child) ? 'CROSS_SURFACE' : 'CHILD';
}

export interface Chain {
  readonly root: StoreSession;
  /** The freshest segment with messages; the root when none has any. */
  readonly tip: StoreSession;
  /** All segments, those of side branches and empty ones too. */
  readonly segments: number;
}

/** The chains of one state.db. Loops of parent pointers are cut at their smallest id. */
export class StoreLineage {
  readonly #sessions: ReadonlyMap<string, StoreSession>;
  readonly #parents = new Map<string, string>();
  readonly #continuations = new Map<string, StoreSession[]>();
  readonly #roots = new Map<string, string>();
  readonly #chains = new Map<string, Chain>();

  constructor(sessions: ReadonlyMap<string, StoreSession>) {
    this.#sessions = sessions;
    for (const child of sessions.values()) {
      if (child.parentId === null || child.parentId === child.id) continue;
      if (isContinuation(sessions.get(child.parentId), child)) this.#parents.set(child.id, child.parentId);
    }
    for (const id of this.#parents.keys()) this.#cutLoop(id);
    for (const [id, parentId] of this.#parents) {
      const child = sessions.get(id);
      const known = this.#continuations.get(parentId);
      if (child === undefined) continue;
      if (known === undefined) this.#continuations.set(parentId, [child]);
      else known.push(child);
    }
  }

  /** The session that this one continues. */
  continues(id: string): string | null {
    return this.#parents.get(id) ?? null;
  }

  continuations(id: string): readonly StoreSession[] {
    return this.#continuations.get(id) ?? [];
  }

  /** The first segment of the conversation; the id itself when it continues nothing. */
  rootOf(id: string): string {
    const path: string[] = [];
    let at = id;
    for (let parent = this.#parents.get(at); parent !== undefined; parent = this.#parents.get(at)) {
      const known = this.#roots.get(at);
      if (known !== undefined) {
        at = known;
        break;
      }
      path.push(at);
      at = parent;
    }
    for (const seen of path) this.#roots.set(seen, at);
    return at;
  }

  /** Null for an unknown session. */
  chainOf(rootId: string): Chain | null {
    const known = this.#chains.get(rootId);
    if (known !== undefined) return known;
    const root = this.#sessions.get(rootId);
    if (root === undefined) return null;
    const chain = this.#walk(root);
    this.#chains.set(rootId, chain);
    return chain;
  }

  #walk(root: StoreSession): Chain {
    let tip = root;
    let best = hasMessages(root) ? lastTime(root) : Number.NEGATIVE_INFINITY;
    let bestDepth = 1;
    let segments = 0;
    const waiting: [StoreSession, number][] = [[root, 1]];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const [session, depth] = next;
      segments++;
      const score = lastTime(session);
      if (hasMessages(session) && (score > best || (score === best && depth >= bestDepth))) {
        tip = session;
        best = score;
        bestDepth = depth;
      }
      for (const child of this.continuations(session.id)) waiting.push([child, depth + 1]);
    }
    return { root, tip, segments };
  }

  #cutLoop(id: string): void {
    if (this.#roots.has(id)) return;
    const path = new Set<string>();
    let at: string | undefined = id;
    while (at !== undefined && !path.has(at) && !this.#roots.has(at)) {
      path.add(at);
      at = this.#parents.get(at);
    }
    if (at !== undefined && path.has(at)) {
      const loop = [...path].slice([...path].indexOf(at)).sort();
      this.#parents.delete(loop[0] ?? at);
    }
    const root = this.#end(id);
    for (const seen of path) this.#roots.set(seen, root);
  }

  #end(id: string): string {
    let at = id;
    for (let parent = this.#parents.get(at); parent !== undefined; parent = this.#parents.get(at)) at = this.#roots.get(parent) ?? parent;
    return at;
  }
}

const LINEAGES = new WeakMap<ReadonlyMap<string, StoreSession>, StoreLineage>();

/** The chains of a store, worked out once for each of its versions. */
export function lineageOf(store: Pick<StoreRows, 'sessions'>): StoreLineage {
  const known = LINEAGES.get(store.sessions);
  if (known !== undefined) return known;
  const made = new StoreLineage(store.sessions);
  LINEAGES.set(store.sessions, made);
  return made;
}

/**
 * 5.3: what the store adds to the lineage of a row; null when it knows nothing of the session, or nothing that matters. The root of a
 * chain is labelled as well as its other segments.
 */
export function enrichment(store: Pick<StoreRows, 'sessions'>, id: string): Partial<RowLineage> | null {
  const session = store.sessions.get(id);
  if (session === undefined) return null;
  const lineage = lineageOf(store);
  const parent = session.parentId === null ? undefined : store.sessions.get(session.parentId);
  if (parent !== undefined && lineage.continues(id) === null) return childOf(lineage, parent, session);
  const rootId = lineage.rootOf(id);
  if (rootId === id && lineage.continuations(id).length === 0) return null;
  const chain = lineage.chainOf(rootId);
  return {
    ...(parent === undefined ? {} : { parentSessionId: parent.id }),
    lineageRootId: rootId,
    lineageTipId: chain?.tip.id ?? id,
    segmentCount: chain?.segments ?? 1,
  };
}

function childOf(lineage: StoreLineage, parent: StoreSession, child: StoreSession): Partial<RowLineage> {
  const rootId = lineage.rootOf(parent.id);
  return {
    parentSessionId: parent.id,
    parentTitle: parent.title,
    parentSource: parent.source || null,
    isChildSession: true,
    crossSurface: crossesSurfaces(parent, child),
    parentLineageRootId: rootId,
    parentLineageTipId: lineage.chainOf(rootId)?.tip.id ?? parent.id,
    lineageRootId: null,
    lineageTipId: null,
    segmentCount: null,
  };
}

/** The lineage of a row that state.db alone holds (7.2): the parent's chain for a child, its own chain for the tip that stands for it. */
export function projectedLineage(store: Pick<StoreRows, 'sessions'>, chain: Chain): RowLineage {
  const lineage = lineageOf(store);
  const { root } = chain;
  const parent = root.parentId === null ? undefined : store.sessions.get(root.parentId);
  const isChain = chain.segments > 1;
  return {
    ...NO_LINEAGE,
    parentSessionId: root.parentId,
    isChildSession: root.parentId !== null,
    parentTitle: parent?.title ?? null,
    parentSource: parent?.source || null,
    crossSurface: parent !== undefined && crossesSurfaces(parent, root),
    parentLineageRootId: parent === undefined ? root.parentId : lineage.rootOf(parent.id),
    lineageRootId: isChain ? root.id : null,
    lineageTipId: isChain ? chain.tip.id : null,
    segmentCount: isChain ? chain.segments : null,
  };
}
