import type { SessionEntry } from './session-record.ts';

/** LISTED: an entry by itself. DELEGATE: a sub-agent's or another untagged child. ORPHAN: its parent is missing or part of a loop. */
export type ListClass = 'LISTED' | 'DELEGATE' | 'ORPHAN';

/** One entry of a list: a conversation by its first segment, the tip that stands for it, and what is computed over its segments. */
export interface ListItem {
  readonly root: SessionEntry;
  readonly tip: SessionEntry;
  readonly members: readonly SessionEntry[];
  readonly listClass: ListClass;
  /** True for a row that continues another one: an entry only when conversations are not collapsed. */
  readonly isSegment: boolean;
  /** The newest recency over all segments (`spec/state-db.md` 7.3, by activity). */
  readonly recency: number | null;
}

/** LINEAGE: one entry a conversation. NONE: every stored row. */
export type LineageCollapse = 'LINEAGE' | 'NONE';
