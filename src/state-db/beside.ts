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

/** Of a session that lives in other places too, or only there. */
export interface Beside {
  readonly origins: readonly SessionOrigin[];
  /** Null: the owner's own list shows it. */
  readonly unlisted: UnlistedReason | null;
  /** It is shown although a rule would hide it, because nothing else of its conversation is (`spec/webui-listing.md` 6.4). */
  readonly isRescued: boolean;
  readonly projectId: string | null;
  readonly readOnly: boolean;
  /** What to show in place of the title; null when the title stands. */
  readonly displayTitle: string | null;
  readonly messageCount: number | null;
  /** Where the values came from, by the names of `spec/webui-listing.md` 4. */
  readonly provenance: Readonly<Record<'title' | 'messageCount' | 'source' | 'lastMessageAt', string>>;
}
