/** A disk that is full or may not be written, for real (`spec/state-db-writes.md` 19, A11, A12, Q7). */
import { describe, expect, it } from 'vitest';
import { HAS_NAMESPACES, onSmallDisk } from '../support/namespace.ts';

const MENDED = { flushed: { committed: 4, remaining: 0, lastError: null }, batch: 'done', faults: [] };
const waited = (code: string) => ['a', 'b', 'c', 'd'].map(() => ['QUEUED', code]);

// Needs `unshare` with user namespaces; containers often forbid them.
describe.runIf(HAS_NAMESPACES)('a store', () => {
  it('on a full disk: what can not be written, nor put aside, waits in memory and is written once there is room', () => {
    expect(onSmallDisk('full')).toEqual({
      while: { said: waited('STORE_FULL'), batch: { code: 'STORE_FULL', settled: true }, quarantine: null },
      after: { ...MENDED, stored: ['first', 'a', 'b', 'c', 'd', 'e'] },
    });
  });

  it.each(['read-only folder', 'read-only file'])(
    'in a %s: is refused as it is, and written without a restart once it may be',
    (scenario) => {
      expect(onSmallDisk(scenario)).toEqual({
        while: { said: waited('STORE_READONLY'), batch: { code: 'STORE_READONLY', settled: true }, quarantine: null },
        after: { ...MENDED, flushed: { ...MENDED.flushed, committed: expect.any(Number) }, stored: ['a', 'b', 'c', 'd', 'e'] },
      });
    },
  );
});
