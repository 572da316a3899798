/** The Web UI's projects (`spec/webui-sidecars.md` 13, `spec/webui-listing.md` 13). */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createProject,
  deleteProject,
  ensureSystemProject,
  findSystemProject,
  isSameProfile,
  migrateProjects,
  readProjects,
  renameProject,
} from '../../../src/web-ui/projects/projects-file.ts';

let stateDir: string;
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'caduceus-projects-'));
});
afterEach(() => rmSync(stateDir, { recursive: true }));

const path = () => join(stateDir, 'projects.json');
const write = (content: unknown) => writeFileSync(path(), typeof content === 'string' ? content : JSON.stringify(content));
const entries = () => JSON.parse(readFileSync(path(), 'utf8')) as Record<string, unknown>[];

describe('projects', () => {
  it('are created, renamed and deleted, each by its owner', async () => {
    const created = await createProject(stateDir, { name: '  Ä '.padEnd(200, 'b'), color: '#aBc', profile: null }, 5);
    expect(created).toMatchObject({ color: '#aBc', profile: 'default', createdAt: 5, system: null });
    expect(created.id).toMatch(/^[0-9a-f]{12}$/);
    expect([...created.name]).toHaveLength(128);
    expect(await renameProject(stateDir, created.id, { name: 'B' }, '')).toMatchObject({ id: created.id, name: 'B', color: '#aBc' });
    expect(await renameProject(stateDir, created.id, { name: 'C', color: null }, 'default')).toMatchObject({ name: 'C', color: null });
    for (const attempt of [renameProject(stateDir, created.id, { name: 'D' }, 'work'), deleteProject(stateDir, created.id, 'work')]) {
      await expect(attempt).rejects.toMatchObject({ code: 'NOT_FOUND' });
    }
    expect(await deleteProject(stateDir, created.id, null)).toMatchObject({ name: 'C' });
    expect(entries()).toEqual([]);
    expect(readdirSync(stateDir)).toEqual(['projects.json']);
  });

  it.each([
    [' ', null],
    ['a', 'red'],
    ['a', '#12'],
    ['a', '#123456789'],
  ])('need a name and a colour in hex digits: %j, %j', async (name, color) => {
    await expect(createProject(stateDir, { name, color, profile: null })).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
    expect(readdirSync(stateDir)).toEqual([]);
  });

  it('keep what this server does not know of them', async () => {
    write('[{"project_id": "p1", "name": "A", "created_at": 1.0, "own": {"n": 1.50}, "profile": "default"}, {"odd": true}]');
    expect((await readProjects(stateDir)).projects.map(({ id }) => id)).toEqual(['p1']);
    await createProject(stateDir, { name: 'B', profile: 'work' });
    expect(entries().slice(0, 2)).toEqual([
      { project_id: 'p1', name: 'A', created_at: 1, own: { n: 1.5 }, profile: 'default' },
      { odd: true },
    ]);
    expect(readFileSync(path(), 'utf8')).toContain('"created_at": 1.0');
  });

  it.each(['[{"project_id": "p1"', '{}', '[1]', ''])('T68: %j is no list, and is left as it is', async (content) => {
    write(content);
    expect(await readProjects(stateDir)).toEqual({ status: 'UNREADABLE', projects: [] });
    await expect(createProject(stateDir, { name: 'B', profile: null })).rejects.toMatchObject({ code: 'PROJECTS_UNREADABLE' });
    expect(readFileSync(path(), 'utf8')).toBe(content);
  });

  it('of older versions get the owner of their first session, when that is asked for', async () => {
    write([
      { project_id: 'p1', name: 'A' },
      { project_id: 'p2', name: 'B' },
      { project_id: 'p3', name: 'C', profile: 'own' },
    ]);
    const sessions = [
      { projectId: 'p1', profile: null },
      { projectId: 'p1', profile: 'work' },
      { projectId: 'p1', profile: 'late' },
    ];
    const before = readFileSync(path(), 'utf8');
    expect((await readProjects(stateDir)).projects.map(({ profile }) => profile)).toEqual([null, null, 'own']);
    expect(readFileSync(path(), 'utf8')).toBe(before);
    expect(await migrateProjects(stateDir, sessions)).toBe(2);
    expect(entries().map(({ profile }) => profile)).toEqual(['work', 'default', 'own']);
    expect(await migrateProjects(stateDir, sessions)).toBe(0);
  });

  it('of one profile are those of all its names', () => {
    expect(isSameProfile(null, 'default')).toBe(true);
    expect(isSameProfile('', null)).toBe(true);
    expect(isSameProfile('work', 'default')).toBe(false);
  });

  it('survive two changes at once', async () => {
    await Promise.all(['A', 'B', 'C'].map((name) => createProject(stateDir, { name, profile: null })));
    expect(
      entries()
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['A', 'B', 'C']);
  });
});

describe('a system project', () => {
  it('for cron comes only with a project of the profile\u2019s own, for webhooks always', async () => {
    expect(await ensureSystemProject(stateDir, 'CRON', null)).toBeNull();
    expect(await ensureSystemProject(stateDir, 'WEBHOOK', null)).toMatchObject({ name: 'Webhooks', color: '#0ea5e9', system: 'WEBHOOK' });
    expect(await ensureSystemProject(stateDir, 'CRON', null)).toBeNull();
    await createProject(stateDir, { name: 'Mine', profile: 'default' });
    const cron = await ensureSystemProject(stateDir, 'CRON', '');
    expect(cron).toMatchObject({ name: 'Cron Jobs', color: '#6366f1', profile: 'default' });
    expect(await ensureSystemProject(stateDir, 'CRON', null)).toEqual(cron);
    expect(entries()).toHaveLength(3);
    expect(findSystemProject((await readProjects(stateDir)).projects, 'CRON', 'work')).toBeNull();
  });

  it('is the one without an owner, which gets one', async () => {
    write([{ project_id: 'p1', name: 'Webhooks' }]);
    expect(await ensureSystemProject(stateDir, 'WEBHOOK', 'work')).toMatchObject({ id: 'p1', profile: 'work' });
    expect(entries()).toEqual([{ project_id: 'p1', name: 'Webhooks', profile: 'work' }]);
  });
});
