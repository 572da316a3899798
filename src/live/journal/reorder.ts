/**
 * Records in the order of their sequence numbers (`spec/live-turns.md` 8.4). The owner reserves a number before it writes the line, so
 * lines can be out of order, and numbers can stay missing for ever. Pure: the clock is an argument.
 */
import { LONGEST_LINE } from './line-splitter.ts';
import { type SeqRange, SeqRanges } from './seq-ranges.ts';

/** After these a missing number counts as a hole: (a) time and two ends of the file, (b) what waits, (c) time after a terminal line. */
const GAP_MS = 250;
const GAP_ENDS = 2;
export const GAP_RECORDS = 256;
const GAP_BYTES = 1024 * 1024;
const TERMINAL_GAP_MS = 100;
/** Holes that are remembered, so that a late line is told from a duplicate. A cursor keeps the newest 16. */
const MOST_HOLES = 256;
const MOST_CURSOR_HOLES = 16;

export interface Sequenced {
  readonly seq: number;
  readonly terminal: boolean;
  /** Of its line. */
  readonly bytes: number;
}

export interface Delivery<T> {
  readonly record: T;
  /** The number was declared a hole before: the record belongs to an earlier place. */
  readonly late: boolean;
}

interface Waiting<T> {
  readonly record: T;
  readonly since: number;
  /** Ends of the file that had been seen when it came. */
  readonly ends: number;
}

export class Reorder<T extends Sequenced> {
  readonly #waiting = new Map<number, Waiting<T>>();
  readonly #holes: SeqRanges;
  #next: number;
  #bytes = 0;
  #ends = 0;
  #duplicates = 0;

  /** `next`: the first number that was not delivered; `holes` below it that may still come. */
  constructor(next = 1, holes: readonly SeqRange[] = []) {
    this.#next = next;
    this.#holes = new SeqRanges(holes);
  }

  /** Every number below was delivered, or is a hole. */
  get next(): number {
    return this.#next;
  }

  /** The newest holes, at most 16. */
  get holes(): readonly SeqRange[] {
    return this.#holes.ranges.slice(-MOST_CURSOR_HOLES);
  }

  get duplicates(): number {
    return this.#duplicates;
  }

  /** Records that wait for a missing number. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** When `expire` may have something to deliver although nothing is pushed; null when nothing waits. */
  get dueAt(): number | null {
    if (this.#waiting.size === 0) return null;
    let due = Number.POSITIVE_INFINITY;
    for (const { record, since } of this.#waiting.values()) due = Math.min(due, since + (record.terminal ? TERMINAL_GAP_MS : GAP_MS));
    return due;
  }

  /** A record as it stands in the file; gives what can be delivered now, in order. */
  push(record: T, now: number): Delivery<T>[] {
    if (record.seq < this.#next) {
      if (this.#holes.remove(record.seq)) return [{ record, late: true }];
      this.#duplicates++;
      return [];
    }
    if (this.#waiting.has(record.seq)) {
      this.#duplicates++;
      return [];
    }
    if (record.seq === this.#next) {
      this.#next++;
      return this.#waiting.size === 0 ? [{ record, late: false }] : [{ record, late: false }, ...this.#drain()];
    }
    this.#waiting.set(record.seq, { record, since: now, ends: this.#ends });
    this.#bytes += held(record);
    const deliveries: Delivery<T>[] = [];
    while (this.#waiting.size >= GAP_RECORDS || this.#bytes >= GAP_BYTES) deliveries.push(...this.#skip());
    return deliveries;
  }

  /** The file was read to its end. */
  reachedEnd(): void {
    this.#ends++;
  }

  /** Declares the holes that are due, and gives what waited behind them. */
  expire(now: number): Delivery<T>[] {
    const deliveries: Delivery<T>[] = [];
    while (this.#isDue(now)) deliveries.push(...this.#skip());
    return deliveries;
  }

  #isDue(now: number): boolean {
    for (const { record, since, ends } of this.#waiting.values()) {
      if (now - since >= GAP_MS && this.#ends - ends >= GAP_ENDS) return true;
      if (record.terminal && now - since >= TERMINAL_GAP_MS) return true;
    }
    return false;
  }

  #skip(): Delivery<T>[] {
    let lowest = Number.POSITIVE_INFINITY;
    for (const seq of this.#waiting.keys()) lowest = Math.min(lowest, seq);
    this.#holes.append({ from: this.#next, to: lowest - 1 }, MOST_HOLES);
    this.#next = lowest;
    return this.#drain();
  }

  #drain(): Delivery<T>[] {
    const deliveries: Delivery<T>[] = [];
    for (let found = this.#waiting.get(this.#next); found !== undefined; found = this.#waiting.get(this.#next)) {
      this.#waiting.delete(this.#next++);
      this.#bytes -= held(found.record);
      deliveries.push({ record: found.record, late: false });
    }
    return deliveries;
  }
}

/** What a record costs while it waits: no more than 256 KiB are kept of a line. */
function held({ bytes }: Sequenced): number {
  return Math.min(bytes, LONGEST_LINE);
}
