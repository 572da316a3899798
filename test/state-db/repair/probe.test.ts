/** The health probe and its meaning (`spec/state-db-writes.md` H1, H4, case T144), fingerprints (H6, Q6). */

import { createHash } from 'node:crypto';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { checkStore } from '../../../src/state-db/repair/check-store.ts';
import { isZeroed, storedJournalMode, storeFingerprint } from '../../../src/state-db/repair/fingerprint.ts';
import { probeStore } from '../../../src/state-db/repair/probe.ts';
import { copyStore } from '../../support/golden.ts';
import { buildStore, M, S, type SchemaVersion, temporaryFolder } from '../../support/stores.ts';
import { bytesOf, damageLeaf, declareTwice, filesBeside, filledStore, missRow } from './damage.ts';

const HEALTHY = { healthy: true, problems: [], structural: false };

describe('the health probe', () => {
  it.each<SchemaVersion>([6, 16, 22, 26, 30, 31])('T144: finds a store of schema %s healthy and leaves no row behind', (schema) => {
    const path = buildStore({ schema, rows: [S('s'), M('s', { content: 'text' })] });
    const before = bytesOf(path);
    expect(probeStore(path, { writeProbe: true })).toEqual(HEALTHY);
    expect(bytesOf(path)).toBe(before);
    expect(filesBeside(path)).toEqual(['state.db']);
    const db = new Database(path);
    expect(db.prepare('SELECT id FROM sessions').pluck().all()).toEqual(['s']);
    expect(db.prepare('SELECT COUNT(*) FROM messages').pluck().get()).toBe(1);
    db.close();
  });

  it('T144: leaves the -wal of others as it is', () => {
    const source = filledStore();
    const writer = new Database(source);
    writer.prepare("UPDATE sessions SET source = 'walled'").run();
    const path = join(temporaryFolder(), 'state.db');
    for (const suffix of ['', '-wal']) copyFileSync(source + suffix, path + suffix);
    writer.close();
    const before = [bytesOf(path), bytesOf(`${path}-wal`)];
    expect(probeStore(path, { writeProbe: true })).toEqual(HEALTHY);
    expect([bytesOf(path), bytesOf(`${path}-wal`)]).toEqual(before);
  });

  it('meets damage of an index alone, and only says that it is structural when other things are damaged too', () => {
    for (const name of ['fts-damaged', 'fts-damaged-write', 'fts-damaged-trigram'] as const) {
      const result = probeStore(copyStore(name), { writeProbe: true });
      expect(result.healthy).toBe(false);
      expect(result.problems.length).toBeGreaterThan(0);
      expect(result.structural).toBe(false);
    }
    const index = filledStore();
    damageLeaf(index, 'messages_fts_data');
    expect(probeStore(index)).toMatchObject({ healthy: false, structural: false });
    const rows = filledStore();
    damageLeaf(rows, 'messages');
    expect(probeStore(rows)).toMatchObject({ healthy: false, structural: true });
    const missing = filledStore();
    missRow(missing, 'idx_messages_session');
    expect(probeStore(missing)).toMatchObject({ healthy: false, structural: true });
    expect(probeStore(copyStore('truncated'))).toMatchObject({ healthy: false, structural: true });
  });

  it('does not take a table that is declared twice for structural: that can be undone', () => {
    const path = filledStore();
    declareTwice(path);
    const result = probeStore(path);
    expect(result).toMatchObject({ healthy: false, structural: false });
    expect(result.problems[0]).toContain('malformed database schema');
    expect(result.problems.length).toBeLessThanOrEqual(3);
  });

  it('finds a store without indexes, or that is still being made, healthy', () => {
    expect(probeStore(buildStore({ fts: 'none' }), { writeProbe: true })).toEqual(HEALTHY);
    const path = join(temporaryFolder(), 'state.db');
    const db = new Database(path);
    db.exec('CREATE TABLE schema_version (version INTEGER)');
    db.close();
    expect(probeStore(path, { writeProbe: true })).toEqual(HEALTHY);
  });

  it('says of a locked store that it is busy, not that it is damaged', () => {
    const path = filledStore({ journal: 'delete' });
    const writer = new Database(path);
    writer.exec('BEGIN EXCLUSIVE');
    expect(() => probeStore(path, { waitMs: 0 })).toThrow(expect.objectContaining({ code: 'STORE_BUSY' }));
    writer.close();
  });

  it('comes with the fingerprint that a repair asks for, and advice where none can help', () => {
    const path = filledStore();
    expect(checkStore(path)).toEqual({ ...HEALTHY, fingerprint: storeFingerprint(path), advice: null });
    damageLeaf(path, 'messages');
    const { advice } = checkStore(path);
    expect(advice).toContain('offline recovery');
    expect(advice).not.toContain(path);
    expect(() => checkStore(path, { quarantined: true })).toThrow(expect.objectContaining({ code: 'STORE_QUARANTINED' }));
    const empty = join(temporaryFolder(), 'state.db');
    writeFileSync(empty, '');
    expect(() => checkStore(empty)).toThrow(expect.objectContaining({ code: 'STORE_INVALID' }));
  });
});

describe('the fingerprint of a store', () => {
  it('is its size and the digest of its ends, without the counters in its header', () => {
    const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, index) => index % 251));
    const path = join(temporaryFolder(), 'state.db');
    writeFileSync(path, bytes);
    const head = Buffer.from(bytes.subarray(0, 65_536));
    head.fill(0, 24, 28).fill(0, 92, 96);
    const digest = createHash('sha256').update(head).update(bytes.subarray(-65_536)).digest('hex').slice(0, 32);
    expect(storeFingerprint(path)).toBe(`200000:${digest}`);
    for (const [offset, isSame] of [
      [24, true],
      [27, true],
      [92, true],
      [95, true],
      [100_000, true],
      [28, false],
      [23, false],
      [96, false],
      [199_999, false],
    ] as const) {
      const changed = Buffer.from(bytes);
      changed[offset] = (changed[offset] ?? 0) ^ 0xff;
      writeFileSync(path, changed);
      expect(storeFingerprint(path) === `200000:${digest}`, `byte ${offset}`).toBe(isSame);
    }
  });

  it('of a file up to the size of one sample has that sample alone', () => {
    const path = join(temporaryFolder(), 'state.db');
    writeFileSync(path, Buffer.alloc(65_536, 7));
    const head = Buffer.alloc(65_536, 7).fill(0, 24, 28).fill(0, 92, 96);
    expect(storeFingerprint(path)).toBe(`65536:${createHash('sha256').update(head).digest('hex').slice(0, 32)}`);
    expect(storeFingerprint(`${path}.missing`)).toBeNull();
  });

  it('the header tells a zeroed file and the journal mode', () => {
    expect(isZeroed(copyStore('zeroed'))).toBe(true);
    expect(isZeroed(copyStore('truncated'))).toBe(false);
    expect(storedJournalMode(filledStore())).toBe('wal');
    expect(storedJournalMode(filledStore({ journal: 'delete' }))).toBe('delete');
    expect(storedJournalMode(copyStore('zeroed'))).toBeNull();
    expect(readFileSync(copyStore('zeroed')).every((byte) => byte === 0)).toBe(true);
  });
});
