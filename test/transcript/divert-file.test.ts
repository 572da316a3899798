/** Divert files (`spec/state-db-writes.md` J1, K13): lines that others can read, whatever happened to the last one. */
import { appendFileSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { appendDiverted, divertPath, readDiverted } from '../../src/transcript/divert-file.ts';
import { makeHome, user } from '../support/spool.ts';

const fileOf = (home: string) => join(home, 'sessions', 's.jsonl');

describe('a divert file', () => {
  it('T54: has one line for each message, non-ASCII kept', () => {
    const home = makeHome();
    appendDiverted(home, 's', [user('é ☃ 😀'), null, 'plain', user('b', { tool_calls: [{ id: 'c1' }] })]);
    appendDiverted(home, 's', [user('later')]);
    expect(readFileSync(fileOf(home), 'utf8')).toBe(
      '{"role": "user", "content": "é ☃ 😀"}\n{"content": "plain"}\n{"role": "user", "content": "b", "tool_calls": [{"id": "c1"}]}\n{"role": "user", "content": "later"}\n',
    );
    expect(readDiverted(home, 's')).toEqual({
      messages: [user('é ☃ 😀'), { content: 'plain' }, user('b', { tool_calls: [{ id: 'c1' }] }), user('later')],
      skipped: 0,
    });
    expect(statSync(fileOf(home)).mode & 0o777).toBe(0o600);
  });

  it('T54, K13: a torn last line is skipped, and does not swallow the line that is appended behind it', () => {
    const home = makeHome();
    appendDiverted(home, 's', [user('a'), user('b')]);
    truncateSync(fileOf(home), statSync(fileOf(home)).size - 5);
    expect(readDiverted(home, 's')).toEqual({ messages: [user('a')], skipped: 1 });
    appendDiverted(home, 's', [user('c')]);
    expect(readDiverted(home, 's')).toEqual({ messages: [user('a'), user('c')], skipped: 1 });
  });

  it('lines that are no objects and bytes that are not UTF-8 are skipped', () => {
    const home = makeHome();
    appendDiverted(home, 's', [user('a')]);
    appendFileSync(fileOf(home), Buffer.from([0xff, 0x0a]));
    appendFileSync(fileOf(home), '[1]\n\n7\n');
    expect(readDiverted(home, 's')).toEqual({ messages: [user('a')], skipped: 3 });
  });

  it('that is missing holds nothing', () => {
    expect(readDiverted(makeHome(), 's')).toEqual({ messages: [], skipped: 0 });
  });

  it('is not made for nothing', () => {
    const home = makeHome();
    appendDiverted(home, 's', [null]);
    expect(existsSync(join(home, 'sessions'))).toBe(false);
  });

  it.each(['', '.', '..', '../s', 'a/b', 'a\\b', 'a\u0000b', 'a\nb', '.hidden', 'c:s', '\ud800', 'x'.repeat(250)])(
    'the id %j is refused',
    (id) => {
      const home = makeHome();
      expect(() => appendDiverted(home, id, [user('a')])).toThrow(expect.objectContaining({ reason: 'UNSAFE_NAME' }));
      expect(() => readDiverted(home, id)).toThrow(expect.objectContaining({ reason: 'UNSAFE_NAME' }));
      expect(existsSync(join(home, 'sessions'))).toBe(false);
    },
  );

  it('is named for ids as the owning programs make them, also beyond ASCII', () => {
    expect(divertPath('/home', '20261129_101500_abc123')).toBe(join('/home', 'sessions', '20261129_101500_abc123.jsonl'));
    expect(divertPath('/home', 'séance')).toBe(join('/home', 'sessions', 'séance.jsonl'));
  });

  it('is not written through a link, nor for a home that is gone', () => {
    const home = makeHome();
    mkdirSync(join(home, 'sessions'));
    writeFileSync(join(home, 'elsewhere'), 'kept');
    symlinkSync(join(home, 'elsewhere'), fileOf(home));
    expect(() => appendDiverted(home, 's', [user('a')])).toThrow(expect.objectContaining({ code: 'SPOOL_UNWRITABLE' }));
    expect(readFileSync(join(home, 'elsewhere'), 'utf8')).toBe('kept');
    expect(() => appendDiverted(join(home, 'gone'), 's', [user('a')])).toThrow(expect.objectContaining({ reason: 'HOME_GONE' }));
  });
});
