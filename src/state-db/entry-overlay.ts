/**
 * What other places than state.db say of its sessions, and the sessions that only they have: laid over the catalogue, so that lists, lineage and
 * feeds know one entry a session, wherever it lives.
 */
import type { SessionEntry } from './session-record.ts';

/** The sessions as state.db alone has them. */
export interface StoredEntries {
  get(id: string): SessionEntry | undefined;
  entries(): Iterable<SessionEntry>;
}

export interface EntryOverlay {
  /** The entry as everybody sees it; undefined for a session that is nowhere. Called for each entry that changes: cheap. */
  compose(id: string, stored: SessionEntry | undefined): SessionEntry | undefined;
  /** Ids of sessions that are not in state.db, as far as they are known. */
  idsBeside(): Iterable<string>;
  /** Told when the stored entries changed; what follows from all of them together is worked out later, and announced. */
  storedChanged(stored: StoredEntries): void;
  /** Ids whose composition may be another. */
  onChange(listener: (ids: readonly string[]) => void): () => void;
}
