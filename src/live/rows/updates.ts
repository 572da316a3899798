/**
 * Rows that were written over in place (`spec/live-turns.md` 6.4): pruned to a stub, stamped for display, emptied, or edited by somebody.
 */
import type { RowPrint } from '../../state-db/live-rows.ts';
import { digest8, type RowEvent, rowEvent, type UpdateCause, type UpdatedField } from './events.ts';
import { type RowMoves, type RowUpdate, stateOf } from './row-table.ts';
import type { SegmentStep } from './segment-step.ts';

/** One event for each cause. */
export function updateEvents(step: Pick<SegmentStep, 'sessionId' | 'prints' | 'rows' | 'copies' | 'now'>, moves: RowMoves): RowEvent[] {
  const twins = new Map<string, string>();
  for (const row of step.rows) {
    const id = step.copies.twinOf(row);
    if (id !== null) twins.set(id, row.rowId);
  }
  const byCause = Map.groupBy(moves.updated, (update) => causeOf(update, twins));
  const prints = new Map((step.prints ?? []).map((print) => [print.rowId, print]));
  return [...byCause].map(([cause, updates]) => {
    const pairs = cause === 'PRUNE' ? updates.map(({ rowId }) => ({ id: rowId, twinId: twins.get(rowId) ?? '' })) : [];
    return updateEvent(
      step,
      cause,
      updates,
      pairs,
      updates.map(({ rowId }) => prints.get(rowId)),
    );
  });
}

function causeOf({ rowId, fields, emptied }: RowUpdate, twins: ReadonlyMap<string, string>): UpdateCause {
  if (twins.has(rowId)) return 'PRUNE';
  if (fields.every((field) => field === 'DISPLAY')) return 'DISPLAY';
  return emptied && fields.includes('CONTENT') ? 'CLEANUP' : 'UNKNOWN';
}

function updateEvent(
  place: { readonly sessionId: string; readonly now: number },
  cause: UpdateCause,
  updates: readonly RowUpdate[],
  twins: readonly { id: string; twinId: string }[],
  says: unknown,
): RowEvent {
  const ids = updates.map(({ rowId }) => rowId);
  const fields = [...new Set(updates.flatMap((update) => update.fields))];
  const id = `mu:${ids[0] ?? ''}:${digest8(says)}`;
  return rowEvent('MessagesUpdated', id, { sessionId: place.sessionId, at: place.now }, { ids, fields, cause, twins });
}

/** Young rows whose hash changed although their lengths didn't (7.3); rows in `told` were found by their lengths. */
export function equalLengthEvents(
  sessionId: string,
  before: ReadonlyMap<string, string>,
  young: readonly RowPrint[],
  told: ReadonlySet<string>,
  now: number,
): RowEvent[] {
  const updates = young.flatMap((print): RowUpdate[] => {
    const known = before.get(print.rowId);
    if (known === undefined || print.hash === null || known === print.hash || told.has(print.rowId) || stateOf(print) === 'HIDDEN')
      return [];
    return [{ rowId: print.rowId, fields: changedParts(known, print.hash), emptied: false }];
  });
  const byCause = Map.groupBy(updates, (update) => causeOf(update, new Map()));
  const hashes = new Map(young.map((print) => [print.rowId, print.hash]));
  return [...byCause].map(([cause, list]) =>
    updateEvent(
      { sessionId, now },
      cause,
      list,
      [],
      list.map(({ rowId }) => hashes.get(rowId)),
    ),
  );
}

/** A hash is eight digits each for content, calls and display. */
function changedParts(before: string, after: string): UpdatedField[] {
  const parts = ['CONTENT', 'TOOL_CALLS', 'DISPLAY'] as const;
  return parts.filter((_, index) => before.slice(index * 8, index * 8 + 8) !== after.slice(index * 8, index * 8 + 8));
}
