/** Damaged, swapped, locked and foreign stores: an error where the damage is, the rest as ever (`field-cases` I, J65, C20). */
import { copyFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { graphql } from '../generated/gql.ts';
import { startInProcess, storePathOf, type TestServer } from '../support/server.ts';
import { buildStore, M, type Row, S, type StoreSpec } from '../support/stores.ts';
import { startWriter } from '../support/writer.ts';

const ALL = graphql(`
  query All($profile: String!) {
    sessions(profile: $profile, first: 20, orderBy: STARTED) {
      totalCount
      nodes {
        sessionId
        title
        displayTitle
        startedAt
        messageCount
        modelConfig
        edgeKind
        archived
        unread
        warnings { code field }
        messages { totalCount nodes { text toolCalls { name } state warnings { code field } } }
      }
    }
  }
`);
const STORE = graphql(`
  query StoreOf($profile: String!) {
    profile(name: $profile) {
      store { health problem schemaVersion sessionCount messageCount missingColumns unknownColumns searchDegraded }
    }
  }
`);

const BLOCK = 'x'.repeat(700);
/** Sessions whose rows fill pages of their own; the first page with MARK in it can be found in the file. */
const large = (id: string, mark = ''): Row[] => [
  S(id, { message_count: 40, title: `Title of ${id}` }),
  ...Array.from({ length: 40 }, (_, index) => M(id, { content: `${id} ${index} ${mark} ${BLOCK}` })),
];

const STORES: Readonly<Record<string, StoreSpec>> = {
  f20: { rows: [...large('a'), ...large('x', 'DAMAGED-HERE'), ...large('c')] },
  f57: {
    rows: Array.from({ length: 20 }, (_, index) => [
      S(`s${index}`, { started_at: 1000 - index }),
      M(`s${index}`, { content: `text ${index}` }),
    ]).flat(),
    extra: (db) =>
      db.exec(`
        UPDATE sessions SET title = CAST(x'41ff42' AS TEXT) WHERE id = 's3';
        UPDATE sessions SET started_at = 'garbage' WHERE id = 's4';
        UPDATE sessions SET started_at = 9e999 WHERE id = 's5';
        UPDATE sessions SET model_config = '{bad' WHERE id = 's6';
        UPDATE messages SET content = x'68656c6c6f' WHERE session_id = 's7';
        UPDATE messages SET role = 'assistant', tool_calls = '[1' WHERE session_id = 's8';`),
  },
  'f58-older': { schema: 6, rows: [S('a', { title: 'Old' }), M('a', { content: 'one' }), M('a', { content: 'two' })] },
  'f58-newer': {
    schema: 31,
    rows: [S('a', { title: 'New' }), M('a', { content: 'one' }), M('a', { content: 'two' })],
    extra: (db) =>
      db.exec(`ALTER TABLE sessions ADD COLUMN mood TEXT; ALTER TABLE messages ADD COLUMN weather TEXT;
        CREATE TABLE horoscopes (sign TEXT); UPDATE schema_version SET version = 99;`),
  },
  f65: {
    rows: [
      S('kept', { message_count: 1 }),
      M('kept', { content: 'needle kept' }),
      S('child', { parent_session_id: 'gone7', message_count: 1, model_config: '{"_branched_from":"gone7"}' }),
      M('child', { content: 'needle child' }),
      ...Array.from({ length: 360 }, (_, index) => M(`gone${index % 100}`, { content: `needle orphan ${index}` })),
    ],
  },
};

let server: TestServer;
beforeAll(async () => {
  server = await startInProcess({
    profiles: STORES,
    home: buildStore({ rows: [S('healthy'), M('healthy', { content: 'hello' })] }).replace(/\/state\.db$/, ''),
  });
});

/** Overwrites the page of the table `messages` that holds the text. */
function damagePage(path: string, text: string): void {
  const bytes = readFileSync(path);
  const pageSize = bytes.readUInt16BE(16);
  const page = Math.floor(bytes.indexOf(text) / pageSize);
  writeFileSync(path, bytes.fill(0xa5, page * pageSize, (page + 1) * pageSize));
}

describe('one damaged place', () => {
  it('F20: of one transcript is an error at its messages; its title and all other sessions are there', async () => {
    damagePage(storePathOf(server.home, 'f20'), 'DAMAGED-HERE');
    const { data, errors } = await server.query(ALL, { profile: 'f20' });
    const byId = new Map(data?.sessions.nodes.map((node) => [node.sessionId, node]));
    expect(byId.get('x')).toMatchObject({ title: 'Title of x', displayTitle: 'Title of x', messages: null });
    expect(byId.get('a')?.messages).toMatchObject({ totalCount: 40 });
    expect(byId.get('c')?.messages).toMatchObject({ totalCount: 40 });
    const index = data?.sessions.nodes.findIndex((node) => node.sessionId === 'x');
    expect(new Set(errors.map((error) => error.extensions.code))).toEqual(new Set(['CORRUPT']));
    for (const { path } of errors) expect(path?.slice(0, 4)).toEqual(['sessions', 'nodes', index, 'messages']);
  });

  it('F54: of the table makes the store CORRUPT, of the index only the search degraded', async () => {
    const { profile } = await server.read(STORE, { profile: 'f20' });
    expect(profile?.store).toMatchObject({ health: 'CORRUPT', problem: expect.stringContaining('damaged'), sessionCount: 3 });
    const { errors } = await server.query('{ session(profile: "f20", sessionId: "x") { messages { totalCount nodes { text } } } }');
    expect(errors[0]?.extensions.code).toBe('CORRUPT');
  });

  it('F57: of one cell leaves all rows, with null or repaired text and a warning', async () => {
    const { sessions } = await server.read(ALL, { profile: 'f57' });
    expect(sessions.totalCount).toBe(20);
    const byId = new Map(sessions.nodes.map((node) => [node.sessionId, node]));
    const codes = (id: string) => byId.get(id)?.warnings.filter(({ code }) => code !== 'COUNT_MISMATCH');
    expect(byId.get('s3')?.title).toBe('A�B');
    expect(codes('s3')).toEqual([{ code: 'UNDECODABLE_TEXT', field: 'title' }]);
    for (const id of ['s4', 's5']) {
      expect(byId.get(id)?.startedAt).toBe(null);
      expect(codes(id)).toEqual([{ code: 'TIME_OUT_OF_RANGE', field: 'started_at' }]);
    }
    expect(sessions.nodes.slice(-2).map((node) => node.sessionId)).toEqual(['s5', 's4']);
    expect(byId.get('s6')?.modelConfig).toBe(null);
    expect(codes('s6')).toEqual([{ code: 'INVALID_JSON', field: 'model_config' }]);
    expect(byId.get('s7')?.messages?.nodes).toMatchObject([{ text: 'hello', warnings: [{ code: 'NOT_TEXT', field: 'content' }] }]);
    expect(byId.get('s8')?.messages?.nodes).toMatchObject([{ toolCalls: [], warnings: [{ code: 'INVALID_JSON', field: 'tool_calls' }] }]);
  });
});

describe('F58: another layout', () => {
  it('an older one is answered with the defaults of what it lacks', async () => {
    const { sessions } = await server.read(ALL, { profile: 'f58-older' });
    expect(sessions.nodes).toMatchObject([
      { title: 'Old', archived: false, unread: false, messageCount: 2, messages: { nodes: [{ state: 'LIVE' }, { state: 'LIVE' }] } },
    ]);
    const { profile } = await server.read(STORE, { profile: 'f58-older' });
    expect(profile?.store).toMatchObject({ health: 'OK', schemaVersion: 6, unknownColumns: [] });
    expect(profile?.store.missingColumns).toEqual(
      expect.arrayContaining(['sessions.archived', 'sessions.last_read_at', 'messages.active', 'messages.compacted']),
    );
  });

  it('a newer one is answered as if nothing were new, and what is unknown is named', async () => {
    const { sessions } = await server.read(ALL, { profile: 'f58-newer' });
    expect(sessions.nodes).toMatchObject([{ title: 'New', messageCount: 2, messages: { nodes: [{ text: 'one' }, { text: 'two' }] } }]);
    const { profile } = await server.read(STORE, { profile: 'f58-newer' });
    expect(profile?.store).toMatchObject({
      health: 'OK',
      schemaVersion: 99,
      unknownColumns: ['sessions.mood', 'messages.weather'],
    });
  });
});

describe('F65: messages without a session', () => {
  it('are in no search, count or list; a child of nobody is a root with a warning', async () => {
    const { profile } = await server.read(STORE, { profile: 'f65' });
    expect(profile?.store).toMatchObject({ sessionCount: 2, messageCount: 2 });
    const { sessions } = await server.read(ALL, { profile: 'f65' });
    expect(sessions.nodes.map((node) => [node.sessionId, node.warnings.map(({ code }) => code)])).toEqual([
      ['kept', []],
      ['child', ['MISSING_PARENT']],
    ]);
    const found = await server.read<{ searchMessages: { nodes: { message: { text: string } }[] } }, unknown>(
      '{ searchMessages(profile: "f65", query: "needle", first: 200) { nodes { message { text } } } }',
    );
    expect(found.searchMessages.nodes.map(({ message }) => message.text).sort()).toEqual(['needle child', 'needle kept']);
  });
});

describe('F55: the file under the open handle is not the file any more', () => {
  const titled = (title: string) => buildStore({ rows: [S('a', { title }), M('a', { content: title })] });
  const TITLE = '{ sessions { pageInfo { endCursor } nodes { title } } }';
  interface Titles {
    sessions: { pageInfo: { endCursor: string }; nodes: { title: string }[] };
  }
  async function titleOf(on: TestServer): Promise<string | undefined> {
    return (await on.read<Titles, unknown>(TITLE)).sessions.nodes[0]?.title;
  }

  it('replaced by another one: the next query serves the new content, and old cursors are stale', async () => {
    const swapped = await startInProcess({ home: titled('before').replace(/\/state\.db$/, '') });
    const { sessions } = await swapped.read<Titles, unknown>(TITLE);
    expect(sessions.nodes).toEqual([{ title: 'before' }]);
    renameSync(titled('after'), swapped.storePath);
    await sleep(30);
    expect(await titleOf(swapped)).toBe('after');
    expect(await swapped.error(`{ sessions(after: "${sessions.pageInfo.endCursor}") { nodes { title } } }`)).toMatchObject({
      extensions: { code: 'STALE_CURSOR' },
    });
    await swapped.stop();
  });

  it('written over in place: soon served anew', async () => {
    const swapped = await startInProcess({ home: titled('before').replace(/\/state\.db$/, '') });
    expect(await titleOf(swapped)).toBe('before');
    rmSync(`${swapped.storePath}-wal`, { force: true });
    rmSync(`${swapped.storePath}-shm`, { force: true });
    copyFileSync(titled('after'), swapped.storePath);
    for (let tries = 0; tries < 40 && (await titleOf(swapped)) !== 'after'; tries++) await sleep(100);
    expect(await titleOf(swapped)).toBe('after');
    await swapped.stop();
  });

  it('its -wal removed while a program writes to it: what is known is served, and the state says what happened', async () => {
    const torn = await startInProcess({ home: titled('before').replace(/\/state\.db$/, '') });
    const writer = await startWriter(torn.storePath);
    await writer.exec("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('a', 'user', 'only in the log', 5)");
    const read = '{ session(sessionId: "a") { messages { totalCount } } profile { store { health problem } } }';
    expect(await torn.read(read)).toEqual({
      session: { messages: { totalCount: 2 } },
      profile: { store: { health: 'OK', problem: null } },
    });
    rmSync(`${torn.storePath}-wal`);
    rmSync(`${torn.storePath}-shm`);
    await sleep(30);
    expect(await torn.read(read)).toEqual({
      session: { messages: { totalCount: 2 } },
      profile: { store: { health: 'WAL_GENERATION_LOST', problem: expect.stringContaining('Stop all writers') } },
    });
    await writer.kill();
    await torn.stop();
  });
});

describe('F60: a store that another program holds locked', () => {
  it('is waited for without holding up anybody else, and is BUSY when that takes too long', async () => {
    const locked = await startInProcess({ journal: 'delete', rows: [S('a', { title: 'a' }), M('a', { content: 'hello' })] });
    await locked.read('{ sessions { totalCount } }');
    const writer = await startWriter(locked.storePath);
    await writer.exec('BEGIN EXCLUSIVE');
    const start = performance.now();
    const waiting = locked.query('{ session(sessionId: "a") { messages { totalCount } } }');
    await sleep(100);
    const other = performance.now();
    await locked.read('{ server { version } }');
    expect(performance.now() - other).toBeLessThan(200);
    await sleep(700);
    await writer.exec('COMMIT');
    expect(await waiting).toMatchObject({ data: { session: { messages: { totalCount: 1 } } }, errors: [] });
    expect(performance.now() - start).toBeGreaterThan(700);
    await writer.exec('BEGIN EXCLUSIVE');
    const { errors } = await locked.query('{ session(sessionId: "a") { messages { totalCount } } }');
    expect(errors.map((error) => error.extensions.code)).toEqual(['BUSY']);
    await writer.close();
    expect(await locked.read('{ session(sessionId: "a") { messages { totalCount } } }')).toEqual({
      session: { messages: { totalCount: 1 } },
    });
    await locked.stop();
  }, 20_000);
});
