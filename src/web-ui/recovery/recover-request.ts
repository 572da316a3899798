/** What a recovery of a session file is asked to do; it may cross to another thread. */
import type { Fields } from '../sidecar/coercions.ts';
import type { InterruptionCause } from './markers.ts';
import type { RunJournal } from './run-lines.ts';

interface OfSession {
  readonly id: string;
  /** The run that the file named when it was judged. */
  readonly streamId: string | null;
  readonly journal: RunJournal | null;
  /** Epoch seconds. */
  readonly now: number;
}

export interface RepairRequest extends OfSession {
  readonly kind: 'REPAIR';
  /** UNREADABLE: there is one, and what it says can't be told. */
  readonly core: Fields | null | 'UNREADABLE';
  readonly cause: InterruptionCause;
  /** Move the session in lists. */
  readonly touches: boolean;
}

export interface SyncRequest extends OfSession {
  readonly kind: 'SYNC';
  /** No turn was unfinished: the rows are added, and nothing is settled. */
  readonly isIdle: boolean;
  readonly cause: InterruptionCause;
  readonly summary: StoredSummary;
  /** Live rows of the store as messages. */
  readonly rows: readonly unknown[];
}

/** Of all rows that the store has of the session. */
export interface StoredSummary {
  readonly count: number;
  /** Epoch seconds of the newest; null when none has a time. */
  readonly lastAt: number | null;
}

/** Of the run that its marker names. */
export interface RetryRequest extends OfSession {
  readonly kind: 'RETRY';
}

/** Which run the marker names, as `streamId` of a report that is WAITING; nothing is written. */
export interface FindRetryRequest extends Omit<OfSession, 'journal'> {
  readonly kind: 'FIND_RETRY';
}

/** Only where no prompt waits. */
export interface ClearRequest extends Omit<OfSession, 'journal'> {
  readonly kind: 'CLEAR';
}

/** The last turns of a person are taken back. */
export interface UndoRequest {
  readonly kind: 'UNDO';
  readonly id: string;
  readonly streamId: null;
  /** At least 1. */
  readonly turns: number;
  /** 32 hex digits of a random UUID. */
  readonly generation: string;
  readonly now: number;
}

export type RecoverRequest = RepairRequest | SyncRequest | RetryRequest | FindRetryRequest | ClearRequest | UndoRequest;
