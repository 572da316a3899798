/**
 * Access to one store that stays right while the file lives its own life: opened on demand, opened anew when it was replaced, its
 * catalogue kept up to date before each answer (`spec/state-db.md` 2.2, 2.3; `field-cases` F48, F55, F61).
 */
import { type StoreHealth, StoreUnreadable } from '../errors.ts';
import { Catalogue, type CatalogueChange } from './catalogue.ts';
import { highestRowId } from './catalogue-sql.ts';
import { CatalogueSync } from './catalogue-sync.ts';
import { patiently, patientPass, StoreConnection } from './connection.ts';
import type { EntryOverlay } from './entry-overlay.ts';
import { describeHealth, type FileIdentity, fileIdentity, healthOf, isSameFile, unreadable } from './health.ts';
import { userMessageCounts } from './user-message-counts.ts';

export interface OpenStore {
  readonly connection: StoreConnection;
  /** Null when the store has more sessions than are kept in memory: then lists and lineage come from SQL. */
  readonly catalogue: Catalogue | null;
  /** Names the file that is open; cursors of another one are refused. */
  readonly generation: string;
}

interface Opened extends OpenStore {
  readonly sync: CatalogueSync | null;
  dataVersion: number;
}

/** What listeners hear: sessions that changed, or that everything may be different since another file was opened. */
export type StoreEvent =
  | { readonly kind: 'CHANGED'; readonly changes: readonly CatalogueChange[]; readonly catalogue: Catalogue }
  | { readonly kind: 'REOPENED' }
  | { readonly kind: 'HEALTH' };

export interface StoreAccessOptions {
  readonly strictObserver: boolean;
  /** Sessions that are kept in memory; above, SQL answers. */
  readonly largestCatalogue: number;
  /** What lies beside the store; null: nothing. Lists that come from SQL don't know it. */
  readonly overlay?: EntryOverlay | null;
}

/** The main thread never waits for a lock in SQLite; it asks again later instead. */
const LOCK_WAIT_MS = 0;
const IDENTITY_INTERVAL_MS = 20;
const FILE_CHECK_INTERVAL_MS = 1000;
/** Up to here a change is followed by a full comparison at once; above, at intervals that keep its cost low. */
const INLINE_SESSIONS = 2000;
const INLINE_ROWS = 20_000;
const SCAN_INTERVAL_MS = 250;
const SWEEP_INTERVAL_MS = 2000;
/** A comparison may use one part in so many of the time. */
const SHARE = 20;
/** How long an open that failed is not tried again. */
const BACKOFF_MS = 200;

export class StoreAccess {
  readonly path: string;
  readonly #options: StoreAccessOptions;
  #epoch = 0;
  readonly #listeners = new Set<(event: StoreEvent) => void>();
  #opened: Opened | null = null;
  #opening: Promise<Opened> | null = null;
  #pass: Promise<void> | null = null;
  #failure: { error: StoreUnreadable; at: number } | null = null;
  #health: StoreHealth | null = null;
  #identityCheckedAt = 0;
  #fileCheckedAt = 0;
  #fileSeen: FileIdentity | null = null;
  #scan = { at: 0, cost: 0 };
  #sweep = { at: 0, cost: 0 };
  #maintenance: NodeJS.Timeout | null = null;
  #wasOpen = false;
  #closed = false;
  /** Pieces of work that want the store for themselves. */
  #suspensions = 0;
  #unfollow: (() => void) | null = null;

  constructor(path: string, options: StoreAccessOptions) {
    this.path = path;
    this.#options = options;
  }

  /** Grows whenever the store is opened anew: connections of other processes that are older than that are out of date. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Runs a bounded, synchronous read on the main connection, with everything committed before the call. Throws `StoreUnreadable`. */
  async read<T>(work: (store: OpenStore) => T): Promise<T> {
    for (let tries = 0; ; tries++) {
      const store = await this.fresh();
      try {
        const value = await patiently(() => work(store));
        if (this.#health === 'BUSY' || this.#health === 'IO_ERROR') this.#noteHealth('OK');
        return value;
      } catch (error) {
        if (!(error instanceof StoreUnreadable)) throw error;
        // Another file was opened while this one was read: that one has the answer.
        if (error.health === 'REPLACED' && tries === 0) continue;
        this.#noteHealth(error.health);
        throw error;
      }
    }
  }

  /** The open store with its catalogue up to date. Throws `StoreUnreadable`. */
  async fresh(): Promise<OpenStore> {
    const opened = await this.#current();
    if (this.#pass !== null) await this.#pass;
    else if (await this.#hasMoved(opened)) await this.#startPass(opened);
    const current = this.#opened ?? opened;
    if (current.catalogue !== null) await this.#settleBeside(current.catalogue, current.connection);
    return current;
  }

  /** The health of the store by a real read (F53), with a sentence for people unless it is OK. */
  async health(): Promise<{ health: StoreHealth; problem: string | null }> {
    try {
      await this.read(({ connection }) => connection.get('SELECT 1 FROM messages LIMIT 1'));
      const health = this.#health ?? 'OK';
      return { health, problem: describeHealth(health) };
    } catch (error) {
      if (error instanceof StoreUnreadable) return { health: error.health, problem: error.message };
      throw error;
    }
  }

  /** Everything that a change detector does at a tick; failures are noted as health, not thrown. */
  async check(): Promise<void> {
    try {
      await this.fresh();
      if (this.#health !== null && this.#health !== 'OK' && this.#health !== 'CORRUPT' && this.#health !== 'WAL_GENERATION_LOST')
        this.#noteHealth('OK');
    } catch (error) {
      if (!(error instanceof StoreUnreadable)) throw error;
      this.#noteHealth(error.health);
    }
  }

  /** Compares everything with the store now; afterwards the catalogue is exact. For tests and audits. */
  async settle(): Promise<void> {
    await this.fresh();
    const opened = this.#opened;
    if (opened?.sync == null) return;
    await this.#emitChanges(opened, opened.sync.delta());
    await this.#emitChanges(opened, opened.sync.scan());
    await this.#emitChanges(opened, opened.sync.sweep());
  }

  onEvent(listener: (event: StoreEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls when what lies beside the store may be another, which `check` then tells; watches it until the returned function is called. */
  watchBeside(listener: () => void): () => void {
    return this.#options.overlay?.onChange(listener) ?? (() => {});
  }

  /** Closes the store for work that wants it for itself: until the function that this gives is called, reads are told that it is busy. */
  async suspend(): Promise<() => void> {
    this.#suspensions++;
    // One that is just being opened has to be open before it can be closed; one that can't be opened is closed already.
    await this.#opening?.catch(() => {});
    this.#cancelMaintenance();
    this.#opened?.connection.close();
    this.#opened = null;
    this.#noteHealth('BUSY');
    let isOver = false;
    return () => {
      if (!isOver) this.#suspensions--;
      isOver = true;
    };
  }

  /** Since this server runs. */
  get hasBeenOpen(): boolean {
    return this.#wasOpen;
  }

  get isSuspended(): boolean {
    return this.#suspensions > 0;
  }

  close(): void {
    this.#closed = true;
    this.#unfollow?.();
    this.#unfollow = null;
    this.#cancelMaintenance();
    this.#opened?.connection.close();
    this.#opened = null;
    this.#listeners.clear();
  }

  async #current(): Promise<Opened> {
    const opened = this.#opened;
    if (opened === null) return this.#open();
    const now = performance.now();
    if (now - this.#identityCheckedAt < IDENTITY_INTERVAL_MS) return opened;
    this.#identityCheckedAt = now;
    const file = fileIdentity(this.path);
    if (!isSameFile(opened.connection.identity, file)) return this.#reopen('REPLACED');
    const wal = opened.connection.walIdentity;
    if (wal !== null && !isSameFile(wal, fileIdentity(opened.connection.walPath))) return this.#followLostWal(opened);
    if (file !== null && this.#fileMoved(file, now) && this.#isOtherContent(opened)) return this.#reopen('REPLACED');
    return opened;
  }

  #open(): Promise<Opened> {
    if (this.isSuspended) return Promise.reject(unreadable('BUSY'));
    if (this.#failure !== null && performance.now() - this.#failure.at < BACKOFF_MS) return Promise.reject(this.#failure.error);
    this.#opening ??= this.#build()
      .catch((error: unknown) => {
        if (error instanceof StoreUnreadable) {
          this.#failure = { error, at: performance.now() };
          this.#noteHealth(error.health);
        }
        throw error;
      })
      .finally(() => {
        this.#opening = null;
      });
    return this.#opening;
  }

  async #build(): Promise<Opened> {
    const connection = await patiently(() =>
      StoreConnection.open(this.path, { lockWaitMs: LOCK_WAIT_MS, strictObserver: this.#options.strictObserver }),
    );
    try {
      const dataVersion = connection.dataVersion();
      const sessions = await patiently(() => Number(connection.get('SELECT COUNT(*) AS n FROM sessions')?.n ?? 0));
      const catalogue = sessions > this.#options.largestCatalogue ? null : new Catalogue(this.#options.overlay ?? null);
      const sync = catalogue === null ? null : new CatalogueSync(connection, catalogue);
      if (sync !== null) await patientPass(() => sync.build());
      if (catalogue !== null) await this.#settleBeside(catalogue, connection);
      catalogue?.recompose(this.#options.overlay?.ids() ?? []);
      const opened = { connection, catalogue, sync, generation: generationOf(connection), dataVersion };
      if (this.isSuspended) throw unreadable('BUSY');
      if (this.#closed) throw new Error('the store was closed');
      this.#failure = null;
      this.#opened = opened;
      this.#epoch++;
      // One that was due for the store before must not stand in the way of this one's.
      this.#cancelMaintenance();
      this.#fileSeen = fileIdentity(this.path);
      this.#noteHealth(sync?.rowsDamaged === true ? 'CORRUPT' : 'OK');
      // Also after a time without a readable store: everything may be different from what listeners were told.
      if (this.#wasOpen) this.#emit({ kind: 'REOPENED' });
      this.#wasOpen = true;
      return opened;
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  async #reopen(because: 'REPLACED'): Promise<Opened> {
    this.#opened?.connection.close();
    this.#opened = null;
    this.#noteHealth(because);
    return this.#open();
  }

  /** The -wal file went or was made anew under us: serve what we hold until a new connection sees at least as much (2.3). */
  async #followLostWal(opened: Opened): Promise<Opened> {
    if (this.#seesAsMuch(opened)) return this.#reopen('REPLACED');
    this.#noteHealth('WAL_GENERATION_LOST');
    return opened;
  }

  /** Closed again before anything is reopened: connections of one process share what they know of a -wal file, a removed one too. */
  #seesAsMuch(opened: Opened): boolean {
    let fresh: StoreConnection | null = null;
    try {
      fresh = StoreConnection.open(this.path, { lockWaitMs: LOCK_WAIT_MS, strictObserver: this.#options.strictObserver });
      return highestRow(fresh) >= highestRow(opened.connection);
    } catch (error) {
      if (stateIn(error) === null) throw error;
      return false;
    } finally {
      fresh?.close();
    }
  }

  #fileMoved(file: FileIdentity, now: number): boolean {
    if (now - this.#fileCheckedAt < FILE_CHECK_INTERVAL_MS) return false;
    this.#fileCheckedAt = now;
    const moved = this.#fileSeen === null || file.size !== this.#fileSeen.size || file.modifiedNs !== this.#fileSeen.modifiedNs;
    this.#fileSeen = file;
    return moved;
  }

  /** A file that was written over in place still answers old pages on the old connection: a new one tells (F55 b). */
  #isOtherContent(opened: Opened): boolean {
    let fresh: StoreConnection | null = null;
    try {
      fresh = StoreConnection.open(this.path, { lockWaitMs: LOCK_WAIT_MS });
      return generationOf(fresh) !== opened.generation || highestRow(fresh) < highestRow(opened.connection);
    } catch (error) {
      const state = stateIn(error);
      if (state === null) throw error;
      return state !== 'BUSY';
    } finally {
      fresh?.close();
    }
  }

  async #hasMoved(opened: Opened): Promise<boolean> {
    const version = await patiently(() => opened.connection.dataVersion());
    return version !== opened.dataVersion;
  }

  #startPass(opened: Opened): Promise<void> {
    this.#pass = this.#runPass(opened)
      .catch((error: unknown) => {
        // A pass over a store that was replaced meanwhile matters to nobody; the new one was read in full.
        if (this.#opened === opened) throw error;
      })
      .finally(() => {
        this.#pass = null;
      });
    return this.#pass;
  }

  async #runPass(opened: Opened): Promise<void> {
    if (await patiently(() => opened.connection.schemaMoved())) {
      await this.#reopen('REPLACED');
      return;
    }
    // Read before the pass: a commit during it moves the version again, and the next call runs another pass.
    const version = opened.connection.dataVersion();
    const { sync, catalogue } = opened;
    if (sync !== null && catalogue !== null) {
      await this.#emitChanges(
        opened,
        patientPass(() => sync.delta()),
      );
      if (sync.rowsDamaged) this.#noteHealth('CORRUPT');
      if (catalogue.storedSize <= INLINE_SESSIONS)
        await this.#emitChanges(
          opened,
          patientPass(() => sync.scan()),
        );
      if (catalogue.storedSize <= INLINE_SESSIONS && catalogue.storedRows <= INLINE_ROWS)
        await this.#emitChanges(
          opened,
          patientPass(() => sync.sweep()),
        );
      else this.#scheduleMaintenance(opened);
    }
    opened.dataVersion = version;
  }

  /** Full comparisons for large stores, each at most one part in twenty of the time. */
  #scheduleMaintenance(opened: Opened): void {
    if (this.#maintenance !== null || this.#closed) return;
    const now = performance.now();
    const scanAt = this.#scan.at + Math.max(SCAN_INTERVAL_MS, this.#scan.cost * SHARE);
    this.#maintenance = setTimeout(
      () => {
        this.#maintenance = null;
        void this.#maintain(opened).catch((error: unknown) => {
          // Closed or replaced meanwhile: nobody asks for this pass any more.
          if (this.#opened !== opened) return;
          if (error instanceof StoreUnreadable) this.#noteHealth(error.health);
          else throw error;
        });
      },
      Math.max(0, scanAt - now),
    );
    this.#maintenance.unref();
  }

  #cancelMaintenance(): void {
    if (this.#maintenance !== null) clearTimeout(this.#maintenance);
    this.#maintenance = null;
  }

  async #maintain(opened: Opened): Promise<void> {
    const { sync } = opened;
    if (sync === null || this.#opened !== opened) return;
    this.#scan = await this.#timed(() =>
      this.#emitChanges(
        opened,
        patientPass(() => sync.scan()),
      ),
    );
    const sweepAt = this.#sweep.at + Math.max(SWEEP_INTERVAL_MS, this.#sweep.cost * SHARE);
    if (performance.now() >= sweepAt)
      this.#sweep = await this.#timed(() =>
        this.#emitChanges(
          opened,
          patientPass(() => sync.sweep()),
        ),
      );
    else if (this.#maintenance === null && !this.#closed) {
      this.#maintenance = setTimeout(() => {
        this.#maintenance = null;
        void this.#maintain(opened).catch(() => this.check());
      }, sweepAt - performance.now());
      this.#maintenance.unref();
    }
  }

  async #timed(work: () => Promise<void>): Promise<{ at: number; cost: number }> {
    const before = performance.now();
    await work();
    return { at: performance.now(), cost: performance.now() - before };
  }

  async #emitChanges(opened: Opened, pending: Promise<CatalogueChange[]>): Promise<void> {
    const changes = await pending;
    const { catalogue } = opened;
    if (changes.length === 0 || catalogue === null || this.#opened !== opened) return;
    this.#emit({ kind: 'CHANGED', changes, catalogue });
  }

  /** What lies beside the store is laid over its entries, and what changed of it over the entries that are there. */
  async #settleBeside(catalogue: Catalogue, connection: StoreConnection): Promise<void> {
    const overlay = this.#options.overlay ?? null;
    if (overlay === null) return;
    this.#unfollow ??= overlay.onComposition((ids) => this.#recompose(ids));
    await overlay.settle(catalogue.storedEntries, (ids) => {
      try {
        return userMessageCounts(connection, ids);
      } catch (error) {
        // Closed or locked meanwhile, or damaged: lists do without.
        if (stateIn(error) === null && connection.isOpen) throw error;
        return null;
      }
    });
  }

  #recompose(ids: readonly string[]): void {
    const catalogue = this.#opened?.catalogue ?? null;
    if (catalogue === null) return;
    const changes = catalogue.recompose(ids);
    if (changes.length > 0) this.#emit({ kind: 'CHANGED', changes, catalogue });
  }

  #emit(event: StoreEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  #noteHealth(health: StoreHealth): void {
    if (this.#health === health) return;
    // The first look at a store that is well changes nothing that anyone was told.
    const isNews = this.#health !== null || health !== 'OK';
    this.#health = health;
    if (isNews) this.#emit({ kind: 'HEALTH' });
  }
}

function generationOf(connection: StoreConnection): string {
  if (connection.shape.hasTable('state_meta')) {
    const row = connection.get("SELECT value FROM state_meta WHERE key = 'db_file_generation'");
    if (typeof row?.value === 'string' && row.value !== '') return row.value.slice(0, 12);
  }
  return `${connection.identity.device}-${connection.identity.inode}`;
}

function highestRow(connection: StoreConnection): bigint {
  return highestRowId(connection).rowId;
}

/** What an error says about the store, raised by SQLite itself or already named; null when it says nothing. */
function stateIn(error: unknown): StoreHealth | null {
  return error instanceof StoreUnreadable ? error.health : healthOf(error);
}
