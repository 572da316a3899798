/**
 * What is known of a run, and how it is told to people (`spec/live-turns.md` 9, and 12 `LiveEvidence`). The sentences name moments, not
 * ages: they stay the same until something happens.
 */
import type { TurnOutcome } from '../journal/terminal.ts';
import type { ProcessLife } from './process-life.ts';

/** All times in epoch seconds. */
export interface RunEvidence {
  readonly now: number;
  /** T: the outcome by the terminal line that counts. */
  readonly terminal: TurnOutcome | null;
  readonly runStartedAt: number | null;
  readonly hasJournal: boolean;
  /** When the run's journal last grew. */
  readonly journalGrewAt: number | null;
  /** O. GONE: there was one. NEVER_SEEN: a run beside the sessions; then O counts as true. */
  readonly sidecar:
    | 'GONE'
    | 'NEVER_SEEN'
    | {
        readonly activeStreamId: string | null;
        /** `activeStreamId` is this run. */
        readonly owns: boolean;
        /** When ownership was seen to end. Null counts from the last sign of the run itself. */
        readonly clearedAt: number | null;
        /** Of the cancellation marker, when that is the last message. */
        readonly cancelledAt: number | null;
      };
  /** P. */
  readonly process: ProcessLife;
  /** L. */
  readonly leaseLive: boolean;
  /** H: the session's last activity as the store has it. */
  readonly lastActivityAt: number | null;
  /** Of the turn journal's `completed` for this run. */
  readonly completedAt: number | null;
}

export type EvidenceCode =
  | 'TERMINAL_LINE'
  | 'SIDECAR_GONE'
  | 'SIDECAR_NEVER_SEEN'
  | 'SIDECAR_OWNS'
  | 'OTHER_RUN_OWNS'
  | 'OWNERSHIP_ENDED'
  | 'CANCELLATION_MARKER'
  | 'TURN_COMPLETED'
  | 'PROCESS_ALIVE'
  | 'PROCESS_DEAD'
  | 'LEASE'
  | 'JOURNAL_GREW'
  | 'NO_JOURNAL'
  | 'ACTIVITY';

/** One thing that speaks for a verdict. */
export interface LiveEvidence {
  readonly code: EvidenceCode;
  readonly sentence: string;
}

/** Pure: all that is known of the run, the strongest first. */
export function explain(evidence: RunEvidence): LiveEvidence[] {
  const { terminal, process, leaseLive, lastActivityAt, completedAt } = evidence;
  const told: LiveEvidence[] = [];
  const tell = (code: EvidenceCode, sentence: string) => told.push({ code, sentence });
  if (terminal !== null) tell('TERMINAL_LINE', `The run's journal says how it ended: ${terminal}.`);
  told.push(...ofSidecar(evidence.sidecar));
  if (completedAt !== null) tell('TURN_COMPLETED', `The turn journal says that the turn was completed at ${moment(completedAt)}.`);
  if (process === 'ALIVE') tell('PROCESS_ALIVE', 'The process that executes the run is running.');
  if (process === 'DEAD') tell('PROCESS_DEAD', 'The process that executed the run is gone.');
  if (leaseLive) tell('LEASE', 'A turn lease of the conversation is held.');
  told.push(ofJournal(evidence));
  if (lastActivityAt !== null) tell('ACTIVITY', `The store saw the session active at ${moment(lastActivityAt)}.`);
  return told;
}

function ofSidecar(sidecar: RunEvidence['sidecar']): LiveEvidence[] {
  if (sidecar === 'GONE') return [{ code: 'SIDECAR_GONE', sentence: "The session's file in the Web UI was deleted." }];
  if (sidecar === 'NEVER_SEEN') return [{ code: 'SIDECAR_NEVER_SEEN', sentence: 'The Web UI has no session file for the run.' }];
  if (sidecar.owns) return [{ code: 'SIDECAR_OWNS', sentence: 'The session file of the Web UI names the run as the one under way.' }];
  const told: LiveEvidence[] = [];
  if (sidecar.cancelledAt !== null) {
    told.push({ code: 'CANCELLATION_MARKER', sentence: `The turn was cancelled at ${moment(sidecar.cancelledAt)}.` });
  }
  if (sidecar.activeStreamId !== null) {
    told.push({ code: 'OTHER_RUN_OWNS', sentence: 'The session file of the Web UI names another run as the one under way.' });
  } else {
    told.push({ code: 'OWNERSHIP_ENDED', sentence: 'The session file of the Web UI names no run as under way.' });
  }
  return told;
}

function ofJournal({ hasJournal, journalGrewAt, runStartedAt }: RunEvidence): LiveEvidence {
  if (hasJournal) {
    const when = journalGrewAt === null ? 'holds no time' : `last grew at ${moment(journalGrewAt)}`;
    return { code: 'JOURNAL_GREW', sentence: `The run's journal ${when}.` };
  }
  const since = runStartedAt === null ? '' : `; it was submitted at ${moment(runStartedAt)}`;
  return { code: 'NO_JOURNAL', sentence: `The run has written no journal yet${since}.` };
}

/** Times of files may be anything, and not all of them are dates. */
function moment(time: number): string {
  const date = new Date(time * 1000);
  return Number.isNaN(date.getTime()) ? 'an unknown time' : date.toISOString();
}
