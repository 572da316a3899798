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
 * of the file has those that the merge took for it and that say the same; where the merge did not compare, the rows that say the same are given
 * to the messages that do when there are as many.
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
  const unused = placesOf(rowMarks, (index) => !used.has(index));
  for (const [mark, positions] of placesOf(marks, (at) => rows[at]?.length === 0)) {
    const indexes = unused.get(mark) ?? [];
    // As many rows as messages: then each has its own, in their order.
    if (indexes.length !== positions.length) continue;
    for (const [at, position] of positions.entries()) rows[position]?.push(indexes[at] ?? 0);
  }
  return rows;
}

/** The places of each mark, in their order. */
function placesOf(marks: readonly string[], isWanted: (index: number) => boolean): Map<string, number[]> {
  return Map.groupBy([...marks.keys()].filter(isWanted), (index) => marks[index] ?? '');
}
