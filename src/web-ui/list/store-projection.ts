/** Stage D: rows that state.db alone knows (`spec/webui-listing.md` 7). */

import { type Chain, lineageOf, mayContinue, projectedLineage } from './list-lineage.ts';
import { type ListRow, NO_CHAT, type RowProvenance, sidecarRow, type VisibilityState } from './list-row.ts';
import { cronJobName } from './list-titles.ts';
import { fold, isCli, isCliVisible, normaliseSource } from './source-class.ts';
import { hasMessages, lastTime, type StoreRows, type StoreSession } from './store-rows.ts';

/** What a profile adds to the rows of its store. */
export interface ProjectionContext {
  readonly lastWorkspace: string | null;
  readonly cronProjectId: string | null;
  readonly webhookProjectId: string | null;
  /** Names by job id, of `cron/jobs.json`. */
  readonly cronJobNames: ReadonlyMap<string, string>;
}

export const NO_CONTEXT: ProjectionContext = {
  lastWorkspace: null,
  cronProjectId: null,
  webhookProjectId: null,
  cronJobNames: new Map(),
};

export interface ProjectedRow {
  readonly row: ListRow;
  /** VISIBLE, or why the row is left out of what the list takes from the store. */
  readonly state: VisibilityState;
  /** The segment that stands for this one. */
  readonly representedBy: string | null;
}

export interface ProjectionLimits {
  /** Rows of conversations; null for all. */
  readonly window: number | null;
  /** Rows of each kind of background work; null for all. */
  readonly background: number | null;
  /** One source only; null for all (7.3). */
  readonly sourceFilter: string | null;
}

export const BACKGROUND_ROWS = 200;
const BACKGROUND: ReadonlySet<string> = new Set(['cron', 'webhook', 'kanban']);
const FROM_STORE: RowProvenance = {
  messageCount: 'STATE_DB',
  title: 'STATE_DB',
  displayTitle: 'STATE_DB',
  source: 'STATE_DB',
  lastMessageAt: 'STATE_DB',
};
const STORE_ONLY = new Set(['STATE_DB'] as const);

/** 7.3: `all`, `any`, `*` and blank are no filter. */
export function normaliseFilter(filter: string | null): string | null {
  const folded = fold(filter);
  if (folded === 'claude-code') return 'claude_code';
  return ['', 'all', 'any', '*'].includes(folded) ? null : folded;
}

/**
 * Every session of the store as a row, newest first: one row for each conversation, with the other segments of it as REPRESENTED. The
 * rows come without what sidecars add. Worked out once for each version of the store and of the context.
 */
export function projectStore(store: StoreRows, context: ProjectionContext): readonly ProjectedRow[] {
  const known = PROJECTED.get(store);
  if (known !== undefined && known.context === context) return known.rows;
  const rows = project(store, context);
  PROJECTED.set(store, { context, rows });
  return rows;
}

const PROJECTED = new WeakMap<StoreRows, { context: ProjectionContext; rows: readonly ProjectedRow[] }>();

function project(store: StoreRows, context: ProjectionContext): ProjectedRow[] {
  const lineage = lineageOf(store);
  const rows: ProjectedRow[] = [];
  for (const session of store.sessions.values()) {
    if (lineage.continues(session.id) !== null) continue;
    const chain = mayContinue(session) ? lineage.chainOf(session.id) : null;
    const { tip } = chain ?? { tip: session };
    const row = rowOf(store, chain ?? { root: session, tip: session, segments: 1 }, context);
    const state = !hasMessages(tip) ? 'ZERO_MESSAGES' : isCliVisible(row) ? 'VISIBLE' : 'CLI_HIDDEN';
    rows.push({ row, state, representedBy: null });
    if (chain === null || chain.segments === 1) continue;
    for (const segment of segmentsOf(store, chain)) {
      if (segment.id === tip.id) continue;
      const alone = rowOf(store, { root: segment, tip: segment, segments: 1 }, context);
      rows.push({
        row: { ...alone, lineageRootId: session.id, lineageTipId: tip.id, segmentCount: chain.segments },
        state: 'REPRESENTED',
        representedBy: tip.id,
      });
    }
  }
  return rows.sort((a, b) => (b.row.updatedAt ?? 0) - (a.row.updatedAt ?? 0));
}

function segmentsOf(store: StoreRows, chain: Chain): StoreSession[] {
  const lineage = lineageOf(store);
  const found = [chain.root];
  for (const segment of found) found.push(...lineage.continuations(segment.id));
  return found;
}

/** 7.2, 7.4. */
function rowOf(store: StoreRows, chain: Chain, context: ProjectionContext): ListRow {
  const { root, tip } = chain;
  const isTui = fold(tip.source) === 'tui';
  const source = (isTui && tip.source) || root.source || tip.source;
  const title = (isTui && tip.title) || root.title || tip.title || '';
  const names = normaliseSource(source);
  const counted = tip.stats?.total ?? null;
  const row = {
    ...sidecarRow({ id: tip.id }),
    ...NO_CHAT,
    ...projectedLineage(store, chain),
    ...names,
    profile: store.profile,
    title: title.trim() === '' ? fallbackTitle(tip.id, source, context) : title,
    workspace: context.lastWorkspace,
    model: tip.model,
    messageCount: counted ?? tip.storedMessageCount,
    actualMessageCount: counted,
    userMessageCount: store.userMessages(tip.id) ?? counted ?? tip.storedMessageCount,
    createdAt: root.startedAt,
    updatedAt: lastTime(tip) || root.startedAt,
    lastMessageAt: tip.stats?.lastTimestamp ?? null,
    projectId: projectOf(tip.id, source, context),
    userId: root.userId,
    chatId: root.chatId,
    chatType: root.chatType,
    threadId: root.threadId,
    sessionKey: root.sessionKey,
    endReason: tip.endReason,
    endedAt: tip.endedAt,
    readOnly: fold(source) === 'subagent',
    origins: STORE_ONLY,
    provenance: title.trim() === '' ? { ...FROM_STORE, title: 'DERIVED' as const } : FROM_STORE,
  };
  return { ...row, isCliSession: isCli(row) };
}

function fallbackTitle(id: string, source: string, context: ProjectionContext): string {
  const raw = fold(source);
  if (raw === 'cron') return cronJobName(id, context.cronJobNames) ?? 'Cron Session';
  const shown = source.trim() === '' ? 'cli' : source;
  return `${shown.charAt(0).toUpperCase()}${shown.slice(1).toLowerCase()} Session`;
}

function projectOf(id: string, source: string, context: ProjectionContext): string | null {
  const raw = fold(source);
  if (raw === 'cron' || (id.startsWith('cron_') && raw === '')) return context.cronProjectId;
  return raw === 'webhook' ? context.webhookProjectId : null;
}

/**
 * 7.3: what the list takes of the projected rows: the newest conversations, the newest rows of each kind of background work, and the
 * subagent parents of subagents that were taken. The others are OUTSIDE_WINDOW or SOURCE_FILTERED.
 */
export function withinLimits(rows: readonly ProjectedRow[], limits: ProjectionLimits): ProjectedRow[] {
  const taken = new Map<string, number>();
  const anchors = new Set<string>();
  const result = rows.map((projected): ProjectedRow => {
    const { row } = projected;
    const raw = fold(row.sourceTag);
    if (limits.sourceFilter !== null && raw !== limits.sourceFilter)
      return projected.state === 'VISIBLE' ? out(row, 'SOURCE_FILTERED') : projected;
    if (projected.state !== 'VISIBLE') return projected;
    const pass = BACKGROUND.has(raw) ? raw : '';
    const most = pass === '' ? limits.window : limits.background;
    const before = taken.get(pass) ?? 0;
    if (most !== null && before >= most) return out(row, 'OUTSIDE_WINDOW');
    taken.set(pass, before + 1);
    if (raw === 'subagent' && row.parentSessionId !== null) anchors.add(row.parentSessionId);
    return projected;
  });
  return anchors.size === 0 ? result : withAnchors(result, anchors);
}

function withAnchors(rows: readonly ProjectedRow[], anchors: Set<string>): ProjectedRow[] {
  const byId = new Map(rows.map((projected) => [projected.row.id, projected]));
  const rescued = new Set<string>();
  for (const id of anchors) {
    const anchor = byId.get(id);
    if (anchor?.state !== 'OUTSIDE_WINDOW' || fold(anchor.row.sourceTag) !== 'subagent') continue;
    rescued.add(id);
    if (anchor.row.parentSessionId !== null) anchors.add(anchor.row.parentSessionId);
  }
  return rescued.size === 0
    ? [...rows]
    : rows.map((projected) => (rescued.has(projected.row.id) ? { ...projected, state: 'VISIBLE' } : projected));
}

function out(row: ListRow, state: VisibilityState): ProjectedRow {
  return { row, state, representedBy: null };
}
