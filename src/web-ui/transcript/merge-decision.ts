/**
 * What became of each state message, and why (`spec/webui-transcript.md` 15.6, capability C29). Plain values: they cross a process.
 */

/** The rule that fired. The last four are decided before rows are compared (15.2 E, 16, 17). */
export type MergeDecision =
  | 'MARKED'
  | 'MIRROR'
  | 'REPLAY'
  | 'ROW_ID'
  | 'ABOVE_WATERMARK'
  | 'REPLACED'
  | 'SAME_INSTANT_EDIT'
  | 'DUPLICATE'
  | 'SAME_SECOND'
  | 'SAME_ID'
  | 'NEAR_DUPLICATE'
  | 'LATE_DROPPED'
  | 'INSERTED'
  | 'APPENDED'
  | 'INTERRUPTED_TURN'
  | 'SUPPRESSED'
  | 'IN_CONTEXT'
  | 'CONTEXT_CLOSED';

export interface RowDecision {
  /** Of the row in the list of state messages. */
  readonly index: number;
  readonly decision: MergeDecision;
  /** Whether the row stands in the transcript itself. */
  readonly shown: boolean;
  /** Where in the transcript the row stands, or the message that it was taken for; null when neither is there. */
  readonly position: number | null;
  /** It is older than messages before it: no place was found, so it went to the end (H26). */
  readonly outOfOrder: boolean;
  /** A tool call whose result was dropped (H24). */
  readonly danglingToolCall: boolean;
}

/** Where a message of the transcript comes from: an element of the local list, or a state message. */
export interface Origin {
  readonly from: 'LOCAL' | 'STATE';
  readonly index: number;
}

export interface TranscriptWarning {
  /** H4, H25: a message may be shown twice, because only the sidecar knows what was sent to the provider. */
  readonly code: 'PAYLOAD_ONLY_LOCAL' | 'DANGLING_TOOL_CALL' | 'OUT_OF_ORDER' | 'LATE_ROWS_DROPPED' | 'CONTEXT_FAIL_CLOSED';
  /** How many rows it is about. */
  readonly count: number;
}
