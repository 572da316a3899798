/** F53, F56: files of the Web UI are served while their store is not there, or can't be read. */
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { eventually, startInProcess } from '../support/server.ts';
import { sidecarText } from '../support/sidecars.ts';
import { buildStore, M, S, temporaryFolder } from '../support/stores.ts';
import { MESSAGES, mutate } from '../support/web-ui-server.ts';

const FILES = {
  tea: sidecarText('tea', { title: 'Tea' }, MESSAGES),
  // A session that came from a terminal: that its store does not have it is not known.
  imported: sidecarText('imported', { title: 'Plans', is_cli_session: true, source_tag: 'cli', session_source: 'cli' }, MESSAGES),
};
const LIST = `query List($filter: SessionFilter) { sessions(first: 10, filter: $filter) {
  degraded totalCount nodes { sessionId title origins messageCount warnings { code } } } }`;
const FILES_ALONE = { origins: ['WEB_UI', 'CLAUDE_CODE'] };

interface List {
  readonly sessions: {
    readonly degraded: boolean;
    readonly totalCount: number;
    readonly nodes: readonly { readonly sessionId: string; readonly warnings: readonly { readonly code: string }[] }[];
  };
}

async function serve(store: Buffer | null) {
  const home = join(temporaryFolder(), 'home');
  const sessionsDir = join(home, 'webui', 'sessions');
  mkdirSync(sessionsDir, { recursive: true });
  for (const [id, text] of Object.entries(FILES)) writeFileSync(join(sessionsDir, `${id}.json`), text);
  if (store !== null) writeFileSync(join(home, 'state.db'), store);
  const server = await startInProcess({ home, settings: { allowWrites: true } });
  const list = (filter: object | null = null) => server.read<List, object>(LIST, { filter });
  return { server, home, list };
}

const OPEN = `{ session(sessionId: "tea") { title warnings { code } messages(first: 5) { nodes { role text } }
  transcript { messages { text } } tip { sessionId } children { sessionId } } }`;
const OPENED = {
  title: 'Tea',
  messages: {
    nodes: [
      { role: 'USER', text: 'Hello' },
      { role: 'ASSISTANT', text: 'Good day' },
    ],
  },
  transcript: { messages: [{ text: 'Hello' }, { text: 'Good day' }] },
  tip: { sessionId: 'tea' },
  children: [],
};

describe('F56: where there is no state.db', () => {
  it('(a) the list is that of the files, whole, and nothing is made', async () => {
    const { server, home, list } = await serve(null);
    const { sessions } = await list();
    expect(sessions.nodes.map(({ sessionId, warnings }) => [sessionId, warnings]).sort()).toEqual([
      ['imported', []],
      ['tea', []],
    ]);
    expect(sessions).toMatchObject({ degraded: false, totalCount: 2 });
    expect(await server.read(OPEN)).toEqual({ session: { ...OPENED, warnings: [] } });
    expect(await server.read('{ session(sessionId: "nobody") { title } }')).toEqual({ session: null });
    const { profile } = await server.read<{ profile: object }, object>('{ profile(name: "default") { store { health sessionCount } } }');
    expect(profile).toEqual({ store: { health: 'NOT_FOUND', sessionCount: null } });
    expect(readdirSync(home)).toEqual(['webui']);
  });

  it('the list of all profiles has the files beside the stores of the others', async () => {
    const { server, home } = await serve(null);
    mkdirSync(join(home, 'profiles', 'work'), { recursive: true });
    copyFileSync(
      buildStore({ schema: 31, journal: 'delete', rows: [S('stored'), M('stored')] }),
      join(home, 'profiles', 'work', 'state.db'),
    );
    const all = async (page: string) =>
      (
        await server.read<{ sessions: { nodes: { sessionId: string }[]; pageInfo: { endCursor: string; hasNextPage: boolean } } }, object>(
          `{ sessions(allProfiles: true, ${page}) { nodes { sessionId } pageInfo { endCursor hasNextPage } } }`,
        )
      ).sessions;
    const ids = ({ nodes }: { readonly nodes: readonly { readonly sessionId: string }[] }) => nodes.map(({ sessionId }) => sessionId);
    const whole = await eventually(async () => {
      const found = await all('first: 10');
      return found.nodes.length === 3 ? found : undefined;
    });
    const first = await all('first: 2');
    const rest = await all(`first: 2, after: "${first.pageInfo.endCursor}"`);
    expect([...ids(first), ...ids(rest)]).toEqual(ids(whole));
    expect(rest.pageInfo.hasNextPage).toBe(false);
  });

  it('a store that comes is in the list, and one that goes is missed', async () => {
    const { server, home, list } = await serve(null);
    expect((await list()).sessions.totalCount).toBe(2);
    const path = join(home, 'state.db');
    copyFileSync(buildStore({ schema: 31, journal: 'delete', rows: [S('stored'), M('stored'), S('imported'), M('imported')] }), path);
    await eventually(async () => (await list().catch(() => null))?.sessions.totalCount === 3);
    rmSync(path);
    await eventually(async () => (await server.query(LIST, {})).errors[0]?.extensions.code === 'NOT_FOUND');
    expect((await list(FILES_ALONE)).sessions).toMatchObject({ degraded: true, totalCount: 2 });
    // It may come back with it.
    expect(await server.error('{ session(sessionId: "stored") { title } }')).toMatchObject({ extensions: { code: 'NOT_FOUND' } });
    expect(existsSync(path)).toBe(false);
  });

  it('what takes its place is told with the next answer', async () => {
    const { server, home } = await serve(null);
    const warned = async () => {
      const { session } = await server.read<{ session: { warnings: readonly object[] } }, object>(
        '{ session(sessionId: "tea") { warnings { code } } }',
      );
      return session.warnings.length;
    };
    expect(await warned()).toBe(0);
    writeFileSync(join(home, 'state.db'), 'no database '.repeat(9000));
    await eventually(async () => (await warned()) === 1);
    rmSync(join(home, 'state.db'));
    await eventually(async () => (await warned()) === 0);
  });
});

/** A sound store whose schema names one table twice. */
function namedTwice(): Buffer {
  const path = buildStore({ schema: 31, journal: 'delete', rows: [S('stored'), M('stored')] });
  const db = new Database(path);
  db.unsafeMode();
  db.pragma('writable_schema = ON');
  db.exec("INSERT INTO sqlite_master SELECT * FROM sqlite_master WHERE name = 'messages_fts'");
  db.close();
  return readFileSync(path);
}

describe.each([
  ['F53: with a table that is named twice', namedTwice(), 'SCHEMA_MALFORMED'],
  ['F56: (b) empty', Buffer.alloc(0), 'EMPTY'],
  ['F56: (c) text', Buffer.from('no database '.repeat(9000)), 'NOT_A_DATABASE'],
  ['F56: (f) of zeros', Buffer.alloc(100_000), 'NOT_A_DATABASE'],
])('%s in place of a state.db', (_, store, code) => {
  it('is an error for the whole list, and the files are served to who asks for them', async () => {
    const { server, list } = await serve(store);
    expect(await server.error(LIST, {})).toMatchObject({ extensions: { code } });
    expect(await server.error(LIST, { filter: { origins: ['WEB_UI', 'STATE_DB'] } })).toMatchObject({ extensions: { code } });
    const { sessions } = await list(FILES_ALONE);
    expect(sessions).toMatchObject({ degraded: true, totalCount: 2 });
    expect(sessions.nodes.map(({ warnings }) => warnings)).toEqual([[{ code: 'STORE_UNREADABLE' }], [{ code: 'STORE_UNREADABLE' }]]);
    expect(await server.read(OPEN)).toEqual({ session: { ...OPENED, warnings: [{ code: 'STORE_UNREADABLE' }] } });
    // Whether the store has it, nobody knows.
    expect(await server.error('{ session(sessionId: "nobody") { title } }')).toMatchObject({ extensions: { code } });
    const both = await server.query<Record<string, unknown>, object>(
      '{ tea: session(sessionId: "tea") { title } nobody: session(sessionId: "nobody") { title } }',
    );
    expect([both.data, both.errors.length]).toEqual([{ tea: { title: 'Tea' }, nobody: null }, 1]);
    expect(await mutate(server, 'updateSession', { sessionId: 'tea', title: 'Milk' }, 'changed')).toMatchObject({ changed: true });
    expect((await list(FILES_ALONE)).sessions.nodes).toContainEqual(expect.objectContaining({ sessionId: 'tea', title: 'Milk' }));
  });
});
