/**
 * What other places than state.db say of a session.
 */

export type SessionOrigin = 'STATE_DB' | 'WEB_UI' | 'CLAUDE_CODE';

/** Why a list leaves an entry out, beside what the store itself says. */
export type UnlistedReason =
  | 'SNAPSHOT'
  | 'TOMBSTONED'
  | 'TERMINAL'
  | 'PREVIOUS_SEGMENT'
  | 'ORPHAN_IMPORT'
  | 'BACKGROUND'
  | 'SOURCE_FILTERED'
  | 'EMPTY'
  | 'SEGMENT';

/** The Web UI's two lists of ids: sessions without a message that it took out of its index, and deleted ones. */
export type TombstoneKind = 'ORPHAN' | 'DELETED';

/** Why a session may not be taken into the Web UI. */
export type ClaimRefusal = 'READ_ONLY' | 'MESSAGING' | 'SOURCE' | 'NOT_FOUND';

export interface Claim {
  readonly ok: boolean;
  /** Null when it may. */
  readonly reason: ClaimRefusal | null;
}

/** Of a session that lives in other places too, or only there. */
export interface Beside {
  readonly origins: readonly SessionOrigin[];
  /** Null: the owner's own list shows it. */
  readonly unlisted: UnlistedReason | null;
  /** It is shown although a rule would hide it, because nothing else of its conversation is (`spec/webui-listing.md` 6.4). */
  readonly isRescued: boolean;
  /** By the Web UI's rules it goes on with its parent, also where that was closed and not compressed (`spec/webui-listing.md` 5.1). */
  readonly isContinuation: boolean;
  readonly projectId: string | null;
  /** By the Web UI's rules it ran on a terminal (11.2). */
  readonly isTerminal: boolean;
  readonly readOnly: boolean;
  /** What to show in place of the title; null when the title stands. */
  readonly displayTitle: string | null;
  readonly messageCount: number | null;
  /** Messages in the file as of its last save; null without a file, and when it takes the whole file to know. */
  readonly fileMessages: number | null;
  /** Messages were taken back in the Web UI; rows of them may still be live. */
  readonly isCutBack: boolean;
  /** The lists of the Web UI that name it. */
  readonly tombstones: readonly TombstoneKind[];
  readonly claim: Claim;
  /** Where the values came from, by the names of `spec/webui-listing.md` 4. */
  readonly provenance: Readonly<Record<'title' | 'messageCount' | 'source' | 'lastMessageAt', string>>;
}
