/**
 * Everything that the Web UI's state folder and the Claude Code transcripts say of sessions, as of now: for lists, never with messages
 * (`spec/webui-sidecars.md` 15, `spec/webui-listing.md` 18). Files are read again only when they are others; nothing is written.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { ClaudeCodeRow } from '../claude-code/read-transcript.ts';
import { ClaudeCodeCatalogue } from '../claude-code/transcript-catalogue.ts';
import { systemCode } from '../live/journal/open-journal.ts';
import { FileReading } from './file-reading.ts';
import { type IndexReading, indexPath } from './index-file/index-file.ts';
import { type IndexHealth, indexHealth } from './index-file/rebuild-index.ts';
import { type ProjectsReading, readProjects } from './projects/projects-file.ts';
import { type ListSettings, parseListSettings, readListSettings } from './settings-file.ts';
import { SidecarCatalogue, type SidecarSnapshot } from './sidecar/sidecar-catalogue.ts';
import { inSidecarThread } from './sidecar/sidecar-threads.ts';
import { SidecarUnreadable } from './sidecar-file.ts';
import type { SidecarWatch } from './sidecar-watch.ts';
import { readTombstones, tombstonesPath } from './tombstones.ts';

/** One moment of the folder; the same object as long as nothing in it changed. */
export interface WebUiFacts {
  readonly sidecars: SidecarSnapshot;
  readonly claude: readonly ClaudeCodeRow[];
  readonly deleted: ReadonlySet<string>;
  readonly zeroMessages: ReadonlySet<string>;
  readonly settings: ListSettings;
  readonly projects: ProjectsReading;
}

export interface WebUiHomeOptions {
  /** The Web UI's folder, which holds `sessions`. */
  readonly stateDir: string;
  /** The folder of Claude Code's projects; null: none. */
  readonly claudeRoot: string | null;
  readonly watch: SidecarWatch;
  readonly onError: (error: unknown) => void;
}

/** Within this time of the last look nothing is looked at again: fields of one request share a look. */
const FRESH_MS = 20;
/** A look may use one part in so many of the time. */
const SHARE = 5;
/** The folders of Claude Code are walked at most this often; events of theirs come sooner. */
const CLAUDE_FRESH_MS = 1000;

export class WebUiHome {
  readonly stateDir: string;
  readonly sessionsDir: string;
  readonly sidecars: SidecarCatalogue;
  readonly claude: ClaudeCodeCatalogue;
  readonly #onError: (error: unknown) => void;
  readonly #listeners = new Set<() => void>();
  readonly #unfollow: (() => void)[] = [];
  readonly #small = {
    deleted: new FileReading<ReadonlySet<string>>(),
    zeroMessages: new FileReading<ReadonlySet<string>>(),
    settings: new FileReading<ListSettings>(),
    projects: new FileReading<ProjectsReading>(),
  };
  readonly #index = new FileReading<IndexReading>();
  #facts: WebUiFacts | null = null;
  #look: { readonly facts: Promise<WebUiFacts | null>; readonly changes: number } | null = null;
  #changes = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #cost = 0;
  #claude: { readonly at: number; readonly rows: readonly ClaudeCodeRow[] } | null = null;

  constructor({ stateDir, claudeRoot, watch, onError }: WebUiHomeOptions) {
    this.stateDir = stateDir;
    this.sessionsDir = join(stateDir, 'sessions');
    this.sidecars = new SidecarCatalogue({ sessionsDir: this.sessionsDir, watch, onError });
    this.claude = new ClaudeCodeCatalogue(claudeRoot);
    this.#onError = onError;
  }

  /** What there is now; null where no Web UI keeps sessions. Where the folder can't be listed, what was seen last. */
  async facts(): Promise<WebUiFacts | null> {
    const running = this.#look;
    if (running !== null) {
      if (running.changes === this.#changes) return running.facts;
      // It began before a change of ours and may have passed the file.
      await running.facts;
      return this.facts();
    }
    if (performance.now() - this.#lookedAt < Math.max(FRESH_MS, this.#cost * SHARE)) return this.#facts;
    const facts = this.#refresh().finally(() => {
      this.#look = null;
    });
    this.#look = { facts, changes: this.#changes };
    return facts;
  }

  /** What there is to say of the Web UI's index, beside the files as of now; null where no Web UI keeps sessions (8.6). */
  async indexHealth(): Promise<IndexHealth | null> {
    const facts = await this.facts();
    if (facts === null) return null;
    return indexHealth(await this.index(), facts.sidecars.rows);
  }

  /** What the Web UI's index says of sessions: counts, times and sources. It may be stale; lists never need it. */
  index(): Promise<IndexReading> {
    const { sessionsDir } = this;
    // An index of many sessions takes seconds to parse.
    return this.#index.read(indexPath(sessionsDir), () => inSidecarThread({ task: 'INDEX', bytes: new Uint8Array(), sessionsDir }));
  }

  /** How often this server changed files: who waits between looks doesn't wait for what a client has just been told. */
  get changes(): number {
    return this.#changes;
  }

  /** Files were changed by this server: the next answer has it. */
  changed(): void {
    this.#changes += 1;
    this.invalidate();
  }

  /** Files may have changed: the next answer looks at them, however recent the last look was. */
  invalidate(): void {
    this.#lookedAt = Number.NEGATIVE_INFINITY;
    for (const listener of [...this.#listeners]) listener();
  }

  /** Calls when something may have changed, until the returned function is called. Watches the folders while somebody listens. */
  onChange(listener: () => void): () => void {
    const told = () => listener();
    this.#listeners.add(told);
    if (this.#unfollow.length === 0) {
      const tell = () => this.invalidate();
      const tellClaude = () => {
        this.#claude = null;
        this.invalidate();
      };
      this.#unfollow.push(this.sidecars.onChange(tell), this.claude.onChange(tellClaude));
    }
    return () => {
      if (!this.#listeners.delete(told) || this.#listeners.size > 0) return;
      for (const unfollow of this.#unfollow.splice(0)) unfollow();
    };
  }

  close(): void {
    this.#listeners.clear();
    for (const unfollow of this.#unfollow.splice(0)) unfollow();
    this.claude.close();
  }

  async #refresh(): Promise<WebUiFacts | null> {
    const startedAt = performance.now();
    const changes = this.#changes;
    const facts = isFolder(this.sessionsDir) ? await this.#read() : null;
    this.#cost = performance.now() - startedAt;
    this.#lookedAt = changes === this.#changes ? performance.now() : Number.NEGATIVE_INFINITY;
    const before = this.#facts;
    const isSame = before !== null && facts !== null && keysOf(facts).every((key) => facts[key] === before[key]);
    if (!isSame) this.#facts = facts;
    return this.#facts;
  }

  async #read(): Promise<WebUiFacts> {
    const { deleted, zeroMessages, settings, projects } = this.#small;
    const { sessionsDir, stateDir } = this;
    const [sidecars, claude, ...small] = await Promise.all([
      this.#sidecars(),
      this.#claudeRows(),
      deleted.read(tombstonesPath(sessionsDir, 'DELETED'), async () => (await readTombstones(sessionsDir, 'DELETED')).ids),
      zeroMessages.read(tombstonesPath(sessionsDir, 'ORPHAN'), async () => (await readTombstones(sessionsDir, 'ORPHAN')).ids),
      settings.read(join(stateDir, 'settings.json'), () => this.#settings()),
      projects.read(join(stateDir, 'projects.json'), () => readProjects(stateDir)),
    ]);
    return { sidecars, claude, deleted: small[0], zeroMessages: small[1], settings: small[2], projects: small[3] };
  }

  async #claudeRows(): Promise<readonly ClaudeCodeRow[]> {
    if (this.#claude === null || performance.now() - this.#claude.at > CLAUDE_FRESH_MS)
      this.#claude = { rows: await this.claude.rows(), at: performance.now() };
    return this.#claude.rows;
  }

  async #sidecars(): Promise<SidecarSnapshot> {
    try {
      return await this.sidecars.snapshot();
    } catch (error) {
      if (!(error instanceof SidecarUnreadable)) throw error;
      this.#onError(error);
      return this.#facts?.sidecars ?? { rows: new Map(), ignoredFiles: [], duplicates: [] };
    }
  }

  async #settings(): Promise<ListSettings> {
    try {
      return await readListSettings(this.stateDir);
    } catch (error) {
      if (systemCode(error) === null) throw error;
      this.#onError(error);
      return this.#facts?.settings ?? parseListSettings(null);
    }
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return false;
  }
}

function keysOf(facts: WebUiFacts): (keyof WebUiFacts)[] {
  return Object.keys(facts) as (keyof WebUiFacts)[];
}
