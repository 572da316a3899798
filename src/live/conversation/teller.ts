/**
 * Tells what the journals and the rows of a conversation gave, in one order (`spec/live-turns.md` 13): records are folded into their runs,
 * and deltas of one reading are joined.
 */
import type { JournalEvent } from '../journal/events.ts';
import { closeInteractions } from '../journal/fold-interactions.ts';
import { joinEvents } from '../journal/join-events.ts';
import type { RowEvent } from '../rows/events.ts';
import type { LiveEvent } from './events.ts';
import { interleave, type RunEntry, waitsForRows } from './interleave.ts';
import type { TurnMerger } from './merger.ts';
import type { RunSet } from './run-set.ts';
import type { RunTurn } from './run-turn.ts';

export interface TellerParts {
  readonly runs: RunSet;
  readonly merger: TurnMerger;
  /** The last row that was told, for the turn that begins behind it. */
  readonly lastRowId: string | null;
  /** A run's file is another one, or gone. */
  readonly onReset: (run: RunTurn, kind: 'RESET' | 'GONE') => LiveEvent[];
}

export class Teller {
  readonly #parts: TellerParts;
  #lastRowId: string | null;

  constructor(parts: TellerParts) {
    this.#parts = parts;
    this.#lastRowId = parts.lastRowId;
  }

  /** There are records that wait for rows which were committed before them (M3). */
  get waits(): boolean {
    return this.#parts.runs.all.some(({ unread }) => unread.some((entry) => entry.kind === 'RECORD' && waitsForRows(entry.record)));
  }

  /** What the journals gave, in order; what waits for rows stays where it is, and a turn that begins behind it. `all`: nothing waits. */
  take(all: boolean): RunEntry[] {
    const { runs } = this.#parts;
    let isHeldUp = false;
    return runs.all.flatMap((follower): RunEntry[] => {
      const { run, unread } = follower;
      // The end of the turn before is still to be told (M4).
      if (isHeldUp && !follower.begun) return [];
      const waiting = unread.findIndex((entry) => entry.kind === 'RECORD' && waitsForRows(entry.record) && entry.passes >= runs.passes);
      const now = all || waiting === -1 ? unread : unread.slice(0, waiting);
      follower.unread = unread.slice(now.length);
      isHeldUp ||= follower.unread.length > 0;
      const begin: RunEntry[] = follower.begun ? [] : [{ kind: 'BEGIN', run }];
      follower.begun = true;
      return [...begin, ...now.map((entry): RunEntry => ({ ...entry, run }))];
    });
  }

  tell(entries: readonly RunEntry[], rows: readonly RowEvent[]): LiveEvent[] {
    const { merger, onReset } = this.#parts;
    const told: LiveEvent[] = [];
    let joined: { run: RunTurn; events: JournalEvent[] } | null = null;
    const flush = () => {
      for (const event of joinEvents(joined?.events ?? [])) if (joined !== null) told.push(...merger.takeJournal(joined.run, event));
      joined = null;
    };
    for (const step of interleave(entries, rows)) {
      if (step.kind === 'RECORD') {
        const events = step.run.fold(step.record, step.generation);
        if (joined !== null && joined.run !== step.run) flush();
        joined ??= { run: step.run, events: [] };
        joined.events.push(...events);
        continue;
      }
      flush();
      if (step.kind === 'ROW') told.push(...this.#tellRow(step.event));
      else if (step.kind === 'BEGIN') {
        step.run.baseMessageId = this.#lastRowId;
        told.push(...merger.begin(step.run));
      } else told.push(...onReset(step.run, step.kind));
    }
    flush();
    return told;
  }

  closeInteractions(run: RunTurn, evidence: Parameters<typeof closeInteractions>[1]): LiveEvent[] {
    const { state, events } = closeInteractions(run.turn, evidence);
    run.turn = state;
    return events.flatMap((event) => this.#parts.merger.takeJournal(run, event));
  }

  #tellRow(event: RowEvent): LiveEvent[] {
    if (event.kind === 'MessagesAppended' && event.depth === 0) this.#lastRowId = event.ids.at(-1) ?? this.#lastRowId;
    return [...this.#parts.merger.takeRow(event), ...this.#answered(event)];
  }

  /** A question was answered when the row of its tool is there (9). */
  #answered(event: RowEvent): LiveEvent[] {
    const { run } = this.#parts.merger;
    if (run === null || event.kind !== 'ToolFinished' || event.depth > 0) return [];
    const open = run.turn.interactions.find(({ kind, tool }) => (kind === 'CLARIFY' ? event.name === 'clarify' : tool === event.name));
    return open === undefined ? [] : this.closeInteractions(run, { answered: open.interactionId });
  }
}
