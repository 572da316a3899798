/**
 * What a session file of the Web UI says of its session, without its messages (`spec/webui-sidecars.md` 3, 10). Times are epoch seconds,
 * null when the file has none, 0, or one that is no time; numbers that are not finite are null; missing times are never made up.
 */

type Fields = Readonly<Record<string, unknown>>;

/**
 * OK: the file was parsed whole. UNKNOWN: only its beginning was read, which is sound. DAMAGED_ENCODING: bytes that are not UTF-8; shown
 * without them, never written. TOO_LARGE: over the limit for whole reads; the metadata is from the beginning. CORRUPT: no JSON object.
 * UNREADABLE: the system refuses.
 */
export type SidecarHealth = 'OK' | 'UNKNOWN' | 'CORRUPT' | 'DAMAGED_ENCODING' | 'TOO_LARGE' | 'UNREADABLE';

/** Whether a file gives no session at all: nothing can be said of its messages. */
export function isNoSession({ health }: Pick<SidecarRow, 'health'>): boolean {
  return health === 'CORRUPT' || health === 'UNREADABLE';
}

/** Another for every save, since the owner replaces the file. */
export interface SidecarSignature {
  readonly mtimeNs: bigint;
  /** Bytes. */
  readonly size: number;
  readonly ctimeNs: bigint;
  readonly ino: bigint;
}

export interface SidecarWarning {
  readonly code:
    | 'ID_MISSING'
    | 'ID_MISMATCH'
    | 'BYTE_ORDER_MARK'
    | 'MESSAGES_NOT_ARRAY'
    | 'WORKSPACE_INVALID'
    | 'WRONG_TYPE'
    | 'TIME_OUT_OF_RANGE'
    | 'NOT_FINITE'
    | 'UNDECODABLE_TEXT';
  /** The key of the file. */
  readonly field: string | null;
}

export interface SidecarRow {
  /** The stem of the file's name, whatever the file says (2). */
  readonly id: string;
  /** The id that the file itself tells, which may be another. */
  readonly innerId: string | null;
  readonly health: SidecarHealth;
  readonly warnings: readonly SidecarWarning[];
  readonly signature: SidecarSignature;
  /** MODERN: the counts stand before the messages (3.7). Null for a file that is no object. */
  readonly layout: 'MODERN' | 'LEGACY' | null;
  /** The values come from the whole file, not from its beginning. */
  readonly isWhole: boolean;

  /** `Untitled` when the file has none; null when it says so, or the file is damaged. */
  readonly title: string | null;
  readonly manualTitle: boolean;
  readonly llmTitleGenerated: boolean;
  readonly workspace: string | null;
  readonly createdWorkspace: string | null;
  readonly model: string | null;
  readonly modelProvider: string | null;
  readonly profile: string | null;
  readonly personality: string | null;
  /** Null: those of the profile. */
  readonly enabledToolsets: readonly string[] | null;
  readonly createdAt: number | null;
  readonly updatedAt: number | null;
  /** By section 10: of the last message that counts; without the messages that of the pending turn, else `updatedAt`. */
  readonly lastMessageAt: number | null;
  /** At least 1 while a prompt is pending (10). Null when it takes the whole file to know. */
  readonly messageCount: number | null;
  /** The messages in the file, as of its last save; the pending prompt is not one. Null as above. */
  readonly storedMessageCount: number | null;
  /** Null unless `isWhole`. */
  readonly userMessageCount: number | null;
  readonly pinned: boolean;
  readonly archived: boolean;
  readonly projectId: string | null;
  readonly worktree: SidecarWorktree | null;
  /** The token itself is a secret and never leaves the file. */
  readonly hasShare: boolean;
  readonly shareCreatedAt: number | null;
  readonly composerDraft: { readonly text: string; readonly files: readonly unknown[] };

  readonly parentSessionId: string | null;
  /** The normalised class, or `fork`. */
  readonly sessionSource: string | null;
  readonly sourceTag: string | null;
  readonly rawSource: string | null;
  readonly sourceLabel: string | null;
  readonly isCliSession: boolean;
  readonly readOnly: boolean;
  /** An archived segment of a compressed conversation. */
  readonly isCompressionSnapshot: boolean;

  readonly usage: SidecarUsage;
  readonly context: SidecarContext;
  readonly gatewayRouting: Fields | null;
  /** The last 50 at most, oldest first. */
  readonly gatewayRoutingHistory: readonly Fields[];
  readonly compression: SidecarCompression;
  readonly compressionRecovery: SidecarCompressionRecovery;
  readonly truncation: SidecarTruncation;

  /** The run that owns the session. It survives a crash: no proof that the run lives. */
  readonly activeStreamId: string | null;
  /** The prompt of the turn under way, null without one. */
  readonly pending: SidecarPending | null;
  /** The pause of automatic turns that is in force, null without one (12). */
  readonly wakeupPause: SidecarWakeupPause | null;
  /** `process_wakeup_pause` holds something, be it in force or left over. */
  readonly hasWakeupPauseRecord: boolean;
  /** Scene keys and when each scene was stored (3.6). */
  readonly sceneIndex: Readonly<Record<string, number>>;
  /** Keys that the Web UI doesn't know, as far as the file was read. */
  readonly unknownKeys: readonly string[];
}

export interface SidecarWorktree {
  readonly path: string;
  readonly branch: string | null;
  readonly repoRoot: string | null;
  readonly createdAt: number | null;
}

export interface SidecarUsage {
  /** Cache reads and writes included. */
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cacheReadTokens: number | null;
  readonly cacheWriteTokens: number | null;
  /** 0 to 100, null when it can't be told. */
  readonly cacheHitPercent: number | null;
  /** US dollars. */
  readonly estimatedCost: number | null;
}

export interface SidecarContext {
  readonly length: number | null;
  readonly thresholdTokens: number | null;
  readonly lastPromptTokens: number | null;
  readonly postCompressionEstimate: number | null;
}

export interface SidecarCompression {
  readonly anchorVisibleIndex: number | null;
  readonly anchorMessageKey: Fields | null;
  readonly summary: string | null;
  readonly mode: string | null;
  readonly engine: string | null;
  readonly details: Fields;
  readonly contextEngine: string | null;
}

export interface SidecarCompressionRecovery {
  /** Empty unless the compression was exhausted. */
  readonly payload: Fields;
  readonly recommendedAction: string | null;
  /** On the child: which exhausted session and which action it answers. */
  readonly sourceSessionId: string | null;
  readonly action: string | null;
}

export interface SidecarTruncation {
  /** Time of the last message that was kept; 0 means truncated to nothing, null no truncation. */
  readonly watermark: number | null;
  readonly boundary: number | null;
  readonly clearGeneration: string | null;
  /** Null also for one that is not valid (3.4). */
  readonly shrinkGeneration: string | null;
}

export interface SidecarPending {
  readonly text: string;
  readonly attachments: readonly unknown[];
  readonly startedAt: number | null;
  /** `webui` when the file names none. */
  readonly source: string;
  /** The run and the exact time that the agent was given for this prompt; null when it isn't proven (11.3). */
  readonly identity: { readonly streamId: string; readonly timestamp: number } | null;
}

export interface SidecarWakeupPause {
  readonly classification: string | null;
  readonly model: string | null;
  readonly provider: string | null;
  readonly firstPausedAt: number | null;
  readonly lastErrorAt: number | null;
  readonly visibleErrorCount: number;
  readonly suppressedCount: number;
  readonly lastSuppressedAt: number | null;
  readonly lastSuppressedReason: string | null;
  /** Of the credentials when it was paused; null when none was stored. */
  readonly credentialFingerprint: string | null;
}
