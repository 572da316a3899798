/** What the Web UI's files tell through the graph: projects, the folder, and what the file of a session says. */
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { credentialFingerprint } from '../../src/web-ui/credential-fingerprint.ts';
import { eventually } from '../support/server.ts';
import { saveSidecar, sidecarPath, sidecarText } from '../support/sidecars.ts';
import { M, S } from '../support/stores.ts';
import { MESSAGES, startUpstreamHome, startWebUi, type WebUiServer } from '../support/web-ui-server.ts';

const NORMAL = 'mw_normal';

describe('the home of a real Web UI', () => {
  let server: WebUiServer;
  beforeAll(async () => {
    server = await startUpstreamHome(false);
  });

  it('shows its projects with their sessions, an entry without an owner too', async () => {
    const { projects } = await server.read<{ projects: unknown[] }, object>(
      '{ projects { projectId name color createdAt isSystem profile { name } sessions(first: 5) { totalCount nodes { sessionId project { name } } } } }',
    );
    expect(projects).toMatchObject([
      { projectId: 'mproj01', name: 'Alpha', color: '#aa3355', isSystem: false, profile: { name: 'default' } },
      { projectId: 'mproj02', name: 'Beta ünïcode', color: null, sessions: { totalCount: 0, nodes: [] } },
    ]);
    const sessions = (projects[0] as { sessions: { nodes: { sessionId: string }[] } }).sessions.nodes;
    expect(sessions.map(({ sessionId }) => sessionId)).toContain(NORMAL);
  });

  it('shows a project as a node', async () => {
    const { projects } = await server.read<{ projects: { id: string }[] }, object>('{ projects { id } }');
    const { node } = await server.read<{ node: unknown }, object>(
      'query ($id: ID!) { node(id: $id) { __typename id ... on Project { name } } }',
      {
        id: projects[0]?.id,
      },
    );
    expect(node).toMatchObject({ __typename: 'Project', id: projects[0]?.id, name: 'Alpha' });
  });

  it('tells of the folder and of its index', async () => {
    const { profile } = await server.read<{ profile: { webUi: Record<string, unknown> } }, object>(
      '{ profile { webUi { sessionDir indexStatus sessionCount ignoredFiles projectsStatus } } }',
    );
    expect(profile.webUi).toMatchObject({ sessionDir: server.sessionsDir, indexStatus: 'STALE', projectsStatus: 'OK' });
    expect(profile.webUi.sessionCount).toBeGreaterThan(25);
  });

  it('tells what the file of a session says, and where its values came from', async () => {
    const { session } = await server.read<{ session: Record<string, unknown> }, object>(
      `{ session(sessionId: "${NORMAL}") { origins provenance { title messageCount source lastMessageAt } unlistedReason rescued readOnly
        sidecar { health signature bytes title messageCount hasShare wakeupPause { model } backup { recommendation } context { length } } } }`,
    );
    expect(session).toMatchObject({
      origins: expect.arrayContaining(['WEB_UI', 'STATE_DB']),
      unlistedReason: null,
      rescued: false,
      readOnly: true,
      sidecar: { health: 'UNKNOWN', title: 'About docker', messageCount: 12, hasShare: false, backup: null, wakeupPause: null },
    });
  });

  it('advises on a backup, and has none where there is none', async () => {
    const { session } = await server.read<{ session: Record<string, unknown> }, object>(
      '{ session(sessionId: "mw_shrunk") { sidecar { backup { recommendation reason liveMessages backupMessages liveIsNewer } } } }',
    );
    expect(session.sidecar).toMatchObject({ backup: { recommendation: 'RESTORE', liveMessages: 1 } });
  });
});

const SECRET = 'share-token-that-nobody-may-see';
const PENDING = 'a prompt that waits and is nobody else his business';

describe('files made for a case', () => {
  it('never tell the token of a share or the prompt that waits', async () => {
    const server = await startWebUi({
      files: { a: { title: 'Shared', share_token: SECRET, share_created_at: 5, pending_user_message: PENDING, pending_started_at: 7 } },
    });
    const answer = await server.query<{ session: { sidecar: object } }, object>(
      '{ session(sessionId: "a") { sidecar { hasShare shareCreatedAt hasPendingMessage title gatewayRouting unknownKeys } } }',
    );
    expect(answer.data?.session.sidecar).toMatchObject({ hasShare: true, hasPendingMessage: true });
    expect(JSON.stringify(answer)).not.toContain(SECRET);
    expect(JSON.stringify(answer)).not.toContain(PENDING);
  });

  it('are read-only where they were imported from a store that is', async () => {
    const server = await startWebUi({ files: { a: { title: 'Imported', read_only: true, source_tag: 'telegram' }, b: { title: 'Own' } } });
    const { a, b } = await server.read<Record<'a' | 'b', { readOnly: boolean }>, object>(
      '{ a: session(sessionId: "a") { readOnly } b: session(sessionId: "b") { readOnly } }',
    );
    expect([a.readOnly, b.readOnly]).toEqual([true, false]);
  });

  it('show a file that is no session with its health, never as an error', async () => {
    const server = await startWebUi({ files: { a: '{"session_id": "a", "title": "x', b: '' } });
    const { session } = await server.read<{ session: object }, object>(
      '{ session(sessionId: "a") { sidecar { health title } warnings { code } } }',
    );
    expect(session).toMatchObject({ sidecar: { health: 'CORRUPT', title: null }, warnings: [{ code: 'SIDECAR_CORRUPT' }] });
  });

  it('have no sidecar where only state.db has the session, and no Web UI where there is no folder', async () => {
    const server = await startWebUi({ rows: [S('s'), M('s')], files: { a: {} } });
    const { session } = await server.read<{ session: object }, object>(
      '{ session(sessionId: "s") { sidecar { health } provenance { title } project { name } } }',
    );
    expect(session).toEqual({ sidecar: null, provenance: { title: 'DERIVED' }, project: null });
    const other = await startWebUi({ settings: { webUiDir: join(server.home, 'nowhere') } });
    expect(await other.read('{ profile { webUi { sessionDir } } projects { name } }')).toEqual({ profile: { webUi: null }, projects: [] });
  });

  it('1.1: hints at folders beside an empty one that hold sessions, and at nothing once it holds one', async () => {
    const server = await startWebUi({});
    const hint = async () => {
      const { profile } = await server.read<{ profile: { webUi: { hint: string | null } } }, object>('{ profile { webUi { hint } } }');
      return profile.webUi.hint;
    };
    expect(await hint()).toBeNull();
    const beside = join(server.home, 'old "ui"', 'sessions');
    mkdirSync(beside, { recursive: true });
    writeFileSync(join(beside, '_index.json'), '[]');
    expect(await hint()).toBeNull();
    saveSidecar(beside, 'x', sidecarText('x'));
    expect(await hint()).toContain('folders with some: "old \\"ui\\"".');
    saveSidecar(server.sessionsDir, 'a', sidecarText('a'));
    await eventually(async () => (await hint()) === null);
  });

  it('take no project of another profile, and tell none that is gone', async () => {
    const server = await startWebUi({
      files: { a: { project_id: 'p1' }, b: { project_id: 'p2' }, c: { project_id: 'gone' } },
      projects: [
        { project_id: 'p1', name: 'Mine' },
        { project_id: 'p2', name: 'Theirs', profile: 'coder' },
      ],
    });
    const found = await server.read<Record<string, { project: { name: string } | null }>, object>(
      '{ a: session(sessionId: "a") { project { name } } b: session(sessionId: "b") { project { name } } c: session(sessionId: "c") { project { name } } }',
    );
    expect([found.a?.project?.name, found.b?.project ?? null, found.c?.project ?? null]).toEqual(['Mine', null, null]);
  });

  it('show background runs in their project, which other lists leave out', async () => {
    const server = await startWebUi({
      files: { cron_1_1: { title: 'Nightly', project_id: 'p1', source_tag: 'cron', raw_source: 'cron', session_source: 'cron' } },
      projects: [{ project_id: 'p1', name: 'Cron Jobs', profile: 'default' }],
    });
    const { projects, sessions } = await server.read<
      { projects: { sessions: { nodes: unknown[] } }[]; sessions: { nodes: unknown[] } },
      object
    >('{ projects { sessions { nodes { sessionId } } } sessions { nodes { sessionId } } }');
    expect(projects[0]?.sessions.nodes).toEqual([{ sessionId: 'cron_1_1' }]);
    expect(sessions.nodes).toEqual([]);
  });

  it('are told anew after each save of their owner', async () => {
    const server = await startWebUi({ files: { a: { title: 'Before' } } });
    const title = async () =>
      (await server.read<{ session: { sidecar: { title: string } } }, object>('{ session(sessionId: "a") { sidecar { title } } }')).session
        .sidecar.title;
    expect(await title()).toBe('Before');
    writeFileSync(sidecarPath(server.sessionsDir, 'a'), sidecarText('a', { title: 'After' }, MESSAGES));
    expect(await title()).toBe('After');
  });
});

it('C23, C28: what a file says of its turns, its title and the credentials since its pause', async () => {
  const pause = { version: 1, paused: true, classification: 'credential_pool_empty', source: 'process_wakeup' };
  const home = { title: 'Hermes WebUI #2', input_tokens: 1000, output_tokens: 20, cache_read_tokens: 700, estimated_cost: 0.25 };
  const server = await startWebUi({
    rows: [S('a', { source: 'webui' }), M('a')],
    files: {
      a: { ...home, process_wakeup_pause: pause },
      mine: { title: 'Mine', manual_title: true },
      made: { title: 'Made', llm_title_generated: true },
      first: { title: 'Where is the tea?' },
      none: { title: 'Untitled' },
      broken: '[1]',
    },
  });
  const homeFolder = dirname(server.webUiDir);
  const fields =
    'sidecar { layout titleSource usage { inputTokens outputTokens cacheReadTokens cacheWriteTokens estimatedCost } wakeupPause { credentialStateChanged } }';
  const sidecarOf = async (id: string) =>
    (await server.read<{ session: { sidecar: Record<string, unknown> } }, object>(`{ session(sessionId: "${id}") { ${fields} } }`)).session
      .sidecar;
  expect(await sidecarOf('a')).toEqual({
    layout: 'MODERN',
    titleSource: 'GENERIC',
    usage: { inputTokens: 1000, outputTokens: 20, cacheReadTokens: 700, cacheWriteTokens: 0, estimatedCost: 0.25 },
    // Nobody noted them.
    wakeupPause: { credentialStateChanged: true },
  });
  const sources = await Promise.all(['mine', 'made', 'first', 'none'].map(async (id) => (await sidecarOf(id)).titleSource));
  expect(sources).toEqual(['MANUAL', 'GENERATED', 'FIRST_MESSAGE', 'UNTITLED']);
  expect(await sidecarOf('broken')).toEqual({ layout: null, titleSource: 'UNTITLED', usage: null, wakeupPause: null });

  writeFileSync(join(homeFolder, 'auth.json'), '{"pool": [{"access_token": "one", "label": "main"}]}');
  const noted = { ...pause, credential_state_fingerprint: await credentialFingerprint(homeFolder, 'default') };
  saveSidecar(server.sessionsDir, 'a', sidecarText('a', { ...home, process_wakeup_pause: noted }, MESSAGES));
  expect(await sidecarOf('a')).toMatchObject({ wakeupPause: { credentialStateChanged: false } });
  writeFileSync(join(homeFolder, 'auth.json'), '{"pool": []}');
  expect(await sidecarOf('a')).toMatchObject({ wakeupPause: { credentialStateChanged: true } });
});

it('C1, C27: the folder tells of old temporary files, and of a database that files may be copies of', async () => {
  const server = await startWebUi({ files: { a: {} } });
  const ask = '{ profile { webUi { overlayStore staleTempFiles { name } } } }';
  expect(await server.read(ask)).toEqual({ profile: { webUi: { overlayStore: false, staleTempFiles: [] } } });
  const old = Date.now() / 1000 - 7200;
  for (const name of ['a.json.recover.tmp', 'a.tmp.1.2', 'b.tmp.1.2']) {
    writeFileSync(join(server.sessionsDir, name), '');
    if (!name.startsWith('b')) utimesSync(join(server.sessionsDir, name), old, old);
  }
  writeFileSync(join(server.sessionsDir, '_sessions.sqlite3'), '');
  expect(await server.read(ask)).toEqual({
    profile: { webUi: { overlayStore: true, staleTempFiles: [{ name: 'a.json.recover.tmp' }, { name: 'a.tmp.1.2' }] } },
  });
});

it('C21: a prompt that a background process gave tells of it, in a file and in the store', async () => {
  const ended = '[IMPORTANT: Background process p1 completed (exit_code=3).\nCommand: make tea\nOutput:\nhot';
  const matched = '[IMPORTANT: Background process p2 matched watch pattern "ready".\nCommand: tail -f log\nMatched output:\nready';
  const server = await startWebUi({
    rows: [S('stored'), M('stored', { content: ended })],
    files: {
      filed: sidecarText('filed', { title: 'Filed' }, [
        { role: 'user', content: matched },
        { role: 'assistant', content: matched },
      ]),
    },
  });
  const ask = (id: string) =>
    server.read(`{ session(sessionId: "${id}") { messages { nodes { wakeup { type taskId command exitCode pattern } } } } }`);
  const completion = { type: 'completion', taskId: 'p1', command: 'make tea', exitCode: '3', pattern: null };
  expect(await ask('stored')).toEqual({ session: { messages: { nodes: [{ wakeup: completion }] } } });
  const watch = { type: 'watch_match', taskId: 'p2', command: 'tail -f log', exitCode: null, pattern: 'ready' };
  expect(await ask('filed')).toEqual({ session: { messages: { nodes: [{ wakeup: watch }, { wakeup: null }] } } });
});
