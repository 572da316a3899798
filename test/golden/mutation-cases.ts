/**
 * The cases of `golden/STORE/mutations.json`: what upstream's own writers answered on a fresh copy of a store, and what they changed there.
 */
import { isJsonObject } from '../../src/state-db/decode.ts';
import { loadGolden } from '../support/golden.ts';
import type { StoreChanges } from './store-changes.ts';

/** The stores whose changes were recorded. */
export const MUTATED_STORES = ['basic', 'lineage', 'hostile'] as const;

const FLOATS: ReadonlyMap<unknown, number> = new Map([
  ['inf', Number.POSITIVE_INFINITY],
  ['-inf', Number.NEGATIVE_INFINITY],
  ['nan', Number.NaN],
]);
const ONE_WAY = ['$sha256', '$random', '$notice'];
const ROW_ID = '_row_id';

/** One call. What was passed is decoded; what came back stays encoded as in the file, since the comparison understands that. */
export interface MutationStep {
  readonly function: string;
  readonly args: readonly unknown[];
  readonly kwargs: Readonly<Record<string, unknown>>;
  /** Absent when upstream raised. */
  readonly result?: unknown;
  readonly error?: { readonly type: string };
  /** The row ids that upstream wrote onto the messages it was given, in their order; the messages here are as before the call. */
  readonly stampedIds: readonly number[];
}

/** Steps on one fresh copy; the clock moves one second before each. */
export interface MutationCase {
  readonly name: string;
  /** `after` tells the rows of these sessions only. */
  readonly session_ids: readonly string[];
  readonly steps: readonly MutationStep[];
  readonly after: StoreChanges;
}

export interface Mutations {
  readonly store: string;
  /** The clock before the first step, epoch seconds. */
  readonly now: number;
  readonly cases: readonly MutationCase[];
}

/** The cases of one store, with the arguments as upstream got them. Throws for an argument that the file only describes. */
export function loadMutations(store: string): Mutations {
  const { now, cases } = loadGolden<MutationCase>(store, 'mutations');
  return { store, now, cases: cases.map((golden) => ({ ...golden, steps: golden.steps.map(decodedStep) })) };
}

function decodedStep(step: MutationStep): MutationStep {
  const stampedIds: number[] = [];
  const args = step.args.map((value) => decoded(value, stampedIds));
  const kwargs = Object.fromEntries(Object.entries(step.kwargs).map(([key, value]) => [key, decoded(value, stampedIds)]));
  return { ...step, args, kwargs, stampedIds };
}

/**
 * A value of the file as the value it stands for: `$bytes` as bytes, `$float` as a number, `$int` as a bigint. Takes the row ids that were
 * written onto messages off again and collects them.
 */
export function decoded(value: unknown, stampedIds: number[] = []): unknown {
  if (Array.isArray(value)) return value.map((item) => decoded(item, stampedIds));
  if (!isJsonObject(value)) return value;
  const described = ONE_WAY.find((key) => key in value);
  if (described !== undefined) throw new Error(`A value that is only described (${described}) can not be passed to a function.`);
  if (typeof value.$bytes === 'string') return new Uint8Array(Buffer.from(value.$bytes, 'hex'));
  if (typeof value.$int === 'string') return BigInt(value.$int);
  if (typeof value.$float === 'string') {
    const number = FLOATS.get(value.$float);
    if (number === undefined) throw new Error(`Not a number: ${value.$float}`);
    return number;
  }
  const kept = Object.entries(value).filter(([key, field]) => {
    if (key !== ROW_ID || typeof field !== 'number') return true;
    stampedIds.push(field);
    return false;
  });
  return Object.fromEntries(kept.map(([key, field]) => [key, decoded(field, stampedIds)]));
}
