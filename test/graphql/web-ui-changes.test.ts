/** Changes of sessions in the Web UI's files over HTTP: byte for byte, guarded, once, and beside the store. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { saveSidecar, sidecarPath, sidecarText } from '../support/sidecars.ts';
import { M, S } from '../support/stores.ts';
import { fileFields, fileText, MESSAGES, mutate, seen, startUpstreamHome, startWebUi, type WebUiServer } from '../support/web-ui-server.ts';

const CHANGED = 'changed signature mayBeOverwritten session { title pinned archived sidecar { signature personality enabledToolsets } }';
const PROJECTS = [
  { project_id: 'p1', name: 'Mine', profile: 'default', emoji: '*' },
  { project_id: 'p2', name: 'Theirs', profile: 'coder' },
];

/** Every name in the folder with its bytes. */
function folder(server: WebUiServer): Record<string, string> {
  return Object.fromEntries(
    readdirSync(server.sessionsDir)
      .filter((name) => statSync(join(server.sessionsDir, name)).isFile())
      .map((name) => [name, readFileSync(join(server.sessionsDir, name), 'latin1')]),
  );
}

describe('updateSession', () => {
  it('T15: changes what it is asked to, and leaves every other byte, unknown members too', async () => {
    const text = sidecarText('a', { title: 'Before', foo: { b: [1, 2.0, 'ü'] }, big: 1e21 }, MESSAGES, { zzz: 'kept' }).replace(
      '"b": [',
      '"b" :  [',
    );
    const server = await startWebUi({ files: { a: text } });
    const answer = await mutate(
      server,
      'updateSession',
      { sessionId: 'a', pinned: true, personality: 'calm', enabledToolsets: ['web'] },
      CHANGED,
    );
    expect(answer).toMatchObject({
      __typename: 'UpdateSessionPayload',
      changed: true,
      mayBeOverwritten: true,
      session: { pinned: true, sidecar: { personality: 'calm', enabledToolsets: ['web'], signature: answer.signature } },
    });
    const after = fileText(server, 'a');
    expect(after).toContain('"b" :  [');
    expect(JSON.parse(after)).toEqual({
      ...(JSON.parse(text) as object),
      pinned: true,
      personality: 'calm',
      enabled_toolsets: ['web'],
      updated_at: expect.any(Number),
    });
    const lines = after.split('\n');
    expect(text.split('\n').filter((line) => !lines.includes(line))).toEqual(['  "updated_at": 1782000000,']);
  });

  it('T7: keeps pins and drafts out of the order of lists', async () => {
    const server = await startWebUi({ files: { a: { title: 'A' } } });
    await mutate(server, 'updateSession', { sessionId: 'a', pinned: true, composerDraft: { text: 'to be said' } });
    expect(fileFields(server, 'a')).toMatchObject({ updated_at: 1_782_000_000, pinned: true, composer_draft: { text: 'to be said' } });
  });

  it('T30: is refused when the file is another than the one that was seen, and nothing is written', async () => {
    const server = await startWebUi({ files: { a: { title: 'A' } } });
    const { sidecar } = await seen(server, 'a');
    saveSidecar(server.sessionsDir, 'a', sidecarText('a', { title: 'Saved meanwhile' }, MESSAGES));
    const before = folder(server);
    const refused = await mutate(server, 'updateSession', { sessionId: 'a', title: 'Mine', ifSignature: sidecar?.signature });
    expect(refused).toMatchObject({ __typename: 'ConflictError', code: 'CONFLICT', settled: true });
    expect(folder(server)).toEqual(before);
    const fresh = (await seen(server, 'a')).sidecar?.signature;
    expect(await mutate(server, 'updateSession', { sessionId: 'a', title: 'Mine', ifSignature: fresh }, 'changed')).toMatchObject({
      changed: true,
    });
    expect((await seen(server, 'a')).title).toBe('Mine');
  });

  it('writes nothing on a dry run, which works where nothing may be written', async () => {
    const server = await startWebUi({ files: { a: { title: 'A' } }, projects: PROJECTS, allowWrites: false });
    const before = folder(server);
    const fields = 'changed signature';
    const input = { sessionId: 'a', title: 'B', projectId: 'p1', dryRun: true };
    expect(await mutate(server, 'updateSession', input, fields)).toMatchObject({ changed: true });
    expect(await mutate(server, 'updateSession', { sessionId: 'a', title: 'A', dryRun: true }, fields)).toMatchObject({ changed: true });
    expect(await mutate(server, 'updateSession', { sessionId: 'a', pinned: false, dryRun: true }, fields)).toMatchObject({
      changed: false,
    });
    expect(await mutate(server, 'updateSession', { ...input, dryRun: false })).toMatchObject({ __typename: 'WritesOffError' });
    expect(await mutate(server, 'moveSession', { sessionId: 'a', projectId: 'p1' })).toMatchObject({ __typename: 'WritesOffError' });
    expect(folder(server)).toEqual(before);
  });

  it('is done once for an id: a repeat gets the first answer and writes nothing', async () => {
    const server = await startWebUi({ files: { a: { title: 'A' } } });
    const input = { sessionId: 'a', title: 'Mine', clientMutationId: 'once' };
    const first = await mutate(server, 'updateSession', input, 'changed signature clientMutationId');
    saveSidecar(server.sessionsDir, 'a', sidecarText('a', { title: 'Saved since' }, MESSAGES));
    const before = folder(server);
    expect(await mutate(server, 'updateSession', input, 'changed signature clientMutationId')).toEqual(first);
    expect(folder(server)).toEqual(before);
    expect(await mutate(server, 'updateSession', { ...input, title: 'Other' })).toMatchObject({ code: 'VALIDATION' });
    const { mutationReceipt } = await server.read<{ mutationReceipt: object }, object>(
      '{ mutationReceipt(clientMutationId: "once") { state } }',
    );
    expect(mutationReceipt).toEqual({ state: 'DONE' });
  });

  it.each(['', '..', '../a', 'a/b', 'a.b', 'é', 'a b', 'a\n', '_index', 'x'.repeat(300), '__proto__'])(
    'T1: finds nothing under the id %j, and makes no file',
    async (sessionId) => {
      const server = await startWebUi({ files: { a: { title: 'A' } } });
      const before = folder(server);
      for (const name of ['updateSession', 'clearWakeupPause', 'persistCollapsedPartials']) {
        expect(await mutate(server, name, { sessionId })).toMatchObject({ code: 'NOT_FOUND', settled: true });
      }
      expect(folder(server)).toEqual(before);
    },
  );

  it.each([
    [
      'CORRUPT, cut inside the messages',
      '{"session_id": "a", "title": "A", "created_at": 1, "updated_at": 2, "messages": [{"ro',
      'SIDECAR_CORRUPT',
    ],
    ['empty', '', 'SIDECAR_CORRUPT'],
    ['a list', '[]', 'SIDECAR_CORRUPT'],
    ['without messages that are a list', '{"session_id": "a", "messages": {"a": 1}}', 'SIDECAR_CORRUPT'],
  ])('T3, T4: leaves a file that is %s as it is', async (_, text, code) => {
    const server = await startWebUi({ files: { a: text } });
    expect(await mutate(server, 'updateSession', { sessionId: 'a', title: 'B' })).toMatchObject({ code, settled: true });
    expect(fileText(server, 'a')).toBe(text);
  });

  it('T13: leaves a file that is not UTF-8 as it is', async () => {
    const server = await startWebUi({ files: { a: { title: 'A' } } });
    const bytes = Buffer.from(sidecarText('a', { title: 'Z\u00fcrich', created_at: 1 }, MESSAGES), 'latin1');
    writeFileSync(sidecarPath(server.sessionsDir, 'a'), bytes);
    expect(await mutate(server, 'updateSession', { sessionId: 'a', pinned: true })).toMatchObject({ code: 'SIDECAR_ENCODING' });
    expect(readFileSync(sidecarPath(server.sessionsDir, 'a'))).toEqual(bytes);
  });

  it('refuses what was imported, what only the store has, and what is over a limit', async () => {
    const server = await startWebUi({ rows: [S('s'), M('s')], files: { a: { read_only: true }, b: {} } });
    expect(await mutate(server, 'updateSession', { sessionId: 'a', pinned: true })).toMatchObject({ code: 'SESSION_READ_ONLY' });
    expect(await mutate(server, 'updateSession', { sessionId: 's', pinned: true })).toMatchObject({ code: 'SIDECAR_MISSING' });
    expect(await mutate(server, 'updateSession', { sessionId: 'b', composerDraft: { text: 'x'.repeat(50_001) } })).toMatchObject({
      code: 'VALIDATION',
    });
  });

  it('refuses files where the Web UI keeps its sessions in a database of its own', async () => {
    const server = await startWebUi({ files: { a: { title: 'A' } } });
    writeFileSync(join(server.sessionsDir, '_sessions.sqlite3'), '');
    expect(await mutate(server, 'updateSession', { sessionId: 'a', title: 'B' })).toMatchObject({ code: 'SIDECAR_OVERLAY' });
  });

  it('changes the row of the index along with the file', async () => {
    const server = await startUpstreamHome();
    await mutate(server, 'updateSession', { sessionId: 'mw_normal', title: 'Containers' });
    const rows = JSON.parse(readFileSync(join(server.sessionsDir, '_index.json'), 'utf8')) as { session_id: string; title: string }[];
    expect(rows.find((row) => row.session_id === 'mw_normal')?.title).toBe('Containers');
    expect(readdirSync(server.sessionsDir).filter((name) => name.includes('.tmp.'))).toEqual([]);
  });
});

describe('moveSession', () => {
  it('puts a session into a project of its profile and takes it out, and it is seen at once', async () => {
    const server = await startWebUi({ files: { a: {} }, projects: PROJECTS });
    expect(
      await mutate(server, 'moveSession', { sessionId: 'a', projectId: 'p1' }, 'changed session { project { projectId } }'),
    ).toMatchObject({
      changed: true,
      session: { project: { projectId: 'p1' } },
    });
    expect(fileFields(server, 'a')).toMatchObject({ project_id: 'p1', updated_at: 1_782_000_000 });
    await mutate(server, 'moveSession', { sessionId: 'a', projectId: null });
    expect((await seen(server, 'a')).project).toBeNull();
  });

  it.each(['p2', 'nobody', '', '../p1'])('refuses the project %j, which is not of the profile', async (projectId) => {
    const server = await startWebUi({ files: { a: { project_id: 'p1' } }, projects: PROJECTS });
    const answer = await mutate(server, 'moveSession', { sessionId: 'a', projectId });
    if (projectId === '') expect(fileFields(server, 'a').project_id).toBeNull();
    else {
      expect(answer).toMatchObject({ code: 'NOT_FOUND', settled: true });
      expect(fileFields(server, 'a').project_id).toBe('p1');
    }
  });
});

describe('files of several profiles in one folder', () => {
  it('change only through their own profile, with its projects', async () => {
    const server = await startWebUi({
      files: { mine: { title: 'Mine' }, theirs: { title: 'Theirs', profile: 'coder' } },
      projects: PROJECTS,
      profiles: { coder: [S('x'), M('x')] },
    });
    const before = folder(server);
    for (const input of [{ sessionId: 'theirs' }, { sessionId: 'mine', profile: 'coder' }]) {
      for (const name of ['updateSession', 'moveSession', 'clearWakeupPause', 'persistCollapsedPartials']) {
        expect(await mutate(server, name, input)).toMatchObject({ code: 'NOT_FOUND' });
      }
      expect(await mutate(server, 'setSessionTitle', { ...input, title: 'X' })).toMatchObject({ code: 'NOT_FOUND' });
    }
    expect(folder(server)).toEqual(before);
    const theirs = { sessionId: 'theirs', profile: 'coder' };
    expect(await mutate(server, 'moveSession', { ...theirs, projectId: 'p1' })).toMatchObject({ code: 'NOT_FOUND' });
    const moved = await mutate(server, 'moveSession', { ...theirs, projectId: 'p2' }, 'changed session { project { name } }');
    expect(moved).toMatchObject({ changed: true, session: { project: { name: 'Theirs' } } });
    expect(await mutate(server, 'setSessionTitle', { ...theirs, title: 'Ours' }, 'changed')).toMatchObject({ changed: true });
    expect(fileFields(server, 'theirs')).toMatchObject({ title: 'Ours', project_id: 'p2', profile: 'coder' });
    const { profiles } = await server.read<{ profiles: object[] }, object>('{ profiles { name webUi { sessionCount } } }');
    expect(profiles).toEqual([
      { name: 'default', webUi: { sessionCount: 1 } },
      { name: 'coder', webUi: { sessionCount: 1 } },
    ]);
  });
});

describe('a file of several megabytes', () => {
  it('is changed as any other, and keeps every other byte', async () => {
    const many = Array.from({ length: 20_000 }, (_, index) => ({ role: 'user', content: `${index} ${'x'.repeat(200)}`, timestamp: index }));
    const text = sidecarText('a', { title: 'Long', created_at: 1 }, many, { zzz: 'kept' });
    const server = await startWebUi({ files: { a: text } });
    const answer = await mutate(server, 'updateSession', { sessionId: 'a', pinned: true }, 'changed session { pinned }');
    expect(answer).toMatchObject({ changed: true, session: { pinned: true } });
    const after = fileText(server, 'a');
    expect(after.replace('"pinned": true,\n  ', '')).toBe(text);
  });
});

const FILES = 'files { sessionId changed mayBeOverwritten refusalCode }';

describe('titles and flags of sessions that files have', () => {
  it('change in the store and in the file', async () => {
    const server = await startWebUi({ rows: [S('a', { source: 'webui' }), M('a')], files: { a: { title: 'A' } } });
    expect(await mutate(server, 'setSessionTitle', { sessionId: 'a', title: 'Tea' }, `changed ${FILES} session { title }`)).toMatchObject({
      changed: true,
      files: [{ sessionId: 'a', changed: true, mayBeOverwritten: true, refusalCode: null }],
      session: { title: 'Tea' },
    });
    expect(fileFields(server, 'a')).toMatchObject({ title: 'Tea', manual_title: true });
    await mutate(server, 'setSessionArchived', { sessionId: 'a', archived: true });
    await mutate(server, 'setSessionFlags', { sessionId: 'a', pinned: true });
    expect(fileFields(server, 'a')).toMatchObject({ archived: true, pinned: true });
    expect(await seen(server, 'a')).toMatchObject({
      archived: true,
      pinned: true,
      title: 'Tea',
      origins: expect.arrayContaining(['STATE_DB', 'WEB_UI']),
    });
    await mutate(server, 'setSessionFlags', { sessionId: 'a', pinned: false });
    await mutate(server, 'setSessionArchived', { sessionId: 'a', archived: false });
    expect(await seen(server, 'a')).toMatchObject({ archived: false, pinned: false });
  });

  it('change in the file alone where the store has no row', async () => {
    const server = await startWebUi({ files: { a: { title: 'A' } } });
    expect(await mutate(server, 'setSessionTitle', { sessionId: 'a', title: 'Tea' }, `changed ${FILES}`)).toMatchObject({ changed: true });
    expect(await mutate(server, 'setSessionArchived', { sessionId: 'a', archived: true }, 'sessionIds')).toMatchObject({
      sessionIds: ['a'],
    });
    expect(await mutate(server, 'setSessionFlags', { sessionId: 'a', pinned: true }, FILES)).toMatchObject({ files: [{ changed: true }] });
    expect(await seen(server, 'a')).toMatchObject({ archived: true, pinned: true, title: 'Tea', origins: ['WEB_UI'] });
    expect(await mutate(server, 'setSessionTitle', { sessionId: 'a', title: 'X', expectedTitle: 'Other' })).toMatchObject({
      code: 'CONFLICT',
    });
    expect(await mutate(server, 'setSessionTitle', { sessionId: 'a', title: 'X', expectedTitle: 'Tea' }, 'changed')).toMatchObject({
      changed: true,
    });
    expect(await mutate(server, 'setSessionTitle', { sessionId: 'nowhere', title: 'X' })).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('stand in the store where the file could not be changed, and say so', async () => {
    const server = await startWebUi({ rows: [S('a', { source: 'webui' }), M('a')], files: { a: '{broken' } });
    expect(await mutate(server, 'setSessionTitle', { sessionId: 'a', title: 'Tea' }, `changed ${FILES}`)).toMatchObject({
      __typename: 'SetSessionTitlePayload',
      changed: true,
      files: [{ sessionId: 'a', changed: false, refusalCode: 'SIDECAR_CORRUPT' }],
    });
    expect(fileText(server, 'a')).toBe('{broken');
    expect((await seen(server, 'a')).title).toBe('Tea');
  });

  it('are refused as a whole where the store refuses them', async () => {
    const server = await startWebUi({ rows: [S('a'), M('a'), S('b', { title: 'Tea' }), M('b')], files: { a: { title: 'A' } } });
    expect(await mutate(server, 'setSessionTitle', { sessionId: 'a', title: 'Tea' })).toMatchObject({ code: 'TITLE_IN_USE' });
    expect(fileFields(server, 'a').title).toBe('A');
  });

  it('never replace a title of a person by one of a model', async () => {
    const server = await startWebUi({ files: { a: { title: 'Mine', manual_title: true }, b: { title: 'Untitled' } } });
    const byModel = (sessionId: string) => mutate(server, 'setSessionTitle', { sessionId, title: 'Guess', source: 'LLM' }, 'changed');
    expect(await byModel('a')).toMatchObject({ changed: false });
    expect(await byModel('b')).toMatchObject({ changed: true });
    expect(fileFields(server, 'a').title).toBe('Mine');
    expect(fileFields(server, 'b')).toMatchObject({ title: 'Guess', manual_title: false, llm_title_generated: true });
  });

  it('go on with the file when a repeat finds the store done', async () => {
    const server = await startWebUi({ rows: [S('a'), M('a')], files: { a: '{broken' } });
    const input = { sessionId: 'a', title: 'Tea', clientMutationId: 'k' };
    await mutate(server, 'setSessionTitle', input);
    saveSidecar(server.sessionsDir, 'a', sidecarText('a', { title: 'Mended' }, MESSAGES));
    expect(await mutate(server, 'setSessionTitle', input, `changed ${FILES}`)).toMatchObject({
      files: [{ changed: true, refusalCode: null }],
    });
    expect(fileFields(server, 'a').title).toBe('Tea');
  });

  it('write nothing on a dry run', async () => {
    const server = await startWebUi({ rows: [S('a'), M('a')], files: { a: { title: 'A' }, b: { title: 'B' } }, allowWrites: false });
    const before = folder(server);
    for (const sessionId of ['a', 'b']) {
      const answer = await mutate(server, 'setSessionTitle', { sessionId, title: 'Tea', dryRun: true }, `changed ${FILES}`);
      expect(answer).toMatchObject({ changed: true, files: [{ sessionId, changed: true }] });
      await mutate(server, 'setSessionFlags', { sessionId, pinned: true, dryRun: true });
      await mutate(server, 'setSessionArchived', { sessionId, archived: true, dryRun: true });
    }
    expect(folder(server)).toEqual(before);
    expect(await seen(server, 'a')).toMatchObject({ pinned: false, archived: false });
  });

  it('pin no more conversations than the settings of the Web UI allow', async () => {
    const files = Object.fromEntries(['a', 'b', 'c', 'd', 'x'].map((id) => [id, { title: id, pinned: id < 'd', archived: id === 'x' }]));
    const server = await startWebUi({ rows: [S('s'), M('s')], files });
    for (const name of ['setSessionFlags', 'updateSession']) {
      expect(await mutate(server, name, { sessionId: 'd', pinned: true })).toMatchObject({
        code: 'PIN_LIMIT',
        details: { pinned: 3, limit: 3 },
      });
      expect(await mutate(server, name, { sessionId: 'a', pinned: true })).toMatchObject({ __typename: expect.stringMatching('Payload') });
    }
    // The store's own pins have no limit.
    expect(await mutate(server, 'setSessionFlags', { sessionId: 's', pinned: true })).toMatchObject({
      __typename: 'SetSessionFlagsPayload',
    });
    writeFileSync(join(server.webUiDir, 'settings.json'), '{"pinned_sessions_limit": 4}');
    expect(await mutate(server, 'updateSession', { sessionId: 'd', pinned: true }, 'changed')).toMatchObject({ changed: true });
  });
});

const PAUSE = {
  version: 1,
  paused: true,
  source: 'process_wakeup',
  classification: 'credential_pool_empty',
  model: 'm',
  visible_error_count: 2,
};

describe('smaller changes of a file', () => {
  it('T62: end the pause of automatic turns', async () => {
    const server = await startWebUi({ files: { a: { process_wakeup_pause: PAUSE } } });
    const fields = 'changed session { sidecar { wakeupPause { classification } } }';
    expect(await mutate(server, 'clearWakeupPause', { sessionId: 'a', dryRun: true }, fields)).toMatchObject({
      changed: true,
      session: { sidecar: { wakeupPause: { classification: 'credential_pool_empty' } } },
    });
    expect(await mutate(server, 'clearWakeupPause', { sessionId: 'a' }, fields)).toMatchObject({
      changed: true,
      session: { sidecar: { wakeupPause: null } },
    });
    expect(fileFields(server, 'a').process_wakeup_pause).toEqual({});
    expect(await mutate(server, 'clearWakeupPause', { sessionId: 'a' }, 'changed')).toMatchObject({ changed: false });
  });

  it('T24: take partial answers that repeat another out, and keep the old file', async () => {
    const partial = (timestamp: number) => ({ role: 'assistant', content: 'part', _partial: true, timestamp });
    const text = sidecarText('a', {}, [...MESSAGES, partial(3), partial(4), partial(5)]);
    const server = await startWebUi({ files: { a: text, b: sidecarText('b', { active_stream_id: 's' }, [partial(1), partial(2)]) } });
    const fields = 'changed droppedMessages';
    expect(await mutate(server, 'persistCollapsedPartials', { sessionId: 'a', dryRun: true }, fields)).toMatchObject({
      droppedMessages: 2,
    });
    expect(fileText(server, 'a')).toBe(text);
    expect(await mutate(server, 'persistCollapsedPartials', { sessionId: 'a' }, fields)).toMatchObject({
      changed: true,
      droppedMessages: 2,
    });
    expect(fileFields(server, 'a')).toMatchObject({ message_count: 3, messages: [...MESSAGES, partial(3)] });
    expect(readFileSync(`${sidecarPath(server.sessionsDir, 'a')}.bak`, 'utf8')).toBe(text);
    expect(await mutate(server, 'persistCollapsedPartials', { sessionId: 'b' })).toMatchObject({ code: 'SESSION_BUSY' });
  });
});
