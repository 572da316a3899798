/** Deleting sessions of every origin, over HTTP. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandHost } from '../support/command-host.ts';
import { D, namesBelow, parentsOf, W } from '../support/deletion.ts';
import { type Fields, sidecarText, writeTurns } from '../support/sidecars.ts';
import { M, S, temporaryFolder } from '../support/stores.ts';
import { MESSAGES, mutate, startWebUi, type WebUiServer } from '../support/web-ui-server.ts';

const FIELDS = `rules deletedIds orphanedIds rowsDeleted removedFiles { home path kind files } pendingIds pendingArtifacts
  blockedManifests keptWorktrees dryRun`;
const OLD = { updated_at: 1_782_000_000 };
const RUN = '1700000000_run';

/** The session `tea`, in a file and in the store, with everything that one can have. */
async function teaHouse(file: Fields = {}, webUi: Parameters<typeof startWebUi>[0] = {}): Promise<WebUiServer> {
  const server = await startWebUi({
    rows: [
      W('tea'),
      M('tea', { content: 'Hello' }),
      D('helper', 'tea'),
      W('fork', { parent_session_id: 'tea', source: 'fork' }),
      W('other'),
    ],
    files: { tea: { title: 'Tea', ...OLD, ...file }, other: { title: 'Other' } },
    ...webUi,
  });
  const { sessionsDir, webUiDir } = server;
  writeFileSync(join(sessionsDir, '_index.json'), '[{"session_id": "tea", "updated_at": 2.0}, {"session_id": "other", "updated_at": 1.0}]');
  writeFileSync(join(sessionsDir, 'tea.json.bak'), sidecarText('tea', { title: 'Tea' }, MESSAGES));
  mkdirSync(join(webUiDir, 'attachments', 'tea'), { recursive: true });
  writeFileSync(join(webUiDir, 'attachments', 'tea', 'photo.png'), 'bytes');
  writeTurns(sessionsDir, 'tea', 1, [{ turn_id: 't', event: 'completed', created_at: 1, stream_id: RUN }]);
  writeTurns(sessionsDir, 'tea_2', 1, [{ turn_id: 't', event: 'completed', created_at: 1 }]);
  mkdirSync(join(sessionsDir, '_run_journal', 'tea'), { recursive: true });
  writeFileSync(join(sessionsDir, '_run_journal', 'tea', `${RUN}.jsonl`), '{}\n');
  mkdirSync(join(dirname(webUiDir), 'sessions'));
  for (const name of ['tea.jsonl', 'request_dump_tea_1.json', 'other.jsonl']) writeFileSync(join(dirname(webUiDir), 'sessions', name), '');
  return server;
}

const KINDS = ['SIDECAR', 'BACKUP', 'ATTACHMENTS', 'TURN_JOURNAL', 'RUN_JOURNAL', 'TRANSCRIPT', 'REQUEST_DUMP'];
const homeOf = (server: WebUiServer) => dirname(server.webUiDir);
/** Without the store, the receipts and the lock. */
const filesOf = (server: WebUiServer) => [
  ...namesBelow(server.webUiDir),
  ...namesBelow(join(homeOf(server), 'sessions')).map((name) => `home ${name}`),
];

function storeOf(server: WebUiServer) {
  const host = commandHost(join(homeOf(server), 'state.db'));
  const rows = { parents: parentsOf(host), messages: host.rows('SELECT session_id FROM messages').map(({ session_id: id }) => id) };
  host.close();
  return rows;
}

describe('deleteSession of a session in a file and in the store', () => {
  it('says what it would do, does that, and leaves nothing of it', async () => {
    const server = await teaHouse();
    const before = { files: filesOf(server), store: storeOf(server) };
    const query = `{ deletePreview(sessionId: "tea") { rules deletedIds orphanedIds keptWorktrees refusals { code }
      files { home path kind files bytes } } }`;
    const { deletePreview } = await server.read<{ deletePreview: Fields & { files: Fields[] } }, object>(query);
    expect(deletePreview).toMatchObject({ rules: 'WEB_UI', deletedIds: ['tea', 'helper'], orphanedIds: ['fork'], refusals: [] });
    expect(deletePreview.files.map(({ kind }) => kind)).toEqual(KINDS);
    expect(deletePreview.files[2]).toEqual({ home: 'ATTACHMENTS', path: 'tea', kind: 'ATTACHMENTS', files: 1, bytes: 5 });
    const dry = await mutate(server, 'deleteSession', { sessionId: 'tea', dryRun: true }, FIELDS);
    expect({ files: filesOf(server), store: storeOf(server) }).toEqual(before);

    const expectedDeleteIds = ['helper', 'tea'];
    const done = await mutate(server, 'deleteSession', { sessionId: 'tea', expectedDeleteIds }, FIELDS);
    expect(done).toEqual({ ...dry, dryRun: false });
    expect(done).toMatchObject({ rowsDeleted: true, pendingIds: [], pendingArtifacts: [], blockedManifests: [], keptWorktrees: [] });
    expect(storeOf(server)).toEqual({ parents: { fork: null, other: null }, messages: [] });
    expect(filesOf(server)).toEqual([
      'sessions/_deleted_webui_sessions.json',
      'sessions/_index.json',
      'sessions/_turn_journal/tea_2~1.jsonl',
      'sessions/other.json',
      'home other.jsonl',
    ]);
    expect(JSON.parse(readFileSync(join(server.sessionsDir, '_deleted_webui_sessions.json'), 'utf8'))).toEqual({
      version: 1,
      ids: ['tea'],
    });
    expect(readFileSync(join(server.sessionsDir, '_index.json'), 'utf8')).not.toContain('tea');

    const after = await server.read<{ session: unknown; sessions: { nodes: { sessionId: string }[] }; fork: Fields }, object>(
      `{ session(sessionId: "tea") { sessionId } fork: session(sessionId: "fork") { parent { sessionId } }
        sessions(filter: { includeEmpty: true, includeUnlisted: true }) { nodes { sessionId } } }`,
    );
    expect(after.session).toBeNull();
    expect(after.fork).toEqual({ parent: null });
    expect(after.sessions.nodes.map(({ sessionId }) => sessionId).sort()).toEqual(['fork', 'other']);
    expect(await mutate(server, 'deleteSession', { sessionId: 'tea' })).toMatchObject({ code: 'NOT_FOUND', settled: true });
    expect(await server.read('{ deletePreview(sessionId: "tea") { rules } }')).toEqual({ deletePreview: null });
  });

  it('gives a repeat with the same clientMutationId the first answer', async () => {
    const server = await teaHouse();
    const input = { sessionId: 'tea', clientMutationId: 'once' };
    const first = await mutate(server, 'deleteSession', input, FIELDS);
    expect(await mutate(server, 'deleteSession', input, FIELDS)).toEqual(first);
    expect(await mutate(server, 'deleteSession', { ...input, scope: 'LINEAGE' })).toMatchObject({ code: 'VALIDATION' });
  });

  it('keeps rows when asked to, and notes it as deleted all the same', async () => {
    const server = await teaHouse();
    const done = await mutate(server, 'deleteSession', { sessionId: 'tea', keepStateDb: true }, FIELDS);
    expect(done).toMatchObject({ deletedIds: ['tea'], orphanedIds: [], rowsDeleted: false });
    expect(Object.keys(storeOf(server).parents)).toEqual(['fork', 'helper', 'other', 'tea']);
    expect(filesOf(server)).toContain('home tea.jsonl');
    expect(existsSync(join(server.sessionsDir, '_deleted_webui_sessions.json'))).toBe(true);
  });

  it('keeps the rows of a chat, and notes nothing', async () => {
    const server = await teaHouse({ session_source: 'messaging', raw_source: 'telegram' });
    expect(await mutate(server, 'deleteSession', { sessionId: 'tea' }, FIELDS)).toMatchObject({ deletedIds: ['tea'], rowsDeleted: false });
    expect(storeOf(server).messages).toEqual(['tea']);
    expect(existsSync(join(server.sessionsDir, 'tea.json'))).toBe(false);
    expect(existsSync(join(server.sessionsDir, '_deleted_webui_sessions.json'))).toBe(false);
  });

  it('keeps the folder of a worktree and says so', async () => {
    const worktree = { worktree_path: '/somewhere/tree', worktree_branch: 'b', worktree_repo_root: '/somewhere' };
    const server = await teaHouse(worktree);
    expect(await mutate(server, 'deleteSession', { sessionId: 'tea' }, FIELDS)).toMatchObject({ keptWorktrees: ['/somewhere/tree'] });
  });

  it('takes every segment with its files, when asked for the conversation', async () => {
    const server = await startWebUi({
      rows: [
        W('one', { end_reason: 'compression', ended_at: 150 }),
        W('two', { parent_session_id: 'one', started_at: 150 }),
        M('two', { content: 'Hello' }),
      ],
      files: { one: { title: 'A', pre_compression_snapshot: true }, two: { title: 'A', parent_session_id: 'one' } },
    });
    const done = await mutate(server, 'deleteSession', { sessionId: 'two', scope: 'LINEAGE' }, FIELDS);
    expect(done).toMatchObject({ deletedIds: ['one', 'two'], orphanedIds: [] });
    expect(filesOf(server)).toEqual(['sessions/_deleted_webui_sessions.json']);
    expect(storeOf(server)).toEqual({ parents: {}, messages: [] });
  });
});

describe('deleteSession of a session in one place', () => {
  it('deletes one that only a file has', async () => {
    const server = await startWebUi({ files: { tea: { title: 'Tea' } } });
    expect(await mutate(server, 'deleteSession', { sessionId: 'tea' }, FIELDS)).toMatchObject({
      rules: 'WEB_UI',
      deletedIds: ['tea'],
      rowsDeleted: false,
      removedFiles: [{ path: 'sessions/tea.json' }],
    });
    expect(filesOf(server)).toEqual(['sessions/_deleted_webui_sessions.json']);
  });

  it('deletes one that only a damaged file has', async () => {
    const server = await startWebUi({ files: { tea: '{broken' } });
    expect(await mutate(server, 'deleteSession', { sessionId: 'tea' }, FIELDS)).toMatchObject({ deletedIds: ['tea'] });
    expect(existsSync(join(server.sessionsDir, 'tea.json'))).toBe(false);
  });

  it('follows the agent for a session of the terminal: no file of the Web UI is touched', async () => {
    const server = await startWebUi({
      rows: [S('cli', { ended_at: 150, end_reason: 'compression' }), D('d', 'cli', { source: 'cli' }), M('cli', { content: 'Hello' })],
      files: { other: { title: 'Other' } },
    });
    // By the Web UI's rules what is below a compressed session stays.
    expect(await mutate(server, 'deleteSession', { sessionId: 'cli' }, FIELDS)).toMatchObject({
      rules: 'AGENT',
      deletedIds: ['cli', 'd'],
      rowsDeleted: true,
      removedFiles: [],
    });
    expect(filesOf(server)).toEqual(['sessions/other.json']);
  });

  it("leaves another profile's file of the same id alone", async () => {
    const server = await startWebUi({
      rows: [W('tea'), M('tea', { content: 'Hello' })],
      files: { tea: { title: 'Theirs', profile: 'work' } },
      profiles: { work: [] },
    });
    const text = readFileSync(join(server.sessionsDir, 'tea.json'), 'utf8');
    expect(await mutate(server, 'deleteSession', { sessionId: 'tea' }, FIELDS)).toMatchObject({ deletedIds: ['tea'], removedFiles: [] });
    expect(filesOf(server)).toEqual(['sessions/tea.json']);
    expect(readFileSync(join(server.sessionsDir, 'tea.json'), 'utf8')).toBe(text);
  });
});

describe('deleteSession is refused', () => {
  it.each<[string, string, Fields]>([
    ['during a turn', 'SESSION_BUSY', { active_stream_id: RUN, pending_user_message: 'Hi', pending_started_at: Date.now() / 1000 }],
    ['for a run of a sub-agent', 'SESSION_READ_ONLY', { source_tag: 'subagent', raw_source: 'subagent' }],
  ])('%s: %s', async (_, code, file) => {
    const server = await teaHouse(file);
    const before = { files: filesOf(server), store: storeOf(server) };
    const { deletePreview } = await server.read<{ deletePreview: { refusals: Fields[] } }, object>(
      '{ deletePreview(sessionId: "tea") { refusals { code } } }',
    );
    expect(deletePreview.refusals).toEqual([{ code }]);
    for (const more of [{ dryRun: true }, {}, { clientMutationId: 'again' }, { clientMutationId: 'again' }])
      expect(await mutate(server, 'deleteSession', { sessionId: 'tea', ...more }), JSON.stringify(more)).toMatchObject({
        code,
        settled: true,
      });
    expect({ files: filesOf(server), store: storeOf(server) }).toEqual(before);
  });

  it('for a transcript of Claude Code, with a file of the Web UI and without', async () => {
    const root = join(temporaryFolder(), 'projects');
    mkdirSync(join(root, '-srv-work'), { recursive: true });
    const transcript = join(root, '-srv-work', 'one.jsonl');
    const line = { type: 'user', timestamp: '2026-06-01T10:00:00Z', cwd: '/srv/work', message: { role: 'user', content: 'Find the leak' } };
    writeFileSync(transcript, `${JSON.stringify(line)}\n`);
    const server = await startWebUi({ settings: { claudeProjectsDir: root } });
    const { sessions } = await server.read<{ sessions: { nodes: { sessionId: string }[] } }, object>(
      '{ sessions { nodes { sessionId } } }',
    );
    const sessionId = sessions.nodes[0]?.sessionId ?? '';
    const preview = 'query ($id: String!) { deletePreview(sessionId: $id) { refusals { code } files { path } } }';
    for (const files of [[], [`sessions/${sessionId}.json`]]) {
      if (files.length > 0)
        writeFileSync(join(server.sessionsDir, `${sessionId}.json`), sidecarText(sessionId, { title: 'Leak' }, MESSAGES));
      expect(await mutate(server, 'deleteSession', { sessionId })).toMatchObject({ code: 'SESSION_READ_ONLY', settled: true });
      const { deletePreview } = await server.read<{ deletePreview: { refusals: Fields[] } }, object>(preview, { id: sessionId });
      expect(deletePreview.refusals[0]).toEqual({ code: 'SESSION_READ_ONLY' });
      expect(filesOf(server)).toEqual(files);
    }
    expect(readFileSync(transcript, 'utf8')).toContain('Find the leak');
  });

  it('for a turn of which nobody knows, until it is forced', async () => {
    const lost = { active_stream_id: RUN, pending_user_message: 'Hi', pending_started_at: Date.now() / 1000 - 200 };
    const server = await startWebUi({ files: { tea: { ...lost } } });
    expect(await mutate(server, 'deleteSession', { sessionId: 'tea' })).toMatchObject({
      code: 'SESSION_BUSY',
      details: { sessionId: 'tea', state: 'SUSPECT' },
    });
    expect(await mutate(server, 'deleteSession', { sessionId: 'tea', force: true }, FIELDS)).toMatchObject({ deletedIds: ['tea'] });
  });

  it('where its list of deleted sessions is of a later version', async () => {
    const server = await teaHouse();
    writeFileSync(join(server.sessionsDir, '_deleted_webui_sessions.json'), '{"version": 2}');
    expect(await mutate(server, 'deleteSession', { sessionId: 'tea' })).toMatchObject({ code: 'TOMBSTONES_UNSUPPORTED' });
    expect(existsSync(join(server.sessionsDir, 'tea.json'))).toBe(true);
  });

  it('where the Web UI has a database of its own, and without --allow-writes', async () => {
    const server = await teaHouse();
    writeFileSync(join(server.sessionsDir, '_sessions.sqlite3'), '');
    expect(await mutate(server, 'deleteSession', { sessionId: 'tea' })).toMatchObject({ code: 'SIDECAR_OVERLAY' });
    const readOnly = await teaHouse({}, { allowWrites: false });
    expect(await mutate(readOnly, 'deleteSession', { sessionId: 'tea' })).toMatchObject({ code: 'WRITES_OFF' });
    expect(await mutate(readOnly, 'deleteSession', { sessionId: 'tea', dryRun: true }, FIELDS)).toMatchObject({ dryRun: true });
  });
});

describe('journals', () => {
  const SUM = 'files bytes removed';

  it('C29: go by themselves, with a dry run before', async () => {
    const server = await teaHouse();
    const before = filesOf(server);
    for (const [name, kept] of [
      ['deleteRunJournal', `sessions/_run_journal/tea/${RUN}.jsonl`],
      ['deleteTurnJournal', 'sessions/_turn_journal/tea~1.jsonl'],
    ] as const) {
      const dry = await mutate(server, name, { sessionId: 'tea', dryRun: true }, SUM);
      expect(dry).toMatchObject({ files: 1, removed: true });
      expect(filesOf(server)).toContain(kept);
      expect(await mutate(server, name, { sessionId: 'tea' }, SUM)).toEqual(dry);
      expect(await mutate(server, name, { sessionId: 'tea' }, SUM)).toMatchObject({ files: 0, bytes: 0, removed: false });
    }
    const gone = [`sessions/_run_journal/tea/${RUN}.jsonl`, 'sessions/_turn_journal/tea~1.jsonl'];
    expect(filesOf(server)).toEqual(before.filter((name) => !gone.includes(name)));
  });

  it('stay for what is no id', async () => {
    const server = await teaHouse();
    const before = filesOf(server);
    for (const sessionId of ['.', '..', '', ' ', 'a/b', '../other', 'a\\b', 'é'])
      for (const name of ['deleteRunJournal', 'deleteTurnJournal'])
        expect(await mutate(server, name, { sessionId }), `${name} ${sessionId}`).toMatchObject({ code: 'VALIDATION' });
    expect(filesOf(server)).toEqual(before);
  });

  it("stay where the session is another profile's, which may be at work in it", async () => {
    const server = await teaHouse({ profile: 'work' }, { profiles: { work: [] } });
    for (const name of ['deleteRunJournal', 'deleteTurnJournal']) {
      expect(await mutate(server, name, { sessionId: 'tea' }), name).toMatchObject({ code: 'NOT_FOUND' });
      expect(await mutate(server, name, { sessionId: 'tea', profile: 'work', dryRun: true }, SUM), name).toMatchObject({ files: 1 });
    }
    expect(filesOf(server)).toContain(`sessions/_run_journal/tea/${RUN}.jsonl`);
  });

  it('stay during a turn', async () => {
    const server = await teaHouse({ active_stream_id: RUN, pending_user_message: 'Hi', pending_started_at: Date.now() / 1000 });
    for (const name of ['deleteRunJournal', 'deleteTurnJournal'])
      expect(await mutate(server, name, { sessionId: 'tea' }), name).toMatchObject({ code: 'SESSION_BUSY' });
    expect(filesOf(server)).toContain(`sessions/_run_journal/tea/${RUN}.jsonl`);
  });
});

describe('a segment whose conversation goes on in another', () => {
  it('stays, with its journals, while that has a turn: the run goes on writing where it began', async () => {
    const turn = { active_stream_id: RUN, pending_user_message: 'Hi', pending_started_at: Date.now() / 1000 };
    const server = await startWebUi({
      rows: [W('one', { end_reason: 'compression', ended_at: 150 }), W('two', { parent_session_id: 'one', started_at: 150 })],
      files: { one: { title: 'A', pre_compression_snapshot: true }, two: { title: 'A', parent_session_id: 'one', ...turn } },
    });
    mkdirSync(join(server.sessionsDir, '_run_journal', 'one'), { recursive: true });
    writeFileSync(join(server.sessionsDir, '_run_journal', 'one', `${RUN}.jsonl`), '{}\n');
    const before = filesOf(server);
    for (const name of ['deleteSession', 'deleteRunJournal', 'deleteTurnJournal']) {
      expect(await mutate(server, name, { sessionId: 'one', force: true }), name).toMatchObject({
        code: 'SESSION_BUSY',
        details: { sessionId: 'two', state: 'LIVE' },
      });
    }
    expect(filesOf(server)).toEqual(before);
  });
});

describe('what deletions left behind', () => {
  it('is cleaned up before the first write of a process, whatever that is', async () => {
    const server = await teaHouse();
    const folder = join(homeOf(server), 'sessions');
    writeFileSync(join(folder, '.cleanup_manifest_a.json'), '["old"]');
    writeFileSync(join(folder, 'old.jsonl'), '');
    await mutate(server, 'updateSession', { sessionId: 'other', pinned: true });
    expect(namesBelow(folder)).toEqual(['other.jsonl', 'request_dump_tea_1.json', 'tea.jsonl']);
  });

  it('is listed, and cleaned up on request', async () => {
    const server = await teaHouse();
    const folder = join(homeOf(server), 'sessions');
    writeFileSync(join(folder, '.cleanup_manifest_a.json'), '["old", "tea"]');
    writeFileSync(join(folder, '.cleanup_manifest_b.json'), '{}');
    writeFileSync(join(folder, 'old.jsonl'), '');
    const listed = [
      { name: '.cleanup_manifest_a.json', sessionIds: ['old', 'tea'], status: 'OK' },
      { name: '.cleanup_manifest_b.json', sessionIds: [], status: 'MALFORMED' },
    ];
    expect(await server.read('{ cleanupManifests { name sessionIds status } }')).toEqual({ cleanupManifests: listed });
    const fields = 'manifests { name sessionIds status } drained pendingArtifacts blockedManifests';
    const dry = await mutate(server, 'drainCleanupManifests', { dryRun: true }, fields);
    expect(dry).toMatchObject({ manifests: listed, drained: [], blockedManifests: ['.cleanup_manifest_b.json'] });
    expect(existsSync(join(folder, 'old.jsonl'))).toBe(true);
    const lock = join(homeOf(server), '.session_cleanup.lock');
    expect(existsSync(lock)).toBe(false);
    expect(await mutate(server, 'drainCleanupManifests', {}, fields)).toMatchObject({
      manifests: listed,
      drained: ['.cleanup_manifest_a.json'],
      pendingArtifacts: [],
      blockedManifests: ['.cleanup_manifest_b.json'],
    });
    expect(namesBelow(folder)).toEqual(['.cleanup_manifest_b.json', 'other.jsonl', 'request_dump_tea_1.json', 'tea.jsonl']);
    expect(await server.read('{ cleanupManifests { name } }')).toEqual({ cleanupManifests: [{ name: '.cleanup_manifest_b.json' }] });
  });
});
