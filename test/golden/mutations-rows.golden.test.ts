/** Upstream's recorded appends, reactions, notes and clean-ups: each case that consists of them is equal, or is left to the owning programs. */
import { describe, expect, it } from 'vitest';
import { commandHost, type TestHost } from '../support/command-host.ts';
import { loadMutations, MUTATED_STORES } from './mutation-cases.ts';
import { ROW_HANDLERS, ROWS_ELSEWHERE } from './mutation-handlers-rows.ts';
import { type MutationBench, mutationVerdict } from './mutation-runner.ts';

const bench: MutationBench<TestHost> = {
  open: (path, now) => Object.assign(commandHost(path), { now }),
  close: (host) => host.close(),
  handlers: ROW_HANDLERS,
  elsewhere: ROWS_ELSEWHERE,
};
const WHOLE_CASES = { basic: 6, lineage: 0, hostile: 0 };

describe.each(MUTATED_STORES)('the recorded changes of rows in %s', (store) => {
  const mutations = loadMutations(store);
  const known = { ...ROW_HANDLERS, ...ROWS_ELSEWHERE };
  const own = mutations.cases.filter(({ steps }) => steps.every((step) => Object.hasOwn(known, step.function)));

  it('are as many as were recorded', () => {
    expect(own.map(({ name }) => name)).toHaveLength(WHOLE_CASES[store]);
  });

  it.each(own.map((golden) => [golden.name, golden] as const))('%s', async (_, golden) => {
    const isElsewhere = golden.steps.some((step) => Object.hasOwn(ROWS_ELSEWHERE, step.function));
    expect(await mutationVerdict(bench, mutations, golden)).toEqual({ deviations: isElsewhere ? ['left-to-the-agent'] : [] });
  });
});
