/**
 * What other places than state.db say of its sessions, and the sessions that only they have: laid over the catalogue, so that lists, lineage and
 * feeds know one entry a session, wherever it lives.
 */
import type { SessionEntry } from './session-record.ts';

/** The sessions as state.db alone has them. */
export interface StoredEntries {
  /** Another object when one of them changed. */
  readonly version: object;
  /** Another object when one came, went, or changed in more than what was said in it. */
  readonly shape: object;
  entries(): Iterable<SessionEntry>;
}

/**
 * Counts the rows of role `user` of sessions in one statement that looks at each of their rows. Null where the store can't tell now.
 * Synchronous: for few rows.
 */
export type UserMessageCounter = (ids: readonly string[]) => ReadonlyMap<string, number> | null;

export interface EntryOverlay {
  /** The entry as everybody sees it; undefined for a session that is nowhere. Called for each entry that changes: cheap. */
  compose(id: string, stored: SessionEntry | undefined): SessionEntry | undefined;
  /** Takes in what lies beside the store now, and what follows from all stored entries together; cheap when nothing changed. */
  settle(stored: StoredEntries, countUserMessages: UserMessageCounter): Promise<void>;
  /** Calls with the ids whose composition may be another, during `settle` or later, until the returned function is called. */
  onComposition(listener: (ids: readonly string[]) => void): () => void;
  /** Calls when a `settle` would find something, until the returned function is called. Watches what lies beside while somebody listens. */
  onChange(listener: () => void): () => void;
  /** Ids of the sessions that it knows of. */
  ids(): Iterable<string>;
}
