/** One gate for all transports: Host, Origin, token, and requests that a foreign page could forge (`field-cases` F70, F71, F72). */
import { GraphQLInt, GraphQLObjectType, GraphQLSchema } from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { http } from '../support/http.ts';
import { serveSchema } from '../support/own-schema.ts';
import { startInProcess, type TestServer } from '../support/server.ts';
import { RawSocket, upgradeStatus } from '../support/sockets.ts';
import { M, S } from '../support/stores.ts';

const QUERY = JSON.stringify({ query: '{ server { version } }' });

let server: TestServer;
let signed: { authorization: string; 'content-type': string };
beforeAll(async () => {
  server = await startInProcess({
    rows: [S('a'), M('a', { content: 'secret plan' })],
    settings: { allowedHosts: 'caduceus.test, Other.Test', allowedOrigins: 'https://dash.test/,http://localhost:3000' },
  });
  signed = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' };
});

const post = (headers: Record<string, string>, body = QUERY) => http(server, { method: 'POST', path: '/graphql', headers, body });
const port = () => new URL(server.url).port;

describe('F70: the Host', () => {
  it.each(['localhost', '127.0.0.1', '[::1]', 'caduceus.test', 'CADUCEUS.TEST', 'other.test:9999', 'localhost:1'])(
    '%s is served',
    async (host) => {
      expect((await post({ ...signed, host })).status).toBe(200);
      expect((await http(server, { path: '/health', headers: { host } })).status).toBe(200);
    },
  );

  it.each([
    'attacker.test',
    'localhost.attacker.test',
    '127.0.0.1.attacker.test',
    'attacker.test:4000',
    'a b',
    'user@localhost',
    '2130706433',
    '127.0.0.2',
  ])('%j is refused on every path, before anything is read', async (host) => {
    for (const path of ['/', '/graphql', '/health', '/sign-in', '/nope']) {
      const answer = await http(server, { method: 'POST', path, headers: { ...signed, host }, body: QUERY });
      expect([path, answer.status, answer.code]).toEqual([path, 421, 'FOREIGN_HOST']);
      expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    }
    if (host !== 'a b') expect(await upgradeStatus(server, { host })).toBe(421);
  });
});

describe('F70: the Origin', () => {
  it('of the server itself and of an allowed page is served, and only an allowed page gets CORS headers', async () => {
    const own = await post({ ...signed, origin: `http://127.0.0.1:${port()}`, host: `127.0.0.1:${port()}` });
    expect([own.status, own.headers['access-control-allow-origin']]).toEqual([200, undefined]);
    for (const origin of ['https://dash.test', 'http://localhost:3000', 'HTTPS://DASH.TEST']) {
      const allowed = await post({ ...signed, origin });
      expect([allowed.status, allowed.headers['access-control-allow-origin'], allowed.headers.vary]).toEqual([200, origin, 'origin']);
      expect(allowed.headers['access-control-allow-credentials']).toBeUndefined();
      const preflight = await http(server, {
        method: 'OPTIONS',
        path: '/graphql',
        headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization,content-type' },
      });
      expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([204, origin]);
      expect(preflight.headers['access-control-allow-headers']).toContain('authorization');
      expect(preflight.headers['access-control-allow-methods']).not.toContain('DELETE');
    }
  });

  it.each(['http://evil.test', 'null', 'http://localhost:3001', 'https://dash.test.evil.test', 'file://', 'http://127.0.0.1:1', '*'])(
    '%s is refused with and without a token, by request, preflight and socket',
    async (origin) => {
      const refused = [
        await post({ ...signed, origin }),
        await post({ origin, 'content-type': 'application/json' }),
        await http(server, { method: 'OPTIONS', path: '/graphql', headers: { origin, 'access-control-request-method': 'POST' } }),
        await http(server, { path: '/', headers: { origin } }),
      ];
      for (const answer of refused) {
        expect([answer.status, answer.code]).toEqual([403, 'FOREIGN_ORIGIN']);
        expect(answer.headers['access-control-allow-origin']).toBeUndefined();
      }
      expect(await upgradeStatus(server, { origin, authorization: signed.authorization })).toBe(403);
    },
  );
});

describe('F70: what a plain form or link could send', () => {
  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/graphql',
    'text/plain; application/json',
    '',
  ])('is refused as %j, signed in or not', async (type) => {
    const answer = await post({ authorization: signed.authorization, ...(type === '' ? {} : { 'content-type': type }) });
    expect([answer.status, answer.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
  });

  it('a GET needs a header that a page must ask permission for, and a cookie is not one', async () => {
    const path = `/graphql?query=${encodeURIComponent('{ server { version } }')}`;
    const cookie = await cookieOf(server);
    expect(await http(server, { path, headers: { cookie } })).toMatchObject({ status: 403, code: 'CSRF' });
    for (const header of ['x-caduceus', 'x-graphql-yoga-csrf', 'apollo-require-preflight']) {
      expect((await http(server, { path, headers: { cookie, [header]: '1' } })).status).toBe(200);
    }
    expect((await http(server, { path, headers: { authorization: signed.authorization } })).status).toBe(200);
    expect((await http(server, { path, headers: { cookie, 'sec-fetch-site': 'same-origin' } })).status).toBe(200);
    expect((await http(server, { path, headers: { cookie, 'sec-fetch-site': 'cross-site' } })).status).toBe(403);
  });

  it('a GET never changes anything', async () => {
    let changes = 0;
    const change = { type: GraphQLInt, resolve: () => ++changes };
    const query = new GraphQLObjectType({ name: 'Query', fields: { fine: { type: GraphQLInt } } });
    const schema = new GraphQLSchema({ query, mutation: new GraphQLObjectType({ name: 'Mutation', fields: { change } }) });
    const changing = await serveSchema(schema);
    for (const document of ['mutation { change }', 'query A { fine } mutation B { change }']) {
      for (const accept of ['application/json', 'text/event-stream', 'multipart/mixed']) {
        const path = `/graphql?query=${encodeURIComponent(document)}${document.startsWith('query') ? '&operationName=B' : ''}`;
        const answer = await http(changing, { path, headers: { 'x-caduceus': '1', accept } });
        expect([accept, answer.status]).toEqual([accept, 405]);
      }
    }
    expect(changes).toBe(0);
    expect((await changing.query('mutation { change }')).data).toEqual({ change: 1 });
    await changing.stop();
  });
});

describe('F72: without the token', () => {
  it.each([
    ['none', {}],
    ['a wrong one', { authorization: 'Bearer wrong-token-wrong-token' }],
    ['the right one with a letter more', { authorization: 'Bearer test-token-0123456789x' }],
    ['another scheme', { authorization: `Basic ${Buffer.from('user:test-token-0123456789').toString('base64')}` }],
    ['an empty bearer', { authorization: 'Bearer ' }],
    ['a made-up cookie', { cookie: 'caduceus_session=test-token-0123456789' }],
    ['a wrong bearer beside a right cookie', { authorization: 'Bearer wrong-token-wrong-token', cookie: 'RIGHT' }],
  ])('%s: no query, no introspection, no sign-in', async (_, given) => {
    const headers = { ...given, ...('cookie' in given && given.cookie === 'RIGHT' ? { cookie: await cookieOf(server) } : {}) };
    const json = { ...headers, 'content-type': 'application/json' };
    const bodies = [QUERY, JSON.stringify({ query: '{ __schema { types { name } } }' }), '{', '[]', JSON.stringify({ query: 'nope' })];
    for (const body of bodies) {
      const answer = await post(json, body);
      expect([answer.status, answer.code, answer.headers['www-authenticate']]).toEqual([401, 'UNAUTHENTICATED', 'Bearer realm="caduceus"']);
      expect(answer.text).not.toContain(server.token);
    }
    expect((await http(server, { method: 'POST', path: '/sign-in', headers: json, body: '{}' })).status).toBe(401);
    expect((await http(server, { path: '/graphql?query={__typename}', headers: { ...headers, 'x-caduceus': '1' } })).status).toBe(401);
  });

  it('a token in the query string counts for nothing', async () => {
    for (const name of ['token', 'access_token', 'authorization', 'auth']) {
      for (const path of [`/graphql?${name}=${server.token}`, `/graphql?${name}=Bearer%20${server.token}&query={__typename}`]) {
        expect((await http(server, { method: 'POST', path, headers: { 'content-type': 'application/json' }, body: QUERY })).status).toBe(
          401,
        );
        expect((await http(server, { path, headers: { 'x-caduceus': '1' } })).status).toBe(401);
      }
      const page = await http(server, { path: `/?${name}=${server.token}` });
      expect(page.text).toContain('Your sessions are private');
      expect(page.headers['set-cookie']).toBeUndefined();
      const socket = new RawSocket({ graphql: `${server.graphql}?${name}=${server.token}` });
      await socket.opened();
      socket.send({ type: 'connection_init' });
      expect((await socket.closed()).code).toBe(4403);
    }
  });
});

describe('F71: a socket', () => {
  it('is signed in by header, by cookie, or by what it says first', async () => {
    for (const headers of [{ authorization: signed.authorization }, { cookie: await cookieOf(server) }]) {
      const socket = new RawSocket(server, { headers });
      await socket.opened();
      socket.send({ type: 'connection_init' });
      expect((await socket.next()).type).toBe('connection_ack');
      socket.socket.close();
    }
    for (const payload of [{ token: server.token }, { authorization: `Bearer ${server.token}` }, { authorization: server.token }]) {
      (await RawSocket.connect(server, payload)).socket.close();
    }
  });

  it.each([{}, { token: 'wrong-token-wrong-token' }, { token: 7 }, { authorization: ['x'] }, { token: null }])(
    'is closed with 4403 after %j',
    async (payload) => {
      const socket = new RawSocket(server);
      await socket.opened();
      socket.send({ type: 'connection_init', payload });
      expect((await socket.closed()).code).toBe(4403);
    },
  );

  it('is closed with 4401 when it subscribes before it says who it is', async () => {
    const socket = new RawSocket(server, { headers: { authorization: signed.authorization } });
    await socket.opened();
    socket.subscribe('1', '{ server { version } }');
    expect((await socket.closed()).code).toBe(4401);
  });

  it('is opened on the endpoint only', async () => {
    expect(await upgradeStatus(server, {}, '/')).toBe(404);
    expect(await upgradeStatus(server, {}, '/health')).toBe(404);
    expect(await upgradeStatus(server, {})).toBe(101);
  });
});

describe('without authentication', () => {
  it('everything else of the gate still holds', async () => {
    const open = await startInProcess({ rows: [S('a')], settings: { noAuth: true } });
    const headers = { 'content-type': 'application/json' };
    const ask = (more: Record<string, string>) =>
      http(open, { method: 'POST', path: '/graphql', headers: { ...headers, ...more }, body: QUERY });
    expect((await ask({})).status).toBe(200);
    expect((await ask({ host: 'attacker.test' })).status).toBe(421);
    expect((await ask({ origin: 'http://evil.test' })).status).toBe(403);
    expect((await ask({ 'content-type': 'text/plain' })).status).toBe(415);
    expect((await http(open, { path: '/graphql?query={__typename}' })).status).toBe(403);
    await open.stop();
  });
});

/** The cookie that signing in gives. */
async function cookieOf(of: TestServer): Promise<string> {
  const answer = await http(of, { method: 'POST', path: '/sign-in', headers: of.headers, body: '{}' });
  return answer.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
}
