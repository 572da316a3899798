/** Upstream's recorded changes of sessions as a whole: each case that consists of them is equal, or differs as its rule says. */
import { describe, expect, it } from 'vitest';
import { commandHost, type TestHost } from '../support/command-host.ts';
import { loadMutations, MUTATED_STORES } from './mutation-cases.ts';
import { LEFT_TO_THE_AGENT, SESSION_HANDLERS, sessionRules } from './mutation-handlers-sessions.ts';
import { type MutationBench, mutationVerdict } from './mutation-runner.ts';

const bench: MutationBench<TestHost> = {
  open: (path, now) => Object.assign(commandHost(path), { now }),
  close: (host) => host.close(),
  handlers: SESSION_HANDLERS,
  elsewhere: LEFT_TO_THE_AGENT,
  rules: sessionRules,
};
const WHOLE_CASES = { basic: 15, lineage: 24, hostile: 2 };

describe.each(MUTATED_STORES)('the recorded changes of sessions in %s', (store) => {
  const mutations = loadMutations(store);
  const own = mutations.cases.filter(({ steps }) => steps.every((step) => Object.hasOwn(SESSION_HANDLERS, step.function)));

  it('are as many as were recorded', () => {
    expect(own).toHaveLength(WHOLE_CASES[store]);
  });

  it.each(own.map((golden) => [golden.name, golden] as const))('%s', async (_, golden) => {
    const deviations = golden.name === 'delete a middle segment' ? ['delete-guarded'] : [];
    expect(await mutationVerdict(bench, mutations, golden)).toEqual({ deviations });
  });
});
