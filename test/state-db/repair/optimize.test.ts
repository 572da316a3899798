/** Packing a store (`spec/state-db-writes.md` M1, X9, crash point K36). */
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { type OptimizeStep, optimizeStore } from '../../../src/state-db/repair/optimize.ts';
import { bytesOf, countMessages, end, filledStore, holdOpen, integrity, lockedByAnother, matches, ROWS } from './damage.ts';

const KILLED_JOB = new URL('killed-job.ts', import.meta.url).pathname;

/** Most of its rows are deleted again, and its index is in many pieces. */
function looseStore(): string {
  const path = filledStore();
  const db = new Database(path);
  const add = db.prepare("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s', 'user', ?, 1)");
  for (let index = 0; index < 300; index++) add.run(`piece ${index} ${'x'.repeat(2000)}`);
  db.exec("DELETE FROM messages WHERE content LIKE 'piece%'");
  db.close();
  return path;
}

function pieces(path: string): number {
  const db = new Database(path, { readonly: true });
  try {
    return Number(db.prepare('SELECT COUNT(DISTINCT segid) FROM messages_fts_idx').pluck().get());
  } finally {
    db.close();
  }
}

describe('packing a store', () => {
  it('gives back the room of deleted rows and merges the indexes; rows and searches stay the same', async () => {
    const path = looseStore();
    expect(pieces(path)).toBeGreaterThan(1);
    const report = await optimizeStore(path);
    expect(report).toMatchObject({ merged: ['BASE', 'TRIGRAM'], skipped: [] });
    expect(report.bytesAfter).toBeLessThan(report.bytesBefore);
    expect(statSync(path).size).toBe(report.bytesAfter);
    expect(pieces(path)).toBeLessThanOrEqual(1);
    expect(countMessages(path)).toBe(ROWS);
    expect(matches(path, 'docker')).toBe(ROWS);
  });

  it('is refused while another process has the store open, during the owner’s maintenance, without room, and in quarantine', async () => {
    const path = looseStore();
    const before = bytesOf(path);
    const other = await holdOpen(path);
    await expect(optimizeStore(path)).rejects.toMatchObject({ code: 'FOREIGN_HOLDERS', details: { count: 1 } });
    await end(other);
    const owner = await lockedByAnother(`${path}.auto-maintenance.lock`);
    await expect(optimizeStore(path)).rejects.toMatchObject({ code: 'STORE_BUSY' });
    await end(owner);
    const volume = () => ({ free: 256 * 1024 ** 2, total: 1024 ** 3 });
    await expect(optimizeStore(path, { volume })).rejects.toMatchObject({ code: 'NO_SPACE' });
    await expect(optimizeStore(path, { quarantined: true })).rejects.toMatchObject({ code: 'STORE_QUARANTINED' });
    expect(bytesOf(path)).toBe(before);
  });

  it('a damaged index is left out', async () => {
    const path = looseStore();
    const db = new Database(path);
    db.unsafeMode(true);
    db.exec('DELETE FROM messages_fts_data');
    db.close();
    expect(await optimizeStore(path)).toMatchObject({ merged: ['TRIGRAM'], skipped: ['BASE'] });
  });

  it.each<OptimizeStep>(['merged', 'checkpointed', 'vacuumed', 'truncated'])('K36: killed when %s leaves a whole store', async (step) => {
    const path = looseStore();
    expect(spawnSync(process.execPath, [KILLED_JOB, 'optimize', path, step]).signal).toBe('SIGKILL');
    expect(integrity(path)).toBe('ok');
    expect(countMessages(path)).toBe(ROWS);
    expect(await optimizeStore(path)).toMatchObject({ merged: ['BASE', 'TRIGRAM'] });
  });
});
