/**
 * What an error of SQLite means for a write, by its result code and never by wording where there is a code (`spec/state-db-writes.md` W7,
 * W8, X1, 19).
 */
import { type RefusalCode, WriteRefused } from '../../write-refused.ts';
import { isBusy, sqliteCode } from '../health.ts';

/**
 * LOCK: somebody else holds it, wait. IO: the disk. INDEX: a full-text index alone. STRUCTURE: the file. REFUSED: one of our own, or one
 * that a repeat doesn't change. UNKNOWN: no error of SQLite.
 */
export type FailureKind = 'LOCK' | 'IO' | 'INDEX' | 'STRUCTURE' | 'REFUSED' | 'UNKNOWN';

export function failureKind(error: unknown): FailureKind {
  if (error instanceof WriteRefused) return 'REFUSED';
  if (error instanceof Error && error.message.includes('no more rows available')) return 'LOCK';
  const code = sqliteCode(error);
  if (code === null) return 'UNKNOWN';
  if (isBusy(error)) return 'LOCK';
  // X1: the code decides alone.
  if (code === 'SQLITE_CORRUPT_VTAB') return 'INDEX';
  if (code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB') return 'STRUCTURE';
  if (code.startsWith('SQLITE_IOERR')) return 'IO';
  return refusalCode(code) === null ? 'UNKNOWN' : 'REFUSED';
}

/** The refusal that a result code stands for; null for the codes that are told apart before, and for those that are defects of ours. */
function refusalCode(code: string): RefusalCode | null {
  if (code === 'SQLITE_FULL') return 'STORE_FULL';
  if (code === 'SQLITE_READONLY_DBMOVED') return 'STORE_REPLACED';
  if (code.startsWith('SQLITE_READONLY')) return 'STORE_READONLY';
  if (code.startsWith('SQLITE_CANTOPEN')) return 'STORE_READONLY';
  if (code === 'SQLITE_CONSTRAINT_FOREIGNKEY') return 'SESSION_ROW_MISSING';
  return null;
}

/** The error to tell for one that SQLite raised; what isn't SQLite's, or is a defect of ours, stays as it is. */
export function asRefusal(error: unknown, details: Record<string, unknown>): unknown {
  if (error instanceof WriteRefused) return error;
  const sqlite = sqliteCode(error);
  if (sqlite === null) return error;
  const kinds: Partial<Record<FailureKind, RefusalCode>> = {
    LOCK: 'STORE_BUSY',
    IO: 'STORE_IO_UNSETTLED',
    INDEX: 'FTS_INDEX_DAMAGED',
    STRUCTURE: sqlite === 'SQLITE_NOTADB' ? 'STORE_INVALID' : 'STORE_CORRUPT',
  };
  const code = kinds[failureKind(error)] ?? refusalCode(sqlite);
  return code === null ? error : new WriteRefused(code, '', { cause: error, details: { sqliteCode: sqlite, ...details } });
}
