/**
 * What is wrong with a store, decided by result codes and facts, never by wording alone (`spec/state-db.md` 2.3, `field-cases` F53 to F60).
 */
import { realpathSync, statSync } from 'node:fs';
import { type StoreHealth, StoreUnreadable } from '../errors.ts';

/** Identity of the file behind a path; a zero inode counts as unknown (`spec/state-db.md` 2.3). */
export interface FileIdentity {
  readonly device: bigint;
  readonly inode: bigint;
  readonly size: bigint;
  readonly modifiedNs: bigint;
}

/** Null when there is nothing at the path. `stat` opens nothing, so it is safe beside SQLite's locks. */
export function fileIdentity(path: string): FileIdentity | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? null : { device: stat.dev, inode: stat.ino, size: stat.size, modifiedNs: stat.mtimeNs };
}

/** Where the -wal file of a store lies: beside the file itself, not beside a link to it. */
export function walPathOf(path: string): string {
  try {
    return `${realpathSync(path)}-wal`;
  } catch {
    // Nothing is there, or a link leads nowhere: opening says so.
    return `${path}-wal`;
  }
}

export function isSameFile(a: FileIdentity | null, b: FileIdentity | null): boolean {
  if (a === null || b === null) return a === b;
  if (a.inode === 0n || b.inode === 0n) return true;
  return a.device === b.device && a.inode === b.inode;
}

/** The result code of an error that SQLite raised, for example `SQLITE_CORRUPT_VTAB`; null for every other error. */
export function sqliteCode(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return null;
  return error.code.startsWith('SQLITE_') ? error.code : null;
}

export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== null && (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED'));
}

export function isTransientIo(error: unknown): boolean {
  return sqliteCode(error)?.startsWith('SQLITE_IOERR') === true && sqliteCode(error) !== 'SQLITE_IOERR_SHORT_READ';
}

/** Damage of a full-text index alone: base tables stay readable (`spec/state-db.md` 2.3). */
export function isIndexDamage(error: unknown): boolean {
  const code = sqliteCode(error);
  if (code === 'SQLITE_CORRUPT_VTAB') return true;
  if (code === null || !(error instanceof Error)) return false;
  return (code === 'SQLITE_CORRUPT' || code === 'SQLITE_ERROR') && /messages_fts|^fts5:|vtable constructor failed/.test(error.message);
}

/** The health that an error of SQLite stands for; null when the error says nothing about the store. */
export function healthOf(error: unknown): Exclude<StoreHealth, 'OK'> | null {
  const code = sqliteCode(error);
  if (code === null) return null;
  if (code === 'SQLITE_NOTADB') return 'NOT_A_DATABASE';
  if (code.startsWith('SQLITE_CORRUPT')) {
    const text = error instanceof Error ? error.message : '';
    return text.includes('malformed database schema') ? 'SCHEMA_MALFORMED' : 'CORRUPT';
  }
  if (isBusy(error)) return 'BUSY';
  if (code === 'SQLITE_IOERR_SHORT_READ') return 'WAL_GENERATION_LOST';
  if (code.startsWith('SQLITE_IOERR') || code.startsWith('SQLITE_CANTOPEN') || code.startsWith('SQLITE_READONLY')) return 'IO_ERROR';
  return null;
}

const SENTENCES: Record<Exclude<StoreHealth, 'OK'>, string> = {
  NOT_FOUND: 'There is no state.db here. Start the Hermes Agent once, or point --home to the right folder; this server creates nothing.',
  EMPTY:
    'state.db exists but holds no tables. The owning program may not have written yet, or the file was emptied; look for a backup before you go on.',
  NOT_A_DATABASE:
    'state.db is not a SQLite database of the Hermes Agent: its header or its tables are missing. Restore a backup; nothing was changed.',
  SCHEMA_MALFORMED:
    'The schema of state.db is damaged (for example a table that is declared twice). The rows are probably intact: stop the writers, keep a copy, and repair the store.',
  CORRUPT:
    'Pages of state.db are damaged. What can be read is shown, the rest gives an error. Stop the writers, keep a copy of state.db, -wal and -shm, and repair or restore.',
  BUSY: 'Another program holds state.db locked. Nothing is wrong with the data; ask again in a moment.',
  IO_ERROR:
    'state.db could not be read: the path is no readable file for this user, or the disk reported an error. Check the path, its permissions, and that this server runs as the same user as the writers.',
  REPLACED: 'state.db was replaced while this server had it open. The new file is being opened; ask again.',
  WAL_GENERATION_LOST:
    'The -wal file of state.db was removed while a program still writes to it. Stop all writers before anything else; do not delete or copy the files meanwhile.',
};

/** A sentence for people: what is wrong and what to do. */
export function describeHealth(health: StoreHealth): string | null {
  return health === 'OK' ? null : SENTENCES[health];
}

export function unreadable(health: Exclude<StoreHealth, 'OK'>, cause?: unknown): StoreUnreadable {
  return new StoreUnreadable(health, SENTENCES[health], cause);
}

/** The store could be read, but not without making files beside it. */
export function refusedByObserver(): StoreUnreadable {
  return new StoreUnreadable(
    'IO_ERROR',
    'Nobody has state.db open, and reading it would create its -wal and -shm files, which --strict-observer forbids. Start the Hermes Agent, or leave that setting out.',
  );
}
