/** The rows of a session as the Web UI reads them, whole or from a time on (`spec/webui-transcript.md` C4-C6, C10). */
import { readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadGolden } from '../support/golden.ts';
import { startInProcess, type TestServer } from '../support/server.ts';
import { type Fields, find, of, rounds } from '../support/session-fields.ts';
import { M, type Row, S } from '../support/stores.ts';
import { startUpstreamHome } from '../support/web-ui-server.ts';

const ROWS: readonly Row[] = [
  S('ten', { message_count: 20 }),
  ...rounds('ten', 10),
  S('payload'),
  M('payload', { content: 'hello', timestamp: 10, api_content: 'wire-v1' }),
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
];

let server: TestServer;
beforeAll(async () => {
  server = await startInProcess({ rows: ROWS });
});

const SENTINEL = '\0json:';

/** The answers were taken from a version that showed the stored text of parts; newer ones show the parts (T1). */
function decoded(content: unknown): unknown {
  return typeof content === 'string' && content.startsWith(SENTINEL) ? JSON.parse(content.slice(SENTINEL.length)) : content;
}

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

describe('what can not be answered', () => {
  it('is an error where the rows are damaged, never nothing', async () => {
    const text = 'x'.repeat(700);
    const filled = (id: string, mark: string) => [S(id), ...Array.from({ length: 40 }, () => M(id, { content: `${mark} ${text}` }))];
    const damaged = await startInProcess({ rows: [...filled('whole', ''), ...filled('x', 'DAMAGED-HERE')] });
    damagePage(damaged.storePath, 'DAMAGED-HERE');
    for (const field of [
      'conversationRounds { count }',
      'historyRevision { activeMessageCount }',
      'stateMessages { degraded }',
      'regenerationTail(floor: 0) { count }',
    ]) {
      const { data, errors } = await damaged.query<Fields, object>(
        `{ x: session(sessionId: "x") { sessionId field: ${field} } whole: session(sessionId: "whole") { field: ${field} } }`,
      );
      expect(data).toMatchObject({ x: { sessionId: 'x', field: null }, whole: { field: expect.any(Object) } });
      expect(errors.map(({ path, extensions }) => [path?.join('.'), extensions.code])).toEqual([['x.field', 'CORRUPT']]);
    }
  });

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

/** Fills the page in which a text stands first with what is no row. */
function damagePage(path: string, mark: string): void {
  const bytes = readFileSync(path);
  const pageSize = bytes.readUInt16BE(16);
  const page = Math.floor(bytes.indexOf(mark) / pageSize);
  writeFileSync(path, bytes.fill(0xa5, page * pageSize, (page + 1) * pageSize));
}
