/** No field case is forgotten: each stands in the table once, and what is said to be covered has a test with its number. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FIELD_CASES } from './field-cases.ts';

/** Numbers at the beginning of names: `it('F07: ...')`, or several as in `describe('F70, F71: ...')`. */
function numbersIn(file: string): Set<string> {
  const text = readFileSync(join(import.meta.dirname, '..', file), 'utf8');
  const names = text.matchAll(/['"`](F\d\d(?:, F\d\d)*)\b[^'"`\n]*['"`]/g);
  return new Set([...names].flatMap(([, numbers = '']) => numbers.split(', ')));
}

describe('the table of field cases', () => {
  it('holds F01 to F87, each once and in order', () => {
    const expected = Array.from({ length: 87 }, (_, index) => `F${String(index + 1).padStart(2, '0')}`);
    expect(FIELD_CASES.map(([number]) => number)).toEqual(expected);
  });

  it('names files in which a test carries the number', () => {
    const missing = FIELD_CASES.flatMap(([number, found]) =>
      'coveredBy' in found ? found.coveredBy.filter((file) => !numbersIn(file).has(number)).map((file) => `${number} in ${file}`) : [],
    );
    expect(missing).toEqual([]);
  });

  it('says why a case is left to a later issue', () => {
    for (const [number, found] of FIELD_CASES) {
      if ('later' in found) expect([number, found.because.length > 10]).toEqual([number, true]);
      else expect([number, found.coveredBy.length > 0]).toEqual([number, true]);
    }
  });
});
