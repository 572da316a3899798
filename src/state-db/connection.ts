/**
 * One read-only connection to one store: opened beside live writers, never a statement that writes (`spec/state-db.md` 2.2).
 */
import { closeSync, openSync, readSync } from 'node:fs';
import Database from 'better-sqlite3';
import { StoreUnreadable } from '../errors.ts';
import { countStatement } from '../meter.ts';
import { readShape, type StoreShape } from './columns.ts';
import type { SqlRow } from './decode.ts';
import { type FileIdentity, fileIdentity, healthOf, isBusy, isTransientIo, refusedByObserver, unreadable, walPathOf } from './health.ts';

type Bindable = string | number | bigint | null;
/** By position for `?`, or by name for `:name` where one value is used more than once. */
export type Positional = readonly Bindable[];
export type Parameters = Positional | Readonly<Record<string, Bindable>>;

export interface ConnectionOptions {
  /** Milliseconds that one statement may block this thread for a lock. */
  readonly lockWaitMs: number;
  /** Refuse to open a WAL store whose -wal and -shm are absent, since opening would create them (`spec/state-db.md` 2.2 rule 3). */
  readonly strictObserver?: boolean;
}

export class StoreConnection {
  readonly path: string;
  readonly shape: StoreShape;
  readonly identity: FileIdentity;
  /** Beside the file itself, also where the path is a link to it. */
  readonly walPath: string;
  readonly walIdentity: FileIdentity | null;
  readonly #db: Database.Database;
  readonly #statements = new Map<string, Database.Statement<unknown[], SqlRow>>();
  readonly #exactStatements = new Map<string, Database.Statement<unknown[], SqlRow>>();
  readonly #functions = new Set<string>();
  readonly #dataVersion: Database.Statement<unknown[], number>;
  readonly #schemaCookie: Database.Statement<unknown[], number>;
  readonly #cookie: number;

  /** Throws `StoreUnreadable` when there is no healthy store at the path; a schema that can't be read is found here, not later. */
  static open(path: string, options: ConnectionOptions): StoreConnection {
    const identity = fileIdentity(path);
    if (identity === null) throw unreadable('NOT_FOUND');
    if (identity.size === 0n) throw unreadable('EMPTY');
    const walPath = walPathOf(path);
    if (options.strictObserver && fileIdentity(walPath) === null && wouldCreateWal(path, walPath)) throw refusedByObserver();
    let db: Database.Database | null = null;
    try {
      db = new Database(path, { readonly: true, fileMustExist: true, timeout: options.lockWaitMs });
      db.pragma('query_only = 1');
      return new StoreConnection(path, db, identity, walPath);
    } catch (error) {
      db?.close();
      const health = healthOf(error);
      throw health === null ? error : unreadable(health, error);
    }
  }

  private constructor(path: string, db: Database.Database, identity: FileIdentity, walPath: string) {
    this.path = path;
    this.#db = db;
    this.identity = identity;
    this.walPath = walPath;
    this.shape = readShape(db);
    if (!this.shape.hasTable('sessions') || !this.shape.hasTable('messages')) {
      throw unreadable(this.shape.columnsOf('schema_version').length === 0 && isEmptySchema(db) ? 'EMPTY' : 'NOT_A_DATABASE');
    }
    this.#dataVersion = db.prepare<unknown[], number>('PRAGMA data_version').pluck();
    this.#schemaCookie = db.prepare<unknown[], number>('PRAGMA schema_version').pluck();
    this.#cookie = this.#schemaCookie.get() ?? 0;
    this.walIdentity = fileIdentity(walPath);
    openFiles.set(walPath, (openFiles.get(walPath) ?? 0) + 1);
  }

  /** Changes after every commit of another connection; comparable only with earlier values of this same connection. */
  dataVersion(): number {
    this.#ensureOpen();
    return this.#dataVersion.get() ?? 0;
  }

  /** True when the schema moved since this connection was opened: the shape is out of date. */
  schemaMoved(): boolean {
    this.#ensureOpen();
    return this.#schemaCookie.get() !== this.#cookie;
  }

  journalMode(): string {
    return String(this.#db.pragma('journal_mode', { simple: true }));
  }

  pragma(name: 'application_id' | 'page_size' | 'page_count'): number {
    return Number(this.#db.pragma(name, { simple: true }));
  }

  all(sql: string, parameters: Parameters = []): SqlRow[] {
    const rows = Array.isArray(parameters) ? this.#statement(sql).all(...parameters) : this.#statement(sql).all(parameters);
    countStatement(rows.length);
    return rows;
  }

  /** The same with every INTEGER as a bigint, so that a number is always a REAL (`spec/state-db-writes.md` W14). */
  allExact(sql: string, parameters: Positional): SqlRow[] {
    const rows = this.#statement(sql, true).all(...parameters);
    countStatement(rows.length);
    return rows;
  }

  get(sql: string, parameters: Parameters = []): SqlRow | undefined {
    const row = Array.isArray(parameters) ? this.#statement(sql).get(...parameters) : this.#statement(sql).get(parameters);
    countStatement(row === undefined ? 0 : 1);
    return row;
  }

  /** Several statements of one answer on one snapshot; synchronous, so it is never held across an await. */
  snapshot<T>(work: () => T): T {
    this.#ensureOpen();
    if (this.#db.inTransaction) return work();
    this.#db.exec('BEGIN');
    try {
      return work();
    } finally {
      this.#db.exec('COMMIT');
    }
  }

  /** A deterministic SQL function of this connection; defining it again does nothing. */
  defineFunction(name: string, implementation: (value: unknown) => string): void {
    if (this.#functions.has(name)) return;
    this.#db.function(name, { deterministic: true }, implementation);
    this.#functions.add(name);
  }

  close(): void {
    if (!this.#db.open) return;
    const others = (openFiles.get(this.walPath) ?? 1) - 1;
    if (others > 0) openFiles.set(this.walPath, others);
    else openFiles.delete(this.walPath);
    this.#statements.clear();
    this.#exactStatements.clear();
    this.#db.close();
  }

  get isOpen(): boolean {
    return this.#db.open;
  }

  #statement(sql: string, exact = false): Database.Statement<unknown[], SqlRow> {
    const statements = exact ? this.#exactStatements : this.#statements;
    const known = statements.get(sql);
    if (known !== undefined) return known;
    this.#ensureOpen();
    const statement = this.#db.prepare<unknown[], SqlRow>(sql).safeIntegers(exact);
    statements.set(sql, statement);
    return statement;
  }

  /** Whoever still holds a connection that was closed is told why, as of any other trouble with the store. */
  #ensureOpen(): void {
    if (!this.#db.open) throw unreadable('REPLACED');
  }
}

/** Connections of this process by file. */
const openFiles = new Map<string, number>();
/** The version that a reader needs, at offset 19 of a database: 2 is WAL. */
const READ_VERSION_OFFSET = 19;
const WAL_VERSION = 2;

/**
 * Whether opening a store without a -wal file would make one. The file is looked into with `fs` only while this process has no connection
 * to it: closing such a descriptor drops the process's locks (`spec/state-db.md` 2.2 rule 4).
 */
function wouldCreateWal(path: string, walPath: string): boolean {
  if (openFiles.has(walPath)) return true;
  try {
    const file = openSync(path, 'r');
    try {
      const byte = Buffer.alloc(1);
      return readSync(file, byte, 0, 1, READ_VERSION_OFFSET) === 1 && byte[0] === WAL_VERSION;
    } finally {
      closeSync(file);
    }
  } catch {
    // What can't be read can't be opened either, and SQLite says why.
    return false;
  }
}

function isEmptySchema(db: Database.Database): boolean {
  return db.prepare('SELECT COUNT(*) FROM sqlite_master').pluck().get() === 0;
}

const PATIENCE_MS = 5000;
const IO_RETRIES = 3;
const IO_RETRY_MS = 50;
const BUSY_RETRY_MS = 25;

/**
 * Runs a read and repeats it while the store is only momentarily unreadable: I/O errors up to three times, 50 ms apart, locks until
 * `patienceMs` has passed. The waiting is asynchronous. Ends in the read's value or in `StoreUnreadable` (`spec/state-db.md` 2.2 rules 7, 8).
 */
export async function patiently<T>(read: () => T, patienceMs = PATIENCE_MS): Promise<T> {
  const patience = new Patience(patienceMs);
  for (;;) {
    try {
      return read();
    } catch (error) {
      await patience.waitOrThrow(error);
    }
  }
}

/** The same for a read of several steps; it starts again from the beginning, so it has to be one that may be repeated. */
export async function patientPass<T>(pass: () => Promise<T>, patienceMs = PATIENCE_MS): Promise<T> {
  const patience = new Patience(patienceMs);
  for (;;) {
    try {
      return await pass();
    } catch (error) {
      await patience.waitOrThrow(error);
    }
  }
}

class Patience {
  readonly #deadline: number;
  #ioErrors = 0;

  constructor(patienceMs: number) {
    this.#deadline = Date.now() + patienceMs;
  }

  /** Returns when the read may be tried again; throws the error, as `StoreUnreadable` where it says something about the store. */
  async waitOrThrow(thrown: unknown): Promise<void> {
    const error = thrown instanceof StoreUnreadable && thrown.cause !== undefined ? thrown.cause : thrown;
    if (isBusy(error) && Date.now() < this.#deadline) return delay(BUSY_RETRY_MS);
    if (isTransientIo(error) && this.#ioErrors++ < IO_RETRIES) return delay(IO_RETRY_MS);
    const health = healthOf(error);
    throw health === null || thrown instanceof StoreUnreadable ? thrown : unreadable(health, error);
  }
}

export function delay(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** Ids as one bound JSON list for `json_each(?)`: any number of them, one statement, no limit on variables. */
export function idList(ids: Iterable<string>): string {
  return JSON.stringify([...ids]);
}

/** Row ids as one bound JSON list of exact 64-bit integers; the caller has checked that each is digits. */
export function rowIdList(rowIds: Iterable<string>): string {
  return `[${[...rowIds].join(',')}]`;
}
