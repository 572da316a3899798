/** What is at the path may be anything: the store says what, changes nothing, and creates nothing (`spec/state-db.md` 2.2, 2.3). */
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { type StoreHealth, StoreUnreadable } from '../../src/errors.ts';
import { describeHealth } from '../../src/state-db/health.ts';
import type { StateDbStore } from '../../src/state-db/store.ts';
import { copyStore } from '../support/golden.ts';
import { openStore } from '../support/open-store.ts';
import { buildStore, M, S, temporaryFolder } from '../support/stores.ts';

const PAGE = { size: 50, direction: 'FORWARD', after: null, before: null } as const;
const QUERY = { filter: {}, order: 'RECENT_ACTIVITY', collapse: 'LINEAGE' } as const;
const listed = async (store: StateDbStore) => (await store.list(QUERY, PAGE)).items.map(({ node }) => node.id);

/** Makes something at a path. */
type Make = (path: string) => void;

const NOTHING: Make = () => undefined;
const inSqlite =
  (sql: string): Make =>
  (path) => {
    const db = new Database(path);
    db.exec(sql);
    db.close();
  };

async function expectUnreadable(path: string, health: Exclude<StoreHealth, 'OK'>): Promise<void> {
  const store = openStore(path);
  const status = await store.status();
  expect(status).toMatchObject({ health, problem: describeHealth(health), sessionCount: null, messageCount: null, generation: null });
  expect(status.problem?.length).toBeGreaterThan(40);
  for (const read of [listed(store), store.sessions(['a']), store.generation(), store.totals(QUERY)]) {
    const error = await read.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(StoreUnreadable);
    expect(error).toMatchObject({ code: health, health, message: describeHealth(health) });
  }
  store.close();
}

describe('what is not a store', () => {
  it.each<[string, Exclude<StoreHealth, 'OK'>, Make]>([
    ['nothing', 'NOT_FOUND', NOTHING],
    ['an empty file', 'EMPTY', (path) => writeFileSync(path, '')],
    ['a database without a table', 'EMPTY', inSqlite('PRAGMA user_version = 1; VACUUM')],
    ['NUL bytes', 'NOT_A_DATABASE', (path) => copyFileSync(copyStore('zeroed'), path)],
    ['text', 'NOT_A_DATABASE', (path) => writeFileSync(path, 'not a database at all\n'.repeat(5000))],
    ['a directory', 'IO_ERROR', (path) => mkdirSync(path)],
    ['a database of another program', 'NOT_A_DATABASE', inSqlite('CREATE TABLE bookmarks (url TEXT)')],
    ['half a store', 'NOT_A_DATABASE', inSqlite('CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, started_at REAL)')],
    ['the first half of a file', 'CORRUPT', (path) => copyFileSync(copyStore('truncated'), path)],
  ])('#82 %s is %s, and stays as it is', async (_name, health, make) => {
    const folder = temporaryFolder();
    const path = join(folder, 'state.db');
    make(path);
    const before = { names: readdirSync(folder), digest: digest(path) };
    await expectUnreadable(path, health);
    expect(digest(path)).toBe(before.digest);
    // Opening a file in WAL mode makes its sidecars; nothing else may appear.
    expect(readdirSync(folder).filter((name) => !/-(wal|shm)$/.test(name))).toEqual(before.names);
  });

  it('a store that appears later is opened then', async () => {
    const path = join(temporaryFolder(), 'state.db');
    const store = openStore(path);
    const heard: string[] = [];
    store.onHealth(() => heard.push('health'));
    expect((await store.status()).health).toBe('NOT_FOUND');
    renameSync(buildStore({ rows: [S('a'), M('a')] }), path);
    await new Promise((resolve) => setTimeout(resolve, 250));
    await store.check();
    expect((await store.status()).health).toBe('OK');
    expect(await listed(store)).toEqual(['a']);
    expect(heard).toEqual(['health', 'health']);
  });
});

/** Null for what has no bytes. */
function digest(path: string): string | null {
  try {
    return createHash('sha256').update(readFileSync(path)).digest('hex');
  } catch {
    return null;
  }
}

describe('reading', () => {
  it.each(['wal', 'delete'] as const)('leaves the bytes of a store in %s mode as they are', async (journal) => {
    const path = buildStore({ journal, rows: [S('a'), M('a', { content: 'needle' })] });
    const before = digest(path);
    const store = openStore(path);
    expect(await listed(store)).toEqual(['a']);
    await store.transcripts([{ sessionId: 'a', view: 'DISPLAY' }]);
    await store.settle();
    expect((await store.status()).health).toBe('OK');
    store.close();
    expect(digest(path)).toBe(before);
  });

  it('follows a link to a store, sidecars included', async () => {
    const path = join(temporaryFolder(), 'state.db');
    const target = buildStore({ rows: [S('a'), M('a')] });
    symlinkSync(target, path);
    const store = openStore(path);
    expect(await listed(store)).toEqual(['a']);
    expect((await store.status()).walBytes).toBe(0);
    expect(readdirSync(dirname(path))).toEqual(['state.db']);
    store.close();
  });
});

describe('a strict observer', () => {
  it('refuses what it would have to create files for, and creates none', async () => {
    const path = buildStore({ rows: [S('a'), M('a')] });
    const store = openStore(path, { strictObserver: true });
    expect(await store.status()).toMatchObject({ health: 'IO_ERROR', problem: expect.stringContaining('--strict-observer') });
    await expect(listed(store)).rejects.toMatchObject({ code: 'IO_ERROR' });
    expect(readdirSync(dirname(path))).toEqual(['state.db']);
  });

  it('reads a store beside its writer', async () => {
    const path = buildStore({ rows: [S('a'), M('a')] });
    const writer = new Database(path);
    writer.exec("UPDATE sessions SET title = 'Tea'");
    const names = readdirSync(dirname(path));
    expect(await listed(openStore(path, { strictObserver: true }))).toEqual(['a']);
    expect(readdirSync(dirname(path))).toEqual(names);
    writer.close();
  });

  it('reads a store with a rollback journal', async () => {
    const path = buildStore({ journal: 'delete', rows: [S('a'), M('a')] });
    expect(await listed(openStore(path, { strictObserver: true }))).toEqual(['a']);
    expect(readdirSync(dirname(path))).toEqual(['state.db']);
  });
});
