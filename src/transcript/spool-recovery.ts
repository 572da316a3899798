/**
 * Replaying the whole spool of a home when a server starts (`spec/state-db-writes.md` S7, S9; K10, K11): all messages of a session in one
 * batch that can be repeated, then its files removed. A session of which one file can't be used, or of which two files disagree, waits for a
 * person; the others go on.
 */
import { isDeepStrictEqual } from 'node:util';
import type { SpoolClaim, SpoolDirectory } from './spool-directory.ts';
import { type DrainStop, giveBack, stopFor, stopForUnseen, withUid } from './spool-drain.ts';
import type { SpoolEntry } from './spool-entry.ts';
import { type CapDrop, type HistoryDump, type PendingInput, type SpooledMessage, stableUid } from './spool-payload.ts';

export interface RecoveryTarget {
  /** S9: the session that takes messages of this one by now; null when none does. */
  resolveTarget(sessionId: string): Promise<string | null>;
  /** One transaction: writes the messages whose uid is not there, in order, and gives how many those were. */
  appendBatch(sessionId: string, messages: readonly SpooledMessage[]): Promise<number>;
  /** The session of an input whose file names only the gateway's route, as of `ts`. Without this function input that waits is kept. */
  resolveInput?(input: PendingInput): Promise<string | null>;
}

export interface RecoveredSession {
  readonly sessionId: string;
  /** Where its messages are now. */
  readonly target: string;
  readonly spoolIds: readonly string[];
  readonly inserted: number;
  /** Files whose messages are in the store but that could not be removed. */
  readonly notRemoved: DrainStop | null;
}

export interface BlockedSession {
  readonly sessionId: string;
  readonly spoolIds: readonly string[];
  /** The file that blocks it, and why: as `DrainStop`, or SPOOL_CONFLICT for two files with one uid and different messages. */
  readonly stoppedBy: DrainStop;
}

export interface RecoveryResult {
  readonly recovered: readonly RecoveredSession[];
  readonly blocked: readonly BlockedSession[];
  /** Files that are not for this: unparseable, dumps without uids, input of which the session is not known. */
  readonly kept: readonly string[];
  /** Why nothing was done, because not all files could be looked at; null otherwise. */
  readonly stoppedBy: DrainStop | null;
}

interface Claimed {
  readonly claims: SpoolClaim[];
  readonly messages: Map<string, SpooledMessage>;
}

/** Recovers all sessions, in the order of their oldest files, then the input that waits. Throws only when the folder can't be listed. */
export async function recoverSpool(spool: SpoolDirectory, target: RecoveryTarget): Promise<RecoveryResult> {
  const listing = spool.list(['PENDING', 'CLAIMED']);
  const stoppedBy = stopForUnseen(listing);
  const recovered: RecoveredSession[] = [];
  const blocked: BlockedSession[] = [];
  const kept: string[] = [];
  if (stoppedBy !== null) return { recovered, blocked, kept, stoppedBy };

  const add = (outcome: RecoveredSession | BlockedSession) => ('target' in outcome ? recovered.push(outcome) : blocked.push(outcome));
  const inputs: SpoolEntry[] = [];
  const sessions = new Map<string, SpoolEntry[]>();
  for (const entry of listing.entries) {
    if (entry.kind === 'PENDING_INPUT' && target.resolveInput !== undefined) inputs.push(entry);
    else if (entry.sessionId !== null && isTranscript(entry)) addTo(sessions, entry.sessionId, entry);
    else kept.push(entry.spoolId);
  }
  for (const [sessionId, files] of sessions) add(await recoverSession(spool, sessionId, files, target));
  for (const entry of inputs) {
    const outcome = await recoverInput(spool, entry, target);
    if (outcome === null) kept.push(entry.spoolId);
    else add(outcome);
  }
  return { recovered, blocked, kept, stoppedBy };
}

function addTo(sessions: Map<string, SpoolEntry[]>, sessionId: string, entry: SpoolEntry): void {
  const files = sessions.get(sessionId);
  if (files === undefined) sessions.set(sessionId, [entry]);
  else files.push(entry);
}

async function recoverSession(
  spool: SpoolDirectory,
  sessionId: string,
  files: readonly SpoolEntry[],
  target: RecoveryTarget,
): Promise<RecoveredSession | BlockedSession> {
  const claimed: Claimed = { claims: [], messages: new Map() };
  const spoolIds = files.map(({ spoolId }) => spoolId);
  const block = (stoppedBy: DrainStop): BlockedSession => {
    for (const claim of claimed.claims) giveBack(spool, claim);
    return { sessionId, spoolIds, stoppedBy };
  };
  let current = spoolIds[0] ?? '';
  try {
    const unusable = files.find(({ kind }) => kind === 'INVALID');
    if (unusable !== undefined) return block({ code: 'SPOOL_INVALID', spoolId: unusable.spoolId, cause: null });
    const live = await target.resolveTarget(sessionId);
    if (live === null) return block({ code: 'NO_LIVE_CONTINUATION', spoolId: current, cause: null });
    for (const entry of files) {
      current = entry.spoolId;
      const code = collect(spool, entry, claimed);
      if (code !== null) return block({ code, spoolId: current, cause: null });
    }
    const inserted = claimed.messages.size === 0 ? 0 : await target.appendBatch(live, [...claimed.messages.values()]);
    return { sessionId, target: live, spoolIds, inserted, notRemoved: removeAll(spool, claimed.claims) };
  } catch (error) {
    return block(stopFor(error, current));
  }
}

/** Claims a file and adds its messages to those of the session; gives a code when the session must wait, null when all is well. */
function collect(spool: SpoolDirectory, entry: SpoolEntry, { claims, messages }: Claimed): string | null {
  const claim = spool.claim(entry);
  if (claim === 'GONE') return null;
  if (claim === 'HELD') return 'SPOOL_CLAIMED';
  claims.push(claim);
  const opened = spool.open(claim);
  if (opened === null) return 'SPOOL_CLAIMED';
  const payload = identified(spool, claim, opened, entry);
  if (payload === null) return 'SPOOL_INVALID';
  for (const message of payload.messages) {
    const uid = String(message.message_uid);
    const other = messages.get(uid);
    if (other !== undefined && !isDeepStrictEqual(other, message)) return 'SPOOL_CONFLICT';
    messages.set(uid, other ?? message);
  }
  return null;
}

function identified(
  spool: SpoolDirectory,
  claim: SpoolClaim,
  { bytes, payload }: NonNullable<ReturnType<SpoolDirectory['open']>>,
  listed: SpoolEntry,
): CapDrop | HistoryDump | null {
  if ((payload.kind !== 'CAP_DROP' && payload.kind !== 'HISTORY_DUMP') || payload.sessionId !== listed.sessionId) return null;
  if (payload.identified) return payload;
  return payload.kind === 'CAP_DROP' ? withUid(spool, claim, bytes) : null;
}

/** One row of a person, with the time at which it was put aside; null when its session is not known. */
async function recoverInput(
  spool: SpoolDirectory,
  entry: SpoolEntry,
  target: RecoveryTarget,
): Promise<RecoveredSession | BlockedSession | null> {
  const { spoolId } = entry;
  const spoolIds = [spoolId];
  const sessionOf = async (input: PendingInput) => input.sessionId ?? (await target.resolveInput?.(input)) ?? null;
  const claim = spool.claim(entry);
  if (claim === 'GONE' || claim === 'HELD') return null;
  let sessionId = entry.sessionId ?? '';
  try {
    const payload = spool.open(claim)?.payload;
    const named = payload?.kind === 'PENDING_INPUT' ? await sessionOf(payload) : null;
    const live = named === null ? null : await target.resolveTarget(named);
    if (payload?.kind !== 'PENDING_INPUT' || live === null) {
      giveBack(spool, claim);
      return null;
    }
    sessionId = named ?? '';
    const time = payload.ts === 0 ? {} : { timestamp: payload.ts };
    const inserted = await target.appendBatch(live, [{ role: 'user', content: payload.text, ...time, message_uid: stableUid(spoolId) }]);
    return { sessionId, target: live, spoolIds, inserted, notRemoved: removeAll(spool, [claim]) };
  } catch (error) {
    giveBack(spool, claim);
    return { sessionId, spoolIds, stoppedBy: stopFor(error, spoolId) };
  }
}

/** Committed files that can't be removed stay claimed: given back, the owning programs would write them again. */
function removeAll(spool: SpoolDirectory, claims: readonly SpoolClaim[]): DrainStop | null {
  let failed: DrainStop | null = null;
  for (const claim of claims) {
    try {
      spool.remove(claim);
    } catch (error) {
      failed ??= stopFor(error, claim.spoolId);
    }
  }
  return failed;
}

/** A dump without uids is for a person: nobody can tell which of it the store has. One that can't be used blocks its session. */
function isTranscript({ reason, kind, identified }: SpoolEntry): boolean {
  if (reason === 'transcript_cap_drop') return true;
  return reason === 'shutdown-with-unpersisted-agent-history' && (identified || kind === 'INVALID');
}
