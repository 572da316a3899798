/** The layouts of full-text search that stores have had, with the triggers that keep them in step (`spec/state-db.md` 10.1). */
import { FTS_X1 } from '../../src/demo/state-db-schema.ts';

export type FtsLayout = 'E' | 'I' | 'X1' | 'X2' | 'X3' | 'none';

/** What of a row an index holds, as expressions over `new` or `old`, in the order of the index's columns. */
type Expressions = (row: 'new' | 'old') => readonly string[];

interface Index {
  readonly table: string;
  readonly columns: readonly string[];
  readonly values: Expressions;
  /** The option text of `CREATE VIRTUAL TABLE` after the columns. */
  readonly options: readonly string[];
  /** Which rows it holds; all of them when absent. */
  readonly holds?: (row: 'new' | 'old') => string;
  /** Entries are removed by their old values (external content), or by rowid (inline). */
  readonly external: boolean;
}

/** Tool rows above this id are cut in layout X2. The key's real name isn't known (`spec/state-db.md` 4.6) and no reader needs it. */
const X2_HIGH_WATER = 'test_fts_tool_prefix_high_water';

const joined: Expressions = (row) => [
  `COALESCE(${row}.content, '') || ' ' || COALESCE(${row}.tool_name, '') || ' ' || COALESCE(${row}.tool_calls, '')`,
];
const cut = (row: string, condition: string): string =>
  `CASE WHEN ${condition} THEN substr(${row}.content, 1, 8192) ELSE ${row}.content END`;
const sourceOf = (row: string): string => `COALESCE((SELECT source FROM sessions WHERE id = ${row}.session_id), '')`;
const delegateOf = (row: string): string =>
  `(SELECT json_extract(CASE WHEN json_valid(model_config) THEN model_config END, '$._delegate_from') FROM sessions WHERE id = ${row}.session_id)`;

const aboveHighWater = (row: string): string =>
  `${row}.role = 'tool' AND ${row}.id > (SELECT CAST(value AS INTEGER) FROM state_meta WHERE key = '${X2_HIGH_WATER}')`;
const x2Trigram = (row: string): string => `${row}.role <> 'tool' AND ${sourceOf(row)} <> 'cron'`;
const x3Trigram = (row: string): string =>
  `${row}.role <> 'tool' AND ${sourceOf(row)} NOT IN ('cron', 'subagent') AND ${delegateOf(row)} IS NULL`;

const WORDS = ['content', 'tool_name', 'tool_calls'];

/** The DDL of a layout. X layouts look at `state_meta`, which schema 6 doesn't have. */
export function ftsLayout(layout: FtsLayout): string {
  switch (layout) {
    case 'none':
      return '';
    case 'E':
      return create({
        table: 'messages_fts',
        columns: ['content'],
        values: (row) => [`${row}.content`],
        options: ['content=messages', 'content_rowid=id'],
        external: true,
      });
    case 'I':
      return (
        create({ table: 'messages_fts', columns: ['content'], values: joined, options: [], external: false }) +
        create({ table: 'messages_fts_trigram', columns: ['content'], values: joined, options: ["tokenize='trigram'"], external: false })
      );
    case 'X1':
      return FTS_X1;
    case 'X2':
      return `INSERT INTO state_meta (key, value) VALUES ('${X2_HIGH_WATER}', '0');
        ${create(wordIndex('messages', (row) => cut(row, aboveHighWater(row))))}
        ${trigramView(x2Trigram('m'))} ${create(trigramIndex(x2Trigram))}`;
    case 'X3':
      return `CREATE VIEW messages_fts_src AS SELECT id, role, ${cut('m', "m.role = 'tool'")} AS content, tool_name, tool_calls FROM messages m;
        ${create(wordIndex('messages_fts_src', (row) => cut(row, `${row}.role = 'tool'`)))}
        ${trigramView(x3Trigram('m'))} ${create(trigramIndex(x3Trigram))}`;
  }
}

/** What `state_meta` says about a layout; null when nothing. */
export function ftsStorageVersion(layout: FtsLayout): string | null {
  return layout.startsWith('X') ? layout.slice(1) : null;
}

function wordIndex(content: string, text: (row: string) => string): Index {
  return {
    table: 'messages_fts',
    columns: WORDS,
    values: (row) => [text(row), `${row}.tool_name`, `${row}.tool_calls`],
    options: [`content='${content}'`, "content_rowid='id'"],
    external: true,
  };
}

function trigramView(holds: string): string {
  return `CREATE VIEW messages_fts_trigram_src AS SELECT m.id, m.role, m.content, m.tool_name FROM messages m WHERE ${holds};`;
}

function trigramIndex(holds: (row: string) => string): Index {
  return {
    table: 'messages_fts_trigram',
    columns: ['content', 'tool_name'],
    values: (row) => [`${row}.content`, `${row}.tool_name`],
    options: ["content='messages_fts_trigram_src'", "content_rowid='id'", "tokenize='trigram'"],
    holds,
    external: true,
  };
}

function create(index: Index): string {
  const { table, columns, holds } = index;
  const names = columns.join(', ');
  const when = (row: 'new' | 'old'): string => (holds === undefined ? '' : `WHERE ${holds(row)}`);
  const add = `INSERT INTO ${table}(rowid, ${names}) SELECT new.id, ${index.values('new').join(', ')} ${when('new')};`;
  const remove = index.external
    ? `INSERT INTO ${table}(${table}, rowid, ${names}) SELECT 'delete', old.id, ${index.values('old').join(', ')} ${when('old')};`
    : `DELETE FROM ${table} WHERE rowid = old.id;`;
  return `
    CREATE VIRTUAL TABLE ${table} USING fts5(${[...columns, ...index.options].join(', ')});
    CREATE TRIGGER ${table}_insert AFTER INSERT ON messages BEGIN ${add} END;
    CREATE TRIGGER ${table}_delete AFTER DELETE ON messages BEGIN ${remove} END;
    CREATE TRIGGER ${table}_update AFTER UPDATE OF content, tool_name, tool_calls, role ON messages BEGIN ${remove} ${add} END;`;
}
