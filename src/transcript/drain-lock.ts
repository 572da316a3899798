/**
 * One piece of work at a time, in the order in which it came (`spec/state-db-writes.md` 5, drain lock).
 */
export class DrainLock {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    // Whoever asked hears what went wrong; the next one begins all the same.
    this.#last = result.catch(() => {});
    return result;
  }
}
