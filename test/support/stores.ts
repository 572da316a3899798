/**
 * Small session stores for tests, written down as in `spec/state-db.md` 17:
 *
 *   const path = buildStore({ rows: [S('a', { title: 'Tea' }), M('a', { content: 'Hello' })] });
 *
 * Each is a new `state.db` in a folder of its own, removed when the process ends or by `removeStores()`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { setWriterPragmas } from '../../src/demo/state-db-schema.ts';
import { DISPLAY_TRIGGERS, UID_TRIGGER } from './display-triggers.ts';
import { type FtsLayout, ftsLayout, ftsStorageVersion } from './fts-layouts.ts';
import { isAtLeast, type SchemaVersion, tablesOf } from './store-versions.ts';

export type { FtsLayout, SchemaVersion };

/** Anything that a cell can hold. Whole numbers are stored as integers where the column's type lets them; NaN becomes NULL. */
export type Cell = string | number | bigint | Buffer | null;
export type Columns = Readonly<Record<string, Cell>>;

export interface Row {
  readonly table: string;
  readonly columns: Columns;
}

export interface StoreSpec {
  /** Sessions are inserted first, everything else in the order given. */
  readonly rows?: readonly Row[];
  /** Default 26. */
  readonly schema?: SchemaVersion;
  /** Default: what stores of that schema have as a rule (E; I; X1 from 23; X2 in the later 30; X3 in 31). */
  readonly fts?: FtsLayout;
  /** Rows of `state_meta`; they replace what the layout would say there. */
  readonly meta?: Readonly<Record<string, string>>;
  /** Runs last, with the rows in place. */
  readonly extra?: (db: Database.Database) => void;
  /** Default `wal`. */
  readonly journal?: 'wal' | 'delete';
  /**
   * In stores with display columns (30 and 31): `as given` leaves NULL what a row doesn't set (so a session without them needs the
   * legacy projection); `filled` gives visible rows an identity and a slot, as a writable open of the owner would. Default `as given`.
   */
  readonly display?: 'as given' | 'filled';
  /** Flags and counters have neither NOT NULL nor a default, as older owners added them: `active` can then be NULL. */
  readonly reconciled?: boolean;
}

/** A row of `sessions`: source cli, started_at 100. */
export function S(id: string, columns: Columns = {}): Row {
  return { table: 'sessions', columns: { id, source: 'cli', started_at: 100, ...columns } };
}

/** A row of `messages`: role user, active, not compacted, timestamp = id; ids count up from the largest before. */
export function M(session: string, columns: Columns = {}): Row {
  return { table: 'messages', columns: { session_id: session, ...columns } };
}

/** A row of any other table. */
export function T(table: string, columns: Columns): Row {
  return { table, columns };
}

const folders = new Set<string>();
process.once('exit', removeStores);

/** A new empty folder that goes away with the stores, for what else a test needs. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'caduceus-test-'));
  folders.add(folder);
  return folder;
}

/** Removes all stores and folders that were made in this process. */
export function removeStores(): void {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  folders.clear();
}

/** Makes a store and gives the path of its `state.db`; no connection stays open. Throws SqliteError for a column that the schema lacks. */
export function buildStore(spec: StoreSpec = {}): string {
  const { schema = 26, rows = [], display = 'as given' } = spec;
  const fts = spec.fts ?? usualLayout(schema);
  if (schema === 6 && (fts.startsWith('X') || spec.meta !== undefined)) throw new Error('A store of schema 6 has no state_meta.');
  const path = join(temporaryFolder(), 'state.db');
  const db = new Database(path);
  try {
    db.pragma(`journal_mode = ${spec.journal ?? 'wal'}`);
    setWriterPragmas(db);
    db.transaction(() => {
      db.exec(tablesOf(schema, spec.reconciled));
      insert(db, 'schema_version', { version: typeof schema === 'number' ? schema : 30 });
      db.exec(ftsLayout(fts));
      insertRows(db, schema, rows);
      if (isAtLeast(schema, 30)) {
        if (display === 'filled') fillDisplayColumns(db);
        db.exec(DISPLAY_TRIGGERS);
      }
      if (isAtLeast(schema, 31)) db.exec(UID_TRIGGER);
      const version = ftsStorageVersion(fts);
      const meta = { ...(version === null ? {} : { fts_storage_version: version }), ...spec.meta };
      for (const [key, value] of Object.entries(meta)) insert(db, 'state_meta', { key, value });
    })();
    spec.extra?.(db);
  } finally {
    db.close();
  }
  return path;
}

function usualLayout(schema: SchemaVersion): FtsLayout {
  if (isAtLeast(schema, 31)) return 'X3';
  if (isAtLeast(schema, 30)) return 'X2';
  if (isAtLeast(schema, 23)) return 'X1';
  return isAtLeast(schema, 16) ? 'I' : 'E';
}

function insertRows(db: Database.Database, schema: SchemaVersion, rows: readonly Row[]): void {
  const sessionsFirst = [...rows].sort((a, b) => Number(b.table === 'sessions') - Number(a.table === 'sessions'));
  let lastId = 0n;
  for (const { table, columns } of sessionsFirst) {
    if (table !== 'messages') {
      insert(db, table, columns);
      continue;
    }
    const id = typeof columns.id === 'number' || typeof columns.id === 'bigint' ? BigInt(columns.id) : lastId + 1n;
    if (id > lastId) lastId = id;
    const defaults: Columns = {
      ...(isAtLeast(schema, 16) ? { active: 1 } : {}),
      ...(isAtLeast(schema, 22) ? { compacted: 0 } : {}),
    };
    insert(db, table, { role: 'user', content: null, ...defaults, timestamp: id, ...columns, id });
  }
}

function insert(db: Database.Database, table: string, columns: Columns): void {
  const names = Object.keys(columns);
  const sql = `INSERT INTO ${table} (${names.map((name) => `"${name}"`).join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
  db.prepare(sql).run(...Object.values(columns).map(bound));
}

/** better-sqlite3 binds every number as REAL: in a TEXT column 5 would become '5.0'. */
function bound(cell: Cell): Cell {
  return typeof cell === 'number' && Number.isSafeInteger(cell) ? BigInt(cell) : cell;
}

/**
 * One slot for each logical message. The identity is a digest over the same six values as the owner's, but of another rendering:
 * nobody but the owner can compute that (`spec/state-db.md` 8.3), and equal rows still get equal ones.
 */
function fillDisplayColumns(db: Database.Database): void {
  db.exec(`
    CREATE TEMP TABLE slots AS
      SELECT id, session_id, DENSE_RANK() OVER (ORDER BY role, content, timestamp, tool_call_id, tool_calls, tool_name) AS message
      FROM main.messages WHERE active = 1 OR compacted = 1;
    UPDATE main.messages SET
      display_identity = COALESCE(display_identity, (SELECT CAST(printf('%032d', message) AS BLOB) FROM slots WHERE slots.id = messages.id)),
      display_order = COALESCE(display_order, (SELECT MIN(peer.id) FROM slots AS own JOIN slots AS peer
        ON peer.session_id = own.session_id AND peer.message = own.message WHERE own.id = messages.id))
    WHERE id IN (SELECT id FROM slots);
    DROP TABLE slots;`);
}
