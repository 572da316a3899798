/** What a client can get wrong: an unknown thing is null, an argument that can't be used is an error with a code that says so. */
import { beforeAll, describe, expect, it } from 'vitest';
import { encodeNodeId } from '../../resolvers/global-id.ts';
import { startInProcess, type TestServer } from '../support/server.ts';
import { M, S } from '../support/stores.ts';

let server: TestServer;
beforeAll(async () => {
  const rows = ['a', 'b', 'c'].flatMap((id) => [S(id), M(id, { content: `plan ${id}` }), M(id, { content: `more of plan ${id}` })]);
  server = await startInProcess({ rows: [...rows, M('nobody', { content: 'plan', id: 77 })] });
});

describe('what is not there is null', () => {
  it.each([
    ['session(sessionId: "nope") { sessionId }', null],
    ['session(sessionId: "") { sessionId }', null],
    ['resolveSession(reference: "nope") { sessionId }', null],
    ['message(rowId: "4711") { text }', null],
    ['message(rowId: "9223372036854775807") { text }', null],
    ['messagesAround(rowId: "4711") { text }', []],
    ['profile(name: "nope") { name }', null],
    ['node(id: "nope") { id }', null],
    [`node(id: "${encodeNodeId('Session', 'default', 'nope')}") { id }`, null],
    [`node(id: "${encodeNodeId('Session', 'nope', 'a')}") { id }`, null],
    [`node(id: "${encodeNodeId('Profile', 'nope', '')}") { id }`, null],
    [`node(id: "${encodeNodeId('Message', 'default', 'x')}") { id }`, null],
    [`nodes(ids: ["", "${encodeNodeId('Session', 'default', 'a')}"]) { __typename }`, [null, { __typename: 'Session' }]],
    ['delegations(parentSessionId: "nope") { state }', []],
    ['usage(groupBy: [MODEL], filter: { sessionId: "nope" }) { sessions }', []],
  ])('%s', async (selection, expected) => {
    const { data, errors } = await server.query<Record<string, unknown>, unknown>(`{ ${selection} }`);
    expect(errors).toEqual([]);
    expect(Object.values(data ?? {})).toEqual([expected]);
  });

  it('a message whose session is gone can be read by its row id, and its session is an error of its own', async () => {
    expect(await server.read('{ message(rowId: "77") { text } }')).toEqual({ message: { text: 'plan' } });
    expect(await server.error('{ message(rowId: "77") { session { title } } }')).toMatchObject({
      extensions: { code: 'SESSION_ROW_MISSING' },
      path: ['message', 'session'],
    });
  });
});

describe('what can not be used is an error with a code', () => {
  it.each([
    ['sessions(first: 0) { totalCount }', 'BAD_USER_INPUT', /first .* 1 and 200; it was 0/],
    ['sessions(first: -1) { totalCount }', 'BAD_USER_INPUT', /it was -1/],
    ['sessions(first: 201) { totalCount }', 'BAD_USER_INPUT', /between 1 and 200/],
    ['sessions(first: 2147483647) { totalCount }', 'BAD_USER_INPUT', /between 1 and 200|limit/],
    ['sessions(last: 0) { totalCount }', 'BAD_USER_INPUT', /last/],
    ['sessions(first: 1, last: 1) { totalCount }', 'BAD_USER_INPUT', /not both/],
    ['sessions(after: "nope") { totalCount }', 'BAD_CURSOR', /Start again/],
    ['sessions(after: "") { totalCount }', 'BAD_CURSOR', /Start again/],
    ['sessions(profile: "nope") { totalCount }', 'PROFILE_NOT_FOUND', /no profile "nope"/],
    ['sessions(profile: "../../etc") { totalCount }', 'PROFILE_NOT_FOUND', /no profile/],
    ['session(sessionId: "a", profile: "nope") { sessionId }', 'PROFILE_NOT_FOUND', /no profile/],
    ['session(sessionId: "a") { messages(first: 0) { totalCount } }', 'BAD_USER_INPUT', /first/],
    ['session(sessionId: "a") { messages(last: 1000) { totalCount } }', 'BAD_USER_INPUT', /last/],
    ['session(sessionId: "a") { messages(before: "nope") { totalCount nodes { text } } }', 'BAD_CURSOR', /Start again/],
    ['resolveSession(reference: "") { sessionId }', 'BAD_SESSION_ID', /Give a session id/],
    ['resolveSession(reference: "  ") { sessionId }', 'BAD_SESSION_ID', /Give a session id/],
    ['searchMessages(query: "") { route }', 'BAD_USER_INPUT', /something to search/],
    ['searchMessages(query: " \\t") { route }', 'BAD_USER_INPUT', /something to search/],
    [`searchMessages(query: "${'x'.repeat(2049)}") { route }`, 'BAD_USER_INPUT', /2048 characters; this one has 2049/],
    ['searchMessages(query: "plan", first: 0) { route }', 'BAD_USER_INPUT', /first/],
    ['searchMessages(query: "plan", after: "nope") { nodes { snippet } }', 'BAD_CURSOR', /Start again/],
    ['searchMessages(query: "plan") { nodes { context(around: 11) { text } } }', 'BAD_USER_INPUT', /around .* 0 and 10/],
    ['message(rowId: "x") { text }', 'BAD_ROW_ID', /row id/],
    ['message(rowId: "-1") { text }', 'BAD_ROW_ID', /row id/],
    ['message(rowId: "1e3") { text }', 'BAD_ROW_ID', /row id/],
    ['message(rowId: "99999999999999999999") { text }', 'BAD_ROW_ID', /row id/],
    ['messagesAround(rowId: "1", window: -1) { text }', 'BAD_USER_INPUT', /window .* 0 and 100/],
    ['usage(groupBy: []) { sessions }', 'BAD_USER_INPUT', /at least one/],
    [`sessions(filter: { titleContains: "${'x'.repeat(501)}" }) { totalCount }`, 'BAD_USER_INPUT', /500 characters/],
    ['sessions(first: "5") { totalCount }', 'GRAPHQL_VALIDATION_FAILED', /Int/],
    ['sessions(filter: { activeSince: "yesterday" }) { totalCount }', 'GRAPHQL_VALIDATION_FAILED', /DateTime/],
    ['sessions(orderBy: NEWEST) { totalCount }', 'GRAPHQL_VALIDATION_FAILED', /NEWEST/],
    ['nope', 'GRAPHQL_VALIDATION_FAILED', /nope/],
    ['sessions(', 'GRAPHQL_PARSE_FAILED', /Syntax Error/],
  ])('%s', async (selection, code, message) => {
    const { errors } = await server.query(`{ ${selection} }`);
    expect(errors[0]?.extensions.code).toBe(code);
    expect(errors[0]?.message).toMatch(message);
    expect(new Set(errors.map((error) => error.extensions.code))).toEqual(new Set([code]));
  });

  it('more than 200 nodes at once', async () => {
    const ids = Array.from({ length: 201 }, (_, index) => `id${index}`);
    const error = await server.error('query Nodes($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids });
    expect(error).toMatchObject({ extensions: { code: 'BAD_USER_INPUT' } });
  });

  it('F07: a page size that is no whole number', async () => {
    for (const first of [1.5, '5', Number.NaN, 3_000_000_000]) {
      const { errors, data } = await server.query('query Sizes($first: Int) { sessions(first: $first) { nodes { sessionId } } }', {
        first,
      });
      // JSON has no NaN: it arrives as null, which means the default.
      if (Number.isNaN(first)) expect({ errors, data }).toMatchObject({ errors: [], data: { sessions: {} } });
      else expect(errors[0]?.extensions.code).toBe('BAD_USER_INPUT');
    }
  });

  it('F07: a page size above the maximum, whose error names the maximum for programs too', async () => {
    expect(await server.error('{ sessions(first: 201) { totalCount } }')).toMatchObject({
      message: expect.stringContaining('200'),
      extensions: { code: 'BAD_USER_INPUT', argument: 'first', largest: 200 },
    });
  });
});

describe('F73: an id is no path', () => {
  const HOSTILE = [
    '../x',
    '../../../../etc/passwd',
    '/etc/x',
    '..\\x',
    'C:x',
    'x\u0000',
    '*',
    '.',
    '..',
    '',
    'x'.repeat(300),
    'ünïcode-日本',
    'a/b',
    '%2e%2e',
  ];
  const GOOD = ['a1b2c3d4e5f6', '20260801_120000_aa11', 'api-77', 'CRON_x'];
  const EVERYWHERE = `query Everywhere($id: String!) {
    session(sessionId: $id) { sessionId messages { nodes { text } } runs { nodes { runId } } }
    run(sessionId: $id, runId: $id) { runId }
    other: run(sessionId: "api-77", runId: $id) { runId }
    delegations(parentSessionId: $id) { state }
    usage(groupBy: [MODEL], filter: { sessionId: $id }) { sessions }
    searchMessages(query: "plan", filter: { sessionId: $id }) { nodes { snippet } }
  }`;

  it.each(HOSTILE)('%j finds nothing, in every operation that takes one', async (id) => {
    const { data, errors } = await server.query<Record<string, unknown>, unknown>(EVERYWHERE, { id });
    expect(errors).toEqual([]);
    expect(data).toEqual({ session: null, run: null, other: null, delegations: [], usage: [], searchMessages: { nodes: [] } });
    const profiled = await server.query('query ($id: String) { sessions(profile: $id) { totalCount } }', { id });
    expect(profiled.errors[0]?.extensions.code).toBe('PROFILE_NOT_FOUND');
  });

  it('good ones are found everywhere, in the case in which they were given; bad ones that are there can be read', async () => {
    const ids = [...GOOD, ...HOSTILE.filter((id) => id !== 'x\u0000')];
    const there = await startInProcess({ rows: ids.flatMap((id) => [S(id, { message_count: 1 }), M(id, { content: 'plan' })]) });
    for (const id of ids) {
      const { session, searchMessages } = await there.read<
        { session: { sessionId: string }; searchMessages: { nodes: unknown[] } },
        unknown
      >(EVERYWHERE, { id });
      expect([session.sessionId, searchMessages.nodes.length]).toEqual([id, 1]);
    }
    expect(await there.read('{ session(sessionId: "cron_x") { sessionId } }')).toEqual({ session: null });
    await there.stop();
  });
});

describe('a cursor means one list of one store', () => {
  async function cursorOf(selection: string): Promise<string> {
    type Connection = { pageInfo: { endCursor: string } };
    const data = await server.read<Record<string, Connection & { messages?: Connection }>, unknown>(`{ ${selection} }`);
    const [found] = Object.values(data);
    return (found?.messages ?? found)?.pageInfo.endCursor ?? '';
  }
  const END = '{ pageInfo { endCursor } }';

  it('and is refused by one with another order, collapse, view or query', async () => {
    const sessions = await cursorOf(`sessions(first: 1) ${END}`);
    const messages = await cursorOf(`session(sessionId: "a") { messages(first: 1) ${END} }`);
    const search = await cursorOf(`searchMessages(query: "plan", first: 1, orderBy: NEWEST) ${END}`);
    for (const selection of [
      `sessions(after: "${sessions}", orderBy: TITLE) { nodes { id } }`,
      `sessions(after: "${sessions}", collapse: NONE) { nodes { id } }`,
      `sessions(after: "${messages}") { nodes { id } }`,
      `session(sessionId: "a") { messages(after: "${sessions}") { nodes { id } } }`,
      `session(sessionId: "a") { messages(after: "${messages}", view: LIVE) { nodes { id } } }`,
      `session(sessionId: "b") { messages(after: "${messages}") { nodes { id } } }`,
      `searchMessages(query: "plan", after: "${search}", orderBy: OLDEST) { nodes { snippet } }`,
      `searchMessages(query: "plan", after: "${sessions}") { nodes { snippet } }`,
    ]) {
      const { errors } = await server.query(`{ ${selection} }`);
      expect([selection, errors.map((error) => error.extensions.code)]).toEqual([selection, ['BAD_CURSOR']]);
    }
  });

  it('and is refused as stale by another store', async () => {
    const cursor = await cursorOf(`sessions(first: 1) ${END}`);
    const other = await startInProcess({ rows: [S('a'), M('a', { content: 'hello' })] });
    expect(await other.error(`{ sessions(after: "${cursor}") { nodes { id } } }`)).toMatchObject({ extensions: { code: 'STALE_CURSOR' } });
    await other.stop();
  });

  it('and is refused, or is at least no failure of the server, when somebody has written into it', async () => {
    const lists = {
      sessions: (after: string) => `sessions(after: "${after}") ${END}`,
      messages: (after: string) => `session(sessionId: "a") { messages(after: "${after}") { nodes { id } } }`,
      search: (after: string) => `searchMessages(query: "plan", after: "${after}", orderBy: NEWEST) { nodes { snippet } }`,
    };
    const real = {
      sessions: await cursorOf(`sessions(first: 1) ${END}`),
      messages: await cursorOf(`session(sessionId: "a") { messages(first: 1) ${END} }`),
      search: await cursorOf(`searchMessages(query: "plan", first: 1, orderBy: NEWEST) ${END}`),
    };
    const keys = [
      [],
      [{}],
      'x',
      [null],
      [1, 'a', 'b'],
      ['x', 'y'],
      ['9999999999999999999'],
      ['-9999999999999999999', '9999999999999999999'],
    ];
    for (const name of ['sessions', 'messages', 'search'] as const) {
      const body = JSON.parse(Buffer.from(real[name], 'base64url').toString()) as object;
      const forged = keys.map((k) => Buffer.from(JSON.stringify({ ...body, k })).toString('base64url'));
      for (const cursor of [...forged, 'x'.repeat(5000), real[name].slice(0, -3)]) {
        const { errors } = await server.query(`{ ${lists[name](cursor)} }`);
        const shown = `${name}: ${Buffer.from(cursor, 'base64url').toString().slice(0, 200)}`;
        // Numbers past 64 bits lie behind every row: such a page is empty.
        const expected = shown.includes('999999') ? /BAD_CURSOR|none/ : /BAD_CURSOR/;
        expect(errors[0]?.extensions.code ?? 'none', shown).toMatch(expected);
      }
    }
  });
});
