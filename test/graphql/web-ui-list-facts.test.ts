/** What the Web UI's list knows of sessions beside the list itself, over real sockets (`spec/webui-listing.md`). */

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { eventually, startInProcess, type TestServer } from '../support/server.ts';
import { sidecarPath, sidecarText } from '../support/sidecars.ts';
import { M, S, temporaryFolder } from '../support/stores.ts';
import { mutate, startWebUi } from '../support/web-ui-server.ts';

const AT = 1_782_000_000;

describe('sessionLineageReport', () => {
  const REPORT = `query ($id: String!) { report: sessionLineageReport(sessionId: $id) {
    found lineageKey tipSessionId manualReview
    segments { sessionId role active session { sessionId } }
    children { sessionId parentSessionId relation } } }`;

  interface Report {
    readonly found: boolean;
    readonly lineageKey: string | null;
    readonly tipSessionId: string;
    readonly manualReview: boolean;
    readonly segments: readonly { readonly sessionId: string; readonly role: string; readonly active: boolean }[];
    readonly children: readonly { readonly sessionId: string; readonly parentSessionId: string; readonly relation: string }[];
  }

  const CHAIN = [
    S('root', { source: 'cli', started_at: AT, ended_at: AT + 100, end_reason: 'compression' }),
    S('mid', { source: 'cli', parent_session_id: 'root', started_at: AT + 100, ended_at: AT + 200, end_reason: 'compression' }),
    S('tip', { source: 'cli', parent_session_id: 'mid', started_at: AT + 200 }),
    M('root', { timestamp: AT + 1 }),
    M('tip', { timestamp: AT + 301 }),
  ];

  async function reportOf(rows: typeof CHAIN, id: string): Promise<Report> {
    const server = await startWebUi({ rows });
    return (await server.read<{ report: Report }, { id: string }>(REPORT, { id })).report;
  }

  it('29: gives the segments newest first, and asks for a look where one goes on elsewhere too', async () => {
    const stale = [S('stale', { source: 'cli', parent_session_id: 'root', started_at: AT + 150 }), M('stale', { timestamp: AT + 161 })];
    const report = await reportOf([...CHAIN, ...stale], 'tip');
    expect(report).toMatchObject({ found: true, lineageKey: 'root', tipSessionId: 'tip', manualReview: true, children: [] });
    expect(report.segments).toEqual([
      { sessionId: 'tip', role: 'TIP', active: true, session: { sessionId: 'tip' } },
      { sessionId: 'mid', role: 'HIDDEN_SEGMENT', active: false, session: { sessionId: 'mid' } },
      { sessionId: 'root', role: 'HIDDEN_SEGMENT', active: false, session: { sessionId: 'root' } },
    ]);
  });

  it('5.4: asks for no look where the chain is all there is', async () => {
    expect(await reportOf(CHAIN, 'tip')).toMatchObject({ manualReview: false });
    // From the first segment the rest of the chain is elsewhere.
    expect(await reportOf(CHAIN, 'root')).toMatchObject({ manualReview: true, segments: [{ sessionId: 'root' }] });
  });

  it('30: finds nothing for an unknown id, and that is no error', async () => {
    expect(await reportOf(CHAIN, 'nobody')).toEqual({
      found: false,
      lineageKey: null,
      tipSessionId: 'nobody',
      manualReview: false,
      segments: [],
      children: [],
    });
  });

  it('5.4: tells of what came from a segment and does not continue it, newest first', async () => {
    const others = [
      S('sub', { source: 'subagent', parent_session_id: 'root', started_at: AT + 10 }),
      S('fork', { source: 'cli', parent_session_id: 'root', started_at: AT + 120, model_config: '{"_branched_from": "root"}' }),
    ];
    const { children } = await reportOf([...CHAIN, ...others], 'tip');
    expect(children).toEqual([
      { sessionId: 'fork', parentSessionId: 'root', relation: 'FORK' },
      { sessionId: 'sub', parentSessionId: 'root', relation: 'DELEGATE' },
    ]);
  });

  it('80: a reset is a conversation of its own', async () => {
    const chat = { source: 'telegram', session_key: 'k' };
    const rows = [
      S('old', { ...chat, started_at: AT, ended_at: AT + 100, end_reason: 'session_reset' }),
      S('new', { ...chat, parent_session_id: 'old', started_at: AT + 101, model_config: '{"_reset_from": "old"}' }),
    ];
    expect(await reportOf(rows, 'new')).toMatchObject({ lineageKey: 'new', segments: [{ sessionId: 'new' }], manualReview: false });
    expect((await reportOf(rows, 'old')).children).toEqual([{ sessionId: 'new', parentSessionId: 'old', relation: 'RESET' }]);
  });
});

const DELETED = '_deleted_webui_sessions.json';
const PRUNED = '_pruned_webui_orphans.json';

/** A session of a list that leaves nothing out; `session` gives none that was deleted. */
async function listed<T extends object>(server: TestServer, id: string, fields: string): Promise<T | undefined> {
  const filter = '{ includeUnlisted: true, includeEmpty: true, includeBackground: true, includeDelegates: true, includeOrphans: true }';
  const query = `{ sessions(first: 50, collapse: NONE, filter: ${filter}) { nodes { sessionId ${fields} } } }`;
  const { sessions } = await server.read<{ sessions: { nodes: (T & { sessionId: string })[] } }, object>(query);
  return sessions.nodes.find(({ sessionId }) => sessionId === id);
}

describe('Session.claimable', () => {
  async function claimOf(server: TestServer, id: string): Promise<unknown> {
    return (await listed<{ claimable: unknown }>(server, id, 'claimable { ok reason }'))?.claimable;
  }

  it.each([
    ['cli', null],
    ['tui', null],
    ['api_server', null],
    ['telegram', 'MESSAGING'],
    ['Discord', 'MESSAGING'],
    ['cron', 'SOURCE'],
    ['subagent', 'SOURCE'],
    ['unknown', 'SOURCE'],
  ])('16.3: of a session of %s it is what an import says', async (source, reason) => {
    const server = await startWebUi({ rows: [S('s', { source }), M('s')] });
    expect(await claimOf(server, 's')).toEqual({ ok: reason === null, reason });
    const imported = await mutate(server, 'importSession', { sessionId: 's', dryRun: true }, 'imported readOnlyBecause');
    expect(imported).toMatchObject({ imported: source !== 'subagent', readOnlyBecause: reason });
  });

  it('16.3: brings nothing back that was deleted in the Web UI, until its list no longer names it', async () => {
    const server = await startWebUi({ rows: [S('w', { source: 'webui' }), M('w'), S('empty')], files: { own: {} } });
    writeFileSync(join(server.sessionsDir, DELETED), '{"version": 1, "ids": ["w"]}');
    expect(await claimOf(server, 'w')).toEqual({ ok: false, reason: 'NOT_FOUND' });
    expect(await claimOf(server, 'empty')).toEqual({ ok: false, reason: 'NOT_FOUND' });
    expect(await claimOf(server, 'own')).toEqual({ ok: true, reason: null });
    expect(await mutate(server, 'clearTombstone', { sessionId: 'w', kind: 'DELETED' }, 'cleared')).toMatchObject({ cleared: true });
    expect(await claimOf(server, 'w')).toEqual({ ok: true, reason: null });
  });

  it('16.3: a file that says read-only is not written to', async () => {
    const server = await startWebUi({ files: { shown: { read_only: true }, chat: { session_source: 'messaging', source_tag: 'slack' } } });
    expect(await claimOf(server, 'shown')).toEqual({ ok: false, reason: 'READ_ONLY' });
    expect(await claimOf(server, 'chat')).toEqual({ ok: false, reason: 'MESSAGING' });
  });
});

describe('Session.backing', () => {
  const BACKING = 'backing { sidecar sidecarMessages stateDbRow stateDbMessages tombstones } claimable { ok }';

  async function backingOf(server: TestServer, id: string): Promise<unknown> {
    return (await listed<{ backing: unknown }>(server, id, BACKING))?.backing;
  }

  it('79: counts rows of any state beside the messages of the file', async () => {
    const rows = [S('both', { source: 'webui' }), M('both'), M('both'), M('both', { active: 0 }), S('row', { source: 'cli' }), M('row')];
    const server = await startWebUi({ rows, files: { both: {}, file: {} } });
    const nowhere = { sidecar: false, sidecarMessages: null, stateDbRow: false, stateDbMessages: null, tombstones: [] };
    expect(await backingOf(server, 'both')).toEqual({
      ...nowhere,
      sidecar: true,
      sidecarMessages: 2,
      stateDbRow: true,
      stateDbMessages: 3,
    });
    expect(await backingOf(server, 'file')).toEqual({ ...nowhere, sidecar: true, sidecarMessages: 2 });
    expect(await backingOf(server, 'row')).toEqual({ ...nowhere, stateDbRow: true, stateDbMessages: 1 });
  });

  it('36: names the lists of gone sessions', async () => {
    const server = await startWebUi({ rows: [S('w', { source: 'webui' }), M('w')], files: { p: {} } });
    writeFileSync(join(server.sessionsDir, DELETED), '{"version": 1, "ids": ["w"]}');
    writeFileSync(join(server.sessionsDir, PRUNED), '{"version": 1, "ids": ["p", "w"]}');
    expect(await backingOf(server, 'w')).toMatchObject({ sidecar: false, stateDbRow: true, tombstones: ['DELETED', 'ORPHAN'] });
    expect(await backingOf(server, 'p')).toMatchObject({ sidecar: true, tombstones: ['ORPHAN'] });
  });

  it('says of a store without a Web UI what the store has', async () => {
    const server = await startInProcess({ rows: [S('a'), M('a')] });
    expect(await listed(server, 'a', BACKING)).toMatchObject({
      backing: { sidecar: false, stateDbRow: true, stateDbMessages: 1, tombstones: [] },
      claimable: null,
    });
  });

  it('takes no statement of its own', async () => {
    const rows = Array.from({ length: 20 }, (_, index) => [S(`s${index}`), M(`s${index}`)]).flat();
    const server = await startWebUi({ rows });
    await server.read('{ sessions(first: 1) { nodes { id } } }');
    const query = 'query Backings { sessions(first: 20) { nodes { backing { stateDbMessages } claimable { ok reason } } } }';
    const { sessions } = await server.read<{ sessions: { nodes: unknown[] } }, object>(query);
    expect(sessions.nodes).toHaveLength(20);
    expect(Number((await server.requestLine('Backings')).statements)).toBeLessThanOrEqual(2);
  });
});

describe('what a list counts and refers to', () => {
  const LIST = `query List($filter: SessionFilter, $allProfiles: Boolean) { sessions(first: 50, filter: $filter, allProfiles: $allProfiles) {
    counts { webUi terminal archivedWebUi archivedTerminal } references { sessionId archived } nodes { sessionId } } }`;

  interface Listed {
    readonly counts: Readonly<Record<string, number>>;
    readonly references: readonly { readonly sessionId: string }[];
    readonly nodes: readonly { readonly sessionId: string }[];
  }

  async function listed(server: TestServer, variables: object = {}): Promise<Listed> {
    return (await server.read<{ sessions: Listed }, object>(LIST, variables)).sessions;
  }

  it('9.6: counts archived entries apart, by where they run', async () => {
    const terminal = (id: string, archived = 0) => [S(id, { source: 'cli', title: `Work ${id}`, archived }), M(id)];
    const server = await startWebUi({
      rows: [
        ...terminal('t1'),
        ...terminal('t2', 1),
        ...terminal('t3', 1),
        S('chat', { source: 'telegram' }),
        M('chat'),
        S('none', { archived: 1 }),
      ],
      files: { f1: { title: 'File' }, f2: { title: 'Put away', archived: true } },
    });
    const counts = { webUi: 2, terminal: 1, archivedWebUi: 1, archivedTerminal: 2 };
    expect((await listed(server)).counts).toEqual(counts);
    expect((await listed(server, { filter: { includeArchived: true } })).counts).toEqual(counts);
    expect((await listed(server, { allProfiles: true })).counts).toEqual(counts);
    expect((await listed(server, { filter: { archived: true } })).counts).toEqual({ ...counts, webUi: 0, terminal: 0 });
  });

  it('counts the same where lists come from SQL', async () => {
    const rows = [S('a', { source: 'cli', archived: 1 }), M('a'), S('b', { source: 'telegram' }), M('b')];
    const server = await startInProcess({ rows, settings: { largestCatalogue: '1' } });
    expect((await listed(server)).counts).toEqual({ webUi: 1, terminal: 0, archivedWebUi: 0, archivedTerminal: 1 });
  });

  it('74: refers to the archived file above a delegate that only the store has', async () => {
    const rows = [S('child', { source: 'subagent', parent_session_id: 'parent' }), M('child')];
    const server = await startWebUi({ rows, files: { parent: { title: 'Parent', archived: true } } });
    const filter = { includeDelegates: true, includeOrphans: true };
    const { nodes, references } = await listed(server, { filter });
    expect(nodes).toEqual([{ sessionId: 'child' }]);
    expect(references).toEqual([{ sessionId: 'parent', archived: true }]);
    expect((await listed(server, { filter: { ...filter, includeArchived: true } })).references).toEqual([]);
  });

  it('refers above what is not archived, to no segment of its own conversation, and once', async () => {
    const fork = (id: string, parent: string, more = {}) => [
      S(id, { source: 'cli', title: id, parent_session_id: parent, model_config: `{"_branched_from": "${parent}"}`, ...more }),
      M(id),
    ];
    const rows = [
      ...[S('top', { source: 'cli', title: 'top', archived: 1 }), M('top')],
      ...fork('mid', 'top'),
      ...fork('low', 'mid', { ended_at: AT, end_reason: 'compression' }),
      ...[S('tip', { source: 'cli', parent_session_id: 'low', started_at: AT }), M('tip')],
      ...fork('side', 'top'),
    ];
    const { references } = await listed(await startWebUi({ rows }));
    expect(references).toEqual([{ sessionId: 'top', archived: true }]);
  });

  it('takes no statement for references', async () => {
    const rows = [
      ...[S('top', { source: 'cli', archived: 1 }), M('top')],
      ...Array.from({ length: 20 }, (_, index) => [
        S(`s${index}`, {
          source: 'telegram',
          parent_session_id: 'top',
          model_config: '{"_branched_from": "top"}',
          session_key: `k${index}`,
        }),
        M(`s${index}`),
      ]).flat(),
    ];
    const server = await startWebUi({ rows });
    await server.read('{ sessions(first: 1) { nodes { id } } }');
    const { nodes, references } = await listed(server);
    expect([nodes.length, references.length]).toEqual([20, 1]);
    expect(Number((await server.requestLine('List')).statements)).toBeLessThanOrEqual(2);
  });
});

describe('Session.workspaceBinding', () => {
  const BINDING = 'query ($id: String!) { session(sessionId: $id) { workspaceBinding { stored resolved state recovered } } }';

  async function bindingOf(server: TestServer, id: string): Promise<unknown> {
    const { session } = await server.read<{ session: { workspaceBinding: unknown } }, { id: string }>(BINDING, { id });
    return session.workspaceBinding;
  }

  function folders(): { saved: string; other: string; gone: string } {
    const root = temporaryFolder();
    const [saved, other] = [join(root, 'saved'), join(root, 'other')];
    mkdirSync(saved);
    mkdirSync(other);
    return { saved, other, gone: join(root, 'gone') };
  }

  it('17.2: a saved folder is used, also by a link; another one is not trusted', async () => {
    const { saved, other } = folders();
    const link = join(dirname(saved), 'link');
    symlinkSync(saved, link);
    const server = await startWebUi({
      rows: [S('row', { source: 'webui' }), M('row')],
      files: {
        a: { workspace: saved },
        b: { workspace: link },
        c: { workspace: other },
        d: { workspace: '/etc' },
        e: { workspace: 'relative' },
      },
    });
    writeFileSync(join(server.webUiDir, 'workspaces.json'), JSON.stringify([{ path: saved, name: 'Saved' }, 7, '/etc']));
    expect(await bindingOf(server, 'a')).toEqual({ stored: saved, resolved: saved, state: 'OK', recovered: false });
    expect(await bindingOf(server, 'b')).toMatchObject({ resolved: link, state: 'OK' });
    for (const id of ['c', 'd', 'e'])
      expect(await bindingOf(server, id), id).toMatchObject({ resolved: null, state: 'UNTRUSTED', recovered: false });
    // 17.1: what has no file would work where the profile worked last.
    const row = { stored: null, resolved: null, state: 'MISSING', recovered: false };
    expect(await bindingOf(server, 'row')).toEqual(row);
    writeFileSync(join(server.webUiDir, 'last_workspace.txt'), saved);
    expect(await bindingOf(server, 'row')).toEqual({ ...row, resolved: saved, state: 'OK' });
  });

  it('17.2, 69: the last folder stands in for one that is gone, when it is trusted, and nothing is written', async () => {
    const { saved, other, gone } = folders();
    const server = await startWebUi({ files: { a: { workspace: gone } } });
    const before = readFileSync(sidecarPath(server.sessionsDir, 'a'), 'utf8');
    const missing = { stored: gone, resolved: null, state: 'MISSING', recovered: false };
    expect(await bindingOf(server, 'a')).toEqual(missing);
    writeFileSync(join(server.webUiDir, 'last_workspace.txt'), other);
    expect(await bindingOf(server, 'a')).toEqual(missing);
    writeFileSync(join(server.webUiDir, 'last_workspace.txt'), saved);
    writeFileSync(join(server.webUiDir, 'workspaces.json'), JSON.stringify([saved]));
    expect(await bindingOf(server, 'a')).toEqual({ ...missing, resolved: saved, recovered: true });
    expect(readFileSync(sidecarPath(server.sessionsDir, 'a'), 'utf8')).toBe(before);
  });

  it('17.2: with a terminal on another machine, or one that can not be told, nothing stands in', async () => {
    const { saved, gone } = folders();
    const server = await startWebUi({ files: { a: { workspace: gone } } });
    writeFileSync(join(server.webUiDir, 'last_workspace.txt'), saved);
    writeFileSync(join(server.webUiDir, 'workspaces.json'), JSON.stringify([saved]));
    const config = join(dirname(server.webUiDir), 'config.yaml');
    writeFileSync(config, 'terminal:\n  backend: ssh\n');
    expect(await bindingOf(server, 'a')).toMatchObject({ resolved: null, state: 'REMOTE' });
    writeFileSync(config, 'terminal: {backend: ssh\n');
    expect(await bindingOf(server, 'a')).toMatchObject({ resolved: null, state: 'MISSING', recovered: false });
    writeFileSync(config, 'terminal:\n  backend: local\n');
    expect(await bindingOf(server, 'a')).toMatchObject({ resolved: saved, recovered: true });
  });
});

describe('terminal sessions that hold too little', () => {
  const ENDED = { source: 'cli', started_at: AT, ended_at: AT + 100, end_reason: 'user_exit' };
  const said = (id: string, ...roles: string[]) => roles.map((role) => M(id, { role }));
  const LIST = 'query List { sessions(first: 100) { nodes { sessionId } hiddenCounts { reason count } } }';

  async function listed(server: TestServer): Promise<{ ids: string[]; terminal: number }> {
    interface Listed {
      readonly nodes: readonly { readonly sessionId: string }[];
      readonly hiddenCounts: readonly { readonly reason: string; readonly count: number }[];
    }
    const { sessions } = await server.read<{ sessions: Listed }, object>(LIST);
    const terminal = sessions.hiddenCounts.find(({ reason }) => reason === 'TERMINAL')?.count ?? 0;
    return { ids: sessions.nodes.map(({ sessionId }) => sessionId).sort(), terminal };
  }

  it('33, 34: an ended one without a title is listed from the second message of its user', async () => {
    const one = [S('one', ENDED), ...said('one', 'user', 'assistant', 'tool', 'assistant', 'assistant')];
    const two = [S('two', ENDED), ...said('two', 'user', 'assistant', 'User')];
    const titled = [S('titled', { ...ENDED, title: 'Tea' }), ...said('titled', 'user', 'assistant')];
    const server = await startWebUi({ rows: [...one, ...two, ...titled] });
    expect(await listed(server)).toEqual({ ids: ['titled', 'two'], terminal: 1 });
    const db = new Database(server.storePath);
    db.exec("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('one', 'user', 'More', 1782000200)");
    db.close();
    await eventually(async () => (await listed(server)).ids.includes('one') || null);
  });

  it('35: one of an editor needs a message of its user', async () => {
    const rows = [
      S('a', { source: 'acp' }),
      ...said('a', 'assistant', 'assistant'),
      S('b', { source: 'acp' }),
      ...said('b', 'assistant', 'user'),
    ];
    expect(await listed(await startWebUi({ rows }))).toEqual({ ids: ['b'], terminal: 1 });
  });

  it('11.3: many are counted bit by bit, and a long one has enough', async () => {
    const short = Array.from({ length: 60 }, (_, index) => [
      S(`s${index}`, ENDED),
      ...said(`s${index}`, 'user', ...Array.from({ length: 99 }, () => 'assistant')),
    ]).flat();
    const long = [S('long', ENDED), ...said('long', ...Array.from({ length: 201 }, () => 'assistant'))];
    const server = await startWebUi({ rows: [...short, ...long] });
    await eventually(async () => (await listed(server)).terminal === 60 || null);
    expect((await listed(server)).ids).toEqual(['long']);
  });
});

describe('what an entry is called, and by whom', () => {
  it('T19, O6: a sub-agent is called by what it was asked, a title without its list of attachments', async () => {
    const server = await startWebUi({
      rows: [
        S('p', { source: 'webui' }),
        M('p'),
        S('sub', { source: 'subagent', parent_session_id: 'p', model_config: '{"_delegate_from": "p"}' }),
        M('sub', { content: 'Find the tea' }),
      ],
      files: { sub: { title: 'Subagent  Session' }, files: { title: 'Look\n\n[Attached files: a.png, b.png]' } },
    });
    const titleOf = async (id: string) => (await listed<{ displayTitle: string }>(server, id, 'displayTitle'))?.displayTitle;
    expect(await titleOf('sub')).toBe('Find the tea');
    expect(await titleOf('files')).toBe('Look');
  });

  it('11.1: a chat is one also without a routing key', async () => {
    const rows = ['telegram', 'Discord', 'whatsapp', 'cli', 'mine'].flatMap((source) => [S(source, { source }), M(source)]);
    const server = await startWebUi({ rows });
    const { sessions } = await server.read<{ sessions: { nodes: { sessionId: string; source: { family: string } }[] } }, object>(
      '{ sessions(first: 20, filter: { includeUnlisted: true }) { nodes { sessionId source { family } } } }',
    );
    const families = Object.fromEntries(sessions.nodes.map(({ sessionId, source }) => [sessionId, source.family]));
    expect(families).toEqual({ telegram: 'CHAT', Discord: 'CHAT', whatsapp: 'CHAT', cli: 'CLI', mine: 'OTHER' });
  });

  it('13.5: pins of background runs and of segments of one conversation do not use up the pins that are allowed', async () => {
    const pinned = { pinned: true };
    const server = await startWebUi({
      rows: [
        S('one', { source: 'webui', started_at: 10, ended_at: 20, end_reason: 'compression' }),
        S('two', { source: 'webui', parent_session_id: 'one', started_at: 20 }),
        ...['one', 'two'].map((id) => M(id)),
      ],
      files: {
        one: { title: 'Tea', ...pinned },
        two: { title: 'Tea', ...pinned },
        cron: { title: 'Run', source_tag: 'cron', session_source: 'cron', project_id: 'p', ...pinned },
        other: { title: 'Milk', ...pinned },
        wanted: { title: 'Sugar' },
        late: { title: 'Late' },
      },
    });
    expect(await mutate(server, 'updateSession', { sessionId: 'wanted', pinned: true }, 'changed')).toMatchObject({ changed: true });
    expect(await mutate(server, 'updateSession', { sessionId: 'late', pinned: true })).toMatchObject({
      code: 'PIN_LIMIT',
      details: { pinned: 3, limit: 3 },
    });
  });
});

it("13.5: a sub-agent's run can only be looked at", async () => {
  const server = await startWebUi({
    rows: [S('p', { source: 'webui' }), M('p'), S('sub', { source: 'subagent', parent_session_id: 'p' }), M('sub')],
    files: { sub: { title: 'Run' }, tagged: { title: 'Run', source_tag: 'subagent' } },
  });
  expect(await listed(server, 'sub', 'readOnly')).toMatchObject({ readOnly: true });
  for (const change of [{ title: 'Mine' }, { pinned: true }, { archived: true }])
    expect(await mutate(server, 'updateSession', { sessionId: 'sub', ...change })).toMatchObject({ code: 'SESSION_READ_ONLY' });
  for (const sessionId of ['sub', 'tagged'])
    expect(await mutate(server, 'moveSession', { sessionId, projectId: null })).toMatchObject({ code: 'SESSION_READ_ONLY' });
});

it('case 35: a file of an older form of the name never takes the place of the one that has the name', async () => {
  const messages = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ role: 'user', content: `${at}`, timestamp: 1_782_000_000 + at }));
  const of = (old: number, plain: number) =>
    startWebUi({
      rows: [S('zz', { source: 'webui' }), M('zz')],
      files: {
        zz: sidecarText('zz', { title: 'Plain' }, messages(plain)),
        session_zz: sidecarText('zz', { title: 'Old' }, messages(old)),
      },
    });
  const origins = async (server: TestServer, id: string) => (await listed<{ origins: string[] }>(server, id, 'origins'))?.origins.sort();
  const fuller = await of(1, 2);
  expect(await origins(fuller, 'zz')).toEqual(['STATE_DB', 'WEB_UI']);
  expect(await origins(fuller, 'session_zz')).toBeUndefined();
  // What only the older one has is not hidden.
  const poorer = await of(3, 2);
  expect(await origins(poorer, 'zz')).toEqual(['STATE_DB', 'WEB_UI']);
  expect(await origins(poorer, 'session_zz')).toEqual(['WEB_UI']);
});
