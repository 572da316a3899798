/** The repair of a damaged store (`spec/state-db-writes.md` H3, cases T144 to T149, crash points K33 to K35). */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { listBackups } from '../../../src/state-db/repair/backup.ts';
import { storeFingerprint } from '../../../src/state-db/repair/fingerprint.ts';
import { type RepairStep, repairStore } from '../../../src/state-db/repair/repair.ts';
import { buildStore, M, S } from '../../support/stores.ts';
import {
  bytesOf,
  countMessages,
  damageLeaf,
  declareTwice,
  end,
  filesBeside,
  filledStore,
  holdOpen,
  integrity,
  lockedByAnother,
  matches,
  missRow,
  ROWS,
} from './damage.ts';

const KILLED_JOB = new URL('killed-job.ts', import.meta.url).pathname;
const GIB = 1024 ** 3;
const MIB = 1024 ** 2;

function twiceDeclared(): string {
  const path = filledStore();
  declareTwice(path);
  return path;
}

/** A store whose rows themselves are damaged: nothing here can repair it. */
function brokenStore(): string {
  const path = filledStore();
  damageLeaf(path, 'messages');
  return path;
}

const ledgerOf = (path: string): unknown => JSON.parse(readFileSync(`${path}.repair-attempts.json`, 'utf8'));
const scratchFiles = (path: string): string[] => filesBeside(path).filter((name) => name.includes('scratch') || name.includes('staging'));

describe('the repair of a store', () => {
  it('T145: a table declared twice is undone; rows whole, search works, a copy kept, nothing in the ledger, journal mode as before', async () => {
    const path = twiceDeclared();
    const damaged = bytesOf(path);
    const report = await repairStore(path, { confirmFingerprint: storeFingerprint(path) ?? '' });
    expect(report).toEqual({
      repaired: true,
      strategy: 'dedup_schema',
      backupName: expect.stringMatching(/^state\.db\.malformed-backup-\d{8}_\d{6}$/),
      error: null,
    });
    expect(filesBeside(path)).toEqual(['state.db', 'state.db.malformed-backup-STAMP', 'state.db.repair.lock']);
    expect(bytesOf(`${path}.${report.backupName?.slice('state.db.'.length)}`)).toBe(damaged);
    expect(integrity(path)).toBe('ok');
    expect(countMessages(path)).toBe(ROWS);
    expect(matches(path, 'docker')).toBe(ROWS);
    const db = new Database(path);
    expect(db.pragma('journal_mode', { simple: true })).toBe('wal');
    db.prepare("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s', 'user', 'afterwards', 1)").run();
    db.close();
    expect(matches(path, 'afterwards')).toBe(1);
  });

  it('T145: also in a store with a rollback journal, and with rows that are only in the -wal', async () => {
    const rollback = filledStore({ journal: 'delete' });
    declareTwice(rollback);
    expect(await repairStore(rollback)).toMatchObject({ repaired: true, strategy: 'dedup_schema' });
    const db = new Database(rollback);
    expect(db.pragma('journal_mode', { simple: true })).toBe('delete');
    db.close();

    const path = filledStore();
    const writer = new Database(path);
    writer.prepare("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s', 'user', 'newest', 1)").run();
    writer.unsafeMode(true);
    writer.pragma('writable_schema = ON');
    writer.exec("INSERT INTO sqlite_master SELECT * FROM sqlite_master WHERE name = 'messages_fts'");
    copyFileSync(path, `${path}.copy`);
    copyFileSync(`${path}-wal`, `${path}.copy-wal`);
    writer.close();
    const walled = `${path}.copy`;
    const before = bytesOf(`${walled}-wal`);
    const report = await repairStore(walled);
    expect(report).toMatchObject({ repaired: true, strategy: 'dedup_schema' });
    expect(countMessages(walled)).toBe(ROWS + 1);
    expect(matches(walled, 'newest')).toBe(1);
    expect(bytesOf(`${path.replace('state.db', report.backupName ?? '')}-wal`)).toBe(before);
  });

  it('an index whose pages are damaged is dropped, for the owner to make it anew; every row is kept', async () => {
    const path = filledStore();
    damageLeaf(path, 'messages_fts_data');
    expect(await repairStore(path)).toMatchObject({ repaired: true, strategy: 'drop_fts_rebuild' });
    expect(integrity(path)).toBe('ok');
    expect(countMessages(path)).toBe(ROWS);
    const db = new Database(path);
    expect(db.prepare("SELECT COUNT(*) FROM sqlite_master WHERE name GLOB 'messages_fts*'").pluck().get()).toBe(0);
    db.prepare("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s', 'user', 'afterwards', 1)").run();
    db.close();
  });

  it('T146: damaged rows: three attempts fail, the fourth is refused, the store keeps every byte, one copy serves all', async () => {
    const path = brokenStore();
    const before = bytesOf(path);
    for (const attempt of [1, 2, 3]) {
      const report = await repairStore(path);
      expect(report).toMatchObject({ repaired: false, strategy: null, error: expect.stringContaining('offline recovery') });
      expect(bytesOf(path)).toBe(before);
      expect(ledgerOf(path)).toEqual({
        fingerprint: storeFingerprint(path),
        failed_attempts: attempt,
        last_attempt: expect.any(Number),
      });
    }
    await expect(repairStore(path)).rejects.toMatchObject({ code: 'REPAIR_EXHAUSTED' });
    expect(bytesOf(path)).toBe(before);
    expect(listBackups(path)).toHaveLength(1);
    expect(scratchFiles(path)).toEqual([]);
  });

  it('T146: a store that changed since may be tried again, and a -wal that nobody read keeps every byte', async () => {
    const path = brokenStore();
    writeFileSync(`${path}.repair-attempts.json`, JSON.stringify({ fingerprint: '1:other', failed_attempts: 3, last_attempt: 1 }));
    const writer = new Database(path);
    writer.prepare("UPDATE sessions SET source = 'changed'").run();
    copyFileSync(path, `${path}.copy`);
    copyFileSync(`${path}-wal`, `${path}.copy-wal`);
    writer.close();
    copyFileSync(`${path}.copy`, path);
    copyFileSync(`${path}.copy-wal`, `${path}-wal`);
    const before = [bytesOf(path), bytesOf(`${path}-wal`)];
    expect(await repairStore(path)).toMatchObject({ repaired: false });
    expect([bytesOf(path), bytesOf(`${path}-wal`)]).toEqual(before);
    expect(ledgerOf(path)).toMatchObject({ failed_attempts: 1 });
  });

  it('T147: another process has the store open: nothing is touched', async () => {
    const path = twiceDeclared();
    const other = await holdOpen(path);
    const before = bytesOf(path);
    const files = filesBeside(path);
    await expect(repairStore(path)).rejects.toMatchObject({ code: 'FOREIGN_HOLDERS', details: { count: 1 } });
    expect(bytesOf(path)).toBe(before);
    expect(filesBeside(path)).toEqual([...files, 'state.db.repair.lock'].sort());
    await end(other);
    expect(await repairStore(path)).toMatchObject({ repaired: true });
  });

  it('T147: our own process that still has the store open is not taken for nobody', async () => {
    const path = filledStore();
    missRow(path, 'idx_messages_session');
    const other = await holdOpen(path);
    await expect(repairStore(path, { ours: new Set([other.pid ?? 0]) })).rejects.toMatchObject({ code: 'FOREIGN_HOLDERS' });
    await end(other);
    expect(await repairStore(path)).toMatchObject({ repaired: true, strategy: 'reindex_btree' });
    expect(integrity(path)).toBe('ok');
  });

  it('T148: too little room for the work: NO_SPACE, and the ledger counts nothing', async () => {
    const path = twiceDeclared();
    const before = bytesOf(path);
    // Enough for the copy, not for three times the store besides.
    const volume = () => ({ free: 256 * MIB + 2 * statSync(path).size, total: GIB });
    await expect(repairStore(path, { volume })).rejects.toMatchObject({ code: 'NO_SPACE', retryable: false, settled: true });
    expect(bytesOf(path)).toBe(before);
    expect(existsSync(`${path}.repair-attempts.json`)).toBe(false);
    expect(scratchFiles(path)).toEqual([]);
    await expect(repairStore(path, { volume: () => ({ free: 1000, total: GIB }), backup: false })).rejects.toMatchObject({
      code: 'NO_SPACE',
    });
  });

  it('refuses what it was not asked for, and what is no store', async () => {
    const path = twiceDeclared();
    const before = bytesOf(path);
    await expect(repairStore(path, { confirmFingerprint: '1:2' })).rejects.toMatchObject({ code: 'CONFLICT' });
    await expect(repairStore(path, { quarantined: true })).rejects.toMatchObject({ code: 'STORE_QUARANTINED' });
    await expect(repairStore(path, { flockProgram: 'no-such-flock' })).rejects.toMatchObject({ code: 'FOREIGN_HOLDERS' });
    mkdirSync(`${path}.repair-scratch`);
    await expect(repairStore(path)).rejects.toMatchObject({ code: 'REPAIR_FAILED' });
    expect(bytesOf(path)).toBe(before);
    expect(listBackups(path)).toEqual([]);

    const empty = `${path}.empty`;
    writeFileSync(empty, '');
    await expect(repairStore(empty)).rejects.toMatchObject({ code: 'STORE_INVALID' });
    expect(readFileSync(empty, 'utf8')).toBe('');
    await expect(repairStore(`${path}.missing`)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('T150: a zeroed store stays where it is: not repaired, and not moved', async () => {
    const path = buildStore();
    writeFileSync(path, Buffer.alloc(40_960));
    expect(await repairStore(path)).toMatchObject({ repaired: false, strategy: null });
    expect(readFileSync(path).equals(Buffer.alloc(40_960))).toBe(true);
  });

  it('is refused while this process has the store open itself', async () => {
    const path = filledStore();
    const db = new Database(path);
    db.prepare('SELECT 1 FROM sessions').get();
    await expect(repairStore(path)).rejects.toMatchObject({ code: 'BACKUP_REFUSED' });
    db.close();
  });

  it('waits for another repair, and finds its work done', async () => {
    const path = filledStore();
    const other = await lockedByAnother(`${path}.repair.lock`);
    expect(await repairStore(path, { lockWaitMs: 50 })).toMatchObject({ repaired: true, strategy: 'repaired_by_other_process' });
    declareTwice(path);
    await expect(repairStore(path, { lockWaitMs: 50 })).rejects.toMatchObject({ code: 'STORE_BUSY' });
    await end(other);
  });

  it('a healthy store is left alone, and old failures of it are forgotten', async () => {
    const path = filledStore();
    const before = bytesOf(path);
    writeFileSync(`${path}.repair-attempts.json`, JSON.stringify({ fingerprint: storeFingerprint(path), failed_attempts: 2 }));
    expect(await repairStore(path)).toEqual({ repaired: true, strategy: 'already_healthy', backupName: null, error: null });
    expect(bytesOf(path)).toBe(before);
    expect(filesBeside(path)).toEqual(['state.db', 'state.db.repair.lock']);
  });

  it('somebody who opens the store during the repair keeps it as it is', async () => {
    const path = filledStore();
    missRow(path, 'idx_messages_session');
    const before = bytesOf(path);
    const onStep = (step: RepairStep) => {
      // The guard gives its lock up right after this step; the write can only come in then.
      if (step === 'reindex_btree') openWhenFree(path);
    };
    const others: Database.Database[] = [];
    function openWhenFree(store: string): void {
      setImmediate(() => {
        const db = new Database(store, { timeout: 0 });
        others.push(db);
        db.prepare("UPDATE sessions SET source = 'meanwhile'").run();
      });
    }
    await expect(repairStore(path, { onStep })).rejects.toMatchObject({ code: 'FOREIGN_HOLDERS' });
    expect(others).toHaveLength(1);
    expect(others[0]?.prepare('SELECT source FROM sessions').pluck().get()).toBe('meanwhile');
    for (const db of others) db.close();
    expect(bytesOf(path)).not.toBe(before);
    expect(existsSync(`${path}.repair-attempts.json`)).toBe(false);
    expect(scratchFiles(path)).toEqual([]);
  });
});

describe('T149: a repair that is killed', () => {
  const steps: readonly RepairStep[] = [
    'locked',
    'swept',
    'probed',
    'backup-staged',
    'backup-sidecars-renamed',
    'backed-up',
    'guarded',
    'snapshot-taken',
    'rebuild_fts',
    'reindex_btree',
    'dedup_schema',
    'promoting',
    'promoted',
    'closed',
  ];

  it.each(steps)('at "%s" leaves the store as it was or repaired, counts nothing, and the next attempt clears up after it', (step) => {
    const path = twiceDeclared();
    // Sidecars of the copy, so that there is something between the staged files and the commit.
    writeFileSync(`${path}-journal`, '');
    const before = bytesOf(path);
    expect(spawnSync(process.execPath, [KILLED_JOB, 'repair', path, step]).signal).toBe('SIGKILL');
    expect(existsSync(`${path}.repair-attempts.json`)).toBe(false);
    const isWhole = !['promoted', 'closed'].includes(step);
    if (isWhole) expect(bytesOf(path)).toBe(before);
    const isCopied = steps.indexOf(step) >= steps.indexOf('backed-up');
    expect(listBackups(path)).toHaveLength(isCopied ? 1 : 0);

    return repairStore(path).then((report) => {
      expect(report).toMatchObject({ repaired: true, strategy: isWhole ? 'dedup_schema' : 'already_healthy' });
      expect(integrity(path)).toBe('ok');
      expect(countMessages(path)).toBe(ROWS);
      expect(scratchFiles(path)).toEqual([]);
      expect(listBackups(path)).toHaveLength(1);
    });
  });

  it('K34: in the middle of writing the repaired store back leaves it as it was, and its copy', async () => {
    // More than SQLite keeps in memory, so that pages are on the disk already.
    const rows = Array.from({ length: 240 }, () => M('s', { content: 'x'.repeat(100_000) }));
    const path = buildStore({ fts: 'none', rows: [S('s'), ...rows] });
    missRow(path, 'idx_messages_session');
    const before = bytesOf(path);
    expect(spawnSync(process.execPath, [KILLED_JOB, 'repair', path, 'promoting', '22']).signal).toBe('SIGKILL');
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(MIB);
    expect(bytesOf(path)).toBe(before);
    expect(countMessages(path)).toBe(241);
    expect(listBackups(path)).toHaveLength(1);
    expect(await repairStore(path)).toMatchObject({ repaired: true, strategy: 'reindex_btree' });
    expect(integrity(path)).toBe('ok');
    expect(countMessages(path)).toBe(241);
  });
});
