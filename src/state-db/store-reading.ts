/**
 * What reads of a store need, whatever connection runs them: the read-only one, or the one of a write that has begun.
 */
import type { StoreShape } from './columns.ts';
import type { SqlRow } from './decode.ts';

export type Bindable = string | number | bigint | Uint8Array | null;
/** By position for `?`, or by name for `:name` where one value is used more than once. */
export type Positional = readonly Bindable[];
export type Parameters = Positional | Readonly<Record<string, Bindable>>;

export interface StoreReading {
  readonly shape: StoreShape;
  all(sql: string, parameters?: Parameters): SqlRow[];
  get(sql: string, parameters?: Parameters): SqlRow | undefined;
  /** Like `all`, with every integer as a bigint: digests tell an integer from a real (`spec/state-db-writes.md` W14). */
  exact(sql: string, parameters?: Parameters): SqlRow[];
  /** Several statements of one answer on one snapshot. */
  snapshot<T>(work: () => T): T;
}
