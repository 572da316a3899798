/**
 * What a session store tells of the rows of sessions as the Web UI reads them (`spec/webui-transcript.md`): counts, proofs, revisions. Rows of
 * a session that the store doesn't have are none, which is no error.
 */
import type { CaduceusError } from './errors.ts';
import type { ContinuationChain } from './web-ui/transcript/continuations.ts';
import type { TranscriptRevision } from './web-ui/transcript/revision.ts';
import type { PrefixSummary, SessionSummary } from './web-ui/transcript/session-summaries.ts';
import type { ShownStateMessage } from './web-ui/transcript/shown-state-message.ts';

export interface RoundsKey {
  readonly sessionId: string;
  /** Epoch seconds; null for all. */
  readonly since: number | null;
  readonly activeOnly: boolean;
}

export interface StateMessagesKey {
  readonly sessionId: string;
  readonly stitch: boolean;
  /** Epoch seconds, finite; null for all. */
  readonly since: number | null;
  readonly includeInactive: boolean;
  /** The newest of them, 1 or more; null for all. */
  readonly limit: number | null;
}

export interface ShownSnapshot {
  readonly messages: readonly ShownStateMessage[];
  readonly revision: TranscriptRevision | null;
  readonly degraded: boolean;
  readonly truncated: boolean;
}

export interface TailKey {
  readonly sessionId: string;
  /** Epoch seconds, finite. */
  readonly floor: number;
}

export interface ShownTail {
  readonly prefix: PrefixSummary;
  /** Opaque. */
  readonly prefixKeys: readonly string[];
  readonly tail: readonly ShownStateMessage[];
  /** Opaque. */
  readonly tailKeys: readonly string[];
}

export interface AnchorKey {
  readonly sessionId: string;
  /** As a file of the Web UI has it. */
  readonly anchor: unknown;
}

export interface FoundAnchor {
  /** The row of the message in digits; null where the store has no ids. */
  readonly rowId: string | null;
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
  continuationChains(ids: readonly string[]): Promise<ReadonlyMap<string, ContinuationChain>>;
  /** An error in the place of what is too large, here and below. */
  stateMessages(keys: readonly StateMessagesKey[]): Promise<readonly (ShownSnapshot | CaduceusError)[]>;
  /** Null: nothing can be proven, so that everything has to be read. */
  regenerationTails(keys: readonly TailKey[]): Promise<readonly (ShownTail | CaduceusError | null)[]>;
  /** The live message that an anchor names; null when it isn't found. */
  findAnchors(keys: readonly AnchorKey[]): Promise<readonly (FoundAnchor | CaduceusError | null)[]>;
}
