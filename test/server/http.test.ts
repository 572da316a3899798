/** The HTTP server: its paths and methods, its pages, and that no request ends it. */
import { connect } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { EXAMPLES } from '../../src/server/examples.ts';
import { GRAPHIQL_POLICY, SIGN_IN_POLICY } from '../../src/server/pages.ts';
import { http } from '../support/http.ts';
import { startInProcess, type TestServer } from '../support/server.ts';
import { upgradeStatus } from '../support/sockets.ts';
import { M, S } from '../support/stores.ts';

const QUERY = '{ sessions { nodes { sessionId title } } }';

let server: TestServer;
beforeAll(async () => {
  server = await startInProcess({
    rows: [S('private-session', { title: 'Private title' }), M('private-session', { content: 'private text' })],
  });
});

async function cookie(): Promise<string> {
  const answer = await http(server, { method: 'POST', path: '/sign-in', headers: server.headers, body: '{}' });
  return answer.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
}

describe('GraphQL over HTTP', () => {
  it('is answered by POST and by GET alike', async () => {
    const expected = { data: { sessions: { nodes: [{ sessionId: 'private-session', title: 'Private title' }] } } };
    const post = await http(server, { method: 'POST', path: '/graphql', headers: server.headers, body: JSON.stringify({ query: QUERY }) });
    expect([post.status, JSON.parse(post.text)]).toEqual([200, expected]);
    const get = await http(server, {
      path: `/graphql?query=${encodeURIComponent(QUERY)}`,
      headers: { authorization: `Bearer ${server.token}` },
    });
    expect([get.status, JSON.parse(get.text)]).toEqual([200, expected]);
    const variables = encodeURIComponent('{"id":"private-session"}');
    const document = encodeURIComponent(
      'query A { server { version } } # really?\nquery B($id: String!) { session(sessionId: $id) { title } }',
    );
    const chosen = await http(server, {
      path: `/graphql?query=${document}&operationName=B&variables=${variables}`,
      headers: { authorization: `Bearer ${server.token}` },
    });
    expect(JSON.parse(chosen.text)).toEqual({ data: { session: { title: 'Private title' } } });
    for (const { headers } of [post, get]) {
      expect(headers['content-type']).toContain('application/json');
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['referrer-policy']).toBe('no-referrer');
    }
  });

  it('is not kept by a cache, whichever way it was asked for', async () => {
    const post = await http(server, { method: 'POST', path: '/graphql', headers: server.headers, body: JSON.stringify({ query: QUERY }) });
    const get = await http(server, { path: `/graphql?query=${encodeURIComponent(QUERY)}`, headers: server.headers });
    expect([post.headers['cache-control'], get.headers['cache-control']]).toEqual(['no-store', 'no-store']);
  });

  it('answers a request error with 400 to who takes application/graphql-response+json, with 200 to others', async () => {
    const ask = (accept: string, query: string) =>
      http(server, { method: 'POST', path: '/graphql', headers: { ...server.headers, accept }, body: JSON.stringify({ query }) });
    for (const query of ['{ nope }', '{']) {
      expect((await ask('application/graphql-response+json', query)).status).toBe(400);
      expect((await ask('application/json', query)).status).toBe(200);
    }
    const partial = await ask('application/graphql-response+json', '{ server { version } sessions(first: 0) { totalCount } }');
    expect([partial.status, partial.code]).toEqual([200, 'BAD_USER_INPUT']);
  });

  it('gives the same codes by GET and by POST', async () => {
    const bad = ['{ nope }', '{', '{ sessions(first: 0) { totalCount } }', 'query ($n: Int!) { sessions(first: $n) { totalCount } }'];
    for (const query of bad) {
      const post = await http(server, { method: 'POST', path: '/graphql', headers: server.headers, body: JSON.stringify({ query }) });
      const get = await http(server, {
        path: `/graphql?query=${encodeURIComponent(query)}`,
        headers: { authorization: `Bearer ${server.token}` },
      });
      expect([query, get.code]).toEqual([query, post.code]);
    }
  });

  it.each([
    '',
    '[]',
    'null',
    '"text"',
    '{',
    '{"query": 5}',
    '{"query": "{ __typename }", "variables": []}',
    '{"query":"{__typename}","operationName":7}',
  ])('refuses a body that is no request: %j', async (body) => {
    const answer = await http(server, { method: 'POST', path: '/graphql', headers: server.headers, body });
    expect(answer.status).toBe(body === '[]' ? 413 : 400);
    expect(answer.code).toBe(body === '[]' ? 'BATCH_TOO_LARGE' : 'BAD_REQUEST');
  });

  it('says what is missing of a subscription, a mutation or an operation', async () => {
    const ask = async (query: string, operationName?: string) =>
      (await http(server, { method: 'POST', path: '/graphql', headers: server.headers, body: JSON.stringify({ query, operationName }) }))
        .code;
    expect(await ask('subscription { liveSessions { cursor } }')).toBe('SUBSCRIPTION_NEEDS_STREAM');
    expect(await ask('mutation { nope }')).toBe('GRAPHQL_VALIDATION_FAILED');
    expect(await ask('query A { __typename } query B { __typename }')).toBe('OPERATION_NOT_FOUND');
    expect(await ask('query A { __typename }', 'C')).toBe('OPERATION_NOT_FOUND');
  });

  it.each(['PUT', 'DELETE', 'PATCH', 'HEAD', 'TRACE'])('takes no %s', async (method) => {
    const answer = await http(server, { method, path: '/graphql', headers: server.headers });
    expect([answer.status, answer.headers.allow]).toEqual([405, 'GET, POST, OPTIONS']);
  });
});

describe('the pages', () => {
  it('show who is not signed in nothing but how to sign in', async () => {
    for (const path of ['/', '/?query=x', '/?token=test-token-0123456789']) {
      const page = await http(server, { path });
      expect(page.status).toBe(200);
      expect(page.headers['content-security-policy']).toBe(SIGN_IN_POLICY);
      expect(page.headers['cache-control']).toBe('no-store');
      for (const word of ['rivate-session', 'Private title', 'private text', server.token, server.home, 'GraphiQL.create', 'monaco']) {
        expect(page.text).not.toContain(word);
      }
      expect(page.text).not.toMatch(/(?:src|href)="(?!data:)/);
    }
    const { size } = new Blob([(await http(server, {})).text]);
    expect(size).toBeLessThan(10_000);
  });

  it('F85: show GraphiQL to who is signed in, without the token in it, and with nothing from elsewhere', async () => {
    const response = await fetch(server.url, { headers: { cookie: await cookie(), 'accept-encoding': 'gzip' } });
    expect(response.headers.get('content-security-policy')).toBe(GRAPHIQL_POLICY);
    expect(response.headers.get('cache-control')).toBe('no-store');
    const text = await response.text();
    expect(text).toContain(EXAMPLES[0]?.split('\n')[0]);
    expect(text).not.toContain(server.token);
    expect(text).not.toContain(await cookie());
    expect(text).not.toMatch(/<(?:script|link|img|iframe)[^>]+(?:src|href)=["']?https?:/);
    for (const policy of [GRAPHIQL_POLICY, SIGN_IN_POLICY]) {
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/https?:|\*/);
    }
  });

  it('send GraphiQL to who takes no compression, too', async () => {
    const answer = await http(server, { headers: { cookie: await cookie(), 'accept-encoding': 'identity' } });
    expect(answer.status).toBe(200);
    if (answer.headers['content-encoding'] === 'gzip') expect(() => gunzipSync(answer.text)).toThrow();
    expect(answer.headers['content-encoding']).toBe('gzip');
  });

  it('sign in with a cookie that no script, no other site and no other server gets', async () => {
    const answer = await http(server, { method: 'POST', path: '/sign-in', headers: server.headers, body: '{}' });
    expect([answer.status, answer.text]).toEqual([204, '']);
    const [set] = answer.headers['set-cookie'] ?? [];
    expect(set).toMatch(/^caduceus_[0-9a-f]{12}=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
    expect(set).not.toContain(server.token);
    expect((await http(server, { path: '/sign-in', headers: server.headers })).status).toBe(404);
  });

  it('say of their health one word, and nothing more', async () => {
    const answer = await http(server, { path: '/health' });
    expect([answer.status, answer.text, answer.headers['content-type']]).toEqual([200, 'ok\n', 'text/plain']);
  });

  it.each(['/nope', '/graphql/', '/.git/config', '/state.db', '/../../etc/passwd', '/graphiql', '/%2e%2e/x'])(
    'are not at %s',
    async (path) => {
      const answer = await http(server, { path, headers: { authorization: `Bearer ${server.token}` } });
      expect([answer.status, answer.code]).toEqual([404, 'NOT_FOUND']);
    },
  );
});

describe('no request ends the server', () => {
  /** Sends bytes as they are, and may reset the connection at once. */
  async function raw(text: string, reset = false): Promise<string> {
    const { port } = new URL(server.url);
    return new Promise((resolve) => {
      const socket = connect(Number(port), '127.0.0.1', () => {
        socket.write(text, () => {
          if (reset) socket.resetAndDestroy();
        });
      });
      let answer = '';
      socket.on('data', (part) => {
        answer += String(part);
      });
      socket.on('error', () => {});
      socket.on('close', () => resolve(answer));
      setTimeout(() => socket.destroy(), 500).unref();
    });
  }
  const upgrade = (target: string, host = '127.0.0.1') =>
    `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n`;
  const alive = async () => expect((await http(server, { path: '/health' })).status).toBe(200);

  it.each(['//', 'http://', '/graphql?query=%', '//graphql', '*', '/\\'])('an upgrade of %j', async (target) => {
    await raw(upgrade(target));
    await alive();
  });

  it.each(['//', '/graphql?query=%E0%A4%A', '/graphql?query=%', 'http://[', '/graphql?variables=%7B'])(
    'a request of %j',
    async (target) => {
      const headers = `Host: 127.0.0.1\r\nAuthorization: Bearer ${server.token}\r\nConnection: close`;
      const answer = await raw(`GET ${target} HTTP/1.1\r\n${headers}\r\n\r\n`);
      expect(answer).toMatch(/^HTTP\/1\.1 (?:200|4\d\d) /);
      expect(answer).not.toContain('INTERNAL');
      await alive();
    },
  );

  it('an upgrade that is refused and reset at the same moment', async () => {
    for (let round = 0; round < 20; round++) {
      await raw(upgrade('/graphql', 'attacker.test'), true);
      await raw(upgrade('/nope'), true);
    }
    await alive();
    expect(await upgradeStatus(server, {})).toBe(101);
  });

  it('bytes that are no HTTP, and a body that never comes', async () => {
    await raw('\u0016\u0003\u0001\u0002\u0000garbage\r\n\r\n');
    await raw(
      `POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${server.token}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
      true,
    );
    await alive();
    expect(server.logs().filter((line) => line.level === 50)).toEqual([]);
  });
});
