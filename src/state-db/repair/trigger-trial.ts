/**
 * Whether the triggers of an index put into it what its definition says: tried on rows of every kind that some layout treats in a way of its
 * own, checked by FTS5, and taken back (`spec/state-db-writes.md` X4).
 */
import type Database from 'better-sqlite3';
import type { StoreShape } from '../columns.ts';
import { isIndexDamage } from '../health.ts';
import { FTS_TABLES, type IndexName, lacksTokenizer } from './fts-tables.ts';

const SESSION_SQL = 'INSERT INTO sessions (id, source, started_at) VALUES (?, ?, 0)';
const CONFIG_SQL = 'UPDATE sessions SET model_config = ? WHERE id = ?';
const MESSAGE_SQL = 'INSERT INTO messages (session_id, role, content, tool_name, tool_calls, timestamp) VALUES (?, ?, ?, ?, ?, 0)';
const EDIT_SQL = "UPDATE messages SET content = content || ' edited', tool_name = 'renamed' WHERE id = ?";
const ROLE_SQL = "UPDATE messages SET role = 'assistant' WHERE id = ?";
const DELETE_SQL = 'DELETE FROM messages WHERE id = ?';

const SOURCES = ['cli', 'cron', 'subagent', 'delegate'] as const;
/** Longer than any layout keeps of a tool row, and of words that differ. */
const LONG_TEXT = Array.from({ length: 2000 }, (_, index) => `word${index}`).join(' ');

/** Inside the caller's transaction; afterwards no row of the trial is left. Throws SqliteError for what is no damage of an index. */
export function triggersAgree(db: Database.Database, shape: StoreShape, indexes: readonly IndexName[]): boolean {
  db.exec('SAVEPOINT trigger_trial');
  try {
    playTurns(db, shape);
    // Rank 1: also against the rows, where the index keeps no text of its own.
    for (const index of indexes) db.exec(`INSERT INTO ${FTS_TABLES[index]}(${FTS_TABLES[index]}, rank) VALUES ('integrity-check', 1)`);
    return true;
  } catch (error) {
    // Triggers of an index whose tokenizer isn't here stop every message: then nothing can be tried.
    if (isIndexDamage(error) || lacksTokenizer(error)) return false;
    throw error;
  } finally {
    db.exec('ROLLBACK TO trigger_trial');
    db.exec('RELEASE trigger_trial');
  }
}

function playTurns(db: Database.Database, shape: StoreShape): void {
  const insert = db.prepare(MESSAGE_SQL);
  for (const source of SOURCES) {
    const id = `_caduceus_trigger_trial_${source}`;
    db.prepare(SESSION_SQL).run(id, source === 'delegate' ? 'cli' : source);
    if (source === 'delegate' && shape.hasColumn('sessions', 'model_config')) db.prepare(CONFIG_SQL).run('{"_delegate_from":"x"}', id);
    const rows = [
      insert.run(id, 'user', 'a question', null, null),
      insert.run(id, 'assistant', null, null, '[{"name":"read"}]'),
      insert.run(id, 'tool', LONG_TEXT, 'read', null),
      insert.run(id, 'tool', LONG_TEXT, 'read', null),
      insert.run(id, 'tool', 'short', 'read', null),
      insert.run(id, 'user', 'another question', null, null),
    ].map(({ lastInsertRowid }) => lastInsertRowid);
    const [question, , tool, otherTool, short, another] = rows;
    for (const edited of [question, tool]) db.prepare(EDIT_SQL).run(edited);
    db.prepare(ROLE_SQL).run(short);
    for (const deleted of [otherTool, another]) db.prepare(DELETE_SQL).run(deleted);
  }
}
