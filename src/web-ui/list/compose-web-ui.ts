/** Stages A to C of the list: Web UI files, corrected by state.db (`spec/webui-listing.md` 3, 4, 6). */
import type { GatewaySession } from '../gateway-sessions.ts';
import type { ListRow, VisibilityState } from './list-row.ts';
import { byPinAndTime, isEmptyDraft } from './row-order.ts';
import { NO_BACKGROUND, sidebarVisibility } from './sidebar-visibility.ts';
import { isCli } from './source-class.ts';
import { correctFromStore } from './store-correction.ts';
import type { ProjectionContext } from './store-projection.ts';
import type { StoreRows } from './store-rows.ts';

export interface ProfileStore {
  readonly store: StoreRows;
  /** The same object as long as nothing in it changed. */
  readonly context: ProjectionContext;
  /** `sessions.json` of the profile by session id. */
  readonly gateway: ReadonlyMap<string, GatewaySession>;
}

export interface Tombstones {
  readonly deleted: ReadonlySet<string>;
  readonly zeroMessages: ReadonlySet<string>;
}

export interface ListLive {
  /** Streams that run. */
  readonly streams: ReadonlySet<string>;
  /** Sessions that wait for an approval or an answer. */
  readonly attention: ReadonlySet<string>;
}

/** A row on its way through the stages. */
export interface ListEntry {
  row: ListRow;
  state: VisibilityState;
  representedBy: string | null;
  /** As the file has it, before state.db corrected it. */
  readonly sidecar: ListRow | null;
  /** The external row of the same session is listed in its place. */
  replaced: boolean;
}

export type StoreOf = (profile: string | null) => ProfileStore | null;

/** The rows of the Web UI's files, pinned and newest first. */
export function webUiEntries({ sidecars }: { readonly sidecars: readonly ListRow[] }, storeOf: StoreOf): ListEntry[] {
  const entries = sidecars.map((sidecar): ListEntry => {
    const isDraft = isEmptyDraft(sidecar);
    const row = corrected(sidecar, storeOf(sidecar.profile)?.store ?? null);
    return { row, state: isDraft ? 'EMPTY_DRAFT' : 'VISIBLE', representedBy: null, sidecar, replaced: false };
  });
  // Before the corrections: what state.db adds to the time of a row moves it in the merged list only.
  entries.sort((a, b) => byPinAndTime(a.sidecar ?? a.row, b.sidecar ?? b.row));
  const listed = entries.filter((entry) => entry.state === 'VISIBLE');
  const states = sidebarVisibility(
    listed.map((entry) => entry.row),
    NO_BACKGROUND,
  );
  for (const [index, entry] of listed.entries()) entry.state = states[index] ?? entry.state;
  return entries;
}

const CORRECTED = new WeakMap<ListRow, { store: StoreRows | null; row: ListRow }>();

function corrected(sidecar: ListRow, store: StoreRows | null): ListRow {
  const known = CORRECTED.get(sidecar);
  if (known !== undefined && known.store === store) return known.row;
  const found = correctFromStore(sidecar, store);
  const isCliSession = isCli(found);
  const profile = found.profile?.trim() ? found.profile : 'default';
  const row = isCliSession === found.isCliSession && profile === found.profile ? found : { ...found, isCliSession, profile };
  CORRECTED.set(sidecar, { store, row });
  return row;
}
