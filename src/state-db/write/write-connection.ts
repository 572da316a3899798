/**
 * The one connection of a process that writes to a store (`spec/state-db-writes.md` W1). It is opened beside the owning programs, with
 * their settings; it never migrates, never changes the journal mode, and creates no table.
 */
import Database from 'better-sqlite3';
import { readShape, type StoreShape } from '../columns.ts';
import type { SqlRow } from '../decode.ts';
import type { Parameters, StoreReading } from '../store-reading.ts';

export interface RunResult {
  readonly changes: number;
  /** Of the last insert of this connection; row ids pass 2^53. */
  readonly lastInsertRowid: bigint;
}

/** What an operation can do inside its transaction. */
export interface WriteTransaction extends StoreReading {
  run(sql: string, parameters?: Parameters): RunResult;
}

/** Milliseconds that one statement waits for a lock; the longer waiting is done between attempts (W1). */
export const BUSY_TIMEOUT_MS = 1000;
/** FULL: what was committed survives a loss of power. better-sqlite3's own default is less. */
const SYNCHRONOUS_FULL = 2;

type Statement = Database.Statement<unknown[], SqlRow>;

export class WriteConnection implements WriteTransaction {
  readonly path: string;
  readonly #db: Database.Database;
  readonly #statements = new Map<string, Statement>();
  readonly #exact = new Map<string, Statement>();
  readonly #onStatement: (sql: string) => void;
  #shape: StoreShape;
  #cookie: number;

  /** Throws what SQLite throws. `onStatement` is called before each statement that runs. */
  static open(
    path: string,
    options: { readonly busyTimeoutMs?: number; readonly onStatement?: (sql: string) => void } = {},
  ): WriteConnection {
    const db = new Database(path, { fileMustExist: true, timeout: options.busyTimeoutMs ?? BUSY_TIMEOUT_MS });
    try {
      db.pragma('foreign_keys = 1');
      db.pragma(`synchronous = ${SYNCHRONOUS_FULL}`);
      return new WriteConnection(path, db, options.onStatement ?? (() => {}));
    } catch (error) {
      db.close();
      throw error;
    }
  }

  private constructor(path: string, db: Database.Database, onStatement: (sql: string) => void) {
    this.path = path;
    this.#db = db;
    this.#onStatement = onStatement;
    this.#shape = readShape(db);
    this.#cookie = this.#schemaCookie();
  }

  get shape(): StoreShape {
    return this.#shape;
  }

  get isOpen(): boolean {
    return this.#db.open;
  }

  get inTransaction(): boolean {
    return this.#db.inTransaction;
  }

  all(sql: string, parameters: Parameters = []): SqlRow[] {
    this.#onStatement(sql);
    const statement = this.#statement(sql);
    return Array.isArray(parameters) ? statement.all(...parameters) : statement.all(parameters);
  }

  get(sql: string, parameters: Parameters = []): SqlRow | undefined {
    this.#onStatement(sql);
    const statement = this.#statement(sql);
    return Array.isArray(parameters) ? statement.get(...parameters) : statement.get(parameters);
  }

  exact(sql: string, parameters: Parameters = []): SqlRow[] {
    this.#onStatement(sql);
    const statement = this.#exact.get(sql) ?? this.#db.prepare<unknown[], SqlRow>(sql).safeIntegers();
    this.#exact.set(sql, statement);
    return Array.isArray(parameters) ? statement.all(...parameters) : statement.all(parameters);
  }

  run(sql: string, parameters: Parameters = []): RunResult {
    this.#onStatement(sql);
    const statement = this.#statement(sql);
    const { changes, lastInsertRowid } = Array.isArray(parameters) ? statement.run(...parameters) : statement.run(parameters);
    return { changes, lastInsertRowid: BigInt(lastInsertRowid) };
  }

  /** Inside the transaction that is open; there is only one writer, so nothing moves meanwhile. */
  snapshot<T>(work: () => T): T {
    return work();
  }

  begin(): void {
    this.#execute('BEGIN IMMEDIATE');
    // Now that nobody else can change it: the shape is that of the schema the transaction sees.
    const cookie = this.#schemaCookie();
    if (cookie === this.#cookie) return;
    this.#shape = readShape(this.#db);
    this.#cookie = cookie;
  }

  commit(): void {
    this.#execute('COMMIT');
  }

  /** Never throws: the error that led here is the one to tell (W2). */
  rollback(): void {
    try {
      if (this.#db.open && this.#db.inTransaction) this.#db.exec('ROLLBACK');
    } catch {
      // SQLite has rolled back by itself, or the connection is of no more use; either way nothing of it was kept.
    }
  }

  /** Names of the triggers on `messages`, read now. */
  messageTriggers(): string[] {
    return this.#db.prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'messages'").pluck().all();
  }

  /** Loads a library of SQLite functions or tokenizers; throws when it can't be. */
  loadExtension(library: string): void {
    this.#db.loadExtension(library);
  }

  /** Copies what is in the -wal file into the store as far as nobody is in the way (W9). Never throws. */
  checkpoint(): void {
    this.#onStatement('PRAGMA wal_checkpoint(PASSIVE)');
    try {
      this.#db.pragma('wal_checkpoint(PASSIVE)');
    } catch {
      // The next one makes up for it.
    }
  }

  journalMode(): string {
    return String(this.#db.pragma('journal_mode', { simple: true }));
  }

  close(): void {
    this.#statements.clear();
    this.#exact.clear();
    this.#db.close();
  }

  #execute(sql: string): void {
    this.#onStatement(sql);
    this.#db.exec(sql);
  }

  #schemaCookie(): number {
    return Number(this.#db.pragma('schema_version', { simple: true }));
  }

  #statement(sql: string): Statement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#db.prepare<unknown[], SqlRow>(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}
