/**
 * What waits while a store can't be written to, and what becomes of it (`golden/basic/retry_queue.json`): the same messages, sent to ours one
 * after the other while every write fails.
 */
import { readdirSync, readFileSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { commandHost, type TestHost } from '../support/command-host.ts';
import { Faults } from '../support/faults.ts';
import { copyStore, type GoldenCase } from '../support/golden.ts';
import { goldenKind, type Handler, type Rule, verdict } from './compare.ts';

const SESSION = 'm_read';
const FAILED_APPENDS = 205;
const SAMPLES = 2;
const STALLED_AFTER = 3;
const HEX_32 = /[0-9a-f]{32}/g;

interface Step extends GoldenCase {
  readonly step: string;
}

/** One process, whose clock moves a second before each message. */
class FailingStore {
  readonly #faults = new Faults();
  readonly #host: TestHost;
  /** The clock of the golden answers. */
  readonly now: number;
  #sent = 0;

  private constructor(store: string, now: number) {
    const copy = copyStore(store);
    const path = join(dirname(copy), 'state.db');
    renameSync(copy, path);
    this.#host = commandHost(path, { now, onStatement: this.#faults.onStatement });
    this.now = now;
  }

  static async open(store: string, now: number): Promise<FailingStore> {
    return new FailingStore(store, now);
  }

  async afterFailedAppends(): Promise<unknown> {
    this.#faults.fail('BEGIN', 'SQLITE_BUSY');
    for (let index = 0; index < FAILED_APPENDS; index++) await this.#say(`queued ${index}`, `q${index}`);
    const { depth, failures } = await this.#waiting();
    const files = this.#spooled();
    return { pending: depth, failures, spool_file_count: files.length, spool_samples: files.slice(0, SAMPLES) };
  }

  async afterRecovery(): Promise<unknown> {
    this.#faults.heal();
    await this.#say('recovered', 'q-recovered');
    const { depth, failures } = await this.#waiting();
    const sql = "SELECT content FROM messages WHERE session_id = ? AND (content LIKE 'queued %' OR content = 'recovered') ORDER BY id";
    const stored = this.#host.rows(sql, SESSION).map(({ content }) => content);
    return { pending: depth, failures: failures === 0 ? null : failures, stored_order: stored, spool_left: this.#spooled() };
  }

  /** What waits anywhere: in memory, or since A12 in files, which upstream's rewrite would leave to come back (Z5). */
  async rewriteClears(): Promise<unknown> {
    this.#faults.fail('BEGIN', 'SQLITE_BUSY');
    for (const content of ['lost 0', 'lost 1', 'lost 2']) await this.#say(content, content);
    const before = (await this.#waiting()).depth + this.#spooled().length;
    this.#faults.heal();
    const messages = [{ role: 'user', content: 'anew' }];
    const input = { sessionId: SESSION, mode: 'ACTIVE_ONLY', messages, expectedActiveIds: null, force: true, rejectOthers: false } as const;
    const { inserted } = await this.#host.run('rewriteTranscript', input);
    await this.#host.run('flushRetryQueue', { sessionId: SESSION });
    const live = this.#host.rows('SELECT content FROM messages WHERE session_id = ? AND active = 1', SESSION);
    const isAsWritten = inserted === 1 && live.length === 1 && live[0]?.content === 'anew';
    return {
      pending_before: before,
      rewrite_result: isAsWritten,
      pending_after: (await this.#waiting()).depth + this.#spooled().length,
    };
  }

  close(): void {
    this.#host.close();
  }

  #waiting() {
    return this.#host.run('retryQueue', { sessionId: SESSION });
  }

  async #say(content: string, messageId: string): Promise<void> {
    this.#sent++;
    this.#host.clock.now = this.now + this.#sent;
    await this.#host.run('appendMessage', {
      sessionId: SESSION,
      message: { role: 'user', content, message_id: messageId },
      lease: null,
    });
  }

  /** The files that wait to be replayed, in their order, with the random ids as the golden file has them. */
  #spooled(): { path: string; json: Record<string, unknown> }[] {
    const folder = join(this.#host.home, 'pending_messages');
    return readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .map((name) => ({ path: `pending_messages/${name}`, text: readFileSync(join(folder, name), 'utf8') }))
      .map(({ path, text }) => ({ path: path.replace(HEX_32, 'HEX32'), json: JSON.parse(text.replaceAll(HEX_32, 'HEX32')) }))
      .sort((a, b) => a.json.ts - b.json.ts || a.json.seq - b.json.seq);
  }
}

interface Sample {
  readonly path: string;
  readonly json: { readonly data: { readonly session_id: string; readonly message: object } };
}

const sampleRule = (id: string, adjust: (answer: Record<string, unknown>, samples: readonly Sample[]) => object): Rule => ({
  id,
  adjust: (expected) => {
    const answer = expected as Record<string, unknown> & { readonly spool_samples: readonly Sample[] };
    return adjust(answer, answer.spool_samples);
  },
});

const waitingRules = (now: number): readonly Rule[] => [
  // A12: after three failures in a row what waits is safer in files than in memory.
  sampleRule('stalled-spools', ({ first_pending: _, last_pending: __, ...answer }, samples) => ({
    ...answer,
    pending: 0,
    spool_file_count: FAILED_APPENDS,
    spool_samples: samples.map(({ path, json }) => ({ path, json: { ...json, ts: Math.trunc(now + STALLED_AFTER) } })),
  })),
  // S4, V6: a uid, so that it is written once, and the time at which it was taken.
  sampleRule('spool-envelope', (answer, samples) => ({
    ...answer,
    spool_samples: samples.map(({ path, json }, index) => {
      const message = { ...json.data.message, message_uid: 'HEX32', timestamp: now + index + 1 };
      const transcript = { schema: 'hermes.session.transcript', version: 1, messages: [message] };
      return { path, json: { ...json, data: { ...json.data, message, transcript } } };
    }),
  })),
];

/** A5: what is older is written first. */
const SPOOL_FIRST: Rule = {
  id: 'spool-first',
  adjust: (expected) => ({
    ...(expected as object),
    stored_order: [...Array.from({ length: FAILED_APPENDS }, (_, index) => `queued ${index}`), 'recovered'],
  }),
};

const judge: Handler<FailingStore> = async (store, golden) => {
  const { step, ...answer } = golden as Step;
  if (step === `after ${FAILED_APPENDS} failed appends`) return verdict(await store.afterFailedAppends(), answer, waitingRules(store.now));
  if (step === 'after recovery') return verdict(await store.afterRecovery(), answer, [SPOOL_FIRST]);
  return verdict(await store.rewriteClears(), answer);
};

goldenKind('retry_queue', ['basic'], FailingStore.open, { '': judge });
