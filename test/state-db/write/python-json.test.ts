import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, NotJson, pythonJson } from '../../../src/state-db/write/python-json.ts';
import { IntegralFloat, keyOrder, orderedObject, parsePythonJson } from '../../../src/state-db/write/python-json-value.ts';

describe('JSON text in the form of the owning programs (V4)', () => {
  it('is the vector of the specification', () => {
    const text = String.raw`[{"id": "c1", "n": 1.0, "s": "\u00e9\ud83d\ude00\u2028", "e": 1e-07, "b": true, "z": null, "x": []}]`;
    expect(canonicalJson(text)).toBe(text);
    const value = [{ id: 'c1', n: new IntegralFloat(1), s: 'é😀\u2028', e: 1e-7, b: true, z: null, x: [] }];
    expect(pythonJson(value)).toBe(text);
    expect(canonicalJson('[ {"id":"c1","n":1.00,"s":"é😀\\u2028","e":0.1E-6,"b":true,"z":null,"x":[ ]}\n]')).toBe(text);
  });

  it.each([
    ['{}', {}],
    ['{"b": 1}', { a: undefined, b: 1 }],
    ['[null]', [undefined]],
    ['9007199254740991', 2 ** 53 - 1],
    ['1e+22', 1e22],
    ['-0.0', -0],
    ['1000000000000000000000000000000', 10n ** 30n],
    ['NaN', Number.NaN],
    ['-Infinity', Number.NEGATIVE_INFINITY],
    [String.raw`"\"\\/\b\f\n\r\t\u0000\u001f\u007f\u0080"`, '"\\/\b\f\n\r\t\u0000\u001f\u007f\u0080'],
    [String.raw`"\ud800"`, '\ud800'],
  ])('writes %s', (text, value) => {
    expect(pythonJson(value)).toBe(text);
  });

  it.each([
    ['1', '1'],
    ['-0', '0'],
    ['-0.0', '-0.0'],
    ['1e5', '100000.0'],
    ['1E+22', '1e+22'],
    ['1e400', 'Infinity'],
    ['123456789012345678901234567890', '123456789012345678901234567890'],
    ['[NaN,Infinity,-Infinity]', '[NaN, Infinity, -Infinity]'],
    ['{"b":1,"10":2,"a":3,"9":4}', '{"b": 1, "10": 2, "a": 3, "9": 4}'],
    ['{"a":1,"b":2,"a":3}', '{"a": 3, "b": 2}'],
    ['{"2":1,"1":2,"2":3}', '{"2": 3, "1": 2}'],
    ['{"__proto__":{"x":1},"y":2}', '{"__proto__": {"x": 1}, "y": 2}'],
    ['"\\u00E9\\/"', '"\\u00e9/"'],
  ])('%s becomes %s', (text, canonical) => {
    expect(canonicalJson(text)).toBe(canonical);
  });

  it.each([
    '',
    ' ',
    '01',
    '1.',
    '.5',
    '+1',
    '[1,]',
    '{"a":1,}',
    '{a:1}',
    "'a'",
    '"a',
    '"\t"',
    '"\\x"',
    '"\\u12g4"',
    '[1] 2',
    '\ufeff1',
    'nul',
    '-NaN',
    '{"constructor"}',
    '9'.repeat(4301),
  ])('%j is no JSON', (text) => {
    expect(canonicalJson(text)).toBeNull();
  });

  it('keeps the text of what is written in the form already', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = pythonJson(value);
        expect(canonicalJson(text)).toBe(text);
        expect(canonicalJson(JSON.stringify(value, null, 1))).not.toBeNull();
      }),
    );
  });

  it('says the same as the text it was made of', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(JSON.parse(canonicalJson(text) ?? '')).toEqual(JSON.parse(text));
      }),
    );
  });

  it('agrees with JSON.parse on what is JSON, but for NaN and Infinity', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      'a',
      '\\',
      'u',
      '0',
      '1',
      '-',
      '.',
      'e',
      '+',
      ' ',
      'null',
      'true',
      '\n',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 8 }), (tokens) => {
        const text = tokens.join('');
        expect(canonicalJson(text) !== null).toBe(isJson(text));
      }),
      { numRuns: 2000 },
    );
  });

  it('ends at a depth, on the way in and on the way out', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    expect(canonicalJson(nested(900))).toBe(nested(900));
    expect(canonicalJson(nested(901))).toBeNull();
    expect(canonicalJson('['.repeat(1_000_000))).toBeNull();
    const ring: unknown[] = [];
    ring.push(ring);
    expect(() => pythonJson(ring)).toThrow(NotJson);
    expect(() => pythonJson([() => 1])).toThrow(NotJson);
  });
});

describe('JSON values that lose nothing (V4)', () => {
  it('are plain objects with the keys in their places', () => {
    const value = parsePythonJson('{"b":1,"1":{"c":2.0},"0":[12345678901234567890]}');
    expect(value).toEqual({ b: 1, 1: { c: new IntegralFloat(2) }, 0: [12345678901234567890n] });
    expect(keyOrder(value as object)).toEqual(['b', '1', '0']);
  });

  it('can be put together in any order of keys', () => {
    const entries = [
      ['2', 'x'],
      ['a', 'y'],
      ['1', 'z'],
    ] as const;
    expect(pythonJson(orderedObject(entries))).toBe('{"2": "x", "a": "y", "1": "z"}');
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
