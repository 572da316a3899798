/**
 * A stream whose producer pushes and whose consumer pulls. Written by hand: a native async generator that waits can't be stopped from
 * outside, and a client that leaves would keep its source.
 */

export class PushStream<T> implements AsyncIterableIterator<T> {
  readonly #onStop: () => void;
  #take: () => T | null;
  #waiting: ((result: IteratorResult<T> | Promise<never>) => void) | null = null;
  #failure: Error | null = null;
  #stopped = false;

  /**
   * `take` gives the next value or null when there is none yet; the producer calls `wake` when that may have changed. So nothing is
   * queued here: what a slow consumer misses is for `take` to join or to drop. `onStop` runs once, whichever way the stream ends.
   */
  constructor(take: () => T | null, onStop: () => void, signal: AbortSignal) {
    this.#take = take;
    this.#onStop = onStop;
    if (signal.aborted) this.stop();
    else signal.addEventListener('abort', () => this.stop(), { once: true });
  }

  /** Somebody waits for the next value. */
  get isWaiting(): boolean {
    return this.#waiting !== null;
  }

  wake(): void {
    if (this.#waiting === null || this.#stopped) return;
    const value = this.#take();
    if (value === null) return;
    const deliver = this.#waiting;
    this.#waiting = null;
    deliver({ value, done: false });
  }

  /** Ends the stream with an error for whoever reads it. */
  fail(error: Error): void {
    if (this.#stopped) return;
    this.#failure = error;
    const waiting = this.#waiting;
    this.#waiting = null;
    this.stop();
    if (waiting === null) return;
    this.#failure = null;
    waiting(Promise.reject(error));
  }

  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#take = () => null;
    this.#onStop();
    this.#waiting?.({ value: undefined, done: true });
    this.#waiting = null;
  }

  next(): Promise<IteratorResult<T>> {
    if (this.#failure !== null) {
      const failure = this.#failure;
      this.#failure = null;
      return Promise.reject(failure);
    }
    if (this.#stopped) return Promise.resolve({ value: undefined, done: true });
    const value = this.#take();
    if (value !== null) return Promise.resolve({ value, done: false });
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  return(): Promise<IteratorResult<T>> {
    this.stop();
    return Promise.resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
