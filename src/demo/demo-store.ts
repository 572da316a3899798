/** The demo's home directory: made at first use, made anew when its content has grown old, otherwise left alone. */
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { CaduceusError } from '../errors.ts';
import { defaultProfile, workProfile, writeContent } from './demo-content.ts';
import type { DemoContent } from './demo-lineages.ts';
import { writeWebUi } from './demo-web-ui.ts';
import { createStateDb } from './state-db-schema.ts';

/** Lies beside `state.db` and says that the store is ours to replace. */
export const DEMO_MARKER = 'caduceus-demo.json';
/** A demo whose newest activity is older than this looks abandoned: live turns and "minutes ago" are part of it. */
const STALE_SECONDS = 24 * 3600;
/** Making the demo takes well under a second: whoever holds the lock for longer has died. */
const LOCK_STALE_MS = 10_000;
const LOCK_POLL_MS = 50;

export interface DemoHome {
  /** A Hermes home: a store of its own, one of a profile called work, and the folder `webui`. */
  readonly home: string;
}

/**
 * Makes `dir` a Hermes home with the demo's two stores and a Web UI, unless it holds them already and they are fresh. Nothing outside `dir` is
 * touched. `now` is in epoch seconds. Throws CaduceusError DEMO_DIRECTORY_IN_USE when there is a store without the demo's marker.
 */
export async function ensureDemoHome(dir: string, now: number = Date.now() / 1000): Promise<DemoHome> {
  const home = resolve(dir);
  await mkdir(home, { recursive: true, mode: 0o700 });
  const release = await lockHome(home);
  try {
    if (!(await isFresh(home, now))) await makeDemo(home, now);
  } finally {
    await release();
  }
  return { home };
}

/** Where the demo's turns leave the files of the Web UI: in its home, as at the owner's. */
export function webUiDir(home: string): string {
  return join(home, 'webui');
}

async function isFresh(home: string, now: number): Promise<boolean> {
  const present = await Promise.all(storesOf(home).map(exists));
  if (!(await exists(join(home, DEMO_MARKER)))) {
    if (!present.includes(true)) return false;
    throw new CaduceusError(
      'DEMO_DIRECTORY_IN_USE',
      `${home} holds a state.db that is not the demo's. Choose another directory for the demo, or serve this one without --demo.`,
    );
  }
  const marker = await readFile(join(home, DEMO_MARKER), 'utf8');
  const complete = marker.includes('"complete"') && !present.includes(false);
  return complete && now - newestActivity(join(home, 'state.db')) < STALE_SECONDS;
}

function storesOf(home: string): [main: string, work: string] {
  return [join(home, 'state.db'), join(home, 'profiles', 'work', 'state.db')];
}

/** The largest plausible time in the store. One that somebody holds is in use; one that can't be read is made anew (0). */
function newestActivity(path: string): number {
  let db: Database.Database | undefined;
  try {
    db = new Database(path, { readonly: true, fileMustExist: true });
    const sql = 'SELECT MAX(timestamp) FROM messages WHERE timestamp BETWEEN 0.0 AND 4200000000.0';
    return Number(db.prepare(sql).pluck().get() ?? 0);
  } catch (error) {
    if (error instanceof Database.SqliteError) return error.code.startsWith('SQLITE_BUSY') ? Number.POSITIVE_INFINITY : 0;
    throw error;
  } finally {
    db?.close();
  }
}

/** Whatever happens in between, the marker is there before a store is, so that the next start may replace it. */
async function makeDemo(home: string, now: number): Promise<void> {
  await writeMarker(home, 'being made', now);
  // The Web UI's files speak of sessions that are no more.
  await rm(webUiDir(home), { recursive: true, force: true });
  const [main, work] = storesOf(home);
  await makeStore(work, workProfile(now));
  const content = defaultProfile(now);
  writeWebUi(webUiDir(home), content, now);
  await makeStore(main, content);
  await writeMarker(home, 'complete', now);
}

/** The store is written aside and renamed into place, so that a half-made one is never in use. */
async function makeStore(path: string, content: DemoContent): Promise<void> {
  const draft = `${path}.new`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await rm(draft, { force: true });
  await removeSidecars(draft);
  const db = createStateDb(draft);
  try {
    writeContent(db, content);
  } finally {
    db.close();
  }
  await removeSidecars(path);
  await rename(draft, path);
}

/** Before the file itself changes: an old write-ahead log beside a new database would be replayed into it. */
async function removeSidecars(path: string): Promise<void> {
  for (const name of [`${path}-wal`, `${path}-shm`]) await rm(name, { force: true });
}

async function writeMarker(home: string, state: 'being made' | 'complete', now: number): Promise<void> {
  const note = 'Made by caduceus --demo. Everything here is invented and may be deleted or replaced at any time.';
  await writeFile(join(home, DEMO_MARKER), `${JSON.stringify({ note, state, madeAt: new Date(now * 1000).toISOString() })}\n`);
}

/** Two starts at once must not write into each other's stores. Gives the function that unlocks. */
async function lockHome(home: string): Promise<() => Promise<void>> {
  const lock = join(home, 'caduceus-demo.lock');
  for (;;) {
    try {
      await mkdir(lock);
      return () => rm(lock, { recursive: true, force: true });
    } catch (error) {
      if (!isCode(error, 'EEXIST')) throw error;
    }
    const held = await stat(lock).catch((error: unknown) => {
      if (isCode(error, 'ENOENT')) return null;
      throw error;
    });
    if (held !== null && Date.now() - held.mtimeMs > LOCK_STALE_MS) await rm(lock, { recursive: true, force: true });
    else await sleep(LOCK_POLL_MS);
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return false;
    throw error;
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
