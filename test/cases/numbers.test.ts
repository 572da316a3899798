/** Every case of `spec/state-db.md` 17 has a test that carries its number. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const TESTS = new URL('../', import.meta.url);
/** A name of a test: a string that begins with the number, followed by the function of the test. */
const NAME = /['"`]#(\d+) [^\n]*['"`],\s*(?:async )?\(/g;

it('covers the cases 1 to 90', () => {
  const numbers = new Set<number>();
  for (const file of readdirSync(TESTS, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.test.ts')) continue;
    for (const [, number] of readFileSync(new URL(file, TESTS), 'utf8').matchAll(NAME)) numbers.add(Number(number));
  }
  const missing = Array.from({ length: 90 }, (_, index) => index + 1).filter((number) => !numbers.has(number));
  expect(missing).toEqual([]);
});
