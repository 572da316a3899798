/** `caduceus doctor` as a process: what it prints, what it ends with, and that it leaves no trace. */
import { once } from 'node:events';
import { copyFileSync, cpSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { healthyHome, shownHome, webUiFixture } from '../doctor/damages.ts';
import { copyStore, fixturesDir } from '../support/golden.ts';
import { runCommand, startTestServer } from '../support/server.ts';
import { M, S, temporaryFolder } from '../support/stores.ts';

async function doctor(...args: readonly string[]) {
  const scratch = temporaryFolder();
  const { child, stdout, stderr } = runCommand(['doctor', ...args], { TMPDIR: scratch });
  const [code] = (await once(child, 'close')) as unknown[];
  expect(readdirSync(scratch)).toEqual([]);
  return { code, stdout: stdout(), stderr: stderr() };
}

/** Every name below a folder, with times and bytes. */
function everything(folder: string): string[] {
  return ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })].sort().map((name) => {
    const { mtimeNs, ctimeNs, ino, mode, size } = lstatSync(join(folder, name), { bigint: true });
    const bytes = lstatSync(join(folder, name)).isFile() ? readFileSync(join(folder, name), 'hex') : '';
    return [name, mtimeNs, ctimeNs, ino, mode, size, bytes].join(' ');
  });
}

describe('caduceus doctor', () => {
  it.each([
    ['a quick look', []],
    ['a deep one', ['--deep']],
  ])('leaves every byte and time of a home as it was: %s', async (_, flags) => {
    const home = webUiFixture();
    const before = everything(home);
    const { code, stdout, stderr } = await doctor('--home', home, ...flags);
    expect(everything(home)).toEqual(before);
    expect([code, stderr]).toEqual([2, '']);
    expect(stdout).toMatch(/^Errors \(4\)\n {2}SIDECAR_CORRUPT: .*\n {4}- mw_damaged\n/);
    expect(stdout).toContain('repairStalePending(input: {profile: "default", sessionId: "mw_stale_empty", dryRun: true})');
    expect(stdout).toMatch(/\nNot healthy: profile default, \d+ checks.*\n$/);
  });

  it('reads what is in a -wal alone, and leaves that as it was too', async () => {
    const home = temporaryFolder();
    const walled = join(fixturesDir(), 'stores', 'walled.db');
    copyFileSync(walled, join(home, 'state.db'));
    copyFileSync(`${walled}-wal`, join(home, 'state.db-wal'));
    const before = everything(home);
    expect(await doctor('--home', home, '--deep')).toMatchObject({ code: 0, stdout: expect.stringMatching(/Healthy: profile default/) });
    expect(everything(home)).toEqual(before);
  });

  it('ends with 0, 1 or 2 by the worst that it found, and tells the same as JSON', async () => {
    const home = healthyHome();
    expect((await doctor('--home', home)).code).toBe(0);
    const damaged = temporaryFolder();
    copyFileSync(copyStore('fts-damaged'), join(damaged, 'state.db'));
    const { code, stdout } = await doctor('--home', damaged, '--json');
    expect(code).toBe(1);
    const report = JSON.parse(stdout) as { healthy: boolean; checkedAt: string; findings: { code: string; remedy: string }[] };
    expect(report.healthy).toBe(false);
    expect(report.checkedAt).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
    expect(report.findings[0]).toMatchObject({
      code: 'SEARCH_INDEX_DAMAGED',
      remedy: 'rebuildSearchIndex(input: {profile: "default", dryRun: true})',
    });
    const torn = temporaryFolder();
    copyFileSync(copyStore('truncated'), join(torn, 'state.db'));
    expect((await doctor('--home', torn)).code).toBe(2);
  });

  it('looks at the profile that is named', async () => {
    const home = healthyHome();
    mkdirSync(join(home, 'profiles', 'work'), { recursive: true });
    cpSync(copyStore('badconfig'), join(home, 'profiles', 'work', 'state.db'));
    expect(await doctor('--home', home, '--profile', 'work')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('MODEL_CONFIG_INVALID'),
    });
    const { code, stdout, stderr } = await doctor('--home', home, '--profile', 'nobody');
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toBe('caduceus: There is no profile "nobody" on this machine. There are: default, work.\n');
  });

  it('works beside a server that has the store open', async () => {
    const server = await startTestServer({ rows: [S('a', { message_count: 1 }), M('a')] });
    expect(await doctor('--home', server.home, '--deep')).toMatchObject({ code: 0, stderr: '' });
  });

  it('prints what the README shows', async () => {
    const [, shown = ''] = /```\ncaduceus doctor\n\n([\s\S]*?)```/.exec(readFileSync('README.md', 'utf8')) ?? [];
    const programs = temporaryFolder();
    writeFileSync(join(programs, 'flock'), '', { mode: 0o755 });
    const { child, stdout } = runCommand(['doctor', '--home', shownHome()], { PATH: programs });
    await once(child, 'close');
    expect(stdout()).toBe(shown);
  });

  it('says in its help what it ends with', async () => {
    const { code, stdout } = await doctor('--help');
    expect(code).toBe(0);
    const help = stdout.replace(/\s+/g, ' ');
    for (const part of [
      '--deep',
      '--json',
      '--profile <name>',
      '--home <dir>',
      '0 healthy, 1 warnings, 2 errors, 3 it could not be done',
    ]) {
      expect(help).toContain(part);
    }
  });
});
