/** Spool files that must not be replayed any more (`spec/state-db-writes.md` J3, retireSpoolEntry): kept, under a name that no drain reads. */
import { WriteRefused } from '../write-refused.ts';
import type { SpoolClaim, SpoolDirectory } from './spool-directory.ts';
import type { SpoolEntry } from './spool-entry.ts';

/** Problems of files whose digest is not that of their bytes. */
const UNREAD: ReadonlySet<string | null> = new Set(['OVERSIZED', 'UNREADABLE', 'READ_FAILED']);

export interface SupersedeOptions {
  /** Also what a person sent and no turn began with: for a session that was deleted. */
  readonly pendingInput?: boolean;
  /** Whole epoch seconds: files of later messages stay, for a change that is made up for at the start of the server (K18). */
  readonly writtenUntil?: number;
}

export interface Superseded {
  readonly superseded: readonly string[];
  /** Files that another process is replaying at this moment. */
  readonly held: readonly string[];
}

/**
 * J3: sets the files of these sessions aside, after the transaction that rewrote, rewound or deleted them committed. Dead letters and files
 * that were set aside stay as they are, for nothing replays them. Throws `SpoolUnwritable`; a repeat goes on where it stopped.
 */
export function supersedeSessions(spool: SpoolDirectory, sessionIds: readonly string[], options: SupersedeOptions = {}): Superseded {
  const superseded: string[] = [];
  const held: string[] = [];
  for (const entry of spool.list(['PENDING', 'CLAIMED']).entries) {
    if (entry.sessionId === null || !sessionIds.includes(entry.sessionId) || !isMeant(entry, options)) continue;
    const claim = spool.claim(entry);
    if (claim === 'GONE') continue;
    if (claim !== 'HELD' && spool.setAside(claim, 'SUPERSEDED')) superseded.push(entry.spoolId);
    else held.push(entry.spoolId);
  }
  return { superseded, held };
}

/**
 * Sets one file aside that a person looked at. `expectedDigest` is the digest that its entry had then. A repeat gives the entry as it is.
 * Throws `WriteRefused` (NOT_FOUND, CONFLICT when the file is another or is being replayed) and `SpoolUnwritable`.
 */
export function retireSpoolEntry(spool: SpoolDirectory, spoolId: string, expectedDigest: string): SpoolEntry {
  const entry = spool.find(spoolId);
  if (entry === null) throw new WriteRefused('NOT_FOUND');
  if (entry.digest !== expectedDigest) throw new WriteRefused('CONFLICT', 'The spool file has other content.');
  if (entry.place === 'SUPERSEDED') return entry;
  const file = takeHold(spool, entry, expectedDigest);
  if (!spool.setAside(file, 'SUPERSEDED')) throw new WriteRefused('CONFLICT', 'The spool file was taken by another program.');
  return spool.find(spoolId) ?? { ...entry, place: 'SUPERSEDED', state: 'SUPERSEDED', claimable: false };
}

function isMeant(entry: SpoolEntry, { pendingInput = false, writtenUntil }: SupersedeOptions): boolean {
  if (writtenUntil !== undefined && entry.ts > writtenUntil) return false;
  return entry.kind === 'PENDING_INPUT' ? pendingInput : true;
}

/** Files that were set aside have no other readers; the rest is claimed, so that no drain replays what is retired. */
function takeHold(spool: SpoolDirectory, entry: SpoolEntry, expectedDigest: string): SpoolClaim {
  if (entry.place === 'INVALID' || entry.place === 'DEAD') return entry;
  const claim = spool.claim(entry);
  if (claim === 'GONE') throw new WriteRefused('NOT_FOUND');
  if (claim === 'HELD') throw new WriteRefused('CONFLICT', 'The spool file is being replayed.');
  const opened = UNREAD.has(entry.problem) ? null : spool.open(claim);
  if (opened !== null && opened.digest !== expectedDigest) {
    spool.release(claim);
    throw new WriteRefused('CONFLICT', 'The spool file has other content.');
  }
  return claim;
}
