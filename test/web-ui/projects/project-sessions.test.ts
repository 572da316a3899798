/** Sessions in projects (`spec/webui-listing.md` 13.4). */
import { dirname } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { deleteProjectWithSessions, moveSession, withOwners } from '../../../src/web-ui/projects/project-sessions.ts';
import { createProject, readProjects } from '../../../src/web-ui/projects/projects-file.ts';
import { isEmptyRow } from '../../../src/web-ui/sidecar/empty-row.ts';
import { SidecarCatalogue } from '../../../src/web-ui/sidecar/sidecar-catalogue.ts';
import { put, putSession, session, sessionsFolder, user } from '../sidecar-folder.ts';

let folders: { stateDir: string; sessionsDir: string };
beforeEach(() => {
  const sessionsDir = sessionsFolder();
  folders = { sessionsDir, stateDir: dirname(sessionsDir) };
});
const rows = async () => (await new SidecarCatalogue(folders).snapshot()).rows;

describe('a session', () => {
  it('moves into a project of its profile, and out of it', async () => {
    const own = await createProject(folders.stateDir, { name: 'Own', profile: 'work' });
    const other = await createProject(folders.stateDir, { name: 'Other', profile: null });
    putSession(folders.sessionsDir, 'x', { profile: 'work' });
    expect((await moveSession(folders, 'x', own.id)).row).toMatchObject({ projectId: own.id, updatedAt: 2 });
    await expect(moveSession(folders, 'x', other.id)).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
    await expect(moveSession(folders, 'x', 'gone')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(moveSession(folders, 'gone', own.id)).rejects.toMatchObject({ code: 'SIDECAR_MISSING' });
    expect((await moveSession(folders, 'x', null)).row.projectId).toBeNull();
  });

  it('leaves a project that is deleted, and one that can not be written is told', async () => {
    const project = await createProject(folders.stateDir, { name: 'P', profile: null });
    putSession(folders.sessionsDir, 'x', { project_id: project.id });
    putSession(folders.sessionsDir, 'fixed', { project_id: project.id, read_only: true });
    putSession(folders.sessionsDir, 'y', { project_id: 'other' });
    await expect(deleteProjectWithSessions(folders, project.id, 'work', (await rows()).values())).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    expect(await deleteProjectWithSessions(folders, project.id, null, (await rows()).values())).toEqual({
      project,
      unassigned: ['x'],
      left: [{ id: 'fixed', code: 'SESSION_READ_ONLY' }],
    });
    expect([...(await rows()).values()].map(({ id, projectId }) => [id, projectId])).toEqual([
      ['fixed', project.id],
      ['x', null],
      ['y', 'other'],
    ]);
  });

  it('with a profile owns the project of older versions that it is in', async () => {
    put(folders.stateDir, 'projects.json', [{ project_id: 'p1', name: 'A' }]);
    putSession(folders.sessionsDir, 'x', { project_id: 'p1', profile: 'work' });
    const { projects } = await readProjects(folders.stateDir);
    expect(withOwners(projects, [...(await rows()).values()]).map(({ profile }) => profile)).toEqual(['work']);
  });
});

it('T56: only an untitled session without anything is empty', async () => {
  const untitled = { title: 'Untitled' };
  putSession(folders.sessionsDir, 'plain', untitled);
  putSession(folders.sessionsDir, 'said', { ...untitled, messages: [user('a'), user('b'), user('c')] });
  putSession(folders.sessionsDir, 'stream', { ...untitled, active_stream_id: 'st' });
  putSession(folders.sessionsDir, 'tree', { ...untitled, worktree_path: '/w' });
  putSession(folders.sessionsDir, 'pending', { ...untitled, pending_user_message: 'go' });
  put(folders.sessionsDir, 'nameless.json', session('nameless', { title: null }));
  put(folders.sessionsDir, 'bare.json', '{}');
  expect([...(await rows()).values()].filter(isEmptyRow).map(({ id }) => id)).toEqual(['bare', 'plain']);
});
