/**
 * What every reader of one store needs: access that stays right, the sessions as a graph, and jobs for what can be slow.
 */
import { StoreUnreadable } from '../errors.ts';
import type { JobLimits, JobPool } from '../jobs/pool.ts';
import type { StoredSession } from '../session-store.ts';
import { BesideAlone, STORE_UNREADABLE } from './beside-alone.ts';
import { familyCatalogue } from './beyond-catalogue.ts';
import type { Catalogue, PlacedSession } from './catalogue.ts';
import type { DataWarning } from './decode.ts';
import type { EntryOverlay } from './entry-overlay.ts';
import { unreadable } from './health.ts';
import type { ResultOf, StoreJob } from './jobs.ts';
import type { SessionEntry } from './session-record.ts';
import { type OpenStore, StoreAccess } from './store-access.ts';

export interface StateDbOptions {
  readonly profile: string;
  readonly path: string;
  readonly strictObserver: boolean;
  readonly largestCatalogue: number;
  /** What lies beside the store; null: nothing. */
  readonly overlay?: EntryOverlay | null;
  /** The same for the time that the store can't be read. */
  readonly overlayAlone?: EntryOverlay | null;
  /** Milliseconds that a search, an aggregate or a long transcript may take. */
  readonly slowReadLimitMs: number;
  readonly largestTranscript: number;
  readonly jobs: JobPool;
  /** The wall clock in epoch seconds. */
  readonly now: () => number;
}

export class StoreReader {
  readonly profile: string;
  readonly path: string;
  protected readonly options: StateDbOptions;
  protected readonly access: StoreAccess;
  readonly #alone: BesideAlone | null;
  /** What is to be said of each session of a catalogue that was made without the store. */
  readonly #withoutStore = new WeakMap<Catalogue, DataWarning | null>();
  readonly #sessions = new WeakMap<PlacedSession, StoredSession>();

  constructor(options: StateDbOptions) {
    this.profile = options.profile;
    this.path = options.path;
    this.options = options;
    this.access = new StoreAccess(options.path, options);
    this.#alone = options.overlayAlone == null ? null : new BesideAlone(options.overlayAlone);
  }

  /** Reads from the catalogue, or from one made of the families concerned where the store is too large for it. */
  protected graph<T>(ids: readonly string[], work: (graph: Catalogue, store: OpenStore) => T): Promise<T> {
    return this.access.read((store) => work(store.catalogue ?? familyCatalogue(store.connection, ids), store));
  }

  /**
   * As `graph`, of what entries alone tell: where the store can't be read, also of sessions that lie beside it. Throws `StoreUnreadable` when one
   * of them doesn't, since the store may have it.
   */
  protected async placed<T>(ids: readonly string[], work: (graph: Catalogue) => T): Promise<T> {
    try {
      return await this.graph(ids, work);
    } catch (error) {
      const files = await this.alone(error);
      const isKnown = files !== null && (files.isWhole || ids.every((id) => files.catalogue.get(id) !== undefined));
      if (files === null || !isKnown) throw error;
      return work(files.catalogue);
    }
  }

  protected closeAlone(): void {
    this.#alone?.close();
  }

  /** What lies beside a store that this error says can't be read; `isWhole`: there is no store, and never was. Null: nothing, or another error. */
  protected async alone(error: unknown): Promise<{ readonly catalogue: Catalogue; readonly isWhole: boolean } | null> {
    if (!(error instanceof StoreUnreadable) || this.#alone === null) return null;
    const catalogue = await this.#alone.catalogue(error.health);
    if (catalogue === null) return null;
    // A store that was there and is gone may come back: until then nobody knows what it has.
    const isWhole = error.health === 'NOT_FOUND' && !this.access.hasBeenOpen;
    this.#withoutStore.set(catalogue, isWhole ? null : STORE_UNREADABLE);
    return { catalogue, isWhole };
  }

  protected collect<T>(ids: readonly string[], graph: Catalogue, make: (entry: SessionEntry) => T): Map<string, T> {
    const found = new Map<string, T>();
    for (const id of ids) {
      const entry = graph.get(id);
      if (entry !== undefined) found.set(id, make(entry));
    }
    return found;
  }

  /** `patience`: how many times the usual limit it may take. */
  protected async job<J extends StoreJob>(job: J, what: string, patience = 1): Promise<ResultOf<J>> {
    if (this.access.isSuspended) throw unreadable('BUSY');
    const limits: JobLimits = { what, limitMs: this.options.slowReadLimitMs * patience, setting: '--slow-read-limit' };
    return this.options.jobs.run<ResultOf<J>>(
      { path: this.options.path, strictObserver: this.options.strictObserver, epoch: this.access.epoch, job },
      limits,
    );
  }

  /** A session with its place in the graph; the same object until that or the session changes. */
  protected stored(entry: SessionEntry, graph: Catalogue): StoredSession {
    const placed = graph.placed(entry);
    if (this.#withoutStore.has(graph)) return this.#storedAlone(placed, this.#withoutStore.get(graph) ?? null);
    const known = this.#sessions.get(placed);
    if (known !== undefined) return known;
    const stored = { ...placed, profile: this.profile };
    this.#sessions.set(placed, stored);
    return stored;
  }

  /** What is wrong with the store can be another thing the next time. */
  #storedAlone(placed: PlacedSession, warning: DataWarning | null): StoredSession {
    return { ...placed, profile: this.profile, warnings: warning === null ? placed.warnings : [...placed.warnings, warning] };
  }
}
