/** What upstream's repairs made of damaged stores, against ours: rows, triggers and files afterwards (`golden/STORE/recovery.json`). */
import { readdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { isZeroed } from '../../src/state-db/repair/fingerprint.ts';
import { rebuildIndex } from '../../src/state-db/repair/rebuild-index.ts';
import { repairStore } from '../../src/state-db/repair/repair.ts';
import { WriteRefused } from '../../src/write-refused.ts';
import { copyStore, type GoldenCase, loadGolden } from '../support/golden.ts';

interface Afterwards {
  readonly files: readonly string[];
  readonly sessions?: number;
  readonly messages?: number;
  readonly fts_stale?: boolean;
  readonly fts_triggers?: number;
  readonly error?: string;
}
type RecoveryCase = GoldenCase & { readonly name: string; readonly after: Afterwards };

/** Copies a store to `state.db` in a folder of its own. */
function damaged(store: string): { path: string; golden: (name: string) => RecoveryCase } {
  const copy = copyStore(store);
  const path = join(dirname(copy), 'state.db');
  renameSync(copy, path);
  const { cases } = loadGolden<RecoveryCase>(store, 'recovery');
  const golden = (name: string): RecoveryCase => {
    const found = cases.find((each) => each.name === name);
    if (found === undefined) throw new Error(`no case ${name}`);
    return found;
  };
  return { path, golden };
}

function afterwards(path: string): Afterwards {
  const files = readdirSync(dirname(path))
    .map((name) => name.replace(/\d{8}_\d{6}/, 'STAMP'))
    .sort();
  const db = new Database(path);
  try {
    const count = (sql: string): number => Number(db.prepare(sql).pluck().get());
    return {
      files,
      messages: count('SELECT COUNT(*) FROM messages'),
      sessions: count('SELECT COUNT(*) FROM sessions'),
      fts_stale: count("SELECT COUNT(*) FROM state_meta WHERE key = 'fts_stale'") > 0,
      fts_triggers: count("SELECT COUNT(*) FROM sqlite_master WHERE type = 'trigger' AND name GLOB 'messages_fts*'"),
    };
  } catch {
    return { files, error: 'DatabaseError' };
  } finally {
    db.close();
  }
}

function found(path: string): number[] {
  const db = new Database(path, { readonly: true });
  try {
    const sql = "SELECT rowid FROM messages_fts WHERE messages_fts MATCH 'docker' ORDER BY rank, rowid";
    return db.prepare<[], number>(sql).pluck().all();
  } finally {
    db.close();
  }
}

const numerically = (ids: readonly number[]): number[] => ids.toSorted((a, b) => a - b);
/** The rows that a whole index finds. */
function everyHit(): number[] {
  const rebuilt = loadGolden<RecoveryCase>('fts-damaged-write', 'recovery').cases.find(({ name }) => name === 'rebuild_fts');
  return (rebuilt?.result as { ids: number[] } | undefined)?.ids ?? [];
}

const ALL = ['fts-damaged', 'fts-damaged-write', 'fts-damaged-latent', 'fts-damaged-trigram', 'truncated', 'zeroed'] as const;

describe.each(ALL)('upstream agrees on %s:', (store) => {
  it('whether the file is a zeroed store', () => {
    const { path, golden } = damaged(store);
    expect(isZeroed(path)).toBe(golden('is_zeroed_state_db').result);
  });

  it('what a repair comes to, and what it leaves', async () => {
    const { path, golden } = damaged(store);
    const { result, after } = golden('repair_state_db_schema');
    const report = await repairStore(path);
    expect({ repaired: report.repaired, strategy: report.strategy }).toEqual(OUR_STRATEGY[store] ?? result);
    expect(afterwards(path)).toEqual({ ...after, ...OUR_REMAINS[store] });
  });

  it('what a rebuild of the indexes finds afterwards', async () => {
    const { path, golden } = damaged(store);
    const { result, error } = golden('rebuild_fts');
    if (store === 'truncated' || store === 'zeroed') {
      const code = store === 'zeroed' ? 'STORE_INVALID' : 'STORE_CORRUPT';
      await expect(rebuildIndex(path)).rejects.toMatchObject({ name: WriteRefused.name, code });
      return;
    }
    const report = await rebuildIndex(path);
    // A damaged index stops upstream from opening the store at all.
    if (error === undefined) expect({ rebuilt: report.rebuilt.length, ids: found(path) }).toEqual(result);
    else expect(numerically(found(path))).toEqual(numerically(everyHit()));
    expect(afterwards(path)).toMatchObject({ messages: 173, sessions: 17, fts_stale: false, fts_triggers: 6 });
  });
});

const WHOLE = { repaired: true, strategy: 'rebuild_fts' };
/** A newer SQLite can rebuild what upstream's could only drop, and its integrity check meets damage of an index that no query met yet. */
const OUR_STRATEGY: Readonly<Record<string, { repaired: boolean; strategy: string }>> = {
  'fts-damaged': WHOLE,
  'fts-damaged-trigram': WHOLE,
  'fts-damaged-latent': WHOLE,
};
const OUR_REMAINS: Readonly<Record<string, Partial<Afterwards>>> = {
  'fts-damaged': { fts_triggers: 6 },
  'fts-damaged-trigram': { fts_triggers: 6 },
  'fts-damaged-latent': { files: ['state.db', 'state.db.malformed-backup-STAMP', 'state.db.repair.lock'] },
};
