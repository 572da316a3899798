/** Stores for the tests of repairs, the ways to damage them, and what must be left of them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname } from 'node:path';
import Database from 'better-sqlite3';
import { buildStore, M, S, type StoreSpec } from '../../support/stores.ts';

export const ROWS = 400;
const BETTER_SQLITE = createRequire(import.meta.url).resolve('better-sqlite3');

/** A store of one session and 400 messages, each of which says "docker" and its number. */
export function filledStore(spec: StoreSpec = {}): string {
  const rows = Array.from({ length: ROWS }, (_, index) => M('s', { content: `docker number${index} ${'filling '.repeat(40)}` }));
  return buildStore({ ...spec, rows: [S('s'), ...rows, ...(spec.rows ?? [])] });
}

/** A table that is declared twice: the store can't be opened, and every row is there. */
export function declareTwice(path: string, table = 'messages_fts'): void {
  const db = new Database(path);
  db.unsafeMode(true);
  db.pragma('writable_schema = ON');
  db.prepare(
    'INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql) SELECT type, name, tbl_name, rootpage, sql FROM sqlite_master WHERE name = ?',
  ).run(table);
  db.close();
}

/** Leaves the newest row out of an index of messages. */
export function missRow(path: string, index: string): void {
  const db = new Database(path);
  db.unsafeMode(true);
  const sql = db.prepare('SELECT sql FROM sqlite_master WHERE name = ?').pluck().get(index);
  const declare = (definition: string): void => {
    db.pragma('writable_schema = ON');
    db.prepare('UPDATE sqlite_master SET sql = ? WHERE name = ?').run(definition, index);
    db.pragma('writable_schema = RESET');
  };
  declare(`${sql} WHERE id < 0`);
  db.exec("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s', 'user', 'left out', 1)");
  declare(String(sql));
  db.close();
}

/** Overwrites the last leaf page of a table or index. */
export function damageLeaf(path: string, name: string): void {
  const db = new Database(path);
  const page = Number(db.prepare("SELECT MAX(pageno) FROM dbstat WHERE name = ? AND pagetype = 'leaf'").pluck().get(name));
  const size = Number(db.pragma('page_size', { simple: true }));
  db.close();
  overwrite(path, (page - 1) * size, Buffer.alloc(size, 0x5a));
}

function overwrite(path: string, position: number, bytes: Buffer): void {
  const file = openSync(path, 'r+');
  writeSync(file, bytes, 0, bytes.length, position);
  closeSync(file);
}

/** The names beside the store, with its own name cut off and times replaced. */
export function filesBeside(path: string): string[] {
  const prefix = basename(path);
  return readdirSync(dirname(path))
    .map((name) => name.replace(prefix, 'state.db').replace(/\d{8}_\d{6}(_\d+)?/, 'STAMP'))
    .sort();
}

export function bytesOf(path: string): string {
  return readFileSync(path).toString('base64');
}

export function countMessages(path: string): number {
  const db = new Database(path, { readonly: true });
  try {
    return Number(db.prepare('SELECT COUNT(*) FROM messages NOT INDEXED').pluck().get());
  } finally {
    db.close();
  }
}

/** What SQLite says of the whole store: `ok`, or what is wrong. */
export function integrity(path: string): string {
  const db = new Database(path);
  try {
    return String(db.pragma('integrity_check', { simple: true }));
  } finally {
    db.close();
  }
}

export function matches(path: string, word: string, table = 'messages_fts'): number {
  const db = new Database(path, { readonly: true });
  try {
    return Number(db.prepare(`SELECT COUNT(*) FROM ${table} WHERE ${table} MATCH ?`).pluck().get(word));
  } finally {
    db.close();
  }
}

/** Another process that has the store open, without a transaction. */
export async function holdOpen(path: string): Promise<ChildProcess> {
  const script = `const D = require(${JSON.stringify(BETTER_SQLITE)}); const db = new D(process.argv[1]);
    try { db.prepare('SELECT COUNT(*) FROM sqlite_master').get(); } catch {}
    console.log('open'); setInterval(() => db.open, 1000);`;
  return started(spawn(process.execPath, ['-e', script, path], { stdio: ['ignore', 'pipe', 'inherit'] }));
}

/** Another program that has a lock file, as the owner's programs do. */
export async function lockedByAnother(path: string): Promise<ChildProcess> {
  return started(
    spawn('sh', ['-c', 'exec 9>>"$1"; flock -x 9; echo held; exec sleep 60', 'sh', path], { stdio: ['ignore', 'pipe', 'inherit'] }),
  );
}

/** Waits for a first line of output. */
export async function started(child: ChildProcess): Promise<ChildProcess> {
  await new Promise((resolve, reject) => {
    child.stdout?.once('data', resolve);
    child.once('exit', () => reject(new Error('the process ended before it was ready')));
  });
  return child;
}

export async function end(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}
