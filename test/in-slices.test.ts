/** Work in steps: `inSlices` and `atOnce` of `src/in-slices.ts`. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { atOnce, inSlices, type Steps, stepwise } from '../src/in-slices.ts';

const clock = { now: 0 };
beforeEach(() => {
  vi.spyOn(performance, 'now').mockImplementation(() => clock.now);
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** Each step takes so many milliseconds; `done` tells how many were made. */
function work(durations: readonly number[]): { readonly steps: () => Steps<string>; readonly done: () => number } {
  let done = 0;
  return {
    done: () => done,
    *steps() {
      for (const [index, duration] of durations.entries()) {
        clock.now += duration;
        done += 1;
        if (index < durations.length - 1) yield;
      }
      return 'made';
    },
  };
}

it('lets others have the thread as soon as the steps took long enough, and tells what they took', async () => {
  const { steps, done } = work([3, 3, 3, 20, 1]);
  let others = 0;
  const other = () => {
    others += 1;
    clock.now += 1000;
    if (done() < 5) setImmediate(other);
  };
  setImmediate(other);
  const made = await inSlices(steps(), 8);
  expect(others).toBe(2);
  expect(made).toEqual({ value: 'made', costMs: 30 });
  expect(done()).toBe(5);
});

it('makes no pause in what is short', async () => {
  const { steps, done } = work([1, 1, 1]);
  const made = inSlices(steps(), 8);
  expect(done()).toBe(3);
  expect(await made).toEqual({ value: 'made', costMs: 3 });
});

it('pauses between steps', async () => {
  const { steps, done } = work([10, 10]);
  const made = inSlices(steps(), 8);
  expect(done()).toBe(1);
  await made;
  expect(done()).toBe(2);
});

it('throws what a step throws', async () => {
  function* broken(): Steps<never> {
    yield;
    throw new Error('broken');
  }
  await expect(inSlices(broken(), 8)).rejects.toThrow('broken');
  expect(() => atOnce(broken())).toThrow('broken');
});

it('is done at once where it has to be', () => {
  expect(atOnce(work([10, 10, 10]).steps())).toBe('made');
});

it('makes a step of so many items each', () => {
  const seen: number[] = [];
  const steps = stepwise([1, 2, 3, 4, 5], (item) => seen.push(item), 2);
  const after = [...steps].map(() => 'pause');
  expect([seen, after]).toEqual([
    [1, 2, 3, 4, 5],
    ['pause', 'pause'],
  ]);
});
