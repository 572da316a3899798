/**
 * Connections of a maintenance job to a store that may be damaged: opening, looking and closing leave its files as they were
 * (`spec/state-db-writes.md` H3, W11).
 */
import Database from 'better-sqlite3';
import { fileIdentity, isBusy, sqliteCode, walPathOf } from '../health.ts';

/** A connection, and whether the store had a -wal with something in it before. */
export interface OwnConnection {
  readonly db: Database.Database;
  readonly hadWal: boolean;
}

/** Opens for writing and never checkpoints by itself. `waitMs` is how long a statement waits for a lock. */
export function openOwn(path: string, waitMs = 0): OwnConnection {
  const hadWal = (fileIdentity(walPathOf(path))?.size ?? 0n) > 0n;
  const db = new Database(path, { fileMustExist: true, timeout: waitMs });
  try {
    db.pragma('wal_autocheckpoint = 0');
  } catch (error) {
    db.close();
    throw error;
  }
  return { db, hadWal };
}

/**
 * Closes without moving the -wal into the file, which SQLite does when the last connection closes: a reader stays until the writer is gone,
 * and a reader never checkpoints. A store that had no -wal is left without one.
 */
export function closeUntouched(path: string, { db, hadWal }: OwnConnection): void {
  const pin = hadWal ? openPin(path) : null;
  db.close();
  pin?.close();
}

/** Reads without the schema, so that a damaged one is no obstacle; the lock of a reader is held from here on. */
function openPin(path: string): Database.Database | null {
  const pin = new Database(path, { readonly: true, fileMustExist: true, timeout: 0 });
  try {
    pin.pragma('data_version');
    return pin;
  } catch {
    // Such a file can't be checkpointed either.
    pin.close();
    return null;
  }
}

/**
 * The store for this connection alone: nobody else reads or writes it (`spec/state-db-writes.md` H3 5, 9). Throws SqliteError, `SQLITE_BUSY`
 * when somebody has it open.
 */
export class ExclusiveGuard {
  readonly #path: string;
  readonly #connection: OwnConnection;

  constructor(path: string) {
    this.#path = path;
    this.#connection = openOwn(path);
    try {
      // A first read in the normal mode: without it SQLite keeps the index of the -wal in memory and the mode can't be left again.
      this.db.pragma('data_version');
      this.db.pragma('locking_mode = EXCLUSIVE');
      this.db.exec('BEGIN EXCLUSIVE');
      this.db.exec('ROLLBACK');
    } catch (error) {
      this.close();
      throw error;
    }
  }

  get db(): Database.Database {
    return this.#connection.db;
  }

  /** Gives the locks up and stays open: what is to be written over the store has to take them. */
  yieldLocks(): void {
    this.db.pragma('locking_mode = NORMAL');
    this.db.pragma('data_version');
  }

  /** Closes and leaves the files as they are. */
  close(): void {
    try {
      this.yieldLocks();
    } catch (error) {
      // A file that can't be read, or a lock of somebody else: there is nothing of ours to give up.
      if (sqliteCode(error) === null) throw error;
    }
    closeUntouched(this.#path, this.#connection);
  }

  /** Closes as usual: what is in the -wal goes into the file. */
  closeWithCheckpoint(): void {
    this.db.close();
  }
}

/** Whether nobody has the store open. A damaged file, which can't be locked, is nobody's. */
export function isUnused(path: string): boolean {
  try {
    new ExclusiveGuard(path).close();
    return true;
  } catch (error) {
    if (isBusy(error)) return false;
    if (isDamage(error)) return true;
    throw error;
  }
}

/** Whether SQLite says that the file itself is damaged, or no database. */
export function isDamage(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== null && (code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB');
}
