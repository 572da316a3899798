/** What every maintenance job asks first: is there a store, may it be touched, does somebody else have it (`spec/state-db-writes.md` X6, X7, Q6). */
import { WriteRefused } from '../../write-refused.ts';
import { fileIdentity } from '../health.ts';
import { acquireFileLock, type FileLock, type LockOptions } from './file-lock.ts';
import { refuseHolders } from './foreign-holders.ts';

export interface AdmissionOptions {
  /** Our own processes that have the store open. */
  readonly ours?: ReadonlySet<number>;
  /** The server has seen that the store was replaced, lost its -wal or is damaged, and its own handle is still open (Q3, Q4). */
  readonly quarantined?: boolean;
  readonly lockWaitMs?: number;
  /** Default `flock`. */
  readonly flockProgram?: string;
}

/** Throws WriteRefused STORE_QUARANTINED, NOT_FOUND, STORE_INVALID (a file without a byte) or FOREIGN_HOLDERS (details: `count`). */
export function admit(storePath: string, options: AdmissionOptions): void {
  if (options.quarantined) throw new WriteRefused('STORE_QUARANTINED');
  const file = fileIdentity(storePath);
  if (file === null) throw new WriteRefused('NOT_FOUND', 'There is no state.db.');
  if (file.size === 0n) throw new WriteRefused('STORE_INVALID');
  refuseHolders(storePath, options);
}

/** The lock, or null when somebody else has it. Throws WriteRefused FOREIGN_HOLDERS where no lock is to be had: then nobody is kept out. */
export async function lockFor(
  path: string,
  { lockWaitMs, flockProgram }: AdmissionOptions,
  defaults: Omit<LockOptions, 'program'>,
): Promise<FileLock | null> {
  const lock = await acquireFileLock(path, {
    ...defaults,
    waitMs: lockWaitMs ?? defaults.waitMs,
    ...(flockProgram === undefined ? {} : { program: flockProgram }),
  });
  if (lock === 'HELD') return null;
  if (lock !== 'UNAVAILABLE') return lock;
  throw new WriteRefused('FOREIGN_HOLDERS', 'The lock that keeps others out is not to be had here: flock is missing, or its file.', {
    details: { count: null },
  });
}
