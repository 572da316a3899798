/** Records into the order of their numbers: holes, late lines, duplicates, with a clock of the test. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Delivery, Reorder } from '../../../src/live/journal/reorder.ts';

interface Item {
  readonly seq: number;
  readonly terminal: boolean;
  readonly bytes: number;
}

const item = (seq: number, bytes = 100, terminal = false): Item => ({ seq, bytes, terminal });
const seqs = (deliveries: readonly Delivery<Item>[]) => deliveries.map(({ record, late }) => (late ? -record.seq : record.seq));

function pushAll(reorder: Reorder<Item>, numbers: readonly number[], now = 0): number[] {
  return numbers.flatMap((seq) => seqs(reorder.push(item(seq), now)));
}

describe('delivery in order', () => {
  it('18: 1, 2, 5, 3, 4, 6 comes as 1 to 6', () => {
    const reorder = new Reorder<Item>();
    expect(pushAll(reorder, [1, 2, 5, 3, 4, 6])).toEqual([1, 2, 3, 4, 5, 6]);
    expect(reorder.holes).toEqual([]);
    expect(reorder.dueAt).toBeNull();
  });

  it('19: (a) a missing number is a hole after 250 ms and two ends of the file', () => {
    const reorder = new Reorder<Item>();
    expect(pushAll(reorder, [1, 2, 4], 1000)).toEqual([1, 2]);
    expect(reorder.dueAt).toBe(1250);
    reorder.reachedEnd();
    expect(seqs(reorder.expire(1300))).toEqual([]);
    reorder.reachedEnd();
    expect(seqs(reorder.expire(1249))).toEqual([]);
    expect(seqs(reorder.expire(1250))).toEqual([4]);
    expect(reorder.holes).toEqual([{ from: 3, to: 3 }]);
    expect(reorder.next).toBe(5);
  });

  it('19: (b) a missing number is a hole when 256 records wait, or 1 MiB', () => {
    const many = new Reorder<Item>();
    expect(
      pushAll(
        many,
        Array.from({ length: 255 }, (_, index) => index + 2),
      ),
    ).toEqual([]);
    expect(pushAll(many, [257])).toEqual(Array.from({ length: 256 }, (_, index) => index + 2));
    const large = new Reorder<Item>();
    expect([2, 3, 4].flatMap((seq) => seqs(large.push(item(seq, 256 * 1024), 0)))).toEqual([]);
    expect(seqs(large.push(item(5, 256 * 1024), 0))).toEqual([2, 3, 4, 5]);
    expect(large.holes).toEqual([{ from: 1, to: 1 }]);
  });

  it('19: a huge line waits like any other: only its beginning is held', () => {
    const reorder = new Reorder<Item>();
    expect(seqs(reorder.push(item(2, 40 * 1024 * 1024), 0))).toEqual([]);
    expect(pushAll(reorder, [1])).toEqual([1, 2]);
  });

  it('19: (c) behind a missing number a terminal line waits 100 ms', () => {
    const reorder = new Reorder<Item>();
    expect(pushAll(reorder, [1, 3], 0)).toEqual([1]);
    expect(seqs(reorder.push(item(5, 100, true), 50))).toEqual([]);
    expect(reorder.dueAt).toBe(150);
    expect(seqs(reorder.expire(149))).toEqual([]);
    expect(seqs(reorder.expire(150))).toEqual([3, 5]);
    expect(reorder.holes).toEqual([
      { from: 2, to: 2 },
      { from: 4, to: 4 },
    ]);
  });

  it('20: a line of a hole is delivered once, and late', () => {
    const reorder = new Reorder<Item>(5, [{ from: 2, to: 3 }]);
    expect(pushAll(reorder, [3, 3, 5, 2, 2])).toEqual([-3, 5, -2]);
    expect(reorder.holes).toEqual([]);
    expect(reorder.duplicates).toBe(2);
  });

  it('of two lines with one number the first counts', () => {
    const reorder = new Reorder<Item>();
    expect(pushAll(reorder, [1, 1, 3, 3, 2])).toEqual([1, 2, 3]);
    expect(reorder.duplicates).toBe(2);
  });

  it('a cursor keeps the newest 16 holes, a wide hole is one', () => {
    const reorder = new Reorder<Item>();
    for (let seq = 1000; seq < 2000; seq += 50) {
      reorder.push(item(seq), 0);
      reorder.reachedEnd();
      reorder.reachedEnd();
      reorder.expire(1000);
    }
    expect(reorder.holes).toHaveLength(16);
    expect(reorder.holes.at(-1)).toEqual({ from: 1901, to: 1949 });
    expect(seqs(reorder.push(item(500), 2000))).toEqual([-500]);
  });
});

describe('whatever comes', () => {
  const step = fc.record({ seq: fc.integer({ min: 1, max: 60 }), wait: fc.nat({ max: 120 }), end: fc.boolean(), terminal: fc.boolean() });

  it('every number is delivered at most once, those in time in ascending order, and the late ones were holes', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const reorder = new Reorder<Item>();
        const delivered: number[] = [];
        let now = 0;
        let highest = 0;
        const take = (deliveries: readonly Delivery<Item>[]) => {
          for (const { record, late } of deliveries) {
            expect(delivered).not.toContain(record.seq);
            if (late) expect(record.seq).toBeLessThan(highest);
            else expect(record.seq).toBeGreaterThan(highest);
            highest = Math.max(highest, record.seq);
            delivered.push(record.seq);
          }
        };
        for (const { seq, wait, end, terminal } of steps) {
          take(reorder.push(item(seq, 100, terminal), now));
          now += wait;
          if (end) reorder.reachedEnd();
          take(reorder.expire(now));
        }
        reorder.reachedEnd();
        reorder.reachedEnd();
        take(reorder.expire(now + 1000));
        expect(new Set(delivered)).toEqual(new Set(steps.map(({ seq }) => seq)));
        expect(reorder.waiting).toBe(0);
      }),
      { numRuns: 500 },
    );
  });

  it('a shuffle within the measured displacement comes in order without a hole', () => {
    const numbers = fc.array(fc.nat({ max: 74 }), { minLength: 1, maxLength: 300 }).map((jitter) =>
      jitter
        .map((by, index) => ({ seq: index + 1, at: index + by }))
        .sort((a, b) => a.at - b.at)
        .map(({ seq }) => seq),
    );
    fc.assert(
      fc.property(numbers, (order) => {
        const reorder = new Reorder<Item>();
        expect(pushAll(reorder, order)).toEqual(order.map((_, index) => index + 1));
        expect(reorder.holes).toEqual([]);
      }),
    );
  });
});
