/**
 * Whether a turn is running in a session: what its store says, and what the Web UI's files say of the run that owns it
 * (`spec/live-turns.md` 5, 9). Pure. The files know what the store can't: that the process of a turn is gone though its lease and
 * heartbeat are still fresh, and that a silent turn goes on.
 */
import type { Liveness } from '../../state-db/liveness.ts';
import type { RunVerdict } from './verdict.ts';

/** The run that a session's file in the Web UI names as under way. */
export interface OwningRun {
  readonly runId: string;
  /** The process that executes it, when the turn journal tells. */
  readonly pid: number | null;
  readonly verdict: RunVerdict;
}

/** UNREADABLE: there are files, and they could not be read. Null: the Web UI has nothing to say about the session. */
export type WebUiTurn = OwningRun | 'UNREADABLE' | null;

export function sessionLiveness(stored: Liveness, turn: WebUiTurn): Liveness {
  if (turn === null) return stored;
  if (turn === 'UNREADABLE') return { ...stored, ...unsettled(stored), evidence: [...stored.evidence, UNREADABLE] };
  return turn.verdict.ending === null ? withOpenRun(stored, turn) : withOverRun(stored, turn);
}

const UNREADABLE = "The files of the Web UI for this session can't be read.";

/** Without the files it can't be told that nothing is running. */
function unsettled(stored: Liveness): Pick<Liveness, 'certainty'> {
  return { certainty: stored.state === 'IDLE' ? 'LOW' : stored.certainty };
}

function withOpenRun(stored: Liveness, { verdict }: OwningRun): Liveness {
  const isLive = stored.state === 'LIVE';
  const both = {
    ...stored,
    certainty: verdict.certainty,
    evidence: [...sentences(verdict), ...(isLive ? stored.evidence : [])],
    lastSignalAt: later(stored.lastSignalAt, verdict.lastSignalAt),
  };
  if (verdict.state === 'ALIVE') {
    const starting = verdict.phase === 'STARTING' && !isLive;
    return { ...both, state: starting ? 'STARTING' : 'LIVE', certainty: isLive ? surer(stored.certainty, both.certainty) : both.certainty };
  }
  // The store saw somebody at work, whoever it is.
  if (isLive) return { ...both, certainty: stored.certainty };
  return { ...both, state: verdict.state === 'SUSPECT' ? 'SUSPECT' : 'UNKNOWN' };
}

/** The file still names a run that is over: the session was left behind, unless somebody else is at work in it. */
function withOverRun(stored: Liveness, { runId, pid, verdict }: OwningRun): Liveness {
  if (stored.state === 'ENDED') return stored;
  if (stored.state === 'LIVE' && isOfAnother(stored, pid)) return stored;
  return {
    ...stored,
    state: 'STALE',
    certainty: verdict.certainty,
    evidence: [`Run ${runId} was left behind as running: ${OUTCOMES[verdict.ending?.outcome ?? 'UNKNOWN']}.`, ...sentences(verdict)],
    lastSignalAt: later(stored.lastSignalAt, verdict.lastSignalAt),
  };
}

const OUTCOMES = {
  COMPLETED: 'it was completed',
  TOOL_LIMIT: 'it reached the limit of tool calls',
  CANCELLED: 'it was cancelled',
  FAILED: 'it failed',
  INTERRUPTED: 'it was interrupted',
  SUPERSEDED: 'another took over',
  SESSION_DELETED: 'its session was deleted',
  UNKNOWN: 'it is not known how it ended',
} as const;

/** A lease outlives its process for minutes, and so do the last heartbeat and row of a run. */
function isOfAnother({ basis, holderPid }: Liveness, pid: number | null): boolean {
  if (basis === 'GATEWAY') return true;
  return (basis === 'LEASE' || basis === 'LOCK') && (pid === null || holderPid !== pid);
}

function sentences(verdict: RunVerdict): string[] {
  return verdict.evidence.map(({ sentence }) => sentence);
}

function later(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b);
}

const BY_CERTAINTY = ['LOW', 'MEDIUM', 'HIGH', 'CERTAIN'] as const;

function surer(a: Liveness['certainty'], b: Liveness['certainty']): Liveness['certainty'] {
  return BY_CERTAINTY.indexOf(a) >= BY_CERTAINTY.indexOf(b) ? a : b;
}
