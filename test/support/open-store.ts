/**
 * The session store over a file, as the server opens it; stores and job processes end with the test file.
 *
 *   const store = openStore(path);
 *   await store.status();
 */
import { afterAll, vi } from 'vitest';
import { JobPool } from '../../src/jobs/pool.ts';
import { StateDbStore } from '../../src/state-db/store.ts';
import type { StateDbOptions } from '../../src/state-db/store-reader.ts';

// Processes start slowly on a machine that is busy with other test files.
vi.setConfig({ testTimeout: 30_000 });

const stores: StateDbStore[] = [];
let pool: JobPool | null = null;

afterAll(() => {
  for (const store of stores.splice(0)) store.close();
  pool?.close();
  pool = null;
});

export function openStore(path: string, options: Partial<StateDbOptions> = {}): StateDbStore {
  pool ??= new JobPool(new URL('../../src/jobs/job-process.ts', import.meta.url), 1);
  const store = new StateDbStore({
    profile: 'default',
    path,
    strictObserver: false,
    largestCatalogue: 200_000,
    slowReadLimitMs: 20_000,
    largestTranscript: 20_000,
    jobs: pool,
    now: () => Date.now() / 1000,
    ...options,
  });
  stores.push(store);
  return store;
}
