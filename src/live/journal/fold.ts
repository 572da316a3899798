/**
 * Records of a journal into a turn and its live events (`spec/live-turns.md` 3.7, 12). Pure: the same records give the same turn and the
 * same events, however they are split, so every moment can be rebuilt from the file.
 */
import type { JournalEvent } from './events.ts';
import { foldEnd } from './fold-end.ts';
import { closeByProgress, closeByTool, foldApproval, foldClarify } from './fold-interactions.ts';
import {
  foldCompressed,
  foldCompressing,
  foldContextStatus,
  foldGoal,
  foldGoalContinue,
  foldStateSaved,
  foldSteerLeftover,
  foldTitle,
  foldTodos,
  foldUnknown,
  foldWarning,
} from './fold-notices.ts';
import { FoldStep } from './fold-step.ts';
import { foldInterim, foldReasoning, foldToken } from './fold-text.ts';
import { foldToolFinished, foldToolStarted } from './fold-tools.ts';
import { foldMetering } from './fold-usage.ts';
import type { JournalRecord } from './line.ts';
import type { HolePlace, LiveTurn } from './live-turn.ts';
import { word } from './payload.ts';

export interface Folded {
  readonly state: LiveTurn;
  readonly events: readonly JournalEvent[];
}

/** More holes are forgotten: a late record of them counts as a duplicate. */
const MOST_HOLES = 256;

/** Events of the model: whatever was asked has been answered. */
const PROGRESS: ReadonlySet<string> = new Set(['token', 'reasoning', 'interim_assistant']);

/** `stream_end` and other lines that end a run go to `foldEnd`. */
const HANDLERS: ReadonlyMap<string, (step: FoldStep) => void> = new Map([
  ['token', foldToken],
  ['reasoning', foldReasoning],
  ['interim_assistant', foldInterim],
  ['tool', foldToolStarted],
  ['tool_complete', foldToolFinished],
  ['todo_state', foldTodos],
  ['approval', foldApproval],
  ['clarify', foldClarify],
  ['compressing', foldCompressing],
  ['compressed', foldCompressed],
  ['metering', foldMetering],
  ['warning', foldWarning],
  ['state_saved', foldStateSaved],
  ['pending_steer_leftover', foldSteerLeftover],
  ['goal', foldGoal],
  ['goal_continue', foldGoalContinue],
  ['title', foldTitle],
  ['title_status', foldTitle],
  ['context_status', foldContextStatus],
]);

/**
 * The turn after a record, and what it tells. A number that was passed over is folded late, where it belongs; one that was folded
 * before changes nothing.
 */
export function foldRecord(turn: LiveTurn, record: JournalRecord): Folded {
  const place = record.seq <= turn.lastSeq ? (turn.holes.find(({ from, to }) => from <= record.seq && record.seq <= to) ?? null) : null;
  if (record.seq <= turn.lastSeq && place === null) return { state: turn, events: [] };
  const step = new FoldStep(place === null ? advanced(turn, record) : withoutHole(turn, place, record.seq), record, place);
  if (PROGRESS.has(record.event)) closeByProgress(step);
  if (record.event === 'tool_complete') closeByTool(step, word(record.payload, 'name'));
  handlerOf(record)(step);
  return { state: step.turn, events: step.events };
}

/** Several records one after another; `joinEvents` makes their events fewer. */
export function foldRecords(turn: LiveTurn, records: Iterable<JournalRecord>): Folded {
  const events: JournalEvent[] = [];
  let state = turn;
  for (const record of records) {
    const folded = foldRecord(state, record);
    state = folded.state;
    for (const event of folded.events) events.push(event);
  }
  return { state, events };
}

function handlerOf(record: JournalRecord): (step: FoldStep) => void {
  if (record.terminal) return foldEnd;
  return (record.truncated ? undefined : HANDLERS.get(record.event)) ?? foldUnknown;
}

/** Goes on to the record; what was passed over is remembered with the place where it would have been. */
function advanced(turn: LiveTurn, record: JournalRecord): LiveTurn {
  const at = record.createdAt;
  const next = { ...turn, lastSeq: record.seq, startedAt: turn.startedAt ?? at, lastAt: at ?? turn.lastAt };
  if (record.seq === turn.lastSeq + 1) return next;
  const hole: HolePlace = { from: turn.lastSeq + 1, to: record.seq - 1, ...placeNow(turn) };
  return { ...next, holes: [...turn.holes, hole].slice(-MOST_HOLES) };
}

function placeNow({ segments, reasoning, boundaries }: LiveTurn): Omit<HolePlace, 'from' | 'to'> {
  const text = segments.at(-1);
  const thought = reasoning.at(-1);
  const inText = text !== undefined && !text.sealed;
  const inThought = thought !== undefined && !thought.closed;
  return {
    segment: inText ? text.index : segments.length,
    offset: inText ? text.text.length : 0,
    boundary: boundaries,
    reasoning: inThought ? thought.index : reasoning.length,
    reasoningOffset: inThought ? thought.text.length : 0,
  };
}

/** The hole becomes what is missing before and after the number. */
function withoutHole(turn: LiveTurn, place: HolePlace, seq: number): LiveTurn {
  const parts = [
    { ...place, to: seq - 1 },
    { ...place, from: seq + 1 },
  ].filter(({ from, to }) => from <= to);
  return { ...turn, holes: turn.holes.flatMap((hole) => (hole === place ? parts : [hole])) };
}
