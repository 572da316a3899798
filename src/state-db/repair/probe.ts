/**
 * The health probe of a store and what its findings mean (`spec/state-db-writes.md` H1, H4). It opens a connection of its own and leaves
 * the files as they were.
 */
import type Database from 'better-sqlite3';
import { WriteRefused } from '../../write-refused.ts';
import { readShape } from '../columns.ts';
import { healthOf, isBusy, sqliteCode } from '../health.ts';
import { FTS_TABLES, lacksTokenizer, presentIndexes } from './fts-tables.ts';
import { closeUntouched, isDamage, openOwn } from './own-connection.ts';

/** Problems that are told; all are looked at. */
const MOST_REPORTED = 3;
const LONGEST_PROBLEM = 300;
const FTS_PREFIX = 'messages_fts';

const ROOTS_SQL = 'SELECT name, tbl_name AS owner, rootpage AS root FROM sqlite_master WHERE rootpage > 0';
const PLAIN_TABLES_SQL = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'messages_fts*' ORDER BY rowid";
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
  const attempt = (what: string, check: () => void): void => {
    try {
      check();
    } catch (error) {
      if (isForgiven(error)) return;
      if (!isTelling(error)) throw error;
      problems.push(`${what}: ${error.message}`);
      if (what === 'integrity_check') structural = healthOf(error) !== 'SCHEMA_MALFORMED' && isDamagedOutsideIndexes(db);
    }
  };
  attempt('journal_mode', () => void db.pragma('journal_mode'));
  attempt('integrity_check', () => {
    const lines = integrityLines(db, deep ? 'integrity_check' : 'quick_check');
    problems.push(...lines);
    structural = isStructural(db, lines);
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

/** The lines of one of SQLite's checks, of the whole store or of one table; none when all is well. */
function integrityLines(db: Database.Database, check: 'integrity_check' | 'quick_check', table?: string): string[] {
  const pragma = table === undefined ? check : `${check}("${table.replaceAll('"', '""')}")`;
  const rows = db.pragma(pragma) as Record<string, unknown>[];
  return rows
    .flatMap((row) => Object.values(row))
    .map(String)
    .filter((line) => line !== 'ok');
}

/** The check of the whole breaks off at a full-text index with a damaged page and tells nothing of the rest: that is looked at by itself. */
function isDamagedOutsideIndexes(db: Database.Database): boolean {
  try {
    const tables = db.prepare<[], { name: string }>(PLAIN_TABLES_SQL).all();
    return tables.some(({ name }) => isStructural(db, integrityLines(db, 'integrity_check', name)));
  } catch (error) {
    if (!isTelling(error)) throw error;
    return true;
  }
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

/** Whether the error says something about the store, and not about the machine or another process. */
function isTelling(error: unknown): error is Error {
  const code = sqliteCode(error);
  return isDamage(error) || code === 'SQLITE_ERROR' || code?.startsWith('SQLITE_CONSTRAINT') === true;
}

/** Whether one of the lines of an integrity check is about something that no full-text index consists of. */
function isStructural(db: Database.Database, lines: readonly string[]): boolean {
  const owners = new Map<number, boolean>();
  if (lines.length > 0) {
    for (const { name, owner, root } of db.prepare<[], { name: string; owner: string; root: number }>(ROOTS_SQL).all()) {
      owners.set(root, name.startsWith(FTS_PREFIX) || owner.startsWith(FTS_PREFIX));
    }
  }
  return lines.some((line) => {
    if (/^(?:\*\*\* in database \w+ \*\*\*\s*)?Freelist/.test(line)) return true;
    const index = /missing from index (\S+)/.exec(line)?.[1];
    if (index !== undefined) return !index.startsWith(FTS_PREFIX) && !index.startsWith(`sqlite_autoindex_${FTS_PREFIX}`);
    const root = /\bTree (\d+)/.exec(line)?.[1];
    // A root that belongs to nothing known can't be shown to be an index's.
    return root !== undefined && owners.get(Number(root)) !== true;
  });
}
