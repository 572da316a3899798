/**
 * Whether a turn that a session file names still runs, from what lies on disk (`spec/webui-recovery.md` 5.2), and why it stopped (5.1). Pure. Only
 * the Web UI itself knows for certain, so what can't be told counts as running.
 */
import type { ProcessLife } from '../../live/liveness/process-life.ts';
import type { InterruptionCause } from './markers.ts';

export type LiveState = 'LIVE' | 'DEAD' | 'UNKNOWN';

/** All times in epoch seconds. */
export interface TurnFacts {
  readonly now: number;
  readonly streamId: string | null;
  readonly startedAt: number | null;
  /** The run's journal has a line that ends it; the time of its newest line. */
  readonly endedAt: number | null;
  /** The turn journal says that the turn was completed or interrupted. */
  readonly settledAt: number | null;
  /** The process that accepted the turn; null: none is recorded. */
  readonly pid: number | null;
  readonly process: ProcessLife;
  /** The newest change of the session's file, journals and rows. */
  readonly changedAt: number | null;
  readonly quietSeconds: number;
  /** What a running Web UI says, where it may be asked. */
  readonly webUi: WebUiAnswer | null;
}

export interface WebUiAnswer {
  /** It has the stream open. False proves nothing. */
  readonly isStreaming: boolean;
  /** Null: it does not tell. */
  readonly startedAt: number | null;
}

export type LivenessCode =
  | 'WEB_UI_STREAMS'
  | 'WEB_UI_STARTED_LATER'
  | 'PROCESS_GONE'
  | 'RUN_ENDED'
  | 'TURN_SETTLED'
  | 'CHANGED_RECENTLY'
  | 'PROCESS_RUNS'
  | 'NOTHING_CHANGED';

export interface LivenessEvidence {
  readonly code: LivenessCode;
  readonly sentence: string;
}

export interface TurnLife {
  readonly state: LiveState;
  /** What speaks for it, the strongest first. */
  readonly evidence: readonly LivenessEvidence[];
  readonly cause: InterruptionCause;
}

export const QUIET_SECONDS = 120;
/** After the end of a run the worker may still be about to save. */
const SETTLING_SECONDS = 30;

export function turnLife(facts: TurnFacts): TurnLife {
  const found = [...told(facts)];
  const [first] = found;
  return {
    state: first?.state ?? 'DEAD',
    evidence: found.map(({ code, sentence }) => ({ code, sentence })),
    cause: causeOfEnd(facts, found),
  };
}

/** In the order in which they decide. */
function* told(facts: TurnFacts): Generator<LivenessEvidence & { readonly state: LiveState }> {
  const { now, startedAt, endedAt, settledAt, pid, process, changedAt, quietSeconds, webUi } = facts;
  const isOver = (at: number | null): at is number => at !== null && now - at > SETTLING_SECONDS;
  if (webUi?.isStreaming === true) yield { state: 'LIVE', code: 'WEB_UI_STREAMS', sentence: 'The running Web UI has the stream open.' };
  if (webUi?.startedAt != null && startedAt !== null && webUi.startedAt > startedAt)
    yield {
      state: 'DEAD',
      code: 'WEB_UI_STARTED_LATER',
      sentence: `The Web UI was started at ${moment(webUi.startedAt)}, after the turn.`,
    };
  if (pid !== null && process === 'DEAD')
    yield { state: 'DEAD', code: 'PROCESS_GONE', sentence: `Process ${pid}, which accepted the turn, is gone.` };
  if (isOver(endedAt))
    yield { state: 'DEAD', code: 'RUN_ENDED', sentence: `The run's journal ends; its last line is of ${moment(endedAt)}.` };
  if (isOver(settledAt)) yield { state: 'DEAD', code: 'TURN_SETTLED', sentence: `The turn journal has its end at ${moment(settledAt)}.` };
  if (changedAt !== null && now - changedAt < quietSeconds)
    yield { state: 'LIVE', code: 'CHANGED_RECENTLY', sentence: `The session last changed at ${moment(changedAt)}.` };
  else if (pid !== null && process !== 'DEAD')
    yield { state: 'UNKNOWN', code: 'PROCESS_RUNS', sentence: `Process ${pid}, which accepted the turn, runs, and may be silent.` };
  else if (pid === null)
    yield { state: 'DEAD', code: 'NOTHING_CHANGED', sentence: `Nothing of the session changed for ${quietSeconds} seconds.` };
}

function causeOfEnd({ streamId }: TurnFacts, found: readonly LivenessEvidence[]): InterruptionCause {
  const isRestart = found.some(({ code }) => code === 'WEB_UI_STARTED_LATER' || code === 'PROCESS_GONE');
  if (isRestart) return 'PROCESS_RESTART';
  return streamId === null ? 'UNKNOWN' : 'LOST_WORKER_BOOKKEEPING';
}

/** Times of files may be anything, and not all of them are dates. */
function moment(time: number): string {
  const date = new Date(time * 1000);
  return Number.isNaN(date.getTime()) ? 'an unknown time' : date.toISOString();
}
