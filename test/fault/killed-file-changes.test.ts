/**
 * Changes of the Web UI's files, killed before each call of the file system that changes something: every file is as it was or wholly changed,
 * and a repeat with the same id gives what doing it once gives.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { rebuildIndex } from '../../src/web-ui/index-file/rebuild-index.ts';
import type { CommandInput, CommandName } from '../../src/writing/commands.ts';
import { commandHost } from '../support/command-host.ts';
import { copyOfHome, webUiFiles } from '../support/homes.ts';
import { killedFileWrite } from '../support/killed-file-writer.ts';
import { someAtOnce } from '../support/program-start.ts';
import { sidecarText } from '../support/sidecars.ts';
import { buildStore, M, S, temporaryFolder } from '../support/stores.ts';

vi.setConfig({ testTimeout: 120_000 });

const PARTIAL = { role: 'assistant', content: 'part', _partial: true };
const TEXTS = {
  a: sidecarText('a', { title: 'Tea', workspace: '/gone/for/good', project_id: 'p1', foo: 1 }, [
    { role: 'user', content: 'Hello' },
    PARTIAL,
    PARTIAL,
    PARTIAL,
  ]),
  b: sidecarText('b', { title: 'Coffee', project_id: 'p1' }, [{ role: 'user', content: 'Hello' }]),
  older: sidecarText('older', { title: 'Milk', session_source: 'cli' }, [{ role: 'user', content: 'Hello', timestamp: 2 }]),
};
const ROWS = [
  S('a'),
  S('older', { source: 'cli' }),
  M('older', { content: 'Hello', timestamp: 2 }),
  M('older', { content: 'Later', timestamp: 3 }),
  S('fresh', { source: 'cli', title: 'Sugar' }),
  M('fresh', { content: 'Hello', timestamp: 4 }),
];

/** A home; gives the path of its store. */
async function home(): Promise<string> {
  const path = buildStore({ schema: 31, rows: ROWS });
  const sessionsDir = join(dirname(path), 'webui', 'sessions');
  mkdirSync(sessionsDir, { recursive: true });
  for (const [id, text] of Object.entries(TEXTS)) writeFileSync(join(sessionsDir, `${id}.json`), text);
  writeFileSync(join(sessionsDir, '_deleted_webui_sessions.json'), '{"version": 1, "ids": ["a", "z"]}');
  writeFileSync(join(dirname(path), 'webui', 'projects.json'), '[{"project_id": "p1", "name": "Mine", "profile": "default", "foo": 1}]');
  const stands = temporaryFolder();
  writeFileSync(join(dirname(path), 'webui', 'last_workspace.txt'), stands);
  writeFileSync(join(dirname(path), 'webui', 'workspaces.json'), JSON.stringify([stands]));
  await rebuildIndex(sessionsDir);
  return path;
}

/** A file beats a tombstone, so one that is left by a change of a session that is no part of the repeat any more is harmless. */
function settled(found: Record<string, string>, command: CommandName): Record<string, string> {
  const { 'sessions/_deleted_webui_sessions.json': tombstones = '', ...others } = found;
  return command === 'deleteProject' ? others : { ...others, tombstones };
}

type Case = { readonly [K in CommandName]: { readonly command: K; readonly input: CommandInput<K> } }[CommandName];

const CHANGES = { title: 'Water', pinned: true, projectId: null };
const CASES: readonly Case[] = [
  { command: 'updateSession', input: { sessionId: 'a', changes: CHANGES, ifSignature: null, expected: null, yieldsToPerson: false } },
  { command: 'persistCollapsedPartials', input: { sessionId: 'a', ifSignature: null } },
  { command: 'recoverWorkspace', input: { sessionId: 'a', expected: '/gone/for/good' } },
  { command: 'renameProject', input: { projectId: 'p1', name: 'Ours', color: null } },
  { command: 'deleteProject', input: { projectId: 'p1' } },
  { command: 'clearTombstone', input: { sessionId: 'z', kind: 'DELETED' } },
  { command: 'importSession', input: { sessionId: 'older', profiles: ['default'] } },
  { command: 'importSession', input: { sessionId: 'fresh', profiles: ['default'] } },
  { command: 'rebuildSessionIndex', input: {} },
];
const ID = 'killed';

describe('a change of files that is killed', () => {
  it.each(CASES)(
    '$command $input.sessionId leaves whole files at each step, and its repeat ends where one run ends',
    async ({ command, input }) => {
      const pristine = await home();
      const before = webUiFiles(pristine);
      const whole = copyOfHome(pristine);
      const steps = await killedFileWrite({ path: whole, command, input, clientMutationId: ID, killAt: null });
      const after = webUiFiles(whole);
      expect(steps).toBeGreaterThan(3);
      if (command !== 'rebuildSessionIndex') expect(after).not.toEqual(before);
      await someAtOnce(
        Array.from({ length: steps ?? 0 }, (_, index) => index + 1),
        async (killAt) => {
          const path = copyOfHome(pristine);
          await killedFileWrite({ path, command, input, clientMutationId: ID, killAt });
          for (const [name, text] of Object.entries(webUiFiles(path))) {
            // A deletion changes the index once a session.
            if (command === 'deleteProject' && name.endsWith('_index.json')) expect(() => JSON.parse(text)).not.toThrow();
            else expect([before[name], after[name]], `${name} at step ${killAt}`).toContain(text);
          }
          const host = commandHost(path);
          await host.run(command, input as never, { clientMutationId: ID });
          host.close();
          expect(settled(webUiFiles(path), command), `after a repeat of what was killed at step ${killAt}`).toEqual(
            settled(after, command),
          );
        },
      );
    },
  );

  it.each([
    { command: 'createProject', input: { name: 'New', color: null }, name: 'New' },
    { command: 'ensureSystemProject', input: { system: 'WEBHOOK' }, name: 'Webhooks' },
  ] as const)('$command makes one project, whatever step it was killed at, and its repeat names it', async ({ command, input, name }) => {
    const pristine = await home();
    const steps = await killedFileWrite({ path: copyOfHome(pristine), command, input, clientMutationId: ID, killAt: null });
    expect(steps).toBeGreaterThan(3);
    await someAtOnce(
      Array.from({ length: steps ?? 0 }, (_, index) => index + 1),
      async (killAt) => {
        const path = copyOfHome(pristine);
        await killedFileWrite({ path, command, input, clientMutationId: ID, killAt });
        const host = commandHost(path);
        const { projectId } = await host.run(command, input as never, { clientMutationId: ID });
        host.close();
        const entries = JSON.parse(webUiFiles(path)['projects.json'] ?? '') as { project_id: string; name: string }[];
        expect(entries.filter((entry) => entry.name === name).map((entry) => entry.project_id)).toEqual([projectId]);
      },
    );
  });

  it('createWebUiSession makes one session, whatever step it was killed at, and its repeat names it', async () => {
    const pristine = await home();
    const before = Object.keys(webUiFiles(pristine));
    const command = 'createWebUiSession';
    const input = { title: 'New', workspace: null, model: 'm', provider: null, projectId: 'p1', personality: null, toolsets: null };
    const steps = await killedFileWrite({ path: copyOfHome(pristine), command, input, clientMutationId: ID, killAt: null });
    expect(steps).toBeGreaterThan(3);
    await someAtOnce(
      Array.from({ length: steps ?? 0 }, (_, index) => index + 1),
      async (killAt) => {
        const path = copyOfHome(pristine);
        await killedFileWrite({ path, command, input, clientMutationId: ID, killAt });
        const host = commandHost(path);
        const { sessionId } = await host.run(command, input, { clientMutationId: ID });
        host.close();
        const found = webUiFiles(path);
        const made = Object.keys(found).filter((name) => !before.includes(name));
        expect(made, `after a repeat of what was killed at step ${killAt}`).toEqual([`sessions/${sessionId}.json`]);
        expect(JSON.parse(found[made[0] ?? ''] ?? '')).toMatchObject({ session_id: sessionId, title: 'New', project_id: 'p1' });
      },
    );
  });
});
