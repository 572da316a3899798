/**
 * Signs of life and of compaction: labels, lease renewals, compression locks (`spec/live-turns.md` 6.2, 6.3, 11.1).
 */
import type { LiveSession } from '../../state-db/live-segments.ts';
import type { Hold } from '../../state-db/liveness.ts';
import { digest8, type RowEvent, rowEvent, stateId } from './events.ts';

/** A heartbeat is written once a minute at most; renewals of a lease are told only where no heartbeat was for longer than that. */
const HEARTBEAT_SECONDS = 90;

/** Names one holding of a lease or lock: renewing doesn't change it. */
export function holdKey(hold: Hold): string {
  return digest8([hold.key, hold.acquiredAt, hold.holderPid, hold.platform]);
}

/** The hold as of a later moment. */
export function holdAt(hold: Hold, now: number): Hold {
  return { ...hold, live: hold.live && hold.expiresAt !== null && hold.expiresAt > now };
}

export interface ActivityState {
  /** When a heartbeat was told last. */
  readonly toldAt: number | null;
}

export function activityEvents(
  state: ActivityState,
  before: LiveSession,
  after: LiveSession,
  lease: { readonly before: Hold | null; readonly after: Hold | null },
  now: number,
): { events: RowEvent[]; state: ActivityState } {
  const sameHold = lease.before !== null && lease.after !== null && holdKey(lease.before) === holdKey(lease.after);
  const renewed = sameHold && lease.after.live && lease.before.expiresAt !== lease.after.expiresAt;
  const silent = state.toldAt === null || now - state.toldAt >= HEARTBEAT_SECONDS;
  const moved =
    before.lastActivityAt !== after.lastActivityAt ||
    before.lastActivityDescription !== after.lastActivityDescription ||
    before.lastActivityProvenance !== after.lastActivityProvenance;
  if (!moved && !(renewed && silent)) return { events: [], state };
  const held = lease.after?.live === true ? lease.after : null;
  const fields = {
    description: after.lastActivityDescription ?? '',
    provenance: after.lastActivityProvenance || null,
    lastActivityAt: after.lastActivityAt,
    leaseExpiresAt: held?.expiresAt ?? null,
    holderPid: held?.holderPid ?? null,
    platform: held?.platform ?? null,
  };
  const place = { sessionId: after.id, at: moved ? (after.lastActivityAt ?? now) : now };
  return { events: [rowEvent('ActivityHeartbeat', stateId('ActivityHeartbeat', after.id, fields), place, fields)], state: { toldAt: now } };
}

/** Compactions under way, by session: who announced each, and whether it is known how it went. */
export type Compressions = ReadonlyMap<string, { readonly key: string; readonly settled: boolean }>;

export interface CompressionFacts {
  readonly locks: readonly Hold[];
  /** Sessions whose transcript was compacted or continued in this pass. */
  readonly done: ReadonlySet<string>;
  /** The sessions that were looked at, before and after. */
  readonly sessions: readonly { readonly before: LiveSession; readonly after: LiveSession }[];
  readonly now: number;
}

/** `started` belongs before what the compaction did, `failed` behind everything. */
export function compressionEvents(
  known: Compressions,
  facts: CompressionFacts,
): { started: RowEvent[]; failed: RowEvent[]; known: Compressions } {
  const next = new Map<string, { key: string; settled: boolean }>();
  const started: RowEvent[] = [];
  const failed: RowEvent[] = [];
  const session = new Map(facts.sessions.map((each) => [each.after.id, each]));
  for (const lock of facts.locks.filter(({ live }) => live)) {
    const key = holdKey(lock);
    const before = known.get(lock.key);
    if (before?.key !== key) started.push(startedEvent(lock, session.get(lock.key)?.after ?? null, facts.now));
    next.set(lock.key, { key, settled: (before?.key === key && before.settled) || facts.done.has(lock.key) });
  }
  const fail = (sessionId: string, key: string | null) => {
    const { compressionError: error = null, compressionCooldownUntil: cooldownUntil = null } = session.get(sessionId)?.after ?? {};
    const id = stateId('CompressionFailed', sessionId, [key, error, cooldownUntil]);
    failed.push(rowEvent('CompressionFailed', id, { sessionId, at: facts.now }, { error, cooldownUntil }));
  };
  for (const [sessionId, { key, settled }] of known) {
    if (next.get(sessionId)?.key !== key && !settled && !facts.done.has(sessionId)) fail(sessionId, key);
  }
  for (const { before, after } of facts.sessions) {
    const running = next.get(after.id);
    if (!tellsFailure(before, after) || facts.done.has(after.id) || failed.some(({ sessionId }) => sessionId === after.id)) continue;
    if (running?.settled === true) continue;
    fail(after.id, running?.key ?? null);
    if (running !== undefined) next.set(after.id, { ...running, settled: true });
  }
  return { started, failed, known: next };
}

function startedEvent(lock: Hold, session: LiveSession | null, now: number): RowEvent {
  const provenance = session?.lastActivityProvenance?.startsWith('agent.compression') === true ? session.lastActivityProvenance : null;
  const place = { sessionId: lock.key, at: lock.acquiredAt ?? now };
  const fields = { holderPid: lock.holderPid, provenance };
  return rowEvent('CompressionStarted', stateId('CompressionStarted', lock.key, holdKey(lock)), place, fields);
}

/** The columns in which the owner writes that it didn't work out, and the label that says so. */
function tellsFailure(before: LiveSession, after: LiveSession): boolean {
  const error = after.compressionError !== null && after.compressionError !== before.compressionError;
  const cooldown = after.compressionCooldownUntil !== null && after.compressionCooldownUntil !== before.compressionCooldownUntil;
  const label =
    after.lastActivityProvenance !== before.lastActivityProvenance && /_(?:timeout|cooldown)$/.test(after.lastActivityProvenance ?? '');
  return error || cooldown || label;
}
