/** A stream that pushes to whoever pulls, and ends at once from outside (`field-cases` F78). */
import { describe, expect, it } from 'vitest';
import { PushStream } from '../../src/live/push-stream.ts';

function numbers(signal = new AbortController().signal) {
  const waiting: number[] = [];
  let stops = 0;
  const stream = new PushStream<number>(
    () => waiting.shift() ?? null,
    () => {
      stops++;
    },
    signal,
  );
  const push = (value: number) => {
    waiting.push(value);
    stream.wake();
  };
  return { stream, push, stops: () => stops };
}

describe('a push stream', () => {
  it('gives what is there at once, and waits for what is not', async () => {
    const { stream, push } = numbers();
    push(1);
    push(2);
    expect(await stream.next()).toEqual({ value: 1, done: false });
    expect(await stream.next()).toEqual({ value: 2, done: false });
    const third = stream.next();
    stream.wake();
    push(3);
    expect(await third).toEqual({ value: 3, done: false });
  });

  it.each([
    ['return', (stream: PushStream<number>) => void stream.return()],
    ['stop', (stream: PushStream<number>) => stream.stop()],
    ['the signal', (_: PushStream<number>, aborter: AbortController) => aborter.abort()],
  ])('ends while its consumer waits, by %s, and lets go of its source once', async (_, end) => {
    const aborter = new AbortController();
    const { stream, push, stops } = numbers(aborter.signal);
    const waiting = stream.next();
    end(stream, aborter);
    expect(await waiting).toEqual({ value: undefined, done: true });
    push(1);
    expect(await stream.next()).toEqual({ value: undefined, done: true });
    end(stream, aborter);
    await stream.return();
    expect(stops()).toBe(1);
  });

  it('that is aborted before it begins never begins', async () => {
    const { stream, push, stops } = numbers(AbortSignal.abort());
    push(1);
    expect(await stream.next()).toEqual({ value: undefined, done: true });
    expect(stops()).toBe(1);
  });

  it('can be looped over, and leaving the loop lets go', async () => {
    const { stream, push, stops } = numbers();
    for (const value of [1, 2, 3]) push(value);
    const seen: number[] = [];
    for await (const value of stream) {
      seen.push(value);
      if (value === 2) break;
    }
    expect([seen, stops()]).toEqual([[1, 2], 1]);
  });
});
