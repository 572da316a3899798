/** Sets of numbers as ranges, against a plain set. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SeqRanges } from '../../../src/live/journal/seq-ranges.ts';

const step = fc.record({ add: fc.boolean(), seq: fc.integer({ min: 1, max: 30 }) });

it('behaves as a set of numbers, and its ranges are as few as can be', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const ranges = new SeqRanges();
      const model = new Set<number>();
      for (const { add, seq } of steps) {
        if (add) expect(ranges.add(seq)).toBe(!model.has(seq));
        else expect(ranges.remove(seq)).toBe(model.has(seq));
        if (add) model.add(seq);
        else model.delete(seq);
        for (let each = 0; each <= 31; each++) expect(ranges.has(each)).toBe(model.has(each));
        let before = -1;
        for (const { from, to } of ranges.ranges) {
          expect(from).toBeGreaterThan(before + 1);
          expect(to).toBeGreaterThanOrEqual(from);
          before = to;
        }
      }
      const missing = ranges.gaps().flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, index) => from + index));
      const highest = Math.max(0, ...model);
      expect(missing).toEqual(Array.from({ length: highest }, (_, index) => index + 1).filter((seq) => !model.has(seq)));
    }),
    { numRuns: 300 },
  );
});
