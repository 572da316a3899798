/**
 * Recoveries of session files, killed before each call of the file system that changes something: the file is as it was or wholly changed, no
 * journal changes, and repeating it ends where one run ends.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { rebuildIndex } from '../../src/web-ui/index-file/rebuild-index.ts';
import { commandHost } from '../support/command-host.ts';
import { copyOfHome, webUiFiles } from '../support/homes.ts';
import { type JournalEntry, writeJournal } from '../support/journal-lines.ts';
import { killedFileWrite } from '../support/killed-file-writer.ts';
import { someAtOnce } from '../support/program-start.ts';
import { type Fields, sidecarText } from '../support/sidecars.ts';
import { buildStore, M, S } from '../support/stores.ts';

vi.setConfig({ testTimeout: 120_000 });

/** The host's clock stands at 1000; times of files lie ahead of it, and prove nothing. */
const STARTED = 100;
const OLD = { role: 'user', content: 'Hello', timestamp: STARTED - 90 };
const PENDING = { pending_user_message: 'and now?', pending_started_at: STARTED, pending_user_source: 'webui', active_stream_id: 'r1' };
const MARKER = {
  role: 'assistant',
  content: 'cut off',
  timestamp: STARTED + 5,
  _error: true,
  type: 'interrupted',
  _pending_journal_recovery: true,
  _journal_retry_stream_id: 'r1',
  _journal_retry_attempts: 0,
  _journal_retry_first_seen_ts: STARTED,
};
const LINES: readonly JournalEntry[] = [
  { event: 'token', payload: { text: 'so far' } },
  { event: 'tool', payload: { name: 'ls' } },
];

/** A home with one session file and the journal of its run; gives the path of its store. */
async function home(fields: Fields, messages: readonly unknown[]): Promise<string> {
  const path = buildStore({
    schema: 31,
    rows: [
      S('a', { source: 'webui' }),
      M('a', { role: 'user', content: 'Hello', timestamp: STARTED - 90 }),
      M('a', { role: 'user', content: 'and now?', timestamp: STARTED }),
      M('a', { role: 'assistant', content: 'Done.', timestamp: STARTED + 3 }),
    ],
  });
  const sessionsDir = join(dirname(path), 'webui', 'sessions');
  mkdirSync(sessionsDir, { recursive: true });
  writeFileSync(join(sessionsDir, 'a.json'), sidecarText('a', fields, messages));
  writeJournal(
    { root: join(sessionsDir, '_run_journal'), sessionId: 'a', runId: 'r1' },
    LINES.map((line, at) => ({ createdAt: STARTED + at, ...line })),
  );
  await rebuildIndex(sessionsDir);
  return path;
}

const OPTIONS = { sessionId: 'a', force: false, ignoreCore: false, touchesUpdatedAt: false };

describe('a recovery that is killed', () => {
  it.each([
    { command: 'repairStalePending', input: OPTIONS, fields: PENDING, messages: [OLD] },
    { command: 'clearStaleStream', input: OPTIONS, fields: { active_stream_id: 'r1' }, messages: [OLD] },
    { command: 'retryJournalRecovery', input: OPTIONS, fields: {}, messages: [OLD, MARKER] },
    { command: 'syncSidecarFromStateDb', input: OPTIONS, fields: PENDING, messages: [OLD] },
    { command: 'repairStalePendingMany', input: { ...OPTIONS, sessionIds: ['a'] }, fields: PENDING, messages: [OLD] },
  ] as const)(
    '$command leaves whole files at each step, and its repeat ends where one run ends',
    async ({ command, input, fields, messages }) => {
      const pristine = await home(fields, messages);
      const before = webUiFiles(pristine);
      const whole = copyOfHome(pristine);
      const steps = await killedFileWrite({ path: whole, command, input, clientMutationId: 'killed', killAt: null });
      const after = webUiFiles(whole);
      expect(steps).toBeGreaterThan(3);
      expect(after['sessions/a.json']).not.toEqual(before['sessions/a.json']);
      await someAtOnce(
        Array.from({ length: steps ?? 0 }, (_, index) => index + 1),
        async (killAt) => {
          const path = copyOfHome(pristine);
          await killedFileWrite({ path, command, input, clientMutationId: 'killed', killAt });
          for (const [name, text] of Object.entries(webUiFiles(path)))
            expect([before[name], after[name]], `${name} at step ${killAt}`).toContain(text);
          const host = commandHost(path);
          await host.run(command, input as never, { clientMutationId: 'again' });
          host.close();
          const { 'sessions/_index.json': index, ...repeated } = webUiFiles(path);
          const { 'sessions/_index.json': expectedIndex, ...expected } = after;
          expect(repeated, `after a repeat of what was killed at step ${killAt}`).toEqual(expected);
          // Who was stopped before the index leaves it behind; the files are the truth, and it heals.
          expect([before['sessions/_index.json'], expectedIndex]).toContain(index);
        },
      );
    },
  );

  it('undoSidecarTurns takes one turn back, whatever step it was killed at, and its repeat takes no other', async () => {
    const messages = [OLD, { role: 'assistant', content: 'Hi' }, { role: 'user', content: 'and now?', timestamp: STARTED }];
    const pristine = await home({}, messages);
    const write = { command: 'undoSidecarTurns', input: { sessionId: 'a', turns: 1 }, clientMutationId: 'killed' } as const;
    const steps = await killedFileWrite({ ...write, path: copyOfHome(pristine), killAt: null });
    expect(steps).toBeGreaterThan(5);
    await someAtOnce(
      Array.from({ length: steps ?? 0 }, (_, index) => index + 1),
      async (killAt) => {
        const path = copyOfHome(pristine);
        await killedFileWrite({ ...write, path, killAt });
        const host = commandHost(path);
        const { outcome, countAfter } = await host.run(write.command, write.input, { clientMutationId: 'killed' });
        host.close();
        expect([outcome, countAfter]).toEqual(['UNDONE', 2]);
        const { 'sessions/a.json': file = '', 'sessions/a.json.bak': backup = '' } = webUiFiles(path);
        expect((JSON.parse(file) as Fields).messages, `after a repeat of what was killed at step ${killAt}`).toEqual(messages.slice(0, 2));
        expect((JSON.parse(backup) as Fields).messages).toEqual(messages);
      },
    );
  });
});
