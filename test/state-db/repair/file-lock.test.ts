/** Lock files that other programs take with flock (`spec/state-db-writes.md` X6). */
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { acquireFileLock, FileLock, startTicks } from '../../../src/state-db/repair/file-lock.ts';
import { temporaryFolder } from '../../support/stores.ts';
import { end, lockedByAnother, started } from './damage.ts';

const held: FileLock[] = [];
afterEach(() => {
  for (const lock of held.splice(0)) lock.release();
});

async function take(path: string, options: { waitMs?: number; stamped?: boolean; program?: string } = {}): Promise<FileLock> {
  const lock = await acquireFileLock(path, { waitMs: 0, ...options });
  if (!(lock instanceof FileLock)) throw new Error(lock);
  held.push(lock);
  return lock;
}

/** Whether a program that uses flock, as the owner's do, gets the lock. */
function isFree(path: string): boolean {
  return spawnSync('flock', ['-x', '-n', path, 'true']).status === 0;
}

describe('a lock file', () => {
  it('keeps programs out that use flock until it is released', async () => {
    const path = join(temporaryFolder(), 'a lock; $(touch x)');
    const lock = await take(path);
    expect(isFree(path)).toBe(false);
    lock.release();
    expect(isFree(path)).toBe(true);
  });

  it('is held by another program until that ends', async () => {
    const path = join(temporaryFolder(), 'lock');
    const other = await lockedByAnother(path);
    expect(await acquireFileLock(path, { waitMs: 150 })).toBe('HELD');
    const waiting = take(path, { waitMs: 10_000 });
    await end(other);
    expect(await waiting).toBeInstanceOf(FileLock);
  });

  it('says who holds it while it is held, and is empty afterwards', async () => {
    const path = join(temporaryFolder(), 'lock');
    const lock = await take(path, { stamped: true });
    const stamp = JSON.parse(readFileSync(path, 'utf8'));
    expect(stamp).toEqual({ pid: process.pid, start_ticks: startTicks(process.pid), acquired_at: expect.any(Number) });
    expect(Math.abs(stamp.acquired_at - Date.now() / 1000)).toBeLessThan(60);
    lock.release();
    expect(readFileSync(path, 'utf8')).toBe('');
  });

  it('is taken over from a holder whose pid is free or belongs to another process by now', async () => {
    for (const stamp of [
      { pid: spawnSync('true').pid, start_ticks: 5 },
      { pid: process.pid, start_ticks: 5 },
    ]) {
      const path = join(temporaryFolder(), 'lock');
      const other = await lockedByAnother(path);
      writeFileSync(path, JSON.stringify({ ...stamp, acquired_at: 1 }));
      await take(path, { waitMs: 100, stamped: true });
      expect(JSON.parse(readFileSync(path, 'utf8')).pid).toBe(process.pid);
      await end(other);
    }
  });

  it('is not taken over from a holder that lives, that left no stamp, or by a mere probe', async () => {
    const path = join(temporaryFolder(), 'lock');
    const other = await lockedByAnother(path);
    const dead = JSON.stringify({ pid: spawnSync('true').pid, start_ticks: 5 });
    const living = JSON.stringify({ pid: process.pid, start_ticks: startTicks(process.pid) });
    for (const [stamp, waitMs] of [
      [living, 100],
      ['', 100],
      ['{"pid": -1}', 100],
      [dead, 0],
    ] as const) {
      writeFileSync(path, stamp);
      expect(await acquireFileLock(path, { waitMs, stamped: true })).toBe('HELD');
    }
    await end(other);
  });

  it('is not to be had without flock, where the file can not be made, or through a link', async () => {
    const folder = temporaryFolder();
    expect(await acquireFileLock(join(folder, 'lock'), { waitMs: 0, program: 'no-such-flock' })).toBe('UNAVAILABLE');
    expect(await acquireFileLock(join(folder, 'missing', 'lock'), { waitMs: 0 })).toBe('UNAVAILABLE');
    writeFileSync(join(folder, 'precious'), 'precious');
    symlinkSync(join(folder, 'precious'), join(folder, 'link'));
    expect(await acquireFileLock(join(folder, 'link'), { waitMs: 0, stamped: true })).toBe('UNAVAILABLE');
    expect(readFileSync(join(folder, 'precious'), 'utf8')).toBe('precious');
  });

  it('is not to be had where the lock is lost with the program that asked for it', async () => {
    // Says yes to everybody, as a file system does that keeps no lock.
    expect(await acquireFileLock(join(temporaryFolder(), 'lock'), { waitMs: 0, program: 'true' })).toBe('UNAVAILABLE');
  });

  it('goes with a process that is killed', async () => {
    const path = join(temporaryFolder(), 'lock');
    const module = new URL('../../../src/state-db/repair/file-lock.ts', import.meta.url).href;
    const script = `import { acquireFileLock } from ${JSON.stringify(module)};
      await acquireFileLock(process.argv[1], { waitMs: 0 }); console.log('held'); setInterval(() => 0, 1000);`;
    const other = await started(
      spawn(process.execPath, ['--input-type=module', '-e', script, path], { stdio: ['ignore', 'pipe', 'inherit'] }),
    );
    expect(await acquireFileLock(path, { waitMs: 0 })).toBe('HELD');
    await end(other);
    await take(path);
  });
});
