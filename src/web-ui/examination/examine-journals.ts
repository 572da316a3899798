/**
 * Run journals and turn journals, each read to its end (`spec/live-turns.md` 3.5, 4; `spec/webui-recovery.md` 3.6, 4).
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isSessionId, runIdOfFile, runJournalRoot, turnJournalRoot } from '../../live/journal/ids.ts';
import { JournalUnreadable, systemCode } from '../../live/journal/open-journal.ts';
import { summarizeRun } from '../../live/journal/run-summary.ts';
import { deriveTurnStates, readTurnJournal, sessionsWithTurnJournals } from '../../live/journal/turn-journal.ts';
import { isSidecarId } from '../sidecar-file.ts';

export interface ExaminedRun {
  readonly sessionId: string;
  readonly runId: string;
  /** Lines, or parts of lines, that are no record of the run. */
  readonly malformedLines: number;
  /** No line says how it ended. */
  readonly open: boolean;
  /** When its journal last grew, epoch seconds. */
  readonly grewAt: number | null;
}

export interface ExaminedTurns {
  readonly sessionId: string;
  readonly malformedLines: number;
  /** Of turns that were begun and not ended. */
  readonly open: readonly { readonly turnId: string; readonly runId: string | null; readonly at: number }[];
}

/** Sessions with a folder of run journals, in the order of the alphabet; none where there is no such folder, or it can't be listed. */
export async function sessionsWithRuns(sessionsDir: string): Promise<string[]> {
  return (await namesIn(runJournalRoot(sessionsDir))).filter(isSessionId).sort();
}

/** Ids of the runs of a session. */
export async function runsIn(sessionsDir: string, sessionId: string): Promise<string[]> {
  return (await namesIn(join(runJournalRoot(sessionsDir), sessionId))).flatMap((name) => runIdOfFile(name) ?? []).sort();
}

export async function examineRuns(sessionsDir: string): Promise<ExaminedRun[]> {
  const root = runJournalRoot(sessionsDir);
  const found: ExaminedRun[] = [];
  for (const sessionId of await sessionsWithRuns(sessionsDir)) {
    for (const runId of await runsIn(sessionsDir, sessionId)) {
      const run = await unlessUnreadable(() => summarizeRun(root, sessionId, runId));
      if (run === null) continue;
      found.push({ sessionId, runId, malformedLines: run.malformedLines, open: !run.terminal, grewAt: run.lastCreatedAt });
    }
  }
  return found;
}

export async function examineTurns(sessionsDir: string): Promise<ExaminedTurns[]> {
  const root = turnJournalRoot(sessionsDir);
  const found: ExaminedTurns[] = [];
  for (const sessionId of (await sessionsWithTurnJournals(root)).filter(isSidecarId)) {
    const journal = await unlessUnreadable(() => readTurnJournal(root, sessionId));
    if (journal === null) continue;
    const open = [...deriveTurnStates(journal.events).states]
      .filter(([, { terminal }]) => !terminal)
      .map(([turnId, { streamId, createdAt }]) => ({ turnId, runId: streamId, at: createdAt }));
    found.push({ sessionId, malformedLines: journal.malformedCount, open });
  }
  return found;
}

async function unlessUnreadable<T>(read: () => Promise<T | null>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof JournalUnreadable) return null;
    throw error;
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return [];
  }
}
