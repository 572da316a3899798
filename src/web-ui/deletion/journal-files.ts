/**
 * The journals of a session as files to be removed: the directory of its runs and the shards of its turns (`spec/webui-recovery.md` 3.12, 4).
 */
import { lstat, readdir, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isSessionId, journalDirectory, runJournalRoot, turnJournalRoot } from '../../live/journal/ids.ts';
import { JournalUnreadable, systemCode } from '../../live/journal/open-journal.ts';
import { turnShards } from '../../live/journal/turn-journal.ts';
import { WriteRefused } from '../../write-refused.ts';

export interface FileSum {
  readonly files: number;
  readonly bytes: number;
}

const NOTHING: FileSum = { files: 0, bytes: 0 };
const ABSENT = new Set(['ENOENT', 'ENOTDIR']);

/** The files below a directory, symbolic links counted and not followed; null where there is none. What can't be looked into counts as nothing. */
export async function sumOf(path: string): Promise<FileSum | null> {
  try {
    const seen = await lstat(path);
    if (!seen.isDirectory()) return { files: 1, bytes: seen.size };
    let sum = NOTHING;
    for (const name of await readdir(path)) {
      const { files, bytes } = (await sumOf(join(path, name))) ?? NOTHING;
      sum = { files: sum.files + files, bytes: sum.bytes + bytes };
    }
    return sum;
  } catch (error) {
    const code = systemCode(error);
    if (code === null) throw error;
    return ABSENT.has(code) ? null : NOTHING;
  }
}

/** Gives what the system says against removing a file as a refusal. Throws `WriteRefused` (FILE_NOT_WRITTEN). */
export async function removing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = error instanceof WriteRefused ? null : systemCode(error instanceof JournalUnreadable ? error.cause : error);
    if (code === null) throw error;
    throw new WriteRefused('FILE_NOT_WRITTEN', `(${code})`, { cause: error });
  }
}

/** `<sessionsDir>/_run_journal/<session>`; null for an id that can't name a directory there. */
export function runJournalDir(sessionsDir: string, sessionId: string): string | null {
  return journalDirectory(runJournalRoot(sessionsDir), sessionId);
}

/** Removes the runs of a session; false where there are none. Throws an error of the system. */
export async function removeRunJournal(sessionsDir: string, sessionId: string): Promise<boolean> {
  const path = runJournalDir(sessionsDir, sessionId);
  if (path === null || (await sumOf(path)) === null) return false;
  await removeTree(path);
  return true;
}

/** The shards of every process, and the file of older versions. Throws `JournalUnreadable`. */
export async function turnJournalFiles(sessionsDir: string, sessionId: string): Promise<string[]> {
  if (!isSessionId(sessionId)) return [];
  return (await turnShards(turnJournalRoot(sessionsDir), sessionId)).map(({ path }) => path);
}

/** Removes them; how many there were. Throws an error of the system. */
export async function removeTurnJournal(sessionsDir: string, sessionId: string): Promise<number> {
  let removed = 0;
  for (const path of await turnJournalFiles(sessionsDir, sessionId)) if (await removeFile(path)) removed += 1;
  return removed;
}

/** Whether it was there. Throws an error of the system. */
export async function removeFile(path: string): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    const code = systemCode(error);
    if (code !== null && ABSENT.has(code)) return false;
    throw error;
  }
}

/** A directory with everything in it; of a link only the link. Throws an error of the system. */
export async function removeTree(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}
