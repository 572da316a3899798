/** The lock that a running Web UI takes for its deletions too (`spec/webui-transcript.md` 19.2). */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { TestHost } from '../../support/command-host.ts';
import { D, deleting, homeWith, hostOf, parentsOf, W } from '../../support/deletion.ts';

const hosts: TestHost[] = [];
const others: ChildProcess[] = [];
afterEach(() => {
  for (const host of hosts.splice(0)) host.close();
  for (const other of others.splice(0)) other.kill('SIGKILL');
});

function open(): TestHost {
  const host = hostOf(homeWith([W('p'), D('d', 'p')], { 'p.jsonl': '' }));
  hosts.push(host);
  return host;
}

/** Another program that holds the lock of the home until its input ends. */
async function otherHolder(home: string): Promise<ChildProcess> {
  const other = spawn('flock', ['-x', join(home, '.session_cleanup.lock'), 'sh', '-c', 'echo held; read line'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  others.push(other);
  await once(other.stdout, 'data');
  return other;
}

describe('while another program deletes in the home', () => {
  it('a deletion waits, then is refused, and nothing changed', async () => {
    const host = open();
    await otherHolder(host.home);
    await expect(deleting(host, 'p')).rejects.toMatchObject({
      code: 'CLEANUP_LOCK_UNAVAILABLE',
      retryable: true,
      settled: true,
      details: { reason: 'HELD' },
    });
    expect(parentsOf(host)).toEqual({ d: 'p', p: null });
    expect(readdirSync(join(host.home, 'sessions'))).toEqual(['p.jsonl']);
  });

  it('a deletion goes on as soon as the other is done', async () => {
    const host = Object.assign(open(), { cleanupWaitMs: 60_000 });
    const other = await otherHolder(host.home);
    let isDone = false;
    const deletion = deleting(host, 'p').then((result) => {
      isDone = true;
      return result;
    });
    // However far it is by now.
    await host.writer.read((store) => store.all('SELECT 1 AS one'));
    expect(isDone).toBe(false);
    expect(parentsOf(host)).toEqual({ d: 'p', p: null });
    other.stdin?.end();
    expect((await deletion).deletedIds).toEqual(['p', 'd']);
  });

  it('T132: a deletion in another profile goes through', async () => {
    const held = open();
    const free = open();
    await otherHolder(held.home);
    expect((await deleting(free, 'p')).deletedIds).toEqual(['p', 'd']);
    await expect(deleting(held, 'p')).rejects.toMatchObject({ code: 'CLEANUP_LOCK_UNAVAILABLE' });
    expect(parentsOf(held)).toEqual({ d: 'p', p: null });
  });
});

describe('where no lock is to be had', () => {
  it('nothing is deleted', async () => {
    const host = open();
    writeFileSync(join(host.home, 'elsewhere'), '');
    symlinkSync('elsewhere', join(host.home, '.session_cleanup.lock'));
    await expect(deleting(host, 'p')).rejects.toMatchObject({ code: 'CLEANUP_LOCK_UNAVAILABLE', details: { reason: 'UNAVAILABLE' } });
    expect(parentsOf(host)).toEqual({ d: 'p', p: null });
  });

  it('two deletions of one home come one after the other', async () => {
    const host = Object.assign(open(), { cleanupWaitMs: 60_000 });
    const [first, second] = await Promise.allSettled([deleting(host, 'p'), deleting(host, 'p')]);
    expect([first.status, second.status].toSorted()).toContain('fulfilled');
    expect(parentsOf(host)).toEqual({});
    expect(existsSync(join(host.home, '.session_cleanup.lock'))).toBe(true);
  });
});
