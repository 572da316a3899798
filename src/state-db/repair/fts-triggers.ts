/**
 * The triggers that keep the full-text indexes in step, as the owner defines them for each layout (`spec/state-db.md` 10.1,
 * `spec/state-db-writes.md` X3, X4): what a fail-open dropped is made again from here. Layout X2 is missing: where it cuts tool rows is kept
 * under a key that isn't known.
 */
import type Database from 'better-sqlite3';
import type { StoreShape } from '../columns.ts';
import { FTS_TABLES, INDEX_NAMES, type IndexName } from './fts-tables.ts';
import { inlineText } from './inline-index.ts';

/** Characters of a tool row that layout X3 indexes. */
const TOOL_PREFIX = 8192;
const PENDING_KEYS: Readonly<Record<IndexName, readonly [highWater: string, progress: string]>> = {
  BASE: ['fts_rebuild_high_water', 'fts_rebuild_progress'],
  TRIGRAM: ['fts_rebuild_high_water', 'fts_rebuild_progress'],
  CJK: ['fts_cjk_rebuild_high_water', 'fts_cjk_rebuild_progress'],
};
export const TRIGGERS_SQL = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'messages'";
const SUFFIXES = ['insert', 'delete', 'update'] as const;

export type FtsLayout = 'E' | 'I' | 'X1' | 'X2' | 'X3';

/** A trigger that the store should have. */
export interface SyncTrigger {
  readonly name: string;
  readonly sql: string;
}

type Row = 'new' | 'old';

/** What of a row an index holds. */
interface Sync {
  readonly table: string;
  readonly columns: readonly string[];
  readonly values: (row: Row) => readonly string[];
  readonly holds: ((row: Row) => string) | null;
  /** Entries go by their old values (external content), or by rowid (inline). */
  readonly external: boolean;
  readonly pending: readonly [highWater: string, progress: string] | null;
}

/** Told by the CREATE text, never by a version; null when there is no word index. */
export function layoutOfStore(shape: StoreShape): FtsLayout | null {
  const words = shape.definition(FTS_TABLES.BASE);
  if (words === null) return null;
  if (!words.includes('tool_name')) return /content\s*=/.test(words) ? 'E' : 'I';
  if (words.includes('messages_fts_src')) return 'X3';
  return shape.definition(FTS_TABLES.TRIGRAM)?.includes('tool_calls') === false ? 'X2' : 'X1';
}

/** The names of the sync triggers of an index that the store lacks. */
export function missingTriggers(db: Database.Database, index: IndexName): string[] {
  const present = new Set(
    db
      .prepare<[], { name: string }>(TRIGGERS_SQL)
      .all()
      .map(({ name }) => name),
  );
  return triggerNames(index).filter((name) => !present.has(name));
}

/** The names of the triggers that keep an index in step. */
export function triggerNames(index: IndexName): string[] {
  return SUFFIXES.map((suffix) => `${FTS_TABLES[index]}_${suffix}`);
}

/** The definitions of the three triggers of an index; null where this layout's are not known. */
export function syncTriggers(shape: StoreShape, index: IndexName): SyncTrigger[] | null {
  const layout = layoutOfStore(shape);
  const sync = layout === null || layout === 'X2' ? null : syncOf(layout, shape, index);
  return sync === null ? null : definitions(sync);
}

function syncOf(layout: Exclude<FtsLayout, 'X2'>, shape: StoreShape, index: IndexName): Sync | null {
  const table = FTS_TABLES[index];
  const pending = shape.hasTable('state_meta') ? PENDING_KEYS[index] : null;
  const notTool = (row: Row): string => `${row}.role <> 'tool'`;
  if (index === 'CJK') {
    return { table, columns: ALL, values: asStored, holds: notTool, external: true, pending };
  }
  switch (layout) {
    case 'E':
      return index === 'BASE'
        ? { table, columns: ['content'], values: (row) => [`${row}.content`], holds: null, external: true, pending: null }
        : null;
    case 'I':
      return { table, columns: ['content'], values: joined, holds: null, external: false, pending: null };
    case 'X1':
      return { table, columns: ALL, values: asStored, holds: index === 'BASE' ? null : notTool, external: true, pending };
    case 'X3':
      return index === 'BASE'
        ? { table, columns: ALL, values: withCutTools, holds: null, external: true, pending }
        : { table, columns: ['content', 'tool_name'], values: contentAndTool, holds: conversational, external: true, pending };
  }
}

const ALL: readonly string[] = ['content', 'tool_name', 'tool_calls'];
const asStored = (row: Row): string[] => ALL.map((column) => `${row}.${column}`);
const contentAndTool = (row: Row): string[] => [`${row}.content`, `${row}.tool_name`];
const withCutTools = (row: Row): string[] => [
  `CASE WHEN ${row}.role = 'tool' THEN substr(${row}.content, 1, ${TOOL_PREFIX}) ELSE ${row}.content END`,
  `${row}.tool_name`,
  `${row}.tool_calls`,
];
const joined = (row: Row): string[] => [inlineText(row)];
/** Neither tools, nor runs of cron and of delegates. */
const conversational = (row: Row): string => `${row}.role <> 'tool'
    AND COALESCE((SELECT source FROM sessions WHERE id = ${row}.session_id), '') NOT IN ('cron', 'subagent')
    AND (SELECT json_extract(CASE WHEN json_valid(model_config) THEN model_config END, '$._delegate_from')
      FROM sessions WHERE id = ${row}.session_id) IS NULL`;

function definitions(sync: Sync): SyncTrigger[] {
  const { table, columns, holds, external } = sync;
  const names = columns.join(', ');
  const only = (row: Row): string => (holds === null ? '' : ` WHERE ${holds(row)}`);
  const add = `INSERT INTO ${table}(rowid, ${names}) SELECT new.id, ${sync.values('new').join(', ')}${only('new')};`;
  const remove = external
    ? `INSERT INTO ${table}(${table}, rowid, ${names}) SELECT 'delete', old.id, ${sync.values('old').join(', ')}${only('old')};`
    : `DELETE FROM ${table} WHERE rowid = old.id;`;
  const inStep = (row: Row): string => (sync.pending === null ? '' : ` WHEN ${isPassed(row, sync.pending)}`);
  return [
    { name: `${table}_insert`, sql: `CREATE TRIGGER ${table}_insert AFTER INSERT ON messages${inStep('new')} BEGIN ${add} END` },
    { name: `${table}_delete`, sql: `CREATE TRIGGER ${table}_delete AFTER DELETE ON messages${inStep('old')} BEGIN ${remove} END` },
    {
      name: `${table}_update`,
      sql: `CREATE TRIGGER ${table}_update AFTER UPDATE OF content, tool_name, tool_calls, role ON messages${inStep('old')} BEGIN ${remove} ${add} END`,
    },
  ];
}

/** While a layout is migrated, only rows that the migration has passed, or that came after it began, are in the index (X8). */
function isPassed(row: Row, [highWater, progress]: readonly [string, string]): string {
  const mark = (key: string): string => `COALESCE((SELECT CAST(value AS INTEGER) FROM state_meta WHERE key = '${key}'), -1)`;
  return `(${row}.id > ${mark(highWater)} OR ${row}.id <= ${mark(progress)})`;
}

/** Whether a migration of the layout is under way: some of the rows are not to be in the indexes yet. */
export function isMigrating(db: Database.Database, shape: StoreShape): boolean {
  if (!shape.hasTable('state_meta')) return false;
  const marks = new Set(INDEX_NAMES.map((index) => PENDING_KEYS[index][0]));
  const find = db.prepare<[string], { value: unknown }>('SELECT value FROM state_meta WHERE key = ?');
  return [...marks].some((key) => find.get(key) !== undefined);
}
