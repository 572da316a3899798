/** Clients that speak the protocol badly or leave in the middle: a close code for each, and nothing of them stays (`field-cases` F87, F71). */
import { beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { startInProcess, type TestServer } from '../support/server.ts';
import { RawSocket } from '../support/sockets.ts';
import { M, S } from '../support/stores.ts';

const FOLLOW = 'subscription { liveSessions { cursor } }';

let server: TestServer;
beforeAll(async () => {
  server = await startInProcess({ rows: [S('a'), M('a', { content: 'hello' })] });
});

async function subscribers(): Promise<number> {
  const { server: facts } = await server.read<{ server: { subscribers: number } }, unknown>('{ server { subscribers } }');
  return facts.subscribers;
}

async function settled(): Promise<number> {
  for (let tries = 0; tries < 50 && (await subscribers()) > 0; tries++) await new Promise((resolve) => setTimeout(resolve, 20));
  return subscribers();
}

describe('F87: a client that', () => {
  it('uses one id twice is closed with 4409, and both are gone', async () => {
    const socket = await RawSocket.connect(server);
    socket.subscribe('1', FOLLOW);
    await socket.next();
    socket.subscribe('1', FOLLOW);
    expect((await socket.closed()).code).toBe(4409);
    expect(await settled()).toBe(0);
  });

  it('never introduces itself is closed with 4408', async () => {
    const socket = new RawSocket(server);
    await socket.opened();
    expect((await socket.closed()).code).toBe(4408);
  }, 10_000);

  it('introduces itself twice is closed with 4429', async () => {
    const socket = await RawSocket.connect(server);
    socket.send({ type: 'connection_init', payload: { token: server.token } });
    expect((await socket.closed()).code).toBe(4429);
  });

  it.each(['', 'graphql-ws', 'mqtt'])('speaks another protocol is closed with 4406: %j', async (protocol) => {
    const socket = new RawSocket(server, { protocol });
    expect([4406, 1006]).toContain((await socket.closed()).code);
  });

  it.each([
    'garbage',
    '{',
    '[]',
    '5',
    'null',
    '{}',
    '{"type":"nope"}',
    '{"type":"subscribe"}',
    '{"id":7,"type":"subscribe","payload":{}}',
    '{"id":"1","type":"subscribe","payload":{"query":5}}',
  ])('says %j is closed with 4400', async (message) => {
    const socket = await RawSocket.connect(server);
    socket.send(message);
    expect((await socket.closed()).code).toBe(4400);
  });

  it('sends a binary frame of bytes, or text that is no UTF-8, is closed and hurts nobody', async () => {
    for (const bytes of [Buffer.from([0, 1, 2, 255]), Buffer.alloc(2000, 0xff)]) {
      const socket = await RawSocket.connect(server);
      socket.socket.send(bytes, { binary: true });
      expect((await socket.closed()).code).toBe(4400);
    }
    expect(await settled()).toBe(0);
  });

  it('sends 50 MB is closed with 1009', async () => {
    const socket = await RawSocket.connect(server);
    socket.send('x'.repeat(50_000_000));
    expect([1009, 1006]).toContain((await socket.closed()).code);
  });

  it('completes what it never started, or again, is not minded', async () => {
    const socket = await RawSocket.connect(server);
    socket.send({ id: 'never', type: 'complete' });
    socket.subscribe('1', FOLLOW);
    await socket.next();
    socket.send({ id: '1', type: 'complete' });
    socket.send({ id: '1', type: 'complete' });
    socket.subscribe('2', '{ server { version } }');
    expect(await socket.next()).toMatchObject({ id: '2', type: 'next' });
    expect(await socket.next()).toMatchObject({ id: '2', type: 'complete' });
    socket.send({ type: 'ping', payload: { a: 1 } });
    expect(await socket.next()).toMatchObject({ type: 'pong' });
    socket.socket.close();
    expect(await settled()).toBe(0);
  });

  it('leaves before the answer is there leaves nothing behind', async () => {
    for (let round = 0; round < 20; round++) {
      const socket = await RawSocket.connect(server);
      socket.subscribe('1', FOLLOW);
      socket.subscribe('2', '{ sessions { totalCount } }');
      if (round % 2 === 0) socket.send({ id: '1', type: 'complete' });
      socket.socket.terminate();
    }
    expect(await settled()).toBe(0);
  });

  it('breaks the protocol has no effect on another that does not', async () => {
    const good = await RawSocket.connect(server);
    good.subscribe('1', FOLLOW);
    expect(await good.next()).toMatchObject({ type: 'next' });
    const bad = await RawSocket.connect(server);
    bad.send('garbage');
    await bad.closed();
    good.subscribe('2', '{ server { version } }');
    expect(await good.next()).toMatchObject({ id: '2', type: 'next' });
    expect(good.socket.readyState).toBe(WebSocket.OPEN);
    good.socket.close();
    expect(await settled()).toBe(0);
    expect(server.logs().filter((line) => Number(line.level) >= 50)).toEqual([]);
  });
});

describe('a socket', () => {
  it('answers errors of a document to its operation, and stays open', async () => {
    const socket = await RawSocket.connect(server);
    for (const [query, code] of [
      ['{', 'GRAPHQL_PARSE_FAILED'],
      ['{ nope }', 'GRAPHQL_VALIDATION_FAILED'],
      ['', 'GRAPHQL_PARSE_FAILED'],
      ['subscription { liveSessions(maxRateHz: 1000) { cursor } }', 'BAD_USER_INPUT'],
      ['subscription { liveSessions(after: "nope") { cursor } }', 'CURSOR_INVALID'],
      ['subscription { liveSessions(profile: "nope") { cursor } }', 'PROFILE_NOT_FOUND'],
    ] as const) {
      socket.subscribe(code + query, query);
      let message = await socket.next();
      while (message.type === 'complete') message = await socket.next();
      const { id, payload } = message as {
        id: string;
        payload: { extensions: { code: string } }[] | { errors: { extensions: { code: string } }[] };
      };
      const errors = Array.isArray(payload) ? payload : payload.errors;
      expect([id, errors[0]?.extensions.code]).toEqual([code + query, code]);
    }
    socket.subscribe('last', '{ server { version } }');
    for (let message = await socket.next(); message.id !== 'last'; ) message = await socket.next();
    socket.socket.close();
    expect(await settled()).toBe(0);
  });

  it('is closed with 1001 when the server ends', async () => {
    const short = await startInProcess({ rows: [S('a')] });
    const socket = await RawSocket.connect(short);
    socket.subscribe('1', FOLLOW);
    await socket.next();
    await short.stop();
    expect((await socket.closed()).code).toBe(1001);
  });
});
