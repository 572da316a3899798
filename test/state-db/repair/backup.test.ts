/** The copy before a repair (`spec/state-db-writes.md` H5, crash point K35). */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { backUp, listBackups } from '../../../src/state-db/repair/backup.ts';
import { temporaryFolder } from '../../support/stores.ts';

/** Any bytes do: the copy doesn't look into them. */
function bundle(main = 'main'): string {
  const path = join(temporaryFolder(), 'state.db');
  writeFileSync(path, main);
  writeFileSync(`${path}-wal`, 'wal');
  writeFileSync(`${path}-shm`, 'shm');
  writeFileSync(`${path}-journal`, 'journal');
  return path;
}
const at = (second: number) => () => new Date(Date.UTC(2026, 0, 2, 3, 4, second));
const names = (path: string) => readdirSync(dirname(path)).filter((name) => /backup|staging/.test(name));

describe('the copy of a damaged store', () => {
  it('has every file of the store under one name, for this user alone', async () => {
    const path = bundle();
    expect(await backUp(path, { now: at(5) })).toEqual({ name: 'state.db.malformed-backup-20260102_030405', reused: false });
    for (const suffix of ['', '-wal', '-shm', '-journal']) {
      const copy = `${path}.malformed-backup-20260102_030405${suffix}`;
      expect(readFileSync(copy, 'utf8')).toBe(readFileSync(path + suffix, 'utf8'));
      expect(statSync(copy).mode & 0o777).toBe(0o600);
    }
    expect(names(path)).toHaveLength(4);
  });

  it('is made once for the same bytes, also when SQLite made its shared memory anew', async () => {
    const path = bundle();
    const first = await backUp(path, { now: at(5) });
    writeFileSync(`${path}-shm`, 'another');
    expect(await backUp(path, { now: at(6) })).toEqual({ name: first.name, reused: true });
    writeFileSync(`${path}-wal`, 'another');
    expect((await backUp(path, { now: at(6) })).reused).toBe(false);
    expect(listBackups(path)).toHaveLength(2);
  });

  it('tells bytes that moved from one file to the next', async () => {
    const path = bundle('main');
    await backUp(path, { now: at(5) });
    writeFileSync(path, 'mai');
    writeFileSync(`${path}-wal`, 'nwal');
    expect((await backUp(path, { now: at(6) })).reused).toBe(false);
  });

  it('is one of at most three, the newest, also when several are made in one second', async () => {
    const path = bundle();
    for (let round = 0; round < 12; round++) {
      writeFileSync(path, `round ${round}`);
      await backUp(path, { now: at(5) });
    }
    const kept = listBackups(path);
    expect(kept.map((name) => readFileSync(join(dirname(path), name), 'utf8'))).toEqual(['round 11', 'round 10', 'round 9']);
    expect(names(path)).toHaveLength(12);
  });

  it.each(['backup-staged', 'backup-sidecars-renamed'])('K35: killed at "%s" does not count, and its remains go', async (fatal) => {
    const path = bundle();
    const module = new URL('../../../src/state-db/repair/backup.ts', import.meta.url).href;
    const script = `import { backUp } from ${JSON.stringify(module)};
      await backUp(process.argv[1], { onStep: (step) => { if (step === process.argv[2]) process.kill(process.pid, 'SIGKILL'); } });`;
    expect(spawnSync(process.execPath, ['--input-type=module', '-e', script, path, fatal]).signal).toBe('SIGKILL');
    expect(listBackups(path)).toEqual([]);
    expect(names(path)).toHaveLength(4);
    // Another state by now: nothing of the old copy may end up beside the new one.
    writeFileSync(`${path}-wal`, 'later');
    const { name } = await backUp(path, { now: at(7) });
    expect(names(path).sort()).toEqual([name, `${name}-journal`, `${name}-shm`, `${name}-wal`]);
  });

  it('is refused without room, and while this process has it open', async () => {
    const path = bundle();
    const full = () => ({ free: 256 * 1024 ** 2, total: 1024 ** 3 });
    await expect(backUp(path, { volume: full })).rejects.toMatchObject({ code: 'NO_SPACE' });
    expect(names(path)).toEqual([]);
    const big = () => ({ free: 1.9 * 1024 ** 4, total: 100 * 1024 ** 4 });
    await expect(backUp(path, { volume: big })).rejects.toMatchObject({ code: 'NO_SPACE' });

    const open = join(temporaryFolder(), 'state.db');
    const db = new Database(open);
    db.exec('CREATE TABLE t (x)');
    await expect(backUp(open)).rejects.toMatchObject({ code: 'BACKUP_REFUSED' });
    db.close();
    expect(existsSync(`${open}-journal`)).toBe(false);
  });

  it('is refused when a file can not be copied', async () => {
    await expect(backUp(join(temporaryFolder(), 'state.db'))).rejects.toMatchObject({ code: 'BACKUP_REFUSED' });
  });
});
