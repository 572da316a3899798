/** Stores that can't be read: a state and a sentence, an error instead of an empty list, and no harm to the others (`field-cases` I, M). */
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { beforeAll, describe, expect, it } from 'vitest';
import { graphql } from '../generated/gql.ts';
import type { StoreHealth, TitlesQuery } from '../generated/graphql.ts';
import { copyStore } from '../support/golden.ts';
import { startInProcess, storePathOf, type TestServer } from '../support/server.ts';
import { buildStore, M, S, temporaryFolder } from '../support/stores.ts';

const PROFILES = graphql(`
  query Profiles { profiles { name isDefault store { health problem sessionCount messageCount searchDegraded } } }
`);
const TITLES = graphql(`
  query Titles($profile: String, $allProfiles: Boolean, $after: String, $first: Int) {
    sessions(profile: $profile, allProfiles: $allProfiles, after: $after, first: $first) {
      totalCount
      pageInfo { hasNextPage endCursor }
      nodes { sessionId title profile { name } }
    }
  }
`);

/** What lies at the path of `state.db`, the health that it has, and a piece of the sentence. */
const UNREADABLE: readonly (readonly [name: string, make: (path: string) => void, health: StoreHealth, sentence: RegExp])[] = [
  ['missing', () => {}, 'NOT_FOUND', /no state\.db.*creates nothing/],
  ['empty', (path) => writeFileSync(path, ''), 'EMPTY', /holds no tables/],
  ['zeroed', (path) => copyFileSync(copyStore('zeroed'), path), 'NOT_A_DATABASE', /not a SQLite database/],
  ['text', (path) => writeFileSync(path, 'Dear diary, '.repeat(9000)), 'NOT_A_DATABASE', /not a SQLite database/],
  ['header', (path) => writeFileSync(path, withoutHeader()), 'NOT_A_DATABASE', /not a SQLite database/],
  ['no-tables', (path) => otherDatabase(path, 'PRAGMA user_version = 1'), 'EMPTY', /holds no tables/],
  ['other-tables', (path) => otherDatabase(path, 'CREATE TABLE recipes (name TEXT)'), 'NOT_A_DATABASE', /not a SQLite database/],
  ['folder', (path) => mkdirSync(path), 'IO_ERROR', /could not be read/],
  ['truncated', (path) => copyFileSync(copyStore('truncated'), path), 'CORRUPT', /Pages of state\.db are damaged/],
  ['doubled', (path) => copyFileSync(withDoubledSchemaRow(), path), 'SCHEMA_MALFORMED', /schema of state\.db is damaged/],
];

function withoutHeader(): Buffer {
  const bytes = readFileSync(buildStore({ rows: [S('a')] }));
  return bytes.fill(0x5a, 0, 4096);
}

function otherDatabase(path: string, sql: string): void {
  const db = new Database(path);
  db.exec(sql);
  db.close();
}

/** F53: `sqlite_master` names one table twice; every row is intact. */
function withDoubledSchemaRow(): string {
  return buildStore({
    rows: [S('a'), M('a', { content: 'hello' })],
    extra: (db) => {
      db.unsafeMode();
      db.pragma('writable_schema = ON');
      db.exec("INSERT INTO sqlite_master SELECT * FROM sqlite_master WHERE name = 'messages_fts'");
    },
  });
}

let server: TestServer;
beforeAll(async () => {
  const home = dirname(buildStore({ rows: [S('x', { title: 'root' }), M('x', { content: 'hello' })] }));
  for (const [name, make] of UNREADABLE) {
    const path = storePathOf(home, name);
    mkdirSync(dirname(path), { recursive: true });
    make(path);
  }
  server = await startInProcess({
    home,
    profiles: {
      work: { rows: [S('x', { title: 'work' }), M('x', { content: 'hello' }), S('y', { title: 'more' }), M('y', { content: 'hi' })] },
    },
  });
});

describe.each(UNREADABLE)('F56: a store that is %s', (name, _, health, sentence) => {
  it('says so among the profiles, with a sentence that says what to do', async () => {
    const { profiles } = await server.read(PROFILES);
    expect(profiles.find((profile) => profile.name === name)?.store).toMatchObject({
      health,
      problem: expect.stringMatching(sentence),
      sessionCount: null,
      messageCount: null,
      searchDegraded: true,
    });
  });

  it.each([
    'sessions(profile: $p) { totalCount }',
    'session(profile: $p, sessionId: "x") { title }',
    'resolveSession(profile: $p, reference: "x") { title }',
    'message(profile: $p, rowId: "1") { text }',
    'searchMessages(profile: $p, query: "x") { nodes { snippet } }',
    'usage(profile: $p, groupBy: [MODEL]) { sessions }',
    'turnLeases(profile: $p) { key }',
    'delegations(profile: $p) { state }',
  ])('is an error with that code and not emptiness: %s', async (selection) => {
    const { data, errors } = await server.query<Record<string, unknown>, unknown>(`query ($p: String) { ${selection} }`, { p: name });
    expect(errors.map((error) => error.extensions.code)).toEqual([health]);
    expect(errors[0]?.message).toMatch(sentence);
    expect(Object.values(data ?? {})).toEqual(data === null ? [] : [null]);
  });

  it('is left as it was: nothing is created or changed', () => {
    const path = storePathOf(server.home, name);
    if (name === 'missing') expect(readdirSync(dirname(path))).toEqual([]);
    if (name === 'empty') expect(readFileSync(path)).toHaveLength(0);
    if (name === 'text') expect(existsSync(`${path}-wal`)).toBe(false);
  });
});

describe('F53: a schema that names one table twice', () => {
  it('is found by a real read, when the store is opened and when it happens under the open handle', async () => {
    const sound = await startInProcess({ rows: [S('a'), M('a', { content: 'hello' })] });
    expect(await sound.read('{ sessions { totalCount } }')).toEqual({ sessions: { totalCount: 1 } });
    const db = new Database(sound.storePath);
    db.unsafeMode();
    db.pragma('writable_schema = ON');
    db.exec("INSERT INTO sqlite_master SELECT * FROM sqlite_master WHERE name = 'messages_fts'");
    db.pragma('schema_version = 4711');
    db.close();
    for (let tries = 0; tries < 40; tries++) {
      const { errors } = await sound.query('{ sessions { totalCount } }');
      if (errors.length > 0) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(await sound.error('{ sessions { totalCount } }')).toMatchObject({
      message: expect.stringMatching(/schema of state\.db is damaged.*rows are probably intact.*repair/),
      extensions: { code: 'SCHEMA_MALFORMED' },
    });
    await sound.stop();
  });
});

describe('the readable stores', () => {
  it('F74: keep working beside the others, each with its own session under the same id', async () => {
    const { profiles } = await server.read(PROFILES);
    const healthy = profiles.filter((profile) => profile.store.health === 'OK');
    expect(healthy.map(({ name, isDefault, store }) => [name, isDefault, store.problem, store.sessionCount])).toEqual([
      ['default', true, null, 1],
      ['work', false, null, 2],
    ]);
    const both = await server.read<{ root: object; work: object; nodes: object[] }, unknown>(`{
      root: session(sessionId: "x") { title profile { name } messages { nodes { id } } }
      work: session(sessionId: "x", profile: "work") { title profile { name } messages { nodes { id } } }
    }`);
    expect(both.root).toMatchObject({ title: 'root', profile: { name: 'default' } });
    expect(both.work).toMatchObject({ title: 'work', profile: { name: 'work' } });
    expect(await server.error('{ session(sessionId: "x", profile: "nope") { title } }')).toMatchObject({
      extensions: { code: 'PROFILE_NOT_FOUND' },
    });
  });

  it('F74: are one list with allProfiles, the profile on each row, over pages too', async () => {
    const all: string[] = [];
    let after: string | null = null;
    for (let more = true; more; ) {
      const { sessions } = await pageAfter(after);
      expect(sessions.totalCount).toBe(3);
      all.push(...sessions.nodes.map((node) => `${node.profile.name}/${node.sessionId} ${node.title}`));
      after = sessions.pageInfo.endCursor ?? null;
      more = sessions.pageInfo.hasNextPage;
    }
    expect(all.sort()).toEqual(['default/x root', 'work/x work', 'work/y more']);
  });
  const pageAfter = (after: string | null): Promise<TitlesQuery> => server.read(TITLES, { allProfiles: true, first: 1, after });

  it('F75: answer each request by what it says, however requests of two clients mix', async () => {
    const asked = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? null : 'work'));
    const answers = await Promise.all(asked.map((profile) => server.read(TITLES, { profile })));
    for (const [index, { sessions }] of answers.entries()) {
      const expected = asked[index] ?? 'default';
      expect(new Set(sessions.nodes.map((node) => node.profile.name))).toEqual(new Set([expected]));
      expect(sessions.totalCount).toBe(expected === 'work' ? 2 : 1);
    }
  });

  it('F74: when there are none, all profiles together are an error and no empty list', async () => {
    const lonely = await startInProcess({ home: temporaryFolder() });
    expect(await lonely.error('{ sessions(allProfiles: true) { totalCount } }')).toMatchObject({ extensions: { code: 'NOT_FOUND' } });
    expect(readdirSync(lonely.home)).toEqual([]);
    await lonely.stop();
  });

  it('F74: another default profile is what the server was started for', async () => {
    const other = await startInProcess({ home: server.home, settings: { profile: 'work' } });
    const { sessions } = await other.read(TITLES, {});
    expect(new Set(sessions.nodes.map((node) => node.profile.name))).toEqual(new Set(['work']));
    await other.stop();
  });
});
