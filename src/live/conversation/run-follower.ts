/**
 * A run whose journal is followed: what was read and not yet told, and the position after what was told.
 */

import { runJournalPath } from '../journal/ids.ts';
import type { JournalRecord } from '../journal/line.ts';
import { parseLine, type RunName, recordMarker } from '../journal/line.ts';
import type { JournalUnreadable } from '../journal/open-journal.ts';
import type { RunPosition } from '../journal/resume.ts';
import { scanJournal } from '../journal/scan.ts';
import { RunTailer, type TailEvent } from '../journal/tailer.ts';
import type { RunMark } from './position.ts';
import type { RunTurn } from './run-turn.ts';

export type Unread =
  | {
      readonly kind: 'RECORD';
      readonly record: JournalRecord;
      readonly generation: string /** Passes begun before it was read. */;
      readonly passes: number;
    }
  | { readonly kind: 'RESET' }
  | { readonly kind: 'GONE' };

export interface RunFollowerOptions {
  /** The directory `_run_journal`. */
  readonly root: string;
  readonly run: RunTurn;
  readonly after: RunPosition | null;
  /** How many passes over the rows were begun so far. */
  readonly passes: () => number;
  /** There is something to tell. */
  readonly onUnread: () => void;
  readonly onError: (error: JournalUnreadable) => void;
}

export class RunFollower {
  readonly run: RunTurn;
  /** Whether its beginning was told. */
  begun = false;
  /** When its end was told, by the server's clock in epoch seconds. */
  endedAt: number | null = null;
  unread: Unread[] = [];
  readonly #tailer: RunTailer;
  readonly #options: RunFollowerOptions;

  constructor(options: RunFollowerOptions) {
    const { root, run, after } = options;
    this.run = run;
    this.#options = options;
    const { sessionId, runId } = run;
    this.#tailer = new RunTailer({
      root,
      sessionId,
      runId,
      onEvent: (event) => this.#onEvent(event),
      ...(after === null ? {} : { after }),
    });
  }

  /** The journal may have grown. */
  poke(): void {
    this.#tailer.poke();
  }

  /** Reads what is there now. */
  drain(): Promise<void> {
    return this.#tailer.drain();
  }

  get statistics() {
    return { ...this.#tailer.statistics, duplicates: this.#tailer.duplicates };
  }

  /** Where the reader stands who was told everything so far. */
  get mark(): RunMark {
    const { runId, sessionId, startedAt, turn, ended } = this.run;
    const read = this.#tailer.position;
    const holes = turn.holes.map(({ from, to }) => ({ from, to }));
    const offset = read?.seq === turn.lastSeq && this.unread.length === 0 ? read.offset : null;
    const position = turn.generation === '' ? null : { generation: turn.generation, seq: turn.lastSeq, holes, offset };
    return { runId, sessionId, startedAt, position, ended: ended === null ? null : { outcome: ended.outcome, certainty: ended.certainty } };
  }

  close(): void {
    this.#tailer.close();
  }

  #onEvent(event: TailEvent): void {
    switch (event.kind) {
      case 'RECORDS': {
        const { generation } = event;
        const passes = this.#options.passes();
        for (const { record } of event.deliveries) this.unread.push({ kind: 'RECORD', record, generation, passes });
        break;
      }
      case 'RESET':
        this.unread = [{ kind: 'RESET' }];
        break;
      case 'GONE':
        this.unread = [{ kind: 'GONE' }];
        break;
      case 'FAILED':
        this.#options.onError(event.error);
        return;
    }
    this.#options.onUnread();
  }
}

/** The records that a reader at the position was told, in their order; null when the file is gone. */
export async function recordsUpTo(root: string, run: RunName, position: RunPosition): Promise<JournalRecord[] | null> {
  const path = runJournalPath(root, run.sessionId, run.runId);
  if (path === null) return null;
  const told: JournalRecord[] = [];
  let found = false;
  for await (const { lines } of scanJournal(path, recordMarker(run))) {
    found = true;
    for (const line of lines) {
      const { record } = parseLine(line, run);
      if (record !== null && record.seq <= position.seq && !position.holes.some(({ from, to }) => from <= record.seq && record.seq <= to))
        told.push(record);
    }
  }
  return found ? told.sort((a, b) => a.seq - b.seq) : null;
}
