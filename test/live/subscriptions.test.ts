/** Subscriptions over sockets and streams: fresh data in each event, health, and nothing left of clients that went (`field-cases` F78, F80). */
import { renameSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { graphql } from '../generated/gql.ts';
import type { HealthSubscription, LiveSubscription } from '../generated/graphql.ts';
import { type EventStream, eventStream } from '../support/http.ts';
import { openDescriptors, startInProcess, type TestServer } from '../support/server.ts';
import { createSocketClient, RawSocket, subscribe } from '../support/sockets.ts';
import { buildStore, M, S } from '../support/stores.ts';
import { startWriter, type Writer } from '../support/writer.ts';

const LIVE = graphql(`
  subscription Live($sessionIds: [String!], $after: LiveCursor) {
    liveSessions(sessionIds: $sessionIds, after: $after, maxRateHz: 50) {
      cursor
      reset
      changes {
        sessionId
        conversationId
        kinds
        deleted
        previousSessionId
        liveness { state }
        session { title displayTitle messageCount messages(last: 1) { nodes { text } } }
      }
    }
  }
`);
const HEALTH = graphql(`
  subscription Health { storeHealthChanged { health problem sessionCount } }
`);

let server: TestServer;
let writer: Writer;
beforeAll(async () => {
  server = await startInProcess({
    rows: ['a', 'b'].flatMap((id) => [S(id, { title: `Title ${id}` }), M(id, { content: `first of ${id}` })]),
  });
  writer = await startWriter(server.storePath);
});
afterAll(() => writer.close());

const say = (id: string, text: string) =>
  writer.exec(`INSERT INTO messages (session_id, role, content, timestamp) VALUES ('${id}', 'user', '${text}', 950)`);

async function subscribers(of: TestServer = server): Promise<number> {
  return (await of.read<{ server: { subscribers: number } }, unknown>('{ server { subscribers } }')).server.subscribers;
}

async function sseFrame(stream: EventStream): Promise<LiveSubscription['liveSessions'] | undefined> {
  const event = await stream.next();
  return (event?.data as { data?: LiveSubscription } | undefined)?.data?.liveSessions;
}

describe('F80: each event', () => {
  it('shows what is true at its time, over WebSocket', async () => {
    const client = createSocketClient(server);
    const feed = subscribe<LiveSubscription>(client, LIVE, { sessionIds: ['a'] });
    const first = (await feed.next()).liveSessions;
    expect(first.changes[0]).toMatchObject({
      kinds: ['STATE'],
      session: { title: 'Title a', messages: { nodes: [{ text: 'first of a' }] } },
    });
    await say('a', 'second');
    expect((await feed.next()).liveSessions.changes).toMatchObject([
      {
        sessionId: 'a',
        kinds: ['MESSAGES'],
        liveness: { state: 'IDLE' },
        session: { messageCount: 2, messages: { nodes: [{ text: 'second' }] } },
      },
    ]);
    await writer.exec("UPDATE sessions SET title = 'Renamed' WHERE id = 'a'");
    expect((await feed.next()).liveSessions.changes).toMatchObject([
      { kinds: ['UPDATED'], session: { title: 'Renamed', displayTitle: 'Renamed', messages: { nodes: [{ text: 'second' }] } } },
    ]);
    feed.stop();
    await client.dispose();
  });

  it('shows what is true at its time, over SSE', async () => {
    const stream = await eventStream(server, LIVE, { sessionIds: ['b'] });
    expect((await sseFrame(stream))?.changes[0]?.session?.messages?.nodes).toEqual([{ text: 'first of b' }]);
    for (const text of ['second of b', 'third of b']) {
      await say('b', text);
      expect((await sseFrame(stream))?.changes[0]?.session?.messages?.nodes).toEqual([{ text }]);
    }
    stream.leave();
  });

  it('F86: of a stream says that nobody on the way may hold it back, and a quiet one says that it is alive', async () => {
    const aborter = new AbortController();
    const response = await fetch(server.graphql, {
      method: 'POST',
      headers: { ...server.headers, accept: 'text/event-stream' },
      body: JSON.stringify({ query: String(LIVE) }),
      signal: aborter.signal,
    });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    expect(response.headers.get('x-accel-buffering')).toBe('no');
    expect(response.headers.get('cache-control')).toMatch(/no-cache|no-store/);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while ((text.match(/^:/gm) ?? []).length < 3) text += (await reader?.read())?.value ?? '';
    await say('a', 'after a while');
    while (!text.includes('after a while')) text += (await reader?.read())?.value ?? '';
    aborter.abort();
  });

  it('comes back for whoever left with a cursor, whichever way', async () => {
    const socket = createSocketClient(server);
    const first = subscribe<LiveSubscription>(socket, LIVE);
    const { cursor } = (await first.next()).liveSessions;
    first.stop();
    await socket.dispose();
    await say('a', 'while nobody listened');
    const stream = await eventStream(server, LIVE, { after: cursor });
    expect(await sseFrame(stream)).toMatchObject({ reset: false, changes: [{ sessionId: 'a', kinds: ['MESSAGES'] }] });
    stream.leave();
  });
});

describe('a store with more sessions than are kept in memory', () => {
  it('refuses to be followed, and says which setting moves the limit; it can still be read', async () => {
    const large = await startInProcess({ rows: [S('a'), M('a', { content: 'hello' }), S('b')], settings: { largestCatalogue: '1' } });
    const stream = await eventStream(large, LIVE);
    expect((await stream.next())?.data).toMatchObject({
      errors: [
        {
          message: expect.stringContaining('--largest-catalogue'),
          extensions: { code: 'TOO_MANY_SESSIONS', setting: '--largest-catalogue' },
        },
      ],
    });
    stream.leave();
    expect(await large.read('{ sessions { totalCount nodes { sessionId } } }')).toEqual({
      sessions: { totalCount: 1, nodes: [{ sessionId: 'a' }] },
    });
    expect(await subscribers(large)).toBe(0);
    await large.stop();
  });
});

describe('the health of a store', () => {
  it('comes at once, and after each change of it', async () => {
    const own = await startInProcess({ rows: [S('a'), M('a', { content: 'hello' })] });
    const client = createSocketClient(own);
    const health = subscribe<HealthSubscription>(client, HEALTH);
    expect((await health.next()).storeHealthChanged).toEqual({ health: 'OK', problem: null, sessionCount: 1 });
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${own.storePath}${suffix}`, { force: true });
    let seen = (await health.next()).storeHealthChanged;
    while (seen.health === 'REPLACED') seen = (await health.next()).storeHealthChanged;
    expect(seen).toMatchObject({ health: 'NOT_FOUND', problem: expect.stringContaining('no state.db'), sessionCount: null });
    renameSync(buildStore({ rows: [S('x'), S('y')] }), own.storePath);
    seen = (await health.next()).storeHealthChanged;
    while (seen.health !== 'OK') seen = (await health.next()).storeHealthChanged;
    expect(seen).toMatchObject({ health: 'OK', sessionCount: 2 });
    await client.dispose();
    await own.stop();
  }, 10_000);
});

describe('F78: clients that leave while nothing happens', () => {
  /** What this process holds: files (sockets apart: the client's are here, too), timers, and watches of folders. */
  const held = () => ({
    files: openDescriptors(process.pid).filter((path) => !path.startsWith('socket:')).length,
    timers: process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length,
    watches: process.getActiveResourcesInfo().filter((name) => name === 'FSEventWrap').length,
  });

  async function leavesNothing(round: () => Promise<void>, rounds: number): Promise<void> {
    await round();
    await settle();
    const before = held();
    for (let count = 0; count < rounds; count++) await round();
    await settle();
    const after = held();
    expect(await subscribers()).toBe(0);
    expect(after.files).toBeLessThanOrEqual(before.files);
    expect(after.timers).toBeLessThanOrEqual(before.timers + 3);
    expect(after.watches).toBeLessThanOrEqual(before.watches);
  }

  async function settle(): Promise<void> {
    const deadline = performance.now() + 1000;
    while ((await subscribers()) > 0 && performance.now() < deadline) await sleep(10);
    await sleep(50);
  }

  it('over WebSocket, by complete, close and reset, leave nothing of 500 subscriptions', async () => {
    await leavesNothing(async () => {
      const socket = await RawSocket.connect(server);
      for (let id = 0; id < 50; id++) socket.subscribe(String(id), id % 5 === 0 ? HEALTH : LIVE, id % 2 === 0 ? {} : { sessionIds: ['a'] });
      for (let id = 0; id < 50; id++) await socket.next();
      expect(await subscribers()).toBeGreaterThanOrEqual(50);
      for (let id = 0; id < 20; id++) socket.send({ id: String(id), type: 'complete' });
      if (Math.random() < 0.5) socket.socket.terminate();
      else socket.socket.close();
    }, 10);
  }, 20_000);

  it('over SSE leave nothing of 500 subscriptions', async () => {
    await leavesNothing(async () => {
      const streams = await Promise.all(Array.from({ length: 25 }, (_, id) => eventStream(server, id % 5 === 0 ? HEALTH : LIVE)));
      await Promise.all(streams.map((stream) => stream.next()));
      for (const stream of streams) stream.leave();
    }, 20);
  }, 30_000);

  it('before their first frame leave nothing', async () => {
    for (let round = 0; round < 30; round++) {
      const aborter = new AbortController();
      const request = fetch(server.graphql, {
        method: 'POST',
        headers: { ...server.headers, accept: 'text/event-stream' },
        body: JSON.stringify({ query: String(LIVE), variables: { sessionIds: ['a'] } }),
        signal: aborter.signal,
      });
      if (round % 3 > 0) await sleep(round % 3);
      aborter.abort();
      await request.catch(() => {});
    }
    await settle();
    expect(await subscribers()).toBe(0);
  });
});
