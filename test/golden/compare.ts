/**
 * Runs every case of a golden file against this server and counts: equal, or different by a deviation that `docs/deviations.md` lists.
 * Nothing is left out: a case without a handler, or with any other difference, fails.
 */
import { describe, expect, it, vi } from 'vitest';
import { type GoldenCase, goldenDifference, loadGolden } from '../support/golden.ts';
import { documentedCases } from './deviations.ts';

vi.setConfig({ testTimeout: 30_000 });

/** The ids of the deviations that a case needed to agree (none: it is equal), or how it differs. */
export type Verdict = { readonly deviations: readonly string[] } | { readonly difference: string };

/** A deviation as a change of the golden answer into what this server is to answer. */
export interface Rule {
  readonly id: string;
  readonly adjust: (expected: unknown) => unknown;
}

/** Compares after as few changes as it takes: each rule is tried when the answers still differ, and kept when it changes something. */
export function verdict(actual: unknown, expected: unknown, rules: readonly Rule[] = []): Verdict {
  const ours = plain(actual);
  let theirs = expected;
  let difference = goldenDifference(ours, theirs);
  const deviations: string[] = [];
  for (const rule of rules) {
    if (difference === null) break;
    const adjusted = plain(rule.adjust(theirs));
    if (JSON.stringify(adjusted) === JSON.stringify(theirs)) continue;
    if (!deviations.includes(rule.id)) deviations.push(rule.id);
    theirs = adjusted;
    difference = goldenDifference(ours, theirs);
  }
  return difference === null ? { deviations } : { difference };
}

/** Both sides as JSON, without keys that are undefined; bytes stay as they are. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([key, field]) => (field === undefined ? [] : [[key, plain(field)]])));
}

/** Upstream raised; this server answers, and `isRight` says whether the answer is what the deviation wants. */
export function answersInstead(id: string, golden: GoldenCase, isRight: boolean, errorType = 'OperationalError'): Verdict {
  if (golden.error?.type !== errorType) return { difference: `upstream was expected to raise ${errorType}` };
  return isRight ? { deviations: [id] } : { difference: 'the answer that replaces the error is not right' };
}

export type Handler<U> = (upstream: U, golden: GoldenCase, cases: readonly GoldenCase[]) => Verdict | Promise<Verdict>;

/**
 * One test for each store: all cases (those that `only` takes) of `golden/STORE/KIND.json`, by the function that they name (`''` where the file names none).
 * Several tests of one file each have deviations of their own, whose ids begin with `ids`.
 * Prints `STORE KIND: N cases compared, M by deviation`.
 */
export function goldenKind<U extends { close(): void }>(
  kind: string,
  stores: readonly string[],
  open: (store: string, now: number) => Promise<U>,
  handlers: Readonly<Record<string, Handler<U>>>,
  only: (golden: GoldenCase) => boolean = () => true,
  ids = '',
): void {
  describe.each(stores)(`upstream agrees on ${kind} of %s:`, (store) => {
    it('every case is equal or a documented deviation', async () => {
      const { cases: all, now } = loadGolden(store, kind);
      const cases = all.filter(only);
      const upstream = await open(store, now);
      const counts: Record<string, number> = {};
      const differences: string[] = [];
      let equal = 0;
      let deviating = 0;
      for (const golden of cases) {
        const found = await judge(handlers[golden.function ?? ''], upstream, golden, cases);
        if ('difference' in found) differences.push(`${golden.function ?? ''} ${JSON.stringify(golden.args)}: ${found.difference}`);
        else if (found.deviations.length === 0) equal++;
        else {
          deviating++;
          for (const id of found.deviations) counts[id] = (counts[id] ?? 0) + 1;
        }
      }
      upstream.close();
      console.log(`${store} ${kind}: ${equal} cases compared, ${deviating} by deviation`);
      expect(differences.join('\n')).toBe('');
      const documented = Object.entries(documentedCases(kind, store)).filter(([id]) => id.startsWith(ids));
      expect(counts).toEqual(Object.fromEntries(documented));
      expect(equal + deviating).toBe(cases.length);
    });
  });
}

async function judge<U>(handler: Handler<U> | undefined, upstream: U, golden: GoldenCase, cases: readonly GoldenCase[]): Promise<Verdict> {
  if (handler === undefined) return { difference: 'no function of ours answers this' };
  try {
    return await handler(upstream, golden, cases);
  } catch (error) {
    return { difference: `we raised ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}` };
  }
}
