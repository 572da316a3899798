/**
 * Replaying the spool files of one session (`spec/state-db-writes.md` S5, S9, S10; A5): oldest first, each claimed, appended to where the
 * conversation goes on by now, and removed once that is committed. The first failure stops the drain and keeps the rest, in order.
 */
import { CaduceusError } from '../errors.ts';
import type { SpoolClaim, SpoolDirectory, SpoolListing } from './spool-directory.ts';
import type { SpoolEntry } from './spool-entry.ts';
import { errorCode } from './spool-files.ts';
import { type CapDrop, type SpooledMessage, withStableUid } from './spool-payload.ts';

export interface ReplayTarget {
  /** S9: the session that takes messages of this one by now; null when none does, and the files stay. */
  resolveTarget(sessionId: string): Promise<string | null>;
  /** Writes the message unless one with its uid is there. It is committed when this resolves; a rejection stops the drain. */
  append(sessionId: string, message: SpooledMessage): Promise<{ readonly messageId: string | null; readonly duplicate: boolean }>;
}

export interface DrainOptions {
  /** Sessions that this one continues: their files are replayed too, in one order. */
  readonly ancestors?: readonly string[];
  /** At most so many files; default all. */
  readonly limit?: number;
  /** Tells what would be replayed and changes nothing. */
  readonly dryRun?: boolean;
}

/** One message that is in the store. */
export interface Replayed {
  readonly spoolId: string;
  readonly messageId: string | null;
  /** It was there before. */
  readonly duplicate: boolean;
}

export interface DrainStop {
  /**
   * SPOOL_CLAIMED: another program is replaying the file. SPOOL_INVALID: the file can't be used, and what follows must not overtake it.
   * SPOOL_TOO_LARGE: not all names could be looked at. SPOOL_READ_FAILED: a file could not be read this time, so whose it is is not known.
   * NO_LIVE_CONTINUATION: no session takes the message. Otherwise the code of the error.
   */
  readonly code: string;
  readonly spoolId: string | null;
  readonly cause: unknown;
}

export interface DrainResult {
  readonly replayed: readonly Replayed[];
  /** Files that were set aside because their message is no object. */
  readonly invalidated: readonly string[];
  /** Files of the session that are left. */
  readonly remaining: number;
  readonly stoppedBy: DrainStop | null;
}

/** What became of one file. */
type Outcome = 'DONE' | 'INVALIDATED' | DrainStop;

/** Drains one session; see above. What the target throws is told in `stoppedBy`. Throws only when the folder itself can't be listed. */
export async function drainSession(
  spool: SpoolDirectory,
  sessionId: string,
  target: ReplayTarget,
  { ancestors = [], limit = Number.POSITIVE_INFINITY, dryRun = false }: DrainOptions = {},
): Promise<DrainResult> {
  const sessionIds = [sessionId, ...ancestors];
  const listing = spool.list(['PENDING', 'CLAIMED']);
  const files = listing.entries.filter((entry) => isReplayed(entry, sessionIds));
  const replayed: Replayed[] = [];
  const invalidated: string[] = [];
  const result = (done: number, stoppedBy: DrainStop | null) => ({ replayed, invalidated, remaining: files.length - done, stoppedBy });

  const unseen = stopForUnseen(listing);
  if (unseen !== null) return result(0, unseen);
  if (dryRun) {
    const planned = files.slice(0, limit).map(({ spoolId }) => ({ spoolId, messageId: null, duplicate: false }));
    return { replayed: planned, invalidated, remaining: files.length, stoppedBy: null };
  }
  for (const [index, entry] of files.entries()) {
    if (index >= limit) return result(index, null);
    const outcome = await replayFile(spool, entry, target, replayed);
    if (typeof outcome === 'object') return result(index, outcome);
    if (outcome === 'INVALIDATED') invalidated.push(entry.spoolId);
  }
  return result(files.length, null);
}

/** An older message could be in what was not seen, so that nothing may be replayed yet; null when all was seen. */
export function stopForUnseen({ entries, truncated }: SpoolListing): DrainStop | null {
  if (truncated) return stop('SPOOL_TOO_LARGE', null);
  const failed = entries.find(({ problem }) => problem === 'READ_FAILED');
  return failed === undefined ? null : stop('SPOOL_READ_FAILED', failed.spoolId);
}

/** The stop that an error is told as; `cause` is for the log. */
export function stopFor(error: unknown, spoolId: string): DrainStop {
  return stop(error instanceof CaduceusError ? error.code : (errorCode(error) ?? 'FAILED'), spoolId, error);
}

/** Gives a claim back after a failure; where that fails too the claim grows stale, and the file is replayed then. */
export function giveBack(spool: SpoolDirectory, claim: SpoolClaim): void {
  try {
    spool.release(claim);
  } catch (error) {
    if (!(error instanceof CaduceusError)) throw error;
  }
}

/**
 * S7: the messages of a claimed cap drop, which has a uid on disk before anything of it is written to a store. Null when another took the
 * claim over.
 */
export function withUid(spool: SpoolDirectory, claim: SpoolClaim, bytes: Buffer): CapDrop | null {
  spool.rewrite(claim, withStableUid(bytes, claim.spoolId));
  const payload = spool.open(claim)?.payload;
  return payload?.kind === 'CAP_DROP' && payload.identified ? payload : null;
}

async function replayFile(spool: SpoolDirectory, entry: SpoolEntry, target: ReplayTarget, replayed: Replayed[]): Promise<Outcome> {
  const { spoolId } = entry;
  let claim: SpoolClaim | null = null;
  try {
    // Asked before the file is claimed, so that files that have nowhere to go are left alone.
    const sessionId = entry.sessionId === null ? null : await target.resolveTarget(entry.sessionId);
    if (sessionId === null) return stop('NO_LIVE_CONTINUATION', spoolId);
    const claimed = spool.claim(entry);
    if (claimed === 'GONE') return 'DONE';
    if (claimed === 'HELD') return stop('SPOOL_CLAIMED', spoolId);
    claim = claimed;
    const payload = readClaimed(spool, claim, entry);
    if (payload === 'INVALIDATED') return payload;
    if (typeof payload === 'string') {
      giveBack(spool, claim);
      return stop(payload, spoolId);
    }
    for (const message of payload.messages) replayed.push({ spoolId, ...(await target.append(sessionId, message)) });
  } catch (error) {
    if (claim !== null) giveBack(spool, claim);
    return stopFor(error, spoolId);
  }
  try {
    spool.remove(claim);
    return 'DONE';
  } catch (error) {
    // Committed, and still claimed: given back, the owning programs would write it again.
    return stopFor(error, spoolId);
  }
}

/** What a claimed file holds now, which may differ from what the list read. */
function readClaimed(
  spool: SpoolDirectory,
  claim: SpoolClaim,
  listed: SpoolEntry,
): CapDrop | 'INVALIDATED' | 'SPOOL_CLAIMED' | 'SPOOL_INVALID' {
  const opened = spool.open(claim);
  if (opened === null) return 'SPOOL_CLAIMED';
  const { payload } = opened;
  if (payload.kind === 'INVALID' && payload.problem === 'MESSAGE_NOT_AN_OBJECT') {
    return spool.setAside(claim, 'INVALID') ? 'INVALIDATED' : 'SPOOL_CLAIMED';
  }
  if (payload.kind !== 'CAP_DROP' || payload.sessionId !== listed.sessionId) return 'SPOOL_INVALID';
  return payload.identified ? payload : (withUid(spool, claim, opened.bytes) ?? 'SPOOL_CLAIMED');
}

/** S5: cap drops of the session, also those that can't be used, for nothing may overtake them. */
function isReplayed(entry: SpoolEntry, sessionIds: readonly string[]): boolean {
  return entry.reason === 'transcript_cap_drop' && entry.sessionId !== null && sessionIds.includes(entry.sessionId);
}

function stop(code: string, spoolId: string | null, cause: unknown = null): DrainStop {
  return { code, spoolId, cause };
}
