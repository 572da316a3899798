/**
 * The command as a stranger's client meets it: HTTP, event streams and sockets against a process of its own, while another one writes
 * (`field-cases` F47, F48).
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { graphql } from '../generated/gql.ts';
import type { ChangesSubscription, TitlesOfAllQuery } from '../generated/graphql.ts';
import { eventStream, eventStreamByGet, http } from '../support/http.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { createSocketClient, type Message, RawSocket, subscribe } from '../support/sockets.ts';
import { M, S } from '../support/stores.ts';
import { noSubscribers } from '../support/subscribers.ts';
import { startWriter, type Writer } from '../support/writer.ts';

const TITLES = graphql(`
  query TitlesOfAll { sessions(orderBy: STARTED) { nodes { sessionId title } } }
`);
const CHANGES = graphql(`
  subscription Changes($ids: [String!], $after: LiveCursor) {
    liveSessions(sessionIds: $ids, after: $after, maxRateHz: 50) { cursor reset changes { sessionId kinds session { title messageCount } } }
  }
`);

let server: TestServer;
let writer: Writer;
beforeAll(async () => {
  server = await startTestServer({ rows: ['x', 'y', 'z'].flatMap((id) => [S(id, { title: id }), M(id, { content: `hello ${id}` })]) });
  writer = await startWriter(server.storePath);
});
afterAll(() => writer.close());

async function rename(id: string, title: string): Promise<void> {
  await writer.exec('UPDATE sessions SET title = ? WHERE id = ?', [title, id]);
}

async function addMessage(id: string): Promise<void> {
  await writer.exec("INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, 'user', 'more', 500)", [id]);
}

const titleOf = ({ sessions }: TitlesOfAllQuery, id: string) => sessions.nodes.find(({ sessionId }) => sessionId === id)?.title;

describe('over HTTP', () => {
  it('a query is answered by POST, by GET and in a batch', async () => {
    await rename('x', 'Over HTTP');
    const expected = { data: await server.read(TITLES) };
    expect(titleOf(expected.data, 'x')).toBe('Over HTTP');
    const query = encodeURIComponent(String(TITLES));
    const get = await fetch(`${server.graphql}?query=${query}`, { headers: { authorization: `Bearer ${server.token}` } });
    expect(await get.json()).toEqual(expected);
    const operations = [{ query: TITLES }, { query: '{ server { writable } }' }, { query: '{ nope }' }];
    const batch = await fetch(server.graphql, { method: 'POST', headers: server.headers, body: JSON.stringify(operations) });
    expect(await batch.json()).toEqual([
      expected,
      { data: { server: { writable: false } } },
      { errors: [expect.objectContaining({ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } })] },
    ]);
  });

  it('an answer holds what another process committed a moment before', async () => {
    for (const title of ['One', 'Two', 'Three']) {
      await rename('y', title);
      expect(titleOf(await server.read(TITLES), 'y')).toBe(title);
    }
  });

  it('a subscription without a stream is refused with what to do', async () => {
    expect(await server.error(CHANGES)).toMatchObject({ message: expect.stringContaining('text/event-stream') });
  });
});

describe('over SSE', () => {
  it.each(['POST', 'GET'] as const)('by %s, an event that another process causes arrives, with a query beside it', async (method) => {
    const stream = await (method === 'POST' ? eventStream(server, CHANGES) : eventStreamByGet(server, CHANGES));
    expect(stream.response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(await stream.next()).toMatchObject({ event: 'next', data: { data: { liveSessions: { reset: false, changes: [] } } } });
    await rename('x', `Over SSE by ${method}`);
    const session = { title: `Over SSE by ${method}` };
    expect(await stream.next()).toMatchObject({
      event: 'next',
      data: { data: { liveSessions: { changes: [{ sessionId: 'x', kinds: ['UPDATED'], session }] } } },
    });
    expect(titleOf(await server.read(TITLES), 'x')).toBe(session.title);
    stream.leave();
    await noSubscribers(server);
  });

  it('a subscription that is refused is one event with its errors, and the end', async () => {
    const stream = await eventStream(server, 'subscription { liveSessions(maxRateHz: 1000) { cursor } }');
    expect(await stream.next()).toMatchObject({ event: 'next', data: { errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] } });
    expect(await stream.next()).toMatchObject({ event: 'complete' });
    expect(await stream.next()).toBeNull();
  });
});

describe('over WebSocket with graphql-ws', () => {
  it('an event that another process causes arrives, with a query on the same socket', async () => {
    const client = createSocketClient(server);
    const feed = subscribe<ChangesSubscription>(client, CHANGES);
    const { cursor } = (await feed.next()).liveSessions;
    await rename('x', 'Over a client');
    expect((await feed.next()).liveSessions.changes).toMatchObject([{ sessionId: 'x', session: { title: 'Over a client' } }]);
    expect(titleOf(await subscribe<TitlesOfAllQuery>(client, TITLES).next(), 'x')).toBe('Over a client');
    // Whoever comes back with a cursor misses nothing.
    feed.stop();
    await addMessage('x');
    const again = subscribe<ChangesSubscription>(client, CHANGES, { after: cursor });
    expect((await again.next()).liveSessions).toMatchObject({
      reset: false,
      changes: [{ sessionId: 'x', session: { title: 'Over a client', messageCount: 2 } }],
    });
    await client.dispose();
    await noSubscribers(server);
  });
});

describe('over WebSocket by hand', () => {
  it('an event that another process causes arrives, with a query on the same socket', async () => {
    const socket = await RawSocket.connect(server);
    expect(socket.socket.protocol).toBe('graphql-transport-ws');
    socket.subscribe('feed', CHANGES);
    expect(await socket.next()).toMatchObject({ id: 'feed', type: 'next', payload: { data: { liveSessions: { changes: [] } } } });
    socket.subscribe('query', TITLES);
    expect(await socket.next()).toMatchObject({ id: 'query', type: 'next', payload: { data: { sessions: {} } } });
    expect(await socket.next()).toEqual({ id: 'query', type: 'complete' });
    await rename('x', 'By hand');
    expect(await socket.next()).toMatchObject(changeOf('feed', 'x', { title: 'By hand' }));
    socket.send({ id: 'feed', type: 'complete' });
    await noSubscribers(server);
    await rename('x', 'Nobody listens');
    expect(await silent(socket)).toEqual([]);
    socket.socket.close();
  });

  it('F47: two subscriptions of one socket never mix, and completing one leaves the other alone', async () => {
    const socket = await RawSocket.connect(server);
    for (const id of ['x', 'y']) {
      socket.subscribe(`of ${id}`, CHANGES, { ids: [id] });
      expect(await socket.next()).toMatchObject(changeOf(`of ${id}`, id, {}));
    }
    for (let round = 0; round < 5; round++) {
      for (const id of ['x', 'y']) {
        await rename(id, `${id}${round}`);
        expect(await socket.next()).toMatchObject(changeOf(`of ${id}`, id, { title: `${id}${round}` }));
      }
    }
    socket.send({ id: 'of x', type: 'complete' });
    socket.subscribe('of z', CHANGES, { ids: ['z'] });
    expect(await socket.next()).toMatchObject(changeOf('of z', 'z', {}));
    await rename('x', 'completed');
    await rename('z', 'z after');
    expect(await socket.next()).toMatchObject(changeOf('of z', 'z', { title: 'z after' }));
    await rename('y', 'y after');
    expect(await socket.next()).toMatchObject(changeOf('of y', 'y', { title: 'y after' }));
    expect(await silent(socket)).toEqual([]);
    socket.socket.close();
    await noSubscribers(server);
  });

  /** One frame with one change of one session. */
  function changeOf(id: string, sessionId: string, session: object) {
    return { id, type: 'next', payload: { data: { liveSessions: { changes: [{ sessionId, session }] } } } };
  }

  /** What came before the answer to a ping: the socket has said everything it had to say. */
  async function silent(socket: RawSocket): Promise<Message[]> {
    const messages: Message[] = [];
    socket.send({ type: 'ping' });
    for (let message = await socket.next(); message.type !== 'pong'; message = await socket.next()) messages.push(message);
    return messages;
  }
});

describe('all at once', () => {
  it('every client hears of every change, each once and in its order', async () => {
    const [first, second] = await Promise.all([eventStream(server, CHANGES), eventStream(server, CHANGES)]);
    const client = createSocketClient(server);
    const feed = subscribe<ChangesSubscription>(client, CHANGES);
    const socket = await RawSocket.connect(server);
    socket.subscribe('1', CHANGES);
    const sources = [first.next, second.next, feed.next, () => socket.next()];
    await Promise.all(sources.map((next) => next()));
    for (let round = 0; round < 10; round++) {
      await rename('z', `round ${round}`);
      const texts = (await Promise.all(sources.map((next) => next()))).map((frame) => JSON.stringify(frame));
      expect(texts.map((text) => /"title":"([^"]*)"/.exec(text)?.[1])).toEqual(Array(4).fill(`round ${round}`));
    }
    expect(await server.read('{ server { subscribers } }')).toEqual({ server: { subscribers: 4 } });
    first.leave();
    second.leave();
    socket.socket.terminate();
    await client.dispose();
    await noSubscribers(server);
    expect((await http(server, { path: '/health' })).text).toBe('ok\n');
  });
});
