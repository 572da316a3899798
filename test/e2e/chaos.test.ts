/**
 * Turns are played into a session, the server is killed and started again, so is the program that writes, the reader is cut off: at the end the reader holds exactly what the
 * store holds, and was told each thing once (`spec/live-turns.md` 14.2, 17 T9).
 *
 * `npm test` runs it for 15 seconds with one seed. Longer, with others:
 *
 *   CADUCEUS_CHAOS_SECONDS=60 CADUCEUS_CHAOS_SEEDS=1,2,3 npx vitest run --project e2e --retry=0 test/e2e/chaos.test.ts
 *
 * A seed decides what is played and how long each pause is; when exactly things meet, the machine decides. A failure prints the seed, the first
 * difference and the last things that were done; `CADUCEUS_CHAOS_CALM=1` leaves the server alone, to tell a wrong fold from a lost frame.
 */
import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../src/demo/random.ts';
import { differences, type PlayedRun } from '../support/chaos-differences.ts';
import { LiveReader } from '../support/live-reader.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { type Played, startWebUi, type WebUi } from '../support/web-ui-turn.ts';

const SECONDS = Number(process.env.CADUCEUS_CHAOS_SECONDS ?? 15);
const SEEDS = (process.env.CADUCEUS_CHAOS_SEEDS ?? '1').split(',').map(Number);
const CALM = process.env.CADUCEUS_CHAOS_CALM === '1';
/** For starts, the last turn, and what the reader has still to read. */
const SLACK_MS = 60_000;
const SETTLE_MS = 20_000;

/** What happens beside the turns, for which share of the time. At the end of each phase everything is compared. */
interface Phase {
  readonly name: string;
  readonly share: number;
  readonly kills: boolean;
  /** The program that writes is killed in the middle of a turn, and leaves half a line in its journal. */
  readonly crashes: boolean;
  /** Rows that were told are changed: with the server gone that ends in a reset, without which nothing may be lost. */
  readonly rewrites: boolean;
}

const PHASES: readonly Phase[] = [
  { name: 'the reader is cut off', share: 0.25, kills: false, crashes: false, rewrites: true },
  { name: 'server and writer are killed as well', share: 0.35, kills: true, crashes: true, rewrites: false },
  { name: 'and rows are rewritten meanwhile', share: 0.4, kills: true, crashes: false, rewrites: true },
];

/** Long after the latest end of a turn whose program is gone. */
const CRASH_TOLD_MS = 30_000;

/** The process of the server, which comes and goes. */
class UnsafeServer {
  current: TestServer | null = null;
  kills = 0;
  readonly #home: string;
  #port = '0';

  constructor(home: string) {
    this.#home = home;
  }

  async start(): Promise<TestServer> {
    const server = await startTestServer({ home: this.#home, settings: { port: this.#port } });
    this.#port = new URL(server.url).port;
    this.current = server;
    return server;
  }

  async kill(): Promise<void> {
    const server = this.current;
    this.current = null;
    this.kills += 1;
    await server?.stop('SIGKILL');
  }
}

class Chaos {
  readonly runs: PlayedRun[] = [];
  readonly log: string[] = [];
  readonly home = mkdtempSync(join(tmpdir(), 'caduceus-chaos-'));
  readonly server = new UnsafeServer(this.home);
  readonly reader: LiveReader;
  readonly #seed: number;
  readonly #random: SeededRandom;
  readonly #killing: SeededRandom;
  readonly #begun = performance.now();
  #ui: WebUi | null = null;
  #crashes = 0;
  #tip = 's';
  #failure: string | null = null;

  constructor(seed: number) {
    this.#seed = seed;
    this.#random = new SeededRandom(seed * 1000 + 2);
    this.#killing = new SeededRandom(seed * 1000 + 3);
    this.reader = new LiveReader('s', () => this.server.current, new SeededRandom(seed * 1000 + 1));
  }

  /** Phase by phase; gives the differences after the first that shows one. */
  async run(seconds: number): Promise<readonly string[]> {
    this.#ui = await startWebUi({ home: this.home });
    await this.server.start();
    await this.#player.createSession('s', { title: 'Chaos' });
    const stop = new AbortController();
    const reading = this.reader.run(stop.signal).catch((error: unknown) => {
      this.#failure = `the reader gave up: ${error instanceof Error ? error.stack : String(error)}`;
    });
    try {
      // A turn that is under way at the first frame is told by the snapshot, without a beginning.
      while (this.reader.frames === 0 && this.#failure === null) await sleep(10);
      for (const phase of PHASES) {
        this.#note(`phase: ${phase.name}`);
        const found = await this.#runPhase(phase, seconds * phase.share);
        if (found.length > 0) return found.map((difference) => `after "${phase.name}": ${difference}`);
      }
      return [];
    } finally {
      stop.abort();
      await reading;
      await this.#ui.close();
    }
  }

  async #runPhase(phase: Phase, seconds: number): Promise<readonly string[]> {
    const over = AbortSignal.timeout(Math.round(seconds * 1000));
    await Promise.all([this.#playAll(phase, over), phase.kills && !CALM ? this.#killAll(over) : null]);
    const end = performance.now() + SETTLE_MS;
    while (this.#failure === null && performance.now() < end && !this.#isSettled()) await sleep(50);
    if (this.#failure !== null) return [this.#failure];
    const { resets } = this.reader;
    const isExpected = phase.rewrites && phase.kills;
    return [
      ...(isExpected || resets.length === 0 ? [] : [`a reset: ${JSON.stringify(resets)}`]),
      ...(await differences(this, this.server.current ?? (await this.server.start()))),
    ];
  }

  /** What plays the owners now. */
  get #player(): WebUi {
    if (this.#ui === null) throw new Error('nobody plays');
    return this.#ui;
  }

  /** The session in which the last turn ended. */
  get tip(): string {
    return this.#tip;
  }

  database<T>(sql: string, ...values: unknown[]): T[] {
    const db = new Database(join(this.home, 'state.db'), { readonly: true });
    try {
      return db.prepare<unknown[], T>(sql).all(...values);
    } finally {
      db.close();
    }
  }

  /** What the run's journal has, by the rules for segments alone: tokens fill them, interim texts and tools end them. */
  journaled({ runId }: Pick<Played, 'runId'>): string[] {
    const segments = [''];
    for (const line of readFileSync(this.#journalOf(runId) ?? '', 'utf8')
      .split('\n')
      .slice(0, -1)) {
      const { event, payload } = JSON.parse(line) as { event: string; payload: { text?: string } };
      if (event === 'token') segments.push(`${segments.pop() ?? ''}${payload.text ?? ''}`);
      else if ((event === 'interim_assistant' || event === 'tool') && segments.at(-1) !== '') segments.push('');
    }
    return segments.filter((text) => text !== '');
  }

  #journalOf(runId: string): string | undefined {
    const root = join(this.home, 'webui', 'sessions', '_run_journal');
    const sessions = existsSync(root) ? readdirSync(root) : [];
    return sessions.map((session) => join(root, session, `${runId}.jsonl`)).find(existsSync);
  }

  liveRows(): { id: number; role: string; content: string | null }[] {
    return this.database('SELECT id, role, content FROM messages WHERE session_id = ? AND active = 1 ORDER BY id', this.#tip);
  }

  get figures(): string {
    const { frames, attempts, resets, kinds } = this.reader;
    const told = JSON.stringify(Object.fromEntries(kinds));
    const reasons = JSON.stringify(resets.map(({ reason }) => reason));
    return `seed ${this.#seed}: ${this.runs.length} turns, ${this.server.kills} kills, ${this.#crashes} crashes, ${attempts} connections, ${frames} frames, resets ${reasons}, ${told}`;
  }

  /** The last things that were done. */
  story(): string {
    return [this.figures, ...this.log.slice(-25)].join('\n');
  }

  #isSettled(): boolean {
    const { reader } = this;
    if (reader.owes || reader.view.turns.some(({ ended }) => ended === null)) return false;
    return JSON.stringify(reader.liveIds) === JSON.stringify(this.liveRows().map(({ id }) => String(id)));
  }

  async #playAll({ rewrites, crashes }: Phase, over: AbortSignal): Promise<void> {
    const random = this.#random;
    if (crashes && !CALM) await this.#crash();
    while (!over.aborted && this.#failure === null) {
      const deed = random.next();
      if (crashes && !CALM && deed > 0.9) await this.#crash();
      else if (deed < 0.75 || this.runs.length === 0 || !rewrites) await this.#play(rewrites);
      else if (deed < 0.92) await this.#rewind();
      else await this.#compact();
      if (random.next() < 0.5) await sleep(random.between(0, 400));
    }
  }

  async #play(rewrites: boolean): Promise<void> {
    const random = this.#random;
    const number = this.runs.length + 1;
    const kind = random.next();
    const compress = kind < 0.15 ? 'ROTATE' : kind < 0.35 && rewrites ? 'COMPACT' : undefined;
    const cancelAfter = random.next() < 0.15 ? Math.ceil(random.between(3, 60)) : undefined;
    const options = {
      seed: this.#seed * 10_000 + number,
      text: `Question ${number}`,
      rounds: Math.floor(random.between(0, 4)),
      words: Math.ceil(random.between(2, 40)),
      beatMs: Math.ceil(random.between(5, 150)),
    };
    const begunAt = Date.now() / 1000;
    this.#note(`play ${JSON.stringify(options)} ${compress ?? ''} ${cancelAfter ?? ''}`);
    const played = await this.#player.play('s', {
      ...options,
      ...(compress === undefined ? {} : { compress }),
      ...(cancelAfter === undefined ? {} : { cancelAfter }),
    });
    this.#tip = played.sessionId;
    const cancelled = cancelAfter !== undefined && played.steps >= cancelAfter;
    this.runs.push({ ...played, begunAt, endedAt: Date.now() / 1000, cancelled });
    this.#note(`played ${played.runId} in ${played.sessionId}, ${played.steps} steps${cancelled ? ', cancelled' : ''}`);
  }

  /** The program ends in the middle of a turn and of a line; another one takes its place, and what it held. */
  async #crash(): Promise<void> {
    const random = this.#random;
    const runId = `crashed${++this.#crashes}`;
    const begunAt = Date.now() / 1000;
    const options = {
      seed: this.#seed * 10_000 - this.#crashes,
      runId,
      text: `Question to nobody ${this.#crashes}`,
      rounds: 8,
      beatMs: 100,
    };
    const lost = this.#player.play('s', options).catch(() => null);
    while (this.#journalOf(runId) === undefined) await sleep(5);
    await sleep(random.between(0, 500));
    await this.#player.kill();
    if ((await lost) !== null) throw new Error('the turn was over before it could be lost');
    appendFileSync(this.#journalOf(runId) ?? '', '{"version":1,"event_id":"half a li');
    this.#note(`killed the writer of ${runId}`);
    this.#ui = await startWebUi({ home: this.home });
    this.#forgetLeases();
    const end = performance.now() + CRASH_TOLD_MS;
    const isTold = () => this.reader.trail.some(({ kind, turnId }) => kind === 'ENDED' && turnId === runId);
    while (!isTold() && this.#failure === null && performance.now() < end) await sleep(20);
    const nothing = { texts: [], reasonings: [], lastSeq: 0, steps: 0 };
    this.runs.push({ runId, sessionId: this.#tip, ...nothing, begunAt, endedAt: Date.now() / 1000, cancelled: true });
    this.#note(`its end was ${isTold() ? '' : 'not '}told`);
  }

  /** Its successor would wait until they expire. */
  #forgetLeases(): void {
    const db = new Database(join(this.home, 'state.db'), { timeout: 5000 });
    db.prepare('DELETE FROM session_turn_leases').run();
    db.close();
  }

  async #rewind(): Promise<void> {
    const random = this.#random;
    const rows = this.liveRows();
    const from = rows[Math.floor(random.between(rows.length / 2, rows.length))];
    if (from === undefined) return;
    const ids = await this.#player.rewind(this.#tip, from.id);
    this.#note(`rewound ${ids} of ${this.#tip}`);
    if (random.next() < 0.6) return;
    await sleep(random.between(0, 500));
    await this.#player.restore(this.#tip, ids);
    this.#note('restored them');
  }

  async #compact(): Promise<void> {
    const rows = this.liveRows();
    const carryFrom = rows[Math.floor(this.#random.between(0, rows.length + 1))]?.id;
    const carry = carryFrom === undefined ? {} : { carryFrom };
    const { handoff, carried } = await this.#player.compact(this.#tip, { handoff: 'In short, so far.', ...carry });
    this.#note(`compacted ${this.#tip}: ${JSON.stringify({ handoff, carried })}`);
  }

  async #killAll(over: AbortSignal): Promise<void> {
    const random = this.#killing;
    while (!over.aborted) {
      await sleep(random.between(100, 3000));
      await this.server.kill();
      this.#note('killed the server');
      await sleep(random.next() < 0.7 ? 0 : random.between(0, 1500));
      await this.server.start();
      this.#note('started the server');
    }
  }

  #note(what: string): void {
    this.log.push(`${((performance.now() - this.#begun) / 1000).toFixed(2)} ${what}`);
  }
}

describe.each(SEEDS)('chaos with seed %i', (seed) => {
  it(
    'leaves the reader with what the store holds, and everything told once',
    async () => {
      const chaos = new Chaos(seed);
      const found = await chaos.run(SECONDS);
      if (found.length > 0) console.error(`${chaos.story()}\n\n${found.slice(0, 5).join('\n')}\nThe files are in ${chaos.home}.`);
      else if (process.env.CADUCEUS_CHAOS_SEEDS !== undefined) console.error(chaos.figures);
      expect(found[0] ?? null, `seed ${seed}`).toBeNull();
      rmSync(chaos.home, { recursive: true, force: true });
    },
    SECONDS * 1000 + SLACK_MS,
  );
});
