/**
 * Turn leases: one process runs a turn in a conversation, and the others keep out of it (`spec/state-db-writes.md` G-2 to G-5).
 */
import { WriteRefused } from '../../write-refused.ts';
import { leaseKey } from '../lineage.ts';
import type { StoreReading } from '../store-reading.ts';
import { heldAt, LEAST_TTL_SECONDS } from './admission.ts';
import { SessionGraph } from './session-graph.ts';
import type { StoreOperation } from './store-operation.ts';

/** Leases of whatever conversation that expired this long ago are swept by the next acquisition (G-4). */
const SWEPT_AFTER_SECONDS = 86_400;

export interface AcquireInput {
  readonly sessionId: string;
  /** The whole holder string; it names a process as `pid=<n>` and is the token that later calls show. */
  readonly holder: string;
  readonly ttlSeconds: number;
}

export interface AcquiredLease {
  readonly conversationId: string;
  readonly holder: string;
  /** Epoch seconds. */
  readonly expiresAt: number;
}

interface AcquirePlan {
  readonly lease: AcquiredLease;
  readonly stale: string | null;
}

function requireLeases(store: StoreReading): void {
  if (!store.shape.hasTable('session_turn_leases')) throw new WriteRefused('SCHEMA_UNSUPPORTED', 'It has no turn leases.');
}

function conversationOf(store: StoreReading, sessionId: string): string {
  const graph = new SessionGraph(store);
  const session = graph.get(sessionId);
  if (session === undefined) throw new WriteRefused('NOT_FOUND', 'There is no such session.');
  return leaseKey(graph, session);
}

/** G-4. Throws LEASE_HELD while another holder's lease is live; who it is stays its secret. */
export const acquireTurnLease: StoreOperation<AcquireInput, AcquirePlan, AcquiredLease> = {
  patience: 'ROUTINE',
  touchesMessages: false,
  plan: (store, { sessionId, holder, ttlSeconds }, { now }) => {
    requireLeases(store);
    const conversationId = conversationOf(store, sessionId);
    const held = heldAt(store, 'session_turn_leases', 'conversation_id', conversationId);
    if (held !== null && held.holder !== holder && held.expiresAt > now) {
      throw new WriteRefused('LEASE_HELD', '', { details: { expiresAt: held.expiresAt } });
    }
    const expiresAt = now + Math.max(LEAST_TTL_SECONDS, ttlSeconds);
    return { lease: { conversationId, holder, expiresAt }, stale: held?.holder ?? null };
  },
  execute: (transaction, { lease, stale }, { now }) => {
    transaction.run('DELETE FROM session_turn_leases WHERE expires_at < ?', [now - SWEPT_AFTER_SECONDS]);
    if (stale !== null) {
      transaction.run('DELETE FROM session_turn_leases WHERE conversation_id = ? AND holder = ?', [lease.conversationId, stale]);
    }
    transaction.run('INSERT INTO session_turn_leases (conversation_id, holder, acquired_at, expires_at) VALUES (?, ?, ?, ?)', [
      lease.conversationId,
      lease.holder,
      now,
      lease.expiresAt,
    ]);
    return lease;
  },
  preview: ({ lease }) => lease,
  wasMade: (store, { conversationId, holder }) =>
    heldAt(store, 'session_turn_leases', 'conversation_id', conversationId)?.holder === holder,
};

export interface RenewInput {
  readonly sessionId: string;
  readonly holder: string;
  readonly ttlSeconds: number;
}

/** G-5: by key and holder, whether it expired or not: a live owner may revive what nobody took. Throws TURN_LEASE_LOST. */
export const renewTurnLease: StoreOperation<RenewInput, AcquiredLease, AcquiredLease> = {
  patience: 'ROUTINE',
  touchesMessages: false,
  plan: (store, { sessionId, holder, ttlSeconds }, { now }) => {
    requireLeases(store);
    const conversationId = conversationOf(store, sessionId);
    if (heldAt(store, 'session_turn_leases', 'conversation_id', conversationId)?.holder !== holder) {
      throw new WriteRefused('TURN_LEASE_LOST');
    }
    return { conversationId, holder, expiresAt: now + Math.max(LEAST_TTL_SECONDS, ttlSeconds) };
  },
  execute: (transaction, lease) => {
    transaction.run('UPDATE session_turn_leases SET expires_at = ? WHERE conversation_id = ? AND holder = ?', [
      lease.expiresAt,
      lease.conversationId,
      lease.holder,
    ]);
    return lease;
  },
  preview: (lease) => lease,
};

export interface ReleaseInput {
  readonly holder: string;
}

/** G-5: by holder alone, since the conversation's key may have moved; a lease that is gone is no error. */
export const releaseTurnLease: StoreOperation<ReleaseInput, string[], { readonly released: boolean }> = {
  patience: 'ROUTINE',
  touchesMessages: false,
  plan: (store, { holder }) => {
    requireLeases(store);
    const rows = store.all('SELECT conversation_id FROM session_turn_leases WHERE holder = ?', [holder]);
    return rows.map((row) => String(row.conversation_id));
  },
  execute: (transaction, conversationIds, _) => {
    for (const id of conversationIds) transaction.run('DELETE FROM session_turn_leases WHERE conversation_id = ?', [id]);
    return { released: conversationIds.length > 0 };
  },
  preview: (conversationIds) => ({ released: conversationIds.length > 0 }),
};
