import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pythonFloat } from '../../../src/state-db/write/python-float.ts';

describe('the text of a float (D4)', () => {
  it.each([
    [0, '0.0'],
    [-0, '-0.0'],
    [1, '1.0'],
    [-2077510, '-2077510.0'],
    [1.5, '1.5'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [0.000012, '1.2e-05'],
    [1e-7, '1e-07'],
    [1e15, '1000000000000000.0'],
    [9999999999999998, '9999999999999998.0'],
    [1e16, '1e+16'],
    [1e22, '1e+22'],
    [123456789012345680, '1.2345678901234568e+17'],
    [5e-324, '5e-324'],
    [1.7976931348623157e308, '1.7976931348623157e+308'],
    [1700000000.123456, '1700000000.123456'],
    [Number.NaN, 'nan'],
    [Number.POSITIVE_INFINITY, 'inf'],
    [Number.NEGATIVE_INFINITY, '-inf'],
  ])('%d is %s', (n, text) => {
    expect(pythonFloat(n)).toBe(text);
  });

  it('reads back as the same float and is never an integer', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (n) => {
        const text = pythonFloat(n);
        expect(Number(text)).toBe(n);
        expect(text).toMatch(/[.e]/);
      }),
    );
  });
});
