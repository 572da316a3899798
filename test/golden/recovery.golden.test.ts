/**
 * Damaged stores: what can be read of them, what is said about them, and what a repair makes of them, against upstream's own functions.
 * Reading repairs nothing.
 */
import { readdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { StoreUnreadable } from '../../src/errors.ts';
import { isZeroed } from '../../src/state-db/repair/fingerprint.ts';
import { rebuildIndex } from '../../src/state-db/repair/rebuild-index.ts';
import { repairStore } from '../../src/state-db/repair/repair.ts';
import type { StateDbStore } from '../../src/state-db/store.ts';
import { WriteRefused } from '../../src/write-refused.ts';
import { copyStore, type GoldenCase, loadGolden } from '../support/golden.ts';
import { openStore } from '../support/open-store.ts';
import { goldenKind, type Handler, type Rule, type Verdict, verdict } from './compare.ts';

const INDEX_DAMAGE = ['fts-damaged', 'fts-damaged-write', 'fts-damaged-latent', 'fts-damaged-trigram'] as const;
const STORES = [...INDEX_DAMAGE, 'truncated', 'zeroed'] as const;

/** A store after a call; `error` stands for the counts of one that can't be read. */
interface Afterwards {
  /** All files of the folder, the times in their names replaced. */
  readonly files: readonly string[];
  readonly sessions?: number;
  readonly messages?: number;
  readonly fts_stale?: boolean;
  readonly fts_triggers?: number;
  readonly error?: string;
}

interface RecoveryCase extends GoldenCase {
  readonly name: string;
  readonly after: Afterwards;
}

class Damaged {
  readonly store: string;
  readonly opened: StateDbStore;

  private constructor(store: string) {
    this.store = store;
    this.opened = openStore(damagedCopy(store));
  }

  static async open(store: string): Promise<Damaged> {
    return new Damaged(store);
  }

  close(): void {
    this.opened.close();
  }
}

/** As `state.db`, alone in a folder. */
function damagedCopy(store: string): string {
  const copy = copyStore(store);
  const path = join(dirname(copy), 'state.db');
  renameSync(copy, path);
  return path;
}

/** Upstream refuses a store whose index is damaged; its sessions and messages are whole. */
async function openReadOnly({ opened }: Damaged, golden: RecoveryCase): Promise<Verdict> {
  const status = await opened.status();
  const shown = {
    sessions: status.sessionCount,
    messages: status.messageCount,
    fts_enabled: status.search !== null && status.search.layout !== 'NONE',
    trigram: status.search?.trigram,
  };
  if (golden.error === undefined) return verdict(shown, golden.result);
  if (status.health !== 'OK') return { deviations: [] };
  const { messages, sessions } = golden.after;
  const whole = shown.sessions === sessions && shown.messages === messages && status.searchDegraded;
  return whole
    ? { deviations: ['index-damage-degrades'] }
    : { difference: 'the rows are not all there, or nothing says that search is degraded' };
}

const sorted = (ids: readonly number[]) => ids.toSorted((a, b) => a - b).join();

/** The query of this case, by the rows that the repaired index finds. */
async function searchFirst({ opened, store }: Damaged, golden: RecoveryCase): Promise<Verdict> {
  const request = {
    text: 'docker',
    order: 'RANK',
    limit: 50,
    after: null,
    sessionId: null,
    sources: null,
    excludeSources: null,
    roles: null,
    includeInactive: false,
    includeReasoning: false,
    since: null,
    before: null,
  } as const;
  try {
    const answer = await opened.search(request);
    const ids = answer.hits.map(({ message }) => Number(message.rowId));
    const everyRow = everyHit();
    if (golden.error === undefined && ids.join() === (golden.result as { ids: number[] }).ids.join()) return { deviations: [] };
    // Ranked as the repaired index does it where the word index is whole; else all its rows, and the answer says so.
    const isRight = store === 'fts-damaged-trigram' ? ids.join() === everyRow.join() : answer.degraded && sorted(ids) === sorted(everyRow);
    return isRight ? { deviations: ['index-damage-degrades'] } : { difference: `${answer.route} found ${ids.join()}` };
  } catch (error) {
    if (!(error instanceof StoreUnreadable)) throw error;
    // Upstream moves a zeroed store aside and goes on with an empty one.
    return { deviations: golden.error === undefined ? ['writes-elsewhere'] : [] };
  }
}

/** A reason is what is wrong with the store, or with its index. Damage inside the index that upstream meets later shows here at once. */
async function opensCleanly({ opened, store }: Damaged, golden: RecoveryCase): Promise<Verdict> {
  const status = await opened.status();
  const sooner: Rule = { id: 'index-damage-degrades', adjust: () => ({ reason_given: store === 'fts-damaged-latent' }) };
  return verdict({ reason_given: status.problem !== null || status.searchDegraded }, golden.result, [sooner]);
}

async function tellsZeroed({ opened, store }: Damaged, golden: RecoveryCase): Promise<Verdict> {
  const isToldByStatus = (await opened.status()).health === 'NOT_A_DATABASE';
  return verdict({ status: isToldByStatus, file: isZeroed(damagedCopy(store)) }, { status: golden.result, file: golden.result });
}

/** The rows that a whole index finds. */
function everyHit(): readonly number[] {
  const repaired = loadGolden<RecoveryCase>('fts-damaged-write', 'recovery').cases.find(({ name }) => name === 'rebuild_fts')?.result;
  return (repaired as { ids: number[] }).ids;
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

function foundIn(path: string): number[] {
  const db = new Database(path, { readonly: true });
  try {
    const sql = "SELECT rowid FROM messages_fts WHERE messages_fts MATCH 'docker' ORDER BY rank, rowid";
    return db.prepare<[], number>(sql).pluck().all();
  } finally {
    db.close();
  }
}

async function repair({ store }: Damaged, { result, after }: RecoveryCase): Promise<Verdict> {
  const path = damagedCopy(store);
  const { repaired, strategy } = await repairStore(path);
  return verdict({ result: { repaired, strategy }, after: afterwards(path) }, { result, after }, REPAIR_RULES[store]);
}

const REBUILT = { repaired: true, strategy: 'rebuild_fts' };
/** A newer SQLite rebuilds what upstream's could only drop. */
const REBUILT_NOT_DROPPED: Rule = {
  id: 'rebuilt-not-dropped',
  adjust: (expected) => {
    const { after } = expected as { readonly after: Afterwards };
    return { result: REBUILT, after: { ...after, fts_triggers: 6 } };
  },
};
const REPAIR_RULES: Readonly<Record<string, readonly Rule[]>> = {
  'fts-damaged': [REBUILT_NOT_DROPPED],
  'fts-damaged-trigram': [REBUILT_NOT_DROPPED],
  'fts-damaged-latent': [
    {
      id: 'latent-damage-found',
      adjust: (expected) => {
        const { after } = expected as { readonly after: Afterwards };
        const files = [...after.files, 'state.db.malformed-backup-STAMP'].sort();
        return { result: REBUILT, after: { ...after, files } };
      },
    },
  ],
};

/** Damage of an index keeps upstream from opening the store at all, so that it can't rebuild it. */
async function rebuild({ store }: Damaged, { result, error, after }: RecoveryCase): Promise<Verdict> {
  const path = damagedCopy(store);
  try {
    const { rebuilt } = await rebuildIndex(path);
    // In this order: a connection that only reads leaves files of its own behind.
    const ours = withoutLocks(afterwards(path));
    const whole = { result: { rebuilt: rebuilt.length, ids: foundIn(path) }, after: ours };
    const degrades: Rule = { id: 'index-damage-degrades', adjust: () => ({ result: { rebuilt: 2, ids: everyHit() }, after }) };
    return verdict(whole, error === undefined ? { result, after } : { error, after }, [degrades]);
  } catch (refusal) {
    if (!(refusal instanceof WriteRefused)) throw refusal;
    const isUntouched = afterwards(path).files.every((name) => name === 'state.db' || name.endsWith('.lock'));
    const code = store === 'zeroed' ? 'STORE_INVALID' : 'STORE_CORRUPT';
    // Upstream's opening repairs, or moves the file aside, before anything is rebuilt.
    return refusal.code === code && isUntouched ? { deviations: ['writes-elsewhere'] } : { difference: `refused with ${refusal.code}` };
  }
}

function withoutLocks({ files, ...after }: Afterwards): Afterwards {
  return { files: files.filter((name) => !name.endsWith('.lock')), ...after };
}

const CALLS: Readonly<Record<string, (damaged: Damaged, golden: RecoveryCase) => Promise<Verdict>>> = {
  'open read-only': openReadOnly,
  'search first': searchFirst,
  _db_opens_cleanly: opensCleanly,
  is_zeroed_state_db: tellsZeroed,
  repair_state_db_schema: repair,
  rebuild_fts: rebuild,
};
/** What upstream repairs while it opens a store for writing; `test/transcript/append.test.ts` has our appends to damaged stores. */
const OPENINGS = new Set(['open for writing', 'six appends']);

const recovery: Handler<Damaged> = (damaged, golden) => {
  const { name } = golden as RecoveryCase;
  if (OPENINGS.has(name)) return { deviations: ['writes-elsewhere'] };
  return CALLS[name]?.(damaged, golden as RecoveryCase) ?? { difference: `nothing of ours answers ${name}` };
};

goldenKind('recovery', STORES, Damaged.open, { '': recovery });
