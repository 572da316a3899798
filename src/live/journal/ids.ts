/**
 * Session and run ids as names of files (`spec/live-turns.md` 3.1, 18): what is no id never becomes a path.
 */
import { join } from 'node:path';

const ALPHABET = /^[A-Za-z0-9_.-]+$/;
const EXTENSION = '.jsonl';
/** The longest name that file systems take. */
const LONGEST_NAME = 255;

/** Folders in the Web UI's folder of sessions, each for all sessions. */
export const RUN_JOURNALS = '_run_journal';
export const TURN_JOURNALS = '_turn_journal';

export function runJournalRoot(sessionsDir: string): string {
  return join(sessionsDir, RUN_JOURNALS);
}

export function turnJournalRoot(sessionsDir: string): string {
  return join(sessionsDir, TURN_JOURNALS);
}

/** Whether the id may name a directory of journals. */
export function isSessionId(id: string): boolean {
  return isName(id) && id.length <= LONGEST_NAME;
}

/** Whether the id may name a run: names that begin with `_` or `.` are the owner's other files. */
export function isRunId(id: string): boolean {
  return isName(id) && !/^[_.]/.test(id) && id.length + EXTENSION.length <= LONGEST_NAME;
}

function isName(id: string): boolean {
  return ALPHABET.test(id) && id !== '.' && id !== '..';
}

/** The run that a file of a session's journal directory belongs to; null for any other file. */
export function runIdOfFile(name: string): string | null {
  if (!name.endsWith(EXTENSION)) return null;
  const id = name.slice(0, -EXTENSION.length);
  return isRunId(id) ? id : null;
}

/** `<root>/<session>` or null when the id can't name a directory. */
export function journalDirectory(root: string, sessionId: string): string | null {
  return isSessionId(sessionId) ? join(root, sessionId) : null;
}

/**
 * `<root>/<session>/<run>.jsonl` or null when an id is none. The path lies in the root as it is written; `openJournal` sees to it that
 * no symbolic link leads out.
 */
export function runJournalPath(root: string, sessionId: string, runId: string): string | null {
  return isSessionId(sessionId) && isRunId(runId) ? join(root, sessionId, runId + EXTENSION) : null;
}
