/**
 * Runs the cases of `golden/STORE/mutations.json` on this server's writers: each on a fresh `state.db` in a folder of its own, with a clock
 * that moves one second before each step. Compared are what every step answers or is refused with, and every row that changed.
 *
 * The golden test hands `openMutations` and, under the empty name of a function, `mutationHandler({ open, close, handlers })` to `goldenKind`.
 */
import { renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type RefusalCode, WriteRefused } from '../../src/write-refused.ts';
import { copyStore } from '../support/golden.ts';
import { type Handler, type Rule, type Verdict, verdict } from './compare.ts';
import { loadMutations, type MutationCase, type MutationStep, type Mutations } from './mutation-cases.ts';
import { changedElsewhere, changes, photograph, type StoreChanges } from './store-changes.ts';

/** The codes that say what upstream says by the class of an error (`spec/state-db-writes.md` 19). */
const CODES: Readonly<Record<string, readonly RefusalCode[]>> = {
  ValueError: ['VALIDATION', 'NOT_FOUND', 'TITLE_IN_USE', 'TITLE_TOO_LONG', 'TITLE_PROTECTED'],
  RuntimeError: ['TRANSCRIPT_CHANGED', 'CONFLICT', 'VALIDATION', 'SESSION_CLOSED'],
  IntegrityError: ['SESSION_ROW_MISSING'],
  CompressionSessionClosedError: ['SESSION_CLOSED'],
  CompressionSessionBusyError: ['COMPRESSION_LEASE_LOST'],
  SessionCompressionInProgressError: ['COMPRESSION_IN_PROGRESS'],
  SessionTurnLeaseLostError: ['TURN_LEASE_LOST', 'SESSION_BUSY'],
};

/** Does one step with this server's functions, and gives upstream's answer for it; a refusal is thrown. */
export type MutationHandler<S> = (store: S, step: MutationStep) => unknown;

export interface MutationBench<S> {
  /** Opens `state.db`, alone in a folder that stands for the home; `now` gives epoch seconds. */
  readonly open: (path: string, now: () => number) => S | Promise<S>;
  /** Called after the last step; the store is compared when it has settled. */
  readonly close: (store: S) => void | Promise<void>;
  /** By upstream's name of the function. */
  readonly handlers: Readonly<Record<string, MutationHandler<S>>>;
  /** Functions that are left to the owning programs, with the deviation that says so: a case with one of them isn't run. */
  readonly elsewhere?: Readonly<Record<string, string>>;
  /** The deviations of one case, as changes of the whole `Answers`. */
  readonly rules?: (golden: MutationCase, store: string) => readonly Rule[];
}

/** What one step gave. */
export interface StepAnswer {
  /** The class of upstream's error; of ours where another was raised, the code or the text; null for none. */
  readonly error: string | null;
  /** Null beside an error. */
  readonly result: unknown;
}

/** All that is compared of one case. */
export interface Answers {
  readonly steps: readonly StepAnswer[];
  readonly after: StoreChanges;
}

/** For `goldenKind`: the decoded cases of a store. */
export interface OpenMutations extends Mutations {
  close(): void;
}

export async function openMutations(store: string): Promise<OpenMutations> {
  return { ...loadMutations(store), close: () => {} };
}

/** The handler of all cases of a file, under the empty name of a function. */
export function mutationHandler<S>(bench: MutationBench<S>): Handler<OpenMutations> {
  return async (mutations, golden, cases) => {
    const mutation = mutations.cases[cases.indexOf(golden)];
    return mutation === undefined ? { difference: 'no such case' } : mutationVerdict(bench, mutations, mutation);
  };
}

/** Runs one case. Different, with the name of the case, also when a step has no handler or a session was changed that no step names. */
export async function mutationVerdict<S>(bench: MutationBench<S>, { store, now }: Mutations, golden: MutationCase): Promise<Verdict> {
  const elsewhere = golden.steps.flatMap((step) => bench.elsewhere?.[step.function] ?? []);
  if (elsewhere.length > 0) return { deviations: [...new Set(elsewhere)] };
  const missing = golden.steps.find((step) => !Object.hasOwn(bench.handlers, step.function));
  if (missing !== undefined) return { difference: `${golden.name}: nothing of ours does ${missing.function}` };
  const { answers, strays } = await run(bench, store, now, golden);
  if (strays.length > 0) return { difference: `${golden.name}: sessions changed that no step names: ${JSON.stringify(strays)}` };
  const found = verdict(answers, expectedAnswers(golden), bench.rules?.(golden, store));
  return 'difference' in found ? { difference: `${golden.name}: ${found.difference}` } : found;
}

/** What upstream answered, without what was asked. */
export function expectedAnswers({ steps, after }: MutationCase): Answers {
  return { steps: steps.map(({ result, error }) => ({ error: error?.type ?? null, result: result ?? null })), after };
}

/**
 * The value that upstream gives in silence (false, null, 0) where this server is to refuse with a code and names it; any other refusal is
 * thrown on. Without a refusal, what the call gives.
 */
export async function quietly(call: () => unknown, silences: Partial<Record<RefusalCode, unknown>>): Promise<unknown> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof WriteRefused && Object.hasOwn(silences, error.code)) return silences[error.code];
    throw error;
  }
}

async function run<S>(
  bench: MutationBench<S>,
  name: string,
  now: number,
  golden: MutationCase,
): Promise<{ answers: Answers; strays: string[] }> {
  const copy = copyStore(name);
  const path = join(dirname(copy), 'state.db');
  renameSync(copy, path);
  const before = photograph(path, golden.session_ids);
  let clock = now;
  const store = await bench.open(path, () => clock);
  const steps: StepAnswer[] = [];
  try {
    for (const step of golden.steps) {
      clock += 1;
      steps.push(await answer(bench.handlers[step.function], store, step));
    }
  } finally {
    await bench.close(store);
  }
  const after = photograph(path, golden.session_ids);
  const asked = JSON.stringify(golden.steps.map(({ args, kwargs }) => [args, kwargs]));
  const strays = changedElsewhere(before, after).filter((id) => !asked.includes(JSON.stringify(id)));
  return { answers: { steps, after: changes(before, after) }, strays };
}

async function answer<S>(handler: MutationHandler<S> | undefined, store: S, step: MutationStep): Promise<StepAnswer> {
  try {
    return { error: null, result: (await handler?.(store, step)) ?? null };
  } catch (error) {
    if (!(error instanceof WriteRefused)) return { error: String(error), result: null };
    const upstream = step.error?.type;
    const meansTheSame = upstream !== undefined && CODES[upstream]?.includes(error.code) === true;
    return { error: meansTheSame ? upstream : error.code, result: null };
  }
}
