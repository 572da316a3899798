/**
 * Whether a write may be made now: turn leases, locks of compressions, sessions that a compression closed (`spec/state-db-writes.md` 4). Always
 * looked at inside the transaction of the write (G-1).
 */
import { WriteRefused } from '../../write-refused.ts';
import { RowReader } from '../decode.ts';
import { leaseKey } from '../lineage.ts';
import type { StoreReading } from '../store-reading.ts';
import type { SessionGraph } from './session-graph.ts';
import type { WriteTransaction } from './write-connection.ts';

export interface Lease {
  /** The holder string, which is the token that the caller was given. */
  readonly holder: string;
  readonly ttlSeconds: number;
}

/** What a writer asks of the session (G-8). */
export interface Admission {
  /** The caller's own lease, verified and kept alive (G-9). */
  readonly lease?: Lease | null;
  /** Refuse while anybody else runs a turn: the code to refuse with (G-10). */
  readonly rejectLease?: 'SESSION_BUSY' | 'SESSION_WRITE_GUARDED' | null;
  /** Refuse while anybody else compresses (G-11). */
  readonly rejectLock?: 'COMPRESSION_IN_PROGRESS' | 'SESSION_WRITE_GUARDED' | null;
  /** Refuse a session that a compression closed (G-12). */
  readonly rejectClosed?: boolean;
}

/** What was let in, and what the write has to put right on its way: run `admit` with it in the same transaction. */
export interface Admitted {
  readonly conversationId: string;
  readonly staleLease: string | null;
  readonly staleLock: string | null;
  readonly extended: { readonly holder: string; readonly expiresAt: number } | null;
  readonly sessionId: string;
}

export const DEFAULT_TTL_SECONDS = 300;
/** G-4: no lease is shorter. */
export const LEAST_TTL_SECONDS = 0.1;

interface Held {
  readonly holder: string;
  readonly expiresAt: number;
}

/** Throws `WriteRefused` when the write may not be made. Changes nothing; a dry run asks the same. */
export function checkAdmission(store: StoreReading, graph: SessionGraph, sessionId: string, admission: Admission, now: number): Admitted {
  const session = graph.get(sessionId);
  const conversationId = session === undefined ? sessionId : leaseKey(graph, session);
  const lease = heldAt(store, 'session_turn_leases', 'conversation_id', conversationId);
  const own = admission.lease ?? null;
  if (own !== null && lease?.holder !== own.holder) throw new WriteRefused('TURN_LEASE_LOST');
  const extended =
    own !== null && lease !== null && lease.expiresAt <= now
      ? { holder: own.holder, expiresAt: now + Math.max(LEAST_TTL_SECONDS, own.ttlSeconds) }
      : null;
  let staleLease: string | null = null;
  if (own === null && admission.rejectLease != null && lease !== null) {
    if (lease.expiresAt > now) throw new WriteRefused(admission.rejectLease, '', { details: { expiresAt: lease.expiresAt } });
    staleLease = lease.holder;
  }
  let staleLock: string | null = null;
  if (admission.rejectLock != null) {
    const lock = heldAt(store, 'compression_locks', 'session_id', sessionId);
    // The boundary is strict here, unlike that of a lease (T59, T60).
    if (lock !== null && lock.expiresAt >= now)
      throw new WriteRefused(admission.rejectLock, '', { details: { expiresAt: lock.expiresAt } });
    staleLock = lock?.holder ?? null;
  }
  if (admission.rejectClosed === true && session !== undefined && session.endedAt !== null && session.endReason === 'compression') {
    throw new WriteRefused('SESSION_CLOSED', '', { details: { sessionId } });
  }
  return { conversationId, staleLease, staleLock, extended, sessionId };
}

/** Takes away what is stale, so that a late write of its dead holder is refused, and keeps the caller's own lease alive. */
export function admit(transaction: WriteTransaction, admitted: Admitted): void {
  const { conversationId, staleLease, staleLock, extended, sessionId } = admitted;
  if (staleLease !== null)
    transaction.run('DELETE FROM session_turn_leases WHERE conversation_id = ? AND holder = ?', [conversationId, staleLease]);
  if (staleLock !== null) transaction.run('DELETE FROM compression_locks WHERE session_id = ? AND holder = ?', [sessionId, staleLock]);
  if (extended !== null) {
    transaction.run('UPDATE session_turn_leases SET expires_at = ? WHERE conversation_id = ? AND holder = ?', [
      extended.expiresAt,
      conversationId,
      extended.holder,
    ]);
  }
}

/** Who holds it, stale or not; null for nobody. A row whose time can't be read never expires: doubt means held (G-7). */
export function heldAt(
  store: StoreReading,
  table: 'session_turn_leases' | 'compression_locks',
  key: 'conversation_id' | 'session_id',
  id: string,
): Held | null {
  if (!store.shape.hasTable(table)) return null;
  const row = store.get(`SELECT holder, expires_at FROM ${table} WHERE ${key} = ?`, [id]);
  if (row === undefined) return null;
  const expiresAt = row.expires_at;
  return {
    holder: new RowReader(row).quietText('holder') ?? '',
    expiresAt: typeof expiresAt === 'number' ? expiresAt : Number.POSITIVE_INFINITY,
  };
}
