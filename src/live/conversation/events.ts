/**
 * What a follower of a conversation is told (`spec/live-turns.md` 12): the events of journals and of rows as one kind of value, with
 * what only the merger knows, and those that it makes itself.
 */
import type { EventClass, EventFields as JournalFields, LiveUsage, RunError, TurnPhase } from '../journal/events.ts';
import type { TurnOutcome } from '../journal/terminal.ts';
import type { LiveEvidence } from '../liveness/verdict.ts';
import type { AppendedRow, CarriedRow, Certainty, RowEventFields, SettledUsage } from '../rows/events.ts';
import type { ConversationSnapshot } from './snapshot.ts';

export type { EventClass };

export type LiveOrigin = 'RUN_JOURNAL' | 'TURN_JOURNAL' | 'SIDECAR' | 'STATE_DB' | 'DERIVED';
export type TurnExecutor = 'WEBUI' | 'OTHER';
export type LivenessVerdict = 'ALIVE' | 'SUSPECT' | 'DEAD' | 'UNKNOWN';

/** A part of the overlay that a settled row covers (12, `supersedes`). */
export interface SegmentRef {
  readonly runId: string;
  readonly part: 'TEXT' | 'REASONING' | 'TOOL';
  /** Of text and reasoning. */
  readonly segment: number | null;
  readonly toolCallId: string | null;
}

export type ResetReason =
  | 'DB_REPLACED'
  | 'RUN_REWRITTEN'
  | 'RUN_GONE'
  | 'TRANSCRIPT_REWRITTEN_OFFLINE'
  | 'SCHEMA_CHANGED'
  | 'CURSOR_TOO_OLD';
export type ResetScope = 'ALL' | 'TRANSCRIPT' | 'RUN';
export type SnapshotReason = 'INITIAL' | 'RESUME' | 'CATCH_UP' | 'RESET';

interface Delta {
  readonly segment: number;
  readonly offset: number;
  readonly text: string;
  readonly seqFrom: number;
  readonly seqTo: number;
}

/** The own fields of each event. Where a source can't tell, the value is null. */
export interface LiveEventFields
  extends Omit<JournalFields, OwnKinds>,
    Omit<RowEventFields, OwnKinds | 'ToolStarted' | 'ToolFinished' | 'TitleChanged'> {
  /** `cursor`: of the frame that it came with; '' before it is in one. */
  LiveSnapshot: { readonly reason: SnapshotReason; readonly snapshot: ConversationSnapshot; readonly cursor: string };
  StreamReset: { readonly reason: ResetReason; readonly scope: ResetScope };
  TurnStarted: {
    readonly turnId: string;
    readonly userMessageId: string | null;
    readonly pendingText: string | null;
    readonly pendingAttachments: unknown;
    readonly source: string | null;
    readonly baseMessageId: string | null;
    readonly model: string | null;
    readonly executor: TurnExecutor;
    readonly platform: string | null;
  };
  TurnEnded: {
    readonly turnId: string;
    readonly outcome: TurnOutcome;
    readonly certainty: Certainty;
    /** What it was inferred from; null for the word of a terminal line. */
    readonly evidence: string | null;
    readonly error: RunError | null;
    readonly usage: LiveUsage | null;
    readonly recovery: unknown;
    readonly firstMessageId: string | null;
    readonly lastMessageId: string | null;
    readonly continuationSessionId: string | null;
    /** The event that this one corrects. */
    readonly corrects: string | null;
  };
  TextDelta: Delta;
  ReasoningDelta: Delta;
  ToolStarted: {
    readonly toolCallId: string;
    readonly name: string;
    readonly argsPreview: unknown;
    readonly argsComplete: boolean;
    readonly segment: number | null;
    readonly messageId: string | null;
  };
  ToolFinished: {
    readonly toolCallId: string;
    readonly name: string;
    readonly resultPreview: string | null;
    readonly isError: boolean | null;
    readonly durationMs: number | null;
    readonly messageId: string | null;
  };
  MessagesAppended: {
    readonly ids: readonly string[];
    readonly rows: readonly AppendedRow[];
    readonly carried: readonly CarriedRow[];
    readonly supersedes: readonly SegmentRef[];
    /** The subscriber wants the messages themselves. */
    readonly full: boolean;
  };
  TitleChanged: JournalFields['TitleChanged'];
  UsageChanged: { readonly live: LiveUsage | null; readonly settled: SettledUsage | null; readonly final: boolean };
  CompressionStarted: { readonly holderPid: number | null; readonly provenance: string | null; readonly message: string | null };
  LivenessChanged: {
    readonly state: LivenessVerdict;
    readonly certainty: Certainty;
    readonly evidence: readonly LiveEvidence[];
    readonly lastSignalAt: number | null;
  };
  TranscriptRepaired: { readonly recoveredFromRunId: string | null; readonly count: number; readonly pendingRetry: boolean };
}

type OwnKinds = 'TurnStarted' | 'TurnEnded' | 'TextDelta' | 'ReasoningDelta' | 'MessagesAppended' | 'UsageChanged' | 'CompressionStarted';

export type LiveEventKind = keyof LiveEventFields;

export interface LiveEventBase {
  /** The same fact has the same id, whenever it is told; an update of a fact has the id of the fact and is a STATE (13 M9). */
  readonly id: string;
  readonly class: EventClass;
  readonly profile: string;
  /** The session that physically owns the fact. */
  readonly sessionId: string;
  readonly conversationId: string;
  /** 0: the conversation itself; n: the n-th level of delegates. */
  readonly depth: number;
  readonly runId: string | null;
  /** Epoch seconds by the clock of the source. */
  readonly at: number;
  readonly origin: LiveOrigin;
  readonly late: boolean;
}

export type LiveEventOf<K extends LiveEventKind> = LiveEventBase & { readonly kind: K } & LiveEventFields[K];
export type LiveEvent = { [K in LiveEventKind]: LiveEventOf<K> }[LiveEventKind];

/** Events after which a frame doesn't wait (15.2). */
export const URGENT: ReadonlySet<LiveEventKind> = new Set<LiveEventKind>([
  'ApprovalRequested',
  'ClarifyRequested',
  'ToolStarted',
  'ToolFinished',
  'TurnStarted',
  'TurnEnded',
  'StreamReset',
  'SessionContinued',
  'SessionDeleted',
]);

/** Phases that other sources than a journal tell. */
export type { TurnPhase };

export function liveEvent<K extends LiveEventKind>(kind: K, base: LiveEventBase, fields: LiveEventFields[K]): LiveEventOf<K> {
  return Object.assign({ kind }, base, fields);
}
