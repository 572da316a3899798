/** A deletion that was cut off is finished when the server starts, without anybody asking for it (`spec/webui-transcript.md` 19.7). */
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, it, vi } from 'vitest';
import { deletionOf, W } from '../support/deletion.ts';
import { killedFileWrite } from '../support/killed-file-writer.ts';
import { startInProcess } from '../support/server.ts';
import { sidecarText } from '../support/sidecars.ts';
import { buildStore, M, temporaryFolder } from '../support/stores.ts';

vi.setConfig({ testTimeout: 60_000 });

/** A home in which the deletion of `tea` was killed after its file went, and the folder of its receipts. */
async function cutOff(killAt = 1): Promise<{ home: string; stateDir: string }> {
  const path = buildStore({ schema: 31, rows: [W('tea'), M('tea'), W('other'), M('other')] });
  const home = dirname(path);
  const sessionsDir = join(home, 'webui', 'sessions');
  mkdirSync(sessionsDir, { recursive: true });
  mkdirSync(join(home, 'sessions'));
  for (const id of ['tea', 'other']) {
    writeFileSync(join(sessionsDir, `${id}.json`), sidecarText(id, { title: id }, [{ role: 'user', content: 'Hello', timestamp: 1 }]));
    writeFileSync(join(home, 'sessions', `${id}.jsonl`), '');
  }
  await killedFileWrite({ path, command: 'deleteSession', input: deletionOf('tea'), clientMutationId: 'killed', killAt });
  if (existsSync(join(sessionsDir, 'tea.json'))) return cutOff(killAt + 1);
  const stateDir = temporaryFolder();
  copyFileSync(join(home, 'receipts.db'), join(stateDir, 'receipts.db'));
  copyFileSync(join(home, 'receipts.db-wal'), join(stateDir, 'receipts.db-wal'));
  // The killed process had a clock of its own, by which its receipts are very old.
  const receipts = new Database(join(stateDir, 'receipts.db'));
  expect(receipts.prepare('UPDATE receipts SET created_at = unixepoch()').run().changes).toBe(1);
  receipts.close();
  return { home, stateDir };
}

it('goes on where it was cut off, and only where stores may be changed', async () => {
  const { home, stateDir } = await cutOff();
  expect(existsSync(join(home, 'sessions', 'tea.jsonl'))).toBe(true);
  const reader = await startInProcess({ home, settings: { stateDir } });
  const there = '{ tea: session(sessionId: "tea") { sessionId } other: session(sessionId: "other") { sessionId } }';
  await reader.read(there);
  await reader.stop();
  expect(existsSync(join(home, 'sessions', 'tea.jsonl'))).toBe(true);

  const server = await startInProcess({ home, settings: { stateDir, allowWrites: true } });
  await expect.poll(() => existsSync(join(home, 'sessions', 'tea.jsonl')), { timeout: 20_000 }).toBe(false);
  expect(await server.read(there)).toEqual({ tea: null, other: { sessionId: 'other' } });
  expect(existsSync(join(home, 'sessions', 'other.jsonl'))).toBe(true);
});
