import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidInput } from '../../src/errors.ts';
import { exactTitle, nextTitle, pickByTitle, sanitizeTitle, type TitledSession, titleAuthority } from '../../src/state-db/titles.ts';

function sessions(...titles: (readonly [id: string, title: string, startedAt: number | null])[]): TitledSession[] {
  return titles.map(([id, title, startedAt]) => ({ id, title, startedAt }));
}

describe('sanitizeTitle', () => {
  it.each([
    [null, null],
    ['   ', null],
    ['\u200b\u202e', null],
    [' a \t\n b ', 'a b'],
    ['nul\u0000bell\u0007del\u007f', 'nulbelldel'],
    ['\ufeffmark\u2066iso\ufff9late', 'markisolate'],
    ['lone \ud800 half', 'lone \ufffd half'],
    ['👩\u200d💻', '👩💻'],
    ['😀'.repeat(100), '😀'.repeat(100)],
  ])('makes %j %j', (text, title) => {
    expect(sanitizeTitle(text)).toBe(title);
  });

  it('refuses more than 100 characters, counted after cleaning', () => {
    expect(sanitizeTitle(`${'a'.repeat(100)}\u200b  `)).toBe('a'.repeat(100));
    expect(() => sanitizeTitle('a'.repeat(101))).toThrow(InvalidInput);
  });

  it('leaves a clean title as it is', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 100, unit: 'binary' }), (text) => {
        const title = sanitizeTitle(text);
        expect(sanitizeTitle(title)).toBe(title);
      }),
    );
  });
});

it.each([
  ['x', 'derived', 0],
  ['x', 'llm', 1],
  ['x', 'user', 2],
  ['x', null, 2],
  ['x', 'branch', 0],
  [null, 'user', null],
  ['', 'user', null],
])('the authority of title %j from %j is %j', (title, source, authority) => {
  expect(titleAuthority(title, source)).toBe(authority);
});

describe('pickByTitle', () => {
  it('33: takes the numbered one that started last, for Bot Chat the exact one', () => {
    const list = sessions(['w1', 'Work', 1], ['w2', 'Work #2', 2], ['b1', 'Bot Chat', 1], ['b2', 'Bot Chat #2', 2]);
    expect(pickByTitle('Work', list)?.id).toBe('w2');
    expect(pickByTitle('Bot Chat', list)?.id).toBe('b1');
    expect(pickByTitle('Work #2', list)?.id).toBe('w2');
    expect(pickByTitle('Nope', list)).toBeNull();
    expect(pickByTitle('Bot Chat', sessions(['b2', 'Bot Chat #2', 2]))?.id).toBe('b2');
  });

  it('takes any text behind the number sign, ASCII letters of any case, and no wildcards', () => {
    expect(pickByTitle('work', sessions(['w', 'WORK #two', 1]))?.id).toBe('w');
    expect(pickByTitle('é', sessions(['e', 'É #2', 1]))).toBeNull();
    expect(pickByTitle('100%', sessions(['p', '1000 #2', 1]))).toBeNull();
  });

  it('of duplicates takes the one that started last; an unknown start counts least', () => {
    const list = sessions(['a', 'Work', null], ['b', 'Work', 2], ['c', 'Work', 1], ['d', 'Work', 2]);
    expect(exactTitle('Work', list)?.id).toBe('d');
    expect(exactTitle('work', list)).toBeNull();
  });
});

describe('nextTitle', () => {
  it.each([
    ['Work', [], 'Work'],
    ['Work', ['Work'], 'Work #2'],
    ['Work #2', ['Work', 'Work #2'], 'Work #3'],
    ['Work #7', [], 'Work'],
    ['Work', ['Work #9'], 'Work #10'],
    ['Work', ['Work #two'], 'Work #2'],
    ['work', ['WORK #3'], 'work #4'],
    ['Work', ['Workshop', 'My Work'], 'Work'],
    ['Work', ['Work #99999999999999999999'], 'Work #100000000000000000000'],
    ['#2', ['#2'], '#2 #2'],
  ])('of %j among %j is %j', (base, existing, expected) => {
    expect(nextTitle(base, existing)).toBe(expected);
  });

  it('is never in use', () => {
    const title = fc.constantFrom('a', 'A', 'a #2', 'a #3', 'A #4', 'a #x', 'b', 'a #2 #2');
    fc.assert(
      fc.property(title, fc.array(title), (base, existing) => {
        expect(existing).not.toContain(nextTitle(base, existing));
      }),
    );
  });
});
