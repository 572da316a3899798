/**
 * Names of spool files (`spec/state-db-writes.md` S2, S5, S10, A9c, J3): `pending-<32 hex>.json`, and our suffixes behind `.json`, so that
 * the owning programs, which look for `*.json`, do not see those files.
 */
import type { ClaimHolder } from './claim-holder.ts';

/** What a file's name says of it. */
export type SpoolPlace = 'PENDING' | 'INVALID' | 'CLAIMED' | 'SUPERSEDED' | 'DEAD';

export interface SpoolName {
  readonly name: string;
  /** The 32 hex digits; they stay the same whatever becomes of the file. */
  readonly spoolId: string;
  readonly place: SpoolPlace;
  /** Who claimed it; null unless CLAIMED. */
  readonly holder: ClaimHolder | null;
}

const NAME = /^pending-([0-9a-f]{32})\.json(?:\.(?:(invalid|superseded|dead)|claim-([1-9][0-9]{0,9})-([0-9a-zA-Z]{1,64})))?$/;
const PLACES: Readonly<Record<string, SpoolPlace>> = { invalid: 'INVALID', superseded: 'SUPERSEDED', dead: 'DEAD' };

/** The parts of a name; null for every other file, which is not ours to touch. */
export function parseSpoolName(name: string): SpoolName | null {
  const [, spoolId, suffix, pid, nonce] = NAME.exec(name) ?? [];
  if (spoolId === undefined) return null;
  if (pid !== undefined && nonce !== undefined) return { name, spoolId, place: 'CLAIMED', holder: { pid: Number(pid), nonce } };
  return { name, spoolId, place: suffix === undefined ? 'PENDING' : (PLACES[suffix] ?? 'PENDING'), holder: null };
}

export function pendingName(spoolId: string): string {
  return `pending-${spoolId}.json`;
}

export function claimedName(spoolId: string, holder: ClaimHolder): string {
  return `${pendingName(spoolId)}.claim-${holder.pid}-${holder.nonce}`;
}

export function setAsideName(spoolId: string, place: 'INVALID' | 'SUPERSEDED' | 'DEAD'): string {
  return `${pendingName(spoolId)}.${place.toLowerCase()}`;
}
