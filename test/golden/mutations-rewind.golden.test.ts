/** Upstream's recorded rewinds, restores and rewrites: each case that consists of them is equal, or differs as its rule says. */
import { describe, expect, it } from 'vitest';
import { commandHost, type TestHost } from '../support/command-host.ts';
import { loadMutations, MUTATED_STORES } from './mutation-cases.ts';
import { RECOUNTED, REWIND_HANDLERS, rewindRules } from './mutation-handlers-rewind.ts';
import { type MutationBench, mutationVerdict } from './mutation-runner.ts';

const bench: MutationBench<TestHost> = {
  open: (path, now) => Object.assign(commandHost(path), { now }),
  close: (host) => host.close(),
  handlers: REWIND_HANDLERS,
  rules: rewindRules,
};
const WHOLE_CASES = { basic: 21, lineage: 3, hostile: 1 };
const DEVIATIONS: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(Object.keys(RECOUNTED).map((name) => [name, ['rewind-recounts']])),
  'restore rewound': ['restore-by-receipt'],
  'gateway rewind: odd rows': ['rewind-newest-turns', 'rewind-recounts'],
  'rewind with odd flags': ['flag-values'],
};

describe.each(MUTATED_STORES)('the recorded rewinds and rewrites in %s', (store) => {
  const mutations = loadMutations(store);
  const own = mutations.cases.filter(({ steps }) => steps.every((step) => Object.hasOwn(REWIND_HANDLERS, step.function)));

  it('are as many as were recorded', () => {
    expect(own).toHaveLength(WHOLE_CASES[store]);
  });

  it.each(own.map((golden) => [golden.name, golden] as const))('%s', async (_, golden) => {
    expect(await mutationVerdict(bench, mutations, golden)).toEqual({ deviations: DEVIATIONS[golden.name] ?? [] });
  });
});
