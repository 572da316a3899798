/**
 * Commands that delete the journals of a session and leave the session (`spec/webui-recovery.md` 3.12, 4), and that clean up after deletions
 * (`spec/webui-transcript.md` 19.6). That no turn is under way is for the caller to see.
 */
import { InvalidInput } from '../errors.ts';
import { isSessionId } from '../live/journal/ids.ts';
import { type CleanupManifest, cleanupManifests } from '../web-ui/deletion/cleanup-manifests.ts';
import {
  type FileSum,
  removeRunJournal,
  removeTurnJournal,
  removing,
  runJournalDir,
  sumOf,
  turnJournalFiles,
} from '../web-ui/deletion/journal-files.ts';
import { type CleanupOutcome, drainManifests, withCleanupLock } from './cleanup.ts';
import { fileCommand, sessionsDirOf } from './file-command.ts';

export interface DeletedJournal extends FileSum {
  readonly sessionId: string;
  /** False: there was none. */
  readonly removed: boolean;
}

export interface JournalInput {
  readonly sessionId: string;
}

export interface DrainedManifests extends CleanupOutcome {
  /** As they were before. */
  readonly manifests: readonly CleanupManifest[];
}

export const JOURNAL_COMMANDS = {
  deleteRunJournal: fileCommand<JournalInput, DeletedJournal>('deleteRunJournal', {
    work: async (host, { sessionId: asked }, dryRun, planned) => {
      const sessionId = checkedId(asked);
      const path = runJournalDir(sessionsDirOf(host), sessionId);
      const sum = path === null ? null : await sumOf(path);
      const result = { sessionId, files: sum?.files ?? 0, bytes: sum?.bytes ?? 0, removed: sum !== null };
      if (dryRun || sum === null) return result;
      planned(result);
      await removing(() => removeRunJournal(sessionsDirOf(host), sessionId));
      return result;
    },
    wasMade: async (host, { sessionId }) => {
      const path = runJournalDir(sessionsDirOf(host), sessionId);
      return path === null || (await sumOf(path)) === null;
    },
  }),

  deleteTurnJournal: fileCommand<JournalInput, DeletedJournal>('deleteTurnJournal', {
    work: async (host, { sessionId: asked }, dryRun, planned) => {
      const sessionId = checkedId(asked);
      const paths = await removing(() => turnJournalFiles(sessionsDirOf(host), sessionId));
      const sums = await Promise.all(paths.map(sumOf));
      const bytes = sums.reduce((total, sum) => total + (sum?.bytes ?? 0), 0);
      const result = { sessionId, files: paths.length, bytes, removed: paths.length > 0 };
      if (dryRun || paths.length === 0) return result;
      planned(result);
      await removing(() => removeTurnJournal(sessionsDirOf(host), sessionId));
      return result;
    },
    wasMade: async (host, { sessionId }) => (await turnJournalFiles(sessionsDirOf(host), sessionId)).length === 0,
  }),

  drainCleanupManifests: fileCommand<object, DrainedManifests>('drainCleanupManifests', {
    work: async (host, _, dryRun) => {
      const manifests = await cleanupManifests(host.home);
      if (dryRun || manifests.length === 0) return { manifests, pendingIds: [], blockedManifests: blocked(manifests), drained: [] };
      return withCleanupLock(host, async () => ({ manifests, ...(await drainManifests(host, 'RECOVERY')) }));
    },
  }),
} as const;

function blocked(manifests: readonly CleanupManifest[]): string[] {
  return manifests.filter(({ status }) => status !== 'OK').map(({ name }) => name);
}

/** Throws `InvalidInput` for an id that can't name a journal: one of dots alone, or of other characters. */
function checkedId(asked: string): string {
  const id = asked.trim();
  if (!isSessionId(id)) throw new InvalidInput('That is no session id.', {}, 'BAD_SESSION_ID');
  return id;
}
