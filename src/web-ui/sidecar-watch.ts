/**
 * Notices that the Web UI saved a session or wrote to its turn journal (`spec/live-turns.md` 5, 8.1, 16; `spec/webui-sidecars.md` 1.4):
 * one watch on each of the two folders for any number of followers, and a sweep for what no event tells. Costs nothing while nobody follows.
 */
import { type BigIntStats, lstatSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../live/journal/open-journal.ts';
import { isSidecarId, sessionIdOfSidecar, sidecarName } from './sidecar-file.ts';
import { type EntriesTime, WatchedFolder } from './watched-folder.ts';

const SWEEP_MS = 1000;
/** When a folder can't be watched, or changes come that no event announced, this sweep takes over. */
const POLL_MS = 100;
const SILENT_CHANGES = 3;
/** While events come, files are looked at one by one only in every so many sweeps, or when entries of the folder came or went. */
const FILES_EVERY = 5;
const TURN_JOURNAL = '_turn_journal';
/** What can't occur in a session id parts it from the process that wrote the file. */
const SHARD = /^([0-9A-Za-z_-]+)(?:~\d+)?\.jsonl$/;

export interface SidecarWatchOptions {
  /** The Web UI's folder `sessions`. */
  readonly sessionsDir: string;
  readonly sweepMs?: number;
  /** False leaves everything to the sweep, as on a file system that tells nothing. */
  readonly watch?: boolean;
}

interface Followed {
  readonly listeners: Set<() => void>;
  /** Files of the session in both folders, with what was seen of them last. */
  readonly seen: Map<string, string>;
  /** Its shards are among them. */
  listed: boolean;
}

export class SidecarWatch {
  readonly #sessions: WatchedFolder;
  readonly #turns: WatchedFolder;
  readonly #sweepMs: number;
  readonly #mayWatch: boolean;
  readonly #followed = new Map<string, Followed>();
  readonly #all = new Set<(sessionId: string) => void>();
  /** Sessions whose sidecars were there at the last listing, with what was seen of those that were looked at; while somebody follows all. */
  #known: ReadonlyMap<string, string | null> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #started = 0;
  #lastEventAt = Number.NEGATIVE_INFINITY;
  #silentChanges = 0;
  #sweeps = 0;

  constructor(options: SidecarWatchOptions) {
    this.#mayWatch = options.watch ?? true;
    this.#sweepMs = options.sweepMs ?? SWEEP_MS;
    this.#sessions = new WatchedFolder(options.sessionsDir, this.#mayWatch, (name) => this.#onSidecar(name));
    this.#turns = new WatchedFolder(join(options.sessionsDir, TURN_JOURNAL), this.#mayWatch, (name) => this.#onShard(name));
  }

  /** WATCH: events and a slow sweep. POLL: the folder isn't there or can't be watched, or events were missing. */
  get mode(): 'WATCH' | 'POLL' {
    return this.#sessions.watching && this.#silentChanges < SILENT_CHANGES ? 'WATCH' : 'POLL';
  }

  /** Watches that are open now. */
  get watches(): number {
    return Number(this.#sessions.watching) + Number(this.#turns.watching);
  }

  /**
   * Calls when the session's sidecar, or a file of its turn journal, was changed, came or went, until the returned function is called.
   * A change may be told twice. What is no session id is never told.
   */
  follow(sessionId: string, onChange: () => void): () => void {
    if (!isSidecarId(sessionId)) return () => {};
    this.#start();
    const followed = this.#followed.get(sessionId) ?? this.#remember(sessionId);
    const listener = () => onChange();
    followed.listeners.add(listener);
    return () => {
      if (!followed.listeners.delete(listener)) return;
      if (followed.listeners.size === 0) this.#followed.delete(sessionId);
      this.#stopUnlessFollowed();
    };
  }

  /** The same for every session. Without events only sidecars are noticed, which the owner saves at each step of a turn. */
  followAll(onChange: (sessionId: string) => void): () => void {
    const listener = (sessionId: string) => onChange(sessionId);
    this.#all.add(listener);
    this.#start();
    return () => {
      if (!this.#all.delete(listener)) return;
      if (this.#all.size === 0) this.#known = null;
      this.#stopUnlessFollowed();
    };
  }

  #start(): void {
    // Before anything is looked at: what changes in between raises an event.
    this.#sessions.open();
    this.#turns.open();
    if (this.#timer !== null) return;
    this.#started++;
    this.#schedule(0);
  }

  #stopUnlessFollowed(): void {
    if (this.#followed.size > 0 || this.#all.size > 0) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#silentChanges = 0;
    this.#sessions.close();
    this.#turns.close();
  }

  #onSidecar(name: string | null): void {
    this.#lastEventAt = performance.now();
    if (name === null) this.#tellEverybody();
    else if (name === TURN_JOURNAL) {
      this.#turns.open();
      // What was written before the watch was there.
      void this.#lookAtTurns();
    } else this.#tell(sessionIdOfSidecar(name), join(this.#sessions.path, name));
  }

  #onShard(name: string | null): void {
    this.#lastEventAt = performance.now();
    if (name === null) this.#tellEverybody();
    else this.#tell(SHARD.exec(name)?.[1] ?? null, join(this.#turns.path, name));
  }

  #tell(sessionId: string | null, path: string | null): void {
    if (sessionId === null) return;
    const followed = this.#followed.get(sessionId);
    if (followed !== undefined) {
      if (path !== null) void this.#refresh(followed, path);
      for (const listener of [...followed.listeners]) listener();
    }
    for (const listener of [...this.#all]) listener(sessionId);
  }

  /** The sweep needn't tell what an event has told. */
  async #refresh(followed: Followed, path: string): Promise<void> {
    followed.seen.set(path, await signatureOf(path));
  }

  #tellEverybody(): void {
    for (const sessionId of this.#known?.keys() ?? []) if (!this.#followed.has(sessionId)) this.#tell(sessionId, null);
    for (const sessionId of [...this.#followed.keys()]) this.#tell(sessionId, null);
  }

  #schedule(waitMs: number): void {
    const run = this.#started;
    this.#timer = setTimeout(() => {
      void this.#sweep().finally(() => {
        // Everybody may have gone meanwhile, and others come: then that start has a timer of its own.
        if (this.#timer !== null && run === this.#started) this.#schedule(this.#pause());
      });
    }, waitMs);
    this.#timer.unref();
  }

  /** A folder that isn't there yet is no reason to hurry. */
  #pause(): number {
    const slow = this.mode === 'WATCH' || (this.#mayWatch && this.#sessions.entriesTime === null);
    return slow ? this.#sweepMs : Math.min(POLL_MS, this.#sweepMs);
  }

  async #sweep(): Promise<void> {
    const announced = performance.now() - this.#lastEventAt < this.#sweepMs * 2;
    const before = this.#sessions.entriesTime;
    const moved = await this.#sessions.look();
    let silent = await this.#lookAtTurns();
    if (this.#all.size > 0 && (this.#known === null || moved)) silent = (await this.#list(announced ? null : before)) || silent;
    const looksAtFiles = this.mode === 'POLL' || moved || this.#sweeps++ % FILES_EVERY === 0;
    for (const [sessionId, followed] of looksAtFiles ? this.#followed : []) {
      for (const [path, signature] of followed.seen) {
        const now = await signatureOf(path);
        // An event may have told it while the file was looked at.
        if (now === signature || followed.seen.get(path) !== signature) continue;
        followed.seen.set(path, now);
        this.#tell(sessionId, null);
        silent = true;
      }
    }
    if (silent && !announced && this.#mayWatch) this.#silentChanges++;
  }

  /** New shards of followed sessions; whether there were any that had not been told. */
  async #lookAtTurns(): Promise<boolean> {
    const moved = await this.#turns.look();
    const unlisted = new Set([...this.#followed.values()].filter(({ listed }) => !listed));
    if (!moved && unlisted.size === 0) return false;
    let found = false;
    for (const name of await namesIn(this.#turns.path)) {
      const sessionId = SHARD.exec(name)?.[1] ?? '';
      const followed = this.#followed.get(sessionId);
      const path = join(this.#turns.path, name);
      if (followed === undefined || followed.seen.has(path)) continue;
      followed.seen.set(path, await signatureOf(path));
      if (unlisted.has(followed)) continue;
      this.#tell(sessionId, null);
      found = true;
    }
    for (const followed of unlisted) followed.listed = true;
    return found;
  }

  /** What came, what went and, of a folder that changed silently `since`, what was saved; whether there was anything. */
  async #list(since: EntriesTime): Promise<boolean> {
    const before = this.#known;
    const names = await namesIn(this.#sessions.path);
    const found = new Map<string, string | null>();
    const changed: string[] = [];
    for (const sessionId of names.flatMap((name) => sessionIdOfSidecar(name) ?? [])) {
      const known = before?.get(sessionId);
      const looks = since !== null || (before === null && !this.#mayWatch);
      const now = looks ? await statOf(join(this.#sessions.path, sidecarName(sessionId))) : undefined;
      found.set(sessionId, now === undefined ? (known ?? null) : signature(now));
      const saved = typeof known === 'string' ? signature(now) !== known : now !== undefined && now.ctimeNs >= (since ?? 0n);
      if (known === undefined || (looks && saved)) changed.push(sessionId);
    }
    if (this.#all.size === 0) return false;
    this.#known = found;
    if (before === null) return false;
    for (const sessionId of before.keys()) if (!found.has(sessionId)) changed.push(sessionId);
    for (const sessionId of changed) this.#tell(sessionId, join(this.#sessions.path, sidecarName(sessionId)));
    return changed.length > 0;
  }

  /** At once: what changes after `follow` has returned is told. */
  #remember(sessionId: string): Followed {
    const path = join(this.#sessions.path, sidecarName(sessionId));
    const seen = new Map([[path, signature(statNow(path))]]);
    const followed = { listeners: new Set<() => void>(), seen, listed: false };
    this.#followed.set(sessionId, followed);
    return followed;
  }
}

function signature(stat: BigIntStats | undefined): string {
  return stat === undefined ? '' : `${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}`;
}

async function signatureOf(path: string): Promise<string> {
  return signature(await statOf(path));
}

function statNow(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return undefined;
  }
}

async function statOf(path: string): Promise<BigIntStats | undefined> {
  try {
    return await lstat(path, { bigint: true });
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return undefined;
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return [];
  }
}
