/**
 * What a run journal tells about a turn (`spec/live-turns.md` 12): the live events of journal origin. Events that rows, sidecars, leases
 * and clocks add are made elsewhere.
 */
import type { TurnOutcome } from './terminal.ts';

export type TurnPhase =
  | 'STARTING'
  | 'THINKING'
  | 'WRITING'
  | 'TOOL'
  | 'COMPRESSING'
  | 'AWAITING_APPROVAL'
  | 'AWAITING_CLARIFY'
  | 'CANCELLING'
  | 'FINALIZING';

/** CONTENT: must arrive once, in order, may be joined. STATE: the latest wins. */
export type EventClass = 'CONTENT' | 'STATE';

export interface Todo {
  readonly id: string;
  readonly content: string;
  readonly status: string;
}

export interface LiveUsage {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cacheReadTokens: number | null;
  readonly cacheWriteTokens: number | null;
  readonly cacheHitPercent: number | null;
  readonly contextLength: number | null;
  readonly thresholdTokens: number | null;
  readonly lastPromptTokens: number | null;
  readonly contextTokensAfterCompaction: number | null;
  /** US dollars, as the owner estimates. */
  readonly estimatedCost: number | null;
  readonly tokensPerSecond: number | null;
  readonly timeToFirstTokenMs: number | null;
  readonly durationSeconds: number | null;
  readonly model: string | null;
  /** The counters are those of the finished turn. */
  readonly final: boolean;
}

/** Why a turn failed, in the owner's words. */
export interface RunError {
  readonly type: string | null;
  readonly label: string | null;
  readonly message: string | null;
  readonly hint: string | null;
  readonly details: string | null;
}

/** The own fields of each event. */
export interface EventFields {
  TurnPhaseChanged: { readonly phase: TurnPhase; readonly detail: string | null };
  /** `offset`: UTF-16 units of the segment before the text. Late text belongs there, before what is behind that offset. */
  TextDelta: { readonly segment: number; readonly offset: number; readonly text: string };
  ReasoningDelta: { readonly segment: number; readonly offset: number; readonly text: string };
  SegmentSealed: {
    readonly segment: number;
    readonly by: 'INTERIM' | 'TOOL' | 'TERMINAL';
    /** An interim text that was not streamed as tokens; the TextDelta before has it too. */
    readonly text: string | null;
    /** What the end of the last reasoning segment loses: it was the interim text. */
    readonly dropReasoningTail: string | null;
  };
  ToolStarted: {
    readonly toolCallId: string;
    readonly name: string;
    readonly argsPreview: unknown;
    readonly argsComplete: boolean;
    /** The text segment that the call follows, null when there was no text before it. */
    readonly segment: number | null;
  };
  ToolFinished: {
    readonly toolCallId: string;
    readonly name: string;
    readonly resultPreview: string | null;
    /** Null while only the tool's row can tell. */
    readonly isError: boolean | null;
    readonly durationMs: number | null;
  };
  TodoChanged: { readonly todos: readonly Todo[]; readonly summary: unknown; readonly version: number | null };
  ApprovalRequested: {
    readonly approvalId: string;
    readonly command: string | null;
    readonly description: string | null;
    readonly patternKeys: readonly string[];
    readonly choices: readonly string[];
    readonly allowSession: boolean | null;
    readonly allowPermanent: boolean | null;
    readonly pendingCount: number | null;
    readonly tool: string | null;
    readonly riskLevel: string | null;
  };
  ClarifyRequested: {
    readonly clarifyId: string;
    readonly question: string | null;
    readonly choices: readonly string[];
    /** Epoch seconds. */
    readonly expiresAt: number | null;
  };
  InteractionClosed: { readonly interactionId: string; readonly how: 'PROGRESS' | 'EXPIRED' | 'TURN_ENDED' };
  CompressionStarted: { readonly message: string | null };
  UsageChanged: { readonly usage: LiveUsage };
  TitleChanged: {
    readonly title: string | null;
    readonly status: string | null;
    readonly reason: string | null;
    readonly automatic: boolean;
  };
  ContextStatus: { readonly prefill: unknown };
  GoalChanged: {
    readonly state: string | null;
    readonly message: string | null;
    readonly messageKey: string | null;
    readonly messageArgs: unknown;
    readonly decision: unknown;
  };
  GoalContinuation: {
    readonly continuationPrompt: string | null;
    readonly text: string | null;
    readonly message: string | null;
    readonly messageKey: string | null;
    readonly messageArgs: unknown;
    readonly decision: unknown;
  };
  /** `what`: memory or skill. */
  StateSaved: { readonly what: string | null; readonly action: string | null; readonly name: string | null };
  SteerLeftover: { readonly text: string };
  RunWarning: { readonly type: string | null; readonly message: string | null };
  TurnEnded: {
    readonly outcome: TurnOutcome;
    readonly certainty: 'CERTAIN';
    readonly error: RunError | null;
    readonly usage: LiveUsage | null;
    readonly recovery: unknown;
    /** The session that goes on after a rotation, null when it is the same. */
    readonly continuationSessionId: string | null;
    /** A side question: its session goes with it. */
    readonly ephemeral: boolean;
    /** The event that this one corrects: another line had told another outcome. */
    readonly corrects: string | null;
  };
  /** An event that this server doesn't know, or a line too long to be read; the payload is null when it is over 8 KiB. */
  UnknownRunEvent: { readonly name: string; readonly payload: unknown; readonly truncated: boolean };
}

export type EventKind = keyof EventFields;

export interface EventBase {
  /** The same fact has the same id whenever it is read again (13). Of joined deltas it is the last one's. */
  readonly id: string;
  readonly class: EventClass;
  /** The session in whose directory the journal is. */
  readonly sessionId: string;
  readonly runId: string;
  readonly seqFrom: number;
  readonly seqTo: number;
  /** Epoch seconds by the owner's clock, null when no line told any. */
  readonly at: number | null;
  readonly origin: 'RUN_JOURNAL' | 'DERIVED';
  readonly late: boolean;
}

export type EventOf<K extends EventKind> = EventBase & { readonly kind: K } & EventFields[K];

/** A live event of journal origin. */
export type JournalEvent = { [K in EventKind]: EventOf<K> }[EventKind];

export const EVENT_CLASS: Readonly<Record<EventKind, EventClass>> = {
  TurnPhaseChanged: 'STATE',
  TextDelta: 'CONTENT',
  ReasoningDelta: 'CONTENT',
  SegmentSealed: 'CONTENT',
  ToolStarted: 'CONTENT',
  ToolFinished: 'CONTENT',
  TodoChanged: 'STATE',
  ApprovalRequested: 'CONTENT',
  ClarifyRequested: 'CONTENT',
  InteractionClosed: 'STATE',
  CompressionStarted: 'STATE',
  UsageChanged: 'STATE',
  TitleChanged: 'STATE',
  ContextStatus: 'STATE',
  GoalChanged: 'STATE',
  GoalContinuation: 'CONTENT',
  StateSaved: 'STATE',
  SteerLeftover: 'CONTENT',
  RunWarning: 'STATE',
  TurnEnded: 'CONTENT',
  UnknownRunEvent: 'CONTENT',
};
