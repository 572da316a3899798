/** The rows of a session as the Web UI reads them, in figures (`spec/webui-transcript.md` C4-C10, C16-C18, C25). */
import { beforeAll, describe, expect, it } from 'vitest';
import { loadGolden } from '../support/golden.ts';
import { startInProcess, type TestServer } from '../support/server.ts';
import { M, type Row, S } from '../support/stores.ts';
import { startUpstreamHome, startWebUi } from '../support/web-ui-server.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The fields of a session that is there. */
async function of(server: TestServer, sessionId: string, fields: string): Promise<Fields> {
  const session = await find(server, sessionId, fields);
  if (session === null) throw new Error(`there is no session ${sessionId}`);
  return session;
}

async function find(server: TestServer, sessionId: string, fields: string): Promise<Fields | null> {
  const { session } = await server.read<{ session: Fields | null }, { id: string }>(
    `query ($id: String!) { session(sessionId: $id) { ${fields} } }`,
    { id: sessionId },
  );
  return session;
}

const SENTINEL = '\0json:';

/** The answers were taken from a version that showed the stored text of parts; newer ones show the parts (T1). */
function decoded(content: unknown): unknown {
  return typeof content === 'string' && content.startsWith(SENTINEL) ? JSON.parse(content.slice(SENTINEL.length)) : content;
}

/** Questions and answers in turn, a second apart. */
function rounds(session: string, count: number, from = 100): Row[] {
  return Array.from({ length: count }, (_, index) => [
    M(session, { content: `question ${index}`, timestamp: from + 2 * index }),
    M(session, { role: 'assistant', content: `answer ${index}`, timestamp: from + 2 * index + 1 }),
  ]).flat();
}

const LISTED = Array.from({ length: 30 }, (_, index) => `listed-${index}`);

const ROWS: readonly Row[] = [
  S('ten', { message_count: 20 }),
  ...rounds('ten', 10),
  S('nine', { message_count: 18 }),
  ...rounds('nine', 9),
  M('nine', { content: 'put away', timestamp: 300, active: 0 }),
  M('nine', { role: 'assistant', content: 'too', timestamp: 301, active: 0 }),
  S('payload'),
  M('payload', { content: 'hello', timestamp: 10, api_content: 'wire-v1' }),
  S('odd'),
  M('odd', { content: 'hello', timestamp: 10, active: 2 }),
  S('order'),
  M('order', { content: 'later', timestamp: 20 }),
  M('order', { content: 'earlier', timestamp: 5 }),
  M('order', { content: 'away', timestamp: 16, active: 0 }),
  M('order', { content: 'later', timestamp: 30 }),
  S('a', { ended_at: 5, end_reason: 'compression', started_at: 1 }),
  M('a', { content: 'a1' }),
  S('b', { parent_session_id: 'a', started_at: 5, ended_at: 9, end_reason: 'cli_close' }),
  M('b', { content: 'b1' }),
  S('c', { parent_session_id: 'b', started_at: 9 }),
  M('c', { content: 'c1' }),
  S('d', { parent_session_id: 'b', started_at: 9, source: 'telegram' }),
  M('d', { content: 'd1' }),
  ...LISTED.flatMap((id) => [S(id, { message_count: 4 }), ...rounds(id, 2)]),
];

let server: TestServer;
beforeAll(async () => {
  server = await startInProcess({ rows: ROWS });
});

describe('rounds (C25)', () => {
  const ROUNDS = 'conversationRounds { count threshold shouldOfferHandoff }';

  it('reach the threshold at ten', async () => {
    expect(await of(server, 'ten', ROUNDS)).toEqual({ conversationRounds: { count: 10, threshold: 10, shouldOfferHandoff: true } });
    expect(await of(server, 'nine', ROUNDS)).toEqual({ conversationRounds: { count: 9, threshold: 10, shouldOfferHandoff: false } });
  });

  it('H22: count rows that were put away only when asked to', async () => {
    expect(await of(server, 'nine', 'conversationRounds(activeOnly: false) { count shouldOfferHandoff }')).toEqual({
      conversationRounds: { count: 10, shouldOfferHandoff: true },
    });
  });

  it('count what came strictly after a time', async () => {
    const found = await of(
      server,
      'ten',
      'at: conversationRounds(since: 110) { count } before: conversationRounds(since: 109.5) { count } end: conversationRounds(since: 1e9) { count }',
    );
    expect(found).toEqual({ at: { count: 4 }, before: { count: 5 }, end: { count: 0 } });
  });
});

describe('counts (C9)', () => {
  it('T29, H10: tell rows with and without those that were put away', async () => {
    expect(await of(server, 'nine', 'messageSummary { messageCount activeCount lastMessageAt }')).toEqual({
      messageSummary: { messageCount: 20, activeCount: 18, lastMessageAt: '1970-01-01T00:05:01.000Z' },
    });
  });

  it('are those of the Web UI itself', async () => {
    const home = await startUpstreamHome(false);
    const cases = loadGolden('webui-home', 'state_db').cases.filter((one) => one.function === 'get_state_db_session_summary');
    let compared = 0;
    for (const { args, result } of cases) {
      const found = await find(home, String(args.sid), 'messageSummary { messageCount lastMessageAt }');
      if (found === null) continue;
      const expected = result as { message_count: number; last_message_at: number };
      const { messageCount, lastMessageAt } = found.messageSummary as { messageCount: number; lastMessageAt: string | null };
      const milliseconds = lastMessageAt === null ? 0 : Date.parse(lastMessageAt);
      expect([args.sid, messageCount]).toEqual([args.sid, expected.message_count]);
      expect(Math.abs(milliseconds - expected.last_message_at * 1000)).toBeLessThan(1);
      if (messageCount > 0) compared += 1;
    }
    expect(compared).toBeGreaterThan(3);
  });
});

describe('the prefix (C8)', () => {
  it('H9, T31: counts live rows, and has keys of all of them by time', async () => {
    const { messagePrefix } = (await of(server, 'order', 'messagePrefix(before: 25) { count nullTimestampCount keys }')) as {
      messagePrefix: { keys: string[] };
    };
    expect(messagePrefix).toMatchObject({ count: 2, nullTimestampCount: 0 });
    expect(messagePrefix.keys).toHaveLength(3);
    const { all } = (await of(server, 'order', 'all: messagePrefix(before: 31) { keys }')) as { all: { keys: string[] } };
    const [earlier, away, later, again] = all.keys;
    expect(messagePrefix.keys).toEqual([earlier, away, later]);
    expect(again).toBe(later);
    expect(JSON.stringify(all.keys)).not.toMatch(/later|earlier|away/);
  });

  it('is bounded by exactly the time that was asked for', async () => {
    expect(await of(server, 'order', 'at: messagePrefix(before: 20) { count } past: messagePrefix(before: 20.000001) { count }')).toEqual({
      at: { count: 1 },
      past: { count: 2 },
    });
  });
});

describe('the revision (C7)', () => {
  const REVISION = 'historyRevision { sessionId activeMessageCount maxActiveMessageId activeRowsDigest }';

  it("T27: is the agent's own", async () => {
    const alone = await startInProcess({ rows: [S('a'), M('a', { content: 'hi', timestamp: 1, api_content: 'wire-v1' })] });
    expect(await of(alone, 'a', REVISION)).toEqual({
      historyRevision: {
        sessionId: 'a',
        activeMessageCount: 1,
        maxActiveMessageId: '1',
        activeRowsDigest: '50101e75ded18d78bc21646a6fcd4cddb8f07901838635dda6eac85d219c1359',
      },
    });
  });

  it('T25: is null where a row is neither live nor put away', async () => {
    expect(await of(server, 'odd', 'historyRevision { activeMessageCount }')).toEqual({ historyRevision: null });
  });

  it('T18: is null in a store that can not tell', async () => {
    const old = await startInProcess({ schema: 6, rows: [S('a'), M('a', { content: 'hi', timestamp: 1 })] });
    expect(await of(old, 'a', `${REVISION} messageSummary { messageCount activeCount } conversationRounds { count }`)).toEqual({
      historyRevision: null,
      messageSummary: { messageCount: 1, activeCount: 1 },
      conversationRounds: { count: 0 },
    });
  });
});

describe('rows as the Web UI reads them (C4, C5, C6)', () => {
  const texts = async (args: string, id = 'order') => {
    const found = await of(server, id, `stateMessages${args} { messages { text } revision { activeMessageCount } truncated }`);
    const { messages, revision, truncated } = found.stateMessages as {
      messages: { text: string }[];
      revision: Fields | null;
      truncated: boolean;
    };
    return { texts: messages.map(({ text }) => text), revision, truncated };
  };

  it('T14: stand in the order in which they were stored, live ones alone, with their revision', async () => {
    expect(await texts('')).toEqual({ texts: ['later', 'earlier', 'later'], revision: { activeMessageCount: 3 }, truncated: false });
  });

  it('T13: are with those that were put away when asked for, and then have no revision (T28)', async () => {
    expect(await texts('(includeInactive: true)')).toMatchObject({ texts: ['later', 'earlier', 'away', 'later'], revision: null });
  });

  it('T16, T28: begin at a time, without a revision', async () => {
    expect(await texts('(since: 20)')).toMatchObject({ texts: ['later', 'later'], revision: null });
    expect(await texts('(since: 20.5)')).toMatchObject({ texts: ['later'] });
  });

  it('T15: are the newest where there is a limit, and a limit below 1 is refused', async () => {
    expect(await texts('(limit: 2)')).toMatchObject({ texts: ['earlier', 'later'], revision: null });
    expect(await texts('(limit: 2, includeInactive: true)')).toMatchObject({ texts: ['away', 'later'] });
    const refused = await server.error('{ session(sessionId: "order") { stateMessages(limit: 0) { truncated } } }', {});
    expect(refused.extensions.code).toBe('BAD_USER_INPUT');
  });

  it('T19: are stitched to what the session goes on from', async () => {
    expect(await texts('(stitch: true)', 'c')).toEqual({ texts: ['a1', 'b1', 'c1'], revision: null, truncated: false });
    expect(await texts('(stitch: true, limit: 2)', 'c')).toMatchObject({ texts: ['b1', 'c1'] });
    expect(await of(server, 'c', 'continuationChain { sessions { sessionId } truncated }')).toEqual({
      continuationChain: { sessions: [{ sessionId: 'a' }, { sessionId: 'b' }, { sessionId: 'c' }], truncated: false },
    });
  });

  it('T20: stop where the source is another', async () => {
    expect(await texts('(stitch: true)', 'd')).toMatchObject({ texts: ['d1'] });
  });

  it('tell that a provider was sent something else, and never what', async () => {
    const fields = 'stateMessages { messages { text content hasProviderPayload } } messages { nodes { text hasProviderPayload } }';
    const found = await of(server, 'payload', fields);
    expect(found).toEqual({
      stateMessages: { messages: [{ text: 'hello', content: 'hello', hasProviderPayload: true }] },
      messages: { nodes: [{ text: 'hello', hasProviderPayload: true }] },
    });
  });

  it('are the same as in the Web UI itself', async () => {
    const home = await startUpstreamHome(false);
    const cases = loadGolden('webui-home', 'state_db').cases.filter((one) => one.function === 'get_state_db_session_messages');
    let compared = 0;
    for (const { args, result } of cases) {
      if (!Object.keys(args).every((name) => name === 'sid')) continue;
      const found = await find(
        home,
        String(args.sid),
        'stateMessages { messages { role content toolName toolCallId hasProviderPayload } }',
      );
      if (found === null) continue;
      const { messages } = found.stateMessages as { messages: Fields[] };
      const expected = (result as Fields[]).map((message) => ({
        role: message.role,
        content: decoded(message.content),
        toolName: message.tool_name ?? null,
        toolCallId: message.tool_call_id ?? null,
        hasProviderPayload: message.api_content !== undefined,
      }));
      expect(messages).toEqual(expected);
      compared += messages.length;
    }
    expect(compared).toBeGreaterThan(20);
  });
});

describe('the tail (C10)', () => {
  it('T32, T33: has the live rows from a time on, and keys of those before as they were stored', async () => {
    const fields = 'count nullTimestampCount prefixKeys messageKeys messages { text }';
    const found = await of(server, 'order', `regenerationTail(floor: 21) { ${fields} } messagePrefix(before: 21) { keys }`);
    const tail = found.regenerationTail as { prefixKeys: string[]; messageKeys: string[] };
    const { keys } = found.messagePrefix as { keys: string[] };
    const [earlier, , later] = keys;
    expect(tail).toMatchObject({ count: 2, nullTimestampCount: 0, messages: [{ text: 'later' }] });
    expect(tail.prefixKeys).toEqual([later, earlier]);
    expect(tail.messageKeys).toEqual([later]);
  });
});

describe('the anchor of a compaction (C18)', () => {
  const ANCHOR = 'compressionAnchor { role timestamp text verified rowId }';
  const TIME = 1_782_000_000.25;
  const anchored = (anchor: unknown) => ({ compression_anchor_message_key: anchor });

  it('is verified where the store has the message, and tells its row', async () => {
    const files = {
      there: anchored({ role: 'user', ts: TIME, text: 'where it began', attachments: 0 }),
      gone: anchored({ role: 'user', ts: TIME + 1, text: 'where it began', attachments: 0 }),
      none: {},
    };
    const rows = Object.keys(files).flatMap((id) => [S(id), M(id, { content: 'where it began', timestamp: TIME })]);
    const webUi = await startWebUi({ rows, files });
    const expected = { role: 'user', timestamp: '2026-06-21T00:00:00.250Z', text: 'where it began', verified: true, rowId: '1' };
    expect(await of(webUi, 'there', ANCHOR)).toEqual({ compressionAnchor: expected });
    expect(await of(webUi, 'gone', ANCHOR)).toMatchObject({ compressionAnchor: { verified: false, rowId: null } });
    expect(await of(webUi, 'none', ANCHOR)).toEqual({ compressionAnchor: null });
  });
});

describe('what can not be answered', () => {
  it('is an error where a transcript is larger than whole ones may be', async () => {
    const small = await startInProcess({ rows: ROWS, settings: { maxTranscriptMessages: '3' } });
    for (const field of ['stateMessages { degraded }', 'regenerationTail(floor: 0) { count }', 'messagePrefix(before: 1e9) { keys }']) {
      const error = await small.error(`{ session(sessionId: "ten") { ${field} } }`, {});
      expect(error.extensions.code).toBe('TRANSCRIPT_TOO_LARGE');
    }
    expect(await of(small, 'ten', 'stateMessages(limit: 3) { messages { text } }')).toMatchObject({
      stateMessages: { messages: [{ text: 'answer 8' }, { text: 'question 9' }, { text: 'answer 9' }] },
    });
  });
});

describe('fields of a list', () => {
  const PARTS = {
    Rounds: ['conversationRounds { count } other: conversationRounds(activeOnly: false) { count }', 2],
    Summaries: ['messageSummary { messageCount activeCount }', 1],
    Prefixes: ['messagePrefix(before: 103) { count keys }', 2],
    Revisions: ['historyRevision { activeMessageCount }', 2],
    Rows: ['stateMessages { messages { text } } newest: stateMessages(limit: 1) { messages { text } }', 3],
    Stitched: ['stateMessages(stitch: true) { messages { text } } continuationChain { sessions { sessionId } }', 4],
    Tails: ['regenerationTail(floor: 102) { messages { text } }', 3],
  } as const;

  it.each(Object.entries(PARTS))('cost the same for thirty sessions as for one: %s', async (name, [fields, most]) => {
    const listed = async (first: number) => {
      const operation = `${name}${first}`;
      const query = (selection: string) => `query ${operation} { sessions(first: ${first}) { nodes { sessionId ${selection} } } }`;
      await server.read(query(''));
      const plain = Number((await server.requestLine(operation)).statements);
      const { sessions } = await server.read<{ sessions: { nodes: Fields[] } }, object>(query(fields));
      expect(sessions.nodes).toHaveLength(first);
      return { nodes: sessions.nodes, statements: await statementsOf(server, operation, plain) };
    };
    const [one, thirty] = [await listed(1), await listed(30)];
    expect(thirty.statements).toBe(one.statements);
    expect(thirty.statements).toBeLessThanOrEqual(most);
    expect(thirty.statements).toBeGreaterThan(0);
  });
});

/** What the last of two requests cost more than the first. */
async function statementsOf(from: TestServer, operation: string, plain: number): Promise<number> {
  const lines = from.logs().filter((line) => line.msg === 'request' && line.operationName === operation);
  expect(lines).toHaveLength(2);
  return Number(lines.at(-1)?.statements) - plain;
}
