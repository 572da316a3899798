/** The command line: its version, and one sentence for what can't be started. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runCommand, startTestServer } from '../support/server.ts';
import { S, temporaryFolder } from '../support/stores.ts';

async function ended(args: readonly string[]) {
  const { child, stdout, stderr } = runCommand(args);
  const [code] = (await once(child, 'close')) as unknown[];
  return { code, stdout: stdout(), stderr: stderr() };
}

describe('the command', () => {
  it('tells its version', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };
    expect(await ended(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  const file = fileURLToPath(import.meta.url);
  it.each([
    ['a flag that there is not', ['--prot', '4000'], /unknown option '--prot' \(Did you mean --port\?\)/],
    ['a value that can not be', ['--port', 'x'], /--port must be a whole number between 0 and 65535; it was "x"\./],
    ['what is no flag', ['now'], /too many arguments/],
    ['an open door', ['--no-auth', '--host', '0.0.0.0'], /0\.0\.0\.0/],
    ['a token that no header can carry', ['--token', 'correct horse battery staple'], /--token must have/],
    ['a host that is not here', ['--port', '0', '--host', '192.0.2.1', '--token', 'a-token-for-nobody'], /192\.0\.2\.1/],
    ['a state folder that is a file', ['--port', '0', '--state-dir', file], /can't be used \(\w+\).*--state-dir/],
    ['a ready file without a folder', ['--port', '0', '--ready-file', '/no/such/folder/ready'], /can't be used \(ENOENT\).*--ready-file/],
  ])('ends with 1 and one sentence for %s', async (_, args, sentence) => {
    const { code, stdout, stderr } = await ended(['serve', '--log-level', 'silent', ...args]);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^caduceus: [^\n]+\n$/);
    expect(stderr).toMatch(sentence);
  });

  it('ends with 1 and one sentence for a port that is taken', async () => {
    const first = await startTestServer({ rows: [S('a')] });
    const { port } = new URL(first.url);
    const second = await ended(['serve', '--home', first.home, '--port', port, '--state-dir', temporaryFolder()]);
    expect(second).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^caduceus: Port \d+ of 127\.0\.0\.1 is taken\.[^\n]+\n$/),
    });
    expect(second.stderr).toContain(port);
  });
});
