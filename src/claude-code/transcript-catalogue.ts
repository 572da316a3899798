/**
 * All Claude Code transcripts of a machine (`spec/webui-listing.md` 8, 18.1): each file is parsed once for each of its versions, and
 * changes are told. Nothing is ever written.
 */
import { basename } from 'node:path';
import { type CacheStats, RecentlyUsed } from '../recently-used.ts';
import { WatchedFolder } from '../web-ui/watched-folder.ts';
import { mapBounded } from './map-bounded.ts';
import { MOST_FILES, type ProjectScan, scanProjects, type TranscriptFile } from './project-folders.ts';
import { CLAUDE_CODE_PREFIX, type ClaudeCodeRow, type ClaudeCodeTranscript, claudeCodeId, readTranscript } from './read-transcript.ts';
import type { ClaudeCodeMessage } from './transcript-lines.ts';

export interface CatalogueOptions {
  /** Between two looks at all files while somebody listens. */
  readonly sweepMs?: number;
  /** After an event, before the files are looked at. */
  readonly settleMs?: number;
  readonly mostFiles?: number;
}

const SWEEP_MS = 5000;
const SETTLE_MS = 100;
const PARALLEL = 4;
const MOST_WATCHED = 64;
/** Rows are small and kept for every listed file and as many again. */
const MOST_ROWS = 1000;
/** Characters of messages that are kept for the sessions read last. */
const MOST_KEPT = 16 * 1024 * 1024;
const MOST_TRANSCRIPTS = 1000;

interface Known {
  readonly signature: string;
  /** Null for a file that gives no row. */
  readonly row: ClaudeCodeRow | null;
}

interface Kept {
  readonly signature: string;
  readonly messages: readonly ClaudeCodeMessage[];
  readonly size: number;
}

export class ClaudeCodeCatalogue {
  readonly #root: string | null;
  readonly #sweepMs: number;
  readonly #settleMs: number;
  readonly #mostFiles: number;
  readonly #known = new RecentlyUsed<Known>({ most: MOST_ROWS });
  readonly #kept = new RecentlyUsed<Kept>({ most: MOST_TRANSCRIPTS, mostBytes: MOST_KEPT, sizeOf: ({ size }) => size });
  readonly #listeners = new Set<() => void>();
  readonly #watched = new Map<string, WatchedFolder>();
  #rows: readonly ClaudeCodeRow[] = [];
  #files = new Map<string, TranscriptFile>();
  #last: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;
  #sweep: NodeJS.Timeout | null = null;
  #settle: NodeJS.Timeout | null = null;
  #parsed = 0;

  /** `root` is the folder of the projects; null lists nothing. */
  constructor(root: string | null, options: CatalogueOptions = {}) {
    this.#root = root;
    this.#sweepMs = options.sweepMs ?? SWEEP_MS;
    this.#settleMs = options.settleMs ?? SETTLE_MS;
    this.#mostFiles = options.mostFiles ?? MOST_FILES;
  }

  /** Files parsed so far. */
  get parsed(): number {
    return this.#parsed;
  }

  get caches(): { readonly rows: CacheStats; readonly transcripts: CacheStats } {
    return { rows: this.#known.stats, transcripts: this.#kept.stats };
  }

  /** All transcripts as of now, newest first. Files that did not change are only looked at. The same array while nothing changed. */
  async rows(): Promise<readonly ClaudeCodeRow[]> {
    await this.#refresh();
    return this.#rows;
  }

  /** The transcript of one session as of now; null for an id that is none of ours, which does not touch the disk, and for one that is gone. */
  async transcript(id: string): Promise<ClaudeCodeTranscript | null> {
    if (!id.startsWith(CLAUDE_CODE_PREFIX)) return null;
    await this.#refresh();
    const file = this.#files.get(id);
    const row = this.#rows.find((known) => known.id === id);
    if (file === undefined || row === undefined) return null;
    const kept = this.#kept.take(id, ({ signature }) => signature === file.signature);
    return kept === null ? this.#read(file) : { row, messages: kept.messages };
  }

  /** Tells that rows came, went or changed, until the returned function is called. */
  onChange(listener: () => void): () => void {
    const told = () => listener();
    this.#listeners.add(told);
    if (this.#sweep === null) {
      this.#sweep = setInterval(() => this.#lookSoon(0), this.#sweepMs).unref();
      this.#lookSoon(0);
    }
    return () => {
      this.#listeners.delete(told);
      if (this.#listeners.size === 0) this.close();
    };
  }

  /** Ends watching; what is listed can still be asked for. */
  close(): void {
    if (this.#sweep !== null) clearInterval(this.#sweep);
    if (this.#settle !== null) clearTimeout(this.#settle);
    this.#sweep = null;
    this.#settle = null;
    for (const folder of this.#watched.values()) folder.close();
    this.#watched.clear();
  }

  /** One at a time: who comes while one is under way waits for the next, which sees what has happened until then. */
  #refresh(): Promise<void> {
    if (this.#next !== null) return this.#next;
    const run = this.#last.then(() => {
      this.#next = null;
      return this.#look();
    });
    this.#next = run;
    this.#last = run.catch(() => {});
    return run;
  }

  async #look(): Promise<void> {
    if (this.#root === null) return;
    const scan = await scanProjects(this.#root, this.#mostFiles);
    const rows = (await mapBounded(scan.files, PARALLEL, (file) => this.#rowOf(file))).filter((row) => row !== null);
    rows.sort((a, b) => b.lastMessageAt - a.lastMessageAt);
    this.#files = new Map(scan.files.map((file) => [claudeCodeId(file.path), file]));
    this.#watch(scan);
    if (rows.length === this.#rows.length && rows.every((row, index) => row === this.#rows[index])) return;
    this.#rows = rows;
    for (const listener of [...this.#listeners]) listener();
  }

  async #rowOf(file: TranscriptFile): Promise<ClaudeCodeRow | null> {
    const known = this.#known.take(file.path, ({ signature }) => signature === file.signature);
    if (known !== null) return known.row;
    return (await this.#read(file))?.row ?? null;
  }

  async #read(file: TranscriptFile): Promise<ClaudeCodeTranscript | null> {
    this.#parsed++;
    const transcript = await readTranscript(file);
    // The file may be longer by now than when it was looked at: then the next look reads it again.
    this.#known.keep(file.path, { signature: file.signature, row: transcript?.row ?? null });
    if (transcript === null) return null;
    const size = transcript.messages.reduce((sum, message) => sum + message.content.length, 0);
    this.#kept.keep(transcript.row.id, { signature: file.signature, messages: transcript.messages, size });
    return transcript;
  }

  #watch({ folders, files }: ProjectScan): void {
    if (this.#sweep === null || this.#root === null) return;
    const busy = new Set(files.map((file) => file.project));
    const wanted = folders.filter((folder) => busy.has(basename(folder))).slice(0, MOST_WATCHED);
    const paths = new Set([this.#root, ...wanted]);
    for (const [path, folder] of this.#watched) {
      if (paths.has(path)) continue;
      folder.close();
      this.#watched.delete(path);
    }
    for (const path of paths) {
      if (this.#watched.has(path)) continue;
      const folder = new WatchedFolder(path, true, () => this.#lookSoon(this.#settleMs));
      this.#watched.set(path, folder);
      folder.open();
    }
  }

  /** Events that come meanwhile are seen by the same look. */
  #lookSoon(waitMs: number): void {
    if (this.#settle !== null) return;
    this.#settle = setTimeout(() => {
      this.#settle = null;
      // What can't be looked at now is looked at again with the next sweep, and who asks for the rows hears of it.
      this.#refresh().catch(() => {});
    }, waitMs).unref();
  }
}
