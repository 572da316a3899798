/** Clients of the command that break the socket's protocol: a close code for each, no effect on others, nothing left (`field-cases` F87). */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type EventStream, eventStream } from '../support/http.ts';
import { openDescriptors, startTestServer, type TestServer } from '../support/server.ts';
import { RawSocket } from '../support/sockets.ts';
import { M, S } from '../support/stores.ts';
import { noSubscribers, subscribers } from '../support/subscribers.ts';
import { startWriter, type Writer } from '../support/writer.ts';

const FOLLOW = 'subscription { liveSessions(maxRateHz: 50) { cursor changes { session { title } } } }';

let server: TestServer;
let writer: Writer;
beforeAll(async () => {
  server = await startTestServer({ rows: [S('a'), M('a', { content: 'hello' })] });
  writer = await startWriter(server.storePath);
});
afterAll(() => writer.close());

describe('F87: beside two clients that follow', () => {
  let socket: RawSocket;
  let stream: EventStream;
  beforeEach(async () => {
    socket = await RawSocket.connect(server);
    socket.subscribe('good', FOLLOW);
    stream = await eventStream(server, FOLLOW);
    await Promise.all([socket.next(), stream.next()]);
  });
  afterEach(async () => {
    // Only the two are counted, and both hear what happens next.
    while ((await subscribers(server)) > 2) await sleep(20);
    const title = `after ${expect.getState().currentTestName}`;
    await writer.exec('UPDATE sessions SET title = ? WHERE id = ?', [title, 'a']);
    const frame = { data: { liveSessions: { changes: [{ session: { title } }] } } };
    expect(await socket.next()).toMatchObject({ id: 'good', payload: frame });
    expect(await stream.next()).toMatchObject({ data: frame });
    socket.socket.close();
    stream.leave();
    await noSubscribers(server);
    expect(server.logs().filter((line) => Number(line.level) >= 50)).toEqual([]);
  });

  it('one that never introduces itself is closed with 4408', async () => {
    const bad = new RawSocket(server);
    await bad.opened();
    expect((await bad.closed()).code).toBe(4408);
  });

  it('one that subscribes before it introduced itself is closed with 4401', async () => {
    const bad = new RawSocket(server);
    await bad.opened();
    bad.subscribe('1', FOLLOW);
    expect((await bad.closed()).code).toBe(4401);
  });

  it('one without the token is closed with 4403', async () => {
    const bad = new RawSocket(server);
    await bad.opened();
    bad.send({ type: 'connection_init', payload: { token: 'not-the-token-at-all' } });
    expect((await bad.closed()).code).toBe(4403);
  });

  it('one that uses an id twice is closed with 4409', async () => {
    const bad = await RawSocket.connect(server);
    bad.subscribe('good', FOLLOW);
    await bad.next();
    bad.subscribe('good', FOLLOW);
    expect((await bad.closed()).code).toBe(4409);
  });

  it('one that speaks another protocol, or none, is refused', async () => {
    for (const protocol of ['graphql-ws', 'mqtt', '']) {
      const bad = new RawSocket(server, { protocol });
      // A client that asked for a protocol and got none leaves by itself, as the standard says: before it hears the code.
      expect((await bad.closed()).code).toBe(protocol === '' ? 4406 : 1006);
    }
  });

  it('one that says what is no message is closed with 4400', async () => {
    for (const garbage of ['garbage', '{"type":"nope"}', '\u0000', '[1]', '{"id":"1","type":"subscribe"}']) {
      const bad = await RawSocket.connect(server);
      bad.subscribe('1', FOLLOW);
      await bad.next();
      bad.send(garbage);
      expect((await bad.closed()).code).toBe(4400);
    }
  });

  it('one whose message is too large is closed with 1009', async () => {
    const bad = await RawSocket.connect(server);
    bad.subscribe('1', FOLLOW);
    await bad.next();
    bad.subscribe('2', `{ server { version } } #${'x'.repeat(2_000_000)}`);
    expect((await bad.closed()).code).toBe(1009);
  });

  it('one that completes an id it never used goes on', async () => {
    const odd = await RawSocket.connect(server);
    odd.send({ id: 'good', type: 'complete' });
    odd.subscribe('1', '{ server { version } }');
    expect(await odd.next()).toMatchObject({ id: '1', type: 'next' });
    expect(await odd.next()).toEqual({ id: '1', type: 'complete' });
    odd.socket.close();
  });

  it('one that resets the connection in the middle of a word is forgotten', async () => {
    const bad = await RawSocket.connect(server);
    bad.subscribe('1', FOLLOW);
    bad.socket.terminate();
    const upgrading = new RawSocket(server);
    upgrading.socket.terminate();
    await upgrading.closed();
  });
});

describe('F78: a process that clients have left', () => {
  it('holds no descriptor more than before, sockets and files', async () => {
    const count = (socket: boolean) => openDescriptors(server.pid).filter((path) => path.startsWith('socket:') === socket).length;
    const round = async () => {
      const socket = await RawSocket.connect(server);
      for (let id = 0; id < 25; id++) socket.subscribe(String(id), FOLLOW);
      for (let id = 0; id < 25; id++) await socket.next();
      const streams = await Promise.all(Array.from({ length: 25 }, () => eventStream(server, FOLLOW, {}, { connection: 'close' })));
      await Promise.all(streams.map((stream) => stream.next()));
      for (const stream of streams) stream.leave();
      socket.socket.terminate();
      await noSubscribers(server);
    };
    await round();
    const before = { sockets: count(true), others: count(false) };
    for (let rounds = 0; rounds < 8; rounds++) await round();
    for (let tries = 0; tries < 50 && count(true) > before.sockets + 5; tries++) await sleep(100);
    expect(count(true)).toBeLessThanOrEqual(before.sockets + 5);
    expect(count(false)).toBeLessThanOrEqual(before.others);
  });
});
