/**
 * Runs whose journals were written to lately: those that may be under way, without opening the others (`spec/live-turns.md` 8.1).
 */
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { journalDirectory, runIdOfFile } from './ids.ts';
import { systemCode } from './open-journal.ts';
import { listRun } from './run-summary.ts';

export interface CandidateRun {
  readonly runId: string;
  /** Epoch seconds. */
  readonly modifiedAt: number;
  /** Epoch seconds of the first record; null while there is none that tells a time. */
  readonly firstCreatedAt: number | null;
}

/** Oldest first. `since`: epoch seconds. Throws `JournalUnreadable`. */
export async function candidateRuns(root: string, sessionId: string, since: number): Promise<CandidateRun[]> {
  const directory = journalDirectory(root, sessionId);
  if (directory === null) return [];
  const found: CandidateRun[] = [];
  for (const runId of await runIdsIn(directory)) {
    const modifiedAt = await modified(join(directory, `${runId}.jsonl`));
    if (modifiedAt === null || modifiedAt < since) continue;
    const run = await listRun(root, { sessionId, runId });
    if (run !== null) found.push({ runId, modifiedAt, firstCreatedAt: run.firstCreatedAt });
  }
  return found.sort((a, b) => (a.firstCreatedAt ?? a.modifiedAt) - (b.firstCreatedAt ?? b.modifiedAt));
}

async function runIdsIn(directory: string): Promise<string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries.flatMap((entry) => (entry.isFile() ? (runIdOfFile(entry.name) ?? []) : []));
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return [];
  }
}

async function modified(path: string): Promise<number | null> {
  try {
    return (await lstat(path)).mtimeMs / 1000;
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return null;
  }
}
