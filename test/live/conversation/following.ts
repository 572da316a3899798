/**
 * A conversation that is followed while another process plays the owners of its files.
 *
 *   const test = await FollowedTurns.begin();
 *   await test.ui.createSession('s');
 *   const reader = await test.follow('s');
 *   await test.ui.play('s', { seed: 1 });
 *   await reader.until('TurnEnded');
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll } from 'vitest';
import type { LiveEvent, LiveEventKind, LiveEventOf } from '../../../src/live/conversation/events.ts';
import type { LiveFrame } from '../../../src/live/conversation/frame-group.ts';
import { DEFAULT_OPTIONS, type LiveOptions } from '../../../src/live/conversation/options.ts';
import type { ConversationSnapshot } from '../../../src/live/conversation/snapshot.ts';
import { LiveTurns, type LiveTurnsOptions } from '../../../src/live/live-turns.ts';
import { StoreWatches } from '../../../src/live/store-watches.ts';
import type { StateDbStore } from '../../../src/state-db/store.ts';
import { openStore } from '../../support/open-store.ts';
import type { SchemaVersion } from '../../support/stores.ts';
import { startWebUi, type WebUi } from '../../support/web-ui-turn.ts';
import { startWriter, type Writer } from '../../support/writer.ts';
import type { Statement } from '../rows/operations.ts';

/** A busy machine may take this long. */
const PATIENCE_MS = 12_000;

const closing: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closing.splice(0)) await close();
});

export class Reader {
  readonly frames: LiveFrame[] = [];
  readonly #source: AsyncIterableIterator<LiveFrame>;
  readonly #abort: AbortController;
  readonly #reading: Promise<void>;
  #error: unknown = null;

  constructor(source: AsyncIterableIterator<LiveFrame>, abort: AbortController) {
    this.#source = source;
    this.#abort = abort;
    this.#reading = this.#read();
  }

  get events(): LiveEvent[] {
    return this.frames.flatMap(({ events }) => events);
  }

  get kinds(): string[] {
    return this.events.map(({ kind }) => kind);
  }

  get cursor(): string {
    return this.frames.at(-1)?.cursor ?? '';
  }

  get content(): LiveEvent[] {
    return this.events.filter((event) => event.class === 'CONTENT');
  }

  /** Kinds of the content that came. */
  get story(): string[] {
    return this.content.map(({ kind }) => kind);
  }

  /** The first snapshot. */
  get snapshot(): ConversationSnapshot {
    const [first] = this.of('LiveSnapshot');
    if (first === undefined) throw new Error('there was no snapshot');
    return first.snapshot;
  }

  /** Ids of the rows that were told as new, in their order. */
  get rowIds(): number[] {
    return this.of('MessagesAppended').flatMap(({ ids }) => ids.map(Number));
  }

  of<K extends LiveEventKind>(kind: K): LiveEventOf<K>[] {
    return this.events.filter((event) => event.kind === kind) as unknown as LiveEventOf<K>[];
  }

  /** Waits until there are so many events of a kind. */
  until(kind: LiveEventKind, count = 1): Promise<void> {
    return this.when(`${count} ${kind}`, () => this.of(kind).length >= count);
  }

  async when(what: string, condition: () => boolean): Promise<void> {
    const end = performance.now() + PATIENCE_MS;
    while (!condition()) {
      if (this.#error !== null) throw this.#error;
      if (performance.now() > end) throw new Error(`waited in vain for ${what}; there were: ${this.kinds.join(' ')}`);
      await sleep(5);
    }
  }

  /** Resolves with the error that ended the stream. */
  async failure(): Promise<unknown> {
    await this.#reading;
    return this.#error;
  }

  async stop(): Promise<string> {
    const { cursor } = this;
    this.#abort.abort();
    await this.#reading;
    return cursor;
  }

  async #read(): Promise<void> {
    try {
      for await (const frame of this.#source) this.frames.push(frame);
    } catch (error) {
      this.#error = error;
    }
  }
}

export interface FollowedOptions extends Pick<LiveTurnsOptions, 'lingerMs' | 'tickMs'> {
  readonly schema?: SchemaVersion;
  readonly profile?: string;
}

export class FollowedTurns {
  readonly home: string;
  readonly errors: unknown[] = [];
  ui: WebUi;
  store: StateDbStore;
  turns: LiveTurns;
  /** Added to the clock of the server, in seconds. */
  ahead = 0;
  /** How often the server looked at what time brings. */
  #ticks = 0;
  #watches: StoreWatches;
  #writer: Promise<Writer> | null = null;
  readonly #options: FollowedOptions;

  private constructor(home: string, ui: WebUi, options: FollowedOptions) {
    this.home = home;
    this.ui = ui;
    this.#options = options;
    [this.store, this.#watches, this.turns] = this.#start();
  }

  static async begin(options: FollowedOptions = {}): Promise<FollowedTurns> {
    const home = mkdtempSync(join(tmpdir(), 'caduceus-turns-'));
    const { schema = 31, profile = 'default' } = options;
    const ui = await startWebUi({ home, schema, profile });
    const test = new FollowedTurns(home, ui, options);
    closing.push(async () => {
      test.#end();
      await (await test.#writer)?.close();
      await test.ui.close();
      rmSync(home, { recursive: true, force: true });
    });
    return test;
  }

  /** As after a restart of the server. */
  restart(): void {
    this.#end();
    [this.store, this.#watches, this.turns] = this.#start();
  }

  /** The Web UI crashes and is started again: what goes on then is another process. */
  async restartUi(): Promise<void> {
    await this.ui.kill();
    this.ui = await startWebUi({ home: this.home, profile: this.#options.profile ?? 'default' });
  }

  async follow(sessionId: string, after: string | null = null, options: Partial<LiveOptions> = {}): Promise<Reader> {
    const abort = new AbortController();
    const source = await this.turns.follow(this.store, sessionId, after, { ...DEFAULT_OPTIONS, ...options }, abort.signal);
    return new Reader(source, abort);
  }

  /** One commit of another process. */
  async commit(...statements: Statement[]): Promise<void> {
    this.#writer ??= startWriter(this.ui.statePath);
    await (await this.#writer).transaction(statements);
  }

  /** One statement of another process, outside of a transaction. */
  async exec(sql: string): Promise<unknown> {
    this.#writer ??= startWriter(this.ui.statePath);
    return (await this.#writer).exec(sql);
  }

  /** Waits until the server has looked at what time brings, so many times from now on. */
  async looks(times = 3): Promise<void> {
    const wanted = this.#ticks + times;
    while (this.#ticks < wanted) await sleep(5);
    await this.told();
  }

  /** Waits until everything is read that is there now. */
  async told(sessionId = 's'): Promise<void> {
    await this.turns.snapshot(this.store, sessionId);
  }

  #start(): [StateDbStore, StoreWatches, LiveTurns] {
    const now = () => Date.now() / 1000 + this.ahead;
    const onError = (error: unknown) => this.errors.push(error);
    const watches = new StoreWatches(onError);
    const { profile = 'default', lingerMs, tickMs } = this.#options;
    const store = openStore(this.ui.statePath, { now, profile });
    const commitStamp = store.commitStamp.bind(store);
    store.commitStamp = () => {
      this.#ticks++;
      return commitStamp();
    };
    const options: LiveTurnsOptions = {
      watches,
      sessionsDir: this.ui.sessions,
      now,
      onError,
      ...(lingerMs === undefined ? {} : { lingerMs }),
      ...(tickMs === undefined ? {} : { tickMs }),
    };
    return [store, watches, new LiveTurns(options)];
  }

  #end(): void {
    this.turns.close();
    this.#watches.close();
    this.store.close();
  }
}
