/**
 * What a follower would hold now (`spec/live-turns.md` 12 `LiveSnapshot`): the turn under way as an overlay behind the settled rows, where
 * the transcript stands, and the sub-agents at work.
 */
import type { LiveUsage, TurnPhase } from '../journal/events.ts';
import type { Interaction, TodoList } from '../journal/live-turn.ts';
import type { RunVerdict } from '../liveness/verdict.ts';
import type { Delegation } from '../rows/delegation-state.ts';

export interface SnapshotSegment {
  readonly index: number;
  /** Its place among text, reasoning and tools: what has the lower number came first. */
  readonly seq: number;
  /** Before `text`, in UTF-16 units: more than 0 when only the end of a long segment is here. */
  readonly offset: number;
  readonly text: string;
  readonly sealed: boolean;
  /** The settled row that covers it: a reader doesn't show it any more. */
  readonly messageId: string | null;
}

export interface SnapshotTool {
  readonly toolCallId: string;
  readonly name: string;
  /** As of segments; null while only rows know the tool. */
  readonly seq: number | null;
  readonly argsPreview: unknown;
  readonly segment: number | null;
  readonly done: boolean;
  readonly resultPreview: string | null;
  readonly isError: boolean | null;
  readonly durationMs: number | null;
  readonly callMessageId: string | null;
  /** The row that covers the tool: a reader doesn't show it any more. */
  readonly messageId: string | null;
}

export interface SnapshotTurn {
  readonly turnId: string;
  /** The id of its TurnStarted. */
  readonly startedEventId: string;
  readonly runId: string | null;
  readonly phase: TurnPhase;
  readonly phaseDetail: string | null;
  /** Epoch seconds. */
  readonly startedAt: number;
  readonly userText: string | null;
  readonly userAttachments: unknown;
  readonly userMessageId: string | null;
  readonly baseMessageId: string | null;
  readonly segments: readonly SnapshotSegment[];
  readonly reasoning: readonly SnapshotSegment[];
  readonly tools: readonly SnapshotTool[];
  readonly todos: TodoList | null;
  readonly interactions: readonly Interaction[];
  readonly usage: LiveUsage | null;
  readonly liveness: RunVerdict['state'];
}

export interface TranscriptHead {
  readonly sessionId: string;
  readonly maxMessageId: string | null;
  readonly activeCount: number;
  readonly rewindCount: number;
  readonly digest: string;
}

export interface ConversationSnapshot {
  readonly profile: string;
  /** The live end of the conversation. */
  readonly sessionId: string;
  readonly conversationId: string;
  readonly turn: SnapshotTurn | null;
  readonly head: TranscriptHead | null;
  readonly delegations: readonly Delegation[];
  /** Text that was left out at the beginning of segments. */
  readonly hasEarlier: boolean;
}
