/**
 * What happened to the rows of a segment between two readings (`spec/live-turns.md` 6.4, 7.3, 11.1, 11.2), told in an order in which a
 * reader can follow it whatever was committed in between: what was appended and moved on at once, what came back, what was taken out,
 * what was compacted, what was appended behind that.
 */
import type { LiveRow } from '../../state-db/live-rows.ts';
import { appendedEvents } from './appended.ts';
import { type CarriedRow, derivedId, digest8, type RetractCause, type RowEvent, rowEvent } from './events.ts';
import { type RowMove, type RowMoves, type RowState, RowTable, stateOf } from './row-table.ts';
import type { SegmentStep } from './segment-step.ts';
import { updateEvents } from './updates.ts';

const NO_MOVES: RowMoves = { moved: [], updated: [], liveBefore: 0, liveKept: 0 };

/** Events of one segment that was known before. */
export function segmentEvents(step: SegmentStep): RowEvent[] {
  const moves = step.prints === null ? NO_MOVES : step.before.compare(step.prints);
  const found = changesOf(step, moves);
  const updates = updateEvents(step, moves);
  if (isReplacement(step, moves, found)) return [...retracted(step, found.forgotten, 'DELETED'), replaced(step, found), ...updates];
  const restored = moves.moved.filter(({ from, to }) => to === 'LIVE' || (from === 'HIDDEN' && to === 'ARCHIVED')).map(idOf);
  return [
    ...found.passing.flatMap((row) => appendedEvents(row, [], step.isLate(row), step.now)),
    ...restoredEvents(step, restored),
    ...retracted(step, found.rewound, 'REWIND'),
    ...retracted(step, found.replaced, 'REPLACED'),
    ...retracted(step, [...found.deleted, ...found.forgotten].sort(byId), 'DELETED'),
    ...(found.isCompaction ? [compacted(step, found)] : []),
    ...found.appended.flatMap(({ row, carried }) => appendedEvents(row, carried, step.isLate(row), step.now)),
    ...updates,
  ];
}

/** A segment that continues another one: the handoff first, then what happened in it since (11.2). */
export function continuationEvents(step: SegmentStep, fromSessionId: string, at: number): RowEvent[] {
  const carriedOver = step.rows.map((row) => step.copies.takenFrom(row));
  const end = Math.max(carriedOver.findLastIndex((original) => original !== null) + 1, handoffLength(step.rows));
  const handoff = step.rows.slice(0, end);
  const carried = handoff.flatMap((row, index): CarriedRow[] => {
    const original = carriedOver[index] ?? null;
    return original === null ? [] : [{ oldId: original.otherId, newId: row.rowId, retired: false }];
  });
  const carriedIds = new Set(carried.map(({ newId }) => newId));
  const handoffIds = handoff.map(({ rowId }) => rowId).filter((id) => !carriedIds.has(id));
  const fields = { fromSessionId, toSessionId: step.sessionId, handoffIds, carried };
  const id = derivedId('SessionContinued', fromSessionId, step.sessionId);
  const begun = RowTable.of(handoff.map((row) => ({ ...row, live: true, archived: false })));
  return [
    rowEvent('SessionContinued', id, { sessionId: step.sessionId, at }, fields),
    ...segmentEvents({ ...step, before: begun, rows: step.rows.slice(end), copies: step.copies.assuming(begun) }),
  ];
}

/** Where nothing was carried over: the summary and what it hides, at least one row. */
function handoffLength(rows: readonly LiveRow[]): number {
  const first = rows.findIndex((row) => !row.summary && row.displayKind !== 'hidden');
  return first === -1 ? rows.length : Math.max(first, Math.min(1, rows.length));
}

interface Changes {
  /** New rows that were archived or copied before anybody saw them. */
  readonly passing: readonly LiveRow[];
  readonly rewound: readonly string[];
  readonly replaced: readonly string[];
  readonly deleted: readonly string[];
  /** History that is gone: archived rows that were deleted or hidden. */
  readonly forgotten: readonly string[];
  readonly isCompaction: boolean;
  readonly archived: readonly string[];
  readonly summaries: readonly LiveRow[];
  readonly carried: readonly CarriedRow[];
  readonly appended: readonly { row: LiveRow; carried: CarriedRow[] }[];
  readonly live: readonly LiveRow[];
}

/** Sorts every row that moved or came into one of the changes. */
function changesOf(step: SegmentStep, moves: RowMoves): Changes {
  const { rows, copies } = step;
  const stateAfter = statesAfter(step);
  const pairs = rows.flatMap((row) => copies.carried(row, stateAfter) ?? []);
  const pairOf = new Map(pairs.map((pair) => [pair.newId, pair]));
  const copied = new Set(pairs.map(({ oldId }) => oldId));
  const archivedRows = new Set(rows.filter((row) => stateOf(row) === 'ARCHIVED' && copies.twinOf(row) === null));
  const passing = rows.filter((row) => {
    if (pairOf.has(row.rowId)) return false;
    return archivedRows.has(row) || (stateOf(row) === 'HIDDEN' && copied.has(row.rowId));
  });
  const archived = [
    ...moves.moved.filter(({ from, to }) => to === 'ARCHIVED' && from !== 'ARCHIVED').map(idOf),
    ...[...archivedRows].map(({ rowId }) => rowId),
  ];
  const superseded = moves.moved.some(({ rowId, from, to }) => from === 'LIVE' && to === 'HIDDEN' && copied.has(rowId));
  const isCompaction = archived.length > 0 || superseded || passing.length > 0;
  const live = rows.filter((row) => stateOf(row) === 'LIVE');
  const fresh = live.filter((row) => !pairOf.has(row.rowId));
  const compactedRows = new Set(isCompaction ? live.slice(0, boundary(live, pairOf) + 1) : []);
  return {
    ...takenOut(moves, isCompaction ? copied : new Set(), step.rewound ? 'rewound' : fresh.length > 0 ? 'replaced' : 'deleted'),
    passing,
    isCompaction,
    archived: archived.filter((id) => !copied.has(id)).sort(byId),
    summaries: fresh.filter((row) => compactedRows.has(row)),
    carried: isCompaction ? pairs : [],
    appended: isCompaction
      ? fresh.filter((row) => !compactedRows.has(row)).map((row) => ({ row, carried: [] }))
      : live.map((row) => ({ row, carried: [pairOf.get(row.rowId)].flatMap((pair) => pair ?? []) })),
    live,
  };
}

/** Rows that are not to be seen any more. Of those that were live and are hidden now the reason has to be known. */
function takenOut(
  moves: RowMoves,
  carriedOn: ReadonlySet<string>,
  reason: 'rewound' | 'replaced' | 'deleted',
): Pick<Changes, 'rewound' | 'replaced' | 'deleted' | 'forgotten'> {
  const out = moves.moved.filter(({ rowId, from }) => from === 'LIVE' && !carriedOn.has(rowId));
  const hidden = out.filter(({ to }) => to === 'HIDDEN').map(idOf);
  return {
    rewound: reason === 'rewound' ? hidden : [],
    replaced: reason === 'replaced' ? hidden : [],
    deleted: [...(reason === 'deleted' ? hidden : []), ...out.filter(({ to }) => to === 'GONE').map(idOf)],
    forgotten: moves.moved.filter(({ from, to }) => from === 'ARCHIVED' && (to === 'HIDDEN' || to === 'GONE')).map(idOf),
  };
}

/**
 * How far into the new rows a compaction reaches: its summary, the rows that it carried, in that order, in one commit. What lies behind
 * was appended later. Where neither can be told, everything new is taken for the summary.
 */
function boundary(live: readonly LiveRow[], pairOf: ReadonlyMap<string, CarriedRow>): number {
  const last = live.findLastIndex((row) => pairOf.has(row.rowId) || row.summary);
  return last === -1 ? live.length - 1 : last;
}

/** All live rows went and none of them was archived: the transcript was written anew, or cleared. */
function isReplacement(step: SegmentStep, moves: RowMoves, found: Changes): boolean {
  if (moves.liveBefore === 0 || moves.liveKept > 0 || found.isCompaction) return false;
  if (moves.moved.some(({ to }) => to === 'LIVE')) return false;
  const deleted = moves.moved.filter(({ from, to }) => from === 'LIVE' && to === 'GONE').length;
  if (found.live.length === 0) return deleted === moves.liveBefore;
  return deleted > 0 || !step.rewound;
}

function replaced(step: SegmentStep, found: Changes): RowEvent {
  const newIds = found.live.map(({ rowId }) => rowId);
  const id = derivedId('TranscriptReplaced', step.sessionId, [newIds, step.before.lastRowId, step.before.size]);
  const carried = found.appended.flatMap((entry) => entry.carried);
  return rowEvent('TranscriptReplaced', id, placeOf(step), { newIds, activeCount: newIds.length, carried });
}

function compacted(step: SegmentStep, found: Changes): RowEvent {
  const { archived, carried } = found;
  const summaryIds = found.summaries.map(({ rowId }) => rowId);
  const last = summaryIds.at(-1) ?? carried.at(-1)?.newId ?? archived.at(-1);
  const activeCount =
    found.live.length + (step.prints ?? []).filter((print) => print.live && step.before.stateOf(print.rowId) !== null).length;
  return rowEvent('TranscriptCompacted', derivedId('TranscriptCompacted', step.sessionId, [last, archived.at(-1)]), placeOf(step), {
    archivedCount: archived.length,
    firstArchivedId: archived[0] ?? null,
    lastArchivedId: archived.at(-1) ?? null,
    archivedIds: archived,
    summaryIds,
    carried,
    activeCount,
  });
}

function retracted(step: SegmentStep, ids: readonly string[], cause: RetractCause): RowEvent[] {
  const [fromId] = ids;
  if (fromId === undefined) return [];
  const scope = cause === 'REWIND' ? String(step.rewindCount) : digest8([cause, ids]);
  return [rowEvent('MessagesRetracted', `mr:${step.sessionId}:${scope}`, placeOf(step), { fromId, ids, cause })];
}

function restoredEvents(step: SegmentStep, ids: readonly string[]): RowEvent[] {
  const [fromId] = ids;
  if (fromId === undefined) return [];
  const id = `mr:${step.sessionId}:${digest8(['RESTORED', ids, step.rewindCount])}`;
  const carried = ids.flatMap((rowId) => step.copies.pairOf(rowId) ?? []);
  return [rowEvent('MessagesRestored', id, placeOf(step), { fromId, ids, cause: 'REWIND', carried })];
}

function statesAfter(step: SegmentStep): (rowId: string) => RowState | 'GONE' | null {
  const after = new Map<string, RowState>([...(step.prints ?? []), ...step.rows].map((print) => [print.rowId, stateOf(print)]));
  return (rowId) =>
    after.get(rowId) ?? (step.before.stateOf(rowId) === null ? null : step.prints === null ? step.before.stateOf(rowId) : 'GONE');
}

function placeOf(step: SegmentStep): { sessionId: string; at: number } {
  return { sessionId: step.sessionId, at: step.now };
}

function idOf(move: RowMove): string {
  return move.rowId;
}

function byId(a: string, b: string): number {
  return BigInt(a) < BigInt(b) ? -1 : 1;
}
