/** The check of a store on behalf of an operator (`spec/state-db-writes.md` H1, H4, H8), for a process that has no connection to it. */
import { WriteRefused } from '../../write-refused.ts';
import { readHeaderState, storeFingerprint } from './fingerprint.ts';
import { isOpenHere } from './foreign-holders.ts';
import { type ProbeOptions, type ProbeResult, probeStore } from './probe.ts';
import { recoveryAdvice } from './recovery-advice.ts';
import { refusalOf } from './sqlite-refusal.ts';

export interface CheckOptions extends ProbeOptions {
  /** The server's own handle is in quarantine (Q3, Q4). */
  readonly quarantined?: boolean;
}

export interface CheckReport extends ProbeResult {
  /** What a repair has to be asked for with. */
  readonly fingerprint: string | null;
  /** For an operator, where a repair can't be expected to help. */
  readonly advice: string | null;
}

/** Throws WriteRefused STORE_QUARANTINED, NOT_FOUND, STORE_INVALID (a file without a byte), STORE_BUSY, STORE_READONLY, STORE_UNREADABLE. */
export function checkStore(path: string, options: CheckOptions = {}): CheckReport {
  if (options.quarantined) throw new WriteRefused('STORE_QUARANTINED');
  // Beside an open connection its bytes must not be read (W11); then it has no fingerprint, and isn't repaired by this process either.
  const fingerprint = isOpenHere(path) ? null : fingerprintOf(path);
  try {
    const result = probeStore(path, options);
    return { ...result, fingerprint, advice: result.structural ? recoveryAdvice() : null };
  } catch (error) {
    throw refusalOf(error);
  }
}

function fingerprintOf(path: string): string | null {
  const header = readHeaderState(path);
  if (header === 'MISSING') throw new WriteRefused('NOT_FOUND', 'There is no state.db.');
  if (header === 'EMPTY') throw new WriteRefused('STORE_INVALID');
  return storeFingerprint(path);
}
