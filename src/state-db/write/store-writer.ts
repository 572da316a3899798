/**
 * Writes to one store: each is one transaction that holds or nothing, tried again while others are in the way, refused where the file is not
 * the one that was opened, and never closed in an orderly way once that is in doubt (`spec/state-db-writes.md` W1 to W9, Q1 to Q4).
 */
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { StoreUnreadable } from '../../errors.ts';
import { type RefusalCode, WriteRefused } from '../../write-refused.ts';
import { patiently, StoreConnection } from '../connection.ts';
import { fileIdentity, healthOf, isSameFile, sqliteCode } from '../health.ts';
import type { StoreReading } from '../store-reading.ts';
import { detachIndexes, needsCjkTokenizer } from './index-triggers.ts';
import { mergeIndexes } from './merge-indexes.ts';
import { type Pace, Patience, type PatienceClass } from './patience.ts';
import { StoreIdentity } from './store-identity.ts';
import { WriteConnection, type WriteTransaction } from './write-connection.ts';
import { asRefusal, failureKind } from './write-failure.ts';

export interface StoreWriterOptions {
  readonly path: string;
  readonly pace: Pace;
  /** Give up the CJK index where its tokenizer can't be loaded, instead of refusing to write messages (W13). */
  readonly detachCjkIndex: boolean;
  /** The library of that tokenizer; null: `lib/libfts5_cjk.so` beside the store. */
  readonly cjkLibrary: string | null;
  /** Why the store must not be written to any more, as seen by a process before this one. */
  readonly quarantine?: Quarantine | null;
  /** Called before each statement of a write, with its text. */
  readonly onStatement?: (sql: string) => void;
}

export interface WriteOptions<T> {
  readonly patience: PatienceClass;
  /** Whether rows of `messages` are written, whose triggers keep the indexes. */
  readonly touchesMessages: boolean;
  /** Called with the result right before the commit; what it throws rolls everything back. */
  readonly beforeCommit?: (result: T) => void;
}

/** Why a store is not written to any more until the server starts again. */
export type Quarantine = 'STORE_REPLACED' | 'WAL_GENERATION_LOST' | 'STORE_CORRUPT';

const CHECKPOINT_EVERY = 50;
const MERGE_EVERY = 1000;
const READ_LOCK_WAIT_MS = 2000;

export class StoreWriter {
  readonly path: string;
  readonly #options: StoreWriterOptions;
  readonly #identity: StoreIdentity;
  #connection: WriteConnection | null = null;
  #reader: StoreConnection | null = null;
  #quarantine: Quarantine | null = null;
  #tokenizer: 'UNKNOWN' | 'READY' | 'MISSING' = 'UNKNOWN';
  #writes = 0;

  constructor(options: StoreWriterOptions) {
    this.path = options.path;
    this.#options = options;
    this.#quarantine = options.quarantine ?? null;
    this.#identity = new StoreIdentity(options.path);
  }

  get quarantine(): Quarantine | null {
    return this.#quarantine;
  }

  /**
   * Runs `work` in one transaction and commits it. It is run again from the start when an attempt fails in a way that a repeat can mend, so
   * it must depend on nothing but the store and what it was given (W3). Throws `WriteRefused`, or what `work` throws.
   */
  async write<T>(work: (transaction: WriteTransaction) => T, options: WriteOptions<T>): Promise<T> {
    const patience = new Patience(options.patience, this.#options.pace);
    const seen = { ioAtBegin: false, detached: false };
    for (;;) {
      patience.attempts++;
      const stage = { begun: false };
      try {
        return this.#attempt(work, options, stage);
      } catch (error) {
        this.#connection?.rollback();
        if (error instanceof FailedBeside) throw error.cause;
        await this.#decide(error, patience, stage, seen);
      }
    }
  }

  /** Reads on a connection that can't write; repeated while the store is only momentarily unreadable. Throws `StoreUnreadable`. */
  read<T>(work: (store: StoreReading) => T): Promise<T> {
    return patiently(() => {
      const reader = this.#readingConnection();
      return reader.snapshot(() => work(reader));
    });
  }

  /** One that was opened while the file could not be written stays so, whatever is mended since. */
  #forgetConnection(): void {
    if (this.#quarantine !== null) return;
    this.#connection?.close();
    this.#connection = null;
    this.#identity.forgetSidecars();
  }

  /** Closes the connections; one that may not be closed stays open, and the process has to end without closing it (Q3). */
  close(): void {
    this.#reader?.close();
    this.#reader = null;
    if (this.#quarantine !== null) return;
    this.#connection?.checkpoint();
    this.#forgetConnection();
  }

  #attempt<T>(work: (transaction: WriteTransaction) => T, options: WriteOptions<T>, stage: { begun: boolean }): T {
    if (this.#quarantine !== null) throw new WriteRefused(this.#quarantine);
    this.#identity.check();
    const connection = this.#open();
    if (options.touchesMessages) this.#ensureTokenizer(connection);
    connection.begin();
    stage.begun = true;
    const result = work(connection);
    if (options.beforeCommit !== undefined) beside(() => options.beforeCommit?.(result));
    connection.commit();
    this.#maintain(connection);
    return result;
  }

  /** Returns when the write may be tried again; else throws what to tell. */
  async #decide(
    error: unknown,
    patience: Patience,
    stage: { readonly begun: boolean },
    seen: { ioAtBegin: boolean; detached: boolean },
  ): Promise<void> {
    const details = { attempts: patience.attempts, waitedMs: patience.waitedMs };
    switch (failureKind(error)) {
      case 'LOCK':
        if (await patience.pause()) return;
        throw asRefusal(error, { ...details, waitedMs: patience.waitedMs, cause: 'locked', retryAfterMs: 1000 });
      case 'IO':
        if (!stage.begun && !seen.ioAtBegin) {
          seen.ioAtBegin = true;
          return;
        }
        throw asRefusal(error, { ...details, cause: 'disk' });
      case 'INDEX':
        this.#refuseReplaced();
        if (!seen.detached && (await this.#detach(patience))) {
          seen.detached = true;
          return;
        }
        throw asRefusal(error, { ...details, cause: 'fts_index' });
      case 'STRUCTURE':
        this.#refuseReplaced();
        // A schema that can't be read is healed by a repair, so it is no reason to give the file up (Q4).
        if (healthOf(error) !== 'SCHEMA_MALFORMED' && sqliteCode(error) !== 'SQLITE_NOTADB') this.#quarantine = 'STORE_CORRUPT';
        throw asRefusal(error, { ...details, cause: 'corrupt' });
      case 'REFUSED':
        if (error instanceof WriteRefused && error.code === 'COMPRESSION_IN_PROGRESS' && (await patience.pauseForCompression())) return;
        this.#remember(error);
        if (isReadOnly(error)) this.#forgetConnection();
        throw asRefusal(error, details);
      case 'UNKNOWN':
        throw error;
    }
  }

  #remember(error: unknown): void {
    const code: RefusalCode | null = error instanceof WriteRefused ? error.code : null;
    if (code === 'STORE_REPLACED' || code === 'WAL_GENERATION_LOST') this.#quarantine = code;
    if (sqliteCode(error) === 'SQLITE_READONLY_DBMOVED') this.#quarantine = 'STORE_REPLACED';
  }

  /** A file that was replaced looks like damage (W7). */
  #refuseReplaced(): void {
    try {
      this.#identity.check();
    } catch (error) {
      this.#remember(error);
      throw error;
    }
  }

  /** X3: the rows come first; the indexes are set aside until they are rebuilt. */
  async #detach(patience: Patience): Promise<boolean> {
    const connection = this.#open();
    for (;;) {
      try {
        return detachIndexes(connection, 'ALL');
      } catch (error) {
        if (failureKind(error) !== 'LOCK' || !(await patience.pause())) return false;
      }
    }
  }

  #open(): WriteConnection {
    if (this.#connection !== null) return this.#connection;
    const file = fileIdentity(this.path);
    if (file === null) throw new WriteRefused('STORE_UNREADABLE', 'There is no state.db.');
    if (file.size === 0n || !statSync(this.path).isFile()) throw new WriteRefused('STORE_INVALID');
    const { onStatement } = this.#options;
    const connection = WriteConnection.open(this.path, onStatement === undefined ? {} : { onStatement });
    try {
      if (!connection.shape.hasTable('sessions') || !connection.shape.hasTable('messages')) throw new WriteRefused('STORE_INVALID');
      this.#identity.recordSidecars(connection.journalMode() === 'wal');
    } catch (error) {
      connection.close();
      throw error;
    }
    this.#connection = connection;
    this.#tokenizer = 'UNKNOWN';
    return connection;
  }

  /** W13: before the first write of a message, not in the middle of it. */
  #ensureTokenizer(connection: WriteConnection): void {
    if (this.#tokenizer === 'READY' || !needsCjkTokenizer(connection)) return;
    if (this.#tokenizer === 'UNKNOWN') {
      try {
        connection.loadExtension(this.#options.cjkLibrary ?? join(dirname(this.path), 'lib', 'libfts5_cjk.so'));
        this.#tokenizer = 'READY';
        return;
      } catch {
        // No library there, or none for this machine: what follows says what to do.
        this.#tokenizer = 'MISSING';
      }
    }
    if (!this.#options.detachCjkIndex || !detachIndexes(connection, 'CJK')) throw new WriteRefused('FTS_TOKENIZER_MISSING');
  }

  #maintain(connection: WriteConnection): void {
    this.#writes++;
    if (this.#writes % CHECKPOINT_EVERY === 0) connection.checkpoint();
    if (this.#writes % MERGE_EVERY === 0) mergeIndexes(connection);
  }

  #readingConnection(): StoreConnection {
    const known = this.#reader;
    if (known?.isOpen && isSameFile(known.identity, fileIdentity(this.path)) && !known.schemaMoved()) return known;
    known?.close();
    this.#reader = StoreConnection.open(this.path, { lockWaitMs: READ_LOCK_WAIT_MS });
    return this.#reader;
  }
}

/** What failed was no statement of the store, though it may be an error of SQLite: a receipt that can't be written says nothing of the store. */
class FailedBeside extends Error {}

function beside(work: () => void): void {
  try {
    work();
  } catch (cause) {
    throw new FailedBeside('what goes before the commit failed', { cause });
  }
}

function isReadOnly(error: unknown): boolean {
  const code = sqliteCode(error) ?? '';
  return code.startsWith('SQLITE_READONLY') || code.startsWith('SQLITE_CANTOPEN');
}

/** A refusal for a store that can't even be read; other errors stay as they are. */
export function unreadableAsRefusal(error: unknown): unknown {
  if (!(error instanceof StoreUnreadable)) return error;
  return new WriteRefused('STORE_UNREADABLE', error.message, { cause: error, details: { health: error.health } });
}
