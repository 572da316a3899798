/**
 * A run of the Web UI as a follower of its conversation knows it: the turn by its journal, and what rows and other files add.
 */
import type { JournalEvent } from '../journal/events.ts';
import { foldRecord } from '../journal/fold.ts';
import type { JournalRecord } from '../journal/line.ts';
import { emptyTurn, type LiveTurn } from '../journal/live-turn.ts';
import type { TurnOutcome } from '../journal/terminal.ts';
import type { AppendedRow, CarriedRow, Certainty } from '../rows/events.ts';
import { Correlation } from './correlation.ts';
import type { LivenessVerdict } from './events.ts';

/** The user's turn as it was submitted, before it has a row. */
export interface PendingTurn {
  readonly text: string | null;
  readonly attachments: unknown;
  readonly source: string | null;
  readonly model: string | null;
}

export interface ToldEnd {
  readonly outcome: TurnOutcome;
  readonly certainty: Certainty;
  /** Null when it was told by another server. */
  readonly eventId: string | null;
}

export class RunTurn {
  readonly runId: string;
  /** In whose directory the journal lies. */
  readonly sessionId: string;
  /** Epoch seconds. */
  readonly startedAt: number;
  pending: PendingTurn | null;
  turn: LiveTurn;
  correlation: Correlation;
  startedId: string;
  userMessageId: string | null = null;
  baseMessageId: string | null = null;
  firstMessageId: string | null = null;
  lastMessageId: string | null = null;
  ended: ToldEnd | null = null;
  /** Its end was told before its journal went. */
  endWasTold = false;
  /** What was told last of its life. */
  liveness: LivenessVerdict = 'ALIVE';
  /** Epoch seconds; when the journal last grew, by this server's clock. */
  grewAt: number | null = null;
  /** When the sidecar was first seen without the run, by this server's clock. */
  disownedAt: number | null = null;

  constructor(run: {
    readonly runId: string;
    readonly sessionId: string;
    readonly startedAt: number;
    readonly pending: PendingTurn | null;
  }) {
    this.runId = run.runId;
    this.sessionId = run.sessionId;
    this.startedAt = run.startedAt;
    this.pending = run.pending;
    this.turn = emptyTurn(run, '');
    this.correlation = new Correlation(run.runId);
    this.startedId = `d:TurnStarted:${run.runId}`;
  }

  /** One record of its journal; `generation`: of the file it stands in. */
  fold(record: JournalRecord, generation: string): readonly JournalEvent[] {
    const turn = this.turn.generation === generation ? this.turn : { ...this.turn, generation };
    const { state, events } = foldRecord(turn, record);
    this.turn = state;
    return events;
  }

  /** What was told of its journal is void. */
  restart(): void {
    this.#forget();
    this.ended = null;
    this.endWasTold = false;
  }

  /** The same, since the journal is gone; an end that was told holds. */
  lose(): void {
    this.#forget();
    this.endWasTold = this.ended !== null;
  }

  takeRow(row: AppendedRow): void {
    this.firstMessageId ??= row.id;
    this.lastMessageId = row.id;
  }

  /** The turn ends with the newest copy; it begins with the oldest that is still seen. */
  renameRows(carried: readonly CarriedRow[]): void {
    const moved = new Map(carried.map((row) => [row.oldId, row]));
    const now = (id: string | null, always: boolean) => {
      const row = moved.get(id ?? '');
      return row !== undefined && (always || row.retired) ? row.newId : id;
    };
    this.firstMessageId = now(this.firstMessageId, false);
    this.userMessageId = now(this.userMessageId, false);
    this.lastMessageId = now(this.lastMessageId, true);
  }

  #forget(): void {
    this.turn = emptyTurn(this, '');
    this.correlation = new Correlation(this.runId);
  }
}
