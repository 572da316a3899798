/** Who else has a store open (`spec/state-db-writes.md` X7). */
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { isOpenHere, refuseHolders, scanHolders } from '../../../src/state-db/repair/foreign-holders.ts';
import { buildStore, temporaryFolder } from '../../support/stores.ts';
import { end, holdOpen } from './damage.ts';

function holdersOf(path: string, ours?: ReadonlySet<number>): number[] {
  const scan = scanHolders(path, ours === undefined ? {} : { ours });
  if (!scan.known) throw new Error('not known');
  return scan.holders.map(({ pid }) => pid);
}

describe('holders of a store', () => {
  it('T43: another process that has the store open is one, whatever way leads to the file; our own processes are none', async () => {
    const path = buildStore();
    expect(holdersOf(path)).toEqual([]);
    const other = await holdOpen(path);
    const pid = other.pid ?? 0;
    const link = join(temporaryFolder(), 'state.db');
    symlinkSync(path, link);
    expect(holdersOf(path)).toEqual([pid]);
    expect(holdersOf(link)).toEqual([pid]);
    expect(holdersOf(path, new Set([pid]))).toEqual([]);
    expect(() => refuseHolders(path)).toThrow(expect.objectContaining({ code: 'FOREIGN_HOLDERS', details: { count: 1 } }));
    await end(other);
    expect(holdersOf(path)).toEqual([]);
  });

  it('a process that has the deleted store open is one, also once a new one lies in its place', async () => {
    const path = buildStore();
    const other = await holdOpen(path);
    for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
    expect(holdersOf(path)).toEqual([other.pid]);
    renameSync(buildStore(), path);
    expect(holdersOf(path)).toEqual([other.pid]);
    await end(other);
  });

  it('this very process is none, and knows that it has the store open', () => {
    const path = buildStore();
    expect(isOpenHere(path)).toBe(false);
    const db = new Database(path);
    db.prepare('SELECT 1 FROM sessions').get();
    expect(holdersOf(path)).toEqual([]);
    expect(isOpenHere(path)).toBe(true);
    db.close();
    expect(isOpenHere(path)).toBe(false);
  });

  it('where the system does not tell, every change is refused', () => {
    const path = buildStore();
    const proc = temporaryFolder();
    expect(scanHolders(path, { proc })).toEqual({ known: false });
    expect(scanHolders(path, { proc: join(proc, 'missing') })).toEqual({ known: false });
    expect(() => refuseHolders(path, { proc })).toThrow(expect.objectContaining({ code: 'FOREIGN_HOLDERS', details: { count: null } }));
  });

  it('a process that can not be inspected counts when it looks like the owner and is not shown to serve another home', () => {
    const path = buildStore();
    const home = dirname(path);
    const proc = temporaryFolder();
    mkdirSync(join(proc, 'self'));
    writeFileSync(join(proc, 'self', 'mounts'), 'proc /proc proc rw 0 0\n');
    mkdirSync(join(proc, String(process.pid)));
    const commands = [
      ['python', '-m', 'hermes_cli', 'gateway'],
      ['hermes', 'gateway', '--home', home],
      ['hermes', 'gateway', '--home=/elsewhere'],
      ['env', 'HERMES_HOME=/elsewhere', 'hermes'],
      ['vim', 'notes'],
    ];
    for (const [index, command] of commands.entries()) {
      mkdirSync(join(proc, String(1_000_001 + index)));
      writeFileSync(join(proc, String(1_000_001 + index), 'cmdline'), command.join('\0'));
      // As if it were another user's: nobody may list it. (A folder's permissions don't stop root.)
      symlinkSync('/proc/self/nowhere', join(proc, String(1_000_001 + index), 'fd'));
    }
    const denied = (): never => {
      throw Object.assign(new Error('denied'), { code: 'EACCES' });
    };
    const scan = scanHolders(path, { proc, listDescriptors: denied });
    expect(scan).toEqual({
      known: true,
      holders: [
        { pid: 1_000_001, certain: false },
        { pid: 1_000_002, certain: false },
      ],
    });
  });

  it('a /proc that hides other processes tells nothing', () => {
    const proc = temporaryFolder();
    mkdirSync(join(proc, 'self'));
    mkdirSync(join(proc, String(process.pid)));
    writeFileSync(join(proc, 'self', 'mounts'), 'proc /proc proc rw,nosuid,hidepid=invisible 0 0\n');
    expect(scanHolders(buildStore(), { proc, isRoot: false })).toEqual({ known: false });
    expect(scanHolders(buildStore(), { proc, isRoot: true })).toEqual({ known: true, holders: [] });
  });
});
