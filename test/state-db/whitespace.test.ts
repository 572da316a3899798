import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { collapseSpace, isBlank, trimSpace, trimStartSpace } from '../../src/state-db/whitespace.ts';

const ALL = '\t\n\u000b\f\r\u001c\u001d\u001e\u001f \u0085\u00a0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000';

describe('whitespace as the writers see it', () => {
  it('covers the separators that trim() leaves, and leaves the byte order mark that trim() takes', () => {
    expect(isBlank(ALL)).toBe(true);
    expect(trimSpace(`${ALL}x${ALL}`)).toBe('x');
    expect(trimStartSpace(`${ALL}x${ALL}`)).toBe(`x${ALL}`);
    expect(trimSpace('\ufeffx\ufeff')).toBe('\ufeffx\ufeff');
    expect(isBlank('\u200b')).toBe(false);
    expect(collapseSpace(` a ${ALL} b `)).toBe('a b');
    expect(collapseSpace('')).toBe('');
  });

  it('agrees with itself', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...ALL, 'a', 'b', '\ufeff')), (letters) => {
        const text = letters.join('');
        const trimmed = trimSpace(text);
        expect(trimSpace(trimmed)).toBe(trimmed);
        expect(isBlank(text)).toBe(trimmed === '');
        expect(collapseSpace(text)).toBe(collapseSpace(trimmed));
        const words = letters
          .map((letter) => (ALL.includes(letter) ? ' ' : letter))
          .join('')
          .split(' ');
        expect(collapseSpace(text)).toBe(words.filter((word) => word !== '').join(' '));
      }),
    );
  });

  it('takes linear time on text that is nearly all spaces', () => {
    const text = `x${' '.repeat(1_000_000)}y`;
    expect(trimSpace(text)).toBe(text);
    expect(collapseSpace(text)).toBe('x y');
  });
});
