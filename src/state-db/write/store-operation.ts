/**
 * A change of a store in two steps: a plan, which only reads and refuses, and its execution in the same transaction. A dry run makes the same
 * plan on a connection that can't write, so a preview is what would be done and not a second opinion of it.
 */
import type { StoreReading } from '../store-reading.ts';
import type { PatienceClass } from './patience.ts';
import type { WriteTransaction } from './write-connection.ts';

export interface OperationContext {
  /** The wall clock in epoch seconds, one value for the whole attempt. */
  readonly now: number;
  /** 32 hexadecimal digits, new each time (V9). */
  readonly mintUid: () => string;
  /** The profile that owns the store. */
  readonly profile: string;
}

export interface StoreOperation<Input, Plan, Result> {
  readonly patience: PatienceClass;
  /** Whether rows of `messages` are written. */
  readonly touchesMessages: boolean;
  /** Reads, decides, and throws `WriteRefused` when it may not be done. */
  readonly plan: (store: StoreReading, input: Input, context: OperationContext) => Plan;
  readonly execute: (transaction: WriteTransaction, plan: Plan, context: OperationContext) => Result;
  /** What a dry run answers. */
  readonly preview: (plan: Plan) => Result;
  /**
   * Whether a change whose outcome was never heard was made, judged by its planned result. Left out where a repeat does no harm by its nature.
   */
  readonly wasMade?: (store: StoreReading, planned: Result) => boolean;
}
