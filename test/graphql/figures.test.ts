/** Titles, previews, counts, costs, times and numbers of a session (`field-cases` B, N). */
import { beforeAll, describe, expect, it } from 'vitest';
import { graphql } from '../generated/gql.ts';
import type { FiguresQuery } from '../generated/graphql.ts';
import { startInProcess, type TestServer } from '../support/server.ts';
import { M, type Row, S, T } from '../support/stores.ts';

const FIGURES = graphql(`
  query Figures($profile: String!) {
    sessions(profile: $profile, first: 100, collapse: NONE, filter: { includeEmpty: true }, orderBy: STARTED) {
      nodes {
        sessionId
        title
        displayTitle
        preview
        messageCount
        storedMessageCount
        toolCallCount
        startedAt
        endedAt
        lastActiveAt
        usage { inputTokens outputTokens estimatedCostUsd actualCostUsd costStatus apiCalls }
        liveness { state certainty evidence }
        warnings { code field }
        messages { totalCount nodes { rowId text } }
        transcript(view: REPLAY) { messages { text } }
      }
    }
    visible: sessions(profile: $profile) {
      totalCount
      hiddenCounts { reason count }
      nodes { sessionId usage { estimatedCostUsd inputTokens } lineage { segments { usage { estimatedCostUsd } } } }
    }
    usage(profile: $profile, groupBy: [PROFILE]) { sessions sessionsWithoutCost usage { estimatedCostUsd actualCostUsd inputTokens } }
  }
`);

const T0 = 1_780_000_000;
const HUGE_ROW = 9_007_199_254_740_993n;

const STORES: Readonly<Record<string, { readonly rows: readonly Row[] }>> = {
  f13: {
    rows: [S('x', { message_count: 0 }), M('x', { content: 'audit the ledger' }), M('x', { role: 'assistant', content: 'done' })],
  },
  f14: {
    rows: [
      S('x', { message_count: 6 }),
      ...[1, 2, 3, 4].map((n) => M('x', { content: `kept ${n}` })),
      ...[5, 6].map((n) => M('x', { content: `undone ${n}`, active: 0 })),
    ],
  },
  f15: {
    rows: [
      S('r', { started_at: T0, ended_at: T0 + 10, end_reason: 'compression', estimated_cost_usd: 0.1652, title: 'Root' }),
      S('l', { started_at: T0 + 10, ended_at: T0 + 20, end_reason: 'compression', estimated_cost_usd: 0.3373, parent_session_id: 'r' }),
      S('t', { started_at: T0 + 20, estimated_cost_usd: 0.3025, input_tokens: 7, parent_session_id: 'l' }),
      ...['r', 'l', 't'].map((id) => M(id, { content: id })),
    ],
  },
  f16: {
    rows: [
      S('a', { started_at: 3, estimated_cost_usd: 0.4, cost_status: 'estimated', message_count: 1 }),
      S('b', { started_at: 2, estimated_cost_usd: null, actual_cost_usd: null, cost_status: null, message_count: 1 }),
      S('c', { started_at: 1, estimated_cost_usd: 0, message_count: 1 }),
      ...['a', 'b', 'c'].map((id) => M(id, { content: id })),
    ],
  },
  f30: {
    rows: [
      S('x', { message_count: 2 }),
      M('x', { content: 'a' }),
      M('x', { role: 'assistant', content: 'b', active: 0, compacted: 0 }),
      M('x', { role: 'assistant', content: 'c' }),
    ],
  },
  f76: {
    rows: [
      S('seconds', { started_at: 1_781_773_226.45 }),
      S('milliseconds', { started_at: 1_781_773_226_453 }),
      S('offset', { started_at: '2026-06-18T11:00:26+02:00' }),
      S('naive', { started_at: '2026-06-18T11:00:26' }),
      S('zero', { started_at: 0 }),
      S('negative', { started_at: -5 }),
      S('year3000', { started_at: 32_503_680_000 }),
    ],
  },
  f77: {
    rows: [
      S('x', { input_tokens: 3_000_000_000n, output_tokens: 161_793_142, api_call_count: 5_000_000_000n, message_count: 2 }),
      S('y', { started_at: 90, input_tokens: 3_000_000_000n, estimated_cost_usd: 0.0000001 }),
      M('x', { id: HUGE_ROW, content: 'far' }),
      M('x', { id: HUGE_ROW + 1n, content: 'farther' }),
    ],
  },
  f38: {
    rows: [
      ...Array.from({ length: 60 }, (_, index) => [
        S(`open${index}`, { message_count: 1 }),
        M(`open${index}`, { content: 'hi', timestamp: T0 }),
      ]).flat(),
      S('ended', { ended_at: T0, end_reason: 'tui_exit' }),
      M('ended', { content: 'bye', timestamp: T0 }),
      ...Array.from({ length: 12 }, (_, index) => S(`ghost${index}`)),
      T('session_turn_leases', { conversation_id: 'open7', holder: 'pid=12:platform=cli', acquired_at: T0, expires_at: 4_000_000_000 }),
      T('session_turn_leases', { conversation_id: 'open8', holder: 'pid=13', acquired_at: T0, expires_at: T0 + 300 }),
    ],
  },
};

let server: TestServer;
beforeAll(async () => {
  server = await startInProcess({ profiles: STORES });
});

async function figures(profile: string): Promise<FiguresQuery & { byId: Map<string, FiguresQuery['sessions']['nodes'][number]> }> {
  const found = await server.read(FIGURES, { profile });
  return { ...found, byId: new Map(found.sessions.nodes.map((node) => [node.sessionId, node])) };
}

describe('counts come from rows', () => {
  it('F13: a stored counter of zero hides nothing; it stands beside the count, with a warning', async () => {
    const { byId, visible } = await figures('f13');
    expect(visible.totalCount).toBe(1);
    expect(byId.get('x')).toMatchObject({
      messageCount: 2,
      storedMessageCount: 0,
      preview: 'audit the ledger',
      displayTitle: 'audit the ledger',
      warnings: [{ code: 'COUNT_MISMATCH', field: 'message_count' }],
    });
  });

  it('F14: what was taken back does not count, whatever the stored counter says', async () => {
    expect((await figures('f14')).byId.get('x')).toMatchObject({ messageCount: 4, storedMessageCount: 6, messages: { totalCount: 4 } });
  });

  it('F30: an undone answer is in no view, count, preview or transcript', async () => {
    const { byId } = await figures('f30');
    expect(byId.get('x')).toMatchObject({
      messageCount: 2,
      preview: 'a',
      messages: { totalCount: 2, nodes: [{ text: 'a' }, { text: 'c' }] },
      transcript: { messages: [{ text: 'a' }, { text: 'c' }] },
      warnings: [],
    });
    const search = await server.read('{ searchMessages(profile: "f30", query: "b") { nodes { snippet } } }');
    expect(search).toEqual({ searchMessages: { nodes: [] } });
  });
});

describe('money is what is known of it', () => {
  it('F15: the figures of a row are those of the session that it names; the chain has the others', async () => {
    const { visible } = await figures('f15');
    const [row] = visible.nodes;
    expect(visible.nodes).toHaveLength(1);
    expect(row).toMatchObject({ sessionId: 't', usage: { estimatedCostUsd: 0.3025, inputTokens: 7 } });
    const costs = row?.lineage.segments.map(({ usage }) => usage.estimatedCostUsd ?? Number.NaN) ?? [];
    expect(costs).toEqual([0.1652, 0.3373, 0.3025]);
    expect(costs.reduce((sum, cost) => sum + cost, 0)).toBeCloseTo(0.805, 10);
  });

  it('F16: unknown is null and not zero, in a session and in a sum', async () => {
    const { byId, usage } = await figures('f16');
    expect(byId.get('a')?.usage).toMatchObject({ estimatedCostUsd: 0.4, actualCostUsd: null, costStatus: 'estimated' });
    expect(byId.get('b')?.usage).toMatchObject({ estimatedCostUsd: null, actualCostUsd: null, costStatus: null });
    expect(byId.get('c')?.usage).toMatchObject({ estimatedCostUsd: 0, actualCostUsd: null });
    expect(usage).toMatchObject([{ sessions: 3, sessionsWithoutCost: 1, usage: { estimatedCostUsd: 0.4, actualCostUsd: null } }]);
  });
});

describe('units and ranges', () => {
  it('F76: a time is ISO 8601 in UTC with its fraction; what is none is null, with a warning, and sorted last', async () => {
    const { sessions, byId } = await figures('f76');
    expect(byId.get('seconds')?.startedAt).toBe('2026-06-18T09:00:26.450Z');
    for (const id of ['milliseconds', 'naive', 'negative', 'year3000', 'offset']) {
      expect([id, byId.get(id)?.startedAt, byId.get(id)?.warnings]).toEqual([
        id,
        null,
        [{ code: 'TIME_OUT_OF_RANGE', field: 'started_at' }],
      ]);
    }
    expect(byId.get('zero')?.startedAt).toBe('1970-01-01T00:00:00.000Z');
    expect(sessions.nodes.slice(0, 2).map((node) => node.sessionId)).toEqual(['seconds', 'zero']);
  });

  it('F77: large sums are exact, a counter past 32 bits is null and not a failure, a row id keeps every digit', async () => {
    const { byId, usage } = await figures('f77');
    expect(byId.get('x')).toMatchObject({
      usage: { inputTokens: 3_000_000_000, outputTokens: 161_793_142, apiCalls: null },
      messages: { nodes: [{ rowId: '9007199254740993' }, { rowId: '9007199254740994' }] },
    });
    expect(usage).toMatchObject([{ sessions: 2, usage: { inputTokens: 6_000_000_000, estimatedCostUsd: 0.0000001 } }]);
    expect(await server.read('{ message(profile: "f77", rowId: "9007199254740993") { rowId text } }')).toEqual({
      message: { rowId: '9007199254740993', text: 'far' },
    });
  });
});

describe('F38: open is not running', () => {
  it('of sixty open sessions only the one with a lease that has not run out is live', async () => {
    const { sessions, visible } = await figures('f38');
    const states = new Map<string, string[]>();
    for (const { sessionId, liveness } of sessions.nodes) states.set(liveness.state, [...(states.get(liveness.state) ?? []), sessionId]);
    expect(states.get('LIVE')).toEqual(['open7']);
    expect(states.get('ENDED')).toEqual(['ended']);
    expect([...states.keys()].sort()).toEqual(['ENDED', 'IDLE', 'LIVE']);
    expect(visible).toMatchObject({ totalCount: 61, hiddenCounts: [{ reason: 'EMPTY', count: 12 }] });
  });
});
