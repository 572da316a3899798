/** How one conversation hangs together (`spec/webui-listing.md` 5.4). */
import { lineageOf, type RelationKind, relationOf } from './list-lineage.ts';
import type { StoreRows, StoreSession } from './store-rows.ts';

export interface ReportedSegment {
  readonly id: string;
  readonly title: string | null;
  readonly role: 'tip' | 'hidden_segment';
  readonly startedAt: number | null;
  /** The end, else the start. */
  readonly updatedAt: number | null;
  readonly active: boolean;
}

export interface ReportedChild {
  readonly id: string;
  readonly title: string | null;
  readonly parentId: string;
  readonly relation: RelationKind;
  readonly startedAt: number | null;
}

export interface LineageReport {
  readonly found: boolean;
  /** The first segment; null when the session is unknown. */
  readonly lineageKey: string | null;
  readonly tipSessionId: string;
  /** Newest first. */
  readonly segments: readonly ReportedSegment[];
  readonly children: readonly ReportedChild[];
  /** The walk does not tell the whole conversation: a loop, too long a chain, or a segment that goes on elsewhere. */
  readonly manualReview: boolean;
}

const MOST_HOPS = 20;

/** The segments from a session up to the first one, at most 20 hops, and what else hangs on them. */
export function lineageReport(store: Pick<StoreRows, 'sessions'>, id: string): LineageReport {
  const start = store.sessions.get(id);
  if (start === undefined) return { found: false, lineageKey: null, tipSessionId: id, segments: [], children: [], manualReview: false };
  const lineage = lineageOf(store);
  const walked: StoreSession[] = [start];
  let next = lineage.continues(id);
  for (; next !== null && walked.length <= MOST_HOPS; next = lineage.continues(next)) {
    const segment = store.sessions.get(next);
    if (segment === undefined) break;
    walked.push(segment);
  }
  const ids = new Set(walked.map((segment) => segment.id));
  const childrenOf = otherChildren(store, ids);
  const goesOnElsewhere = walked.some((segment) => lineage.continuations(segment.id).some((child) => !ids.has(child.id)));
  return {
    found: true,
    lineageKey: walked.at(-1)?.id ?? id,
    tipSessionId: id,
    segments: walked.map(segmentOf),
    children: walked.flatMap((segment) =>
      (childrenOf.get(segment.id) ?? [])
        .filter((child) => lineage.continues(child.id) !== segment.id)
        .sort((a, b) => (b.startedAt ?? 0) - (a.startedAt ?? 0))
        .map((child) => ({
          id: child.id,
          title: child.title,
          parentId: segment.id,
          relation: relationOf(segment, child),
          startedAt: child.startedAt,
        })),
    ),
    manualReview: next !== null || goesOnElsewhere || hasLoop(store, start),
  };
}

function segmentOf(session: StoreSession, index: number): ReportedSegment {
  return {
    id: session.id,
    title: session.title,
    role: index === 0 ? 'tip' : 'hidden_segment',
    startedAt: session.startedAt,
    updatedAt: session.endedAt ?? session.startedAt,
    active: session.endedAt === null,
  };
}

function otherChildren(store: Pick<StoreRows, 'sessions'>, parents: ReadonlySet<string>): Map<string, StoreSession[]> {
  const found = new Map<string, StoreSession[]>();
  for (const session of store.sessions.values()) {
    if (session.parentId === null || !parents.has(session.parentId) || session.id === session.parentId) continue;
    found.set(session.parentId, [...(found.get(session.parentId) ?? []), session]);
  }
  return found;
}

function hasLoop(store: Pick<StoreRows, 'sessions'>, start: StoreSession): boolean {
  const seen = new Set<string>();
  for (
    let at: StoreSession | undefined = start;
    at !== undefined;
    at = at.parentId === null ? undefined : store.sessions.get(at.parentId)
  ) {
    if (seen.has(at.id)) return true;
    seen.add(at.id);
  }
  return false;
}
