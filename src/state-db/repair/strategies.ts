/**
 * The ways to mend a store, tried in this order on a copy (`spec/state-db-writes.md` H3 12). Each may throw SqliteError; none deletes a
 * row of a conversation.
 */
import type Database from 'better-sqlite3';
import { FTS_TABLES, lacksTokenizer, presentIndexes } from './fts-tables.ts';

export type StrategyName = 'rebuild_fts' | 'reindex_btree' | 'dedup_schema' | 'drop_fts_rebuild';

export interface Strategy {
  readonly name: StrategyName;
  readonly apply: (db: Database.Database) => void;
}

export const STRATEGIES: readonly Strategy[] = [
  { name: 'rebuild_fts', apply: rebuildIndexes },
  { name: 'reindex_btree', apply: (db) => void db.exec('REINDEX') },
  { name: 'dedup_schema', apply: (db) => editSchema(db, DEDUP_SQL) },
  { name: 'drop_fts_rebuild', apply: dropIndexes },
];

const DEDUP_SQL = 'DELETE FROM sqlite_master WHERE rowid NOT IN (SELECT MIN(rowid) FROM sqlite_master GROUP BY type, name)';
const DROP_SQL = "DELETE FROM sqlite_master WHERE name GLOB 'messages_fts*' OR tbl_name GLOB 'messages_fts*'";

function rebuildIndexes(db: Database.Database): void {
  for (const name of presentIndexes(db)) {
    const table = FTS_TABLES[name];
    try {
      db.exec(`INSERT INTO ${table}(${table}) VALUES ('rebuild')`);
    } catch (error) {
      if (!lacksTokenizer(error)) throw error;
    }
  }
}

/** The owner makes the indexes anew when it opens the store; what they held goes back to the file with VACUUM. */
function dropIndexes(db: Database.Database): void {
  editSchema(db, DROP_SQL);
  db.exec('VACUUM');
}

/** Every connection reads the schema again when the cookie moves. */
function editSchema(db: Database.Database, sql: string): void {
  db.unsafeMode(true);
  try {
    db.pragma('writable_schema = ON');
    db.transaction(() => {
      const cookie = Number(db.pragma('schema_version', { simple: true }));
      db.exec(sql);
      db.pragma(`schema_version = ${cookie + 1}`);
    })();
  } finally {
    db.pragma('writable_schema = RESET');
    db.unsafeMode(false);
  }
}
