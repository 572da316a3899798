/**
 * Notices commits of other processes (`spec/live-turns.md` 7.2): a watch on the store's folder, followed up because an event can come
 * before the commit is readable, and a safety poll for file systems that tell nothing. Costs nothing while nobody listens.
 */
import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';

/** After an event of the folder the store is looked at at once and again after these times; a commit is readable only behind its last event. */
const FOLLOW_UP_MS = [1, 3, 10, 40] as const;
const SAFETY_POLL_MS = 250;
/** When changes come that no event announced, the watch can't be trusted and this poll takes over. */
const POLLING_MS = 50;
const SILENT_CHANGES = 3;

export interface WatchedStore {
  readonly path: string;
  /** Looks for changes and reports whether there were any. */
  readonly check: () => Promise<boolean>;
  /** Watches what lies beside the store, until the returned function is called. */
  readonly watchBeside?: (listener: () => void) => () => void;
  /** Hears of a look that failed; the watch goes on. */
  readonly onError: (error: unknown) => void;
}

export class StoreWatcher {
  readonly #store: WatchedStore;
  #users = 0;
  #folder: FSWatcher | null = null;
  #followUp: NodeJS.Timeout | null = null;
  #poll: NodeJS.Timeout | null = null;
  #lastEventAt = 0;
  #silentChanges = 0;
  #unwatchBeside: () => void = () => {};

  constructor(store: WatchedStore) {
    this.#store = store;
  }

  /** Watches until the returned function is called; any number of users share one watch. */
  use(): () => void {
    if (this.#users++ === 0) this.#start();
    let released = false;
    return () => {
      if (released) return;
      released = true;
      if (--this.#users === 0) this.#stop();
    };
  }

  get users(): number {
    return this.#users;
  }

  /** WATCH: events and a slow poll. POLL: the folder can't be watched, or its events were missing. */
  get mode(): 'WATCH' | 'POLL' {
    return this.#folder !== null && this.#silentChanges < SILENT_CHANGES ? 'WATCH' : 'POLL';
  }

  #start(): void {
    const file = basename(this.#store.path);
    try {
      this.#folder = watch(dirname(this.#store.path), { persistent: false }, (_, name) => {
        if (name === null || name.startsWith(file)) this.#onEvent();
      });
      this.#folder.on('error', () => this.#dropWatch());
    } catch {
      // No such folder, or a file system that can't be watched: the poll finds what happens.
      this.#folder = null;
    }
    this.#unwatchBeside = this.#store.watchBeside?.(() => this.#onEvent()) ?? (() => {});
    this.#schedulePoll();
  }

  #stop(): void {
    this.#unwatchBeside();
    this.#dropWatch();
    if (this.#poll !== null) clearTimeout(this.#poll);
    this.#poll = null;
    if (this.#followUp !== null) clearTimeout(this.#followUp);
    this.#followUp = null;
    this.#silentChanges = 0;
  }

  #dropWatch(): void {
    this.#folder?.close();
    this.#folder = null;
  }

  #onEvent(): void {
    this.#lastEventAt = performance.now();
    void this.#look();
    this.#scheduleFollowUp(0);
  }

  /** Instead of the one that waits: what it was for is looked at sooner now. */
  #scheduleFollowUp(step: number): void {
    if (this.#followUp !== null) clearTimeout(this.#followUp);
    this.#followUp = null;
    const ms = FOLLOW_UP_MS[step];
    if (ms === undefined) return;
    this.#followUp = setTimeout(
      () => {
        this.#scheduleFollowUp(step + 1);
        void this.#look();
      },
      ms - (FOLLOW_UP_MS[step - 1] ?? 0),
    );
  }

  #schedulePoll(): void {
    this.#poll = setTimeout(() => void this.#onPoll(), this.mode === 'WATCH' ? SAFETY_POLL_MS : POLLING_MS);
    this.#poll.unref();
  }

  async #onPoll(): Promise<void> {
    const changed = await this.#look();
    const announced = performance.now() - this.#lastEventAt < SAFETY_POLL_MS * 2;
    if (changed && !announced) this.#silentChanges++;
    if (this.#users > 0) this.#schedulePoll();
  }

  async #look(): Promise<boolean> {
    try {
      return await this.#store.check();
    } catch (error) {
      this.#store.onError(error);
      return false;
    }
  }
}
