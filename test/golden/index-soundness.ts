/**
 * Whether the full-text indexes of a store hold what its rows say, by row: FTS5's own check answers for an index as a whole, and this
 * SQLite already finds fault with fixtures that nobody touched. The trigram index of SQLite 3.40, which wrote them, ends a text at its first
 * NUL; newer ones go on behind it, so rows of structured content count as not indexed.
 */
import Database from 'better-sqlite3';

export const FTS_INDEXES = ['messages_fts', 'messages_fts_trigram'] as const;
export type FtsIndex = (typeof FTS_INDEXES)[number];

/** The columns that the indexes hold. */
export const INDEXED_COLUMNS = ['role', 'content', 'tool_name', 'tool_calls'] as const;

/** Stands among the row ids for a fault that is no single row's. */
export const WHOLE_INDEX = -1;

/** Ids of the rows whose words are not in the index as a rebuild would put them there; null when the index is missing or unreadable. */
export function unsoundRows(db: Database.Database, index: FtsIndex): ReadonlySet<number> | null {
  if (db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(index) === undefined) return null;
  db.exec(`CREATE VIRTUAL TABLE temp.${index}_words USING fts5vocab(main, ${index}, 'instance')`);
  // All of it counts as writing, and is taken back.
  db.exec('BEGIN IMMEDIATE');
  try {
    if (passes(db, index, 1)) return new Set();
    return passes(db, index, 0) ? differingRows(db, index) : null;
  } catch (error) {
    if (isCorruption(error)) return null;
    throw error;
  } finally {
    db.exec('ROLLBACK');
  }
}

/** FTS5's check: of the structure (0), or against the rows too (1). */
function passes(db: Database.Database, index: FtsIndex, rank: 0 | 1): boolean {
  try {
    db.exec(`INSERT INTO ${index}(${index}, rank) VALUES ('integrity-check', ${rank})`);
    return true;
  } catch (error) {
    if (isCorruption(error)) return false;
    throw error;
  }
}

function isCorruption(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith('SQLITE_CORRUPT');
}

function differingRows(db: Database.Database, index: FtsIndex): Set<number> {
  const held = wordsByRow(db, index);
  db.exec(`INSERT INTO ${index}(${index}) VALUES ('rebuild')`);
  const wanted = wordsByRow(db, index);
  const ids = new Set([...held.keys(), ...wanted.keys()]);
  const differing = [...ids].filter((id) => held.get(id) !== wanted.get(id));
  return new Set(differing.length > 0 ? differing : [WHOLE_INDEX]);
}

const SIZES = (index: FtsIndex) => `SELECT id, hex(sz) AS size FROM ${index}_docsize`;
const WORDS = (index: FtsIndex) => `SELECT doc, term, col, "offset" FROM temp.${index}_words ORDER BY doc, term, col, "offset"`;

function wordsByRow(db: Database.Database, index: FtsIndex): Map<number, string> {
  const lists = new Map<number, string[]>();
  for (const { id, size } of db.prepare<[], { id: number; size: string }>(SIZES(index)).all()) lists.set(id, [size]);
  for (const { doc, ...word } of db.prepare<[], { doc: number; term: string; col: string; offset: number }>(WORDS(index)).iterate()) {
    const list = lists.get(doc) ?? [];
    list.push(`${word.term} ${word.col} ${word.offset}`);
    lists.set(doc, list);
  }
  return new Map([...lists].map(([id, list]) => [id, list.join('\n')]));
}
