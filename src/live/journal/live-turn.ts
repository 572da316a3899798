/**
 * A turn as far as its journal tells (`spec/live-turns.md` 12, `LiveTurn`): a value, so that a snapshot of any moment is a reference.
 */
import type { LiveUsage, RunError, Todo, TurnPhase } from './events.ts';
import type { RunName } from './line.ts';
import type { TurnOutcome } from './terminal.ts';

export interface TextSegment {
  readonly index: number;
  /** The first record of the segment: what comes first among text, reasoning and tools has the lower number. */
  readonly seq: number;
  readonly text: string;
  readonly sealed: boolean;
}

export interface ReasoningSegment {
  readonly index: number;
  readonly seq: number;
  readonly text: string;
  /** Text or a tool came after it. */
  readonly closed: boolean;
}

export interface LiveTool {
  /** The owner's id, or `journal-<seq>` when there is none. */
  readonly toolCallId: string;
  readonly hasOwnId: boolean;
  readonly name: string;
  readonly seq: number;
  readonly argsPreview: unknown;
  readonly segment: number | null;
  readonly done: boolean;
  readonly resultPreview: string | null;
  readonly isError: boolean | null;
  readonly durationMs: number | null;
}

/** A question that waits for a person. */
export interface Interaction {
  readonly interactionId: string;
  readonly kind: 'APPROVAL' | 'CLARIFY';
  readonly seq: number;
  readonly question: string | null;
  readonly tool: string | null;
  /** Epoch seconds. */
  readonly expiresAt: number | null;
}

export interface TodoList {
  readonly todos: readonly Todo[];
  readonly summary: unknown;
  readonly version: number | null;
  readonly seq: number;
  /** By the owner's clock, null when it told none. */
  readonly ts: number | null;
}

export interface TurnEnd {
  /** The terminal line that counts, and its event. */
  readonly seq: number;
  readonly event: string;
  readonly terminal: true;
  readonly terminalState: string | null;
  readonly outcome: TurnOutcome;
  readonly error: RunError | null;
  /** The id of the TurnEnded that told the outcome. */
  readonly eventId: string;
}

/** Missing numbers, and where in the turn a late record of them belongs. */
export interface HolePlace {
  readonly from: number;
  readonly to: number;
  readonly segment: number;
  readonly offset: number;
  readonly boundary: number;
  readonly reasoning: number;
  readonly reasoningOffset: number;
}

export interface LiveTurn extends RunName {
  readonly generation: string;
  /** Every record up to this number was folded, but for the holes. */
  readonly lastSeq: number;
  readonly holes: readonly HolePlace[];
  readonly phase: TurnPhase;
  readonly phaseDetail: string | null;
  /** Epoch seconds of the first and of the newest record. */
  readonly startedAt: number | null;
  readonly lastAt: number | null;
  readonly segments: readonly TextSegment[];
  readonly reasoning: readonly ReasoningSegment[];
  readonly tools: readonly LiveTool[];
  /** Times that tools, interim texts and ends have sealed the text. */
  readonly boundaries: number;
  readonly todos: TodoList | null;
  /** Open ones only. */
  readonly interactions: readonly Interaction[];
  readonly usage: LiveUsage | null;
  readonly usageSeq: number;
  readonly title: string | null;
  readonly titleSeq: number;
  /** The session after a rotation, as the end of the turn names it. */
  readonly continuationSessionId: string | null;
  readonly end: TurnEnd | null;
}

/** The turn before its first record. `generation` is that of the file (`generationOf`). */
export function emptyTurn({ sessionId, runId }: RunName, generation: string): LiveTurn {
  return {
    sessionId,
    runId,
    generation,
    lastSeq: 0,
    holes: [],
    phase: 'STARTING',
    phaseDetail: null,
    startedAt: null,
    lastAt: null,
    segments: [],
    reasoning: [],
    tools: [],
    boundaries: 0,
    todos: null,
    interactions: [],
    usage: null,
    usageSeq: 0,
    title: null,
    titleSeq: 0,
    continuationSessionId: null,
    end: null,
  };
}
