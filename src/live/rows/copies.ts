/**
 * Which new rows are copies of which older ones (`spec/live-turns.md` 7.3, rules 1 and 2).
 */
import type { RowCopy } from '../../state-db/live-copies.ts';
import type { LiveRow } from '../../state-db/live-rows.ts';
import type { CarriedRow } from './events.ts';
import { type RowState, type RowTable, stateOf } from './row-table.ts';

/** A state of a row at some time; null: nothing is known. */
export type StateLookup = (rowId: string) => RowState | null;

export class Copies {
  readonly #copies: ReadonlyMap<string, readonly RowCopy[]>;
  readonly #newRows: ReadonlyMap<string, LiveRow>;
  readonly #before: StateLookup;
  readonly #after: StateLookup;

  /** `before`: as readers know it. `after`: as it is now, where that was read. */
  constructor(copies: readonly RowCopy[], rows: readonly LiveRow[], before: StateLookup, after: StateLookup) {
    this.#copies = Map.groupBy(copies, ({ rowId }) => rowId);
    this.#newRows = new Map(rows.map((row) => [row.rowId, row]));
    this.#before = before;
    this.#after = after;
  }

  /** The same with more rows taken for known. */
  assuming(rows: RowTable): Copies {
    const copies = [...this.#copies.values()].flat();
    return new Copies(copies, [...this.#newRows.values()], (rowId) => rows.stateOf(rowId) ?? this.#before(rowId), this.#after);
  }

  /** The live row whose earlier body this archived one keeps. */
  twinOf(row: LiveRow): string | null {
    if (stateOf(row) !== 'ARCHIVED') return null;
    const twins = (this.#copies.get(row.rowId) ?? []).filter(({ relation }) => relation === 'TWIN');
    return twins.find(({ otherId }) => this.#before(otherId) === 'LIVE')?.otherId ?? null;
  }

  /**
   * The newest older copy that a reader knows, or will from this pass, live ones first; a row that was taken back is not copied any more.
   * One that came and went before anybody looked counts only where there is no other.
   */
  originalOf(row: LiveRow): RowCopy | null {
    if (stateOf(row) === 'HIDDEN' || this.twinOf(row) !== null) return null;
    const same = this.#sameAs(row);
    return (
      same.find(({ otherId }) => this.#before(otherId) === 'LIVE' || this.#isNewlySeen(otherId)) ??
      same.find(({ otherId }) => this.#isSeen(otherId)) ??
      same.find(({ otherId }) => this.#newRows.has(otherId)) ??
      null
    );
  }

  /** The pair of a row that came back and a copy that a reader knows. */
  pairOf(rowId: string): CarriedRow | null {
    const others = (this.#copies.get(rowId) ?? []).filter(({ relation }) => relation === 'SAME');
    const other = others.find(({ otherId }) => this.#isSeen(otherId))?.otherId;
    if (other === undefined) return null;
    const isOlder = BigInt(other) < BigInt(rowId);
    return { oldId: isOlder ? other : rowId, newId: isOlder ? rowId : other, retired: false };
  }

  /** The copy in another session that a row was taken over from, whatever became of the row since. */
  takenFrom(row: LiveRow): RowCopy | null {
    return this.#sameAs(row).find(({ otherId, otherSessionId }) => otherSessionId !== row.sessionId && this.#isSeen(otherId)) ?? null;
  }

  carried(row: LiveRow, stateAfter: (rowId: string) => RowState | 'GONE' | null): CarriedRow | null {
    const original = this.originalOf(row);
    if (original === null) return null;
    const after = stateAfter(original.otherId);
    return { oldId: original.otherId, newId: row.rowId, retired: after === 'HIDDEN' || after === 'GONE' };
  }

  #sameAs(row: LiveRow): RowCopy[] {
    return (this.#copies.get(row.rowId) ?? []).filter(({ relation }) => relation === 'SAME');
  }

  /** Rows that come back in this pass are told before the copies that were made of them. */
  #isSeen(rowId: string): boolean {
    return isVisible(this.#before(rowId)) || isVisible(this.#after(rowId)) || this.#isNewlySeen(rowId);
  }

  #isNewlySeen(rowId: string): boolean {
    const row = this.#newRows.get(rowId);
    return row !== undefined && isVisible(stateOf(row));
  }
}

function isVisible(state: RowState | null): boolean {
  return state === 'LIVE' || state === 'ARCHIVED';
}
