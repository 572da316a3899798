/**
 * The rows of a segment as a follower remembers them: 29 bytes each, whatever the rows hold (`spec/live-turns.md` 7.3, the cached vector).
 */
import { markOf, NO_DIGEST, type RowPrint, type RowsDigest } from '../../state-db/live-rows.ts';
import type { UpdatedField } from './events.ts';

/** HIDDEN: taken back or superseded. */
export type RowState = 'LIVE' | 'ARCHIVED' | 'HIDDEN';

export function stateOf(print: Pick<RowPrint, 'live' | 'archived'>): RowState {
  return print.live ? 'LIVE' : print.archived ? 'ARCHIVED' : 'HIDDEN';
}

/** Immutable; rows are in id order. */
export class RowTable {
  static readonly EMPTY = new RowTable(new BigInt64Array(), new Uint8Array(), new Uint32Array());

  readonly #ids: BigInt64Array;
  /** 0 live, 1 archived, 2 hidden. */
  readonly #states: Uint8Array;
  /** Bytes of content, of calls, of display, a part of the identity (0: none), and the mark of each row. */
  readonly #facts: Uint32Array;
  #digest: RowsDigest | null = null;

  private constructor(ids: BigInt64Array, states: Uint8Array, facts: Uint32Array) {
    this.#ids = ids;
    this.#states = states;
    this.#facts = facts;
  }

  static of(prints: readonly RowPrint[]): RowTable {
    return RowTable.EMPTY.plus(prints);
  }

  /** This table with rows behind its last one. */
  plus(prints: readonly RowPrint[]): RowTable {
    if (prints.length === 0) return this;
    const size = this.size + prints.length;
    const ids = new BigInt64Array(size);
    const states = new Uint8Array(size);
    const facts = new Uint32Array(size * FACTS);
    ids.set(this.#ids);
    states.set(this.#states);
    facts.set(this.#facts);
    prints.forEach((print, index) => {
      const at = this.size + index;
      const id = BigInt(print.rowId);
      ids[at] = id;
      states[at] = STATES.indexOf(stateOf(print));
      facts.set([print.contentBytes, print.callsBytes, print.displayBytes, identityPart(print.identity), markOf(id)], at * FACTS);
    });
    return new RowTable(ids, states, facts);
  }

  get size(): number {
    return this.#ids.length;
  }

  get liveCount(): number {
    return this.digest().live;
  }

  get lastRowId(): string | null {
    return this.size === 0 ? null : String(this.#ids[this.size - 1]);
  }

  /** The state of a row; null when the table doesn't have it. */
  stateOf(rowId: string): RowState | null {
    const at = this.#find(BigInt(rowId));
    return at === null ? null : (STATES[this.#states[at] ?? 0] ?? null);
  }

  digest(): RowsDigest {
    this.#digest ??= this.#sums();
    return this.#digest;
  }

  #sums(): RowsDigest {
    const sum = { ...NO_DIGEST, rows: this.size };
    for (let at = 0; at < this.size; at++) {
      const mark = this.#facts[at * FACTS + 4] ?? 0;
      if (this.#states[at] === 0) {
        sum.live++;
        sum.liveMarks += mark;
      }
      if (this.#states[at] === 1) {
        sum.archived++;
        sum.archivedMarks += mark;
      }
      sum.contentBytes += this.#facts[at * FACTS] ?? 0;
      sum.callsBytes += this.#facts[at * FACTS + 1] ?? 0;
      sum.displayBytes += this.#facts[at * FACTS + 2] ?? 0;
    }
    return sum;
  }

  /** What became of the rows of this table; rows of `prints` that it doesn't have are left out. */
  compare(prints: readonly RowPrint[]): RowMoves {
    const moves: RowMoves = { moved: [], updated: [], liveBefore: this.liveCount, liveKept: 0 };
    let next = 0;
    for (let at = 0; at < this.size; at++) {
      const id = this.#ids[at] ?? 0n;
      while (next < prints.length && BigInt(prints[next]?.rowId ?? 0) < id) next++;
      const print = prints[next];
      const present = print !== undefined && BigInt(print.rowId) === id;
      const from = STATES[this.#states[at] ?? 0] ?? 'LIVE';
      const to = present ? stateOf(print) : 'GONE';
      if (from !== to) moves.moved.push({ rowId: String(id), from, to });
      else if (from === 'LIVE') moves.liveKept++;
      if (!present || to === 'HIDDEN') continue;
      const fields = this.#changedFields(at, print);
      if (fields.length > 0) moves.updated.push({ rowId: String(id), fields, emptied: print.contentBytes === 0 });
    }
    return moves;
  }

  #changedFields(at: number, print: RowPrint): UpdatedField[] {
    const fields: UpdatedField[] = [];
    const [content, calls, display, identity] = this.#facts.subarray(at * FACTS, (at + 1) * FACTS);
    if (content !== print.contentBytes) fields.push('CONTENT');
    if (calls !== print.callsBytes) fields.push('TOOL_CALLS');
    if (display !== print.displayBytes) fields.push('DISPLAY');
    // An identity that was filled in later says nothing; one that changed or went says that the row, or a copy of it, was edited.
    if (fields.length === 0 && identity !== 0 && identity !== identityPart(print.identity)) fields.push('UNKNOWN');
    return fields;
  }

  #find(id: bigint): number | null {
    let [low, high] = [0, this.size - 1];
    while (low <= high) {
      const middle = (low + high) >> 1;
      const found = this.#ids[middle] ?? 0n;
      if (found === id) return middle;
      if (found < id) low = middle + 1;
      else high = middle - 1;
    }
    return null;
  }
}

export interface RowMove {
  readonly rowId: string;
  readonly from: RowState;
  readonly to: RowState | 'GONE';
}

export interface RowUpdate {
  readonly rowId: string;
  readonly fields: readonly UpdatedField[];
  /** Nothing of the content is left. */
  readonly emptied: boolean;
}

export interface RowMoves {
  readonly moved: RowMove[];
  readonly updated: RowUpdate[];
  readonly liveBefore: number;
  /** Rows that were and still are live. */
  liveKept: number;
}

const STATES: readonly RowState[] = ['LIVE', 'ARCHIVED', 'HIDDEN'];
const FACTS = 5;

/** Enough of the digest to see that it changed; never 0. */
function identityPart(identity: string | null): number {
  return identity === null ? 0 : Number.parseInt(identity.slice(0, 8), 16) || 1;
}
