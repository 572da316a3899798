/**
 * Commands on the Web UI's files: in the writing process, so that they have receipts and no file is read whole on the server's thread.
 */
import { join } from 'node:path';
import { inspectBackup, type SidecarBackup } from '../web-ui/backup.ts';
import type { Command } from './command.ts';

/** Changes nothing. Ids without a file and a backup are left out. */
const inspectBackups: Command<{ readonly ids: readonly string[] }, readonly (readonly [string, SidecarBackup])[]> = async (
  host,
  { ids },
) => {
  const found: [string, SidecarBackup][] = [];
  for (const id of ids) {
    const backup = await inspectBackup(join(host.webUiDir, 'sessions'), id);
    if (backup !== null) found.push([id, backup]);
  }
  return found;
};

export const WEB_UI_COMMANDS = { inspectBackups } as const;
