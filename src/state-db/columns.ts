/**
 * Which tables and columns a store has: asked, never assumed (`spec/state-db.md` 3).
 */
import type Database from 'better-sqlite3';

/** The shape of one store at one value of `PRAGMA schema_version`. */
export class StoreShape {
  readonly #columns: ReadonlyMap<string, ReadonlySet<string>>;
  readonly #definitions: ReadonlyMap<string, string>;
  readonly #indexes: ReadonlySet<string>;

  constructor(columns: Map<string, Set<string>>, definitions: Map<string, string>, indexes: Set<string>) {
    this.#columns = columns;
    this.#definitions = definitions;
    this.#indexes = indexes;
  }

  hasTable(table: string): boolean {
    return this.#definitions.has(table);
  }

  hasColumn(table: string, column: string): boolean {
    return this.#columns.get(table)?.has(column) === true;
  }

  hasIndex(index: string): boolean {
    return this.#indexes.has(index);
  }

  /** The CREATE text of a table, view or virtual table. */
  definition(table: string): string | null {
    return this.#definitions.get(table) ?? null;
  }

  columnsOf(table: string): readonly string[] {
    return [...(this.#columns.get(table) ?? [])];
  }

  /** Those of the wanted columns that exist, as a select list; the names are our own constants, never data. */
  selectList(table: string, wanted: readonly string[], alias: string): string {
    return wanted.flatMap((column) => (this.hasColumn(table, column) ? [`${alias}."${column}"`] : [])).join(', ');
  }

  /** The column, or a literal default where the store has none. */
  columnOr(table: string, column: string, alias: string, fallback: string): string {
    return this.hasColumn(table, column) ? `${alias}."${column}"` : fallback;
  }
}

/** Reads the shape; two statements for the whole store. */
export function readShape(db: Database.Database): StoreShape {
  const definitions = new Map<string, string>();
  const indexes = new Set<string>();
  const objects = db.prepare<[], { type: string; name: string; sql: string | null }>('SELECT type, name, sql FROM sqlite_master').all();
  for (const { type, name, sql } of objects) {
    if (type === 'table' || type === 'view') definitions.set(name, sql ?? '');
    if (type === 'index') indexes.add(name);
  }
  const columns = new Map<string, Set<string>>();
  for (const table of KNOWN_TABLES) {
    if (!definitions.has(table)) continue;
    const names = db.prepare<[string], { name: string }>('SELECT name FROM pragma_table_info(?)').all(table);
    columns.set(table, new Set(names.map(({ name }) => name)));
  }
  return new StoreShape(columns, definitions, indexes);
}

/** Tables whose columns vary between versions; the full-text tables are told by their CREATE text. */
const KNOWN_TABLES = [
  'schema_version',
  'sessions',
  'messages',
  'system_prompts',
  'session_model_usage',
  'session_daily_usage',
  'state_meta',
  'compression_locks',
  'session_turn_leases',
  'gateway_routing',
  'gateway_hygiene_state',
  'conversation_generations',
  'gateway_heartbeats',
  'async_delegations',
] as const;
