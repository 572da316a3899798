import { describe, expect, it, vi } from 'vitest';
import { collapseRepeats } from '../src/collapse-repeats.ts';

describe('F61: a failure that repeats itself', () => {
  it('is heard at once, and then once a minute with how often it came', () => {
    let now = 0;
    const report = vi.fn();
    const fail = collapseRepeats(report, () => now);
    const disk = new Error('disk');
    for (let times = 0; times < 500; times++) fail(disk);
    fail(new Error('another'));
    expect(report.mock.calls.map(([error, times]) => [error.message, times])).toEqual([
      ['disk', 1],
      ['another', 1],
    ]);
    now = 60_000;
    for (let times = 0; times < 5; times++) fail(new Error('disk'));
    expect(report.mock.calls.at(-1)).toEqual([expect.objectContaining({ message: 'disk' }), 500]);
    expect(report).toHaveBeenCalledTimes(3);
  });

  it('takes no more memory for more causes', () => {
    const report = vi.fn();
    const fail = collapseRepeats(report, () => 0);
    for (let cause = 0; cause < 1000; cause++) fail(`cause ${cause}`);
    fail('cause 999');
    fail('cause 0');
    expect(report).toHaveBeenCalledTimes(1001);
  });
});
