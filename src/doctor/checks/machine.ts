/** The machine that the files lie on: room, locks, and who may read them (`field-cases` F57; `spec/state-db-writes.md` H3, X6). */
import { constants, lstatSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { basename, delimiter, join } from 'node:path';
import { systemCode } from '../../live/journal/open-journal.ts';
import { headroom, type Volume, volumeOf } from '../../state-db/repair/free-space.ts';
import type { Check } from '../check.ts';
import { type Finding, finding } from '../finding.ts';

const OTHERS_READ = 0o044;

export interface MachineLook {
  /** Of the disk that a path lies on. */
  readonly volume: (path: string) => Volume;
  /** Folders of programs. */
  readonly programs: () => string;
}

export const machine = machineCheck({ volume: volumeOf, programs: () => process.env.PATH ?? '' });

export function machineCheck({ volume, programs }: MachineLook): Check {
  return {
    name: 'machine',
    area: 'MACHINE',
    run: async ({ storePath, profile, webUi }) => {
      const files = await webUi();
      const found: Finding[] = [];
      if (isFull(() => volume(storePath))) found.push(finding('DISK_FULL', profile));
      if (!(await isOnPath('flock', programs()))) found.push(finding('FLOCK_MISSING', profile));
      const paths = [storePath, ...(files === null ? [] : [files.sessionsDir])];
      const open = paths.filter(isReadByOthers).map((path) => finding('READABLE_BY_OTHERS', profile, { subject: basename(path) }));
      return [...found, ...open];
    },
  };
}

function isFull(look: () => Volume): boolean {
  try {
    const volume = look();
    return volume.free < headroom(volume);
  } catch (error) {
    // No such folder: another finding says so.
    if (systemCode(error) === null) throw error;
    return false;
  }
}

async function isOnPath(program: string, folders: string): Promise<boolean> {
  for (const folder of folders.split(delimiter).filter((name) => name !== '')) {
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
