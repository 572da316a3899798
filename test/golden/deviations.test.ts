/** `docs/deviations.md` and the tests name the same deviations: nothing is only written down, and nothing is only done. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixturesDir } from '../support/golden.ts';
import { loadDeviations, loadWritingDeviations } from './deviations.ts';

const FOLDER = new URL('./', import.meta.url);
const COMPARED = /from '\.\/(compare|mutation-runner)\.ts'/;
/** The tests that compare with upstream's answers in this way; other golden files may have tests of their own kind. */
const sources = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.ts') && !name.startsWith('deviations') && name !== 'mutation-runner.test.ts')
  .map((name) => readFileSync(new URL(name, FOLDER), 'utf8'))
  .filter((text) => COMPARED.test(text))
  .join('\n');
const deviations = loadDeviations();

describe('the list of deviations', () => {
  it('names each once, with what upstream answers, what we answer, and the rule', () => {
    const ids = deviations.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].sort());
    for (const { upstream, ours, rule } of deviations) expect([upstream, ours, rule].filter((text) => text.trim() === '')).toEqual([]);
  });

  it('names nothing that the tests do not use', () => {
    expect(deviations.filter(({ id }) => !sources.includes(`'${id}'`)).map(({ id }) => id)).toEqual([]);
  });

  it('lacks nothing that the tests use', () => {
    const used = new Set(
      [...sources.matchAll(/\bid: '([a-z0-9-]+)'|deviations: \[(?:[^\]]*, )?'([a-z0-9-]+)'|answersInstead\('([a-z0-9-]+)'/g)].map(
        ([, a, b, c]) => a ?? b ?? c,
      ),
    );
    expect([...used].filter((id) => !deviations.some((deviation) => deviation.id === id))).toEqual([]);
  });

  it('speaks of golden files that exist and are compared', () => {
    for (const { cases } of deviations) {
      for (const [kind, stores] of cases) {
        expect(new RegExp(`goldenKind(<\\w+>)?\\(\\s*'${kind}'`).test(sources), kind).toBe(true);
        for (const store of stores.keys())
          expect(existsSync(join(fixturesDir(), 'golden', store, `${kind}.json`)), `${store}/${kind}`).toBe(true);
      }
    }
  });
});

describe('the list of decisions about writing', () => {
  const writing = loadWritingDeviations();

  it('names each once, with what upstream does, what we do, and the rule', () => {
    const ids = writing.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].sort());
    expect(ids.filter((id) => deviations.some((deviation) => deviation.id === id))).toEqual([]);
    for (const { upstream, ours, rule } of writing) expect([upstream, ours, rule].filter((text) => text.trim() === '')).toEqual([]);
  });

  it.each(writing)('$id is held by a test', ({ test: { file, name } }) => {
    const names = [...readFileSync(new URL(`../${file}`, FOLDER), 'utf8').matchAll(/(?:it|describe)[^\n]*['`]([^\n]*)['`]/g)].map(
      ([all]) => all,
    );
    expect(names.filter((each) => each.includes(name))).not.toEqual([]);
  });
});
