/**
 * Putting the backup of a session in the place of its file (`spec/webui-sidecars.md` 7.1, 7.2, `spec/webui-recovery.md` 20.1, 20.2).
 */
import { followRestore, inspectBackup, type RestoredBackup, type RestoreOptions, restoreBackup } from '../web-ui/backup.ts';
import type { BackupAdvice } from '../web-ui/backup-advice.ts';
import { ownProfile } from '../web-ui/own-sidecars.ts';
import { readTombstones } from '../web-ui/tombstones.ts';
import { WriteRefused } from '../write-refused.ts';
import { asked } from './audited-store.ts';
import type { CommandHost } from './command.ts';
import { fileCommand, repeatedly, sessionsDirOf } from './file-command.ts';

export interface RestoreFromBackupInput {
  readonly sessionId: string;
  /** Also a backup that is not the better copy. */
  readonly force: boolean;
  readonly ifSignature: string | null;
  /** The names of all profiles: files of others are not there. */
  readonly profiles: readonly string[];
}

export interface RestoredSession extends Pick<BackupAdvice, 'recommendation' | 'liveMessages' | 'backupMessages'> {
  readonly sessionId: string;
  readonly restored: boolean;
  /** Why it was not; null when it was, or would be. */
  readonly reason: RestoredBackup['objection'];
  /** Messages of the session afterwards; -1: no session. */
  readonly messagesAfter: number;
  readonly liveIsNewer: boolean;
  readonly keptAs: string | null;
  readonly mayBeOverwritten: boolean;
}

const HAS_ROW = 'SELECT 1 FROM sessions WHERE id = ?';

/** Throws NOT_FOUND for a session without a file and a backup, and for one of another profile. */
export const restoreFromBackup = fileCommand<RestoreFromBackupInput, RestoredSession>('restoreFromBackup', {
  work: async (host, { sessionId, force, ifSignature, profiles }, dryRun, planned) => {
    const isOwn = ownProfile(host.profile, profiles);
    return repeatedly(ifSignature !== null, async () => {
      const restored = await restoreBackup(sessionsDirOf(host), sessionId, {
        ifSignature,
        dryRun,
        now: host.now,
        forceRestore: force,
        ofOrphan: await objectionToOrphan(host, sessionId),
        ofProfile: (profile) => {
          if (!isOwn(profile)) throw new WriteRefused('NOT_FOUND');
        },
        planned: (result) => planned(told(sessionId, result)),
      });
      return told(sessionId, restored);
    });
  },
  /** The rest is done here: a process that ended between the file and its row in the index leaves that one behind. */
  wasMade: async (host, { sessionId, messagesAfter }) => {
    const found = await inspectBackup(sessionsDirOf(host), sessionId);
    if (found === null || found.liveMessages !== messagesAfter) return false;
    await followRestore(sessionsDirOf(host), sessionId, messagesAfter);
    return true;
  },
});

/** What speaks against a backup without a file; a store that can't be read counts as one that has the session. */
export async function objectionToOrphan(host: CommandHost, sessionId: string): Promise<NonNullable<RestoreOptions['ofOrphan']> | null> {
  if ((await readTombstones(sessionsDirOf(host), 'DELETED')).ids.has(sessionId)) return 'DELETED';
  return (await asked(host, (store) => store.all(HAS_ROW, [sessionId]).length > 0, true)) ? null : 'NO_STATE_ROW';
}

function told(sessionId: string, { restored, objection, before, messages, keptAs, mayBeOverwritten }: RestoredBackup): RestoredSession {
  const { recommendation, liveMessages, backupMessages, liveIsNewer } = before;
  return {
    sessionId,
    restored,
    reason: objection,
    recommendation,
    liveMessages,
    backupMessages,
    messagesAfter: messages,
    liveIsNewer,
    keptAs,
    mayBeOverwritten,
  };
}
