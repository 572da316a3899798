/** The rows of a session in figures: rounds, counts, prefixes, revisions (`spec/webui-transcript.md` C7-C9, C25); what lists of them cost. */
import { beforeAll, describe, expect, it } from 'vitest';
import { loadGolden } from '../support/golden.ts';
import { startInProcess, type TestServer } from '../support/server.ts';
import { type Fields, find, of, rounds } from '../support/session-fields.ts';
import { M, type Row, S } from '../support/stores.ts';
import { startUpstreamHome } from '../support/web-ui-server.ts';

const LISTED = Array.from({ length: 30 }, (_, index) => `listed-${index}`);

const ROWS: readonly Row[] = [
  S('ten', { message_count: 20 }),
  ...rounds('ten', 10),
  S('nine', { message_count: 18 }),
  ...rounds('nine', 9),
  M('nine', { content: 'put away', timestamp: 300, active: 0 }),
  M('nine', { role: 'assistant', content: 'too', timestamp: 301, active: 0 }),
  S('odd'),
  M('odd', { content: 'hello', timestamp: 10, active: 2 }),
  S('order'),
  M('order', { content: 'later', timestamp: 20 }),
  M('order', { content: 'earlier', timestamp: 5 }),
  M('order', { content: 'away', timestamp: 16, active: 0 }),
  M('order', { content: 'later', timestamp: 30 }),
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
      const costs = async (operation: string, selection: string) => {
        const query = `query ${operation} { sessions(first: ${first}) { nodes { sessionId ${selection} } } }`;
        const { sessions } = await server.read<{ sessions: { nodes: Fields[] } }, object>(query);
        expect(sessions.nodes).toHaveLength(first);
        return Number((await server.requestLine(operation)).statements);
      };
      const plain = await costs(`Plain${name}${first}`, '');
      return (await costs(`${name}${first}`, fields)) - plain;
    };
    const [one, thirty] = [await listed(1), await listed(30)];
    expect(thirty).toBe(one);
    expect(thirty).toBeLessThanOrEqual(most);
    expect(thirty).toBeGreaterThan(0);
  });
});
