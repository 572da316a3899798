import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { COMPILE_CACHE } from './test/support/program-start.ts';

// Vite would resolve `graphql` in our files to its development build while Pothos and Yoga, loaded by Node.js, get the plain one:
// two copies of one library that refuse each other's objects.
const ssr = { resolve: { conditions: ['module-sync', 'node', 'import', 'default'] } };

/** One more than processors: many a test waits for a process, a lock or a clock. */
const WORKERS = availableParallelism() + 1;
/** Tests that wait more than they compute. */
const WAITING = ['test/{live,server}/**/*.test.ts', 'test/fault/{locks,write-faults}.test.ts'];

export default defineConfig({
  ssr,
  test: {
    // Tests start many processes of ours: the second of a kind finds what the first compiled.
    env: COMPILE_CACHE,
    // One kind after the other: what waits for clocks and sockets is not to wait for what computes.
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/e2e/**', ...WAITING],
          testTimeout: 30_000,
          hookTimeout: 30_000,
          maxWorkers: WORKERS,
          sequence: { groupOrder: 2 },
        },
      },
      // Other processes, sockets, clocks and a browser: on a busy machine one of them may come late, and the test is tried again.
      {
        extends: true,
        test: {
          name: 'live',
          include: WAITING,
          testTimeout: 30_000,
          hookTimeout: 30_000,
          retry: 2,
          maxWorkers: WORKERS,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          retry: 2,
          maxWorkers: WORKERS,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
