/**
 * Indexes that keep a copy of their text (layout I, `spec/state-db.md` 10.1). FTS5 rebuilds such an index from that copy, which lacks what
 * was written while no trigger heard of it: the copy is brought in step with the rows afterwards.
 */
import type Database from 'better-sqlite3';

/** Newer triggers of the owner keep only so many characters of a tool row. */
const TOOL_PREFIX = 8192;

/** The text of one row, over the names of `messages` that `row` qualifies. */
export function inlineText(row: string, content = `${row}.content`): string {
  return `COALESCE(${content}, '') || ' ' || COALESCE(${row}.tool_name, '') || ' ' || COALESCE(${row}.tool_calls, '')`;
}

/** Inside the caller's transaction, after FTS5's own rebuild. Throws SqliteError. */
export function refillInlineIndex(db: Database.Database, table: string): void {
  const cut = `CASE WHEN m.role = 'tool' THEN substr(m.content, 1, ${TOOL_PREFIX}) ELSE m.content END`;
  db.exec(`DELETE FROM ${table} WHERE rowid IN (
    SELECT f.rowid FROM ${table} f LEFT JOIN messages m ON m.id = f.rowid
    WHERE m.id IS NULL OR (f.content IS NOT ${inlineText('m')} AND f.content IS NOT ${inlineText('m', cut)}))`);
  db.exec(`INSERT INTO ${table}(rowid, content)
    SELECT m.id, ${inlineText('m')} FROM messages m WHERE m.id NOT IN (SELECT rowid FROM ${table})`);
}
