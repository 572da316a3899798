/** Field cases about stores that are damaged, replaced or none: what a running server does when it is asked to write (`spec/field-cases.md`). */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { mutating } from '../support/mutating.ts';
import { startInProcess, storePathOf, type TestServer } from '../support/server.ts';
import { buildStore, M, type Row, S, temporaryFolder } from '../support/stores.ts';
import { startWriter } from '../support/writer.ts';

const WRITING = { allowWrites: true } as const;
const startOn = (path: string): Promise<TestServer> => startInProcess({ home: dirname(path), settings: WRITING });
const titled = (title: string): string => buildStore({ schema: 31, rows: [S('a', { title }), M('a', { content: title })] });
const say = (server: TestServer, sessionId: string, more: object = {}) =>
  mutating(server, 'appendMessage', { sessionId, message: { role: 'user', content: 'new' }, ...more }, 'status problem { code }');
const retitle = (server: TestServer, sessionId = 'a') => mutating(server, 'setSessionTitle', { sessionId, title: 'T' }, 'changed');

const BLOCK = 'x'.repeat(700);
/** Sessions whose rows fill pages of their own. */
const large = (id: string, mark = ''): Row[] => [
  S(id),
  ...Array.from({ length: 40 }, (_, index) => M(id, { content: `${id} ${index} ${mark} ${BLOCK}` })),
];

/** Overwrites the page of the file that the text lies on. */
function damagePage(path: string, text: string): void {
  const bytes = readFileSync(path);
  const pageSize = bytes.readUInt16BE(16);
  const page = Math.floor(bytes.indexOf(text) / pageSize);
  writeFileSync(path, bytes.fill(0xa5, page * pageSize, (page + 1) * pageSize));
}

/** Every block of an index, so that SQLite finds it damaged at the next row. */
const damageIndex = (db: Database.Database) =>
  db.unsafeMode().exec("UPDATE messages_fts_data SET block = CAST(printf('%.*c', length(block), 'x') AS BLOB)");

function one(path: string, sql: string): unknown {
  const db = new Database(path, { readonly: true });
  try {
    return db.prepare(sql).pluck().get();
  } finally {
    db.close();
  }
}

describe('a damaged page', () => {
  it('F20, F54: of a transcript refuses what builds on it, and from then on everything, without touching the file', async () => {
    const path = buildStore({ schema: 31, rows: [...large('a'), ...large('x', 'DAMAGED-HERE'), ...large('c')] });
    damagePage(path, 'DAMAGED-HERE');
    const server = await startOn(path);
    expect(await mutating(server, 'rewindSession', { sessionId: 'x', turns: 3 }, 'rewoundCount')).toMatchObject({
      code: 'STORE_CORRUPT',
      settled: true,
      retryable: false,
    });
    const bytes = readFileSync(path);
    expect(await retitle(server)).toMatchObject({ code: 'STORE_CORRUPT', settled: true });
    expect(await say(server, 'c')).toMatchObject({ status: 'DIVERTED', problem: { code: 'STORE_CORRUPT' } });
    expect(readFileSync(path).equals(bytes)).toBe(true);
    const { c } = await server.read<{ c: unknown }, unknown>('{ c: session(sessionId: "c") { messages { totalCount } } }');
    expect(c).toEqual({ messages: { totalCount: 40 } });
    await server.stop();
  });

  it('F51, F54: of an index stops no message: it is written, and found without the index', async () => {
    const path = buildStore({ schema: 31, rows: [S('a'), M('a', { content: 'needle one' })], extra: damageIndex });
    const server = await startOn(path);
    const message = { role: 'user', content: 'needle two' };
    expect(await say(server, 'a', { message })).toMatchObject({ status: 'COMMITTED', problem: null });
    const found = '{ searchMessages(query: "needle", first: 5) { degraded nodes { message { text } } } }';
    const { searchMessages } = await server.read<{ searchMessages: { degraded: boolean; nodes: unknown[] } }, unknown>(found);
    expect(searchMessages.degraded).toBe(true);
    expect(searchMessages.nodes).toHaveLength(2);
    await server.stop();
  });

  it('Z14: of the index of one profile has that one rebuilt, and not the one that the server was started for', async () => {
    // Without the table for the note that it is stale, an index can only be rebuilt.
    const unmarkable = (db: Database.Database) => {
      damageIndex(db);
      db.exec('DROP TABLE state_meta');
    };
    const spec = { schema: 31, rows: [S('a'), M('a', { content: 'needle' })], extra: unmarkable } as const;
    const server = await startInProcess({ ...spec, profiles: { work: spec }, settings: WRITING });
    expect(await say(server, 'a', { profile: 'work' })).toMatchObject({ status: 'COMMITTED' });
    const isWhole = (path: string) => {
      try {
        return one(path, "SELECT COUNT(*) FROM messages_fts WHERE messages_fts MATCH 'needle'");
      } catch (error) {
        return (error as { code: string }).code;
      }
    };
    expect(isWhole(storePathOf(server.home, 'work'))).toBe(1);
    expect(isWhole(server.storePath)).toBe('SQLITE_CORRUPT_VTAB');
    await server.stop();
  }, 30_000);
});

describe('F55: a store that is another one by now', () => {
  it('is not written to: what was said is kept beside it, everything else is refused', async () => {
    const server = await startOn(titled('before'));
    expect(await say(server, 'a')).toMatchObject({ status: 'COMMITTED' });
    for (const suffix of ['-wal', '-shm']) rmSync(server.storePath + suffix);
    renameSync(titled('after'), server.storePath);
    expect(await retitle(server)).toMatchObject({ code: 'STORE_REPLACED', settled: true });
    expect(await say(server, 'a')).toMatchObject({ status: 'DIVERTED', problem: { code: 'STORE_REPLACED' } });
    expect(one(server.storePath, 'SELECT title FROM sessions')).toBe('after');
    expect(one(server.storePath, 'SELECT COUNT(*) FROM messages')).toBe(1);
    expect(readdirSync(join(server.home, 'pending_messages'))).toHaveLength(1);
    expect(readFileSync(join(server.home, 'sessions', 'a.jsonl'), 'utf8')).toContain('"new"');
    await server.stop();
  });

  it('or whose -wal was taken away under a living writer refuses every write', async () => {
    const server = await startOn(titled('before'));
    const other = await startWriter(server.storePath);
    await other.exec("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('a', 'user', 'theirs', 5)");
    expect(await say(server, 'a')).toMatchObject({ status: 'COMMITTED' });
    rmSync(`${server.storePath}-wal`);
    rmSync(`${server.storePath}-shm`);
    expect(await retitle(server)).toMatchObject({ code: 'WAL_GENERATION_LOST', settled: true });
    await sleep(30);
    const health = await server.read<{ profile: { store: { health: string } } }, unknown>('{ profile { store { health } } }');
    expect(health.profile.store.health).toBe('WAL_GENERATION_LOST');
    await other.kill();
    await server.stop();
  });
});

describe('F56: where there is no store', () => {
  const home = (make: (path: string) => void): string => {
    const path = join(temporaryFolder(), 'home', 'state.db');
    mkdirSync(dirname(path));
    make(path);
    return path;
  };
  it.each<readonly [string, string, (path: string) => void]>([
    ['nothing', 'STORE_UNREADABLE', () => {}],
    ['an empty file', 'STORE_INVALID', (path) => writeFileSync(path, '')],
    ['100 KB of text', 'STORE_INVALID', (path) => writeFileSync(path, 'text '.repeat(20_000))],
    ['a folder', 'STORE_INVALID', (path) => mkdirSync(path)],
    ['a database of something else', 'STORE_INVALID', (path) => void new Database(path).exec('CREATE TABLE t (x)').close()],
  ])('but %s, writing is refused, and nothing is made or changed', async (_, code, make) => {
    const path = home(make);
    const before = existsSync(path) && statSync(path).isFile() ? readFileSync(path) : null;
    const server = await startOn(path);
    const input = { sessionId: 'a', title: 'T' };
    const document = 'mutation ($input: SetSessionTitleInput!) { setSessionTitle(input: $input) { __typename ... on UserError { code } } }';
    const { data, errors } = await server.query<{ setSessionTitle: { code: string } }, unknown>(document, { input });
    expect(data?.setSessionTitle?.code ?? errors[0]?.extensions.code).toBe(code);
    expect(readdirSync(dirname(path)).filter((name) => name.startsWith('state.db'))).toEqual(existsSync(path) ? ['state.db'] : []);
    if (before !== null) expect(readFileSync(path).equals(before)).toBe(true);
    await server.stop();
  });

  it('whether a message of a platform is there is an error, and not false', async () => {
    const server = await startOn(home((path) => writeFileSync(path, 'text '.repeat(20_000))));
    const { data, errors } = await server.query('{ platformMessageExists(sessionId: "a", platformMessageId: "p") }');
    expect(data).toBeNull();
    expect(errors).toHaveLength(1);
    expect(errors[0]?.extensions.code).not.toBe('INTERNAL');
    await server.stop();
  });

  it('a store that comes later is written to', async () => {
    const path = home(() => {});
    const server = await startOn(path);
    await retitle(server).catch(() => null);
    renameSync(titled('late'), path);
    expect(await retitle(server)).toMatchObject({ changed: true });
    expect(one(path, 'SELECT title FROM sessions')).toBe('T');
    await server.stop();
  });
});
