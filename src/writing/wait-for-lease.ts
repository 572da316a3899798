/**
 * Waiting for a turn lease that somebody else holds: asked for again and again, with nothing held in between (`spec/state-db-writes.md` G-4).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AcquiredLease, AcquireInput } from '../state-db/write/turn-leases.ts';
import { WriteRefused } from '../write-refused.ts';
import type { Envelope } from './command.ts';
import type { StoreAddress, StoreWriters } from './store-writers.ts';

const POLL_MS = 1000;

/** Throws LEASE_HELD when it is still held after `waitSeconds`; what else goes wrong is thrown at once. Stops when the signal aborts. */
export async function waitForLease(
  writers: StoreWriters,
  store: StoreAddress,
  input: AcquireInput,
  options: { readonly envelope: Envelope; readonly waitSeconds: number; readonly signal: AbortSignal },
): Promise<AcquiredLease & { readonly waitedMs: number }> {
  const start = performance.now();
  const waited = () => Math.round(performance.now() - start);
  for (;;) {
    try {
      return { ...(await writers.run(store, 'acquireTurnLease', input, options.envelope)), waitedMs: waited() };
    } catch (error) {
      const left = options.waitSeconds * 1000 - waited();
      const isHeld = error instanceof WriteRefused && error.code === 'LEASE_HELD';
      if (!isHeld || options.envelope.dryRun || left <= 0) throw error;
      await sleep(Math.min(POLL_MS, left), undefined, { signal: options.signal });
    }
  }
}
