/**
 * One entry of the unified list (`spec/webui-listing.md` 14), wherever it lives: a Web UI file, a row of state.db, a Claude Code
 * transcript, or several of them. Plain values: the stages of the list are functions from rows to rows.
 */

/** Where a row lives. A row can live in several places at once. */
export type ListOrigin = 'SIDECAR' | 'INDEX' | 'STATE_DB' | 'CLAUDE_CODE';

/** Where a value came from; DERIVED when a rule made it. */
export type ValueOrigin = ListOrigin | 'DERIVED';

export interface RowProvenance {
  readonly messageCount: ValueOrigin;
  readonly title: ValueOrigin;
  readonly displayTitle: ValueOrigin;
  readonly source: ValueOrigin;
  readonly lastMessageAt: ValueOrigin;
}

/** The four names of a source that a row carries, and the platform that a chat ran on. */
export interface SourceFields {
  readonly sourceTag: string | null;
  readonly rawSource: string | null;
  readonly sessionSource: string | null;
  readonly sourceLabel: string | null;
}

/** Who a chat was with: private, to be shown to the owner only. */
export interface ChatIdentity {
  readonly userId: string | null;
  readonly chatId: string | null;
  readonly chatType: string | null;
  readonly threadId: string | null;
  readonly sessionKey: string | null;
  readonly platform: string | null;
}

export interface RowLineage {
  readonly parentSessionId: string | null;
  readonly parentTitle: string | null;
  readonly parentSource: string | null;
  /** The parent is there and the row does not continue it. */
  readonly isChildSession: boolean;
  readonly crossSurface: boolean;
  readonly lineageRootId: string | null;
  readonly lineageTipId: string | null;
  readonly segmentCount: number | null;
  readonly parentLineageRootId: string | null;
  readonly parentLineageTipId: string | null;
}

/** Times are epoch seconds, counts are rows. */
export interface ListRow extends SourceFields, ChatIdentity, RowLineage {
  readonly id: string;
  /** Null for what belongs to no profile, which counts as the root profile. */
  readonly profile: string | null;
  readonly title: string;
  /** What to show in place of the title when stage B knows better; null when the title stands. */
  readonly displayTitle: string | null;
  readonly workspace: string | null;
  readonly model: string | null;
  readonly modelProvider: string | null;
  readonly isCliSession: boolean;
  readonly readOnly: boolean;
  /** Archived by a compression: the conversation goes on in another row. */
  readonly isSnapshot: boolean;
  readonly messageCount: number;
  /** Rows counted in state.db; null when nothing was counted. */
  readonly actualMessageCount: number | null;
  readonly userMessageCount: number | null;
  readonly createdAt: number | null;
  readonly updatedAt: number | null;
  readonly lastMessageAt: number | null;
  readonly pinned: boolean;
  readonly archived: boolean;
  readonly projectId: string | null;
  readonly activeStreamId: string | null;
  readonly hasPending: boolean;
  readonly pendingStartedAt: number | null;
  readonly worktreePath: string | null;
  readonly endReason: string | null;
  readonly endedAt: number | null;
  /** A background row that its project shows and the list does not (6.5). */
  readonly defaultHidden: boolean;
  readonly origins: ReadonlySet<ListOrigin>;
  readonly provenance: RowProvenance;
}

/** Why a row is in the list, or is not. */
export type VisibilityState =
  | 'VISIBLE'
  /** A hidden row that is all there is of its conversation (6.4). */
  | 'RESCUED'
  /** A background row that only its project shows (6.5). */
  | 'PROJECT_ONLY'
  | 'BACKGROUND_HIDDEN'
  | 'SNAPSHOT_HIDDEN'
  | 'EMPTY_DRAFT'
  | 'ZERO_MESSAGES'
  | 'TOMBSTONED'
  | 'ARCHIVED'
  | 'OTHER_PROFILE'
  /** A terminal session that holds too little (11.3). */
  | 'CLI_HIDDEN'
  /** Terminal sessions, chats and transcripts are switched off in the settings. */
  | 'CLI_SWITCHED_OFF'
  /** Behind the newest rows that the list takes from state.db (7.3), or behind its cap of terminal sessions (9.2). */
  | 'OUTSIDE_WINDOW'
  | 'SOURCE_FILTERED'
  | 'PREVIOUS_MESSAGING_SEGMENT'
  /** The imported session is gone from state.db (10.2). */
  | 'ORPHAN_IMPORT'
  /** An earlier part of a conversation that another row stands for (7.2, 9.3). */
  | 'REPRESENTED';

export interface Visibility {
  readonly state: VisibilityState;
  /** Whether the list shows the row. */
  readonly shown: boolean;
  readonly warning: string | null;
  /** The row that stands for this one. */
  readonly representedBy: string | null;
}

export interface ListedRow extends ListRow {
  readonly visibility: Visibility;
}

const SHOWN: ReadonlySet<VisibilityState> = new Set(['VISIBLE', 'RESCUED', 'PROJECT_ONLY']);
const WARNINGS: Partial<Record<VisibilityState, string>> = { RESCUED: 'rescued_messageful_hidden_session' };
const KNOWN = new Map<VisibilityState, Visibility>();

/** The visibility of a state; one object a state, unless another row stands for this one. */
export function visibilityOf(state: VisibilityState, representedBy: string | null = null): Visibility {
  const known = representedBy === null ? KNOWN.get(state) : undefined;
  if (known !== undefined) return known;
  const made = { state, shown: SHOWN.has(state), warning: WARNINGS[state] ?? null, representedBy };
  if (representedBy === null) KNOWN.set(state, made);
  return made;
}

export const NO_CHAT: ChatIdentity = { userId: null, chatId: null, chatType: null, threadId: null, sessionKey: null, platform: null };
export const NO_LINEAGE: RowLineage = {
  parentSessionId: null,
  parentTitle: null,
  parentSource: null,
  isChildSession: false,
  crossSurface: false,
  lineageRootId: null,
  lineageTipId: null,
  segmentCount: null,
  parentLineageRootId: null,
  parentLineageTipId: null,
};
export const NO_SOURCE: SourceFields = { sourceTag: null, rawSource: null, sessionSource: null, sourceLabel: null };

const SIDECAR_ONLY: ReadonlySet<ListOrigin> = new Set(['SIDECAR']);
const FROM_SIDECAR: RowProvenance = provenanceOf('SIDECAR');

export function provenanceOf(origin: ValueOrigin): RowProvenance {
  return { messageCount: origin, title: origin, displayTitle: origin, source: origin, lastMessageAt: origin };
}

/** A row as a Web UI file gives it: what the file does not say is absent, null or false. Nothing is checked. */
export function sidecarRow(facts: Partial<ListRow> & Pick<ListRow, 'id'>): ListRow {
  return {
    ...NO_SOURCE,
    ...NO_CHAT,
    ...NO_LINEAGE,
    profile: null,
    title: 'Untitled',
    displayTitle: null,
    workspace: null,
    model: null,
    modelProvider: null,
    isCliSession: false,
    readOnly: false,
    isSnapshot: false,
    messageCount: 0,
    actualMessageCount: null,
    userMessageCount: null,
    createdAt: null,
    updatedAt: null,
    lastMessageAt: null,
    pinned: false,
    archived: false,
    projectId: null,
    activeStreamId: null,
    hasPending: false,
    pendingStartedAt: null,
    worktreePath: null,
    endReason: null,
    endedAt: null,
    defaultHidden: false,
    origins: SIDECAR_ONLY,
    provenance: FROM_SIDECAR,
    ...facts,
  };
}

/** Null, absent and whitespace only. */
export function isBlank(text: string | null | undefined): boolean {
  return text === null || text === undefined || text.trim() === '';
}
