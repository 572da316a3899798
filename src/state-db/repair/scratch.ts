/**
 * The copy that a repair works on, and the way back (`spec/state-db-writes.md` H3 6, 11 to 13). Both ways go through SQLite's online backup:
 * no file is ever put in the place of the store, and a copy that is cut short is rolled back.
 */
import { closeSync, openSync, rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import { WriteRefused } from '../../write-refused.ts';
import { fileIdentity } from '../health.ts';
import { type HolderOptions, refuseHolders } from './foreign-holders.ts';
import { BUNDLE_SUFFIXES, bundleBytes } from './free-space.ts';
import type { ExclusiveGuard } from './own-connection.ts';

const PAGES_PER_STEP = 256;
const LEAST_DEADLINE_MS = 120_000;
const BYTES_PER_MS = (10 * 1024 * 1024) / 1000;

/** The time that a copy may take is over; not the store's fault. */
export class CopyTimedOut extends Error {
  override readonly name = 'CopyTimedOut';
}

export function scratchPath(storePath: string): string {
  return `${storePath}.repair-scratch`;
}

/** Removes what an earlier repair left. Throws when it can't be removed. */
export function sweepScratch(storePath: string): void {
  for (const suffix of BUNDLE_SUFFIXES) rmSync(scratchPath(storePath) + suffix, { force: true });
}

/** Copies the store as the guard sees it. Throws SqliteError, or CopyTimedOut. */
export async function takeSnapshot(storePath: string, guard: ExclusiveGuard): Promise<void> {
  const scratch = scratchPath(storePath);
  closeSync(openSync(scratch, 'wx', 0o600));
  const deadline = deadlineFor(storePath);
  const { totalPages } = await guard.db.backup(scratch, {
    progress: () => {
      if (Date.now() > deadline) throw new CopyTimedOut('The copy took too long.');
      return PAGES_PER_STEP;
    },
  });
  if (totalPages === 0) throw new CopyTimedOut('The store could not be read in time.');
}

/**
 * Writes the mended copy over the store in one transaction. The guard has to give its lock to the connection that writes; whoever came in
 * between is noticed before the first page is written. Throws WriteRefused FOREIGN_HOLDERS, SqliteError, or CopyTimedOut.
 */
export async function promote(
  storePath: string,
  guard: ExclusiveGuard,
  options: HolderOptions & { readonly onStep?: () => void },
): Promise<void> {
  const before = stateOf(storePath);
  const deadline = deadlineFor(storePath);
  const source = new Database(scratchPath(storePath), { fileMustExist: true, timeout: 0 });
  let isLocked = false;
  try {
    guard.yieldLocks();
    await source.backup(storePath, {
      progress: () => {
        if (!isLocked) {
          if (stateOf(storePath) !== before) throw new WriteRefused('FOREIGN_HOLDERS', 'It was opened during the repair.');
          refuseHolders(storePath, options);
          isLocked = true;
        }
        if (Date.now() > deadline) throw new CopyTimedOut('Writing the repaired store took too long.');
        options.onStep?.();
        return PAGES_PER_STEP;
      },
    });
  } finally {
    source.close();
  }
  // A destination that is locked ends the copy before it began, without an error.
  if (!isLocked) throw new WriteRefused('FOREIGN_HOLDERS', 'It was opened during the repair.');
}

function deadlineFor(storePath: string): number {
  return Date.now() + Math.max(LEAST_DEADLINE_MS, bundleBytes(storePath) / BYTES_PER_MS);
}

/** Moves with everything that is written to the store. */
function stateOf(storePath: string): string {
  return ['', '-wal', '-journal']
    .map((suffix) => {
      const file = fileIdentity(storePath + suffix);
      return file === null ? '-' : `${file.inode} ${file.size} ${file.modifiedNs}`;
    })
    .join();
}
