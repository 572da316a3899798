/**
 * What SQLite's own check of a store says, and whether that is about rows or about full-text indexes alone (`spec/state-db-writes.md` H1, H4).
 */
import { healthOf, sqliteCode } from '../health.ts';

/** Runs a statement; of any connection. */
export type Ask = (sql: string) => readonly Readonly<Record<string, unknown>>[];

export interface Integrity {
  /** As SQLite words them; none when all is well. */
  readonly lines: readonly string[];
  /** The damage is outside the full-text indexes: rebuilding those can't help. */
  readonly structural: boolean;
}

const FTS_PREFIX = 'messages_fts';
const ROOTS_SQL = 'SELECT name, tbl_name AS owner, rootpage AS root FROM sqlite_master WHERE rootpage > 0';
const PLAIN_TABLES_SQL = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'messages_fts*' ORDER BY rowid";

/** The check of the whole; throws what SQLite throws where it breaks off. */
export function checkIntegrity(ask: Ask, check: 'integrity_check' | 'quick_check'): Integrity {
  const lines = integrityLines(ask, check);
  return { lines, structural: isStructural(ask, lines) };
}

/** The check of the whole breaks off at a full-text index with a damaged page and tells nothing of the rest: that is looked at by itself. */
export function isStructuralFailure(ask: Ask, error: unknown): boolean {
  if (healthOf(error) === 'SCHEMA_MALFORMED') return false;
  try {
    return ask(PLAIN_TABLES_SQL).some(({ name }) => isStructural(ask, integrityLines(ask, 'integrity_check', String(name))));
  } catch (other) {
    if (!isTelling(other)) throw other;
    return true;
  }
}

/** Whether the error says something about the store, and not about the machine or another process. */
export function isTelling(error: unknown): error is Error {
  const code = sqliteCode(error);
  if (code === null) return false;
  return (
    ['SQLITE_CORRUPT', 'SQLITE_CONSTRAINT'].some((kind) => code.startsWith(kind)) || code === 'SQLITE_NOTADB' || code === 'SQLITE_ERROR'
  );
}

/** The lines of one of SQLite's checks, of the whole store or of one table. */
function integrityLines(ask: Ask, check: 'integrity_check' | 'quick_check', table?: string): string[] {
  const target = table === undefined ? '' : `("${table.replaceAll('"', '""')}")`;
  return ask(`PRAGMA ${check}${target}`)
    .flatMap((row) => Object.values(row))
    .map(String)
    .filter((line) => line !== 'ok');
}

/** Whether one of the lines is about something that no full-text index consists of. */
function isStructural(ask: Ask, lines: readonly string[]): boolean {
  const owners = new Map<number, boolean>();
  if (lines.length > 0) {
    for (const { name, owner, root } of ask(ROOTS_SQL)) {
      owners.set(Number(root), String(name).startsWith(FTS_PREFIX) || String(owner).startsWith(FTS_PREFIX));
    }
  }
  return lines.some((line) => {
    if (/^(?:\*\*\* in database \w+ \*\*\*\s*)?Freelist/.test(line)) return true;
    const index = /missing from index (\S+)/.exec(line)?.[1];
    if (index !== undefined) return !index.startsWith(FTS_PREFIX) && !index.startsWith(`sqlite_autoindex_${FTS_PREFIX}`);
    const root = /\bTree (\d+)/.exec(line)?.[1];
    // A root that belongs to nothing known can't be shown to be an index's.
    return root !== undefined && owners.get(Number(root)) !== true;
  });
}
