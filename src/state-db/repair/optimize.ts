/**
 * Packing a store: its indexes merged, its file without the room of deleted rows (`spec/state-db-writes.md` M1, X9). Changes no row and no
 * result of a search. For a process of its own.
 */
import Database from 'better-sqlite3';
import { WriteRefused } from '../../write-refused.ts';
import { sqliteCode } from '../health.ts';
import { type AdmissionOptions, admit, lockFor } from './admission.ts';
import { refuseHolders } from './foreign-holders.ts';
import { bundleBytes, headroom, type Volume, volumeOf } from './free-space.ts';
import { FTS_TABLES, type IndexName, lacksTokenizer, presentIndexes } from './fts-tables.ts';
import { isDamage } from './own-connection.ts';
import { refusalOf } from './sqlite-refusal.ts';

const BUSY_WAIT_MS = 5000;
/** The new file while the old one is there, and its way through the -wal. */
const SPACE_FACTOR = 2;

export type OptimizeStep = 'merged' | 'checkpointed' | 'vacuumed' | 'truncated';

export interface OptimizeOptions extends AdmissionOptions {
  readonly volume?: (path: string) => Volume;
  readonly busyWaitMs?: number;
  readonly onStep?: (step: OptimizeStep) => void;
}

export interface OptimizeReport {
  /** Bytes of the pages of the store: the file itself lags behind while a -wal is there. */
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  readonly merged: readonly IndexName[];
  /** Indexes that are damaged, or whose tokenizer isn't here. */
  readonly skipped: readonly IndexName[];
}

/**
 * Throws WriteRefused STORE_QUARANTINED, NOT_FOUND, STORE_INVALID, FOREIGN_HOLDERS, NO_SPACE, STORE_BUSY (a lock that is not given up, or
 * the owner's own maintenance), STORE_CORRUPT, STORE_FULL, STORE_READONLY. Whoever has recorded the identity of the files has to do so anew.
 */
export async function optimizeStore(path: string, options: OptimizeOptions = {}): Promise<OptimizeReport> {
  admit(path, options);
  const room = (options.volume ?? volumeOf)(path);
  if (room.free < SPACE_FACTOR * bundleBytes(path) + headroom(room)) throw new WriteRefused('NO_SPACE');
  const lock = await lockFor(`${path}.auto-maintenance.lock`, options, { waitMs: 0 });
  if (lock === null) throw new WriteRefused('STORE_BUSY', 'The maintenance of the owning program is under way.');
  try {
    refuseHolders(path, options);
    return pack(path, options);
  } finally {
    lock.release();
  }
}

function pack(path: string, { busyWaitMs = BUSY_WAIT_MS, onStep }: OptimizeOptions): OptimizeReport {
  let db: Database.Database | null = null;
  try {
    db = new Database(path, { fileMustExist: true, timeout: busyWaitMs });
    const bytesBefore = pageBytes(db);
    const present = presentIndexes(db);
    const merged = mergeIndexes(db, present);
    onStep?.('merged');
    db.pragma('wal_checkpoint(PASSIVE)');
    onStep?.('checkpointed');
    db.exec('VACUUM');
    onStep?.('vacuumed');
    db.pragma('wal_checkpoint(TRUNCATE)');
    onStep?.('truncated');
    return { bytesBefore, bytesAfter: pageBytes(db), merged, skipped: present.filter((name) => !merged.includes(name)) };
  } catch (error) {
    throw refusalOf(error);
  } finally {
    db?.close();
  }
}

function mergeIndexes(db: Database.Database, present: readonly IndexName[]): IndexName[] {
  return present.filter((name) => {
    const table = FTS_TABLES[name];
    try {
      db.exec(`INSERT INTO ${table}(${table}) VALUES ('optimize')`);
      return true;
    } catch (error) {
      // An index that can't be merged is no reason to leave the rest as it is.
      if (lacksTokenizer(error) || isDamage(error) || sqliteCode(error) === 'SQLITE_ERROR') return false;
      throw error;
    }
  });
}

function pageBytes(db: Database.Database): number {
  return Number(db.pragma('page_count', { simple: true })) * Number(db.pragma('page_size', { simple: true }));
}
