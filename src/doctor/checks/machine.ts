/** The machine that the files lie on: room, locks, and who may read them (`field-cases` F57; `spec/state-db-writes.md` H3, X6). */
import { constants, lstatSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { basename, delimiter, join } from 'node:path';
import { systemCode } from '../../live/journal/open-journal.ts';
import { headroom, volumeOf } from '../../state-db/repair/free-space.ts';
import type { Check } from '../check.ts';
import { type Finding, finding } from '../finding.ts';

const OTHERS_READ = 0o044;

export const machine: Check = {
  name: 'machine',
  area: 'MACHINE',
  run: async ({ storePath, profile, webUi }) => {
    const files = await webUi();
    const found: Finding[] = [];
    if (isFull(storePath)) found.push(finding('DISK_FULL', profile));
    if (!(await isOnPath('flock'))) found.push(finding('FLOCK_MISSING', profile));
    const paths = [storePath, ...(files === null ? [] : [files.sessionsDir])];
    const open = paths.filter(isReadByOthers).map((path) => finding('READABLE_BY_OTHERS', profile, { subject: basename(path) }));
    return [...found, ...open];
  },
};

function isFull(storePath: string): boolean {
  try {
    const volume = volumeOf(storePath);
    return volume.free < headroom(volume);
  } catch (error) {
    // No such folder: another finding says so.
    if (systemCode(error) === null) throw error;
    return false;
  }
}

async function isOnPath(program: string): Promise<boolean> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    try {
      await access(join(folder, program), constants.X_OK);
      return true;
    } catch (error) {
      if (systemCode(error) === null) throw error;
    }
  }
  return false;
}

/** Windows has no such rights. */
function isReadByOthers(path: string): boolean {
  if (process.platform === 'win32') return false;
  const seen = lstatSync(path, { throwIfNoEntry: false });
  return seen !== undefined && (seen.mode & OTHERS_READ) !== 0;
}
