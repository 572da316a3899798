/**
 * One folder under watch that may come later, go, or be put in the place of another (`spec/live-turns.md` 8.1).
 */
import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { systemCode } from '../live/journal/open-journal.ts';

/** When entries of a folder last came or went, nanoseconds; null while there is no folder. */
export type EntriesTime = bigint | null;

export class WatchedFolder {
  readonly path: string;
  readonly #onEvent: (name: string | null) => void;
  readonly #mayWatch: boolean;
  #open = false;
  #entriesTime: EntriesTime = null;
  #watcher: FSWatcher | null = null;
  #identity: string | null = null;

  /** `onEvent` hears the name of the entry, or null when anything may have changed. */
  constructor(path: string, mayWatch: boolean, onEvent: (name: string | null) => void) {
    this.path = path;
    this.#mayWatch = mayWatch;
    this.#onEvent = onEvent;
  }

  get watching(): boolean {
    return this.#watcher !== null;
  }

  /** As of the last look. */
  get entriesTime(): EntriesTime {
    return this.#entriesTime;
  }

  /** Watches from now on: at once when the folder is there and can be watched, else from the look that finds it so. */
  open(): void {
    this.#open = true;
    this.#arm();
  }

  close(): void {
    this.#open = false;
    this.#drop();
    this.#entriesTime = null;
  }

  /** Whether entries came or went since the look before, whichever folder it is by now. Watches again what was replaced. */
  async look(): Promise<boolean> {
    const seen = await this.#identify();
    if (!this.#open) return false;
    if (seen.identity !== this.#identity && this.#identity !== null) this.#drop();
    this.#identity = seen.identity;
    if (seen.identity !== null) this.#arm();
    const changed = seen.entriesTime !== this.#entriesTime;
    this.#entriesTime = seen.entriesTime;
    return changed;
  }

  #arm(): void {
    if (!this.#open || !this.#mayWatch || this.#watcher !== null) return;
    try {
      const watcher = watch(this.path, { persistent: false }, (_, name) => this.#hear(watcher, name));
      watcher.on('error', () => {
        if (watcher === this.#watcher) this.#drop();
      });
      this.#watcher = watcher;
    } catch (error) {
      // No such folder, or one that can't be watched: looks find what happens.
      if (systemCode(error) === null) throw error;
    }
  }

  #drop(): void {
    this.#watcher?.close();
    this.#watcher = null;
    this.#identity = null;
  }

  #hear(watcher: FSWatcher, name: string | null): void {
    if (watcher !== this.#watcher) return;
    if (name !== basename(this.path)) {
      this.#onEvent(name);
      return;
    }
    // The folder itself went or was moved, and with it the watch.
    this.#drop();
    this.#arm();
    this.#onEvent(null);
  }

  async #identify(): Promise<{ identity: string | null; entriesTime: EntriesTime }> {
    try {
      const seen = await stat(this.path, { bigint: true });
      if (!seen.isDirectory()) return { identity: null, entriesTime: null };
      return { identity: `${seen.dev}:${seen.ino}:${seen.birthtimeNs}`, entriesTime: seen.mtimeNs };
    } catch (error) {
      if (systemCode(error) === null) throw error;
      return { identity: null, entriesTime: null };
    }
  }
}
