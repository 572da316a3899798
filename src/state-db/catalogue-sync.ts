/**
 * Fills the catalogue from SQL and keeps it exact while other programs write (`spec/live-turns.md` 7.3).
 *
 * Three passes, each in bounded steps between which the event loop runs:
 * - `delta`: rows with ids above the last one seen, and the sessions they belong to. Costs what was written.
 * - `scan`: a fingerprint of every session row; finds titles, flags, ends, deletions. Costs the number of sessions.
 * - `sweep`: counts and clocks of every session from the covering index; finds rewinds, deletions and rewrites of message rows.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Catalogue, CatalogueChange } from './catalogue.ts';
import { fingerprintSql, highestRowId, newRowsSql, selectSessions, statsSql, YOUNGEST_SESSIONS } from './catalogue-sql.ts';
import { idList } from './connection.ts';
import { inWindow, type SqlRow } from './decode.ts';
import { healthOf } from './health.ts';
import { decodeSession, NO_ROWS, type RowStats, type SessionEntry, type SessionRecord, toEntry } from './session-record.ts';
import type { StoreReading } from './store-reading.ts';

/** Session rows that one step of a scan reads. */
const SCAN_STEP = 1000;
/** Session rows that one step of the first build decodes. */
const BUILD_STEP = 500;
/** New message rows that one step of a delta reads. */
const DELTA_STEP = 500;
/** Message rows whose index entries one step of a sweep counts. */
const SWEEP_STEP_ROWS = 20_000;

type States = [string, SessionEntry | undefined][];

export class CatalogueSync {
  readonly #connection: StoreReading;
  readonly #catalogue: Catalogue;
  readonly #fingerprints = new Map<string, string>();
  /** Per session, the highest row id that its counts include; rows up to there are not counted again. */
  readonly #countedTo = new Map<string, bigint>();
  #lastRowId = 0n;
  #rowsDamaged = false;

  constructor(connection: StoreReading, catalogue: Catalogue) {
    this.#connection = connection;
    this.#catalogue = catalogue;
  }

  /** The highest message row id that a pass has seen. */
  get lastRowId(): bigint {
    return this.#lastRowId;
  }

  /** Whether the newest rows of messages can't be read: then only comparisons with the index find what was written. */
  get rowsDamaged(): boolean {
    return this.#rowsDamaged;
  }

  /** Reads every session once. Throws what SQLite throws when sessions can't be read; unreadable rows only lose their counts. */
  async build(): Promise<void> {
    const highest = highestRowId(this.#connection);
    this.#lastRowId = highest.rowId;
    this.#rowsDamaged = highest.damaged;
    for (let after = 0; ; await nextTurn()) {
      const rows = this.#sessionRows(after, BUILD_STEP);
      if (rows.length === 0) break;
      this.#catalogue.apply(this.#read(rows));
      after = Number(rows.at(-1)?.rowid ?? after);
    }
  }

  /** Reads the sessions named, in one go: for a small part of a large store. */
  load(ids: readonly string[]): void {
    this.#reload(ids);
  }

  /** Takes over rows and sessions written since the last pass; never more than a step of them per turn of the event loop. */
  async delta(): Promise<CatalogueChange[]> {
    const changes: CatalogueChange[] = [];
    for (let more = true; more; ) {
      const step = this.#readableStep();
      changes.push(...step.changes);
      more = step.more;
      if (more) await nextTurn();
    }
    return changes;
  }

  /** Finds session rows that changed, appeared or went, whatever wrote them. */
  async scan(): Promise<CatalogueChange[]> {
    const changes: CatalogueChange[] = [];
    const seen = new Set<string>();
    for (let after = 0; ; await nextTurn()) {
      const rows = this.#connection.all(fingerprintSql(this.#connection.shape), [after, SCAN_STEP]);
      if (rows.length === 0) break;
      const moved: string[] = [];
      for (const { id, print } of rows) {
        const key = String(id);
        seen.add(key);
        if (this.#fingerprints.get(key) !== String(print)) moved.push(key);
      }
      if (moved.length > 0) changes.push(...this.#reload(moved));
      after = Number(rows.at(-1)?.rowid ?? after);
    }
    const missing = [...this.#fingerprints.keys()].filter((id) => !seen.has(id));
    if (missing.length > 0) changes.push(...this.#reload(missing));
    return changes;
  }

  /** Compares the counts of every session with the index and corrects those that differ. */
  async sweep(): Promise<CatalogueChange[]> {
    const changes: CatalogueChange[] = [];
    for (const ids of this.#sweepSteps()) {
      changes.push(...this.#recount(ids));
      await nextTurn();
    }
    return changes;
  }

  /** Damage at the end of the table must not hide what the index still knows: the comparisons go on without the new rows. */
  #readableStep(): { changes: CatalogueChange[]; more: boolean } {
    try {
      return this.#deltaStep();
    } catch (error) {
      if (healthOf(error) !== 'CORRUPT') throw error;
      this.#rowsDamaged = true;
      return { changes: [], more: false };
    }
  }

  #deltaStep(): { changes: CatalogueChange[]; more: boolean } {
    return this.#connection.snapshot(() => {
      const rows = this.#connection.all(newRowsSql(this.#connection.shape), [this.#lastRowId, DELTA_STEP]);
      const states: States = [];
      const bySession = new Map<string, SqlRow[]>();
      for (const row of rows) {
        const id = String(row.session_id);
        const known = bySession.get(id);
        if (known === undefined) bySession.set(id, [row]);
        else known.push(row);
      }
      const fresh = this.#newSessionIds();
      const touched = [...new Set([...bySession.keys(), ...fresh])];
      if (touched.length === 0) return { changes: [], more: false };
      const records = this.#sessionsById(touched);
      for (const [id, record] of records) {
        const stats = this.#catalogue.stored(id) === undefined ? this.#stats([id]).get(id) : this.#advance(id, bySession.get(id) ?? []);
        states.push([id, toEntry(record, stats ?? null)]);
      }
      states.push(...this.#parentsOfNew(records));
      const last = rows.at(-1)?.id;
      if (last !== undefined && last !== null) this.#lastRowId = BigInt(String(last));
      return { changes: this.#catalogue.apply(states), more: rows.length === DELTA_STEP };
    });
  }

  /** A rotation ends the parent in the same transaction: read together, the new session belongs to its conversation from the start. */
  #parentsOfNew(records: ReadonlyMap<string, SessionRecord>): States {
    const parents = new Set<string>();
    for (const { id, parentId } of records.values()) {
      if (parentId !== null && !records.has(parentId) && this.#catalogue.stored(id) === undefined) parents.add(parentId);
    }
    if (parents.size === 0) return [];
    const states: States = [];
    for (const [id, record] of this.#sessionsById([...parents])) {
      const known = this.#catalogue.stored(id);
      if (known !== undefined) states.push([id, toEntry(record, known.stats)]);
    }
    return states;
  }

  /** The counts of a known session after some new rows; each row counts once, also when a recount overtook this pass. */
  #advance(id: string, rows: readonly SqlRow[]): RowStats | null {
    const stats = this.#catalogue.stored(id)?.stats ?? null;
    if (stats === null) return this.#stats([id]).get(id) ?? null;
    const countedTo = this.#countedTo.get(id) ?? -1n;
    let { total, live, lastTimestamp } = stats;
    let highest = countedTo;
    for (const row of rows) {
      const rowId = BigInt(String(row.id));
      if (rowId <= countedTo) continue;
      highest = rowId;
      total++;
      if (row.live === 1) live++;
      const time = inWindow(row.timestamp);
      if (time !== null && (lastTimestamp === null || time > lastTimestamp)) lastTimestamp = time;
    }
    this.#countedTo.set(id, highest);
    return { total, live, lastTimestamp };
  }

  /** Reads sessions again by id, counts included; ids without a row are gone. */
  #reload(ids: readonly string[]): CatalogueChange[] {
    return this.#connection.snapshot(() => {
      const records = this.#sessionsById(ids);
      const stats = this.#stats(ids);
      return this.#catalogue.apply(
        ids.map((id): [string, SessionEntry | undefined] => {
          const record = records.get(id);
          if (record !== undefined) return [id, toEntry(record, stats.get(id) ?? null)];
          this.#fingerprints.delete(id);
          this.#countedTo.delete(id);
          return [id, undefined];
        }),
      );
    });
  }

  /** Sessions whose counts moved are read again as a whole: rows that are gone may have gone with their session. */
  #recount(ids: readonly string[]): CatalogueChange[] {
    const stats = this.#stats(ids);
    const moved = ids.filter((id) => {
      const entry = this.#catalogue.stored(id);
      return entry !== undefined && !isSameStats(entry.stats, stats.get(id) ?? null);
    });
    return moved.length === 0 ? [] : this.#reload(moved);
  }

  *#sweepSteps(): Generator<string[]> {
    let ids: string[] = [];
    let rows = 0;
    for (const entry of this.#catalogue.storedEntries.entries()) {
      ids.push(entry.id);
      rows += 20 + (entry.stats?.total ?? 0);
      if (rows < SWEEP_STEP_ROWS) continue;
      yield ids;
      ids = [];
      rows = 0;
    }
    if (ids.length > 0) yield ids;
  }

  #read(rows: readonly SqlRow[]): States {
    const ids = rows.map((row) => String(row.id));
    const stats = this.#stats(ids);
    return rows.map((row) => {
      const record = decodeSession(row);
      this.#fingerprints.set(record.id, String(row.print));
      return [record.id, toEntry(record, stats.get(record.id) ?? null)];
    });
  }

  #sessionsById(ids: readonly string[]): Map<string, ReturnType<typeof decodeSession>> {
    const rows = this.#connection.all(`${selectSessions(this.#connection.shape)} WHERE s.id IN (SELECT value FROM json_each(?))`, [
      idList(ids),
    ]);
    return new Map(
      rows.map((row) => {
        const record = decodeSession(row);
        this.#fingerprints.set(record.id, String(row.print));
        return [record.id, record];
      }),
    );
  }

  /** Counts of sessions from the index alone; a session whose rows can't be read is missing in the answer, one without rows has zeros. */
  #stats(ids: readonly string[]): Map<string, RowStats> {
    try {
      return this.#connection.snapshot(() => this.#readStats(ids));
    } catch (error) {
      // A damaged page spoils the statement for every session in it: find the readable ones one by one.
      if (ids.length === 1) return new Map();
      void error;
      return new Map(ids.flatMap((id) => [...this.#stats([id])]));
    }
  }

  #readStats(ids: readonly string[]): Map<string, RowStats> {
    const found = new Map<string, RowStats>(ids.map((id) => [id, NO_ROWS]));
    const upTo = highestRowId(this.#connection).rowId;
    for (const row of this.#connection.all(statsSql(this.#connection.shape), [idList(ids)])) {
      found.set(String(row.session_id), { total: Number(row.total), live: Number(row.live), lastTimestamp: inWindow(row.last_timestamp) });
    }
    for (const id of ids) this.#countedTo.set(id, upTo);
    return found;
  }

  #sessionRows(afterRowId: number, limit: number): SqlRow[] {
    return this.#connection.all(`${selectSessions(this.#connection.shape)} WHERE s.rowid > ? ORDER BY s.rowid LIMIT ?`, [
      afterRowId,
      limit,
    ]);
  }

  /** Sessions that the catalogue lacks among the youngest rows of the table. */
  #newSessionIds(): string[] {
    const rows = this.#connection.all(YOUNGEST_SESSIONS);
    return rows.map((row) => String(row.id)).filter((id) => this.#catalogue.stored(id) === undefined);
  }
}

function isSameStats(a: RowStats | null, b: RowStats | null): boolean {
  if (a === null || b === null) return a === b;
  return a.total === b.total && a.live === b.live && a.lastTimestamp === b.lastTimestamp;
}
