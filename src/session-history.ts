/**
 * What a session store tells of the rows of sessions as the Web UI reads them (`spec/webui-transcript.md`): counts, proofs, revisions. Rows of
 * a session that the store doesn't have are none, which is no error.
 */
import type { TranscriptRevision } from './web-ui/transcript/revision.ts';
import type { PrefixSummary, SessionSummary } from './web-ui/transcript/session-summaries.ts';

export interface RoundsKey {
  readonly sessionId: string;
  /** Epoch seconds; null for all. */
  readonly since: number | null;
  readonly activeOnly: boolean;
}

export interface PrefixKey {
  readonly sessionId: string;
  /** Epoch seconds, finite. */
  readonly before: number;
}

/** Methods answer all of their arguments at a constant number of statements, in their order or as a map; they may throw `StoreUnreadable`. */
export interface SessionHistory {
  conversationRounds(keys: readonly RoundsKey[]): Promise<readonly number[]>;
  messageSummaries(ids: readonly string[]): Promise<ReadonlyMap<string, SessionSummary>>;
  /** Null: it can't be told. */
  messagePrefixes(keys: readonly PrefixKey[]): Promise<readonly (PrefixSummary | null)[]>;
  /** Opaque keys of all rows before a time, in order; null: they can't be told. */
  messagePrefixKeys(keys: readonly PrefixKey[]): Promise<readonly (readonly string[] | null)[]>;
  /** The agent's own revisions; null: there is none that can be trusted. */
  historyRevisions(ids: readonly string[]): Promise<ReadonlyMap<string, TranscriptRevision | null>>;
}
