/**
 * Undoing the last turns of a person (`spec/state-db-writes.md` 10.2).
 */
import { WriteRefused } from '../../write-refused.ts';
import { losslessText, readUserTurns, turnText } from '../user-turns.ts';
import type { ExpectedState } from './expected-state.ts';
import { admitRewind, executeRewind, planRewind, type RewindPlan, type RewoundRows, wasRewound } from './rewind-to-message.ts';
import type { StoreOperation } from './store-operation.ts';

export interface RewindSessionInput extends ExpectedState {
  readonly sessionId: string;
  /** Below 1 counts as 1; more than there are undoes them all. */
  readonly turns: number;
  /** The row at which the caller expects the undone turns to begin. */
  readonly expectedTargetId?: string | null;
  /** Only a turn that carries a summary and whose text can be sent again without loss. */
  readonly requireRetryable?: boolean;
  readonly leaseToken?: string | null;
}

export interface RewoundSession extends RewoundRows {
  readonly turnsUndone: number;
  /** What the person said there, without summary and recalled memory. */
  readonly targetText: string;
  /** Shows later what was undone, so that it can be restored; null in a dry run. */
  readonly receipt: string | null;
  /** Epoch seconds; null in a dry run. */
  readonly madeAt: number | null;
}

interface SessionPlan {
  readonly rewind: RewindPlan;
  readonly turns: Pick<RewoundSession, 'turnsUndone' | 'targetText' | 'receipt' | 'madeAt'>;
}

/** Throws `WriteRefused`: NOTHING_TO_REWIND, NOT_RETRYABLE, TRANSCRIPT_CHANGED, and what guards refuse. */
export const rewindSession: StoreOperation<RewindSessionInput, SessionPlan, RewoundSession> = {
  patience: 'ROUTINE',
  touchesMessages: true,
  plan: (store, input, { now }) => {
    const { sessionId } = input;
    const admitted = admitRewind(store, input, now);
    const turns = readUserTurns(store, sessionId);
    const wanted = Math.max(1, Math.trunc(input.turns));
    const target = turns[Math.max(0, turns.length - wanted)];
    if (target === undefined) throw new WriteRefused('NOTHING_TO_REWIND');
    if (input.expectedTargetId != null && input.expectedTargetId !== target.rowId) {
      throw new WriteRefused('TRANSCRIPT_CHANGED', 'The turns begin at another row than the one expected.');
    }
    let text: string | null = turnText(target);
    if (input.requireRetryable === true) {
      if (!target.isComposite)
        throw new WriteRefused('NOTHING_TO_REWIND', 'The turn carries no summary, so it can be sent again as it is.');
      text = losslessText(target.content);
      if (text === null) throw new WriteRefused('NOT_RETRYABLE');
    }
    const rewind = planRewind(store, admitted, { sessionId, targetId: target.rowId, preserveHandoff: target.isComposite });
    return { rewind, turns: { turnsUndone: Math.min(wanted, turns.length), targetText: text, receipt: null, madeAt: null } };
  },
  execute: (transaction, { rewind, turns }, context) => ({ ...executeRewind(transaction, rewind, context), ...turns, madeAt: context.now }),
  preview: ({ rewind, turns }) => ({ ...rewind.rows, ...turns }),
  wasMade: wasRewound,
};
