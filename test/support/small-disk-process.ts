/** The process behind `namespace.ts`: the folder that it is given is a file system of its own. Reports as JSON on standard output. */
import { execFileSync } from 'node:child_process';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WriteRefused } from '../../src/write-refused.ts';
import { commandHost, type TestHost } from './command-host.ts';
import { storeFaults } from './store-faults.ts';
import { buildStore, S } from './stores.ts';

const [scenario = '', folder = ''] = process.argv.slice(2);
const path = buildStore({ schema: 31, rows: [S('s')] });
const mount = (...args: string[]) => execFileSync('mount', args);

const say = (host: TestHost, content: string) =>
  host.run('appendMessage', { sessionId: 's', message: { role: 'user', content: `${content}${' '.repeat(20_000)}` }, lease: null });
const batch = (host: TestHost) =>
  host.run('appendMessages', { sessionId: 's', messages: [{ role: 'user', content: 'e' }], lease: null }).then(
    () => 'done',
    (error: unknown) => (error instanceof WriteRefused ? { code: error.code, settled: error.settled } : String(error)),
  );

async function outcomes(host: TestHost): Promise<unknown> {
  const said = [];
  for (const content of ['a', 'b', 'c', 'd']) {
    const { status, problem } = await say(host, content);
    said.push([status, problem?.code ?? null]);
  }
  return { said, batch: await batch(host), quarantine: host.writer.quarantine };
}

/** After the cause is mended: everything is there, in order. */
async function mended(host: TestHost): Promise<unknown> {
  const flushed = await host.run('flushRetryQueue', { sessionId: 's' });
  const batched = await batch(host);
  const stored = host.rows('SELECT content FROM messages ORDER BY id').map(({ content }) => String(content).trim());
  host.close();
  return { flushed, stored, batch: batched, faults: storeFaults(path, ['s']) };
}

const SCENARIOS: Readonly<Record<string, () => Promise<unknown>>> = {
  full: async () => {
    const host = commandHost(path);
    await say(host, 'first');
    const ballast = join(folder, 'ballast');
    const { bavail, bsize } = statfsSync(folder);
    writeFileSync(ballast, Buffer.alloc(Number(bavail) * Number(bsize) - 8192));
    const while_ = await outcomes(host);
    rmSync(ballast);
    return { while: while_, after: await mended(host) };
  },
  'read-only folder': async () => {
    mount('-o', 'remount,ro', folder);
    const host = commandHost(path);
    const while_ = await outcomes(host);
    mount('-o', 'remount,rw', folder);
    return { while: while_, after: await mended(host) };
  },
  'read-only file': async () => {
    mount('--bind', path, path);
    mount('-o', 'remount,ro,bind', path);
    const host = commandHost(path);
    const while_ = await outcomes(host);
    execFileSync('umount', ['-l', path]);
    return { while: while_, after: await mended(host) };
  },
};
process.stdout.write(JSON.stringify(await SCENARIOS[scenario]?.()));
