/** The two ways in: `npm start` in a checkout, and the demo for a machine without a store. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { EXAMPLES } from '../../src/server/examples.ts';
import { graphql } from '../generated/gql.ts';
import type { PlayedSubscription } from '../generated/graphql.ts';
import { http } from '../support/http.ts';
import { eventually, runCommand, startTestServer, type TestServer } from '../support/server.ts';
import { createSocketClient, subscribe } from '../support/sockets.ts';
import { buildStore, S, temporaryFolder } from '../support/stores.ts';

const PLAYED = graphql(`
  subscription Played { liveSessions { changes { sessionId kinds session { displayTitle } liveness { state } } } }
`);

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

describe('npm start', () => {
  it('prints one address, which opens the door', async () => {
    const home = buildStore({ rows: [S('a')] }).replace(/\/state\.db$/, '');
    // Without its own scripts: whether everything is installed was settled before the tests began.
    const args = ['start', '--ignore-scripts', '--', '--port', '0', '--state-dir', temporaryFolder()];
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
      const printed = await eventually(() => /^http:\/\/\S+$/m.exec(output)?.[0], 30_000);
      expect(printed).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{43}$/);
      const { origin, hash } = new URL(printed);
      const server = { url: `${origin}/` };
      expect((await http(server, {})).text).toContain('Your sessions are private');
      const headers = { authorization: `Bearer ${hash.slice('#token='.length)}`, 'content-type': 'application/json' };
      const answer = await http(server, {
        method: 'POST',
        path: '/graphql',
        headers,
        body: JSON.stringify({ query: '{ profiles { name store { path } } }' }),
      });
      expect(JSON.parse(answer.text)).toEqual({ data: { profiles: [{ name: 'default', store: { path: join(home, 'state.db') } }] } });
      expect((await http(server, { method: 'POST', path: '/sign-in', headers, body: '{}' })).status).toBe(204);
    } finally {
      // npm and the server are one group of processes.
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
      await once(child, 'exit');
    }
  });

  it('takes a home that was named as it is, and does not hide a wrong path behind the demo', async () => {
    const wrong = await startTestServer({ home: join(temporaryFolder(), 'no-such-home') });
    expect(await wrong.error('{ sessions { totalCount } }')).toMatchObject({ extensions: { code: 'NOT_FOUND' } });
    await wrong.stop();
  });

  it('says which port is taken', async () => {
    const first = await startTestServer({ rows: [S('a')] });
    const { child, stderr } = runCommand([
      'serve',
      '--home',
      first.home,
      '--port',
      new URL(first.url).port,
      '--state-dir',
      temporaryFolder(),
    ]);
    const [code] = await once(child, 'close');
    expect([code, stderr()]).toEqual([1, expect.stringMatching(/^caduceus: Port \d+ of 127\.0\.0\.1 is taken\.[^\n]+--port[^\n]+\n$/)]);
    await first.stop();
  });
});

describe('the demo', () => {
  let demo: TestServer;
  let stateDir: string;
  beforeAll(async () => {
    stateDir = temporaryFolder();
    const home = temporaryFolder();
    demo = await startTestServer({ home, settings: { demo: true, stateDir } });
    expect(readdirSync(home)).toEqual([]);
  });

  it('lies in the state folder, and has sessions in two profiles', async () => {
    expect(existsSync(join(stateDir, 'demo', 'state.db'))).toBe(true);
    const { profiles } = await demo.read<{ profiles: { name: string; store: { health: string; sessionCount: number } }[] }, unknown>(
      '{ profiles { name store { health sessionCount } } }',
    );
    expect(profiles.map(({ name, store }) => [name, store.health, store.sessionCount > 3])).toEqual([
      ['default', 'OK', true],
      ['work', 'OK', true],
    ]);
  });

  it.each(EXAMPLES.map((example) => [/(?:query|subscription) (\w+)/.exec(example)?.[1] ?? '', example]))(
    'answers the example %s with something to see',
    async (name, example) => {
      if (example.includes('subscription')) {
        const client = createSocketClient(demo);
        expect(await subscribe(client, example).next()).toMatchObject({ liveSessions: { cursor: expect.any(String) } });
        await client.dispose();
        return;
      }
      const text = JSON.stringify(await demo.read(example));
      expect(text).not.toMatch(/"nodes":\[\]|"usage":\[\]/);
      expect([name, text.length > 300]).toEqual([name, true]);
    },
  );

  it('plays a turn that can be followed', async () => {
    const client = createSocketClient(demo);
    const feed = subscribe<PlayedSubscription>(client, PLAYED);
    const seen = new Set<string>();
    for (let frames = 0; frames < 40 && !seen.has('LIVE'); frames++) {
      for (const { liveness } of (await feed.next()).liveSessions.changes) seen.add(liveness?.state ?? '');
    }
    expect([...seen]).toContain('LIVE');
    await client.dispose();
  });

  it('is served by itself where there is no store at all', async () => {
    const stateDir = temporaryFolder();
    const { child, stdout } = runCommand(['serve', '--port', '0', '--state-dir', stateDir, '--no-auth']);
    const url = await eventually(() => /^http:\S+$/m.exec(stdout())?.[0], 15_000);
    const { data } = (await (
      await fetch(`${url}graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: '{ sessions { totalCount } }' }),
      })
    ).json()) as { data: { sessions: { totalCount: number } } };
    expect(data.sessions.totalCount).toBeGreaterThan(5);
    child.kill();
    await once(child, 'close');
  });
});
