/** The rebuild of the full-text indexes (`spec/state-db-writes.md` X4 to X7, cases T42, T43, crash point K32). */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { FTS_TABLES, type IndexName, presentIndexes } from '../../../src/state-db/repair/fts-tables.ts';
import { rebuildIndex } from '../../../src/state-db/repair/rebuild-index.ts';
import { copyStore } from '../../support/golden.ts';
import { buildStore, type FtsLayout, M, S, type SchemaVersion, temporaryFolder } from '../../support/stores.ts';
import { bytesOf, damageLeaf, end, filledStore, holdOpen, lockedByAnother, matches, ROWS } from './damage.ts';

const KILLED_JOB = new URL('killed-job.ts', import.meta.url).pathname;
const NOTHING = { dryRun: false, skipped: [], stale: false, cjkStale: false, triggersInstalled: [], triggersUnknown: false };
const LAYOUTS: readonly [FtsLayout, SchemaVersion][] = [
  ['I', 16],
  ['X1', 26],
  ['X3', 31],
];

function withDb<T>(path: string, work: (db: Database.Database) => T): T {
  const db = new Database(path);
  try {
    return work(db);
  } finally {
    db.close();
  }
}

/** What a fail-open leaves (X3): the mark, and no trigger. Then a message comes that no index hears of. */
function failOpen(path: string): void {
  withDb(path, (db) => {
    for (const name of triggersOf(db)) db.exec(`DROP TRIGGER ${name}`);
    db.prepare("INSERT INTO state_meta (key, value) VALUES ('fts_stale', '1')").run();
    db.prepare("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s', 'user', 'unheard message', 1)").run();
  });
}

function triggersOf(db: Database.Database): string[] {
  return db
    .prepare<[], { name: string }>("SELECT name FROM sqlite_master WHERE type = 'trigger' AND name GLOB 'messages_fts*' ORDER BY name")
    .all()
    .map(({ name }) => name);
}

function isStale(path: string): boolean {
  return withDb(path, (db) => db.prepare("SELECT 1 FROM state_meta WHERE key = 'fts_stale'").get() !== undefined);
}

/** FTS5's own comparison of every index with the rows. */
function checkIndexes(path: string): void {
  withDb(path, (db) => {
    for (const name of presentIndexes(db))
      db.exec(`INSERT INTO ${FTS_TABLES[name]}(${FTS_TABLES[name]}, rank) VALUES ('integrity-check', 1)`);
  });
}

describe('a rebuild of the indexes', () => {
  it('makes damaged indexes whole, and says which', async () => {
    const path = filledStore();
    withDb(path, (db) => {
      db.unsafeMode(true);
      db.exec('DELETE FROM messages_fts_data WHERE id > 10; DELETE FROM messages_fts_trigram_data WHERE id = 1');
    });
    expect(() => matches(path, 'number7')).toThrow();
    const seen: unknown[] = [];
    expect(await rebuildIndex(path, { onProgress: (progress) => seen.push(progress) })).toEqual({
      ...NOTHING,
      rebuilt: ['BASE', 'TRIGRAM'],
    });
    expect(seen).toEqual([
      { done: 0, total: 2, next: 'BASE' },
      { done: 1, total: 2, next: 'TRIGRAM' },
      { done: 2, total: 2, next: null },
    ]);
    expect(matches(path, 'docker')).toBe(ROWS);
    checkIndexes(path);
    expect(readFileSync(`${path}.fts_rebuild.lock`, 'utf8')).toBe('');
  });

  it.each(LAYOUTS)(
    'of layout %s after a fail-open: triggers back, the mark gone, rows of every kind in step again',
    async (fts, schema) => {
      const rows = [
        S('cron', { source: 'cron' }),
        S('sub', { source: 'subagent' }),
        M('cron', { content: 'cronword' }),
        M('sub', { content: 'subword' }),
      ];
      const path = filledStore({ fts, schema, rows });
      const before = withDb(path, triggersOf);
      failOpen(path);
      const report = await rebuildIndex(path);
      expect(report).toEqual({ ...NOTHING, rebuilt: ['BASE', 'TRIGRAM'], triggersInstalled: expect.any(Array) });
      expect([...report.triggersInstalled].sort()).toEqual(before);
      expect(withDb(path, triggersOf)).toEqual(before);
      expect(isStale(path)).toBe(false);
      expect(matches(path, 'unheard')).toBe(1);
      withDb(path, (db) => {
        expect(db.prepare("SELECT COUNT(*) FROM sessions WHERE id GLOB '_caduceus*'").pluck().get()).toBe(0);
        const add = db.prepare('INSERT INTO messages (session_id, role, content, tool_name, timestamp) VALUES (?, ?, ?, ?, 1)');
        const text = Array.from({ length: 3000 }, (_, index) => `toolword${index}`).join(' ');
        const ids = ['s', 'cron', 'sub'].flatMap((id) => ['user', 'tool'].map((role) => add.run(id, role, text, 'read').lastInsertRowid));
        db.prepare("UPDATE messages SET content = content || ' edited' WHERE id IN (?, ?)").run(ids[0], ids[1]);
        db.prepare('DELETE FROM messages WHERE id IN (?, ?)').run(ids[2], ids[3]);
      });
      checkIndexes(path);
    },
  );

  it('of layout I, which keeps its own text: rows that went or changed unheard go or change there too', async () => {
    const path = filledStore({ fts: 'I', schema: 16 });
    failOpen(path);
    withDb(path, (db) => db.exec("DELETE FROM messages WHERE id = 1; UPDATE messages SET content = 'corrected' WHERE id = 2"));
    expect(await rebuildIndex(path)).toMatchObject({ stale: false });
    expect([matches(path, 'number0'), matches(path, 'number1'), matches(path, 'corrected'), matches(path, 'number2')]).toEqual([
      0, 0, 1, 1,
    ]);
    checkIndexes(path);
  });

  it('of layout E, which has one index', async () => {
    const path = filledStore({ schema: 6 });
    withDb(path, (db) => db.exec('DROP TRIGGER messages_fts_insert'));
    withDb(path, (db) => db.exec("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s', 'user', 'unheard', 1)"));
    expect(await rebuildIndex(path)).toEqual({ ...NOTHING, rebuilt: ['BASE'], triggersInstalled: ['messages_fts_insert'] });
    expect(matches(path, 'unheard')).toBe(1);
    checkIndexes(path);
  });

  it('of a layout whose triggers are not known leaves the mark and says so', async () => {
    const x2 = filledStore({ schema: 30, fts: 'X2' });
    failOpen(x2);
    expect(await rebuildIndex(x2)).toEqual({ ...NOTHING, rebuilt: ['BASE', 'TRIGRAM'], stale: true, triggersUnknown: true });
    expect(withDb(x2, triggersOf)).toEqual([]);
    expect(matches(x2, 'unheard')).toBe(1);
    // The text says X3; the view holds something else.
    const odd = filledStore({ schema: 31, fts: 'X3' });
    failOpen(odd);
    withDb(odd, (db) =>
      db.exec(`DROP VIEW messages_fts_src;
        CREATE VIEW messages_fts_src AS SELECT id, role, upper(content) || id AS content, tool_name, tool_calls FROM messages`),
    );
    expect(await rebuildIndex(odd)).toMatchObject({
      rebuilt: ['BASE', 'TRIGRAM'],
      stale: true,
      triggersUnknown: true,
      triggersInstalled: [],
    });
    expect(withDb(odd, triggersOf)).toEqual([]);
  });

  it('of one index alone takes no mark away: the other one still lacks rows', async () => {
    const path = filledStore();
    failOpen(path);
    expect(await rebuildIndex(path, { tables: ['BASE', 'CJK'] })).toEqual({
      ...NOTHING,
      rebuilt: ['BASE'],
      skipped: [{ table: 'CJK', reason: 'MISSING' }],
      stale: true,
    });
    expect(withDb(path, triggersOf)).toEqual([]);
  });

  it('does not miss a message that comes between the rebuild and the triggers', async () => {
    const path = filledStore();
    failOpen(path);
    const onProgress = ({ next }: { next: IndexName | null }) => {
      if (next !== 'TRIGRAM') return;
      withDb(path, (db) => db.exec("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s', 'user', 'inbetween', 1)"));
    };
    expect(await rebuildIndex(path, { onProgress })).toMatchObject({ stale: false });
    expect(matches(path, 'inbetween')).toBe(1);
    checkIndexes(path);
  });

  it('an index that can not be rebuilt is skipped, the others are rebuilt', async () => {
    const path = filledStore();
    damageLeaf(path, 'messages_fts_data');
    expect(await rebuildIndex(path)).toMatchObject({ rebuilt: ['TRIGRAM'], skipped: [{ table: 'BASE', reason: 'DAMAGED' }] });
  });

  it('while a layout is migrated nothing is rebuilt: the owner would add rows that are there already', async () => {
    const path = filledStore();
    withDb(path, (db) => db.exec("INSERT INTO state_meta (key, value) VALUES ('fts_rebuild_high_water', '200')"));
    expect(await rebuildIndex(path)).toMatchObject({
      rebuilt: [],
      skipped: [
        { table: 'BASE', reason: 'MIGRATING' },
        { table: 'TRIGRAM', reason: 'MIGRATING' },
      ],
    });
  });

  it('an index whose tokenizer is not here is skipped, and the others lose their mark', async () => {
    const path = filledStore();
    withDb(path, (db) => {
      db.unsafeMode(true);
      db.exec("CREATE VIRTUAL TABLE messages_fts_cjk USING fts5(content, tool_name, tool_calls, content='messages', content_rowid='id')");
      db.pragma('writable_schema = ON');
      db.exec(
        "UPDATE sqlite_master SET sql = replace(sql, '''id'')', '''id'', tokenize=''cjk_unicode61'')') WHERE name = 'messages_fts_cjk'",
      );
    });
    failOpen(path);
    withDb(path, (db) => db.exec("INSERT INTO state_meta (key, value) VALUES ('fts_cjk_stale', '1')"));
    expect(await rebuildIndex(path)).toMatchObject({
      rebuilt: ['BASE', 'TRIGRAM'],
      skipped: [{ table: 'CJK', reason: 'TOKENIZER_MISSING' }],
      stale: false,
      cjkStale: true,
    });
    expect(isStale(path)).toBe(false);
  });

  it('a dry run says what would be rebuilt and touches nothing', async () => {
    const path = filledStore();
    failOpen(path);
    const before = bytesOf(path);
    expect(await rebuildIndex(path, { dryRun: true })).toEqual({ ...NOTHING, dryRun: true, rebuilt: ['BASE', 'TRIGRAM'], stale: true });
    expect(bytesOf(path)).toBe(before);
    expect(existsSync(`${path}.fts_rebuild.lock`)).toBe(false);
  });

  it('T43: another process that has the store open: refused, nothing touched; our own are no hindrance', async () => {
    const path = filledStore();
    failOpen(path);
    const before = bytesOf(path);
    const other = await holdOpen(path);
    await expect(rebuildIndex(path)).rejects.toMatchObject({ code: 'FOREIGN_HOLDERS', details: { count: 1 }, retryable: true });
    expect(bytesOf(path)).toBe(before);
    expect(await rebuildIndex(path, { ours: new Set([other.pid ?? 0]) })).toMatchObject({ stale: false });
    await end(other);
  });

  it('T42: is refused within 300 s of the last', async () => {
    const path = filledStore();
    const now = () => new Date(1_000_000_000);
    const lastRebuildAt = new Date(1_000_000_000 - 299_000);
    await expect(rebuildIndex(path, { now, lastRebuildAt })).rejects.toMatchObject({
      code: 'REBUILD_COOLDOWN',
      details: { retryAfterMs: 1000 },
    });
    expect(await rebuildIndex(path, { now, lastRebuildAt: new Date(1_000_000_000 - 300_000) })).toMatchObject({ stale: false });
  });

  it('is refused while another rebuild runs, without flock, in quarantine, and for what is no store', async () => {
    const path = filledStore();
    const other = await lockedByAnother(`${path}.fts_rebuild.lock`);
    await expect(rebuildIndex(path, { lockWaitMs: 20 })).rejects.toMatchObject({ code: 'STORE_BUSY' });
    await end(other);
    await expect(rebuildIndex(path, { flockProgram: 'no-such-flock' })).rejects.toMatchObject({ code: 'FOREIGN_HOLDERS' });
    await expect(rebuildIndex(path, { quarantined: true })).rejects.toMatchObject({ code: 'STORE_QUARANTINED' });
    const empty = join(temporaryFolder(), 'state.db');
    await expect(rebuildIndex(empty)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    writeFileSync(empty, '');
    await expect(rebuildIndex(empty)).rejects.toMatchObject({ code: 'STORE_INVALID' });
    await expect(rebuildIndex(copyStore('zeroed'))).rejects.toMatchObject({ code: 'STORE_INVALID' });
  });

  it('is refused when a writer does not let go, or the rows themselves are damaged', async () => {
    const path = filledStore();
    const writer = new Database(path);
    writer.exec('BEGIN IMMEDIATE');
    await expect(rebuildIndex(path, { busyWaitMs: 20 })).rejects.toMatchObject({ code: 'STORE_BUSY' });
    writer.close();
    damageLeaf(path, 'messages');
    await expect(rebuildIndex(path)).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
  });

  it('K32: killed between two indexes leaves the mark and no trigger, and the next rebuild completes', async () => {
    const path = filledStore();
    failOpen(path);
    expect(spawnSync(process.execPath, [KILLED_JOB, 'rebuild', path, 'TRIGRAM']).signal).toBe('SIGKILL');
    expect(isStale(path)).toBe(true);
    expect(withDb(path, triggersOf)).toEqual([]);
    expect(matches(path, 'unheard')).toBe(1);
    expect(matches(path, 'unheard', 'messages_fts_trigram')).toBe(0);
    expect(await rebuildIndex(path)).toMatchObject({ rebuilt: ['BASE', 'TRIGRAM'], stale: false });
    checkIndexes(path);
  });

  it('of a store without indexes has nothing to do', async () => {
    expect(await rebuildIndex(buildStore({ fts: 'none' }))).toEqual({ ...NOTHING, rebuilt: [] });
  });
});
