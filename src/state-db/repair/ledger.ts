/**
 * How often a repair of the same damage has failed, in the file that the owner's programs keep too (`spec/state-db-writes.md` H6).
 */
import { readFileSync, rmSync } from 'node:fs';
import { replaceFile } from './replace-file.ts';

const MOST_ATTEMPTS = 3;

interface Ledger {
  readonly fingerprint: string;
  readonly failedAttempts: number;
}

/** Whether three repairs of the store with this fingerprint have failed. Null: it can't be told, and what was recorded last counts. */
export function isExhausted(storePath: string, fingerprint: string | null): boolean {
  const ledger = readLedger(storePath);
  if (ledger === null || ledger.failedAttempts < MOST_ATTEMPTS) return false;
  return fingerprint === null || fingerprint === ledger.fingerprint;
}

/** Counts one failed repair. Without a fingerprint the recorded one is counted on; without either there is nothing to count by. */
export function recordFailure(storePath: string, fingerprint: string | null, now: Date): void {
  const ledger = readLedger(storePath);
  const counted = fingerprint ?? ledger?.fingerprint;
  if (counted === undefined) return;
  const before = ledger?.fingerprint === counted ? ledger.failedAttempts : 0;
  const entry = { fingerprint: counted, failed_attempts: before + 1, last_attempt: now.getTime() / 1000 };
  replaceFile(ledgerPath(storePath), JSON.stringify(entry));
}

/** After a success. */
export function clearLedger(storePath: string): void {
  rmSync(ledgerPath(storePath), { force: true });
}

function ledgerPath(storePath: string): string {
  return `${storePath}.repair-attempts.json`;
}

function readLedger(storePath: string): Ledger | null {
  try {
    const entry: unknown = JSON.parse(readFileSync(ledgerPath(storePath), 'utf8'));
    if (typeof entry !== 'object' || entry === null || !('fingerprint' in entry) || !('failed_attempts' in entry)) return null;
    const { fingerprint, failed_attempts: failedAttempts } = entry;
    if (typeof fingerprint !== 'string' || typeof failedAttempts !== 'number' || !Number.isSafeInteger(failedAttempts)) return null;
    return { fingerprint, failedAttempts };
  } catch {
    // None yet, or not written by a program that knows it: no failure is on record.
    return null;
  }
}
