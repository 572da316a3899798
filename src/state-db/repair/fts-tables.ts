/** The full-text tables that a store can have (`spec/state-db-writes.md` X5). */
import type Database from 'better-sqlite3';

export type IndexName = 'BASE' | 'TRIGRAM' | 'CJK';

export const FTS_TABLES: Readonly<Record<IndexName, string>> = {
  BASE: 'messages_fts',
  TRIGRAM: 'messages_fts_trigram',
  CJK: 'messages_fts_cjk',
};
export const INDEX_NAMES: readonly IndexName[] = ['BASE', 'TRIGRAM', 'CJK'];

const DEFINITION_SQL = "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?";

/** Those that the store has, in the order in which they are worked on. Throws SqliteError for a schema that can't be read. */
export function presentIndexes(db: Database.Database): IndexName[] {
  const find = db.prepare<[string], { sql: string }>(DEFINITION_SQL);
  return INDEX_NAMES.filter((name) => find.get(FTS_TABLES[name]) !== undefined);
}

/** Whether the error says that FTS5 or a tokenizer of somebody else isn't there: no damage, and nothing this process can do. */
export function lacksTokenizer(error: unknown): boolean {
  return error instanceof Error && /no such tokenizer|no such module|error in tokenizer constructor/.test(error.message);
}
