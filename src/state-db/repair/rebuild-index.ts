/**
 * The rebuild of the full-text indexes from the rows (`spec/state-db-writes.md` X4 to X7), for a process of its own. One that is killed leaves
 * each index as it was or rebuilt, and the mark of staleness until all are.
 */
import Database from 'better-sqlite3';
import { WriteRefused } from '../../write-refused.ts';
import { type AdmissionOptions, admit, lockFor } from './admission.ts';
import { refuseHolders } from './foreign-holders.ts';
import type { IndexName } from './fts-tables.ts';
import { IndexRebuild, type RebuildProgress, type RebuildReport } from './index-rebuild.ts';
import { refusalOf } from './sqlite-refusal.ts';

const ADMISSION_WAIT_MS = 120_000;
const BUSY_WAIT_MS = 20_000;
/** One rebuild in this time is enough (`spec/state-db-writes.md` A13). */
export const REBUILD_COOLDOWN_MS = 300_000;

export interface RebuildOptions extends AdmissionOptions {
  /** Default: all that the store has. */
  readonly tables?: readonly IndexName[];
  /** Say what would be rebuilt, and touch nothing. */
  readonly dryRun?: boolean;
  /** When this server rebuilt an index of this store last; a rebuild that was refused is none. */
  readonly lastRebuildAt?: Date | null;
  /** Path of the loadable tokenizer of the CJK index. */
  readonly tokenizer?: string;
  readonly now?: () => Date;
  readonly busyWaitMs?: number;
  readonly onProgress?: (progress: RebuildProgress) => void;
}

/**
 * Rebuilds the indexes of the store at `path`. Throws WriteRefused: NOT_FOUND, STORE_INVALID, STORE_QUARANTINED, REBUILD_COOLDOWN,
 * FOREIGN_HOLDERS (details: `count`), STORE_BUSY (another rebuild, or a writer that does not let go), STORE_CORRUPT (the rows themselves are
 * damaged), STORE_FULL, STORE_READONLY.
 */
export async function rebuildIndex(path: string, options: RebuildOptions = {}): Promise<RebuildReport> {
  admit(path, options);
  refuseCooldown(options);
  const { tables = null, onProgress } = options;
  if (options.dryRun) return withStore(path, options, (db) => new IndexRebuild(db, tables).plan());
  const lock = await lockFor(`${path}.fts_rebuild.lock`, options, { waitMs: ADMISSION_WAIT_MS, stamped: true });
  if (lock === null) throw new WriteRefused('STORE_BUSY', 'Another rebuild is under way.');
  try {
    refuseHolders(path, options);
    return withStore(path, options, (db) => new IndexRebuild(db, tables).run(onProgress));
  } finally {
    lock.release();
  }
}

function refuseCooldown({ lastRebuildAt, now = () => new Date() }: RebuildOptions): void {
  if (!lastRebuildAt) return;
  const retryAfterMs = REBUILD_COOLDOWN_MS - (now().getTime() - lastRebuildAt.getTime());
  if (retryAfterMs > 0) throw new WriteRefused('REBUILD_COOLDOWN', '', { details: { retryAfterMs } });
}

function withStore<T>(path: string, options: RebuildOptions, work: (db: Database.Database) => T): T {
  let db: Database.Database | null = null;
  try {
    db = new Database(path, { fileMustExist: true, readonly: options.dryRun === true, timeout: options.busyWaitMs ?? BUSY_WAIT_MS });
    if (options.tokenizer !== undefined) db.loadExtension(options.tokenizer);
    return work(db);
  } catch (error) {
    throw refusalOf(error);
  } finally {
    db?.close();
  }
}
