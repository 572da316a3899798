/** What a recovery did to the messages of a session, as plain values. */
import { type Fields, listOf, word } from '../sidecar/coercions.ts';
import type { RecoverRequest } from './recover-request.ts';
import type { RepairedTurn, RepairOutcome } from './repair-turn.ts';
import type { RetryOutcome } from './retry-journal.ts';
import type { SessionDraft } from './session-draft.ts';

export type RecoverOutcome =
  | RepairOutcome
  | RetryOutcome
  | 'SYNCED'
  | 'CLEARED'
  | 'NOT_AHEAD'
  | 'NOT_PENDING'
  | 'NO_UNFINISHED_TURN'
  | 'CHANGED_UNDERNEATH'
  | 'CORE_UNREADABLE'
  | 'UNDONE'
  | 'NOTHING_TO_UNDO'
  | 'TURN_UNDER_WAY';

export interface RecoveryReport {
  readonly outcome: RecoverOutcome;
  readonly streamId: string | null;
  readonly source: 'SIDECAR' | 'CORE';
  readonly promptAppended: boolean;
  /** Rows of the answer that are new. */
  readonly recovered: readonly Fields[];
  readonly toolCallsAdded: number;
  readonly contextRowsAdded: number;
  readonly marker: Fields | null;
  readonly error: Fields | null;
  readonly countBefore: number;
  readonly countAfter: number;
  /** The first prompt that was taken back. */
  readonly undone: Fields | null;
  readonly attemptsBefore: number;
  readonly attemptsAfter: number;
}

export function reportOf(fields: Fields, repaired: RepairedTurn): RecoveryReport {
  const { outcome, draft, source, promptAppended, recovered, marker, error } = repaired;
  return {
    outcome,
    ...countsOf(fields, draft),
    streamId: word(fields.active_stream_id),
    source,
    promptAppended,
    recovered: recovered.map(fieldsOf),
    marker: marker === null ? null : fieldsOf(marker),
    error: error === null ? null : fieldsOf(error),
    undone: null,
    attemptsBefore: 0,
    attemptsAfter: 0,
  };
}

type Counts = Pick<RecoveryReport, 'countBefore' | 'countAfter' | 'toolCallsAdded' | 'contextRowsAdded'>;

export function countsOf(fields: Fields, { messages, added }: SessionDraft): Counts {
  const countBefore = listOf(fields.messages).length;
  return { countBefore, countAfter: messages.length, toolCallsAdded: added.toolCalls, contextRowsAdded: added.context };
}

/** Of a recovery that does nothing. */
export function noReport(fields: Fields, { streamId }: Pick<RecoverRequest, 'streamId'>, outcome: RecoverOutcome): RecoveryReport {
  return { ...nothingDone(listOf(fields.messages).length, streamId), outcome };
}

/** The same without a reason. `count`: the messages of the file. */
export function nothingDone(count: number, streamId: string | null): Omit<RecoveryReport, 'outcome'> {
  return {
    streamId,
    source: 'SIDECAR',
    promptAppended: false,
    recovered: [],
    toolCallsAdded: 0,
    contextRowsAdded: 0,
    marker: null,
    error: null,
    countBefore: count,
    countAfter: count,
    undone: null,
    attemptsBefore: 0,
    attemptsAfter: 0,
  };
}

export function fieldsOf({ fields }: { readonly fields: Fields | null }): Fields {
  return fields ?? {};
}
