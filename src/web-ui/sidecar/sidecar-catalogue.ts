/**
 * All session files of a folder, each read again only when it is another (`spec/webui-sidecars.md` 5, 8.8, 15). The index has no part in
 * it: files alone tell what there is.
 */
import { lstatSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { systemCode } from '../../live/journal/open-journal.ts';
import { type CacheStats, RecentlyUsed } from '../../recently-used.ts';
import { isExhausted } from '../compression-recovery.ts';
import { isSidecarId, SidecarUnreadable, sidecarName } from '../sidecar-file.ts';
import type { SidecarWatch } from '../sidecar-watch.ts';
import { decodeSidecar } from './decode-sidecar.ts';
import { Limiter } from './limiter.ts';
import { hiddenSidecars, listSidecars } from './list-sidecars.ts';
import { type MetadataOptions, readMetadata } from './read-metadata.ts';
import { readMetadataNow } from './read-metadata-now.ts';
import { isSameSignature, signatureOf } from './read-sidecar.ts';
import type { SidecarRow, SidecarSignature } from './sidecar-row.ts';

export interface SidecarCatalogueOptions extends MetadataOptions {
  readonly sessionsDir: string;
  /** Needed for `onChange` alone. */
  readonly watch?: SidecarWatch;
  /** What goes wrong while a change is looked into. */
  readonly onError?: (error: unknown) => void;
}

/** All sessions at one moment; the same object as long as no file changed. */
export interface SidecarSnapshot {
  /** By id. Rows have no compression summary and details, no recovery payload that says nothing, and no routing history: `get` has them. */
  readonly rows: ReadonlyMap<string, SidecarRow>;
  /** Names that look like session files and are none. */
  readonly ignoredFiles: readonly string[];
  /** Ids of files that another file of the same session stands for. */
  readonly duplicates: readonly string[];
}

/** Files at a time. */
const MOST_READS = 16;
/** Of the thread's time before others get it. */
const SLICE_MS = 8;
/** Files that are looked at before others get the thread. */
const STRIDE = 250;
/** The owner replaces files, which the folder's time tells. What is written in place is found by looks at this distance. */
const LOOK_EVERY_MS = 1000;
/** A folder's time is no finer than this on some file systems. */
const CLOCK_GRAIN_MS = 50n;
/** Changes that come this close together are told together. */
const DEBOUNCE_MS = 50;
/** Rows with everything, the latest that were asked for. */
const MOST_WHOLE_ROWS = 256;

export class SidecarCatalogue {
  readonly #options: SidecarCatalogueOptions;
  readonly #reads = new Limiter(MOST_READS);
  readonly #wholeRows = new RecentlyUsed<SidecarRow>({ most: MOST_WHOLE_ROWS });
  readonly #listeners = new Set<(ids: ReadonlySet<string>) => void>();
  /** Everything as of the last look, duplicates too. */
  #rows = new Map<string, SidecarRow>();
  #snapshot: SidecarSnapshot = { rows: new Map(), ignoredFiles: [], duplicates: [] };
  /** Files that were looked at and not read, and those that were read. */
  #kept = 0;
  #parsed = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #folderTime: bigint | null = null;
  #running: Promise<SidecarSnapshot> | null = null;
  #next: Promise<SidecarSnapshot> | null = null;
  #unfollow: (() => void) | null = null;
  #changed = new Set<string>();
  #timer: NodeJS.Timeout | null = null;

  constructor(options: SidecarCatalogueOptions) {
    this.#options = options;
  }

  /** All sessions as of now. Throws `SidecarUnreadable` when the folder can't be listed. */
  snapshot(): Promise<SidecarSnapshot> {
    if (this.#running === null) return this.#start();
    // The look under way may have passed what changed just now.
    this.#next ??= this.#running.then(
      () => this.#start(),
      () => this.#start(),
    );
    return this.#next;
  }

  /** The row with everything; null when there is no such file or the id is none. Throws `SidecarUnreadable`. */
  async get(id: string): Promise<SidecarRow | null> {
    if (!isSidecarId(id)) return null;
    const signature = this.#look(id);
    const known = signature === null ? null : this.#wholeRows.take(id, (row) => isSameSignature(row.signature, signature));
    if (known !== null) return known;
    const row = signature === null ? null : await this.#read(id);
    if (row === null) this.#wholeRows.drop(id);
    else this.#wholeRows.keep(id, row);
    return row;
  }

  /** Rows of lists, which are as many as there are files, and those with everything. */
  get caches(): { readonly rows: CacheStats; readonly wholeRows: CacheStats } {
    const { size: entries } = this.#rows;
    const rows = { entries, bytes: null, cap: null, capBytes: null, hits: this.#kept, misses: this.#parsed, evictions: 0 };
    return { rows, wholeRows: this.#wholeRows.stats };
  }

  /** Calls with the ids whose files came, went or were saved, until the returned function is called. Needs a watch. */
  onChange(listener: (ids: ReadonlySet<string>) => void): () => void {
    const mine = (ids: ReadonlySet<string>) => listener(ids);
    this.#listeners.add(mine);
    this.#unfollow ??= this.#options.watch?.followAll((id) => this.#hear(id)) ?? null;
    return () => {
      if (!this.#listeners.delete(mine) || this.#listeners.size > 0) return;
      this.#unfollow?.();
      this.#unfollow = null;
      if (this.#timer !== null) clearTimeout(this.#timer);
      this.#timer = null;
      this.#changed = new Set();
    };
  }

  #hear(id: string): void {
    this.#changed.add(id);
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      void this.#tell();
    }, DEBOUNCE_MS);
  }

  async #tell(): Promise<void> {
    const heard = this.#changed;
    this.#changed = new Set();
    const before = this.#rows;
    try {
      await this.snapshot();
    } catch (error) {
      this.#options.onError?.(error);
    }
    const changed = new Set([...heard].filter((id) => before.get(id)?.signature !== this.#rows.get(id)?.signature));
    if (changed.size === 0) return;
    for (const listener of [...this.#listeners]) listener(changed);
  }

  #start(): Promise<SidecarSnapshot> {
    const running = this.#refresh().finally(() => {
      if (this.#running !== running) return;
      this.#running = null;
    });
    this.#running = running;
    this.#next = null;
    return running;
  }

  async #refresh(): Promise<SidecarSnapshot> {
    const startedAt = performance.now();
    const folderTime = await this.#readFolderTime();
    const isQuiet = folderTime !== null && folderTime === this.#folderTime;
    if (isQuiet && startedAt - this.#lookedAt < LOOK_EVERY_MS) return this.#snapshot;
    const { ids, ignoredFiles } = await listSidecars(this.#options.sessionsDir);
    const stale: string[] = [];
    for (const [index, id] of ids.entries()) {
      if (index % STRIDE === STRIDE - 1) await yieldToOthers();
      const signature = this.#look(id);
      const known = this.#rows.get(id);
      if (known === undefined || signature === null || !isSameSignature(known.signature, signature)) stale.push(id);
    }
    this.#kept += ids.length - stale.length;
    this.#parsed += stale.length;
    const read = new Map(await this.#readAll(stale));
    const rows = new Map(
      ids.flatMap((id) => {
        const row = read.get(id);
        if (row !== undefined) return row === null ? [] : [[id, light(row)] as const];
        const known = this.#rows.get(id);
        return known === undefined ? [] : [[id, known] as const];
      }),
    );
    this.#lookedAt = startedAt;
    this.#folderTime = isSettled(folderTime) ? folderTime : null;
    const isSame = stale.length === 0 && rows.size === this.#rows.size && sameNames(ignoredFiles, this.#snapshot.ignoredFiles);
    if (isSame) return this.#snapshot;
    this.#rows = rows;
    const duplicates = hiddenSidecars(rows);
    const hidden = new Set(duplicates);
    const shown = hidden.size === 0 ? rows : new Map([...rows].filter(([id]) => !hidden.has(id)));
    this.#snapshot = { rows: shown, ignoredFiles, duplicates };
    return this.#snapshot;
  }

  /** Most files are small and told by their beginnings: read at once, they take a tenth of the time that promises take. */
  async #readAll(ids: readonly string[]): Promise<(readonly [string, SidecarRow | null])[]> {
    const read: (readonly [string, SidecarRow | null])[] = [];
    const others: Promise<number>[] = [];
    let since = performance.now();
    for (const id of ids) {
      const row = readMetadataNow(this.#options.sessionsDir, id, this.#options);
      if (row === null) others.push(this.#reads.run(async () => read.push([id, await this.#read(id)])));
      else read.push([id, row]);
      if (performance.now() - since < SLICE_MS) continue;
      await yieldToOthers();
      since = performance.now();
    }
    await Promise.all(others);
    return read;
  }

  async #read(id: string): Promise<SidecarRow | null> {
    try {
      return await readMetadata(this.#options.sessionsDir, id, this.#options);
    } catch (error) {
      if (!(error instanceof SidecarUnreadable)) throw error;
      const signature = this.#look(id);
      return signature === null ? null : decodeSidecar({ id, signature, health: 'UNREADABLE', fields: null, isWhole: false, layout: null });
    }
  }

  #look(id: string): SidecarSignature | null {
    try {
      const seen = lstatSync(join(this.#options.sessionsDir, sidecarName(id)), { bigint: true, throwIfNoEntry: false });
      return seen?.isFile() === true ? signatureOf({ ...pick(seen), size: Number(seen.size) }) : null;
    } catch (error) {
      if (systemCode(error) === null) throw error;
      return null;
    }
  }

  async #readFolderTime(): Promise<bigint | null> {
    try {
      return (await stat(this.#options.sessionsDir, { bigint: true })).mtimeNs;
    } catch (error) {
      if (systemCode(error) === null) throw error;
      return null;
    }
  }
}

function pick({ mtimeNs, ctimeNs, ino }: { mtimeNs: bigint; ctimeNs: bigint; ino: bigint }) {
  return { mtimeNs, ctimeNs, ino };
}

function sameNames(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name, index) => name === b[index]);
}

/** Another change in the same tick of the clock would not show. */
function isSettled(folderTime: bigint | null): boolean {
  return folderTime !== null && BigInt(Date.now()) - folderTime / 1_000_000n > CLOCK_GRAIN_MS;
}

/** Summaries of 70 KB exist; with them thousands of rows would fill the memory. */
function light(row: SidecarRow): SidecarRow {
  return {
    ...row,
    compression: { ...row.compression, summary: null, details: {} },
    compressionRecovery: isExhausted(row.compressionRecovery) ? row.compressionRecovery : { ...row.compressionRecovery, payload: {} },
    gatewayRoutingHistory: [],
  };
}
