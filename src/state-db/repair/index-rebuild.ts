/**
 * One rebuild of the full-text indexes over an open connection (`spec/state-db-writes.md` X4, X5): a transaction for each index, and one at the
 * end that puts the triggers back and takes the mark of staleness away, only when no row can be missing.
 */
import type Database from 'better-sqlite3';
import { readShape, type StoreShape } from '../columns.ts';
import { sqliteCode } from '../health.ts';
import { FTS_TABLES, type IndexName, lacksTokenizer, presentIndexes } from './fts-tables.ts';
import { isMigrating, layoutOfStore, missingTriggers, syncTriggers } from './fts-triggers.ts';
import { refillInlineIndex } from './inline-index.ts';
import { isDamage } from './own-connection.ts';
import { triggersAgree } from './trigger-trial.ts';

/** `fts_stale` stands for the base and the trigram index, `fts_cjk_stale` for the optional one. */
const GROUPS: readonly { readonly mark: string; readonly indexes: readonly IndexName[] }[] = [
  { mark: 'fts_stale', indexes: ['BASE', 'TRIGRAM'] },
  { mark: 'fts_cjk_stale', indexes: ['CJK'] },
];
const MARK_SQL = 'SELECT 1 FROM state_meta WHERE key = ?';
const CLEAR_SQL = 'DELETE FROM state_meta WHERE key = ?';
/** Reads every row to its end: what a rebuild reads too. */
const SCAN_SQL = 'SELECT SUM(length(content)), SUM(length(tool_calls)) FROM messages NOT INDEXED';

/** Why an index was left as it is. */
export type SkipReason = 'MISSING' | 'TOKENIZER_MISSING' | 'MIGRATING' | 'DAMAGED';

export interface SkippedIndex {
  readonly table: IndexName;
  readonly reason: SkipReason;
}

export interface RebuildProgress {
  readonly done: number;
  readonly total: number;
  /** The index that comes next; null when all are done. */
  readonly next: IndexName | null;
}

export interface RebuildReport {
  readonly dryRun: boolean;
  /** In a dry run those that would be. */
  readonly rebuilt: readonly IndexName[];
  readonly skipped: readonly SkippedIndex[];
  /** Searches go on without any index. */
  readonly stale: boolean;
  /** Searches go on without the CJK index. */
  readonly cjkStale: boolean;
  readonly triggersInstalled: readonly string[];
  /** The store stays stale because the triggers that its layout needs are not known. */
  readonly triggersUnknown: boolean;
}

export class IndexRebuild {
  readonly #db: Database.Database;
  readonly #shape: StoreShape;
  readonly #present: readonly IndexName[];
  readonly #targets: readonly IndexName[];
  readonly #skipped: SkippedIndex[] = [];
  readonly #rebuilt: IndexName[] = [];
  readonly #installed: string[] = [];
  #triggersUnknown = false;

  /** `wanted`: null for all that the store has. Throws SqliteError when the schema can't be read. */
  constructor(db: Database.Database, wanted: readonly IndexName[] | null) {
    this.#db = db;
    this.#shape = readShape(db);
    this.#present = presentIndexes(db);
    const migrating = isMigrating(db, this.#shape);
    this.#targets = (wanted ?? this.#present).filter((table) => {
      const reason = this.#present.includes(table) ? (migrating ? 'MIGRATING' : this.#tokenizerProblem(table)) : 'MISSING';
      if (reason !== null) this.#skipped.push({ table, reason });
      return reason === null;
    });
  }

  /** What `run` would do. */
  plan(): RebuildReport {
    return this.#report(true, this.#targets);
  }

  /** Throws SqliteError for a lock, a full disk, or damage of the rows. An index that can't be rebuilt is skipped. */
  run(onProgress: (progress: RebuildProgress) => void = () => undefined): RebuildReport {
    const version = this.#dataVersion();
    for (const [done, table] of this.#targets.entries()) {
      onProgress({ done, total: this.#targets.length, next: table });
      this.#rebuildAlone(table);
    }
    for (const { mark, indexes } of GROUPS) {
      const present = indexes.filter((index) => this.#present.includes(index));
      if (present.length > 0 && present.every((index) => this.#rebuilt.includes(index))) this.#settle(mark, present, version);
    }
    onProgress({ done: this.#targets.length, total: this.#targets.length, next: null });
    return this.#report(false, this.#rebuilt);
  }

  #rebuildAlone(table: IndexName): void {
    try {
      this.#immediately(() => this.#rebuildTable(table));
      this.#rebuilt.push(table);
    } catch (error) {
      this.#skipped.push({ table, reason: this.#skipReason(error) });
    }
  }

  #rebuildTable(table: IndexName): void {
    const name = FTS_TABLES[table];
    this.#db.exec(`INSERT INTO ${name}(${name}) VALUES ('rebuild')`);
    if (table !== 'CJK' && layoutOfStore(this.#shape) === 'I') refillInlineIndex(this.#db, name);
  }

  /** Throws the error again when it is not about this index alone. */
  #skipReason(error: unknown): SkipReason {
    if (lacksTokenizer(error)) return 'TOKENIZER_MISSING';
    if (!isDamage(error) && sqliteCode(error) !== 'SQLITE_ERROR') throw error;
    // The rows are read on the way: damage there is the store's, and this throws.
    this.#db.prepare(SCAN_SQL).get();
    return 'DAMAGED';
  }

  /** With every index of a group rebuilt: no row may have come since that no trigger put into one. */
  #settle(mark: string, indexes: readonly IndexName[], version: number): void {
    const installed: string[] = [];
    const isSettled = this.#immediately(() => {
      const missing = new Set(indexes.flatMap((index) => missingTriggers(this.#db, index)));
      if (missing.size > 0) {
        const definitions = indexes.map((index) => syncTriggers(this.#shape, index));
        if (definitions.includes(null)) return false;
        if (this.#dataVersion() !== version) for (const index of indexes) this.#rebuildTable(index);
        for (const { name, sql } of definitions.flatMap((triggers) => triggers ?? [])) {
          if (!missing.has(name)) continue;
          this.#db.exec(sql);
          installed.push(name);
        }
        if (!triggersAgree(this.#db, this.#shape, indexes)) return false;
      }
      if (this.#shape.hasTable('state_meta')) this.#db.prepare(CLEAR_SQL).run(mark);
      return true;
    });
    if (isSettled) this.#installed.push(...installed);
    else this.#triggersUnknown = true;
  }

  /** One transaction; taken back when the work throws, or gives false. */
  #immediately<T>(work: () => T): T {
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      const value = work();
      this.#db.exec(value === false ? 'ROLLBACK' : 'COMMIT');
      return value;
    } finally {
      if (this.#db.inTransaction) this.#db.exec('ROLLBACK');
    }
  }

  /** Moves with every commit of another connection. */
  #dataVersion(): number {
    return Number(this.#db.pragma('data_version', { simple: true }));
  }

  #tokenizerProblem(table: IndexName): SkipReason | null {
    const name = FTS_TABLES[table];
    try {
      this.#db.prepare(`SELECT rowid FROM ${name} WHERE ${name} MATCH '""' LIMIT 1`).get();
      return null;
    } catch (error) {
      if (lacksTokenizer(error)) return 'TOKENIZER_MISSING';
      // A damaged index is what a rebuild is for.
      if (isDamage(error) || sqliteCode(error) === 'SQLITE_ERROR') return null;
      throw error;
    }
  }

  #report(dryRun: boolean, rebuilt: readonly IndexName[]): RebuildReport {
    return {
      dryRun,
      rebuilt: [...rebuilt],
      skipped: this.#skipped,
      stale: this.#isMarked('fts_stale'),
      cjkStale: this.#isMarked('fts_cjk_stale'),
      triggersInstalled: this.#installed,
      triggersUnknown: this.#triggersUnknown,
    };
  }

  #isMarked(mark: string): boolean {
    return this.#shape.hasTable('state_meta') && this.#db.prepare(MARK_SQL).get(mark) !== undefined;
  }
}
