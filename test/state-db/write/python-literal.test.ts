import { describe, expect, it } from 'vitest';
import { pythonTuple } from '../../../src/state-db/write/python-literal.ts';

describe('tuple literals (D7)', () => {
  it.each([
    ["('user', None, 1.0, 1)", ['user', null, 1, 1n]],
    ["('one',)", ['one']],
    [`("it's",)`, ["it's"]],
    [`('"it\\'s"',)`, ['"it\'s"']],
    [`('say "hi"',)`, ['say "hi"']],
    [String.raw`('\\\t\n\r',)`, ['\\\t\n\r']],
    [String.raw`('\x00\x1f\x7f\x85\xa0\xad',)`, ['\u0000\u001f\u007f\u0085\u00a0\u00ad']],
    [String.raw`('\u200b\u2028\ue000\u3000',)`, ['\u200b\u2028\ue000\u3000']],
    [String.raw`('\U000e0001\U0010ffff',)`, ['\u{e0001}\u{10ffff}']],
    ["('déjà ☃ 😀',)", ['déjà ☃ 😀']],
    [String.raw`(b"\x00'A\\\x7f\xff",)`, [Buffer.from([0, 0x27, 0x41, 0x5c, 0x7f, 0xff])]],
    [String.raw`(b'\'"',)`, [Buffer.from(`'"`)]],
    ['(-9223372036854775808, -0.0)', [-(2n ** 63n), -0]],
  ])('%s', (text, cells) => {
    expect(pythonTuple(cells)).toBe(text);
  });
});
