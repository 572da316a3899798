/** Settings: flag over variable over default, and one sentence for each that is wrong. */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isLoopback, readConfig, SETTINGS, type SettingName } from '../src/config.ts';
import { InvalidInput } from '../src/errors.ts';
import { runCommand } from './support/server.ts';
import { temporaryFolder } from './support/stores.ts';

/** For every setting: a good value by flag, another by variable, what each becomes, and values that are refused. */
const CASES: Readonly<
  Record<SettingName, { flag: string | true; variable: string; becomes: [unknown, unknown]; wrong: readonly string[] }>
> = {
  home: { flag: '/a', variable: '~/b', becomes: ['/a', join(homedir(), 'b')], wrong: [] },
  webUiDir: { flag: 'relative', variable: '/b/../c', becomes: [resolve('relative'), '/c'], wrong: [] },
  webUiUrl: {
    flag: 'http://127.0.0.1:8787',
    variable: ' https://web-ui.example/hermes ',
    becomes: ['http://127.0.0.1:8787', 'https://web-ui.example/hermes'],
    wrong: ['localhost:8787', 'file:///etc/passwd', 'web-ui'],
  },
  claudeProjectsDir: { flag: '/a', variable: '~/b', becomes: ['/a', join(homedir(), 'b')], wrong: [] },
  profile: { flag: 'work', variable: ' home ', becomes: ['work', 'home'], wrong: [] },
  host: { flag: '::1', variable: 'localhost', becomes: ['::1', 'localhost'], wrong: [] },
  port: { flag: '0', variable: '65535', becomes: [0, 65_535], wrong: ['65536', '-1', '1.5', 'http', '0x50', '1e3', ' 80'] },
  token: { flag: 'f'.repeat(16), variable: 'v'.repeat(300), becomes: ['f'.repeat(16), 'v'.repeat(300)], wrong: ['x'.repeat(15)] },
  noAuth: { flag: true, variable: '0', becomes: [true, false], wrong: ['yes', 'on', '2'] },
  allowWrites: { flag: true, variable: 'true', becomes: [true, true], wrong: ['yes'] },
  writePatience: { flag: '0', variable: '60', becomes: [0, 60], wrong: ['61', '-1'] },
  detachCjkIndex: { flag: true, variable: '0', becomes: [true, false], wrong: ['yes'] },
  cjkLibrary: { flag: '/a.so', variable: '/b.so', becomes: ['/a.so', '/b.so'], wrong: [] },
  demo: { flag: true, variable: 'false', becomes: [true, false], wrong: ['yes'] },
  stateDir: { flag: '/a', variable: '~', becomes: ['/a', homedir()], wrong: [] },
  logLevel: { flag: 'silent', variable: 'debug', becomes: ['silent', 'debug'], wrong: ['loud', 'INFO', 'trace'] },
  readyFile: { flag: '/a', variable: '/b', becomes: ['/a', '/b'], wrong: [] },
  allowedHosts: { flag: 'a, b,,', variable: 'c', becomes: [['a', 'b'], ['c']], wrong: [] },
  allowedOrigins: { flag: 'https://a', variable: ' https://b ', becomes: [['https://a'], ['https://b']], wrong: [] },
  strictObserver: { flag: true, variable: '1', becomes: [true, true], wrong: ['strict'] },
  slowReadLimit: { flag: '10', variable: '600000', becomes: [10, 600_000], wrong: ['9', '600001', 'soon'] },
  slowReaders: { flag: '1', variable: '16', becomes: [1, 16], wrong: ['0', '17'] },
  largestCatalogue: { flag: '0', variable: '10000000', becomes: [0, 10_000_000], wrong: ['-1', '10000001'] },
  maxTranscriptMessages: { flag: '0', variable: '10', becomes: [0, 10], wrong: ['all', '-1'] },
  maxDepth: { flag: '1', variable: '1000', becomes: [1, 1000], wrong: ['0', '1001'] },
  maxCost: { flag: '1', variable: '1000000000', becomes: [1, 1_000_000_000], wrong: ['0', '1000000001'] },
  maxAliases: { flag: '0', variable: '100000', becomes: [0, 100_000], wrong: ['100001'] },
  maxTokens: { flag: '10', variable: '1000000', becomes: [10, 1_000_000], wrong: ['9', '1000001'] },
  maxBodyBytes: { flag: '1024', variable: '1000000000', becomes: [1024, 1_000_000_000], wrong: ['1023', '1 MB'] },
  maxBatch: { flag: '1', variable: '1000', becomes: [1, 1000], wrong: ['0', '1001'] },
  maxSubscriptions: { flag: '1', variable: '100000', becomes: [1, 100_000], wrong: ['0', '100001'] },
};
const NAMES = Object.keys(CASES) as SettingName[];

function problem(flags: Record<string, string | boolean>, environment: NodeJS.ProcessEnv = {}): string {
  try {
    readConfig(flags, environment);
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidInput);
    return (error as InvalidInput).message;
  }
  throw new Error('it was taken');
}

describe('a setting', () => {
  it('is in this table, and has names of its own', () => {
    expect(NAMES.sort()).toEqual(Object.keys(SETTINGS).sort());
    for (const part of ['flag', 'environment'] as const) {
      const names = Object.values(SETTINGS).map((setting) => setting[part]);
      expect(new Set(names).size).toBe(names.length);
    }
  });

  it.each(NAMES)('%s: the flag wins over the variable, the variable over the default', (name) => {
    const { flag, variable, becomes } = CASES[name];
    const { environment } = SETTINGS[name];
    expect(readConfig({ [name]: flag }, { [environment]: variable })[name]).toEqual(becomes[0]);
    expect(readConfig({}, { [environment]: variable })[name]).toEqual(becomes[1]);
    for (const blank of ['', '  ']) expect(readConfig({}, { [environment]: blank })[name]).toEqual(readConfig({}, {})[name]);
  });

  it.each(NAMES.flatMap((name) => CASES[name].wrong.map((value) => [name, value] as const)))(
    '%s: %j is refused in one sentence that names the flag or the variable',
    (name, value) => {
      const { flag, environment } = SETTINGS[name];
      for (const [text, given] of [
        [problem({ [name]: value }), flag.split(' ')[0]],
        [problem({}, { [environment]: value }), environment],
      ]) {
        expect(text).toMatch(/^[^.!?\n]+ must [^!?\n]+\.$/);
        expect(text?.startsWith(`${given} must`)).toBe(true);
        if (name === 'token') expect(text).not.toContain(value);
        else expect(text).toContain(JSON.stringify(value));
      }
    },
  );

  it('has the defaults that the project promises', () => {
    const config = readConfig({}, {});
    expect(config).toMatchObject({
      home: join(homedir(), '.hermes'),
      host: '127.0.0.1',
      port: 4000,
      token: null,
      noAuth: false,
      allowWrites: false,
      demo: false,
      stateDir: join(homedir(), '.local', 'state', 'caduceus'),
      logLevel: 'info',
      maxDepth: 16,
      maxCost: 100_000,
      maxBodyBytes: 1_048_576,
    });
    expect(readConfig({}, { XDG_STATE_HOME: '/x' }).stateDir).toBe('/x/caduceus');
    expect(readConfig({}, { XDG_STATE_HOME: ' ' }).stateDir).toBe(config.stateDir);
  });
});

describe('without authentication', () => {
  it.each(['0.0.0.0', '::', '192.168.1.5', 'my-machine', '127.0.0.1.example.test', 'localhost.example.test'])('%s is refused', (host) => {
    expect(problem({ noAuth: true, host })).toMatch(/--no-auth .* read your sessions/);
    expect(problem({}, { CADUCEUS_NO_AUTH: '1', CADUCEUS_HOST: host })).toContain(host);
    expect(readConfig({ host }, {}).host).toBe(host);
    expect(isLoopback(host)).toBe(false);
  });

  it.each(['127.0.0.1', '127.8.9.10', 'localhost', '::1', '[::1]'])('%s is served', (host) => {
    expect(readConfig({ noAuth: true, host }, {}).noAuth).toBe(true);
  });
});

describe('the command', () => {
  async function refused(args: string[], env: NodeJS.ProcessEnv = {}): Promise<{ code: number; stderr: string; stdout: string }> {
    const { child, stderr, stdout } = runCommand(args, { ...env });
    const code = await new Promise<number>((resolve) => child.once('close', resolve));
    return { code, stderr: stderr(), stdout: stdout() };
  }

  it('ends with code 1 and that sentence alone', async () => {
    expect(await refused(['serve', '--port', 'x'])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'caduceus: --port must be a whole number between 0 and 65535; it was "x".\n',
    });
    expect(await refused(['serve'], { CADUCEUS_LOG_LEVEL: 'loud' })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('CADUCEUS_LOG_LEVEL must'),
    });
    const open = await refused(['serve', '--no-auth', '--host', '0.0.0.0', '--port', '0', '--home', temporaryFolder()]);
    expect(open).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^caduceus: --no-auth would let everyone[^\n]*\n$/) });
  }, 20_000);

  it('says what it does not know', async () => {
    expect(await refused(['serve', '--nope'])).toMatchObject({ code: 1, stderr: expect.stringContaining('--nope') });
    expect(await refused(['nope'])).toMatchObject({ code: 1 });
    const help = await refused(['serve', '--help']);
    expect(help.code).toBe(0);
    for (const { flag, environment } of Object.values(SETTINGS)) {
      expect(help.stdout).toContain(flag.split(' ')[0]);
      expect(help.stdout).toContain(environment);
    }
  }, 20_000);
});
