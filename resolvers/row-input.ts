/**
 * What inputs about single rows have in common: row ids, leases, and how many rows one request may name.
 */
import { DEFAULT_TTL_SECONDS, type Lease } from '../src/state-db/write/admission.ts';
import { WriteRefused } from '../src/write-refused.ts';

const HIGHEST = 2n ** 63n - 1n;

/** The id as the store has it. Throws VALIDATION for what is no row id. */
export function checkedRowId(text: string, name = 'rowId'): string {
  if (/^\d{1,19}$/.test(text) && BigInt(text) <= HIGHEST) return String(BigInt(text));
  throw new WriteRefused('VALIDATION', `${name} is a whole number between 0 and 9223372036854775807, written in digits.`);
}

/** Throws TOO_MANY. */
export function atMost<T>(name: string, list: readonly T[], most: number): readonly T[] {
  if (list.length <= most) return list;
  throw new WriteRefused('TOO_MANY', `${name} has at most ${most} entries.`, { details: { most } });
}

export function leaseOf({ leaseToken }: { readonly leaseToken?: string | null | undefined }): Lease | null {
  return leaseToken == null ? null : { holder: leaseToken, ttlSeconds: DEFAULT_TTL_SECONDS };
}
