/**
 * The order in which a conversation tells journal records and row events that were read together (`spec/live-turns.md` 13). Each source
 * keeps its own order; a row comes before the record that speaks of the same thing, since it was committed before (M3), all rows come
 * before the end of their turn (M5), and the beginning of a turn before its rows (M4).
 */

import type { JournalRecord } from '../journal/line.ts';
import { firstWord, text } from '../journal/payload.ts';
import { TRANSPORT_END } from '../journal/terminal.ts';
import type { RowEvent, RowEventOf } from '../rows/events.ts';
import type { RunTurn } from './run-turn.ts';

/** What a run's journal gave, in the order in which it was read. */
export type RunEntry =
  | { readonly kind: 'BEGIN'; readonly run: RunTurn }
  | { readonly kind: 'RECORD'; readonly run: RunTurn; readonly record: JournalRecord; readonly generation: string }
  /** What was read before of the run is void; or its journal is gone. */
  | { readonly kind: 'RESET' | 'GONE'; readonly run: RunTurn };

export type MergeStep = RunEntry | { readonly kind: 'ROW'; readonly event: RowEvent };

/** Records that rows were committed before: they wait for a pass that began after they were read (M3). */
const BEHIND_ROWS: ReadonlySet<string> = new Set(['tool', 'tool_complete', 'interim_assistant', 'done', 'cancel', 'apperror', 'error']);

export function waitsForRows({ event, terminal }: JournalRecord): boolean {
  return terminal || BEHIND_ROWS.has(event);
}

const ID_KEYS = ['tid', 'id', 'tool_call_id', 'tool_use_id', 'call_id'] as const;

export function interleave(entries: readonly RunEntry[], rows: readonly RowEvent[]): MergeStep[] {
  const steps: MergeStep[] = [];
  let next = 0;
  const releaseTo = (end: number) => {
    for (; next < end; next++) {
      const event = rows[next];
      if (event !== undefined) steps.push({ kind: 'ROW', event });
    }
  };
  entries.forEach((entry, index) => {
    if (entry.kind === 'BEGIN') {
      const { startedAt } = entry.run;
      const first = rows.findIndex((event, at) => at >= next && event.at >= startedAt);
      releaseTo(first === -1 ? rows.length : first);
    } else if (entry.kind === 'RECORD') releaseTo(boundaryOf(entry.record, rows, next, () => followingStart(entries, index)));
    steps.push(entry);
  });
  releaseTo(rows.length);
  return steps;
}

/** When the next turn among the entries began. */
function followingStart(entries: readonly RunEntry[], index: number): number {
  for (const entry of entries.slice(index + 1)) if (entry.kind === 'BEGIN') return entry.run.startedAt;
  return Number.POSITIVE_INFINITY;
}

/** The end of the rows that belong before the record; `from` when none does. */
function boundaryOf(record: JournalRecord, rows: readonly RowEvent[], from: number, nextStart: () => number): number {
  if (record.terminal) {
    if (record.event === TRANSPORT_END) return from;
    const start = nextStart();
    const first = rows.findIndex((event, at) => at >= from && event.at >= start);
    return first === -1 ? rows.length : first;
  }
  const matches = matcherOf(record);
  if (matches === null) return from;
  const found = rows.findIndex((event, at) => at >= from && event.kind === 'MessagesAppended' && matches(event));
  return found === -1 ? from : endOfRow(rows, found);
}

function matcherOf({ event, payload }: JournalRecord): ((row: RowEventOf<'MessagesAppended'>) => boolean) | null {
  const id = firstWord(payload, ID_KEYS);
  const name = text(payload, 'name');
  switch (event) {
    case 'tool':
      return ({ rows }) => rows.some(({ calls }) => calls.some((call) => (id === null ? call.name === name : call.id === id)));
    case 'tool_complete':
      return ({ rows }) => rows.some((row) => row.role === 'tool' && (id === null ? row.toolName === name : row.toolCallId === id));
    case 'interim_assistant': {
      const interim = (text(payload, 'text') ?? '').trim();
      return ({ rows }) => interim !== '' && rows.some((row) => row.role === 'assistant' && row.text?.trim() === interim);
    }
    default:
      return null;
  }
}

/** Tools that a row tells of go with it. */
function endOfRow(rows: readonly RowEvent[], at: number): number {
  let end = at + 1;
  while (rows[end]?.kind === 'ToolStarted' || rows[end]?.kind === 'ToolFinished') end++;
  return end;
}
