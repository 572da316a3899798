/** Stages D to F of the list: what stores and transcripts add to the Web UI's rows (`spec/webui-listing.md` 7 to 9). */
import { type Steps, stepwise } from '../../in-slices.ts';
import type { ListEntry, ListLive, ProfileStore, StoreOf, Tombstones } from './compose-web-ui.ts';
import { isBlank, type ListRow, visibilityOf } from './list-row.ts';
import { mergeExternal, union } from './merge-rows.ts';
import { isEmptyIn, isOrphanImport, isPruneCandidate, pruneDecision } from './presence.ts';
import { backgroundVisibility } from './sidebar-visibility.ts';
import { fold, isCli, isCliForSettings, isCliVisible, isWebUi } from './source-class.ts';
import { BACKGROUND_ROWS, normaliseFilter, projectStore, withinLimits } from './store-projection.ts';

export interface ExternalSources {
  readonly stores: readonly ProfileStore[];
  readonly claude: readonly ListRow[];
  readonly tombstones: Tombstones;
  readonly live: ListLive;
  readonly sidecars: readonly ListRow[];
}

export interface ExternalRequest {
  readonly profile: string;
  readonly allProfiles: boolean;
  readonly showCli: boolean;
  readonly showClaudeCode: boolean;
  readonly showCron: boolean;
  readonly showWebhook: boolean;
  readonly showKanban: boolean;
  readonly sourceFilter: string | null;
  readonly window: number | null;
}

/** Every row of the scanned stores, then those of Claude Code, with what the passes of 7.3 leave out marked. */
export function externalEntries({ stores, claude, tombstones, sidecars }: ExternalSources, request: ExternalRequest): ListEntry[] {
  const filter = normaliseFilter(request.sourceFilter);
  const isForced = filter === 'cron' || filter === 'webhook' || filter === 'kanban';
  const files = tombstones.deleted.size === 0 ? null : new Set(sidecars.map((row) => row.id));
  const entries: ListEntry[] = [];
  for (const { store, context } of scanned(stores, request)) {
    const limits = {
      window: request.window,
      background: request.allProfiles && !isForced ? null : BACKGROUND_ROWS,
      sourceFilter: filter,
    };
    for (const { row, state, representedBy } of withinLimits(projectStore(store, context), limits)) {
      const isDeleted = tombstones.deleted.has(row.id) && files?.has(row.id) === false && fold(row.sourceTag) === 'webui';
      entries.push({ row, state: isDeleted ? 'TOMBSTONED' : state, representedBy, sidecar: null, replaced: false });
    }
  }
  const showsClaude = request.showClaudeCode && (filter === null || filter === 'claude_code');
  for (const row of claude) {
    const state = !showsClaude ? 'SOURCE_FILTERED' : isCliVisible(row) ? 'VISIBLE' : 'CLI_HIDDEN';
    entries.push({ row, state, representedBy: null, sidecar: null, replaced: false });
  }
  return entries;
}

/** 7.5: the store of the asked profile first, the others only when all are asked for. */
function scanned(stores: readonly ProfileStore[], { profile, allProfiles }: ExternalRequest): ProfileStore[] {
  const own = stores.filter(({ store }) => store.profile === profile);
  return allProfiles ? [...own, ...stores.filter(({ store }) => store.profile !== profile)] : own;
}

/**
 * 9.2 step 3, 9.3: the Web UI's rows lose what is gone and take what the external row of the same session adds; returned are the external
 * rows that become rows of their own.
 */
export function* settleExternal(
  entries: readonly ListEntry[],
  external: readonly ListEntry[],
  request: ExternalRequest,
  { tombstones }: Pick<ExternalSources, 'tombstones'>,
  storeOf: StoreOf,
): Steps<ListEntry[]> {
  const keyOf = (row: ListRow) => `${storeOf(row.profile)?.store.profile ?? ''}\u0000${row.id}`;
  const byKey = new Map<string, ListEntry>();
  yield* stepwise(external, (entry) => {
    const key = keyOf(entry.row);
    if (!byKey.has(key)) byKey.set(key, entry);
  });
  const own = new Map<string, ListEntry>();
  const represented = new Map<string, string>();
  yield* stepwise(entries, (entry) => {
    const key = keyOf(entry.row);
    own.set(key, entry);
    settleOwn(entry, byKey.get(key), request, tombstones, storeOf);
    if (visibilityOf(entry.state).shown) represent(entry.row, key.slice(0, -entry.row.id.length), represented);
  });
  const added: ListEntry[] = [];
  yield* stepwise(external, (entry) => {
    if (addsRow(entry, keyOf(entry.row), own, represented, byKey, request)) added.push(entry);
  });
  return added;
}

function settleOwn(
  entry: ListEntry,
  other: ListEntry | undefined,
  request: ExternalRequest,
  tombstones: Tombstones,
  storeOf: StoreOf,
): void {
  if (!visibilityOf(entry.state).shown) return;
  if (!request.showCli && isCliForSettings(entry.row)) {
    entry.state = 'CLI_SWITCHED_OFF';
    return;
  }
  const store = storeOf(entry.row.profile)?.store ?? null;
  const isListed = other !== undefined && other.state === 'VISIBLE';
  if (request.showCli && isOrphanImport(entry.row, other !== undefined, store)) entry.state = 'ORPHAN_IMPORT';
  else if (isPruneCandidate(entry.row) && isEmptyIn(store, entry.row.id)) {
    const backing = {
      emptyInStore: true,
      sidecarMessages: entry.sidecar?.messageCount ?? null,
      tombstoned: tombstones.zeroMessages.has(entry.row.id),
    };
    if (pruneDecision(backing).drop) entry.state = 'ZERO_MESSAGES';
  }
  if (!visibilityOf(entry.state).shown || !request.showCli) return;
  if (isListed) {
    const merged = mergeExternal(entry.row, other.row);
    const isCliSession = isCli(merged);
    entry.row = isCliSession === merged.isCliSession ? merged : { ...merged, isCliSession };
  }
  if (!isCliVisible(entry.row)) entry.state = 'CLI_HIDDEN';
}

function represent(row: ListRow, prefix: string, represented: Map<string, string>): void {
  for (const id of [row.id, row.lineageRootId, row.lineageTipId]) if (id) represented.set(prefix + id, row.id);
}

/** Whether the external row is an entry of its own; marks it when another row stands for it, and takes over a hidden file's row. */
function addsRow(
  entry: ListEntry,
  key: string,
  own: ReadonlyMap<string, ListEntry>,
  represented: ReadonlyMap<string, string>,
  byKey: ReadonlyMap<string, ListEntry>,
  request: ExternalRequest,
): boolean {
  if (byKey.get(key) !== entry) return false;
  const file = own.get(key);
  if (file !== undefined && visibilityOf(file.state).shown) return false;
  if (entry.state === 'VISIBLE') settleState(entry, key, represented, request);
  if (file === undefined) return true;
  if (!visibilityOf(entry.state).shown) return false;
  file.replaced = true;
  entry.row = withFile(entry.row, file.sidecar ?? file.row);
  return true;
}

function settleState(entry: ListEntry, key: string, represented: ReadonlyMap<string, string>, request: ExternalRequest): void {
  if (!request.showCli) {
    entry.state = 'CLI_SWITCHED_OFF';
    return;
  }
  const { row } = entry;
  const prefix = key.slice(0, -row.id.length);
  const ids = isWebUi(row) ? [row.id, row.lineageRootId, row.lineageTipId] : [row.id];
  for (const id of ids) {
    const by = id === null ? undefined : represented.get(prefix + id);
    if (by === undefined) continue;
    entry.state = 'REPRESENTED';
    entry.representedBy = by;
    return;
  }
  const filter = normaliseFilter(request.sourceFilter);
  entry.state = backgroundVisibility(row, {
    cron: request.showCron || filter === 'cron',
    webhook: request.showWebhook || filter === 'webhook',
    kanban: request.showKanban || filter === 'kanban',
  });
}

/** 7.4, 6.3: a listed row of state.db whose file is hidden has the file's title and flags. */
function withFile(row: ListRow, file: ListRow): ListRow {
  const takesTitle = !isBlank(file.title);
  return {
    ...row,
    title: takesTitle ? file.title : row.title,
    archived: file.archived,
    pinned: file.pinned,
    origins: union(row.origins, file.origins),
    provenance: takesTitle ? { ...row.provenance, title: 'SIDECAR' } : row.provenance,
  };
}
