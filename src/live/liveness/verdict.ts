/**
 * Whether a run is alive, over, or dead: the table of `spec/live-turns.md` 9, row by row. Pure; any end that was only inferred can be
 * contradicted by a later look.
 */
import type { TurnOutcome } from '../journal/terminal.ts';
import { explain, type LiveEvidence, type RunEvidence } from './evidence.ts';

export type { LiveEvidence, RunEvidence };

export type Certainty = 'CERTAIN' | 'HIGH' | 'MEDIUM' | 'LOW';

export interface RunVerdict {
  /** DEAD: it doesn't run any more, however it ended. */
  readonly state: 'ALIVE' | 'SUSPECT' | 'DEAD' | 'UNKNOWN';
  readonly certainty: Certainty;
  /** Null: what the journal says. */
  readonly phase: 'STARTING' | 'CANCELLING' | 'FINALIZING' | null;
  /** How the run is over; null while it is not, or may not be. */
  readonly ending: { readonly outcome: TurnOutcome; readonly certainty: Certainty } | null;
  readonly evidence: readonly LiveEvidence[];
  /** The newest sign of life, epoch seconds. */
  readonly lastSignalAt: number | null;
  /** When time alone changes the verdict, epoch seconds. The end of a lease is not known here. */
  readonly dueAt: number | null;
}

/** A heartbeat a minute and some slack; the life of a lease; the owner's ceiling for a cancel; more than the 15 s of a checkpoint. */
const QUIET_SECONDS = 90;
const LOST_SECONDS = 300;
const CANCEL_SECONDS = 180;
const FINALIZING_SECONDS = 60;
const SUPERSEDED_SECONDS = 20;
/** A time that lies further ahead is of a clock that is wrong, and no sign of life. */
const CLOCK_SLACK_SECONDS = 60;

type Ruling = Pick<RunVerdict, 'state' | 'certainty' | 'phase' | 'ending' | 'dueAt'>;

/** The verdict on one run. */
export function runVerdict(evidence: RunEvidence): RunVerdict {
  const ruling = rule(evidence);
  return { ...ruling, evidence: explain(evidence), lastSignalAt: lastSignal(evidence) };
}

function rule(evidence: RunEvidence): Ruling {
  const { terminal, sidecar } = evidence;
  // Row 1.
  if (terminal !== null) return over(terminal, 'CERTAIN');
  // Row 11.
  if (sidecar === 'GONE') return over('SESSION_DELETED', 'CERTAIN');
  return sidecar === 'NEVER_SEEN' || sidecar.owns ? whileOwner(evidence) : afterOwnership(evidence, sidecar);
}

/** Rows 2 to 6. */
function whileOwner(evidence: RunEvidence): Ruling {
  const { now, leaseLive } = evidence;
  const phase = evidence.hasJournal ? null : 'STARTING';
  // Row 2.
  if (evidence.process === 'ALIVE') return { state: 'ALIVE', certainty: 'CERTAIN', phase, ending: null, dueAt: null };
  // Row 5.
  if (evidence.process === 'DEAD') return over('INTERRUPTED', 'CERTAIN');
  // Row 3.
  if (leaseLive) return { state: 'ALIVE', certainty: 'HIGH', phase, ending: null, dueAt: null };
  const sign = newestSign(evidence);
  if (sign === null) return { state: 'UNKNOWN', certainty: 'LOW', phase, ending: null, dueAt: null };
  // Row 4.
  if (now < sign + QUIET_SECONDS) return { state: 'ALIVE', certainty: 'MEDIUM', phase, ending: null, dueAt: sign + QUIET_SECONDS };
  // Row 6, counted from the newest of the signs: when the heartbeat is the last of them, suspicion comes before the end as well.
  if (now < sign + LOST_SECONDS) return { state: 'SUSPECT', certainty: 'LOW', phase, ending: null, dueAt: sign + LOST_SECONDS };
  return over('INTERRUPTED', 'LOW');
}

/** Rows 7 to 10. A process that is gone finishes nothing more: then nobody waits. */
function afterOwnership(evidence: RunEvidence, sidecar: Exclude<RunEvidence['sidecar'], string>): Ruling {
  const { now, completedAt, runStartedAt } = evidence;
  const { activeStreamId, clearedAt, cancelledAt } = sidecar;
  // Row 7. The owner writes whole seconds.
  if (cancelledAt !== null && cancelledAt >= Math.floor(runStartedAt ?? 0)) {
    const since = earliest(now, [clearedAt, cancelledAt + 1]);
    return until(evidence, since + CANCEL_SECONDS, { phase: 'CANCELLING', state: 'ALIVE', certainty: 'HIGH', outcome: 'CANCELLED' });
  }
  const lastSeen = earliest(now, [clearedAt ?? newestSign({ ...evidence, lastActivityAt: null })]);
  // Row 9. A run that told its own completion was not cut short by the next one, and neither was one whose process is gone.
  if (activeStreamId !== null) {
    const unfinished = evidence.process === 'DEAD' ? 'INTERRUPTED' : 'SUPERSEDED';
    const outcome = completedAt === null ? unfinished : 'COMPLETED';
    return until(evidence, lastSeen + SUPERSEDED_SECONDS, { phase: null, state: 'SUSPECT', certainty: 'HIGH', outcome });
  }
  const finalizing = { phase: 'FINALIZING', state: 'ALIVE' } as const;
  // Row 8.
  if (completedAt !== null) {
    const since = earliest(now, [clearedAt, completedAt]);
    return until(evidence, since + FINALIZING_SECONDS, { ...finalizing, certainty: 'HIGH', outcome: 'COMPLETED' });
  }
  // Row 10. When the process is gone, it was a crash that has been repaired since.
  const outcome = evidence.process === 'DEAD' ? 'INTERRUPTED' : 'UNKNOWN';
  return until(evidence, lastSeen + FINALIZING_SECONDS, { ...finalizing, certainty: 'MEDIUM', outcome });
}

interface Waiting extends Pick<RunVerdict, 'phase' | 'state' | 'certainty'> {
  readonly outcome: TurnOutcome;
}

function until({ now, process }: RunEvidence, deadline: number, { phase, state, certainty, outcome }: Waiting): Ruling {
  if (process === 'DEAD' || now >= deadline) return over(outcome, certainty);
  return { state, certainty, phase, ending: null, dueAt: deadline };
}

function over(outcome: TurnOutcome, certainty: Certainty): Ruling {
  return { state: 'DEAD', certainty, phase: null, ending: { outcome, certainty }, dueAt: null };
}

/** When the run, or its session, last moved; null when nothing is known. A run that is only starting counts from its start. */
function newestSign({ now, journalGrewAt, lastActivityAt, runStartedAt }: RunEvidence): number | null {
  return newest(now, [journalGrewAt, lastActivityAt, runStartedAt]);
}

function lastSignal(evidence: RunEvidence): number | null {
  const { now, completedAt, sidecar } = evidence;
  return newest(now, [newestSign(evidence), completedAt, typeof sidecar === 'string' ? null : sidecar.cancelledAt]);
}

function newest(now: number, times: readonly (number | null)[]): number | null {
  const known = credible(now, times);
  return known.length === 0 ? null : Math.max(...known);
}

/** When a wait began; long ago when no time says so, so that nothing waits for ever. */
function earliest(now: number, times: readonly (number | null)[]): number {
  const known = credible(now, times);
  return known.length === 0 ? Number.NEGATIVE_INFINITY : Math.min(...known);
}

function credible(now: number, times: readonly (number | null)[]): number[] {
  return times.filter((time) => time !== null).filter((time) => time <= now + CLOCK_SLACK_SECONDS);
}
