/** What the log says of a request, and what a client hears of an error: the cause stands in the log under the id that the client got. */
import { GraphQLError, GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InvalidInput } from '../../src/errors.ts';
import { eventStream, http } from '../support/http.ts';
import { serveSchema } from '../support/own-schema.ts';
import { type AnswerError, eventually, startInProcess, type TestServer } from '../support/server.ts';
import { RawSocket } from '../support/sockets.ts';
import { M, S } from '../support/stores.ts';

const CAUSE = 'cannot read /home/ada/.hermes/secret-place';

/** A server whose resolvers fail in every way that there is. */
const broken = new GraphQLSchema({
  query: new GraphQLObjectType({
    name: 'Query',
    fields: {
      fine: { type: GraphQLString, resolve: () => 'fine' },
      throws: {
        type: GraphQLString,
        resolve: () => {
          throw new Error(CAUSE);
        },
      },
      rejects: { type: GraphQLString, resolve: () => Promise.reject(new TypeError(CAUSE)) },
      throwsText: { type: GraphQLString, resolve: () => Promise.reject(CAUSE) },
      typed: { type: GraphQLString, resolve: () => Promise.reject(new InvalidInput('That is too much.', { largest: 3 }, 'TOO_MUCH')) },
      graphql: {
        type: GraphQLString,
        resolve: () => Promise.reject(new GraphQLError('Said on purpose.', { extensions: { code: 'ON_PURPOSE' } })),
      },
    },
  }),
  subscription: new GraphQLObjectType({
    name: 'Subscription',
    fields: {
      failsAtStart: { type: GraphQLString, subscribe: () => Promise.reject(new Error(CAUSE)) },
      failsInAnEvent: {
        type: GraphQLString,
        subscribe: async function* () {
          yield 'first';
          yield 'second';
        },
        resolve: (event: unknown) => {
          if (event === 'second') throw new Error(CAUSE);
          return 'fine';
        },
      },
      failsInTheSource: {
        type: GraphQLString,
        subscribe: async function* () {
          yield 'first';
          throw new Error(CAUSE);
        },
        resolve: () => 'fine',
      },
    },
  }),
});

let server: TestServer;
beforeAll(async () => {
  server = await serveSchema(broken);
});
afterAll(() => server.stop());

/** Sends the document over each transport and gives the first error that each client heard. */
const transports: Readonly<Record<string, (query: string, skip?: number) => Promise<AnswerError | undefined>>> = {
  'HTTP POST': async (query) => (await server.query(query)).errors[0],
  'HTTP GET': async (query) => {
    const { text } = await http(server, { path: `/graphql?query=${encodeURIComponent(query)}`, headers: { 'x-caduceus': '1' } });
    return (JSON.parse(text) as { errors?: AnswerError[] }).errors?.[0];
  },
  'a batch': async (query) => {
    const { text } = await http(server, { method: 'POST', path: '/graphql', headers: server.headers, body: JSON.stringify([{ query }]) });
    return (JSON.parse(text) as { errors?: AnswerError[] }[])[0]?.errors?.[0];
  },
  SSE: async (query, skip = 0) => {
    const stream = await eventStream(server, query);
    for (let events = 0; events < skip; events++) await stream.next();
    const event = await stream.next();
    stream.leave();
    return (event?.data as { errors?: AnswerError[] } | undefined)?.errors?.[0];
  },
  WebSocket: async (query, skip = 0) => {
    const socket = await RawSocket.connect(server, {});
    socket.subscribe('1', query);
    for (let events = 0; events < skip; events++) await socket.next();
    const { payload } = (await socket.next()) as { payload: AnswerError[] | { errors?: AnswerError[] } };
    socket.socket.close();
    return Array.isArray(payload) ? payload[0] : payload.errors?.[0];
  },
};

function expectMasked(error: AnswerError | undefined, of: TestServer = server): void {
  const errorId = String(error?.extensions.errorId);
  expect(error).toMatchObject({ message: expect.stringContaining(errorId), extensions: { code: 'INTERNAL' } });
  expect(JSON.stringify(error)).not.toContain('secret-place');
  expect(Object.keys(error?.extensions ?? {}).sort()).toEqual(['code', 'errorId']);
  const [line, second] = of.logs().filter((each) => each.errorId === errorId);
  expect(second).toBeUndefined();
  expect(JSON.stringify(line)).toContain(CAUSE);
}

describe.each(Object.entries(transports))('F84: over %s', (name, ask) => {
  it.each(['throws', 'rejects', 'throwsText'])(
    'what was not foreseen is masked, and logged with its cause under the same id: %s',
    async (field) => {
      expectMasked(await ask(`{ fine ${field} }`));
    },
  );

  it('what was said on purpose is heard as it was said', async () => {
    expect(await ask('{ typed }')).toMatchObject({
      message: 'That is too much.',
      extensions: { code: 'TOO_MUCH', largest: 3 },
      path: ['typed'],
    });
    expect(await ask('{ graphql }')).toMatchObject({ message: 'Said on purpose.', extensions: { code: 'ON_PURPOSE' } });
    expect(await ask('{ nope }')).toMatchObject({ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } });
    expect(await ask('{')).toMatchObject({ extensions: { code: 'GRAPHQL_PARSE_FAILED' } });
  });

  if (name === 'SSE' || name === 'WebSocket') {
    it('a subscription is masked at its start, in an event, and when its source fails', async () => {
      expectMasked(await ask('subscription { failsAtStart }'));
      expectMasked(await ask('subscription { failsInAnEvent }', 1));
      expectMasked(await ask('subscription { failsInTheSource }', 1));
    });
  }
});

describe('F84: what fails outside of any resolver', () => {
  it('is masked, too: over HTTP as status 500, over WebSocket as close code 4500', async () => {
    const worse = await serveSchema(broken, () => {
      throw new Error(CAUSE);
    });
    const answer = await worse.query('{ fine }');
    expect(answer.status).toBe(500);
    expectMasked(answer.errors[0], worse);
    const socket = await RawSocket.connect(worse, {});
    socket.subscribe('1', '{ fine }');
    const { code, reason } = await socket.closed();
    expect([code, reason]).toEqual([4500, expect.stringMatching(/logged under [\w-]{36}/)]);
    expect(reason).not.toContain('secret-place');
    await worse.stop();
  });
});

describe('a line of the log', () => {
  it('holds name, type, transport, duration, statements and rows, and nothing that anybody said', async () => {
    const real = await startInProcess({ rows: [S('a', { title: 'Secret title' }), M('a', { content: 'secret message' })] });
    const query = 'query Named($id: String!) { session(sessionId: $id) { title messages { nodes { text } } } }';
    await real.query(query, { id: 'a' });
    await http(real, {
      path: `/graphql?query=${encodeURIComponent('query ByGet { server { version } }')}`,
      headers: { authorization: `Bearer ${real.token}` },
    });
    const stream = await eventStream(real, 'subscription ByStream { liveSessions { cursor } }');
    await stream.next();
    stream.leave();
    const socket = await RawSocket.connect(real);
    socket.subscribe('1', 'query BySocket { searchMessages(query: "secret") { nodes { snippet } } }');
    await socket.next();
    socket.socket.close();
    const line = (name: string) => eventually(() => real.logs().find((each) => each.operationName === name));
    expect(await line('Named')).toEqual({
      level: 30,
      time: expect.any(Number),
      msg: 'request',
      transport: 'http',
      operationName: 'Named',
      operationType: 'query',
      durationMs: expect.any(Number),
      statements: expect.any(Number),
      rows: expect.any(Number),
      ok: true,
    });
    expect(Number((await line('Named')).statements)).toBeGreaterThan(0);
    expect(await line('ByGet')).toMatchObject({ transport: 'http', statements: 0 });
    expect(await line('ByStream')).toMatchObject({ transport: 'sse', operationType: 'subscription' });
    expect(await line('BySocket')).toMatchObject({ transport: 'ws', operationType: 'query' });
    const text = JSON.stringify(real.logs());
    for (const secret of ['ecret title', 'secret message', 'secret"', real.token, 'Bearer']) expect(text).not.toContain(secret);
    await real.stop();
  });

  it('takes no name from a client that is none', async () => {
    const names = ['x'.repeat(200), 'a b', 'secret text', '"', '\n'];
    for (const operationName of names) {
      const body = JSON.stringify({ query: `query Q { fine }`, operationName });
      await http(server, { method: 'POST', path: '/graphql', headers: server.headers, body });
    }
    expect(server.logs().filter((line) => names.includes(String(line.operationName)))).toEqual([]);
  });

  it('is written for an operation that failed, and says so', async () => {
    await server.query('query Failing { throws }');
    expect(await server.requestLine('Failing')).toMatchObject({ ok: false });
  });

  it('F61: is one for each failure, and not one for each look at a store that stays broken', async () => {
    const real = await startInProcess({ home: '/nowhere/at/all' });
    const sockets = await Promise.all(Array.from({ length: 20 }, () => RawSocket.connect(real)));
    for (const socket of sockets) {
      socket.subscribe('1', 'subscription Health { storeHealthChanged { health } }');
      expect(await socket.next()).toMatchObject({ payload: { data: { storeHealthChanged: { health: 'NOT_FOUND' } } } });
    }
    const before = real.logs().length;
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(real.logs().length - before).toBeLessThanOrEqual(1);
    for (const socket of sockets) socket.socket.close();
    await real.stop();
  });
});
