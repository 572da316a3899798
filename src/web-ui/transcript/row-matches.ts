/**
 * Which row of the store holds a message of a file: only where both say the very same, so that a change of the row is one of the message.
 */
import type { MergeDecision, Origin, RowDecision } from './merge-decision.ts';

/** Rules that find a row to be a message that the file has. */
const SAME: ReadonlySet<MergeDecision> = new Set(['MIRROR', 'REPLAY', 'ROW_ID', 'DUPLICATE', 'SAME_SECOND', 'SAME_ID']);
/** These two prove it by something else than what is said. */
const PROVEN: ReadonlySet<MergeDecision> = new Set(['MIRROR', 'ROW_ID']);

export interface MatchInput {
  readonly origins: readonly Origin[];
  readonly decisions: readonly RowDecision[];
  /** What each message says, and what each row says (`markOf`). */
  readonly marks: readonly string[];
  readonly rowMarks: readonly string[];
}

/**
 * For each message the indexes of its rows, the first of them the one that stands for it. A message that came from the store has its row. One
 * of the file has those that the merge took for it and that say the same; where the merge did not compare, a row that alone says what the
 * message alone says.
 */
export function rowsOfMessages({ origins, decisions, marks, rowMarks }: MatchInput): number[][] {
  const rows = origins.map(({ from, index }) => (from === 'STATE' ? [index] : []));
  const used = new Set(rows.flat());
  for (const { index, decision, position, shown } of decisions) {
    if (shown || position === null || !SAME.has(decision)) continue;
    if (!PROVEN.has(decision) && marks[position] !== rowMarks[index]) continue;
    rows[position]?.push(index);
    used.add(index);
  }
  const alone = uniqueBy(rowMarks, (index) => !used.has(index));
  for (const [mark, position] of uniqueBy(marks, (at) => rows[at]?.length === 0)) {
    const index = alone.get(mark);
    if (index !== undefined) rows[position]?.push(index);
  }
  return rows;
}

/** The place of each mark that only one place has. */
function uniqueBy(marks: readonly string[], isWanted: (index: number) => boolean): Map<string, number> {
  const places = new Map<string, number>();
  const repeated = new Set<string>();
  for (const [index, mark] of marks.entries()) {
    if (!isWanted(index)) continue;
    if (places.has(mark)) repeated.add(mark);
    places.set(mark, index);
  }
  for (const mark of repeated) places.delete(mark);
  return places;
}
