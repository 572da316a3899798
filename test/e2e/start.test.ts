/** The ways in: `npm start` in a checkout, a home that was named, and the demo for a machine without a store. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { EXAMPLES } from '../../src/server/examples.ts';
import { graphql } from '../generated/gql.ts';
import type { PlayedSubscription } from '../generated/graphql.ts';
import { http } from '../support/http.ts';
import { eventually, type RunningProgram, runCommand, startTestServer, type TestServer } from '../support/server.ts';
import { sidecarText } from '../support/sidecars.ts';
import { createSocketClient, subscribe } from '../support/sockets.ts';
import { buildStore, S, temporaryFolder } from '../support/stores.ts';

const PLAYED = graphql(`
  subscription Played { liveSessions { changes { sessionId kinds session { displayTitle } liveness { state } } } }
`);

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The first line of its output. */
const firstLine = ({ stdout }: Pick<RunningProgram, 'stdout'>) => eventually(() => /^(.*)\n/.exec(stdout())?.[1], 20_000);

async function post(address: string, query: string): Promise<unknown> {
  const { origin, hash } = new URL(address);
  const response = await fetch(`${origin}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${hash.slice('#token='.length)}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  return response.json();
}

/** Ends it, and gives all it said. */
async function ended({ child, stdout, stderr }: RunningProgram, signal?: NodeJS.Signals) {
  if (signal !== undefined) child.kill(signal);
  const [code] = (await once(child, 'close')) as unknown[];
  return { code, stdout: stdout(), stderr: stderr() };
}

describe('a start', () => {
  it('by npm prints one address as its first and only line of its own, which opens the door', async () => {
    const home = buildStore({ rows: [S('a')] }).replace(/\/state\.db$/, '');
    // Without the script before it: that would install anew while other tests run, if the checkout were not fresh.
    const args = ['start', '--silent', '--ignore-scripts', '--', '--port', '0', '--state-dir', temporaryFolder()];
    const child = spawn('npm', args, {
      cwd: ROOT,
      env: { PATH: process.env.PATH, HOME: temporaryFolder(), HERMES_HOME: home },
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    try {
      const printed = await firstLine({ stdout: () => output });
      expect(printed).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{43}$/);
      expect((await http({ url: new URL('/', printed).href })).text).toContain('Your sessions are private');
      expect(await post(printed, '{ profiles { name store { path } } }')).toEqual({
        data: { profiles: [{ name: 'default', store: { path: join(home, 'state.db') } }] },
      });
      expect(output).toBe(`${printed}\n`);
    } finally {
      // npm and the server are one group of processes.
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
      await once(child, 'exit');
    }
  });

  it('writes a ready file that only its owner may read, with all that a program needs, before it prints', async () => {
    const readyFile = join(temporaryFolder(), 'ready.json');
    const path = buildStore({ rows: [S('a')] });
    const server = runCommand(['serve', '--port', '0', '--state-dir', temporaryFolder(), '--ready-file', readyFile], {
      HERMES_HOME: join(path, '..'),
    });
    const printed = await firstLine(server);
    const facts = JSON.parse(readFileSync(readyFile, 'utf8')) as Record<string, unknown>;
    const { origin, port, hash } = new URL(printed);
    expect(facts).toEqual({
      url: `${origin}/`,
      graphql: `${origin}/graphql`,
      port: Number(port),
      pid: server.child.pid,
      token: hash.slice('#token='.length),
      home: join(path, '..'),
    });
    expect(statSync(readyFile).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(readyFile, '..'))).toEqual(['ready.json']);
    expect(await ended(server, 'SIGTERM')).toMatchObject({ code: 0, stdout: `${printed}\n` });
  });

  it('takes a home that was named as it is, and does not hide a wrong path behind the demo', async () => {
    const server = await startTestServer({ home: join(temporaryFolder(), 'no-such-home') });
    expect(await server.error('{ sessions { totalCount } }')).toMatchObject({ extensions: { code: 'NOT_FOUND' } });
  });

  it('on a machine without a store serves the demo, and leaves the home alone', async () => {
    const home = temporaryFolder();
    mkdirSync(join(home, '.hermes'));
    const stateDir = temporaryFolder();
    const server = runCommand(['serve', '--port', '0', '--state-dir', stateDir, '--no-auth'], { HOME: home });
    const printed = await firstLine(server);
    expect(printed).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
    const { data } = (await post(printed, '{ sessions { totalCount } }')) as { data: { sessions: { totalCount: number } } };
    expect(data.sessions.totalCount).toBeGreaterThan(5);
    expect(await ended(server, 'SIGINT')).toMatchObject({ code: 0 });
    expect([readdirSync(home), readdirSync(join(home, '.hermes'))]).toEqual([['.hermes'], []]);
    expect(readdirSync(stateDir)).toEqual(['demo']);
  });
});

it('on a machine that has only a Web UI serves its sessions', async () => {
  const home = temporaryFolder();
  const sessionsDir = join(home, '.hermes', 'webui', 'sessions');
  mkdirSync(sessionsDir, { recursive: true });
  writeFileSync(join(sessionsDir, 'tea.json'), sidecarText('tea', { title: 'Tea' }, [{ role: 'user', content: 'Hello' }]));
  const server = runCommand(['serve', '--port', '0', '--state-dir', temporaryFolder(), '--no-auth'], { HOME: home });
  expect(await post(await firstLine(server), '{ sessions { nodes { title } } }')).toEqual({
    data: { sessions: { nodes: [{ title: 'Tea' }] } },
  });
  await ended(server, 'SIGINT');
});

describe('the demo', () => {
  let demo: TestServer;
  beforeAll(async () => {
    const home = temporaryFolder();
    demo = await startTestServer({ home, settings: { demo: true } });
    expect(readdirSync(home)).toEqual([]);
  });

  it('plays a turn that can be followed', async () => {
    const client = createSocketClient(demo);
    const feed = subscribe<PlayedSubscription>(client, PLAYED);
    const start = performance.now();
    for (let live = false; !live; ) live = (await feed.next()).liveSessions.changes.some(({ liveness }) => liveness?.state === 'LIVE');
    expect(performance.now() - start).toBeLessThan(20_000);
    await client.dispose();
  });

  it('has sessions in two profiles, and something to see for each example of GraphiQL', async () => {
    const { profiles } = await demo.read<{ profiles: { name: string; store: { health: string; sessionCount: number } }[] }, unknown>(
      '{ profiles { name store { health sessionCount } } }',
    );
    expect(profiles.map(({ name, store }) => [name, store.health, store.sessionCount > 3])).toEqual([
      ['default', 'OK', true],
      ['work', 'OK', true],
    ]);
    for (const example of EXAMPLES.filter((text) => !text.includes('subscription'))) {
      const text = JSON.stringify(await demo.read(example));
      expect(text).not.toMatch(/"nodes":\[\]|"usage":\[\]/);
      expect([example, text.length > 300]).toEqual([example, true]);
    }
  });
});
