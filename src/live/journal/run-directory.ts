/**
 * The runs of one session's journal directory as they come, grow and go (`spec/live-turns.md` 8.1): a watch on the directory, on its
 * parent while there is none, or on the parent's, and a sweep for what no event tells.
 */
import { type FSWatcher, watch } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { journalDirectory, runIdOfFile } from './ids.ts';
import { systemCode } from './open-journal.ts';

const SWEEP_MS = 1000;
/** Where no run is followed there is less to miss, and there are many such directories. */
const QUIET_SWEEPS = 5;
/** When changes come that no event announced, the watch can't be trusted and this sweep takes over. */
const POLL_MS = 100;
const SILENT_CHANGES = 3;

export interface RunChange {
  readonly kind: 'ADDED' | 'CHANGED' | 'REMOVED';
  readonly runId: string;
}

export interface RunDirectoryOptions {
  /** The directory `_run_journal`. */
  readonly root: string;
  readonly sessionId: string;
  readonly onChange: (change: RunChange) => void;
  readonly sweepMs?: number;
  /** False leaves everything to the sweep, as on a file system that tells nothing. */
  readonly watch?: boolean;
}

export class RunDirectory {
  readonly #root: string;
  readonly #path: string | null;
  readonly #onChange: (change: RunChange) => void;
  readonly #sweepMs: number;
  readonly #mayWatch: boolean;
  readonly #runs = new Set<string>();
  /** Runs that each sweep looks at, with what it saw last. */
  readonly #followed = new Map<string, { users: number; signature: string | null }>();
  #directory: FSWatcher | null = null;
  #parent: FSWatcher | null = null;
  #identity: string | null = null;
  #listedAt: string | null = null;
  #listing: Promise<void> | null = null;
  #again = false;
  #timer: NodeJS.Timeout | null = null;
  #lastEventAt = Number.NEGATIVE_INFINITY;
  #silentChanges = 0;
  #closed = false;

  constructor(options: RunDirectoryOptions) {
    this.#root = options.root;
    this.#path = journalDirectory(options.root, options.sessionId);
    this.#onChange = options.onChange;
    this.#sweepMs = options.sweepMs ?? SWEEP_MS;
    this.#mayWatch = options.watch ?? true;
  }

  /** Runs that are there, in no order. */
  get runs(): readonly string[] {
    return [...this.#runs];
  }

  /** WATCH: events and a slow sweep. POLL: nothing can be watched, or events were missing. */
  get mode(): 'WATCH' | 'POLL' {
    const watches = this.#directory !== null || this.#parent !== null;
    return watches && this.#silentChanges < SILENT_CHANGES ? 'WATCH' : 'POLL';
  }

  /** Lists the directory, tells each run as ADDED and goes on until `close`. */
  async start(): Promise<void> {
    if (this.#path === null) return;
    await this.#list();
    this.#scheduleSweep();
  }

  /** Lets the sweep look at the run as well, until the returned function is called. */
  follow(runId: string): () => void {
    const followed = this.#followed.get(runId) ?? { users: 0, signature: null };
    followed.users++;
    this.#followed.set(runId, followed);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      if (--followed.users === 0) this.#followed.delete(runId);
    };
  }

  close(): void {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#dropDirectoryWatch();
    this.#dropParentWatch();
  }

  /** One listing at a time; a call meanwhile leads to exactly one more. */
  #list(): Promise<void> {
    if (this.#listing !== null) {
      this.#again = true;
      return this.#listing;
    }
    this.#listing = this.#listUntilQuiet().finally(() => {
      this.#listing = null;
    });
    return this.#listing;
  }

  async #listUntilQuiet(): Promise<void> {
    do {
      this.#again = false;
      await this.#listOnce();
    } while (this.#again && !this.#closed);
  }

  async #listOnce(): Promise<void> {
    const seen = await this.#identify();
    if (this.#closed) return;
    if (seen?.identity !== this.#identity) this.#dropDirectoryWatch();
    this.#identity = seen?.identity ?? null;
    // Armed before the listing: what is created in between raises an event.
    if (seen === null) this.#armParent();
    else this.#armDirectory();
    const found = seen === null ? [] : await this.#readRuns();
    if (this.#closed) return;
    this.#listedAt = seen?.changed ?? null;
    for (const runId of [...this.#runs]) if (!found.includes(runId)) this.#tell('REMOVED', runId);
    for (const runId of found) if (!this.#runs.has(runId)) this.#tell('ADDED', runId);
  }

  #tell(kind: RunChange['kind'], runId: string): void {
    if (kind === 'ADDED') this.#runs.add(runId);
    if (kind === 'REMOVED') this.#runs.delete(runId);
    if (!this.#closed) this.#onChange({ kind, runId });
  }

  /** Which directory it is and when entries came or went; null when there is none. */
  async #identify(): Promise<{ identity: string; changed: string } | null> {
    try {
      const stat = await lstat(this.#path ?? '', { bigint: true });
      if (!stat.isDirectory()) return null;
      return { identity: `${stat.dev}:${stat.ino}:${stat.birthtimeNs}`, changed: `${stat.ino}:${stat.mtimeNs}` };
    } catch (error) {
      if (systemCode(error) === null) throw error;
      return null;
    }
  }

  async #readRuns(): Promise<string[]> {
    try {
      const entries = await readdir(this.#path ?? '', { withFileTypes: true });
      return entries.flatMap((entry) => (entry.isFile() ? (runIdOfFile(entry.name) ?? []) : []));
    } catch (error) {
      if (systemCode(error) === null) throw error;
      return [];
    }
  }

  #armDirectory(): void {
    if (this.#path === null) return;
    const path = this.#path;
    this.#directory ??= this.#watch(
      path,
      (type, name) => this.#onEvent(type, name, basename(path)),
      () => this.#dropDirectoryWatch(),
    );
    if (this.#directory !== null) this.#dropParentWatch();
  }

  /** The folder in which the session's will be; while there is none, the one in which that will be. */
  #armParent(): void {
    const own = basename(this.#path ?? '');
    const root = basename(this.#root);
    this.#parent ??=
      this.#watch(
        this.#root,
        (_, name) => {
          // The root itself went, and with it the watch.
          if (name === root) this.#dropParentWatch();
          if (name === null || name === own || name === root) this.#onDirectoryEvent();
        },
        () => this.#dropParentWatch(),
      ) ??
      this.#watch(
        dirname(this.#root),
        (_, name) => {
          if (name !== null && name !== root) return;
          this.#dropParentWatch();
          this.#onDirectoryEvent();
        },
        () => this.#dropParentWatch(),
      );
  }

  #watch(path: string, onEvent: (type: string, name: string | null) => void, onError: () => void): FSWatcher | null {
    if (!this.#mayWatch) return null;
    try {
      const watcher = watch(path, { persistent: false }, onEvent);
      watcher.on('error', onError);
      return watcher;
    } catch (error) {
      // Nothing to watch, or nothing that can be watched: the sweep finds what happens.
      if (systemCode(error) === null) throw error;
      return null;
    }
  }

  #onEvent(type: string, name: string | null, own: string): void {
    this.#lastEventAt = performance.now();
    if (name === own) {
      // The directory itself went or was moved, and with it the watch.
      this.#dropDirectoryWatch();
      this.#identity = null;
      void this.#list();
      return;
    }
    if (name === null) {
      for (const runId of this.#runs) this.#tell('CHANGED', runId);
      void this.#list();
      return;
    }
    const runId = runIdOfFile(name);
    if (runId === null) return;
    if (this.#runs.has(runId)) this.#tell('CHANGED', runId);
    if (type === 'rename' || !this.#runs.has(runId)) void this.#list();
  }

  #onDirectoryEvent(): void {
    this.#lastEventAt = performance.now();
    void this.#list();
  }

  #dropDirectoryWatch(): void {
    this.#directory?.close();
    this.#directory = null;
  }

  #dropParentWatch(): void {
    this.#parent?.close();
    this.#parent = null;
  }

  #scheduleSweep(): void {
    if (this.#closed) return;
    const calm = this.#followed.size === 0 ? this.#sweepMs * QUIET_SWEEPS : this.#sweepMs;
    const wait = this.mode === 'WATCH' ? calm : Math.min(POLL_MS, this.#sweepMs);
    this.#timer = setTimeout(() => {
      void this.#sweep().finally(() => this.#scheduleSweep());
    }, wait);
    this.#timer.unref();
  }

  async #sweep(): Promise<void> {
    const announced = performance.now() - this.#lastEventAt < this.#sweepMs * 2;
    const seen = await this.#identify();
    let changed = (seen?.changed ?? null) !== this.#listedAt || (seen?.identity ?? null) !== this.#identity;
    if (changed || (this.#directory === null && this.#parent === null)) await this.#list();
    for (const [runId, followed] of this.#followed) {
      const signature = await this.#signature(runId);
      if (signature === followed.signature) continue;
      changed ||= followed.signature !== null;
      followed.signature = signature;
      this.#tell('CHANGED', runId);
    }
    if (changed && !announced) this.#silentChanges++;
  }

  async #signature(runId: string): Promise<string> {
    try {
      const { ino, size, mtimeNs, ctimeNs } = await lstat(join(this.#path ?? '', `${runId}.jsonl`), { bigint: true });
      return `${ino}:${size}:${mtimeNs}:${ctimeNs}`;
    } catch (error) {
      if (systemCode(error) === null) throw error;
      return '';
    }
  }
}
