/**
 * The repair of a damaged store, step by step (`spec/state-db-writes.md` H3). It may be killed at any instant: the store is only ever
 * written by one transaction of SQLite at the end. For a process of its own that has no connection to the store.
 */
import Database from 'better-sqlite3';
import { WriteRefused } from '../../write-refused.ts';
import { isBusy, sqliteCode } from '../health.ts';
import { type AdmissionOptions, lockFor } from './admission.ts';
import { type BackupStep, backUp } from './backup.ts';
import type { FileLock } from './file-lock.ts';
import { readHeaderState, storedJournalMode, storeFingerprint } from './fingerprint.ts';
import { isOpenHere, refuseHolders } from './foreign-holders.ts';
import { bundleBytes, headroom, type Volume, volumeOf } from './free-space.ts';
import { clearLedger, isExhausted, recordFailure } from './ledger.ts';
import { ExclusiveGuard, isDamage, isUnused } from './own-connection.ts';
import { probeStore } from './probe.ts';
import { recoveryAdvice } from './recovery-advice.ts';
import { CopyTimedOut, promote, scratchPath, sweepScratch, takeSnapshot } from './scratch.ts';
import { refusalOf } from './sqlite-refusal.ts';
import { STRATEGIES, type StrategyName } from './strategies.ts';

const LOCK_WAIT_MS = 120_000;
const SPACE_FACTOR = 3;
const COUNTED_TABLES = ['sessions', 'messages'] as const;

export type RepairStep =
  | 'locked'
  | 'swept'
  | 'probed'
  | BackupStep
  | 'backed-up'
  | 'guarded'
  | 'snapshot-taken'
  | StrategyName
  | 'promoting'
  | 'promoted'
  | 'closed';

/** `ours`: our own processes that may have the store open; a repair still needs them to close it. */
export interface RepairOptions extends AdmissionOptions {
  /** What `storeFingerprint` said of the store that the operator wants repaired. */
  readonly confirmFingerprint?: string;
  /** Keep a copy of the damaged store first. Default true. */
  readonly backup?: boolean;
  readonly volume?: (path: string) => Volume;
  readonly now?: () => Date;
  /** Told at every step, before the next one begins. */
  readonly onStep?: (step: RepairStep) => void;
}

export interface RepairReport {
  readonly repaired: boolean;
  /** `already_healthy` and `repaired_by_other_process` where nothing was left to do. */
  readonly strategy: StrategyName | 'already_healthy' | 'repaired_by_other_process' | null;
  readonly backupName: string | null;
  /** For people: why the store is not repaired, and what is left to do. */
  readonly error: string | null;
}

/**
 * Repairs the store at `storePath`, or reports that nothing helped; then the store is as it was. Throws WriteRefused when it was not to be
 * tried: STORE_QUARANTINED, NOT_FOUND, STORE_INVALID (an empty file), CONFLICT (another fingerprint), REPAIR_EXHAUSTED, STORE_BUSY (another
 * repair), FOREIGN_HOLDERS, BACKUP_REFUSED, NO_SPACE, REPAIR_FAILED (an earlier repair's scratch file can't be removed).
 */
export async function repairStore(storePath: string, options: RepairOptions = {}): Promise<RepairReport> {
  if (options.quarantined) throw new WriteRefused('STORE_QUARANTINED');
  if (isOpenHere(storePath)) throw new WriteRefused('BACKUP_REFUSED', 'The process that should repair the store has it open.');
  refuseShells(storePath);
  const fingerprint = storeFingerprint(storePath);
  if (options.confirmFingerprint !== undefined && options.confirmFingerprint !== fingerprint) {
    throw new WriteRefused('CONFLICT', 'The store has another fingerprint.', { details: { fingerprint } });
  }
  refuseExhausted(storePath);
  const lock = await lockFor(`${storePath}.repair.lock`, options, { waitMs: LOCK_WAIT_MS });
  return lock === null ? afterOther(storePath) : underLock(storePath, options, lock);
}

/** A store of no bytes is a healthy empty database to SQLite; it is none of ours (`spec/state-db-writes.md` Q6). */
function refuseShells(storePath: string): void {
  const header = readHeaderState(storePath);
  if (header === 'MISSING') throw new WriteRefused('NOT_FOUND', 'There is no state.db.');
  if (header === 'EMPTY') throw new WriteRefused('STORE_INVALID');
}

function refuseExhausted(storePath: string): void {
  if (isExhausted(storePath, storeFingerprint(storePath))) throw new WriteRefused('REPAIR_EXHAUSTED', recoveryAdvice());
}

/** Another process repairs the store, or has just done so. */
function afterOther(storePath: string): RepairReport {
  if (!probeStore(storePath, { writeProbe: true }).healthy) throw new WriteRefused('STORE_BUSY', 'Another repair is under way.');
  return { repaired: true, strategy: 'repaired_by_other_process', backupName: null, error: null };
}

async function underLock(storePath: string, options: RepairOptions, lock: FileLock): Promise<RepairReport> {
  try {
    options.onStep?.('locked');
    refuseExhausted(storePath);
    refuseHolders(storePath, options);
    if (!isUnused(storePath)) throw new WriteRefused('FOREIGN_HOLDERS', 'It is locked.', { details: { count: null } });
    removeScratch(storePath);
    options.onStep?.('swept');
    if (probeStore(storePath, { writeProbe: true }).healthy) {
      clearLedger(storePath);
      return { repaired: true, strategy: 'already_healthy', backupName: null, error: null };
    }
    options.onStep?.('probed');
    const backupName = options.backup === false ? null : (await backUp(storePath, options)).name;
    options.onStep?.('backed-up');
    return await mend(storePath, options, backupName);
  } catch (error) {
    throw refusalOf(error);
  } finally {
    lock.release();
  }
}

function removeScratch(storePath: string): void {
  try {
    sweepScratch(storePath);
  } catch (error) {
    throw new WriteRefused('REPAIR_FAILED', 'What an earlier repair left can not be removed.', { cause: error });
  }
}

async function mend(storePath: string, options: RepairOptions, backupName: string | null): Promise<RepairReport> {
  const outcome = await guarded(storePath, options);
  if (typeof outcome === 'string') {
    clearLedger(storePath);
    return { repaired: true, strategy: outcome, backupName, error: null };
  }
  if (outcome.counts) recordFailure(storePath, storeFingerprint(storePath), options.now?.() ?? new Date());
  const { message } = new WriteRefused('REPAIR_FAILED', recoveryAdvice(outcome.reason));
  return { repaired: false, strategy: null, backupName, error: message };
}

/** Why a repair did not come about; `counts` when repeating it would end the same (`spec/state-db-writes.md` H6). */
interface Failure {
  readonly reason: string;
  readonly counts: boolean;
}

async function guarded(storePath: string, options: RepairOptions): Promise<StrategyName | Failure> {
  const journalMode = storedJournalMode(storePath);
  let guard: ExclusiveGuard;
  try {
    guard = new ExclusiveGuard(storePath);
  } catch (error) {
    if (isBusy(error)) throw new WriteRefused('FOREIGN_HOLDERS', 'It is locked.', { cause: error, details: { count: null } });
    return failureOf(error);
  }
  let promoted = false;
  try {
    options.onStep?.('guarded');
    refuseSmallVolume(storePath, options);
    await takeSnapshot(storePath, guard);
    options.onStep?.('snapshot-taken');
    const strategy = firstThatHelps(storePath, options);
    if (strategy === null) return { reason: 'None of the ways to repair it made the store healthy.', counts: true };
    await promote(storePath, guard, { ...options, onStep: () => options.onStep?.('promoting') });
    promoted = true;
    options.onStep?.('promoted');
    return strategy;
  } catch (error) {
    if (error instanceof WriteRefused) throw error;
    return failureOf(error);
  } finally {
    if (promoted) finish(guard, journalMode);
    else guard.close();
    sweepScratch(storePath);
    options.onStep?.('closed');
  }
}

function refuseSmallVolume(storePath: string, { volume = volumeOf }: RepairOptions): void {
  const room = volume(storePath);
  if (room.free < SPACE_FACTOR * bundleBytes(storePath) + headroom(room)) {
    throw new WriteRefused('NO_SPACE', 'A repair needs three times the size of the store, and some room besides.');
  }
}

function failureOf(error: unknown): Failure {
  if (isDamage(error)) return { reason: 'The file is too damaged to be copied.', counts: true };
  if (error instanceof CopyTimedOut || sqliteCode(error) !== null) return { reason: `${(error as Error).message}.`, counts: false };
  throw error;
}

/** Applies one after the other to the scratch file until the probe is content and no row is missing. */
function firstThatHelps(storePath: string, { onStep }: RepairOptions): StrategyName | null {
  const scratch = scratchPath(storePath);
  const before = countRows(scratch);
  for (const { name, apply } of STRATEGIES) {
    const db = new Database(scratch, { fileMustExist: true });
    try {
      apply(db);
    } catch (error) {
      // The next one may do better; a disk that is full or fails is no answer of the store.
      if (!isDamage(error) && sqliteCode(error) !== 'SQLITE_ERROR') throw error;
    } finally {
      db.close();
    }
    onStep?.(name);
    if (probeStore(scratch, { writeProbe: true }).healthy && keptRows(before, countRows(scratch))) return name;
  }
  return null;
}

type RowCounts = readonly (number | null)[];

/** By walking the tables themselves; null where one can't be walked. */
function countRows(path: string): RowCounts {
  const db = new Database(path, { fileMustExist: true });
  try {
    db.unsafeMode(true);
    db.pragma('writable_schema = ON');
    return COUNTED_TABLES.map((table) => {
      try {
        return Number(db.prepare(`SELECT COUNT(*) FROM ${table} NOT INDEXED`).pluck().get());
      } catch (error) {
        if (sqliteCode(error) === null) throw error;
        return null;
      }
    });
  } finally {
    db.close();
  }
}

function keptRows(before: RowCounts, after: RowCounts): boolean {
  return before.every((count, index) => count === null || (after[index] ?? -1) >= count);
}

/** The backup keeps the journal mode of its destination; should it not have, it is set again. A mode that can't be set is no failure. */
function finish(guard: ExclusiveGuard, journalMode: 'wal' | 'delete' | null): void {
  try {
    if (journalMode !== null && guard.db.pragma('journal_mode', { simple: true }) !== journalMode) {
      guard.db.pragma(`journal_mode = ${journalMode}`);
    }
  } catch (error) {
    if (sqliteCode(error) === null) throw error;
  } finally {
    guard.closeWithCheckpoint();
  }
}
