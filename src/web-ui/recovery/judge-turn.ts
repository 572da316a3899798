/**
 * What there is to say of a turn that a session's file names (`spec/webui-recovery.md` 2, 5, 11): whether it runs, why it stopped, and whether it may be
 * settled. Only reads.
 */
import { lstat } from 'node:fs/promises';
import { runJournalPath, runJournalRoot } from '../../live/journal/ids.ts';
import { JournalUnreadable, systemCode } from '../../live/journal/open-journal.ts';
import { processLife } from '../../live/liveness/process-life.ts';
import type { TurnEvidence } from '../../live/liveness/turn-evidence.ts';
import type { SidecarRow } from '../sidecar/sidecar-row.ts';
import { type LivenessEvidence, type LiveState, QUIET_SECONDS, type TurnLife, turnLife, type WebUiAnswer } from './live-state.ts';
import type { InterruptionCause } from './markers.ts';
import { type ChildSession, graceEndsAt, type RepairBlock, repairBlock } from './repair-guards.ts';

/** How a run went, as far as it matters here. Times are epoch seconds. */
export interface RunEnd {
  readonly terminal: boolean;
  /** `running` and `unknown` without an end. */
  readonly terminalState: string;
  readonly lastCreatedAt: number | null;
}

export interface TurnSources {
  readonly sessionsDir: string;
  readonly run: (sessionId: string, runId: string) => Promise<RunEnd | null>;
  /** What the turn journals of these sessions tell of a run. */
  readonly turn: (sessionIds: readonly string[], runId: string) => Promise<TurnEvidence>;
  /** The sessions that a session comes from, the nearest first: after a compression a run goes on writing where it began. */
  readonly ancestors: (sessionId: string) => Promise<readonly string[]>;
  readonly children: (sessionId: string) => Promise<readonly ChildSession[]>;
  /** The time of the session's newest row in the store, epoch seconds. */
  readonly storedAt: (sessionId: string) => Promise<number | null>;
  /** Asks a running Web UI; null: there is none to be asked, or it does not answer. */
  readonly askWebUi?: (streamId: string) => Promise<WebUiAnswer | null>;
  readonly quietSeconds?: number;
  /** Epoch seconds. */
  readonly now: () => number;
}

export interface JudgedTurn {
  readonly live: LiveState;
  readonly evidence: readonly LivenessEvidence[];
  readonly cause: InterruptionCause;
  /** Null: it may be settled. */
  readonly block: RepairBlock | null;
  /** Epoch seconds. */
  readonly graceEndsAt: number | null;
  /** How its run ended; null without a journal. */
  readonly terminalState: string | null;
}

/** A time that lies further ahead is of a clock that is wrong, and no sign of life. */
const CLOCK_SLACK_SECONDS = 60;

export interface JudgeOptions {
  readonly force?: boolean;
  /** False: a run that no prompt waits for is judged too. Default true. */
  readonly needsPrompt?: boolean;
}

/** Throws `JournalUnreadable`. */
export async function judgeTurn(sources: TurnSources, row: SidecarRow, options: JudgeOptions = {}): Promise<JudgedTurn> {
  const { force = false, needsPrompt = true } = options;
  const now = sources.now();
  const startedAt = row.pending?.startedAt ?? null;
  const [{ life, run }, children] = await Promise.all([lifeOf(sources, row, now), sources.children(row.id)]);
  return {
    live: life.state,
    evidence: life.evidence,
    cause: life.cause,
    block: repairBlock({ row, live: life.state, children, now, force }, needsPrompt),
    graceEndsAt: graceEndsAt(startedAt, now),
    terminalState: run?.terminalState ?? null,
  };
}

async function lifeOf(sources: TurnSources, row: SidecarRow, now: number): Promise<{ life: TurnLife; run: RunEnd | null }> {
  const { id, activeStreamId: streamId } = row;
  const ids = [id, ...(streamId === null ? [] : await sources.ancestors(id))];
  const [run, turn, webUi, changedAt] = await Promise.all([
    streamId === null ? null : firstRun(sources, ids, streamId),
    streamId === null ? null : sources.turn(ids, streamId),
    streamId === null ? null : (sources.askWebUi?.(streamId) ?? null),
    newestChange(sources, row, ids),
  ]);
  const startedAt = row.pending?.startedAt ?? turn?.submittedAt ?? null;
  const pid = turn?.pid ?? null;
  const life = turnLife({
    now,
    streamId,
    startedAt,
    endedAt: run?.terminal === true ? run.lastCreatedAt : null,
    settledAt: turn?.completedAt ?? turn?.interrupted?.at ?? null,
    pid,
    process: pid === null ? 'UNKNOWN' : await processLife(pid, startedAt),
    changedAt,
    quietSeconds: sources.quietSeconds ?? QUIET_SECONDS,
    webUi,
  });
  return { life, run };
}

async function firstRun({ run }: TurnSources, ids: readonly string[], streamId: string): Promise<RunEnd | null> {
  for (const id of ids) {
    const found = await run(id, streamId);
    if (found !== null) return found;
  }
  return null;
}

async function newestChange(
  { sessionsDir, storedAt, now }: TurnSources,
  { id, activeStreamId, signature }: SidecarRow,
  ids: readonly string[],
): Promise<number | null> {
  const journals = activeStreamId === null ? [] : ids.map((each) => runJournalPath(runJournalRoot(sessionsDir), each, activeStreamId));
  const written = await Promise.all(journals.map((path) => (path === null ? null : modifiedAt(path))));
  const times = [Number(signature.mtimeNs / 1000n) / 1e6, ...written, await storedAt(id)];
  const known = times.filter((time) => time !== null).filter((time) => time <= now() + CLOCK_SLACK_SECONDS);
  return known.length === 0 ? null : Math.max(...known);
}

async function modifiedAt(path: string): Promise<number | null> {
  try {
    return (await lstat(path)).mtimeMs / 1000;
  } catch (error) {
    const code = systemCode(error);
    if (code === null) throw error;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw new JournalUnreadable(error);
  }
}
