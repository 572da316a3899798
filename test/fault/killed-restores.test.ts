import { dirname, join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { CommandInput, CommandName } from '../../src/writing/commands.ts';
import { commandHost } from '../support/command-host.ts';
import { copyOfHome } from '../support/homes.ts';
import { killedFileWrite } from '../support/killed-file-writer.ts';
import { someAtOnce } from '../support/program-start.ts';
import { sidecarText } from '../support/sidecars.ts';
import { M, S } from '../support/stores.ts';
import { filesIn, webUiFolder } from '../support/web-ui-folder.ts';

vi.setConfig({ testTimeout: 120_000 });

const said = (count: number) => Array.from({ length: count }, (_, index) => ({ role: 'user', content: `m${index}`, timestamp: index + 1 }));
const EXHAUSTED = {
  compression_recovery: { terminal_state: 'compression_exhausted', recommended_action: 'start_focused_continuation' },
};

/** Gives the path of the store of a home with a shrunken file, a backup without one, two lost files and an exhausted session. */
async function home(): Promise<string> {
  const rows = ['orphan', 'w1', 'w2'].flatMap((id) => [S(id, { source: 'webui' }), M(id)]);
  const text = (id: string, count: number, fields = {}) => sidecarText(id, { created_at: 1, ...fields }, said(count));
  const files = {
    'a.json': text('a', 1),
    'a.json.bak': text('a', 3),
    'orphan.json.bak': text('orphan', 2),
    'x.json': text('x', 2, EXHAUSTED),
  };
  return (await webUiFolder(rows, files, { index: [{ session_id: 'ghost', updated_at: 1 }] })).path;
}

const sessionsDir = (path: string) => join(dirname(path), 'webui', 'sessions');

type Case = { readonly [K in CommandName]: { readonly command: K; readonly input: CommandInput<K> } }[CommandName];

const PROFILES = { profiles: ['default'] };
const CASES: readonly Case[] = [
  { command: 'restoreFromBackup', input: { sessionId: 'a', force: false, ifSignature: null, ...PROFILES } },
  { command: 'restoreFromBackup', input: { sessionId: 'orphan', force: false, ifSignature: null, ...PROFILES } },
  { command: 'materializeSidecars', input: { ids: null } },
  { command: 'startCompressionRecovery', input: { sessionId: 'x', ...PROFILES } },
  { command: 'repairSafe', input: { busyIds: [] } },
];
const ID = 'killed';
const INDEX = '_index.json';

describe('bringing files back, killed', () => {
  it.each(CASES)('$command leaves whole files at each step, and its repeat ends where one run ends', async ({ command, input }) => {
    const pristine = await home();
    const before = filesIn(sessionsDir(pristine));
    const whole = copyOfHome(pristine);
    const steps = await killedFileWrite({ path: whole, command, input, clientMutationId: ID, killAt: null });
    const after = filesIn(sessionsDir(whole));
    expect(steps).toBeGreaterThan(3);
    expect(after).not.toEqual(before);
    await someAtOnce(
      Array.from({ length: steps ?? 0 }, (_, index) => index + 1),
      async (killAt) => {
        const path = copyOfHome(pristine);
        await killedFileWrite({ path, command, input, clientMutationId: ID, killAt });
        for (const [name, text] of Object.entries(filesIn(sessionsDir(path)))) {
          // Each session that comes back changes the index.
          if (name === INDEX) expect(JSON.parse(text)).toBeInstanceOf(Array);
          else expect([before[name], after[name]], `${name} at step ${killAt}`).toContain(text);
        }
        const host = commandHost(path);
        await host.run(command, input as never, { clientMutationId: ID });
        host.close();
        expect(filesIn(sessionsDir(path)), `after a repeat of what was killed at step ${killAt}`).toEqual(after);
      },
    );
  });
});
