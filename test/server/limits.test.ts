/** What a request may not be: too large, too many, too deep, too expensive; refused with a code, the limit and its setting (`field-cases` F83). */
import { Agent } from 'node:http';
import { getIntrospectionQuery } from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { EXAMPLES } from '../../src/server/examples.ts';
import { eventStream, http } from '../support/http.ts';
import { type AnswerError, type Settings, startInProcess, type TestServer } from '../support/server.ts';
import { RawSocket } from '../support/sockets.ts';
import { M, S } from '../support/stores.ts';

const ROWS = [S('a'), S('b', { parent_session_id: 'a' }), M('a', { content: 'hello' })];

/** The same document over every transport: the errors of each. */
async function everywhere(
  server: TestServer,
  query: string,
  variables: Record<string, unknown> = {},
): Promise<Record<string, AnswerError[]>> {
  const post = await server.query(query, variables);
  const search = new URLSearchParams({ query, variables: JSON.stringify(variables) });
  const get = await http(server, { path: `/graphql?${search}`, headers: { authorization: `Bearer ${server.token}` } });
  const stream = await eventStream(server, query, variables);
  const event = await stream.next();
  stream.leave();
  const socket = await RawSocket.connect(server);
  socket.subscribe('1', query, variables);
  const { payload } = (await socket.next()) as { payload: AnswerError[] | { errors?: AnswerError[] } };
  socket.socket.close();
  return {
    post: [...post.errors],
    get: get.status === 431 ? [] : ((JSON.parse(get.text) as { errors?: AnswerError[] }).errors ?? []),
    sse: (event?.data as { errors?: AnswerError[] } | undefined)?.errors ?? [],
    ws: Array.isArray(payload) ? payload : (payload.errors ?? []),
  };
}

async function refusedEverywhere(server: TestServer, query: string, code: string, limit: number, setting: string): Promise<void> {
  const found = await everywhere(server, query);
  for (const [transport, errors] of Object.entries(found)) {
    // A document that is too long for an address never gets there by GET.
    if (transport === 'get' && errors.length === 0 && query.length > 8000) continue;
    expect([transport, errors[0]?.extensions]).toEqual([transport, expect.objectContaining({ code, limit, setting })]);
    expect(errors[0]?.message).toContain(setting);
    expect(errors[0]?.message).toContain(String(limit));
    expect(JSON.stringify(errors[0]?.extensions)).not.toContain('http');
  }
}

let server: TestServer;
beforeAll(async () => {
  server = await startInProcess({ rows: ROWS });
});

describe('F83: the documents', () => {
  it('of 51 aliases are refused, 50 pass', async () => {
    const aliased = (count: number) => `{ ${Array.from({ length: count }, (_, index) => `a${index}: server { version }`).join(' ')} }`;
    for (const errors of Object.values(await everywhere(server, aliased(50)))) expect(errors).toEqual([]);
    await refusedEverywhere(server, aliased(51), 'TOO_MANY_ALIASES', 50, '--max-aliases');
    const { errors } = await server.query(aliased(1200));
    expect(errors).toHaveLength(1);
  });

  it('that nest deeper than 16 levels are refused, wherever the depth hides', async () => {
    const nested = (depth: number) => `{ session(sessionId: "b") ${'{ parent '.repeat(depth - 2)} { sessionId } ${'}'.repeat(depth - 2)} }`;
    expect((await server.query(nested(16))).errors).toEqual([]);
    await refusedEverywhere(server, nested(17), 'TOO_DEEP', 16, '--max-depth');
    await refusedEverywhere(server, nested(500), 'TOO_DEEP', 16, '--max-depth');
    const fragments = Array.from({ length: 20 }, (_, index) => `fragment F${index} on Session { parent { ...F${index + 1} } }`).join(' ');
    const hidden = `{ session(sessionId: "b") { ...F0 } } ${fragments} fragment F20 on Session { sessionId }`;
    await refusedEverywhere(server, hidden, 'TOO_DEEP', 16, '--max-depth');
  });

  it('that cost too much are refused, also when only a variable makes them so', async () => {
    const costly = '{ sessions(first: 200) { nodes { messages(first: 200) { nodes { text role timestamp } } } } }';
    await refusedEverywhere(server, costly, 'TOO_EXPENSIVE', 100_000, '--max-cost');
    const query = 'query Sizes($n: Int!) { sessions(first: $n) { nodes { messages(first: $n) { nodes { text role timestamp } } } } }';
    for (const [n, refused] of [
      [10, false],
      [200, true],
      [10, false],
    ] as const) {
      for (const errors of Object.values(await everywhere(server, query, { n }))) {
        expect(errors.map((error) => error.extensions.code)).toEqual(refused ? ['TOO_EXPENSIVE'] : []);
      }
    }
  });

  it('of very many tokens are refused before they are understood', async () => {
    const long = `{ ${'server { version } '.repeat(1500)} }`;
    await refusedEverywhere(server, long, 'TOO_MANY_TOKENS', 5000, '--max-tokens');
    const values = `{ nodes(ids: [${'"x" '.repeat(6000)}]) { id } }`;
    await refusedEverywhere(server, values, 'TOO_MANY_TOKENS', 5000, '--max-tokens');
  });

  it('of GraphiQL and of ordinary clients pass', async () => {
    for (const query of [
      getIntrospectionQuery(),
      getIntrospectionQuery({ inputValueDeprecation: true, specifiedByUrl: true, oneOf: true }),
    ]) {
      for (const errors of Object.values(await everywhere(server, query))) expect(errors).toEqual([]);
    }
    for (const example of EXAMPLES.filter((text) => !text.includes('subscription')))
      expect((await server.query(example)).errors).toEqual([]);
  });

  it.each<[Settings, string, string]>([
    [{ maxAliases: '1' }, '{ a: server { version } b: server { version } }', 'TOO_MANY_ALIASES'],
    [{ maxDepth: '2' }, '{ session(sessionId: "a") { parent { sessionId } } }', 'TOO_DEEP'],
    [{ maxCost: '10' }, '{ sessions(first: 20) { nodes { sessionId } } }', 'TOO_EXPENSIVE'],
    [{ maxTokens: '10' }, '{ session(sessionId: "a") { sessionId title model } }', 'TOO_MANY_TOKENS'],
  ])('are held against what the settings say: %j', async (settings, query, code) => {
    const strict = await startInProcess({ rows: ROWS, settings });
    expect((await strict.query(query)).errors[0]?.extensions.code).toBe(code);
    expect((await server.query(query)).errors).toEqual([]);
    await strict.stop();
  });
});

describe('F83: a batch', () => {
  const batch = (size: number) =>
    JSON.stringify(Array.from({ length: size }, (_, index) => ({ query: `query Q${index} { server { version } }` })));
  const ask = (body: string) => http(server, { method: 'POST', path: '/graphql', headers: server.headers, body });

  it('of ten is answered in its order, of eleven it is refused', async () => {
    const ten = await ask(batch(10));
    expect(ten.status).toBe(200);
    expect(JSON.parse(ten.text)).toHaveLength(10);
    const eleven = await ask(batch(11));
    expect([eleven.status, eleven.code]).toEqual([413, 'BATCH_TOO_LARGE']);
    expect(eleven.text).toContain('--max-batch');
    const mixed = await ask(JSON.stringify([{ query: '{ nope }' }, { query: '{ session(sessionId: "a") { sessionId } }' }]));
    expect(JSON.parse(mixed.text)).toMatchObject([{ errors: [{}] }, { data: { session: { sessionId: 'a' } } }]);
  });
});

describe('F83: a body', () => {
  const ask = (body: string | string[], agent: Agent) =>
    http(server, { method: 'POST', path: '/graphql', headers: server.headers, body, agent });
  const padded = (bytes: number) => {
    const query = JSON.stringify({ query: '{ server { version } }', padding: '' });
    return query.replace('"padding":""', `"padding":"${'x'.repeat(bytes - query.length)}"`);
  };

  it('of a MiB passes and one byte more is refused, announced or in chunks; the connection and the server go on', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const small = padded(200);
    const whole = padded(1_048_576);
    expect((await ask(whole, agent)).status).toBe(200);
    expect((await ask([whole.slice(0, 1000), whole.slice(1000)], agent)).status).toBe(200);
    for (const body of [padded(1_048_577), [padded(600_000), padded(600_000)], [...(padded(3_000_000).match(/.{1,60000}/g) ?? [])]]) {
      const refused = await ask(body, agent);
      expect([refused.status, refused.code, refused.headers.connection]).toEqual([413, 'BODY_TOO_LARGE', 'close']);
      expect(refused.text).toContain('--max-body-bytes');
      for (let again = 0; again < 3; again++) expect((await ask(small, agent)).status).toBe(200);
    }
    agent.destroy();
  });

  it('of two MB is refused by its size on a socket, too', async () => {
    const socket = await RawSocket.connect(server);
    socket.subscribe('1', `{ server { version } } #${'x'.repeat(2_000_000)}`);
    expect((await socket.closed()).code).toBe(1009);
  });

  it('that nobody signed gets its answer, however large it is', async () => {
    for (const headers of [
      { 'content-type': 'application/json' },
      { 'content-type': 'text/plain', authorization: `Bearer ${server.token}` },
    ]) {
      const answer = await http(server, { method: 'POST', path: '/graphql', headers, body: padded(900_000) });
      expect(answer.status).toBeGreaterThanOrEqual(401);
    }
  });
});

describe('F79: a socket', () => {
  it('may run so many operations at once and no more; one that ended makes room', async () => {
    const few = await startInProcess({ rows: ROWS, settings: { maxSubscriptions: '3' } });
    const socket = await RawSocket.connect(few);
    const follow = async (id: string) => {
      socket.subscribe(id, 'subscription { liveSessions { cursor } }');
      return socket.next();
    };
    for (const id of ['1', '2', '3']) expect(await follow(id)).toMatchObject({ id, type: 'next' });
    expect(await follow('4')).toMatchObject({
      id: '4',
      type: 'error',
      payload: [{ extensions: { code: 'TOO_MANY_SUBSCRIPTIONS', limit: 3, setting: '--max-subscriptions' } }],
    });
    socket.send({ id: '2', type: 'complete' });
    expect(await follow('5')).toMatchObject({ id: '5', type: 'next' });
    // Those that fail to start count for nothing.
    for (let failed = 0; failed < 10; failed++) {
      socket.subscribe(`f${failed}`, 'subscription { liveSessions(maxRateHz: 0) { cursor } }');
      expect((await socket.next()).id).toBe(`f${failed}`);
    }
    socket.send({ id: '5', type: 'complete' });
    expect(await follow('6')).toMatchObject({ id: '6', type: 'next' });
    socket.socket.close();
    await few.stop();
  });
});
