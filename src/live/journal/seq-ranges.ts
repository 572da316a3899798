/**
 * Sets of sequence numbers as ranges: what was seen, and what is missing (`spec/live-turns.md` 3.4, 14.1 `x`).
 */
export interface SeqRange {
  readonly from: number;
  readonly to: number;
}

/** A set that grows, cheap when the numbers come in order. */
export class SeqRanges {
  #ranges: { from: number; to: number }[];

  constructor(ranges: readonly SeqRange[] = []) {
    this.#ranges = ranges.map(({ from, to }) => ({ from, to }));
  }

  get ranges(): readonly SeqRange[] {
    return this.#ranges;
  }

  has(seq: number): boolean {
    const range = this.#ranges[this.#indexBefore(seq)];
    return range !== undefined && seq <= range.to;
  }

  /** False when the number was there. */
  add(seq: number): boolean {
    const index = this.#indexBefore(seq);
    const before = this.#ranges[index];
    if (before !== undefined && seq <= before.to) return false;
    const after = this.#ranges[index + 1];
    const joinsBefore = before !== undefined && before.to === seq - 1;
    const joinsAfter = after !== undefined && after.from === seq + 1;
    if (joinsBefore && joinsAfter) {
      before.to = after.to;
      this.#ranges.splice(index + 1, 1);
    } else if (joinsBefore) before.to = seq;
    else if (joinsAfter) after.from = seq;
    else this.#ranges.splice(index + 1, 0, { from: seq, to: seq });
    return true;
  }

  /** False when the number was not there. */
  remove(seq: number): boolean {
    const index = this.#indexBefore(seq);
    const range = this.#ranges[index];
    if (range === undefined || seq > range.to) return false;
    const parts = [
      { from: range.from, to: seq - 1 },
      { from: seq + 1, to: range.to },
    ];
    this.#ranges.splice(index, 1, ...parts.filter(({ from, to }) => from <= to));
    return true;
  }

  /** Adds a range above all that is there, and forgets the lowest ranges beyond `most`. */
  append(range: SeqRange, most: number): void {
    this.#ranges.push({ ...range });
    if (this.#ranges.length > most) this.#ranges.splice(0, this.#ranges.length - most);
  }

  /** What is missing from 1 to the highest number. */
  gaps(): SeqRange[] {
    const gaps: SeqRange[] = [];
    let next = 1;
    for (const { from, to } of this.#ranges) {
      if (from > next) gaps.push({ from: next, to: from - 1 });
      next = to + 1;
    }
    return gaps;
  }

  /** The last range that begins at or before the number, -1 when there is none. */
  #indexBefore(seq: number): number {
    let index = this.#ranges.length - 1;
    const last = this.#ranges[index];
    if (last === undefined || last.from <= seq) return index;
    let low = -1;
    while (index - low > 1) {
      const middle = (low + index) >> 1;
      if ((this.#ranges[middle]?.from ?? Number.POSITIVE_INFINITY) <= seq) low = middle;
      else index = middle;
    }
    return low;
  }
}
