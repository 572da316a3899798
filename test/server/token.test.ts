/** The token: made once, for its owner alone, the same for two servers that start at the same moment. */
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { loadToken, TokenCheck } from '../../src/server/token.ts';
import { eventually, runCommand } from '../support/server.ts';
import { buildStore, S, temporaryFolder } from '../support/stores.ts';

const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe('the token file', () => {
  it('is made in a folder of its own that only its owner may enter, and read again by the next start', async () => {
    const folder = join(temporaryFolder(), 'state', 'caduceus');
    const token = await loadToken(folder);
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(readFileSync(join(folder, 'token'), 'utf8')).toBe(`${token}\n`);
    expect([mode(join(folder, 'token')), mode(folder)]).toEqual(['600', '700']);
    expect(await loadToken(folder)).toBe(token);
    expect(await loadToken(join(temporaryFolder()))).not.toBe(token);
  });

  it('that others could read is closed to them', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'token'), 'a-token-of-some-length\n', { mode: 0o644 });
    chmodSync(join(folder, 'token'), 0o644);
    expect(await loadToken(folder)).toBe('a-token-of-some-length');
    expect(mode(join(folder, 'token'))).toBe('600');
  });

  it.each(['', '\n', 'short\n'])('that holds %j is an error that says what to do', async (text) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'token'), text);
    await expect(loadToken(folder)).rejects.toMatchObject({
      code: 'TOKEN_FILE_DAMAGED',
      message: expect.stringContaining('Remove the file'),
    });
    expect(readFileSync(join(folder, 'token'), 'utf8')).toBe(text);
  });

  it('is one and the same, whoever of many that start at once makes it', async () => {
    for (let round = 0; round < 20; round++) {
      const folder = join(temporaryFolder(), 'state');
      const tokens = await Promise.all(Array.from({ length: 16 }, () => loadToken(folder)));
      expect(new Set(tokens).size).toBe(1);
    }
  });

  it('that another start has made and not yet written is waited for', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'token'), '');
    const loading = loadToken(folder);
    await sleep(120);
    writeFileSync(join(folder, 'token'), 'written-at-last-by-another\n');
    expect(await loading).toBe('written-at-last-by-another');
  });

  it('serves two servers that start at once', async () => {
    const stateDir = join(temporaryFolder(), 'state');
    const home = buildStore({ rows: [S('a')] }).replace(/\/state\.db$/, '');
    const start = () => runCommand(['serve', '--home', home, '--port', '0', '--state-dir', stateDir]);
    const programs = [start(), start()];
    const urls = await Promise.all(programs.map(({ stdout }) => eventually(() => /#token=(\S+)/.exec(stdout())?.[1], 15_000)));
    expect(urls[0]).toBe(urls[1]);
    for (const { child } of programs) child.kill();
  }, 20_000);
});

describe('the ready file', () => {
  it('holds the token, so only its owner may read it, even where a file of that name was open to all', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'home'));
    const readyFile = join(folder, 'ready.json');
    for (const path of [readyFile, `${readyFile}.tmp`]) {
      writeFileSync(path, '', { mode: 0o666 });
      chmodSync(path, 0o666);
    }
    const { child } = runCommand([
      'serve',
      '--home',
      join(folder, 'home'),
      '--port',
      '0',
      '--state-dir',
      folder,
      '--ready-file',
      readyFile,
    ]);
    const ready = JSON.parse(await eventually(() => readFileSync(readyFile, 'utf8') || null, 15_000)) as Record<string, unknown>;
    child.kill();
    expect(mode(readyFile)).toBe('600');
    expect(ready).toEqual({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/$/),
      graphql: `${String(ready.url)}graphql`,
      port: Number(new URL(String(ready.url)).port),
      pid: child.pid,
      token: readFileSync(join(folder, 'token'), 'utf8').trim(),
      home: join(folder, 'home'),
    });
  }, 20_000);
});

describe('what a client sent', () => {
  it('is the token, or the cookie that was derived from it, and never the other way round', () => {
    const check = new TokenCheck('the-right-token-of-this');
    expect(check.isToken('the-right-token-of-this')).toBe(true);
    expect(check.isCookie(check.cookieValue)).toBe(true);
    for (const text of ['', 'the-right-token-of-thi', 'the-right-token-of-this ', 'THE-RIGHT-TOKEN-OF-THIS', check.cookieValue]) {
      expect(check.isToken(text)).toBe(false);
    }
    for (const text of ['', 'the-right-token-of-this', check.cookieValue.slice(1), `${check.cookieValue}x`]) {
      expect(check.isCookie(text)).toBe(false);
    }
    const other = new TokenCheck('another-token-of-this');
    expect(other.cookieValue).not.toBe(check.cookieValue);
    expect(other.cookieName).not.toBe(check.cookieName);
  });
});
