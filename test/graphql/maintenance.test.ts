/** Long work on a store over GraphQL: jobs with progress, on a server whose own connections are no obstacle. */
import { spawn } from 'node:child_process';
import { cpSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, describe, expect, it } from 'vitest';
import { copyStore } from '../support/golden.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { createSocketClient } from '../support/sockets.ts';
import { buildStore, M, S, temporaryFolder } from '../support/stores.ts';

const servers: TestServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

async function serve(home: string, allowWrites = true): Promise<TestServer> {
  const server = await startTestServer({ home, settings: allowWrites ? { allowWrites: true } : {} });
  servers.push(server);
  return server;
}

function homeWith(store: string): string {
  const home = temporaryFolder();
  cpSync(copyStore(store), join(home, 'state.db'));
  return home;
}

interface Result {
  readonly result: Readonly<Record<string, unknown>>;
}
const FAILURE = '... on UserError { code settled details message }';
const job = (name: string, fields: string) => `mutation ($input: ${name.charAt(0).toUpperCase()}${name.slice(1)}Input!) {
  result: ${name}(input: $input) { __typename ${FAILURE} ... on ${name.charAt(0).toUpperCase()}${name.slice(1)}Payload { job { jobId state } ${fields} } } }`;
const run = async (server: TestServer, name: string, fields: string, input: object = {}) =>
  (await server.read<Result, unknown>(job(name, fields), { input })).result;
const CHECK = 'healthy problems structural fingerprint';
const REBUILD = 'rebuilt skipped { table reason } stale';

describe('F51: a store with a damaged search index', () => {
  it('is found, rebuilt and searched again, while the server serves it', async () => {
    const server = await serve(homeWith('fts-damaged'));
    const degraded = () =>
      server.read<{ profile: { store: { searchDegraded: boolean } } }, unknown>('{ profile { store { searchDegraded } } }');
    expect((await degraded()).profile.store.searchDegraded).toBe(true);
    expect(await run(server, 'checkStore', CHECK)).toMatchObject({ healthy: false, structural: false });
    expect(await run(server, 'rebuildSearchIndex', REBUILD, { dryRun: true })).toMatchObject({ rebuilt: ['BASE', 'TRIGRAM'] });
    expect(await run(server, 'rebuildSearchIndex', REBUILD)).toMatchObject({
      job: { state: 'DONE' },
      rebuilt: ['BASE', 'TRIGRAM'],
      stale: false,
    });
    expect(await run(server, 'checkStore', CHECK)).toMatchObject({ healthy: true });
    expect((await degraded()).profile.store.searchDegraded).toBe(false);
    // T42: once in five minutes is enough.
    expect(await run(server, 'rebuildSearchIndex', REBUILD)).toMatchObject({ code: 'REBUILD_COOLDOWN', settled: true });
  });

  it('is not rebuilt while another program has it open', async () => {
    const home = homeWith('fts-damaged');
    const server = await serve(home);
    const holder = spawn(
      process.execPath,
      [
        '-e',
        `const d = new (require('better-sqlite3'))(${JSON.stringify(join(home, 'state.db'))}, { readonly: true }); d.prepare('SELECT 1 FROM sessions').get(); console.log('open'); setInterval(() => d.open, 1000)`,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'], cwd: process.cwd() },
    );
    await new Promise((resolve) => holder.stdout.once('data', resolve));
    try {
      expect(await run(server, 'rebuildSearchIndex', REBUILD)).toMatchObject({ code: 'FOREIGN_HOLDERS', details: { count: 1 } });
    } finally {
      holder.kill('SIGKILL');
    }
  });
});

describe('a job', () => {
  it('is followed by its id to its end, and asked for again afterwards', async () => {
    const server = await serve(homeWith('fts-damaged'));
    const { job: started } = (await run(server, 'rebuildSearchIndex', REBUILD, { waitSeconds: 0 })) as {
      job: { jobId: string; state: string };
    };
    expect(started.state).toBe('RUNNING');
    const client = createSocketClient(server);
    const query = 'subscription ($jobId: ID!) { jobProgress(jobId: $jobId) { state kind done total } }';
    const states: { state: string; kind: string; total: number | null }[] = [];
    for await (const { data } of client.iterate<{ jobProgress: (typeof states)[number] }>({ query, variables: { jobId: started.jobId } })) {
      if (data != null) states.push(data.jobProgress);
    }
    await client.dispose();
    expect(states.at(-1)).toMatchObject({ state: 'DONE', kind: 'REBUILD_INDEX' });
    expect(states.some(({ total }) => total === 2)).toBe(true);
    expect(await server.read('query ($id: ID!) { job(jobId: $id) { state problem } }', { id: started.jobId })).toEqual({
      job: { state: 'DONE', problem: null },
    });
  });
});

describe('F53: a store whose schema is damaged', () => {
  it('is mended with a copy of it, and served again without a restart', async () => {
    const path = buildStore({ rows: [S('s'), M('s', { content: 'kept' })] });
    const db = new Database(path);
    db.unsafeMode(true);
    db.pragma('writable_schema = ON');
    db.exec("INSERT INTO sqlite_master SELECT * FROM sqlite_master WHERE name = 'messages_fts'");
    db.close();
    const server = await serve(dirname(path));
    expect(await server.error('{ session(sessionId: "s") { sessionId } }')).toMatchObject({ extensions: { code: 'SCHEMA_MALFORMED' } });
    const check = await run(server, 'checkStore', CHECK);
    expect(check).toMatchObject({ healthy: false, fingerprint: expect.stringMatching(/^\d+:[0-9a-f]{32}$/) });
    expect(await run(server, 'repairStore', 'repaired', { confirmFingerprint: '1:00' })).toMatchObject({ code: 'CONFLICT' });
    const repair = await run(server, 'repairStore', 'repaired strategy backupName error', { confirmFingerprint: check.fingerprint });
    expect(repair).toMatchObject({ repaired: true, error: null, backupName: expect.stringContaining('.malformed-backup-') });
    const { session } = await server.read<{ session: unknown }, unknown>('{ session(sessionId: "s") { messages { nodes { text } } } }');
    expect(session).toEqual({ messages: { nodes: [{ text: 'kept' }] } });
  });
});

describe('packing a store', () => {
  it('closes what the server has open, and serves it afterwards', async () => {
    const server = await serve(
      dirname(buildStore({ rows: [S('s'), ...Array.from({ length: 2000 }, () => M('s', { content: 'x'.repeat(500) }))] })),
    );
    await server.read('{ sessions { totalCount } searchMessages(query: "xxx") { route } }');
    const clear = new Database(server.storePath);
    clear.exec('DELETE FROM messages WHERE id % 2 = 0');
    clear.close();
    expect(await run(server, 'optimizeStore', 'bytesBefore', { confirmNoHolders: false })).toMatchObject({ code: 'VALIDATION' });
    const packed = await run(server, 'optimizeStore', 'bytesBefore bytesAfter', { confirmNoHolders: true });
    expect(packed).toMatchObject({ job: { state: 'DONE' } });
    expect(Number(packed.bytesAfter)).toBeLessThan(Number(packed.bytesBefore));
    expect(await server.read('{ session(sessionId: "s") { messages { totalCount } } }')).toEqual({
      session: { messages: { totalCount: 1000 } },
    });
  });

  it('is refused on a server that only reads, as repair and rebuild are', async () => {
    const server = await serve(homeWith('basic'), false);
    expect(await run(server, 'optimizeStore', 'bytesBefore', { confirmNoHolders: true })).toMatchObject({ code: 'WRITES_OFF' });
    expect(await run(server, 'repairStore', 'repaired', { confirmFingerprint: 'x' })).toMatchObject({ code: 'WRITES_OFF' });
    expect(await run(server, 'rebuildSearchIndex', REBUILD)).toMatchObject({ code: 'WRITES_OFF' });
    expect(await run(server, 'checkStore', CHECK, { writeProbe: true })).toMatchObject({ code: 'WRITES_OFF' });
    expect(await run(server, 'checkStore', CHECK)).toMatchObject({ job: { state: 'DONE' } });
    expect(await run(server, 'rebuildSearchIndex', REBUILD, { dryRun: true })).toMatchObject({ job: { state: 'DONE' } });
  });
});
