/** One list for sessions of the store, of the Web UI's files and of Claude Code, over real sockets. */
import { cpSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isJsonObject } from '../../src/state-db/decode.ts';
import { fixturesDir, loadGolden } from '../support/golden.ts';
import { eventually, startInProcess, type TestServer, type TestServerSpec } from '../support/server.ts';
import { type Fields, saveSidecar, sidecarText } from '../support/sidecars.ts';
import { createSocketClient, subscribe } from '../support/sockets.ts';
import { buildStore, M, S, temporaryFolder } from '../support/stores.ts';
import { everythingOf } from './everything.ts';

interface ListedSession {
  readonly sessionId: string;
  readonly conversationId: string;
  readonly title: string | null;
  readonly displayTitle: string;
  readonly origins: readonly string[];
  readonly messageCount: number | null;
  readonly archived: boolean;
  readonly pinned: boolean;
  readonly edgeKind: string | null;
  readonly warnings: readonly { readonly code: string }[];
}

interface List {
  readonly totalCount: number;
  readonly hiddenCounts: readonly { readonly reason: string; readonly count: number }[];
  readonly nodes: readonly ListedSession[];
}

const LIST = `query List($filter: SessionFilter, $profile: String) {
  sessions(first: 200, filter: $filter, profile: $profile) {
    totalCount
    hiddenCounts { reason count }
    nodes { sessionId conversationId title displayTitle origins messageCount archived pinned edgeKind warnings { code } }
  }
}`;

async function list(server: TestServer, filter: object | null = null, profile: string | null = null): Promise<List> {
  return (await server.read<{ sessions: List }, object>(LIST, { filter, profile })).sessions;
}

const idsOf = ({ nodes }: List) => nodes.map(({ sessionId }) => sessionId).sort();
const hidden = ({ hiddenCounts }: List) => Object.fromEntries(hiddenCounts.map(({ reason, count }) => [reason, count]));

const SAID = [{ role: 'user', content: 'Where is the tea?', timestamp: 1_782_000_000 }];

/** A home with rows in its store and files beside it, and the server over it. */
async function startHome(
  spec: TestServerSpec,
  files: Readonly<Record<string, Fields>> = {},
): Promise<{ server: TestServer; folder: string }> {
  const home = dirname(buildStore(spec));
  const folder = join(home, 'webui', 'sessions');
  mkdirSync(folder, { recursive: true });
  for (const [id, fields] of Object.entries(files)) saveSidecar(folder, id, sidecarText(id, { title: id, ...fields }, SAID));
  return { server: await startInProcess({ ...spec, home }), folder };
}

describe('the home of the golden answers', () => {
  const home = join(temporaryFolder(), 'home');
  cpSync(join(fixturesDir(), 'stores', 'webui-home'), home, { recursive: true, mode: 0 });
  const started = startInProcess({ home, settings: { maxCost: '1000000000', maxDepth: '50', maxTokens: '100000' } });

  it('shows what the Web UI shows, and says of everything else why not', async () => {
    const server = await started;
    const expected = upstreamIds();
    const sessions = await list(server);
    // A conversation is shown by its tip; only its project shows a cron run; sub-agents are asked for; the file's name is the id.
    for (const id of ['mw_parent_snapshot', 'cron_mjob_20260701_080000', 'mw_dbonly_sub', 'mw_other_id'])
      expect(expected.delete(id)).toBe(true);
    // Files that can't be parsed are entries with a warning.
    const damaged = ['mw_damaged', 'mw_damaged_empty', 'mw_damaged_list', 'mw_damaged_nul'];
    for (const id of ['mw_child_tip', 'mw_mismatched_id', ...damaged]) expected.add(id);
    expect(idsOf(sessions)).toEqual([...expected].sort());
    const warned = sessions.nodes.filter(({ warnings }) => warnings.some(({ code }) => code === 'SIDECAR_CORRUPT'));
    expect(warned.map(({ sessionId }) => sessionId).sort()).toEqual(damaged);
    expect(hidden(sessions)).toEqual({ TOMBSTONED: 1, SEGMENT: 2, BACKGROUND: 1, DELEGATE: 1, EMPTY: 1, ARCHIVED: 1 });
    expect(sessions.totalCount).toBe(expected.size);
  });

  it('lists everything on request', async () => {
    const server = await started;
    const everything = {
      includeUnlisted: true,
      includeBackground: true,
      includeDelegates: true,
      includeEmpty: true,
      includeArchived: true,
    };
    expect(hidden(await list(server, everything))).toEqual({ SEGMENT: 2 });
  });

  it('answers every field of every session that it lists', async () => {
    const server = await started;
    const options = {
      args: { 'Session.messages': '(last: 2)' },
      without: new Set(['Session.messages', 'Session.transcript', 'Session.contextDelta']),
    };
    for (const origin of ['STATE_DB', 'WEB_UI']) {
      const document = `query { sessions(first: 40, filter: { origins: [${origin}] }) ${everythingOf('SessionConnection', options)} }`;
      const { errors } = await server.query(document);
      expect(errors.map(({ message, path }) => ({ message, path }))).toEqual([]);
    }
  });

  it('takes as many statements as a list of the store alone', async () => {
    const server = await started;
    await list(server);
    expect(Number((await server.requestLine('List')).statements)).toBeLessThanOrEqual(2);
  });

  it('is only read', async () => {
    const server = await started;
    const before = filesBelow(join(home, 'webui'));
    await list(server, { includeUnlisted: true });
    expect(filesBelow(join(home, 'webui'))).toEqual(before);
    expect(readdirSync(join(home, 'webui', 'sessions')).filter((name) => name.includes('.tmp'))).toEqual([]);
  });
}, 60_000);

/** What upstream's server answers for its list. */
function upstreamIds(): Set<string> {
  const found = loadGolden('webui-home', 'rest').cases.find((each) => JSON.stringify(each).includes('"GET /api/sessions"'));
  if (!isJsonObject(found?.result) || !Array.isArray(found.result.sessions)) throw new Error('the golden list is missing');
  return new Set(found.result.sessions.filter(isJsonObject).map((row) => String(row.session_id)));
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => `${path} ${lstatSync(path, { bigint: true }).mtimeNs} ${lstatSync(path).size}`)
    .sort();
}

describe('a session that lives in two places', () => {
  it('is one entry, with the title of its file and the flags of both', async () => {
    const { server } = await startHome(
      { rows: [S('a', { source: 'webui', title: 'In the store', pinned: 1 }), M('a', { content: 'Hello', timestamp: 1_782_000_100 })] },
      { a: { title: 'In the file', archived: true } },
    );
    expect(idsOf(await list(server))).toEqual([]);
    const { nodes } = await list(server, { archived: true });
    expect(nodes).toMatchObject([{ sessionId: 'a', title: 'In the file', archived: true, pinned: true }]);
    expect([...(nodes[0]?.origins ?? [])].sort()).toEqual(['STATE_DB', 'WEB_UI']);
  });

  it('is the same object of the graph by its id', async () => {
    const { server } = await startHome({ rows: [S('a', { source: 'webui' }), M('a', { content: 'Hello' })] }, { a: { title: 'Tea' } });
    const { session } = await server.read<{ session: { id: string } }, object>('{ session(sessionId: "a") { id } }');
    const { node } = await server.read<{ node: unknown }, object>(`{ node(id: "${session.id}") { ... on Session { sessionId title } } }`);
    expect(node).toEqual({ sessionId: 'a', title: 'Tea' });
  });
});

describe('a session that only a file has', () => {
  it('is found, listed and counted', async () => {
    const { server } = await startHome({ rows: [] }, { f: { title: 'Only here', workspace: '/srv/work' } });
    const { nodes, totalCount } = await list(server);
    expect(nodes).toMatchObject([{ sessionId: 'f', title: 'Only here', origins: ['WEB_UI'], messageCount: 1, warnings: [] }]);
    expect(totalCount).toBe(1);
    const found = await server.read<{ session: unknown }, object>('{ session(sessionId: "f") { cwd source { raw family } } }');
    expect(found.session).toEqual({ cwd: '/srv/work', source: { raw: 'webui', family: 'WEB' } });
  });

  it('continues the file that was compressed into it', async () => {
    const { server } = await startHome(
      { rows: [] },
      { old: { pre_compression_snapshot: true, title: 'Tea' }, tip: { parent_session_id: 'old', title: 'Tea' } },
    );
    const sessions = await list(server);
    expect(sessions.nodes).toMatchObject([{ sessionId: 'tip', conversationId: 'old', edgeKind: 'COMPRESSION' }]);
    expect(hidden(sessions)).toEqual({ SEGMENT: 1 });
  });

  it('continues a file that is compressed later, when that is seen', async () => {
    const { server, folder } = await startHome({ rows: [] }, { old: {}, tip: { parent_session_id: 'old' } });
    const edgeOf = async () => (await list(server)).nodes.find(({ sessionId }) => sessionId === 'tip')?.edgeKind;
    expect(await edgeOf()).toBe('BRANCH');
    saveSidecar(folder, 'old', sidecarText('old', { pre_compression_snapshot: true }, SAID));
    await eventually(async () => (await edgeOf()) === 'COMPRESSION' || null);
  });

  it('is a branch where it names another parent', async () => {
    const { server } = await startHome({ rows: [S('base'), M('base', { content: 'x' })] }, { fork: { parent_session_id: 'base' } });
    const { nodes } = await list(server);
    expect(nodes.find(({ sessionId }) => sessionId === 'fork')).toMatchObject({ edgeKind: 'BRANCH' });
  });

  it('that is a damaged file is one warned entry among the others', async () => {
    const { server, folder } = await startHome({ rows: [] }, { good: {} });
    writeFileSync(join(folder, 'bad.json'), '{"session_id": "bad", "title": "to');
    const { nodes } = await list(server);
    expect(nodes.map(({ sessionId, warnings }) => [sessionId, warnings.map(({ code }) => code)]).sort()).toEqual([
      ['bad', ['SIDECAR_CORRUPT']],
      ['good', []],
    ]);
  });
});

describe('a store that is replaced', () => {
  it('keeps the sessions of files beside it', async () => {
    const { server } = await startHome({ rows: [S('a'), M('a', { content: 'x' })] }, { f: {} });
    expect(idsOf(await list(server))).toEqual(['a', 'f']);
    renameSync(buildStore({ rows: [S('b'), M('b', { content: 'x' })] }), server.storePath);
    await eventually(async () => idsOf(await list(server)).join() === 'b,f' || null);
  });
});

describe('the settings of the Web UI', () => {
  it('leave terminal sessions out where they say so, and give them on request', async () => {
    const { server, folder } = await startHome(
      { rows: [S('t', { source: 'cli', title: 'Terminal' }), M('t', { content: 'x' })] },
      { f: {} },
    );
    expect(idsOf(await list(server))).toEqual(['f', 't']);
    writeFileSync(join(dirname(folder), 'settings.json'), JSON.stringify({ show_cli_sessions: false }));
    await eventually(async () => hidden(await list(server)).TERMINAL === 1 || null);
    expect(idsOf(await list(server))).toEqual(['f']);
    expect(idsOf(await list(server, { includeUnlisted: true }))).toEqual(['f', 't']);
  });
});

describe('profiles', () => {
  it('have the files that name them; files of a profile that is not there belong to the root', async () => {
    const { server } = await startHome(
      { rows: [], profiles: { work: { rows: [] } } },
      { a: {}, b: { profile: 'work' }, c: { profile: 'gone' } },
    );
    expect(idsOf(await list(server))).toEqual(['a', 'c']);
    expect(idsOf(await list(server, null, 'work'))).toEqual(['b']);
  });
});

describe('Claude Code', () => {
  it('is listed read-only beside the others, and a transcript that grows says so', async () => {
    const root = join(temporaryFolder(), 'projects');
    mkdirSync(join(root, '-srv-work'), { recursive: true });
    const path = join(root, '-srv-work', 'one.jsonl');
    const line = (role: string, content: string, timestamp: string) =>
      `${JSON.stringify({ type: role, timestamp, cwd: '/srv/work', message: { role, content } })}\n`;
    writeFileSync(path, line('user', 'Find the leak', '2026-06-01T10:00:00Z') + line('assistant', 'Found it', '2026-06-01T10:00:05Z'));
    const { server } = await startHome({ rows: [], settings: { claudeProjectsDir: root } });
    const { nodes } = await list(server);
    expect(nodes).toMatchObject([{ title: 'Find the leak', origins: ['CLAUDE_CODE'], messageCount: 2 }]);
    writeFileSync(path, readFileSync(path, 'utf8') + line('user', 'Mend it', '2026-06-01T10:01:00Z'));
    await eventually(async () => (await list(server)).nodes[0]?.messageCount === 3 || null);
  });

  it('stays out where there is no Web UI', async () => {
    const root = join(temporaryFolder(), 'projects');
    mkdirSync(join(root, 'p'), { recursive: true });
    writeFileSync(join(root, 'p', 'one.jsonl'), `${JSON.stringify({ type: 'user', message: { role: 'user', content: 'Hi' } })}\n`);
    const server = await startInProcess({ rows: [S('a'), M('a', { content: 'x' })], settings: { claudeProjectsDir: root } });
    expect(idsOf(await list(server))).toEqual(['a']);
  });
});

describe('changes of files', () => {
  it('are in the next answer: a new file, a save, a removal', async () => {
    const { server, folder } = await startHome({ rows: [] }, { a: {} });
    expect(idsOf(await list(server))).toEqual(['a']);
    saveSidecar(folder, 'b', sidecarText('b', { title: 'New' }, SAID));
    await eventually(async () => idsOf(await list(server)).length === 2 || null);
    saveSidecar(folder, 'b', sidecarText('b', { title: 'Newer' }, SAID));
    await eventually(async () => (await list(server)).nodes.some(({ title }) => title === 'Newer') || null);
    rmSync(join(folder, 'b.json'));
    await eventually(async () => idsOf(await list(server)).length === 1 || null);
  });

  it('reach those who follow the list', async () => {
    const { server, folder } = await startHome({ rows: [S('s'), M('s', { content: 'x' })] });
    const client = createSocketClient(server);
    interface Frame {
      readonly liveSessions: { readonly changes: readonly { readonly sessionId: string; readonly deleted: boolean }[] };
    }
    const query = 'subscription { liveSessions(maxRateHz: 50) { changes { sessionId deleted session { title } } } }';
    const followed = subscribe<Frame>(client, query);
    await followed.next();
    saveSidecar(folder, 'n', sidecarText('n', { title: 'Just said' }, SAID));
    const seen = async (id: string, deleted: boolean) => {
      for (;;) {
        const { changes } = (await followed.next()).liveSessions;
        const change = changes.find(({ sessionId }) => sessionId === id);
        if (change?.deleted === deleted) return change;
      }
    };
    expect(await seen('n', false)).toMatchObject({ session: { title: 'Just said' } });
    rmSync(join(folder, 'n.json'));
    expect(await seen('n', true)).toMatchObject({ sessionId: 'n' });
    followed.stop();
    await client.dispose();
  });
});
