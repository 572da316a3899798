/** Opening the right transcript, whole, in order, each message once (`field-cases` C, D as far as state.db alone is concerned). */
import { beforeAll, describe, expect, it } from 'vitest';
import { graphql } from '../generated/gql.ts';
import type { MessageView, OpenedQuery, PagedQuery } from '../generated/graphql.ts';
import { calls } from '../support/message-rows.ts';
import { startInProcess, type TestServer } from '../support/server.ts';
import { M, type Row, S } from '../support/stores.ts';

const OPENED = graphql(`
  query Opened($profile: String!, $id: String!) {
    session(profile: $profile, sessionId: $id) {
      sessionId
      title
      edgeKind
      endReason
      messageCount
      storedMessageCount
      tip { sessionId }
      children { sessionId edgeKind }
      warnings { code }
      lineage { problems { code sessionIds } }
      messages { totalCount nodes { rowId role text copies session { sessionId } toolCalls { result { text } } } }
      live: messages(view: LIVE) { totalCount }
      audit: messages(view: AUDIT) { totalCount }
      segment: messages(scope: SEGMENT) { nodes { text } }
      transcript { messages { text } }
    }
    sessions(profile: $profile) { totalCount nodes { sessionId displayTitle } }
  }
`);
const PAGED = graphql(`
  query Paged($profile: String!, $id: String!, $before: String, $view: MessageView) {
    session(profile: $profile, sessionId: $id) {
      messages(last: 100, before: $before, view: $view) {
        totalCount
        pageInfo { hasPreviousPage startCursor }
        nodes { rowId state }
      }
    }
  }
`);
const RESOLVED = graphql(`
  query Resolved($profile: String!, $reference: String!, $followTip: Boolean) {
    resolveSession(profile: $profile, reference: $reference, followTip: $followTip) { sessionId }
  }
`);

function texts(session: string, ...messages: string[]): Row[] {
  return messages.map((content, index) => M(session, { content, role: index % 2 === 0 ? 'user' : 'assistant' }));
}

const compressed = { end_reason: 'compression', ended_at: 150 };
const TWICE = { role: 'assistant', content: 'carried along', timestamp: 50 };

const STORES: Readonly<Record<string, { readonly rows: readonly Row[] }>> = {
  f17: {
    rows: [
      S('a', compressed),
      S('b', { ...compressed, parent_session_id: 'a', started_at: 150, ended_at: 200 }),
      S('c', { parent_session_id: 'b', started_at: 200 }),
      ...texts('a', 'a1', 'a2'),
      ...texts('b', 'b1', 'b2'),
      ...texts('c', 'c1'),
    ],
  },
  f18: {
    rows: [
      S('a', { title: 'Alpha', end_reason: 'session_reset', ended_at: 120, session_key: 'k' }),
      S('b', { parent_session_id: 'a', session_key: 'k', started_at: 130 }),
      ...texts('a', 'old'),
      ...texts('b', 'new'),
    ],
  },
  f19: { rows: [S('x', { message_count: 38 })] },
  f21: {
    rows: [
      S('x', { message_count: 58 }),
      ...Array.from({ length: 451 }, (_, index) => M('x', { content: `archived ${index}`, active: 0, compacted: 1 })),
      ...Array.from({ length: 3 }, (_, index) => M('x', { content: `retired ${index}`, active: 0 })),
      ...Array.from({ length: 58 }, (_, index) => M('x', { content: `live ${index}` })),
    ],
  },
  f22: {
    rows: [
      S('x'),
      M('x', { id: 574, content: 'before' }),
      M('x', { id: 575, ...TWICE, active: 0, compacted: 1 }),
      M('x', { id: 600, content: 'between' }),
      M('x', { id: 636, ...TWICE, active: 0, compacted: 1 }),
      M('x', { id: 727, ...TWICE }),
      M('x', { id: 728, content: 'after' }),
    ],
  },
  f23: {
    rows: [
      S('p', { ...compressed, title: 'Trip' }),
      S('c', { parent_session_id: 'p', started_at: 150 }),
      ...texts('p', ...Array.from({ length: 20 }, (_, i) => `p${i}`)),
    ],
  },
  'f23-alone': { rows: [S('p', compressed), ...texts('p', 'kept', 'too')] },
  f24: {
    rows: ['20260801_120000_aa11', '20260801_120000_aa22', '20260801x120000xaa11', 'api', 'api-77', 'CRON_x', '100%'].flatMap((id) => [
      S(id),
      M(id, { content: id }),
    ]),
  },
  f27: { rows: [S('x'), ...texts('x', 'ok', 'step 1', 'ok', 'step 2')] },
  f28: {
    rows: [
      S('x'),
      M('x', { content: 'first', timestamp: 50 }),
      M('x', { role: 'assistant', tool_calls: calls('c1'), timestamp: 40 }),
      M('x', { role: 'tool', tool_call_id: 'c1', content: 'result', timestamp: 40 }),
      M('x', { role: 'assistant', content: 'last', timestamp: 45 }),
    ],
  },
};

let server: TestServer;
beforeAll(async () => {
  server = await startInProcess({ profiles: STORES });
});

type Opened = NonNullable<OpenedQuery['session']> & { readonly list: OpenedQuery['sessions']; readonly texts: string[] };

async function opened(profile: string, id: string): Promise<Opened> {
  const { session, sessions } = await server.read(OPENED, { profile, id });
  if (session == null) throw new Error(`${id} was not found`);
  return { ...session, list: sessions, texts: session.messages?.nodes.map((node) => node.text) ?? [] };
}

describe('an id from before', () => {
  it('F17: is answered with itself, where it goes on, and all segments once each', async () => {
    const a = await opened('f17', 'a');
    expect(a).toMatchObject({ sessionId: 'a', endReason: 'compression', tip: { sessionId: 'c' } });
    expect(a.texts).toEqual(['a1', 'a2', 'b1', 'b2', 'c1']);
    expect(a.transcript?.messages.map(({ text }) => text)).toEqual(a.texts);
    expect(a.segment?.nodes.map(({ text }) => text)).toEqual(['a1', 'a2']);
    expect(a.messages?.nodes.map(({ session }) => session.sessionId)).toEqual(['a', 'a', 'b', 'b', 'c']);
    expect((await opened('f17', 'c')).texts).toEqual(a.texts);
  });

  it('F17: leads a look-up by reference to the tip, unless the caller asks for the session itself', async () => {
    expect(await server.read(RESOLVED, { profile: 'f17', reference: 'a' })).toEqual({ resolveSession: { sessionId: 'c' } });
    expect(await server.read(RESOLVED, { profile: 'f17', reference: 'a', followTip: false })).toEqual({
      resolveSession: { sessionId: 'a' },
    });
  });

  it('F18: does not lead into a new conversation that took over the same place', async () => {
    expect(await server.read(RESOLVED, { profile: 'f18', reference: 'Alpha' })).toEqual({ resolveSession: { sessionId: 'a' } });
    const a = await opened('f18', 'a');
    expect(a).toMatchObject({ tip: { sessionId: 'a' }, children: [{ sessionId: 'b', edgeKind: 'RESET' }], list: { totalCount: 2 } });
    expect(a.texts).toEqual(['old']);
    expect((await opened('f18', 'b')).texts).toEqual(['new']);
  });

  it('F24: may be shortened while it is unique; _ and % stand for themselves; a whole id wins', async () => {
    const resolve = async (reference: string) =>
      (await server.read(RESOLVED, { profile: 'f24', reference })).resolveSession?.sessionId ?? null;
    expect(await resolve('20260801_120000_aa1')).toBe('20260801_120000_aa11');
    expect(await resolve('20260801x')).toBe('20260801x120000xaa11');
    expect(await resolve('api')).toBe('api');
    expect(await resolve('CRON_')).toBe('CRON_x');
    expect(await resolve('%')).toBe(null);
    expect(await resolve('100%')).toBe('100%');
    expect(await resolve('20260801%')).toBe(null);
    expect(await server.error(RESOLVED, { profile: 'f24', reference: '20260801_120000_aa' })).toMatchObject({
      extensions: { code: 'AMBIGUOUS_ID', candidates: ['20260801_120000_aa11', '20260801_120000_aa22'] },
    });
  });
});

describe('a conversation that is not whole', () => {
  it('F19: whose rows are gone is a loss to report, and listed', async () => {
    const x = await opened('f19', 'x');
    expect(x).toMatchObject({ messageCount: 0, storedMessageCount: 38, warnings: [{ code: 'ROWS_MISSING' }], list: { totalCount: 1 } });
    expect(x.texts).toEqual([]);
  });

  it('F23: whose new segment is still empty shows the full one before it, and says so', async () => {
    const c = await opened('f23', 'c');
    expect(c.list).toMatchObject({ totalCount: 1, nodes: [{ sessionId: 'c', displayTitle: 'Trip' }] });
    expect(c.texts).toHaveLength(20);
    expect(c.lineage.problems).toEqual([{ code: 'EMPTY_CONTINUATION', sessionIds: ['c'] }]);
    const alone = await opened('f23-alone', 'p');
    expect(alone).toMatchObject({
      tip: { sessionId: 'p' },
      lineage: { problems: [{ code: 'COMPRESSION_WITHOUT_CHILD', sessionIds: ['p'] }] },
      list: { totalCount: 1 },
    });
    expect(alone.texts).toEqual(['kept', 'too']);
  });
});

describe('what a person reads', () => {
  type Page = NonNullable<NonNullable<PagedQuery['session']>['messages']>;
  async function pageBefore(before: string | null, view: MessageView): Promise<Page | null> {
    return (await server.read(PAGED, { profile: 'f21', id: 'x', before, view })).session?.messages ?? null;
  }

  async function walkBack(view: MessageView): Promise<{ ids: string[]; total: number; states: Set<string> }> {
    const ids: string[] = [];
    const states = new Set<string>();
    let total = 0;
    for (let before: string | null = null, more = true; more; ) {
      const page = await pageBefore(before, view);
      if (page === null) throw new Error('there are no messages');
      ids.unshift(...page.nodes.map((node) => node.rowId ?? ''));
      for (const node of page.nodes) states.add(node.state);
      total = page.totalCount;
      before = page.pageInfo.startCursor ?? null;
      more = page.pageInfo.hasPreviousPage;
    }
    return { ids, total, states };
  }

  it('F21: reaches back over compaction to the first row; the model holds less, an audit more', async () => {
    const display = await walkBack('DISPLAY');
    expect(display).toMatchObject({ total: 509, states: new Set(['ARCHIVED', 'LIVE']) });
    expect(display.ids).toHaveLength(509);
    expect(display.ids[0]).toBe('1');
    expect(await walkBack('LIVE')).toMatchObject({ total: 58, states: new Set(['LIVE']) });
    expect(await walkBack('AUDIT')).toMatchObject({ total: 512, states: new Set(['ARCHIVED', 'REWOUND', 'LIVE']) });
  });

  it('F22: shows a carried message once, in its first place, by its live row', async () => {
    const x = await opened('f22', 'x');
    expect(x.messages?.nodes.map(({ rowId, text, copies }) => [rowId, text, copies])).toEqual([
      ['574', 'before', 1],
      ['727', 'carried along', 3],
      ['600', 'between', 1],
      ['728', 'after', 1],
    ]);
    expect(x).toMatchObject({ messages: { totalCount: 4 }, audit: { totalCount: 6 } });
  });

  it('F27: a message that was said twice is there twice', async () => {
    const x = await opened('f27', 'x');
    expect(x.texts).toEqual(['ok', 'step 1', 'ok', 'step 2']);
    expect(x.transcript?.messages).toHaveLength(4);
  });

  it('F28: is in the stored order, whatever the clocks said, a result after its call', async () => {
    const x = await opened('f28', 'x');
    expect(x.texts).toEqual(['first', '', 'result', 'last']);
    expect(x.messages?.nodes[1]?.toolCalls).toEqual([{ result: { text: 'result' } }]);
    expect(x.transcript?.messages.map(({ text }) => text)).toEqual(x.texts);
  });
});
