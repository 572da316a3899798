/** New sessions of the Web UI with what their profile begins with, over HTTP (`spec/webui-listing.md` C22, 15). */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { sidecarText } from '../support/sidecars.ts';
import { S, temporaryFolder } from '../support/stores.ts';
import { type Answered, fileFields, mutate, seen, startWebUi, type WebUiServer } from '../support/web-ui-server.ts';

const FIELDS = 'sessionId title workspace model modelProvider warnings';
const PROJECTS = [
  { project_id: 'aaaaaaaaaaaa', name: 'Tea', color: null, profile: 'default', created_at: 1 },
  { project_id: 'bbbbbbbbbbbb', name: 'Theirs', color: null, profile: 'work', created_at: 1 },
];
const ID = /^[0-9a-f]{12}$/;

beforeEach(() => {
  for (const name of ['HERMES_MODEL', 'OPENAI_MODEL', 'LLM_MODEL', 'HERMES_WEBUI_DEFAULT_MODEL', 'HERMES_WEBUI_DEFAULT_WORKSPACE']) {
    vi.stubEnv(name, undefined);
  }
  return () => vi.unstubAllEnvs();
});

function configure(server: WebUiServer, config: string | Buffer, profile: string | null = null): void {
  const home = dirname(server.webUiDir);
  writeFileSync(join(profile === null ? home : join(home, 'profiles', profile), 'config.yaml'), config);
}

function create(server: WebUiServer, input: object = {}, fields = FIELDS): Promise<Answered> {
  return mutate(server, 'createWebUiSession', input, fields);
}

async function listed(server: WebUiServer, includeEmpty: boolean): Promise<string[]> {
  const { sessions } = await server.read<{ sessions: { nodes: { sessionId: string }[] } }, { includeEmpty: boolean }>(
    'query ($includeEmpty: Boolean!) { sessions(filter: { includeEmpty: $includeEmpty }) { nodes { sessionId } } }',
    { includeEmpty },
  );
  return sessions.nodes.map(({ sessionId }) => sessionId);
}

it('C22: makes a file as the Web UI makes it, of the workspace, model and provider of the profile', async () => {
  const server = await startWebUi({ projects: PROJECTS });
  const workspace = temporaryFolder();
  writeFileSync(join(server.webUiDir, 'last_workspace.txt'), `${workspace}\n`);
  configure(server, 'model:\n  default: m1\n  provider: openai\n');
  const before = Date.now() / 1000;
  const input = { title: '  Tea ü ', projectId: 'aaaaaaaaaaaa', personality: 'pirate', toolsets: ['web', 'files'] };
  const answer = await create(server, input);
  expect(answer).toMatchObject({
    sessionId: expect.stringMatching(ID),
    title: 'Tea ü',
    workspace,
    model: 'm1',
    modelProvider: 'openai',
    warnings: [],
  });
  const id = String(answer.sessionId);
  const fields = fileFields(server, id);
  expect(fields).toMatchObject({
    session_id: id,
    title: 'Tea ü',
    manual_title: true,
    workspace,
    created_workspace: workspace,
    model: 'm1',
    model_provider: 'openai',
    project_id: 'aaaaaaaaaaaa',
    profile: 'default',
    personality: 'pirate',
    enabled_toolsets: ['web', 'files'],
    worktree_path: null,
    is_cli_session: false,
    message_count: 0,
    messages: [],
  });
  expect(fields.created_at).toBe(fields.updated_at);
  expect(fields.created_at).toBeGreaterThanOrEqual(before);
  expect(await seen(server, id)).toMatchObject({
    title: 'Tea ü',
    project: { projectId: 'aaaaaaaaaaaa' },
    sidecar: { personality: 'pirate' },
  });
  // It is one of the Web UI's: what is changed of others is changed of it.
  expect(await mutate(server, 'updateSession', { sessionId: id, pinned: true }, 'changed')).toMatchObject({ changed: true });
});

it('T65: a session without a message is a draft, which lists leave out', async () => {
  const server = await startWebUi({ files: { other: {} } });
  const { sessionId, session } = await create(server, {}, 'sessionId session { sessionId title }');
  expect(session).toMatchObject({ sessionId });
  expect(fileFields(server, String(sessionId))).toMatchObject({
    title: 'Untitled',
    manual_title: false,
    enabled_toolsets: null,
    project_id: null,
  });
  expect(await listed(server, false)).toEqual(['other']);
  expect(await listed(server, true)).toContain(sessionId);
});

describe('T66: the model', () => {
  it.each<[string, readonly [string, object, string, string | null][]]>([
    [
      'configured, unless one is asked for',
      [
        ['model: {default: m1, provider: openai}', {}, 'm1', 'openai'],
        ['model: {default: m1, provider: openai}', { provider: 'Anthropic' }, 'm1', 'anthropic'],
        ['model: {default: m1, provider: openai}', { model: 'm2' }, 'm2', null],
        ['model: {default: m1, provider: openai}', { model: 'm2', provider: 'Own' }, 'm2', 'Own'],
        ['model: plain', {}, 'plain', null],
        ['base: &b {default: m1}\nmodel:\n  <<: *b\n  provider: p', {}, 'm1', 'p'],
      ],
    ],
    [
      'of the environment, where the configuration names none',
      [
        ['model: {default: " ", provider: p}', {}, 'env', 'p'],
        ['model: 5', {}, 'env', null],
        ['', {}, 'env', null],
      ],
    ],
  ])('%s', async (_, cases) => {
    vi.stubEnv('OPENAI_MODEL', 'env');
    const server = await startWebUi({});
    for (const [config, input, model, modelProvider] of cases) {
      configure(server, config);
      const answer = await create(server, { ...input, dryRun: true });
      expect(answer, `${config} ${JSON.stringify(input)}`).toMatchObject({ model, modelProvider, warnings: ['NO_WORKSPACE'] });
    }
  });

  it("of a profile that names none is the root profile's, and nothing is made up where nobody names one", async () => {
    const server = await startWebUi({ profiles: { work: [S('w')] } });
    expect(await create(server)).toMatchObject({ model: null, modelProvider: null, warnings: ['NO_MODEL', 'NO_WORKSPACE'] });
    configure(server, 'model: {default: root, provider: openai}');
    const answer = await create(server, { profile: 'work' });
    expect(answer).toMatchObject({ model: 'root', modelProvider: null, warnings: ['NO_WORKSPACE'] });
    expect(fileFields(server, String(answer.sessionId))).toMatchObject({ profile: 'work', model: 'root' });
    configure(server, 'model: own', 'work');
    expect(await create(server, { profile: 'work' })).toMatchObject({ model: 'own' });
    expect(await seenIn(server, String(answer.sessionId), 'work')).toBe(true);
    expect(await seenIn(server, String(answer.sessionId), 'default')).toBe(false);
  });
});

async function seenIn(server: WebUiServer, sessionId: string, profile: string): Promise<boolean> {
  const { session } = await server.read<{ session: object | null }, { sessionId: string; profile: string }>(
    'query ($sessionId: String!, $profile: String!) { session(sessionId: $sessionId, profile: $profile) { sessionId } }',
    { sessionId, profile },
  );
  return session !== null;
}

describe('C22: the workspace', () => {
  it("of a named profile is its own last one or that of its configuration, never the root profile's", async () => {
    const server = await startWebUi({ profiles: { work: [S('w')] } });
    const [rootsOwn, configured, own] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
    writeFileSync(join(server.webUiDir, 'last_workspace.txt'), rootsOwn);
    expect(await create(server, { profile: 'work', dryRun: true })).toMatchObject({ workspace: null });
    configure(server, `workspace: ${join(own, 'gone')}\ndefault_workspace: ${configured}`, 'work');
    expect(await create(server, { profile: 'work', dryRun: true })).toMatchObject({ workspace: configured });
    const state = join(dirname(server.webUiDir), 'profiles', 'work', 'webui_state');
    mkdirSync(state);
    writeFileSync(join(state, 'last_workspace.txt'), own);
    expect(await create(server, { profile: 'work', dryRun: true })).toMatchObject({ workspace: own });
    expect(await create(server, { dryRun: true })).toMatchObject({ workspace: rootsOwn });
  });

  it('that is given has to be trusted: in the home folder, saved or the default, by where links lead to', async () => {
    const [saved, other, home] = [temporaryFolder(), temporaryFolder(), temporaryFolder()].map((path) => realpathSync(path));
    if (saved === undefined || other === undefined || home === undefined) throw new Error('there are three folders');
    vi.stubEnv('HOME', home);
    const server = await startWebUi({});
    writeFileSync(join(server.webUiDir, 'workspaces.json'), JSON.stringify([{ path: saved, name: 'Saved' }, 5, { path: 'relative' }]));
    writeFileSync(join(home, 'file'), '');
    mkdirSync(join(home, 'in'));
    symlinkSync(other, join(home, 'out'));
    symlinkSync(saved, join(other, 'to-saved'));
    expect(await create(server, { workspace: saved })).toMatchObject({ workspace: saved });
    expect(await create(server, { workspace: join(home, 'in', '..', 'in') })).toMatchObject({ workspace: join(home, 'in') });
    expect(await create(server, { workspace: join(other, 'to-saved') })).toMatchObject({ workspace: saved });
    const files = readdirSync(server.sessionsDir).length;
    const refused = [
      other,
      join(home, 'out'),
      join(home, 'file'),
      join(home, 'gone'),
      join(saved, '..'),
      '/',
      '/etc',
      'in',
      '',
      '\u0000',
      `/${'x'.repeat(5000)}`,
    ];
    for (const workspace of refused) {
      expect(await create(server, { workspace }), workspace).toMatchObject({ code: 'VALIDATION', settled: true });
      expect(await create(server, { workspace, dryRun: true }), workspace).toMatchObject({ code: 'VALIDATION' });
    }
    expect(readdirSync(server.sessionsDir)).toHaveLength(files);
  });

  it('of a terminal on another machine is in its folder there, and not looked for here', async () => {
    const server = await startWebUi({});
    configure(server, 'terminal: {backend: ssh, cwd: /far/away}');
    expect(await create(server, { dryRun: true })).toMatchObject({ workspace: '/far/away' });
    expect(await create(server, { workspace: '/far/away/x', dryRun: true })).toMatchObject({ workspace: '/far/away/x' });
    for (const workspace of ['/far/away/../x', '/far/awayer', temporaryFolder()]) {
      expect(await create(server, { workspace, dryRun: true }), workspace).toMatchObject({ code: 'VALIDATION' });
    }
  });
});

it('C22, 15.3: no worktree is made, and that is told where the configuration says exactly true', async () => {
  const server = await startWebUi({});
  const workspace = temporaryFolder();
  execFileSync('git', ['init', '-q', workspace]);
  writeFileSync(join(server.webUiDir, 'last_workspace.txt'), workspace);
  for (const [config, warnings] of Object.entries({
    'worktree: true': ['WORKTREE_SKIPPED'],
    'worktree: yes': ['WORKTREE_SKIPPED'],
    'worktree: "true"': [],
    'worktree: 1': [],
  })) {
    configure(server, `${config}\nmodel: m`);
    const answer = await create(server);
    expect(answer, config).toMatchObject({ workspace, warnings });
    expect(fileFields(server, String(answer.sessionId))).toMatchObject({ workspace, worktree_path: null, worktree_branch: null });
  }
  expect(readdirSync(workspace)).toEqual(['.git']);
});

describe('C22, 15.1: a configuration that can not be taken counts as empty, and that is told', () => {
  const large = `model: m1\n# ${'x'.repeat(256 * 1024)}\n`;
  const laughs = ['a0: &a0 [x, x]', ...Array.from({ length: 30 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`)].join('\n');
  const merges = ['a0: &a0 {x: 1}', ...Array.from({ length: 30 }, (_, i) => `a${i + 1}: &a${i + 1} {<<: [*a${i}, *a${i}]}`)].join('\n');
  const damaged: Readonly<Record<string, string | Buffer>> = {
    'over the limit': large,
    'of aliases of aliases': `model: m1\n${laughs}`,
    'of merges of merges': `model: m1\n${merges}`,
    'of very many aliases': `model: m1\n${Array.from({ length: 5000 }, (_, i) => `k${i}: [&b${i} x, *b${i}]`).join('\n')}`,
    'of very deep lists': '['.repeat(200_000),
    'that breaks off': 'model: {default: m1',
    'that is a list': '- model: m1',
    'that is a text': 'just words',
    'of two documents': 'model: m1\n---\nmodel: m2',
    'of other bytes': Buffer.from('model: m1 # \xff\xfe', 'latin1'),
    'of an alias that leads nowhere': 'model: *nothing',
  };

  it('hostile, over-large and broken ones', async () => {
    const server = await startWebUi({ profiles: { work: [S('w')] } });
    configure(server, 'model: own', 'work');
    for (const [name, config] of Object.entries(damaged)) {
      configure(server, config);
      const root = await create(server);
      expect(root, name).toMatchObject({ model: null, warnings: ['PROFILE_CONFIG_UNREADABLE', 'NO_MODEL', 'NO_WORKSPACE'] });
      expect(fileFields(server, String(root.sessionId)), name).toMatchObject({ model: '', workspace: null });
      const work = await create(server, { profile: 'work' });
      expect(work, name).toMatchObject({ model: 'own', warnings: ['SERVER_CONFIG_UNREADABLE', 'NO_WORKSPACE'] });
    }
  });

  it('a folder, or a pipe that nobody writes to, in its place', async () => {
    const server = await startWebUi({});
    const path = join(dirname(server.webUiDir), 'config.yaml');
    execFileSync('mkfifo', [path, join(server.webUiDir, 'last_workspace.txt'), join(server.webUiDir, 'workspaces.json')]);
    expect(await create(server)).toMatchObject({ warnings: ['PROFILE_CONFIG_UNREADABLE', 'NO_MODEL', 'NO_WORKSPACE'] });
    expect(await create(server, { workspace: temporaryFolder() })).toMatchObject({ code: 'VALIDATION' });
    const other = await startWebUi({});
    mkdirSync(join(dirname(other.webUiDir), 'config.yaml'));
    expect(await create(other)).toMatchObject({ warnings: ['PROFILE_CONFIG_UNREADABLE', 'NO_MODEL', 'NO_WORKSPACE'] });
  });

  it('names of its keys change nothing but what they name', async () => {
    const server = await startWebUi({});
    configure(server, '__proto__: {model: bad, worktree: true}\nconstructor: {prototype: {model: bad}}\n');
    expect(await create(server)).toMatchObject({ model: null, warnings: ['NO_MODEL', 'NO_WORKSPACE'] });
    configure(server, 'model: "half \\ud800 a pair"');
    const answer = await create(server);
    expect(fileFields(server, String(answer.sessionId)).model).toBe('half \ufffd a pair');
  });
});

it('C22: a dry run says what it would be and writes nothing', async () => {
  const server = await startWebUi({ allowWrites: false });
  configure(server, 'model: m1');
  const dry = await create(server, { title: 'Tea', dryRun: true }, `${FIELDS} session { sessionId }`);
  expect(dry).toMatchObject({ sessionId: expect.stringMatching(ID), title: 'Tea', model: 'm1', session: null });
  expect(await create(server, { title: 'Tea' })).toMatchObject({ code: 'WRITES_OFF' });
  expect(readdirSync(server.sessionsDir)).toEqual([]);
});

it('C22: a repeat with the same clientMutationId gets the first session, also when the defaults are others by then', async () => {
  const server = await startWebUi({ projects: PROJECTS });
  configure(server, 'model: m1');
  const input = { title: 'Tea', projectId: 'aaaaaaaaaaaa', clientMutationId: 'k' };
  const first = await create(server, input);
  configure(server, 'model: m2');
  writeFileSync(join(server.webUiDir, 'projects.json'), '[]');
  expect(await create(server, input)).toEqual(first);
  expect(readdirSync(server.sessionsDir)).toEqual([`${String(first.sessionId)}.json`]);
  expect(await create(server, { ...input, title: 'Coffee' })).toMatchObject({ code: expect.stringMatching(/^(VALIDATION|NOT_FOUND)$/) });
  const ids = await Promise.all(Array.from({ length: 5 }, async () => (await create(server)).sessionId));
  expect(new Set([...ids, first.sessionId]).size).toBe(6);
});

it('C22: only a project of the profile takes it, and nothing over a limit is kept', async () => {
  const server = await startWebUi({ projects: PROJECTS, profiles: { work: [S('w')] } });
  for (const projectId of ['bbbbbbbbbbbb', 'cccccccccccc', '', '../x']) {
    expect(await create(server, { projectId }), projectId).toMatchObject({ code: 'NOT_FOUND' });
    expect(await create(server, { projectId, dryRun: true }), projectId).toMatchObject({ code: 'NOT_FOUND' });
  }
  expect(await create(server, { toolsets: Array.from({ length: 257 }, (_, i) => `t${i}`) })).toMatchObject({ code: 'VALIDATION' });
  expect(readdirSync(server.sessionsDir)).toEqual([]);
  expect(await create(server, { profile: 'work', projectId: 'bbbbbbbbbbbb' })).toMatchObject({ sessionId: expect.stringMatching(ID) });
  expect(await create(server, { title: '𝕏'.repeat(100) })).toMatchObject({ title: '𝕏'.repeat(80) });
});

it('C22: nothing is made where no Web UI keeps sessions, or where it keeps them in a database', async () => {
  const server = await startWebUi({ files: { a: sidecarText('a', {}) } });
  writeFileSync(join(server.sessionsDir, '_sessions.sqlite3'), '');
  expect(await create(server)).toMatchObject({ code: 'SIDECAR_OVERLAY' });
  expect(await create(server, { dryRun: true })).toMatchObject({ code: 'SIDECAR_OVERLAY' });
  const none = await startWebUi({ settings: { webUiDir: join(temporaryFolder(), 'nothing') } });
  expect(await create(none)).toMatchObject({ code: 'NOT_FOUND' });
});
