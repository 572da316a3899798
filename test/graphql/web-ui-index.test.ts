/** The Web UI's index and its list of projects, as far as lists depend on them (`spec/webui-listing.md` 3, 13, 22). */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { M, S } from '../support/stores.ts';
import { fileFields, mutate, startWebUi, type WebUiServer } from '../support/web-ui-server.ts';

const FILES = { a: { title: 'A' }, b: { title: 'B' }, c: { title: 'C' } };

async function listed(server: WebUiServer): Promise<string[]> {
  const { sessions } = await server.read<{ sessions: { nodes: readonly { sessionId: string }[] } }, undefined>(
    '{ sessions(first: 50) { nodes { sessionId } } }',
  );
  return sessions.nodes.map(({ sessionId }) => sessionId).sort();
}

const row = (id: string) => ({ session_id: id, title: id, message_count: 2, updated_at: 5, last_message_at: 5 });

describe('the list of the Web UI', () => {
  it.each([
    ['T1: without an index has all sessions', null],
    ['T2: with an empty index has all sessions', '[]'],
    ['T2: with a torn index has all sessions', '[{"session_id": "a", "tit'],
    ['T3: has no session that only the index names', JSON.stringify([...['a', 'b', 'c'].map(row), row('ghost')])],
    ['T4: has a session that the index does not name', JSON.stringify([row('a')])],
  ])('%s', async (_, index) => {
    const server = await startWebUi({ files: FILES, allowWrites: false });
    const path = join(server.sessionsDir, '_index.json');
    if (index !== null) writeFileSync(path, index);
    expect(await listed(server)).toEqual(['a', 'b', 'c']);
    if (index !== null) expect(readFileSync(path, 'utf8')).toBe(index);
  });
});

describe('projects', () => {
  const projects = [
    { project_id: 'p1', name: 'One' },
    { project_id: 'p2', name: 'Two' },
  ];
  const OWNERS = 'query ($profile: String) { projects(profile: $profile) { projectId } }';
  const ownedBy = async (server: WebUiServer, profile: string) =>
    (await server.read<{ projects: readonly { projectId: string }[] }, { profile: string }>(OWNERS, { profile })).projects.map(
      ({ projectId }) => projectId,
    );

  it('T50: of older versions belong to the profile of their first session, others to the default one; a change writes it', async () => {
    const files = { x: { project_id: 'p1', profile: 'work' } };
    const server = await startWebUi({ files, projects, profiles: { work: [] } });
    expect([await ownedBy(server, 'work'), await ownedBy(server, 'default')]).toEqual([['p1'], ['p2']]);
    const path = join(server.webUiDir, 'projects.json');
    const stored = () => (JSON.parse(readFileSync(path, 'utf8')) as readonly { profile?: string }[]).map(({ profile }) => profile);
    // Upstream writes while it lists; here only a change of a project does, and then by the index.
    expect(stored()).toEqual([undefined, undefined]);
    writeFileSync(join(server.sessionsDir, '_index.json'), JSON.stringify([{ ...row('x'), project_id: 'p1', profile: 'work' }]));
    // A dry run tells owners as the write will have them.
    expect(await mutate(server, 'renameProject', { projectId: 'p1', name: 'First', dryRun: true })).toMatchObject({ code: 'NOT_FOUND' });
    expect(stored()).toEqual([undefined, undefined]);
    await mutate(server, 'renameProject', { projectId: 'p2', name: 'Second' });
    expect(stored()).toEqual(['work', 'default']);
  });
});

it('T68: an import keeps the time of the last change and the parent', async () => {
  const rows = [
    S('parent', { source: 'cli', started_at: 1, ended_at: 4 }),
    S('cli', { source: 'cli', parent_session_id: 'parent', started_at: 5, ended_at: 6 }),
    M('cli', { content: 'Hello', timestamp: 5.5 }),
  ];
  const server = await startWebUi({ rows });
  expect(await mutate(server, 'importSession', { sessionId: 'cli' }, 'imported')).toMatchObject({ imported: true });
  expect(fileFields(server, 'cli')).toMatchObject({ updated_at: 6, parent_session_id: 'parent' });
});
