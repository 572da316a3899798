/**
 * The health probe of a store and what its findings mean (`spec/state-db-writes.md` H1, H4). It opens a connection of its own and leaves
 * the files as they were.
 */
import type Database from 'better-sqlite3';
import { WriteRefused } from '../../write-refused.ts';
import { readShape } from '../columns.ts';
import { isBusy, sqliteCode } from '../health.ts';
import { FTS_TABLES, lacksTokenizer, presentIndexes } from './fts-tables.ts';
import { checkIntegrity, isStructuralFailure, isTelling } from './integrity.ts';
import { closeUntouched, openOwn } from './own-connection.ts';

/** Problems that are told; all are looked at. */
const MOST_REPORTED = 3;
const LONGEST_PROBLEM = 300;

const COUNT_SQL = 'SELECT COUNT(*) FROM sessions';

export interface ProbeOptions {
  /** Also try, and take back, a write of one session and one message: what only a write meets. Default false. */
  readonly writeProbe?: boolean;
  /** False: the faster check of pages alone, without the comparison of rows with indexes. Default true. */
  readonly deep?: boolean;
  /** Milliseconds to wait for a lock. Default 2000. */
  readonly waitMs?: number;
}

export interface ProbeResult {
  readonly healthy: boolean;
  /** At most three, as SQLite words them. */
  readonly problems: readonly string[];
  /** The damage is outside the full-text indexes: rebuilding those can't help. */
  readonly structural: boolean;
}

/** Throws WriteRefused STORE_BUSY when the store is locked, SqliteError when it can't be opened or read at all for another reason. */
export function probeStore(path: string, options: ProbeOptions = {}): ProbeResult {
  const connection = openOwn(path, options.waitMs ?? 2000);
  try {
    return probeConnection(connection.db, options);
  } catch (error) {
    if (isBusy(error)) throw new WriteRefused('STORE_BUSY', '', { cause: error });
    throw error;
  } finally {
    closeUntouched(path, connection);
  }
}

function probeConnection(db: Database.Database, { writeProbe = false, deep = true }: ProbeOptions): ProbeResult {
  const problems: string[] = [];
  let structural = false;
  const ask = (sql: string): Record<string, unknown>[] => db.prepare<[], Record<string, unknown>>(sql).all();
  const attempt = (what: string, check: () => void): void => {
    try {
      check();
    } catch (error) {
      if (isForgiven(error)) return;
      if (!isTelling(error)) throw error;
      problems.push(`${what}: ${error.message}`);
      if (what === 'integrity_check') structural = isStructuralFailure(ask, error);
    }
  };
  attempt('journal_mode', () => void db.pragma('journal_mode'));
  attempt('integrity_check', () => {
    const found = checkIntegrity(ask, deep ? 'integrity_check' : 'quick_check');
    problems.push(...found.lines);
    structural = found.structural;
  });
  attempt('sessions', () => void db.prepare(COUNT_SQL).get());
  attempt('indexes', () => {
    for (const name of presentIndexes(db)) attempt(FTS_TABLES[name], () => matchNothing(db, FTS_TABLES[name]));
  });
  if (writeProbe) attempt('write', () => writeAndTakeBack(db));
  return {
    healthy: problems.length === 0,
    problems: problems.slice(0, MOST_REPORTED).map((problem) => problem.slice(0, LONGEST_PROBLEM)),
    structural,
  };
}

function matchNothing(db: Database.Database, table: string): void {
  db.prepare(`SELECT rowid FROM ${table} WHERE ${table} MATCH '""' LIMIT 1`).get();
}

function writeAndTakeBack(db: Database.Database): void {
  const shape = readShape(db);
  if (!shape.hasTable('sessions') || !shape.hasTable('messages')) return;
  const id = `_hermes_fts_health_probe_${process.hrtime.bigint()}`;
  db.exec('BEGIN IMMEDIATE');
  try {
    db.prepare("INSERT INTO sessions (id, source, started_at) VALUES (?, '_health_probe', 0)").run(id);
    db.prepare("INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, 'user', 'health probe', 0)").run(id);
    for (const name of presentIndexes(db)) flush(db, FTS_TABLES[name]);
  } finally {
    if (db.inTransaction) db.exec('ROLLBACK');
  }
}

/** What is written to an index stays in memory until it is flushed. */
function flush(db: Database.Database, table: string): void {
  try {
    db.exec(`INSERT INTO ${table}(${table}) VALUES ('flush')`);
  } catch (error) {
    // An older FTS5 doesn't know the command.
    if (!(error instanceof Error) || sqliteCode(error) !== 'SQLITE_ERROR' || lacksTokenizer(error)) throw error;
  }
}

/** A store that is being made, or an extension that isn't here: no damage. */
function isForgiven(error: unknown): boolean {
  return lacksTokenizer(error) || (error instanceof Error && /^no such (?:table|column)|has no column named/.test(error.message));
}
