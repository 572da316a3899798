/**
 * The deletion of a session in files and rows, killed before each call of the file system that changes something: the next process finishes it,
 * or nothing was begun (`spec/webui-transcript.md` 19.7).
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it, vi } from 'vitest';
import { rebuildIndex } from '../../src/web-ui/index-file/rebuild-index.ts';
import { finishLeftovers } from '../../src/writing/leftovers.ts';
import { D, deletionOf, homeWith, hostOf, namesBelow, parentsOf, W } from '../support/deletion.ts';
import { copyOfHome } from '../support/homes.ts';
import { killedFileWrite } from '../support/killed-file-writer.ts';
import { someAtOnce } from '../support/program-start.ts';
import { saveSidecar, sidecarText, writeTurns } from '../support/sidecars.ts';
import { M } from '../support/stores.ts';

vi.setConfig({ testTimeout: 240_000 });

const ID = 'killed';
const COMMAND = 'deleteSession';
const INPUT = deletionOf('tea');
const TEXT = [{ role: 'user', content: 'Hello', timestamp: 1 }];

/** A home with a session that has all that one can have; gives the path of its store. */
async function home(): Promise<string> {
  const rows = [W('tea'), M('tea'), D('helper', 'tea'), W('fork', { parent_session_id: 'tea' }), W('other'), M('other')];
  const path = homeWith(rows, { 'tea.json': '', 'tea.jsonl': '', 'request_dump_tea_1.json': '', 'other.jsonl': '' });
  const sessionsDir = join(dirname(path), 'webui', 'sessions');
  for (const folder of ['_run_journal/tea', '../attachments/tea']) mkdirSync(join(sessionsDir, folder), { recursive: true });
  for (const id of ['tea', 'other']) writeFileSync(join(sessionsDir, `${id}.json`), sidecarText(id, { title: id }, TEXT));
  writeFileSync(join(sessionsDir, 'tea.json.bak'), sidecarText('tea', {}, TEXT));
  writeFileSync(join(sessionsDir, '_run_journal', 'tea', 'run.jsonl'), '{}\n');
  writeFileSync(join(sessionsDir, '..', 'attachments', 'tea', 'photo.png'), 'bytes');
  writeTurns(sessionsDir, 'tea', 1, [{ turn_id: 't', event: 'completed', created_at: 1 }]);
  await rebuildIndex(sessionsDir);
  return path;
}

/** Everything but what a killed writer of one file left behind, and the store. */
function stateOf(path: string) {
  const folder = dirname(path);
  const names = [...namesBelow(join(folder, 'webui')), ...namesBelow(join(folder, 'sessions')).map((name) => `home ${name}`)];
  const webUi = (name: string) => readFileSync(join(folder, 'webui', 'sessions', name), 'utf8');
  const host = hostOf(path);
  try {
    return {
      names: names.filter((name) => !/\.tmp(\.|$)/.test(name)),
      index: webUi('_index.json'),
      tombstones: names.includes('sessions/_deleted_webui_sessions.json') ? webUi('_deleted_webui_sessions.json') : null,
      parents: parentsOf(host),
      messages: host.rows('SELECT session_id FROM messages'),
    };
  } finally {
    host.close();
  }
}

/** What a process does before its first write. */
async function restart(path: string): Promise<void> {
  const host = hostOf(path);
  await finishLeftovers(host);
  host.close();
}

async function repeat(path: string) {
  const host = hostOf(path);
  try {
    return await host.run(COMMAND, INPUT, { clientMutationId: ID });
  } finally {
    host.close();
  }
}

describe('a deletion that is killed', () => {
  it('is finished by the next process at whatever step it was, and its repeat is answered', async () => {
    const pristine = await home();
    const before = stateOf(pristine);
    const whole = copyOfHome(pristine, { preserveTimestamps: true });
    const steps = (await killedFileWrite({ path: whole, command: COMMAND, input: INPUT, clientMutationId: ID, killAt: null })) ?? 0;
    const after = stateOf(whole);
    expect(steps).toBeGreaterThan(15);
    expect(after).toMatchObject({ parents: { fork: null, other: null }, messages: [{ session_id: 'other' }] });
    expect(after.names).toEqual([
      'sessions/_deleted_webui_sessions.json',
      'sessions/_index.json',
      'sessions/other.json',
      'home other.jsonl',
    ]);
    const answer = await repeat(whole);
    expect(answer).toMatchObject({ deletedIds: ['tea', 'helper'], orphanedIds: ['fork'] });
    const seen = new Set<string>();
    await someAtOnce(
      Array.from({ length: steps }, (_, index) => index + 1),
      async (killAt) => {
        const path = copyOfHome(pristine, { preserveTimestamps: true });
        // The copy's files are others, and the plan is made over them.
        await killedFileWrite({ path, command: COMMAND, input: INPUT, clientMutationId: ID, killAt });
        const left = stateOf(path);
        seen.add(`${left.names.includes('sessions/tea.json')} ${'tea' in left.parents}`);
        // Rows never go without a record of the files that are left.
        const isManifestThere = left.names.some((name) => name.startsWith('home .cleanup_manifest_'));
        if (left.names.includes('home tea.jsonl') && !('tea' in left.parents)) expect(isManifestThere, `step ${killAt}`).toBe(true);
        await restart(path);
        expect(stateOf(path), `after what was killed at step ${killAt}`).toEqual(after);
        expect((await repeat(path)).deletedIds, `a repeat of what was killed at step ${killAt}`).toEqual(answer.deletedIds);
      },
    );
    expect([...seen].sort()).toEqual(['false false', 'false true', 'true true']);
    expect(stateOf(pristine)).toEqual(before);
  });

  it('is finished by a repeat without a restart in between too', async () => {
    const path = await home();
    await killedFileWrite({ path, command: COMMAND, input: INPUT, clientMutationId: ID, killAt: 3 });
    expect(await repeat(path)).toMatchObject({ deletedIds: ['tea', 'helper'] });
    expect(stateOf(path)).toMatchObject({ parents: { fork: null, other: null }, messages: [{ session_id: 'other' }] });
  });

  it('is given up where the Web UI wrote the session again since: it lives, with its rows', async () => {
    const path = await home();
    const sessionsDir = join(dirname(path), 'webui', 'sessions');
    await killedFileWrite({ path, command: COMMAND, input: INPUT, clientMutationId: ID, killAt: 1 });
    saveSidecar(sessionsDir, 'tea', sidecarText('tea', { title: 'Tea again' }, TEXT));
    const before = stateOf(path);
    await restart(path);
    expect(stateOf(path)).toEqual(before);
    expect(before.names).toContain('sessions/tea.json');
    expect(before.parents).toHaveProperty('tea');
  });
});

describe('a deletion whose rows are locked', () => {
  it('is told as pending, and a repeat finishes it', async () => {
    const path = await home();
    const pace = { elapsed: () => 0, sleep: async () => {}, random: () => 0, longestSeconds: 0 };
    const host = hostOf(path, { pace });
    const other = new Database(path);
    other.exec('BEGIN IMMEDIATE');
    const result = await host.run(COMMAND, INPUT, { clientMutationId: ID });
    expect(result.webUi).toMatchObject({ rowsDeleted: false, pendingIds: ['tea'] });
    const left = stateOf(path);
    expect(left.names).not.toContain('sessions/tea.json');
    expect(left.parents).toHaveProperty('tea');
    other.exec('ROLLBACK');
    other.close();
    expect(await host.run(COMMAND, INPUT, { clientMutationId: ID })).toMatchObject({ deletedIds: ['tea', 'helper'] });
    host.close();
    expect(stateOf(path)).toMatchObject({ parents: { fork: null, other: null }, messages: [{ session_id: 'other' }] });
  });
});
