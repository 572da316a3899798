import Database from 'better-sqlite3';
import { afterAll, describe, expect, it } from 'vitest';
import { createStateDb } from '../src/demo/state-db-schema.ts';
import { copyStore } from './support/golden.ts';
import { buildStore, type FtsLayout, M, removeStores, S, type SchemaVersion, T, temporaryFolder } from './support/stores.ts';
import { startWriter, type WriterError } from './support/writer.ts';

afterAll(removeStores);

interface Shape {
  readonly tables: Record<string, unknown[]>;
  readonly names: string[];
}

function read<Result>(path: string, query: (db: Database.Database) => Result): Result {
  const db = new Database(path, { readonly: true, fileMustExist: true });
  try {
    return query(db);
  } finally {
    db.close();
  }
}

/** Every table with its columns as SQLite sees them, and the names of everything else that the schema has. */
function shapeOf(path: string): Shape {
  return read(path, (db) => {
    const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").pluck().all() as string[];
    return {
      tables: Object.fromEntries(
        tables.map((name) => [
          name,
          [
            db.prepare('SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_info(?)').all(name),
            db.prepare('SELECT "from", "table", "to", on_delete FROM pragma_foreign_key_list(?) ORDER BY 1').all(name),
          ],
        ]),
      ),
      names: db.prepare("SELECT type || ' ' || name FROM sqlite_master ORDER BY 1").pluck().all() as string[],
    };
  });
}

/** Index, columns, order and condition of each index, without regard to how the statement is laid out. */
function indexesOf(path: string): unknown {
  return read(path, (db) => {
    const indexes = db
      .prepare<[], { name: string; sql: string }>("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")
      .all();
    return Object.fromEntries(indexes.map(({ name, sql }) => [name, sql.replace(/\s+/g, ' ')]));
  });
}

/** Triggers, views and virtual tables with white space and harmless parentheses taken out. */
function programsOf(path: string): unknown {
  return read(path, (db) => {
    const rows = db.prepare<[], { name: string; sql: string }>(
      "SELECT name, sql FROM sqlite_master WHERE type IN ('trigger', 'view') OR sql LIKE 'CREATE VIRTUAL%'",
    );
    return Object.fromEntries(
      rows.all().map(({ name, sql }) => [
        name,
        sql
          .replace(/[\s()]+/g, ' ')
          .replaceAll(' ,', ',')
          .trim(),
      ]),
    );
  });
}

describe('a store of schema 26', () => {
  const basic = copyStore('basic');
  const ours = `${temporaryFolder()}/state.db`;
  createStateDb(ours).close();

  it('has the tables, columns, keys, indexes, views and triggers of a store that upstream wrote', () => {
    expect(shapeOf(ours)).toEqual(shapeOf(basic));
    expect(indexesOf(ours)).toEqual(indexesOf(basic));
    expect(programsOf(ours)).toEqual(programsOf(basic));
  });

  it('is built alike for tests', () => {
    const built = buildStore();
    expect(shapeOf(built)).toEqual(shapeOf(basic));
    expect(indexesOf(built)).toEqual(indexesOf(basic));
    expect(programsOf(built)).toEqual(programsOf(basic));
  });

  it('carries its generation in state_meta and in the header', () => {
    read(ours, (db) => {
      const token = db.prepare("SELECT value FROM state_meta WHERE key = 'db_file_generation'").pluck().get() as string;
      expect(token).toMatch(/^[0-9a-f]{32}$/);
      expect(db.pragma('application_id', { simple: true })).toBe(Number.parseInt(token.slice(0, 8), 16) & 0x7fffffff || 1);
      expect(db.pragma('journal_mode', { simple: true })).toBe('wal');
      expect(db.prepare('SELECT version FROM schema_version').pluck().all()).toEqual([26]);
    });
  });

  it('refuses to be made twice in one place', () => {
    expect(() => createStateDb(ours)).toThrow(/already exists/);
  });
});

describe('older stores', () => {
  it.each([
    [6, 'legacy-04'],
    [16, 'legacy-06'],
  ] as const)('of schema %s have the shape of one that upstream wrote', (schema, fixture) => {
    const built = buildStore({ schema });
    const written = copyStore(fixture);
    expect(shapeOf(built)).toEqual(shapeOf(written));
    expect(indexesOf(built)).toEqual(indexesOf(written));
  });
});

const VERSIONS: readonly SchemaVersion[] = [6, 16, 22, 23, 26, '30-early', 30, 31];
const LAYOUTS: readonly FtsLayout[] = ['E', 'I', 'X1', 'X2', 'X3'];
const WORD = 'lighthouse';

function found(path: string, table: string, query: string): unknown[] {
  return read(path, (db) => db.prepare(`SELECT rowid FROM ${table} WHERE ${table} MATCH ? ORDER BY rowid`).pluck().all(query));
}

function integrity(path: string, table: string): void {
  const db = new Database(path);
  try {
    db.prepare(`INSERT INTO ${table}(${table}, rank) VALUES ('integrity-check', 1)`).run();
  } finally {
    db.close();
  }
}

describe('each version', () => {
  it.each(VERSIONS)('%s is built with the layout that it has as a rule, and finds a word', (schema) => {
    const path = buildStore({ schema, rows: [S('a'), M('a', { content: `the ${WORD}` }), M('a', { role: 'assistant', content: 'no' })] });
    expect(found(path, 'messages_fts', WORD)).toEqual([1]);
    read(path, (db) => {
      expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
      expect(db.prepare('SELECT version FROM schema_version').pluck().get()).toBe(schema === '30-early' ? 30 : schema);
      expect(db.prepare('SELECT started_at, source FROM sessions').get()).toEqual({ started_at: 100, source: 'cli' });
      expect(db.prepare('SELECT timestamp FROM messages').pluck().all()).toEqual([1, 2]);
    });
  });

  it.each([
    [6, 'archived', 'active'],
    [16, 'session_key', 'compacted'],
    [22, 'compression_ineffective_count', 'display_kind'],
    [23, 'title_source', '_compressed_summary'],
    [26, 'tool_names', '_compressed_summary'],
    ['30-early', 'created_source', 'display_order'],
    [30, 'auto_archived', 'message_uid'],
  ] as const)('%s lacks what came later', (schema, sessionColumn, messageColumn) => {
    expect(() => buildStore({ schema, rows: [S('a', { [sessionColumn]: null })] })).toThrow(/no column named/);
    expect(() => buildStore({ schema, rows: [S('a'), M('a', { [messageColumn]: null })] })).toThrow(/no column named/);
  });

  it('refuses what schema 6 can not have', () => {
    expect(() => buildStore({ schema: 6, fts: 'X1' })).toThrow(/state_meta/);
  });
});

describe('each layout', () => {
  it.each(LAYOUTS)('%s follows inserts, updates and deletes', (fts) => {
    const schema = fts === 'E' ? 6 : 26;
    const path = buildStore({
      schema,
      fts,
      rows: [S('a'), M('a', { content: `the ${WORD}` }), M('a', { content: 'the mill' }), M('a', { content: `${WORD} two` })],
      extra: (db) => {
        db.prepare('UPDATE messages SET content = ? WHERE id = 2').run(`a ${WORD} after all`);
        db.prepare('DELETE FROM messages WHERE id = 3').run();
      },
    });
    expect(found(path, 'messages_fts', WORD)).toEqual([1, 2]);
    expect(found(path, 'messages_fts', 'mill')).toEqual([]);
    integrity(path, 'messages_fts');
    if (fts === 'E') return;
    expect(found(path, 'messages_fts_trigram', 'thous')).toEqual([1, 2]);
    integrity(path, 'messages_fts_trigram');
  });

  it('X3 cuts tool rows and leaves out what machines said among themselves', () => {
    const path = buildStore({
      fts: 'X3',
      rows: [
        S('a'),
        S('c', { source: 'cron' }),
        S('d', { model_config: '{"_delegate_from": "a"}' }),
        S('b', { model_config: '{oops' }),
        M('a', { role: 'tool', content: `${'x '.repeat(5000)}tailword` }),
        M('c', { content: WORD }),
        M('d', { content: WORD }),
        M('b', { content: WORD }),
      ],
    });
    expect(found(path, 'messages_fts', 'tailword')).toEqual([]);
    expect(found(path, 'messages_fts', WORD)).toEqual([2, 3, 4]);
    expect(found(path, 'messages_fts_trigram', WORD)).toEqual([4]);
    integrity(path, 'messages_fts');
    integrity(path, 'messages_fts_trigram');
  });

  it('none has no index at all', () => {
    expect(shapeOf(buildStore({ fts: 'none' })).names.filter((name) => name.includes('fts'))).toEqual([]);
  });
});

describe('cells', () => {
  it('hold whatever SQLite can hold', () => {
    const path = buildStore({
      rows: [
        T('state_meta', { key: 'k', value: 5 }),
        M('a', { id: 9_007_199_254_740_993n, timestamp: 'yesterday', content: Buffer.from([0xff, 0x00]) }),
        M('a', { id: 7, timestamp: Number.POSITIVE_INFINITY, content: 12 }),
        S('a', { started_at: 5e246, message_count: -3 }),
      ],
      meta: { fts_stale: '1' },
      journal: 'delete',
    });
    read(path, (db) => {
      expect(db.prepare('SELECT id, timestamp, content FROM messages ORDER BY id').safeIntegers().all()).toEqual([
        { id: 7n, timestamp: Number.POSITIVE_INFINITY, content: '12' },
        { id: 9_007_199_254_740_993n, timestamp: 'yesterday', content: Buffer.from([0xff, 0x00]) },
      ]);
      expect(db.prepare('SELECT started_at, message_count FROM sessions').get()).toEqual({ started_at: 5e246, message_count: -3 });
      expect(db.prepare("SELECT value FROM state_meta WHERE key IN ('k', 'fts_stale') ORDER BY key").pluck().all()).toEqual(['1', '5']);
      expect(db.pragma('journal_mode', { simple: true })).toBe('delete');
    });
  });

  it('can be NULL in a flag when an older owner added the column', () => {
    expect(() => buildStore({ rows: [S('a'), M('a', { active: null })] })).toThrow(/NOT NULL/);
    const path = buildStore({ rows: [S('a'), M('a', { active: null })], reconciled: true });
    expect(read(path, (db) => db.prepare('SELECT active FROM messages').pluck().all())).toEqual([null]);
  });
});

describe('display columns', () => {
  const copies = [
    M('a', { id: 1, content: 'x', timestamp: 5, active: 0, compacted: 1 }),
    M('a', { id: 2, content: 'y' }),
    M('a', { id: 3, content: 'z', active: 0 }),
    M('a', { id: 9, content: 'x', timestamp: 5 }),
  ];
  const orders = (path: string): unknown[] =>
    read(path, (db) => db.prepare('SELECT display_order FROM messages ORDER BY id').pluck().all());

  it('stay as given, or are filled with one slot for each logical message', () => {
    expect(orders(buildStore({ schema: 30, rows: [S('a'), ...copies] }))).toEqual([null, null, null, null]);
    expect(orders(buildStore({ schema: 30, display: 'filled', rows: [S('a'), ...copies] }))).toEqual([1, 2, null, 1]);
  });

  it('are kept by the triggers when somebody writes', () => {
    const path = buildStore({
      schema: 31,
      display: 'filled',
      rows: [S('a'), ...copies],
      extra: (db) => {
        db.exec("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('a', 'user', 'new', 10)");
        db.exec('DELETE FROM messages WHERE id = 1');
        db.exec("UPDATE messages SET content = 'edited' WHERE id = 2");
      },
    });
    expect(orders(path)).toEqual([null, null, 9, 10]);
    expect(read(path, (db) => db.prepare('SELECT message_uid FROM messages WHERE id = 10').pluck().get())).toMatch(/^[0-9a-f]{32}$/);
  });
});

describe('another process', () => {
  it('writes, holds a transaction open, fails with the code of SQLite, and can be killed', async () => {
    const path = buildStore({ rows: [S('a')] });
    const writer = await startWriter(path);
    const second = await startWriter(path, 50);
    await expect(writer.exec('UPDATE sessions SET title = ? WHERE id = ?', ['Tea', 'a'])).resolves.toMatchObject({ changes: 1 });
    await writer.transaction([
      ['INSERT INTO messages (session_id, role, timestamp, content) VALUES (?, ?, ?, ?)', 'a', 'user', 1, WORD],
      'DELETE FROM state_meta',
    ]);
    expect(found(path, 'messages_fts', WORD)).toEqual([1]);
    await writer.exec('BEGIN IMMEDIATE');
    await writer.exec("UPDATE sessions SET title = 'never'");
    await expect(second.exec("UPDATE sessions SET title = 'Coffee'")).rejects.toMatchObject({
      code: 'SQLITE_BUSY',
    } satisfies Partial<WriterError>);
    const answer = writer.exec('SELECT title FROM sessions');
    await expect(answer).resolves.toEqual([{ title: 'never' }]);
    await writer.kill();
    await expect(second.exec('SELECT title FROM sessions')).resolves.toEqual([{ title: 'Tea' }]);
    await expect(second.transaction(["UPDATE sessions SET title = 'half'", 'SELECT nonsense'])).rejects.toThrow(/nonsense/);
    await second.close();
    expect(read(path, (db) => db.prepare('SELECT title FROM sessions').pluck().get())).toBe('Tea');
  });
});
