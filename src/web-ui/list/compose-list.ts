/**
 * The unified list (`spec/webui-listing.md` 2, 9): Web UI files, one state.db a profile and Claude Code transcripts become rows, each with
 * the reason why it is shown or not. Pure; what is worked out from an unchanged store or row is kept by that object.
 */

import { atOnce, type Steps, stepwise } from '../../in-slices.ts';
import { externalEntries, settleExternal } from './compose-external.ts';
import { type ListEntry, type ListLive, type ProfileStore, type Tombstones, webUiEntries } from './compose-web-ui.ts';
import { enrichment } from './list-lineage.ts';
import { type ListedRow, type ListRow, visibilityOf } from './list-row.ts';
import { previousSegments } from './messaging-identity.ts';
import { byActivity, byTime, hasLiveSign } from './row-order.ts';
import { isSubagent } from './source-class.ts';

export interface ListInputs {
  readonly sidecars: readonly ListRow[];
  /** One a profile; profiles whose store is missing or can't be read are left out. */
  readonly stores: readonly ProfileStore[];
  readonly claude: readonly ListRow[];
  readonly tombstones: Tombstones;
  readonly live: ListLive;
}

/** The settings and arguments of one list (9.1). */
export interface ListRequest {
  readonly profile: string;
  /** Other names of the root profile, besides `default`. */
  readonly rootAliases: ReadonlySet<string>;
  readonly allProfiles: boolean;
  readonly includeArchived: boolean;
  /** Leaves out background rows that only their project shows. */
  readonly excludeHidden: boolean;
  readonly showCli: boolean;
  readonly showClaudeCode: boolean;
  readonly showCron: boolean;
  readonly showWebhook: boolean;
  readonly showKanban: boolean;
  readonly showPreviousMessaging: boolean;
  readonly sourceFilter: string | null;
  /** Conversations taken from a store, and terminal sessions in the list; null for all. */
  readonly window: number | null;
}

export const INTERACTIVE_WINDOW = 20;

export const DEFAULT_REQUEST: ListRequest = {
  profile: 'default',
  rootAliases: new Set(),
  allProfiles: false,
  includeArchived: false,
  excludeHidden: false,
  showCli: true,
  showClaudeCode: true,
  showCron: false,
  showWebhook: false,
  showKanban: false,
  showPreviousMessaging: false,
  sourceFilter: null,
  window: INTERACTIVE_WINDOW,
};

export interface ListCounts {
  readonly webui: number;
  readonly cli: number;
  readonly archivedWebui: number;
  readonly archivedCli: number;
  /** Rows of other profiles that are left out. */
  readonly otherProfiles: number;
  /** Rows that stores and transcripts alone hold. */
  readonly external: number;
}

export interface ComposedList {
  /** All rows, in the order of the list. */
  readonly rows: readonly ListedRow[];
  /** Those that are shown, in the same order. */
  readonly shown: readonly ListedRow[];
  readonly counts: ListCounts;
  /** Archived ancestors of shown rows that are themselves not shown. */
  readonly references: readonly ListedRow[];
}

export function composeList(inputs: ListInputs, request: ListRequest): ComposedList {
  return atOnce(composeSteps(inputs, request));
}

/** The same in steps, between which others may have the thread as long as nothing that came in changes. */
export function* composeSteps(inputs: ListInputs, request: ListRequest): Steps<ComposedList> {
  const stores = new Map(inputs.stores.map((store) => [store.store.profile, store]));
  const storeOf = (profile: string | null) => stores.get(canonical(profile, request)) ?? stores.get(request.profile) ?? null;
  const entries = webUiEntries(inputs, storeOf);
  yield;
  const external = externalEntries(inputs, request);
  yield;
  const added = yield* settleExternal(entries, external, request, inputs, storeOf);
  yield;
  const all = [...entries.filter((entry) => !entry.replaced), ...added].sort((a, b) => byTime(a.row, b.row));
  yield;
  const otherProfiles = scopeProfiles(all, request);
  const externals = added.filter((entry) => isShown(entry)).length;
  hidePreviousSegments(all, request, inputs);
  yield;
  capTerminals(all, request);
  hideEmpty(all, request, inputs.live);
  const archived = hideArchived(all, request);
  yield;
  const rows = yield* finish(all, inputs, storeOf);
  yield;
  const shown = rows.filter((row) => row.visibility.shown);
  const cli = shown.filter((row) => row.isCliSession).length;
  return {
    rows,
    shown,
    counts: { webui: shown.length - cli, cli, ...archived, otherProfiles, external: externals },
    references: referencesOf(rows, shown),
  };
}

/** 7.5: blank names and the aliases of the root are `default`. */
export function canonical(profile: string | null, { rootAliases }: Pick<ListRequest, 'rootAliases'>): string {
  const name = profile === null || profile.trim() === '' ? 'default' : profile;
  return rootAliases.has(name) ? 'default' : name;
}

function isShown(entry: ListEntry): boolean {
  return visibilityOf(entry.state).shown;
}

function scopeProfiles(entries: readonly ListEntry[], request: ListRequest): number {
  if (request.allProfiles) return 0;
  const active = canonical(request.profile, request);
  let left = 0;
  for (const entry of entries) {
    if (!isShown(entry) || canonical(entry.row.profile, request) === active) continue;
    entry.state = 'OTHER_PROFILE';
    left++;
  }
  return left;
}

function hidePreviousSegments(entries: readonly ListEntry[], request: ListRequest, { stores }: ListInputs): void {
  if (request.showPreviousMessaging) return;
  const considered = entries.filter((entry) => isShown(entry) && (request.includeArchived || !entry.row.archived));
  const gateway =
    stores.length === 1 && stores[0] !== undefined ? stores[0].gateway : new Map(stores.flatMap((store) => [...store.gateway]));
  const previous = previousSegments(
    considered.map((entry) => entry.row),
    gateway,
  );
  for (const entry of considered) if (previous.has(entry.row.id)) entry.state = 'PREVIOUS_MESSAGING_SEGMENT';
}

function capTerminals(entries: readonly ListEntry[], { window, includeArchived, showCli }: ListRequest): void {
  if (window === null || !showCli) return;
  let kept = 0;
  for (const entry of entries) {
    if (!isShown(entry) || !entry.row.isCliSession || (entry.row.archived && !includeArchived)) continue;
    if (kept++ >= window) entry.state = 'OUTSIDE_WINDOW';
  }
}

/** 9.2 steps 8, 9. */
function hideEmpty(entries: readonly ListEntry[], request: ListRequest, { attention }: ListLive): void {
  for (const entry of entries) {
    if (!isShown(entry)) continue;
    if (entry.row.messageCount <= 0 && !attention.has(entry.row.id) && !hasLiveSign(entry.row)) entry.state = 'ZERO_MESSAGES';
    else if (request.excludeHidden && entry.state === 'PROJECT_ONLY') entry.state = 'BACKGROUND_HIDDEN';
  }
}

function hideArchived(entries: readonly ListEntry[], { includeArchived }: ListRequest): Pick<ListCounts, 'archivedWebui' | 'archivedCli'> {
  let [archivedWebui, archivedCli] = [0, 0];
  for (const entry of entries) {
    if (!isShown(entry) || !entry.row.archived) continue;
    if (entry.row.isCliSession) archivedCli++;
    else archivedWebui++;
    if (!includeArchived) entry.state = 'ARCHIVED';
  }
  return { archivedWebui, archivedCli };
}

/** 9.2 steps 10, 11, and the order of 9.7. */
function* finish(
  entries: readonly ListEntry[],
  { live }: ListInputs,
  storeOf: (profile: string | null) => ProfileStore | null,
): Steps<ListedRow[]> {
  const rows: ListedRow[] = [];
  yield* stepwise(entries, (entry) => {
    const { row } = entry;
    const store = row.origins.has('STATE_DB') ? storeOf(row.profile) : null;
    const isDelegate = isSubagent(row) || store?.store.sessions.get(row.id)?.source === 'subagent';
    rows.push({
      ...row,
      ...(store === null ? null : enrichment(store.store, row.id)),
      ...(isDelegate ? { readOnly: true, isCliSession: false } : null),
      defaultHidden: entry.state === 'PROJECT_ONLY',
      visibility: visibilityOf(entry.state, entry.representedBy),
    });
  });
  return rows.sort(byActivity((row) => row.activeStreamId !== null && live.streams.has(row.activeStreamId)));
}

/** Through the links after enrichment: a parent that only state.db knows of counts. */
function referencesOf(rows: readonly ListedRow[], shown: readonly ListedRow[]): ListedRow[] {
  const archived = rows.filter((row) => row.visibility.state === 'ARCHIVED');
  if (archived.length === 0) return [];
  const byId = new Map(rows.map((row) => [row.id, row]));
  const found = new Set<ListedRow>();
  const seen = new Set<string>();
  for (const row of shown) {
    for (let id = row.parentSessionId; id !== null && !seen.has(id); ) {
      seen.add(id);
      const parent = byId.get(id);
      if (parent?.visibility.state === 'ARCHIVED') found.add(parent);
      id = parent?.parentSessionId ?? null;
    }
  }
  return [...found];
}
