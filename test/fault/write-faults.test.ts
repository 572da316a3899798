/**
 * Faults under a running server: a store that is locked, replaced or loses its -wal, a writing process that is killed, a server that ends with
 * messages waiting, a clock that is set back (`spec/state-db-writes.md` 15, 19, 20).
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Receipts } from '../../src/writing/receipts.ts';
import { commandHost, type TestHost } from '../support/command-host.ts';
import { Faults } from '../support/faults.ts';
import { eventually, openDescriptors, startTestServer, type TestServer } from '../support/server.ts';
import { storeFaults } from '../support/store-faults.ts';
import { buildStore, M, S, temporaryFolder } from '../support/stores.ts';
import { startWriter, type Writer } from '../support/writer.ts';

vi.setConfig({ testTimeout: 60_000 });

const WRITES = { allowWrites: true, writePatience: '1', logLevel: 'error' } as const;
const SELECTION = {
  appendMessage: 'status messageUid problem { code }',
  rewindSession: 'rewoundCount retiredIds',
  drainSpool: 'remaining stoppedBy { code }',
} as const;

const writers: Writer[] = [];
afterEach(() => Promise.all(writers.splice(0).map((writer) => writer.kill())));

function built(): string {
  const rows = [
    S('s', { message_count: 2 }),
    M('s', { content: 'u1', message_uid: 'u1' }),
    M('s', { role: 'assistant', content: 'a1', message_uid: 'a1' }),
  ];
  return buildStore({ schema: 31, rows });
}

async function serve(path: string, settings: Record<string, string> = {}): Promise<TestServer> {
  return startTestServer({ home: dirname(path), settings: { ...WRITES, ...settings } });
}

async function ask(server: TestServer, name: keyof typeof SELECTION, input: Record<string, unknown>): Promise<Record<string, unknown>> {
  const upper = name.charAt(0).toUpperCase() + name.slice(1);
  const { answer } = await server.read<{ answer: Record<string, unknown> }, unknown>(
    `mutation ($input: ${upper}Input!) { answer: ${name}(input: $input) {
      ... on ${upper}Payload { ${SELECTION[name]} } ... on UserError { code retryable settled } } }`,
    { input },
  );
  return answer;
}
const say = (server: TestServer, content: string, more: Record<string, unknown> = {}) =>
  ask(server, 'appendMessage', { sessionId: 's', message: { role: 'user', content }, ...more });

/** Takes the lock of a writer, as an owning program that is slow. */
async function locked(path: string): Promise<{ readonly release: () => Promise<unknown> }> {
  const writer = await startWriter(path);
  writers.push(writer);
  await writer.exec('BEGIN IMMEDIATE');
  return { release: () => writer.exec('COMMIT') };
}

function contents(path: string): unknown[] {
  const db = new Database(path, { readonly: true });
  try {
    return db.prepare('SELECT content FROM messages WHERE active = 1 ORDER BY id').pluck().all();
  } finally {
    db.close();
  }
}
const pending = (path: string) => {
  const folder = join(dirname(path), 'pending_messages');
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : [];
};
const digest = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');
/** In a process of its own: closing a descriptor of a store here would drop the locks of another test's connection. */
const digestAside = (path: string) => execFileSync('sha256sum', [path], { encoding: 'utf8' }).slice(0, 64);

/** The process of a server that writes: the one that has the receipts open, and is not the server. */
async function writingProcess(server: TestServer): Promise<number> {
  return eventually(() => {
    const children = readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8').trim().split(' ');
    return children.map(Number).find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('writer-process') && hasReceipts(pid));
  }, 10_000);
}

function hasReceipts(pid: number): boolean {
  return openDescriptors(pid).some((path) => path.includes('receipts.db'));
}

describe.runIf(process.platform === 'linux')('a writing process that is killed in the middle', () => {
  it('K3, K20: leaves its clients unsettled, and a repeat with the same id makes it once', async () => {
    const path = built();
    const server = await serve(path, { writePatience: '60' });
    const lock = await locked(path);
    const append = { clientMutationId: 'append' };
    const rewind = { sessionId: 's', clientMutationId: 'rewind' };
    const lost = [say(server, 'u2', append), ask(server, 'rewindSession', rewind)];
    const pid = await writingProcess(server);
    await sleep(300);
    // The same mutation once more, while it is under way.
    expect(await say(server, 'u2', append)).toEqual({ code: 'IN_PROGRESS', retryable: true, settled: false });
    process.kill(pid, 'SIGKILL');
    for (const answer of lost) expect(await answer).toEqual({ code: 'WRITER_LOST', retryable: true, settled: false });
    await lock.release();
    expect(await ask(server, 'rewindSession', rewind)).toMatchObject({ rewoundCount: 2, retiredIds: ['1', '2'] });
    expect(await say(server, 'u2', append)).toMatchObject({ status: 'COMMITTED' });
    expect(await ask(server, 'rewindSession', rewind)).toMatchObject({ rewoundCount: 2 });
    expect(await say(server, 'u2', append)).toMatchObject({ status: 'COMMITTED' });
    expect(contents(path)).toEqual(['u2']);
    expect(storeFaults(path)).toEqual([]);
  });
});

describe('a store that another program keeps locked', () => {
  it('T18: makes messages wait, which are written without anybody asking once it is free, also those that went to the spool', async () => {
    const path = built();
    const server = await serve(path);
    const lock = await locked(path);
    for (const content of ['u2', 'a2', 'u3'])
      expect(await say(server, content)).toMatchObject({ status: 'QUEUED', problem: { code: 'STORE_BUSY' } });
    expect(pending(path)).toHaveLength(3);
    await lock.release();
    await eventually(() => contents(path).length === 5, 15_000);
    expect(contents(path)).toEqual(['u1', 'a1', 'u2', 'a2', 'u3']);
    expect(pending(path)).toEqual([]);
  });

  it('T67: makes a rewind wait for a compression, a few seconds at most', async () => {
    const path = built();
    const server = await serve(path, { writePatience: '2' });
    const writer = await startWriter(path);
    writers.push(writer);
    const until = Date.now() / 1000 + 300;
    await writer.exec("INSERT INTO compression_locks (session_id, holder, acquired_at, expires_at) VALUES ('s', 'pid=1', 0, ?)", [until]);
    const began = performance.now();
    expect(await ask(server, 'rewindSession', { sessionId: 's' })).toMatchObject({ code: 'COMPRESSION_IN_PROGRESS', retryable: true });
    expect(performance.now() - began).toBeGreaterThan(1900);
    const waiting = ask(server, 'rewindSession', { sessionId: 's' });
    await sleep(500);
    await writer.exec('DELETE FROM compression_locks');
    expect(await waiting).toMatchObject({ rewoundCount: 2 });
  });
});

describe('a server that ends while messages wait', () => {
  it.each(['SIGTERM', 'SIGKILL'] as const)('by %s: they are in the spool, and come before what the next one is told', async (signal) => {
    const path = built();
    const server = await serve(path, { writePatience: '2' });
    const lock = await locked(path);
    expect(await say(server, 'u2')).toMatchObject({ status: 'QUEUED' });
    expect(pending(path)).toEqual([]);
    await server.stop(signal);
    await eventually(() => pending(path).length === 1);
    await lock.release();
    const next = await serve(path);
    expect(await say(next, 'u3')).toMatchObject({ status: 'COMMITTED' });
    expect(contents(path)).toEqual(['u1', 'a1', 'u2', 'u3']);
    expect(pending(path)).toEqual([]);
  });
});

describe('what an earlier process left to do', () => {
  it('K29: is tried again by the next command when it fails, and keeps nobody from writing for ever', async () => {
    const path = buildStore({ journal: 'delete', rows: [S('s')] });
    const stateDir = temporaryFolder();
    const receipts = Receipts.open(join(stateDir, 'receipts.db'), 1);
    const left = { clientMutationId: 'left', mutation: 'deleteSession', profile: 'default', inputHash: '' };
    receipts.take(left, null, Date.now() / 1000);
    receipts.done('left', { deletedIds: ['gone'] });
    const server = await serve(path, { stateDir });
    const writer = await startWriter(path);
    writers.push(writer);
    await writer.exec('BEGIN EXCLUSIVE');
    expect(await say(server, 'u1')).toMatchObject({ code: 'STORE_UNREADABLE', settled: true });
    await writer.exec('COMMIT');
    expect(await say(server, 'u1')).toMatchObject({ status: 'COMMITTED' });
    expect(receipts.unsettled('default', ['deleteSession'])).toEqual([]);
    receipts.close();
  });
});

describe('a store that is taken away from under a server', () => {
  it('Q1, Q3, T32: is not written to when it was replaced, neither then nor at the end; the next server writes what was kept', async () => {
    const path = built();
    const server = await serve(path);
    expect(await say(server, 'in the old one')).toMatchObject({ status: 'COMMITTED' });
    const other = built();
    const before = digest(other);
    for (const name of [`${path}-wal`, `${path}-shm`]) rmSync(name, { force: true });
    renameSync(other, path);
    for (const content of ['u2', 'u3'])
      expect(await say(server, content)).toMatchObject({ status: 'DIVERTED', problem: { code: 'STORE_REPLACED' } });
    expect(await ask(server, 'rewindSession', { sessionId: 's' })).toMatchObject({ code: 'STORE_REPLACED', settled: true });
    await server.stop();
    expect(digestAside(path)).toBe(before);
    const next = await serve(path);
    expect(await ask(next, 'drainSpool', {})).toEqual({ remaining: 0, stoppedBy: [] });
    expect(await say(next, 'u4')).toMatchObject({ status: 'COMMITTED' });
    expect(contents(path)).toEqual(['u1', 'a1', 'u2', 'u3', 'u4']);
    expect(storeFaults(path)).toEqual([]);
  });

  it.runIf(process.platform === 'linux')(
    'Q2, Q3, T35: is not written to when its -wal was removed, neither then nor at the end',
    async () => {
      const path = built();
      const server = await serve(path);
      expect(await say(server, 'in the lost -wal')).toMatchObject({ status: 'COMMITTED' });
      const before = digestAside(path);
      for (const name of [`${path}-wal`, `${path}-shm`]) rmSync(name);
      expect(await say(server, 'u2')).toMatchObject({ status: 'DIVERTED', problem: { code: 'WAL_GENERATION_LOST' } });
      expect(await ask(server, 'rewindSession', { sessionId: 's' })).toMatchObject({ code: 'WAL_GENERATION_LOST', settled: true });
      await server.stop();
      expect(digestAside(path)).toBe(before);
      const next = await serve(path);
      expect(await say(next, 'u3')).toMatchObject({ status: 'COMMITTED' });
      expect(contents(path)).toEqual(['u1', 'a1', 'u2', 'u3']);
      expect(storeFaults(path)).toEqual([]);
    },
  );
});

describe('a clock that is set back', () => {
  const faults = new Faults();
  let host: TestHost;
  afterEach(() => {
    faults.heal();
    host.close();
  });
  const append = (content: string) => host.run('appendMessage', { sessionId: 's', message: { role: 'user', content }, lease: null });

  it('changes neither the order of messages, spooled ones too, nor who holds a lease, nor what a repeat gets', async () => {
    const path = built();
    host = commandHost(path, { onStatement: faults.onStatement, now: 10_000 });
    const lease = { sessionId: 's', holder: 'h1', ttlSeconds: 300 };
    const first = await host.run('acquireTurnLease', lease, { clientMutationId: 'lease' });
    await append('u2');
    faults.fail('BEGIN', 'SQLITE_BUSY');
    for (const [content, now] of [
      ['u3', 10_001],
      ['u4', 5000],
      ['u5', 4000],
    ] as const) {
      host.clock.now = now;
      await append(content);
    }
    faults.heal();
    expect(pending(path)).toHaveLength(3);
    await append('u6');
    expect(contents(path)).toEqual(['u1', 'a1', 'u2', 'u3', 'u4', 'u5', 'u6']);
    await expect(host.run('acquireTurnLease', { ...lease, holder: 'h2' })).rejects.toMatchObject({ code: 'LEASE_HELD' });
    expect(await host.run('acquireTurnLease', lease, { clientMutationId: 'lease' })).toEqual(first);
    expect(storeFaults(path)).toEqual([]);
  });
});
