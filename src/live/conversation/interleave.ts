/**
 * The order in which a conversation tells journal records and row events that were read together (`spec/live-turns.md` 13). Each source
 * keeps its own order; a row comes before the record that speaks of the same thing, since it was committed before (M3), all rows come
 * before the end of their turn (M5), and the beginning of a turn before its rows (M4).
 */

import { CALL_ID_KEYS } from '../journal/fold-tools.ts';
import type { JournalRecord } from '../journal/line.ts';
import { firstWord, text } from '../journal/payload.ts';
import { TRANSPORT_END } from '../journal/terminal.ts';
import type { RowEvent, RowEventOf } from '../rows/events.ts';
import { isTurnStart } from '../rows/turn-state.ts';
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

/** Clocks and times of rows may be so much before the time at which a run says that it began. */
const SLACK_SECONDS = 1;

export function interleave(entries: readonly RunEntry[], rows: readonly RowEvent[]): MergeStep[] {
  const weave = new Weave(rows);
  for (const [index, entry] of entries.entries()) {
    if (entry.kind === 'BEGIN') weave.begin(entry.run);
    else if (entry.kind === 'RECORD') weave.before(entry, nextBegin(entries, index));
    weave.steps.push(entry);
  }
  weave.finish();
  return weave.steps;
}

/** The next turn among the entries; null when there is none. */
function nextBegin(entries: readonly RunEntry[], index: number): RunTurn | null {
  return entries.slice(index + 1).find(({ kind }) => kind === 'BEGIN')?.run ?? null;
}

class Weave {
  readonly steps: MergeStep[] = [];
  readonly #rows: readonly RowEvent[];
  /** Where turns begin among the rows. */
  readonly #starts: readonly number[];
  #next = 0;
  /** Runs whose user's row was told, or told just now. */
  readonly #started = new Set<RunTurn>();
  #run: RunTurn | null = null;

  constructor(rows: readonly RowEvent[]) {
    this.#rows = rows;
    this.#starts = turnStarts(rows);
  }

  /** Rows from before the run come before its beginning; its own begin with a user's row. */
  begin(run: RunTurn): void {
    const since = run.startedAt - SLACK_SECONDS;
    const own = this.#starts.find((at) => at >= this.#next && timeOf(this.#rows, at) >= since);
    this.#releaseTo(own ?? this.#firstSince(run.startedAt));
    this.#run = run;
  }

  before({ run, record }: RunEntry & { readonly kind: 'RECORD' }, following: RunTurn | null): void {
    this.#run = run;
    if (!record.terminal) this.#releaseTo(endOfMatch(record, this.#rows, this.#next));
    else if (record.event !== TRANSPORT_END) this.#releaseTo(following === null ? this.#rows.length : this.#endOfTurn(run, following));
  }

  finish(): void {
    this.#releaseTo(this.#rows.length);
  }

  /** Where the rows of a turn end that another one follows: at the next user's row that is not its own. */
  #endOfTurn(run: RunTurn, following: RunTurn): number {
    const isTold = run.userMessageId !== null || this.#started.has(run);
    const starts = this.#starts.filter((at) => at >= this.#next);
    return starts[isTold ? 0 : 1] ?? this.#firstSince(following.startedAt);
  }

  #firstSince(time: number): number {
    const first = this.#rows.findIndex(({ at }, index) => index >= this.#next && at >= time);
    return first === -1 ? this.#rows.length : first;
  }

  #releaseTo(end: number): void {
    for (; this.#next < end; this.#next++) {
      const event = this.#rows[this.#next];
      if (event === undefined) return;
      if (this.#run !== null && isStart(event)) this.#started.add(this.#run);
      this.steps.push({ kind: 'ROW', event });
    }
  }
}

/** Where turns begin: with a user's row, or right before it. */
export function turnStarts(rows: readonly RowEvent[]): number[] {
  return rows.flatMap((event, index) => (isStart(event) ? [startOf(rows, index)] : []));
}

function isStart(event: RowEvent): boolean {
  return event.kind === 'MessagesAppended' && event.depth === 0 && event.carried.length === 0 && event.rows.some(isTurnStart);
}

/** The turn that rows tell of begins right before its row. */
function startOf(rows: readonly RowEvent[], index: number): number {
  return rows[index - 1]?.kind === 'TurnStarted' ? index - 1 : index;
}

function timeOf(rows: readonly RowEvent[], index: number): number {
  return rows[index]?.at ?? 0;
}

/** The end of the rows that belong before the record; `from` when none does. */
function endOfMatch(record: JournalRecord, rows: readonly RowEvent[], from: number): number {
  const matches = matcherOf(record);
  if (matches === null) return from;
  const found = rows.findIndex((event, at) => at >= from && event.kind === 'MessagesAppended' && matches(event));
  return found === -1 ? from : endOfRow(rows, found);
}

function matcherOf({ event, payload }: JournalRecord): ((row: RowEventOf<'MessagesAppended'>) => boolean) | null {
  const id = firstWord(payload, CALL_ID_KEYS);
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
