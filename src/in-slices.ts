/** Long work in steps, so that it never holds the thread for long. */
import { setImmediate as yieldToOthers } from 'node:timers/promises';

/** Items of a few microseconds each. */
const STRIDE = 1000;

/** Steps that end with a value. */
export type Steps<T> = Generator<void, T>;

/** Others get the thread whenever steps took `sliceMs` together. `costMs`: what the steps took, without the others. Throws what a step throws. */
export async function inSlices<T>(steps: Steps<T>, sliceMs: number): Promise<{ readonly value: T; readonly costMs: number }> {
  let costMs = 0;
  for (let since = performance.now(); ; ) {
    const step = steps.next();
    const took = performance.now() - since;
    if (step.done === true) return { value: step.value, costMs: costMs + took };
    if (took < sliceMs) continue;
    costMs += took;
    await yieldToOthers();
    since = performance.now();
  }
}

/** Without a pause. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The items one after the other, a step each so many of them. */
export function* stepwise<T>(items: Iterable<T>, work: (item: T) => void, stride = STRIDE): Steps<void> {
  let count = 0;
  for (const item of items) {
    work(item);
    count += 1;
    if (count % stride === 0) yield;
  }
}
