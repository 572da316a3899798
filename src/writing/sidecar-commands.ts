/**
 * Commands on the Web UI's file of one session.
 */

import { inspectBackup, type SidecarBackup } from '../web-ui/backup.ts';
import { fold } from '../web-ui/list/source-class.ts';
import { word } from '../web-ui/sidecar/coercions.ts';
import { readMetadata } from '../web-ui/sidecar/read-metadata.ts';
import { signatureText } from '../web-ui/sidecar/read-sidecar.ts';
import type { SavedSidecar, SaveOptions } from '../web-ui/sidecar/save-sidecar.ts';
import { clearWakeupPause, persistCollapsedPartials, type SessionChanges, updateSession } from '../web-ui/sidecar/update-session.ts';
import { type RefusalCode, WriteRefused } from '../write-refused.ts';
import { asked } from './audited-store.ts';
import type { Command, CommandHost } from './command.ts';
import { fileCommand, refusing, repeatedly, sessionsDirOf } from './file-command.ts';

export interface FileInput {
  readonly sessionId: string;
  /** The signature that the client saw; null: whatever is there. */
  readonly ifSignature: string | null;
}

export interface UpdateInput extends FileInput {
  readonly changes: SessionChanges;
  /** The title that was read; null: nothing is expected. */
  readonly expected: { readonly title: string | null } | null;
  /** Nothing is done where a person chose the title. */
  readonly yieldsToPerson: boolean;
}

export interface FileResult {
  readonly sessionId: string;
  readonly changed: boolean;
  /** Of the file now; of the old one after a dry run. */
  readonly signature: string;
  readonly mayBeOverwritten: boolean;
  /** Messages that went out of the file. */
  readonly droppedMessages: number;
}

type Save = (sessionsDir: string, input: FileInput, options: SaveOptions) => Promise<SavedSidecar>;

/** `refused`: it, or the file beside it, can't be read, or is over the limit. */
export type InspectedBackup = SidecarBackup | { readonly refused: RefusalCode; readonly message: string };

/** Changes nothing. Ids without a file and a backup are left out. */
export const inspectBackups: Command<{ readonly ids: readonly string[] }, readonly (readonly [string, InspectedBackup])[]> = async (
  host,
  { ids },
) => {
  const found: [string, InspectedBackup][] = [];
  for (const id of ids) {
    try {
      const backup = await refusing(() => inspectBackup(sessionsDirOf(host), id));
      if (backup !== null) found.push([id, backup]);
    } catch (error) {
      if (!(error instanceof WriteRefused)) throw error;
      found.push([id, { refused: error.code, message: error.message }]);
    }
  }
  return found;
};

const SOURCE = 'SELECT source FROM sessions WHERE id = ?';

/** A run of a sub-agent can only be looked at, also where only the store says what it is (`spec/webui-listing.md` 13.5). */
async function refuseDelegate(host: CommandHost, sessionId: string): Promise<void> {
  const source = await asked(host, (store) => word(store.all(SOURCE, [sessionId])[0]?.source), null);
  if (fold(source) === 'subagent') throw new WriteRefused('SESSION_READ_ONLY', 'It is a run of a sub-agent, which can only be looked at.');
}

/** The file alone; a row of the store stays as it is. */
export const updateSidecar = fileCommand<UpdateInput, FileResult>('updateSession', {
  work: async (host, input, dryRun) => {
    const { sessionId, changes, expected, yieldsToPerson, ifSignature } = input;
    await refuseDelegate(host, sessionId);
    return repeatedly(ifSignature !== null, async () => {
      const guard = expected === null && !yieldsToPerson ? null : await readMetadata(sessionsDirOf(host), sessionId);
      if (guard !== null && expected !== null && titleOf(guard.title) !== titleOf(expected.title)) throw new WriteRefused('CONFLICT');
      if (guard !== null && yieldsToPerson && guard.manualTitle) {
        return { sessionId, changed: false, signature: signatureText(guard.signature), mayBeOverwritten: false, droppedMessages: 0 };
      }
      const signature = ifSignature ?? (guard === null ? null : signatureText(guard.signature));
      const saved = await updateSession(sessionsDirOf(host), sessionId, changes, { ifSignature: signature, dryRun, now: host.now });
      return told(sessionId, saved);
    });
  },
});

export const clearPause = fileCommand<FileInput, FileResult>(
  'clearWakeupPause',
  saving((dir, { sessionId }, options) => clearWakeupPause(dir, sessionId, options)),
);

export const collapsePartials = fileCommand<FileInput, FileResult>(
  'persistCollapsedPartials',
  saving((dir, { sessionId }, options) => persistCollapsedPartials(dir, sessionId, options)),
);

function saving(save: Save): Parameters<typeof fileCommand<FileInput, FileResult>>[1] {
  return {
    work: (host, input, dryRun) =>
      repeatedly(input.ifSignature !== null, async () =>
        told(input.sessionId, await save(sessionsDirOf(host), input, { ifSignature: input.ifSignature, dryRun, now: host.now })),
      ),
  };
}

/** What a save comes to for the client. */
export function told(sessionId: string, { changed, row, mayBeOverwritten, dropped }: SavedSidecar): FileResult {
  return { sessionId, changed, signature: signatureText(row.signature), mayBeOverwritten, droppedMessages: dropped };
}

/** What the file writes for no title is none. */
function titleOf(title: string | null): string | null {
  return title === 'Untitled' || title === '' ? null : title;
}
