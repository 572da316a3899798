/** Sessions of other programs taken into the Web UI, over HTTP. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { sidecarPath } from '../support/sidecars.ts';
import { M, S, temporaryFolder } from '../support/stores.ts';
import { fileFields, fileText, mutate, seen, startWebUi } from '../support/web-ui-server.ts';

const FIELDS = 'imported readOnlyBecause messageCount session { sessionId origins title }';
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
  ['telegram', 'MESSAGING'],
  ['cron', 'SOURCE'],
  ['subagent', 'SOURCE'],
])('makes no file for a session of %s, and says why', async (source, reason) => {
  const server = await startWebUi({ rows: [S('s', { source }), M('s')] });
  expect(await server.read('{ session(sessionId: "s") { claimable { reason } } }')).toEqual({ session: { claimable: { reason } } });
  expect(await mutate(server, 'importSession', { sessionId: 's' }, FIELDS)).toMatchObject({ imported: false, readOnlyBecause: reason });
  expect(existsSync(sidecarPath(server.sessionsDir, 's'))).toBe(false);
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
