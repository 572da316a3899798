/** Field cases about writing to transcripts, as a client meets them on a running server (`spec/field-cases.md`). */
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { type Answers, mutating } from '../support/mutating.ts';
import { startInProcess, startTestServer, type TestServer } from '../support/server.ts';
import { capDrop, putFile } from '../support/spool.ts';
import { buildStore, M, type Row, S } from '../support/stores.ts';
import { startWriter } from '../support/writer.ts';

const start = (rows: readonly Row[], settings: object = {}): Promise<TestServer> =>
  startInProcess({ schema: 31, rows, settings: { allowWrites: true, ...settings } });
const A = (id: string, content: string): Row => M(id, { role: 'assistant', content });
const CHAIN = [
  S('p', { ended_at: 150, end_reason: 'compression' }),
  M('p', { content: 'old' }),
  S('c', { parent_session_id: 'p', started_at: 150 }),
];
const COUNTS = 'session { messageCount storedMessageCount }';

/** Contents of a session's live rows. */
function stored({ storePath }: TestServer, id = 's'): unknown[] {
  const db = new Database(storePath, { readonly: true });
  try {
    return db.prepare('SELECT content FROM messages WHERE session_id = ? AND active = 1 ORDER BY id').pluck().all(id);
  } finally {
    db.close();
  }
}

const say = (server: TestServer, content: string, more: object = {}): Promise<Answers> =>
  mutating(server, 'appendMessage', { sessionId: 's', message: { role: 'user', content }, ...more }, APPENDED);
const APPENDED = 'status effectiveSessionId messageUid queueDepth message { rowId text } problem { code }';

describe('an undo', () => {
  const TURNS = [S('s', { message_count: 4 }), M('s', { content: 'u1' }), A('s', 'a1'), M('s', { content: 'u2' }), A('s', 'a2')];

  it('F14: leaves stored counters that are the counts, and so does taking it back', async () => {
    const server = await start(TURNS);
    const undone = await mutating(server, 'rewindSession', { sessionId: 's' }, `receipt ${COUNTS}`);
    expect(undone).toMatchObject({ session: { messageCount: 2, storedMessageCount: 2 } });
    expect(await mutating(server, 'restoreRewind', { receipt: undone.receipt }, COUNTS)).toMatchObject({
      session: { messageCount: 4, storedMessageCount: 4 },
    });
    await server.stop();
  });

  it('F34: takes a prompt that never got an answer together with the next; a change in between is refused once, not for ever', async () => {
    const server = await start([
      S('s'),
      M('s', { content: 'A' }),
      A('s', 'a'),
      M('s', { content: 'B' }),
      M('s', { content: 'C' }),
      A('s', 'c'),
    ]);
    const input = { sessionId: 's', turns: 1 };
    const planned = { ...input, expectedActiveIds: ['1', '2', '3', '4'] };
    expect(await mutating(server, 'rewindSession', planned, 'rewoundCount')).toMatchObject({ code: 'TRANSCRIPT_CHANGED', settled: true });
    expect(
      await mutating(server, 'rewindSession', { ...input, expectedActiveIds: ['1', '2', '3', '4', '5'] }, 'rewoundCount'),
    ).toMatchObject({
      rewoundCount: 3,
    });
    expect(stored(server)).toEqual(['A', 'a']);
    await server.stop();
  });

  it('F40: is not made twice under one id', async () => {
    const server = await start(TURNS);
    const undo = () => mutating(server, 'rewindSession', { sessionId: 's', clientMutationId: 'once' }, 'rewoundCount targetText');
    const first = await undo();
    expect(first).toMatchObject({ targetText: 'u2' });
    expect(await undo()).toEqual(first);
    expect(stored(server)).toEqual(['u1', 'a1']);
    await server.stop();
  });
});

describe('a rewrite', () => {
  it('F33: with one message that can not be stored leaves every row and both counters', async () => {
    const server = await start([S('s', { message_count: 5 }), ...['1', '2', '3', '4', '5'].map((content) => M('s', { content }))]);
    const messages = ['a', 'b', 'c', 'd', 'e'].map((content, index) => ({ role: index === 3 ? '' : 'user', content }));
    const input = { sessionId: 's', mode: 'DESTRUCTIVE', force: true, expectedActiveIds: ['1', '2', '3', '4', '5'], messages };
    expect(await mutating(server, 'rewriteTranscript', input, COUNTS)).toMatchObject({ code: 'VALIDATION', settled: true });
    expect(stored(server)).toEqual(['1', '2', '3', '4', '5']);
    const { session } = await server.read<{ session: unknown }, unknown>('{ session(sessionId: "s") { messageCount storedMessageCount } }');
    expect(session).toEqual({ messageCount: 5, storedMessageCount: 5 });
    await server.stop();
  });
});

describe('an append', () => {
  it('F17: to an id from before a compression goes where the conversation goes on; a batch says where that is not', async () => {
    const server = await start(CHAIN);
    const input = { sessionId: 'p', message: { role: 'user', content: 'on' } };
    expect(await mutating(server, 'appendMessage', input, APPENDED)).toMatchObject({ status: 'COMMITTED', effectiveSessionId: 'c' });
    expect(stored(server, 'c')).toEqual(['on']);
    const batch = { sessionId: 'p', messages: [{ role: 'user', content: 'late' }] };
    expect(await mutating(server, 'appendMessages', batch, '__typename')).toMatchObject({ code: 'SESSION_CLOSED', settled: true });
    expect(stored(server, 'p')).toEqual(['old']);
    await server.stop();
  });

  it('F40: sent twice with one uid is one row, whose id both answers have, also over a restart', async () => {
    const server = await start([S('s')]);
    const first = await say(server, 'hi', { messageUid: 'u1' });
    expect(first).toMatchObject({ status: 'COMMITTED', messageUid: 'u1', message: { text: 'hi' } });
    await server.stop();
    const next = await startInProcess({ home: server.home, settings: { allowWrites: true } });
    expect(await say(next, 'hi', { messageUid: 'u1' })).toMatchObject({ status: 'DUPLICATE', message: first.message });
    expect(stored(next)).toEqual(['hi']);
    await next.stop();
  });

  it('F39: comes after what an earlier process left in the spool; a file that can not be read is kept and named', async () => {
    const path = buildStore({ schema: 31, rows: [S('s'), S('t')] });
    const home = path.replace(/\/state\.db$/, '');
    mkdirSync(join(home, 'pending_messages'), { mode: 0o700 });
    for (const [seq, content] of ['m1', 'm2', 'm3'].entries()) putFile(home, capDrop('s', 5, seq, { role: 'user', content }));
    const torn = putFile(home, '{"session_key": "t", "reason": "transcript_');
    const server = await startInProcess({ home, settings: { allowWrites: true } });
    expect(await say(server, 'm4')).toMatchObject({ status: 'COMMITTED', queueDepth: 0 });
    expect(stored(server)).toEqual(['m1', 'm2', 'm3', 'm4']);
    expect(await mutating(server, 'drainSpool', {}, 'replayed { spoolId } remaining')).toMatchObject({ replayed: [] });
    expect(stored(server)).toHaveLength(4);
    expect(readdirSync(join(home, 'pending_messages')).filter((name) => name.includes(torn))).toHaveLength(1);
    const entries = await server.read<{ spoolEntries: { nodes: { state: string }[] } }, unknown>(
      '{ spoolEntries(first: 10) { nodes { spoolId state } } }',
    );
    expect(entries.spoolEntries.nodes).toMatchObject([{ spoolId: torn, state: 'INVALID' }]);
    await server.stop();
  });

  it('F41, F81: waits out a lock that another program holds for seconds, while queries are answered as ever', async () => {
    const server = await start([S('s')]);
    const other = await startWriter(server.storePath);
    await other.exec('BEGIN IMMEDIATE');
    let isDone = false;
    const appended = say(server, 'at last').finally(() => {
      isDone = true;
    });
    const times: number[] = [];
    const until = performance.now() + 3000;
    while (performance.now() < until) {
      const asked = performance.now();
      await server.read('{ session(sessionId: "s") { title } }');
      times.push(performance.now() - asked);
      await sleep(20);
    }
    expect(isDone).toBe(false);
    await other.exec('COMMIT');
    await other.close();
    expect(await appended).toMatchObject({ status: 'COMMITTED', queueDepth: 0 });
    expect(times.length).toBeGreaterThan(20);
    // A server that waited with its only thread would answer after three seconds.
    expect(Math.max(...times)).toBeLessThan(1000);
    await server.stop();
  }, 30_000);

  it('F41: past its patience waits in memory and says why; any other change is refused as not made', async () => {
    const server = await start([S('s')], { writePatience: '1' });
    const other = await startWriter(server.storePath);
    await other.exec('BEGIN IMMEDIATE');
    expect(await say(server, 'later')).toMatchObject({ status: 'QUEUED', queueDepth: 1, problem: { code: 'STORE_BUSY' } });
    const refused = await mutating(server, 'setSessionTitle', { sessionId: 's', title: 'T' }, 'changed');
    expect(refused).toMatchObject({ code: 'STORE_BUSY', settled: true, retryable: true });
    await other.exec('COMMIT');
    await other.close();
    expect(await mutating(server, 'flushRetryQueue', { sessionId: 's' }, 'committed remaining')).toMatchObject({
      committed: 1,
      remaining: 0,
    });
    expect(stored(server)).toEqual(['later']);
    await server.stop();
  }, 30_000);

  it('F82: and a commit of another program between what it read and what it writes do not meet', async () => {
    const server = await start([S('s')]);
    const other = await startWriter(server.storePath);
    const pairs = Array.from({ length: 40 }, (_, index) => index);
    const [ours] = await Promise.all([
      Promise.all(pairs.map((index) => say(server, `ours ${index}`))),
      Promise.all(pairs.map((index) => other.exec("UPDATE sessions SET title = ? WHERE id = 's'", [`theirs ${index}`]))),
    ]);
    expect(new Set(ours.map(({ status }) => status))).toEqual(new Set(['COMMITTED']));
    expect(stored(server)).toEqual(pairs.map((index) => `ours ${index}`));
    await other.close();
    await server.stop();
  }, 30_000);

  it('F77: and an edit keep every digit of a row id', async () => {
    const id = '9007199254740993';
    const server = await startInProcess({
      schema: 31,
      rows: [S('s'), M('s', { content: 'hi' })],
      extra: (db) => db.prepare('UPDATE messages SET id = ?').run(BigInt(id)),
      settings: { allowWrites: true },
    });
    const { message } = await server.read<{ message: { rowVersion: string } }, unknown>(`{ message(rowId: "${id}") { rowVersion } }`);
    const edit = { rowId: id, rowVersion: message.rowVersion, content: 'ho' };
    expect(await mutating(server, 'editUserMessage', edit, 'message { rowId text }')).toMatchObject({ message: { rowId: id, text: 'ho' } });
    expect(await say(server, 'next')).toMatchObject({ message: { rowId: '9007199254740994' } });
    await server.stop();
  });
});

describe('a server that is killed', () => {
  it('F39, F40: has not lost what it said was written or waits in a file', async () => {
    const server = await startTestServer({ schema: 31, rows: [S('s')], settings: { allowWrites: true, writePatience: '1' } });
    expect(await say(server, 'written')).toMatchObject({ status: 'COMMITTED' });
    const other = await startWriter(server.storePath);
    await other.exec('BEGIN IMMEDIATE');
    for (const content of ['w1', 'w2', 'w3']) expect(await say(server, content)).toMatchObject({ status: 'QUEUED' });
    await server.stop('SIGKILL');
    await other.exec('COMMIT');
    await other.close();
    const next = await startInProcess({ home: server.home, settings: { allowWrites: true } });
    expect(await say(next, 'after')).toMatchObject({ status: 'COMMITTED' });
    expect(stored(next)).toEqual(['written', 'w1', 'w2', 'w3', 'after']);
    await next.stop();
  }, 60_000);
});
