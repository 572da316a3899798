/** Sessions of other programs taken into the Web UI, over HTTP. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { type Fields, sidecarPath, sidecarText } from '../support/sidecars.ts';
import { M, S, temporaryFolder } from '../support/stores.ts';
import { fileFields, fileText, mutate, seen, startWebUi, type WebUiServer } from '../support/web-ui-server.ts';

const FIELDS = 'imported changed readOnlyBecause messageCount addedMessages session { sessionId origins title }';
const ROWS = [
  S('cli', { source: 'cli', title: 'Plans', model: 'gpt', started_at: 100, ended_at: 150, cwd: '/srv/tea' }),
  M('cli', { content: 'Where is the tea?', timestamp: 110 }),
  M('cli', { role: 'assistant', content: 'In the ünderground.', timestamp: 111 }),
];

it('makes a file with the messages, the folder and the source of a session of a terminal, once', async () => {
  const server = await startWebUi({ rows: ROWS });
  expect(await mutate(server, 'importSession', { sessionId: 'cli', dryRun: true }, FIELDS)).toMatchObject({
    imported: true,
    messageCount: 2,
  });
  expect(readdirSync(server.sessionsDir)).toEqual([]);
  expect(await server.read('{ session(sessionId: "cli") { claimable { ok } } }')).toEqual({ session: { claimable: { ok: true } } });
  const input = { sessionId: 'cli', clientMutationId: 'k' };
  const first = await mutate(server, 'importSession', input, FIELDS);
  expect(first).toMatchObject({
    imported: true,
    readOnlyBecause: null,
    messageCount: 2,
    session: { origins: expect.arrayContaining(['STATE_DB', 'WEB_UI']), title: 'Plans' },
  });
  expect(fileFields(server, 'cli')).toMatchObject({
    session_id: 'cli',
    title: 'Plans',
    model: 'gpt',
    workspace: '/srv/tea',
    created_workspace: '/srv/tea',
    created_at: 100,
    updated_at: 150,
    profile: 'default',
    is_cli_session: true,
    read_only: false,
    raw_source: 'cli',
    message_count: 2,
    messages: [
      { role: 'user', content: 'Where is the tea?', timestamp: 110 },
      { role: 'assistant', content: 'In the ünderground.', timestamp: 111 },
    ],
  });
  const text = fileText(server, 'cli');
  expect(text).not.toContain('_state_db_row_id');
  expect(await mutate(server, 'importSession', input, FIELDS)).toEqual(first);
  expect(await mutate(server, 'importSession', { sessionId: 'cli' }, FIELDS)).toMatchObject({ imported: false, readOnlyBecause: null });
  expect(fileText(server, 'cli')).toBe(text);
  // It is a session of the Web UI now.
  expect(await mutate(server, 'updateSession', { sessionId: 'cli', pinned: true }, 'changed')).toMatchObject({ changed: true });
  expect(await seen(server, 'cli')).toMatchObject({ pinned: true });
});

it('makes a title of the first words where there is none', async () => {
  const server = await startWebUi({ rows: [S('u', { source: 'tui' }), M('u', { content: 'Where is the tea?' })] });
  await mutate(server, 'importSession', { sessionId: 'u' });
  expect(fileFields(server, 'u').title).toBe('Where is the tea?');
});

it('works in the folder that the profile is configured with where the terminal named none', async () => {
  const server = await startWebUi({ rows: [S('u', { source: 'tui' }), M('u')] });
  const workspace = temporaryFolder();
  writeFileSync(join(dirname(server.webUiDir), 'config.yaml'), `workspace: ${workspace}`);
  await mutate(server, 'importSession', { sessionId: 'u' });
  expect(fileFields(server, 'u').workspace).toBe(workspace);
});

it.each([
  ['telegram', 'MESSAGING', 'messaging'],
  ['cron', 'SOURCE', 'cron'],
  ['gateway', 'SOURCE', 'other'],
])('16.2: takes a session of %s, and says why its conversation is not gone on with', async (source, reason, sessionSource) => {
  const server = await startWebUi({ rows: [S('s', { source, chat_id: '7', user_id: 'u' }), M('s')] });
  expect(await server.read('{ session(sessionId: "s") { claimable { reason } } }')).toEqual({ session: { claimable: { reason } } });
  expect(await mutate(server, 'importSession', { sessionId: 's' }, FIELDS)).toMatchObject({ imported: true, readOnlyBecause: reason });
  expect(fileFields(server, 's')).toMatchObject({
    source_tag: source,
    session_source: sessionSource,
    is_cli_session: true,
    chat_id: '7',
    user_id: 'u',
  });
  // What belongs to the file alone can be changed all the same.
  expect(await mutate(server, 'updateSession', { sessionId: 's', pinned: true }, 'changed')).toMatchObject({ changed: true });
  expect(await seen(server, 's')).toMatchObject({ pinned: true });
});

it('16.2: makes no file for a sub-agent, and says why', async () => {
  const server = await startWebUi({ rows: [S('s', { source: 'subagent' }), M('s')] });
  expect(await mutate(server, 'importSession', { sessionId: 's' }, FIELDS)).toMatchObject({
    imported: false,
    readOnlyBecause: 'SOURCE',
    messageCount: 1,
    addedMessages: 0,
  });
  expect(existsSync(sidecarPath(server.sessionsDir, 's'))).toBe(false);
});

describe('16.2: a run of cron', () => {
  const CRON = [S('cron_tea_20260801', { source: 'cron' }), M('cron_tea_20260801')];
  const own = { project_id: 'aaaaaaaaaaaa', name: 'Tea', color: null, profile: 'default', created_at: 1 };

  it('goes into the project of cron runs where the profile has projects, with the name of its job', async () => {
    const server = await startWebUi({ rows: CRON, projects: [own] });
    mkdirSync(join(dirname(server.webUiDir), 'cron'));
    writeFileSync(join(dirname(server.webUiDir), 'cron', 'jobs.json'), '{"jobs": [{"id": "tea", "name": "Morning tea"}]}');
    const text = readFileSync(join(server.webUiDir, 'projects.json'), 'utf8');
    await mutate(server, 'importSession', { sessionId: 'cron_tea_20260801', dryRun: true }, FIELDS);
    expect(readFileSync(join(server.webUiDir, 'projects.json'), 'utf8')).toBe(text);
    await mutate(server, 'importSession', { sessionId: 'cron_tea_20260801' }, FIELDS);
    const projects = JSON.parse(readFileSync(join(server.webUiDir, 'projects.json'), 'utf8')) as { name: string; project_id: string }[];
    expect(projects.map(({ name }) => name)).toEqual(['Tea', 'Cron Jobs']);
    expect(fileFields(server, 'cron_tea_20260801')).toMatchObject({ project_id: projects[1]?.project_id, title: 'Morning tea' });
  });

  it('goes into none where it has no project', async () => {
    const server = await startWebUi({ rows: CRON });
    await mutate(server, 'importSession', { sessionId: 'cron_tea_20260801' });
    expect(existsSync(join(server.webUiDir, 'projects.json'))).toBe(false);
    expect(fileFields(server, 'cron_tea_20260801')).toMatchObject({ project_id: null, title: 'Cron Session' });
  });
});

describe('16.2: a session that has a file', () => {
  const LATER = [
    M('cli', { content: 'And the milk?', timestamp: 120 }),
    M('cli', { role: 'assistant', content: 'With the tea.', timestamp: 121 }),
  ];

  /** As the terminal writes. */
  function append({ storePath }: WebUiServer): void {
    const db = new Database(storePath);
    const insert = db.prepare("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('cli', ?, ?, ?)");
    for (const { columns } of LATER) insert.run(columns.role ?? 'user', columns.content, columns.timestamp);
    db.close();
  }

  const REFRESHED = 'imported changed readOnlyBecause messageCount addedMessages mayBeOverwritten session { messageCount }';
  const FILE = { source_tag: 'cli', raw_source: 'cli', session_source: 'cli', source_label: 'CLI', is_cli_session: true };

  it('gets what the terminal wrote since, once, and keeps its title, its time and members that nobody knows', async () => {
    const server = await startWebUi({ rows: ROWS });
    await mutate(server, 'importSession', { sessionId: 'cli' });
    await mutate(server, 'updateSession', { sessionId: 'cli', title: 'Mine', pinned: true }, 'changed');
    const edited: Fields = { ...fileFields(server, 'cli'), ours_alone: [1] };
    writeFileSync(sidecarPath(server.sessionsDir, 'cli'), JSON.stringify(edited, null, 2));
    append(server);
    const dry = await mutate(server, 'importSession', { sessionId: 'cli', dryRun: true }, REFRESHED);
    expect(dry).toMatchObject({ imported: false, changed: true, messageCount: 4, addedMessages: 2 });
    expect(fileFields(server, 'cli')).toEqual(edited);
    const done = await mutate(server, 'importSession', { sessionId: 'cli' }, REFRESHED);
    expect(done).toMatchObject({ imported: false, changed: true, readOnlyBecause: null, messageCount: 4, addedMessages: 2 });
    expect(done).toMatchObject({ mayBeOverwritten: true, session: { messageCount: 4 } });
    const { messages, ...others } = fileFields(server, 'cli');
    expect(messages).toMatchObject([{}, {}, { content: 'And the milk?' }, { role: 'assistant', content: 'With the tea.' }]);
    expect(others).toMatchObject({ title: 'Mine', pinned: true, ours_alone: [1], message_count: 4, updated_at: edited.updated_at });
    const text = fileText(server, 'cli');
    expect(await mutate(server, 'importSession', { sessionId: 'cli' }, REFRESHED)).toMatchObject({
      changed: false,
      addedMessages: 0,
      mayBeOverwritten: false,
    });
    expect(fileText(server, 'cli')).toBe(text);
  });

  it('keeps its messages where they are others than those of the terminal', async () => {
    const server = await startWebUi({ rows: [...ROWS, ...LATER], files: { cli: FILE } });
    const text = fileText(server, 'cli');
    expect(await mutate(server, 'importSession', { sessionId: 'cli' }, REFRESHED)).toMatchObject({ changed: false, messageCount: 2 });
    expect(fileText(server, 'cli')).toBe(text);
  });

  it('of which little is known is brought up to date in the index of the Web UI too', async () => {
    const messages = [{ role: 'user', content: 'Where is the tea?', timestamp: 110 }];
    const server = await startWebUi({ rows: ROWS, files: { cli: sidecarText('cli', { source_tag: 'cli' }, messages) } });
    await mutate(server, 'rebuildSessionIndex', {});
    expect(await mutate(server, 'importSession', { sessionId: 'cli' }, REFRESHED)).toMatchObject({ changed: true, addedMessages: 1 });
    const index = JSON.parse(readFileSync(join(server.sessionsDir, '_index.json'), 'utf8')) as Fields[];
    expect(index).toMatchObject([{ session_id: 'cli', message_count: 2, session_source: 'cli', is_cli_session: true }]);
    await mutate(server, 'rebuildSessionIndex', {});
    expect(JSON.parse(readFileSync(join(server.sessionsDir, '_index.json'), 'utf8'))).toEqual(index);
  });

  it('waits for a turn that is under way', async () => {
    const messages = [
      { role: 'user', content: 'Where is the tea?', timestamp: 110 },
      { role: 'assistant', content: 'In the ünderground.', timestamp: 111 },
    ];
    const running = sidecarText('cli', { ...FILE, active_stream_id: 'r', pending_user_message: 'Hm?', pending_started_at: 130 }, messages);
    const server = await startWebUi({ rows: [...ROWS, ...LATER], files: { cli: running } });
    expect(await mutate(server, 'importSession', { sessionId: 'cli' }, REFRESHED)).toMatchObject({ code: 'SESSION_BUSY', retryable: true });
    expect(fileText(server, 'cli')).toBe(running);
  });

  it('of a damaged file says so, and of another profile is not found', async () => {
    const files = { cli: '[]', other: { ...FILE, profile: 'work' } };
    const server = await startWebUi({ rows: [...ROWS, S('other', { source: 'cli' }), M('other')], files, profiles: { work: [] } });
    expect(await mutate(server, 'importSession', { sessionId: 'cli' })).toMatchObject({ code: 'SIDECAR_CORRUPT', settled: true });
    expect(await mutate(server, 'importSession', { sessionId: 'other' })).toMatchObject({ code: 'NOT_FOUND', settled: true });
    expect(fileText(server, 'cli')).toBe('[]');
  });

  it('of many megabytes is brought up to date in a thread', async () => {
    const long = 'tea '.repeat(400_000);
    const rows = [S('cli', { source: 'cli' }), M('cli', { content: long, timestamp: 110 })];
    const server = await startWebUi({ rows });
    await mutate(server, 'importSession', { sessionId: 'cli' });
    append(server);
    expect(await mutate(server, 'importSession', { sessionId: 'cli' }, REFRESHED)).toMatchObject({ addedMessages: 2, messageCount: 3 });
  });
});

it('brings nothing back that was deleted in the Web UI, and finds nothing where there is nothing', async () => {
  const server = await startWebUi({ rows: [S('w', { source: 'webui' }), M('w'), S('empty')], files: { own: {} } });
  writeFileSync(join(server.sessionsDir, '_deleted_webui_sessions.json'), '{"version": 1, "ids": ["w"]}');
  for (const sessionId of ['w', 'empty', 'nobody', '../own', '']) {
    expect(await mutate(server, 'importSession', { sessionId }), sessionId).toMatchObject({ code: 'NOT_FOUND', settled: true });
  }
  expect(await mutate(server, 'importSession', { sessionId: 'own' }, FIELDS)).toMatchObject({ imported: false, messageCount: 2 });
  expect(readdirSync(server.sessionsDir).sort()).toEqual(['_deleted_webui_sessions.json', 'own.json']);
});

it('writes nothing without --allow-writes', async () => {
  const server = await startWebUi({ rows: ROWS, allowWrites: false });
  expect(await mutate(server, 'importSession', { sessionId: 'cli' })).toMatchObject({ code: 'WRITES_OFF' });
  expect(readdirSync(server.sessionsDir)).toEqual([]);
});
