/**
 * Damaged stores: what can be read of them, and what is said about them, against upstream's own opening and search. What upstream repairs
 * is left alone here.
 */
import { renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { StoreUnreadable } from '../../src/errors.ts';
import type { StateDbStore } from '../../src/state-db/store.ts';
import { copyStore, type GoldenCase, loadGolden } from '../support/golden.ts';
import { openStore } from '../support/open-store.ts';
import { goldenKind, type Handler, type Rule, type Verdict, verdict } from './compare.ts';

const INDEX_DAMAGE = ['fts-damaged', 'fts-damaged-write', 'fts-damaged-latent', 'fts-damaged-trigram'] as const;
const STORES = [...INDEX_DAMAGE, 'truncated', 'zeroed'] as const;

interface RecoveryCase extends GoldenCase {
  readonly name: string;
}

class Damaged {
  readonly store: string;
  readonly opened: StateDbStore;

  private constructor(store: string) {
    this.store = store;
    const copy = copyStore(store);
    const path = join(dirname(copy), 'state.db');
    renameSync(copy, path);
    this.opened = openStore(path);
  }

  static async open(store: string): Promise<Damaged> {
    return new Damaged(store);
  }

  close(): void {
    this.opened.close();
  }
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
  const { messages, sessions } = (golden as RecoveryCase & { after: Record<string, unknown> }).after;
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
    const repaired = loadGolden<RecoveryCase>('fts-damaged-write', 'recovery').cases.find(({ name }) => name === 'rebuild_fts')?.result;
    const everyRow = (repaired as { ids: number[] }).ids;
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

async function isZeroed({ opened }: Damaged, golden: RecoveryCase): Promise<Verdict> {
  return verdict((await opened.status()).health === 'NOT_A_DATABASE', golden.result);
}

const READS: Readonly<Record<string, (damaged: Damaged, golden: RecoveryCase) => Promise<Verdict>>> = {
  'open read-only': openReadOnly,
  'search first': searchFirst,
  _db_opens_cleanly: opensCleanly,
  is_zeroed_state_db: isZeroed,
};
const WRITES = new Set(['open for writing', 'six appends', 'rebuild_fts', 'repair_state_db_schema']);

const recovery: Handler<Damaged> = (damaged, golden) => {
  const { name } = golden as RecoveryCase;
  if (WRITES.has(name)) return { deviations: ['writes-elsewhere'] };
  return READS[name]?.(damaged, golden as RecoveryCase) ?? { difference: `nothing of ours answers ${name}` };
};

goldenKind('recovery', STORES, Damaged.open, { '': recovery });
