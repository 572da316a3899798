/** Changes of the Web UI's projects over HTTP. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { M, S } from '../support/stores.ts';
import { fileFields, mutate, startWebUi, type WebUiServer } from '../support/web-ui-server.ts';

const PROJECTS = [
  { project_id: 'p1', name: 'Mine', profile: 'default', emoji: '*', created_at: 1.0 },
  { project_id: 'p2', name: 'Theirs', profile: 'coder' },
];

function projectsText(server: WebUiServer): string {
  return readFileSync(join(server.webUiDir, 'projects.json'), 'utf8');
}

const PROJECT = 'changed project { projectId name color createdAt sessions { totalCount } }';

describe('projects', () => {
  it('are made, once for an id, and are seen at once', async () => {
    const server = await startWebUi({ projects: PROJECTS });
    const input = { name: '  Tea ünd Kaffee ', color: '#aabbcc', clientMutationId: 'k' };
    const first = await mutate(server, 'createProject', input, PROJECT);
    expect(first).toMatchObject({ changed: true, project: { name: 'Tea ünd Kaffee', color: '#aabbcc', sessions: { totalCount: 0 } } });
    const before = projectsText(server);
    expect(await mutate(server, 'createProject', input, PROJECT)).toEqual(first);
    expect(projectsText(server)).toBe(before);
    const entries = JSON.parse(before) as { project_id: string; name: string; profile: string; emoji?: string }[];
    expect(entries).toHaveLength(3);
    expect(entries[0]).toMatchObject({ emoji: '*' });
    expect(entries[2]).toMatchObject({ name: 'Tea ünd Kaffee', profile: 'default', project_id: expect.stringMatching(/^[0-9a-f]{12}$/) });
    expect(before).toContain('ünd');
  });

  it('are made where there is no file yet, and not where there is no Web UI', async () => {
    const server = await startWebUi({});
    expect(await mutate(server, 'createProject', { name: 'First' }, PROJECT)).toMatchObject({ project: { name: 'First' } });
    rmSync(server.webUiDir, { recursive: true });
    const other = await startWebUi({ settings: { webUiDir: join(server.home, 'nowhere') } });
    expect(await mutate(other, 'createProject', { name: 'First' })).toMatchObject({ code: 'NOT_FOUND' });
  });

  it.each([
    [{ name: '  ' }, 'VALIDATION'],
    [{ name: 'A', color: 'red' }, 'VALIDATION'],
    [{ name: 'A', color: '#zzz' }, 'VALIDATION'],
  ])('are not made of %j, on a dry run neither', async (input, code) => {
    const server = await startWebUi({ projects: PROJECTS });
    const before = projectsText(server);
    for (const dryRun of [true, false])
      expect(await mutate(server, 'createProject', { ...input, dryRun })).toMatchObject({ code, settled: true });
    expect(projectsText(server)).toBe(before);
  });

  it('T41, T42: of the system are made when that is asked for, once, and never by a list', async () => {
    const rows = [S('cron_a_1', { source: 'cron' }), M('cron_a_1'), S('hook', { source: 'webhook' }), M('hook')];
    const server = await startWebUi({ rows, projects: [] });
    const ensure = (system: string, more = {}) =>
      mutate(server, 'ensureSystemProject', { system, ...more }, 'changed project { name color isSystem }');
    await server.read('{ sessions(filter: { includeBackground: true }) { totalCount } projects { name } }');
    expect(JSON.parse(projectsText(server))).toEqual([]);
    // The profile has no project of its own yet.
    expect(await ensure('CRON')).toMatchObject({ changed: false, project: null });
    expect(await ensure('WEBHOOK', { dryRun: true })).toMatchObject({ changed: true, project: null });
    expect(JSON.parse(projectsText(server))).toEqual([]);
    const hooks = { name: 'Webhooks', color: '#0ea5e9', isSystem: true };
    expect(await ensure('WEBHOOK')).toMatchObject({ changed: true, project: hooks });
    expect(await ensure('CRON')).toMatchObject({ changed: false, project: null });
    await mutate(server, 'createProject', { name: 'Mine' });
    expect(await ensure('CRON')).toMatchObject({ changed: true, project: { name: 'Cron Jobs', color: '#6366f1', isSystem: true } });
    expect(await ensure('CRON')).toMatchObject({ changed: false, project: { name: 'Cron Jobs' } });
    expect((JSON.parse(projectsText(server)) as { name: string }[]).map(({ name }) => name)).toEqual(['Webhooks', 'Mine', 'Cron Jobs']);
    const shown = await server.read<{ sessions: { nodes: object[] } }, object>(
      '{ sessions(filter: { includeBackground: true }) { nodes { sessionId project { name } } } }',
    );
    expect(shown.sessions.nodes).toContainEqual({ sessionId: 'hook', project: { name: 'Webhooks' } });
    writeFileSync(join(server.webUiDir, 'projects.json'), '{broken');
    expect(await ensure('WEBHOOK')).toMatchObject({ code: 'PROJECTS_UNREADABLE' });
  });

  it('of the system are made after those of older versions have their owners', async () => {
    const server = await startWebUi({ projects: [{ project_id: 'p1', name: 'Old' }] });
    expect(await mutate(server, 'ensureSystemProject', { system: 'CRON', dryRun: true }, 'changed')).toMatchObject({ changed: true });
    expect(await mutate(server, 'ensureSystemProject', { system: 'CRON' }, 'project { name }')).toMatchObject({
      project: { name: 'Cron Jobs' },
    });
    expect(JSON.parse(projectsText(server))).toMatchObject([{ name: 'Old', profile: 'default' }, { name: 'Cron Jobs' }]);
  });

  it('are renamed by their owner alone', async () => {
    const server = await startWebUi({ projects: PROJECTS });
    expect(await mutate(server, 'renameProject', { projectId: 'p1', name: 'Ours' }, PROJECT)).toMatchObject({
      changed: true,
      project: { name: 'Ours' },
    });
    expect(await mutate(server, 'renameProject', { projectId: 'p1', name: 'Ours' }, 'changed')).toMatchObject({ changed: false });
    expect(await mutate(server, 'renameProject', { projectId: 'p2', name: 'Ours' })).toMatchObject({ code: 'NOT_FOUND' });
    expect(await mutate(server, 'renameProject', { projectId: 'p1', name: ' ' })).toMatchObject({ code: 'VALIDATION' });
    expect(JSON.parse(projectsText(server))).toMatchObject([{ name: 'Ours', emoji: '*' }, { name: 'Theirs' }]);
  });

  it('are deleted after their sessions were taken out, which a dry run names', async () => {
    const server = await startWebUi({
      files: { a: { project_id: 'p1', foo: 1 }, b: { project_id: 'p1', read_only: true }, c: {} },
      projects: PROJECTS,
    });
    const before = projectsText(server);
    const fields = 'projectId name sessionIds failed { sessionId code } clientMutationId';
    const dry = await mutate(server, 'deleteProject', { projectId: 'p1', dryRun: true }, fields);
    expect(dry).toMatchObject({ name: 'Mine', sessionIds: ['a', 'b'], failed: [] });
    expect([projectsText(server), fileFields(server, 'a').project_id]).toEqual([before, 'p1']);
    const input = { projectId: 'p1', clientMutationId: 'k' };
    const first = await mutate(server, 'deleteProject', input, fields);
    expect(first).toMatchObject({ sessionIds: ['a', 'b'], failed: [] });
    expect(JSON.parse(projectsText(server))).toMatchObject([{ project_id: 'p2' }]);
    expect(fileFields(server, 'a')).toMatchObject({ project_id: null, foo: 1, updated_at: 1_782_000_000 });
    expect(await mutate(server, 'deleteProject', input, fields)).toEqual(first);
    expect(await mutate(server, 'deleteProject', { projectId: 'p1' })).toMatchObject({ code: 'NOT_FOUND' });
    expect(await mutate(server, 'deleteProject', { projectId: 'p2' })).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('T68: are never written over when the file is no list (T51 of lists)', async () => {
    const server = await startWebUi({});
    writeFileSync(join(server.webUiDir, 'projects.json'), '[{"project_id": "p1", "na');
    for (const [name, input] of Object.entries({
      createProject: { name: 'A' },
      renameProject: { projectId: 'p1', name: 'A' },
      deleteProject: { projectId: 'p1' },
    })) {
      for (const dryRun of [true, false])
        expect(await mutate(server, name, { ...input, dryRun })).toMatchObject({ code: 'PROJECTS_UNREADABLE' });
    }
    expect(projectsText(server)).toBe('[{"project_id": "p1", "na');
  });

  it('stay as they are without --allow-writes', async () => {
    const server = await startWebUi({ projects: PROJECTS, allowWrites: false });
    const before = projectsText(server);
    expect(await mutate(server, 'createProject', { name: 'A' })).toMatchObject({ code: 'WRITES_OFF' });
    expect(await mutate(server, 'deleteProject', { projectId: 'p1' })).toMatchObject({ code: 'WRITES_OFF' });
    expect(await mutate(server, 'createProject', { name: 'A', dryRun: true }, PROJECT)).toMatchObject({ changed: true, project: null });
    expect(projectsText(server)).toBe(before);
  });
});
