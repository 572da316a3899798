/** Lists of sessions: each conversation once, nothing missing in silence, pages that agree with their total (`field-cases` A). */
import { describe, expect, it } from 'vitest';
import { graphql } from '../generated/gql.ts';
import type { ListQuery, ListQueryVariables, SessionFilter } from '../generated/graphql.ts';
import { startInProcess, type TestServer } from '../support/server.ts';
import { M, type Row, S } from '../support/stores.ts';
import { startWriter } from '../support/writer.ts';

const LIST = graphql(`
  query List(
    $first: Int
    $after: String
    $last: Int
    $before: String
    $filter: SessionFilter
    $orderBy: SessionOrder
    $collapse: LineageCollapse
  ) {
    sessions(first: $first, after: $after, last: $last, before: $before, filter: $filter, orderBy: $orderBy, collapse: $collapse) {
      totalCount
      hiddenCounts { reason count }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      nodes { sessionId conversationId displayTitle messageCount edgeKind warnings { code } }
    }
  }
`);

const LINEAGE = graphql(`
  query LineageOf($id: String!) {
    session(sessionId: $id) {
      sessionId
      conversationId
      endReason
      edgeKind
      tip { sessionId }
      parent { sessionId }
      children { sessionId }
      warnings { code field }
      messages { totalCount }
      lineage { root { sessionId } segments { sessionId } problems { code } }
    }
  }
`);

function chain(ids: readonly string[], columns: { source?: string } = {}): Row[] {
  return ids.map((id, index) =>
    S(id, {
      ...columns,
      started_at: 1000 + index,
      ...(index > 0 ? { parent_session_id: ids[index - 1] ?? null } : {}),
      ...(index < ids.length - 1 ? { ended_at: 1001 + index, end_reason: 'compression' } : {}),
    }),
  );
}

function withMessage(id: string, columns: Parameters<typeof S>[1] = {}): Row[] {
  return [S(id, columns), M(id, { content: `about ${id}` })];
}

type Sessions = ListQuery['sessions'];

async function list(server: TestServer, variables: ListQueryVariables = {}): Promise<Sessions> {
  return (await server.read(LIST, variables)).sessions;
}

async function idsOf(server: TestServer, variables: ListQueryVariables = {}): Promise<string[]> {
  const sessions = await list(server, variables);
  return sessions.nodes.map((node) => node.sessionId);
}

describe('a list shows each conversation once', () => {
  it('F01: as its tip, first in the list, however long the chain of rotations is', async () => {
    const ids = Array.from({ length: 50 }, (_, index) => `c${String(index + 1).padStart(2, '0')}`);
    const others = Array.from({ length: 10 }, (_, index) => withMessage(`other${index}`, { started_at: 500 })).flat();
    const messages = Array.from({ length: 539 }, (_, index) => M('c50', { content: `step ${index}`, timestamp: 5000 + index }));
    const server = await startInProcess({ rows: [...chain(ids, { source: 'desktop' }), ...others, ...messages] });
    const ids20 = await idsOf(server, { first: 20 });
    expect(ids20[0]).toBe('c50');
    expect(ids20.filter((id) => id.startsWith('c'))).toEqual(['c50']);
    const { session } = await server.read(LINEAGE, { id: 'c01' });
    expect(session?.tip.sessionId).toBe('c50');
    expect(session?.lineage.root.sessionId).toBe('c01');
    expect(session?.lineage.segments).toHaveLength(50);
    expect(session?.messages?.totalCount).toBe(539);
  });

  it('F03: under a conversationId that stays when the session id rotates', async () => {
    const server = await startInProcess({ rows: withMessage('a') });
    const before = await list(server);
    const writer = await startWriter(server.storePath);
    await writer.transaction([
      "UPDATE sessions SET ended_at = 200, end_reason = 'compression' WHERE id = 'a'",
      "INSERT INTO sessions (id, source, started_at, parent_session_id) VALUES ('b', 'cli', 200, 'a')",
    ]);
    await writer.close();
    const after = await list(server);
    expect(before.nodes).toMatchObject([{ sessionId: 'a', conversationId: 'a' }]);
    expect(after.nodes).toMatchObject([{ sessionId: 'b', conversationId: 'a' }]);
  });

  it('F09: also the one whose fork was promised and never made', async () => {
    const rows = [S('p', { end_reason: 'branched', ended_at: 105 }), ...[1, 2, 3, 4].map((n) => M('p', { content: `m${n}` }))];
    const server = await startInProcess({ rows });
    expect(await idsOf(server)).toEqual(['p']);
    const { session } = await server.read(LINEAGE, { id: 'p' });
    expect(session).toMatchObject({ endReason: 'branched', children: [], messages: { totalCount: 4 } });
  });
});

describe('F08: a branch is listed beside its parent', () => {
  const parent = (endReason: string): Row[] => [
    S('p', { started_at: 100, ended_at: 150, end_reason: endReason }),
    M('p', { content: 'p' }),
  ];
  const branch = (columns: Parameters<typeof S>[1]): Row[] => [
    S('b', { started_at: 200, ...columns }),
    ...Array.from({ length: 8 }, (_, index) => M('b', { content: `b${index}` })),
  ];

  it('by its own marker, when the parent was reopened and closed for another reason', async () => {
    const config = JSON.stringify({ _branched_from: 'p' });
    const rows = [...parent('tui_shutdown'), ...branch({ parent_session_id: 'p', model_config: config })];
    const server = await startInProcess({ rows });
    expect(await idsOf(server)).toEqual(['b', 'p']);
    expect((await server.read(LINEAGE, { id: 'b' })).session?.edgeKind).toBe('BRANCH');
  });

  it('without a marker, when the parent was ended as branched before it started', async () => {
    const server = await startInProcess({ rows: [...parent('branched'), ...branch({ parent_session_id: 'p' })] });
    expect((await idsOf(server)).sort()).toEqual(['b', 'p']);
    expect((await server.read(LINEAGE, { id: 'b' })).session?.edgeKind).toBe('BRANCH');
  });

  it('as a root that says so, when the parent that its marker names is absent', async () => {
    const config = JSON.stringify({ _branched_from: 'gone' });
    const server = await startInProcess({ rows: branch({ parent_session_id: 'gone', model_config: config }) });
    expect(await idsOf(server)).toEqual(['b']);
    expect((await server.read(LINEAGE, { id: 'b' })).session).toMatchObject({
      edgeKind: 'BRANCH',
      parent: null,
      conversationId: 'b',
      warnings: [{ code: 'MISSING_PARENT', field: 'parent_session_id' }, { code: 'COUNT_MISMATCH' }],
      lineage: { root: { sessionId: 'b' }, problems: [{ code: 'MISSING_PARENT' }] },
    });
  });
});

describe('nothing disappears in silence', () => {
  it('F04: what the defaults keep out is counted by reason, and can all be asked for', async () => {
    const ordinary = Array.from({ length: 26 }, (_, index) => withMessage(`s${index}`)).flat();
    const segments = chain(['seg0', 'seg1', 'seg2', 'seg3', 'seg4', 'seg5', 'seg6']);
    const delegates = ['d0', 'd1'].flatMap((id) => withMessage(id, { parent_session_id: 's0', model_config: '{"_delegate_from":"s0"}' }));
    const empty = Array.from({ length: 5 }, (_, index) => S(`empty${index}`));
    const server = await startInProcess({ rows: [...ordinary, ...segments, M('seg6', { content: 'go on' }), ...delegates, ...empty] });
    const sessions = await list(server);
    expect(sessions.totalCount).toBe(27);
    expect(new Map(sessions.hiddenCounts.map(({ reason, count }) => [reason, count]))).toEqual(
      new Map([
        ['EMPTY', 5],
        ['SEGMENT', 6],
        ['DELEGATE', 2],
      ]),
    );
    const all = await list(server, { collapse: 'NONE', filter: { includeEmpty: true, includeDelegates: true } });
    expect(all.totalCount).toBe(40);
    expect(all.hiddenCounts).toEqual([]);
  });

  it('F05: background runs are left out before the page is cut, and are a list of their own', async () => {
    const server = await startInProcess({
      extra: (db) => {
        const numbers = (n: number) => `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${n})`;
        db.exec(`${numbers(400)} INSERT INTO sessions (id, source, started_at) SELECT 'talk' || i, 'cli', 1000 + i FROM n;
          ${numbers(20_000)} INSERT INTO sessions (id, source, started_at) SELECT 'cron' || i, 'cron', 9000 + i FROM n;
          INSERT INTO messages (session_id, role, content, timestamp) SELECT id, 'user', 'hello', started_at FROM sessions;`);
      },
    });
    const sessions = await list(server, { first: 50 });
    expect(sessions.nodes.every((node) => node.sessionId.startsWith('talk'))).toBe(true);
    expect(sessions).toMatchObject({
      totalCount: 400,
      pageInfo: { hasNextPage: true },
      hiddenCounts: [{ reason: 'BACKGROUND', count: 20_000 }],
    });
    const cron = await list(server, { first: 50, filter: { sources: ['cron'] } });
    expect(cron.totalCount).toBe(20_000);
    const next = await list(server, { first: 50, filter: { sources: ['cron'] }, after: cron.pageInfo.endCursor });
    expect(next.nodes[0]?.sessionId).toBe('cron19950');
    const others = await list(server, { filter: { includeBackground: true, excludeSources: ['cli'] } });
    expect(others.totalCount).toBe(20_000);
  });
});

describe('totals agree with the pages', () => {
  const family = (index: number): Row[] => [
    ...withMessage(`root${index}`, { started_at: 100 + index, archived: index % 7 === 0 ? 1 : 0, pinned: index % 5 === 0 ? 1 : 0 }),
    ...(index % 3 === 0 ? withMessage(`helper${index}`, { parent_session_id: `root${index}`, source: 'subagent' }) : []),
    ...(index % 4 === 0 ? [S(`empty${index}`, { title: `Empty ${index}` })] : []),
    ...(index % 6 === 0 ? withMessage(`cron${index}`, { source: 'cron' }) : []),
    ...(index % 8 === 0 ? [...chain([`x${index}`, `y${index}`, `z${index}`]), M(`y${index}`, { content: 'kept' })] : []),
    ...(index % 9 === 0 ? withMessage(`lost${index}`, { parent_session_id: 'nobody' }) : []),
  ];
  const FILTERS: readonly SessionFilter[] = [
    {},
    { includeDelegates: true },
    { includeEmpty: true, includeBackground: true, includeOrphans: true, includeArchived: true },
    { archived: true },
    { pinned: true },
    { sources: ['cron', 'subagent'], includeDelegates: true },
    { excludeSources: ['cli'], includeBackground: true },
    { titleContains: 'empty 1', includeEmpty: true },
    { activeSince: '1970-01-01T00:00:20.000Z', activeBefore: '1970-01-01T00:01:00.000Z' },
    { sources: [] },
  ];

  it('F06: of two conversations with three helpers there are two, and no page after the second', async () => {
    const helpers = ['h1', 'h2', 'h3'].flatMap((id) => withMessage(id, { parent_session_id: 'a', source: 'subagent' }));
    const server = await startInProcess({ rows: [...withMessage('a'), ...withMessage('b'), ...helpers] });
    const sessions = await list(server, { first: 2 });
    expect(sessions).toMatchObject({ totalCount: 2, pageInfo: { hasNextPage: false } });
    expect(sessions.nodes).toHaveLength(2);
  });

  it('F06: walking all pages gives exactly totalCount different entries, with every filter, order and direction', async () => {
    const server = await startInProcess({ rows: Array.from({ length: 40 }, (_, index) => family(index)).flat() });
    for (const filter of FILTERS) {
      for (const orderBy of ['RECENT_ACTIVITY', 'STARTED', 'PINNED_THEN_RECENT', 'TITLE'] as const) {
        for (const collapse of ['LINEAGE', 'NONE'] as const) {
          const forward: string[] = [];
          let page: Sessions | null = null;
          while (page === null || page.pageInfo.hasNextPage) {
            page = await list(server, { first: 13, after: page?.pageInfo.endCursor ?? null, filter, orderBy, collapse });
            forward.push(...page.nodes.map((node) => node.sessionId));
          }
          const total = page.totalCount;
          const label = JSON.stringify({ filter, orderBy, collapse });
          expect(new Set(forward).size, label).toBe(total);
          expect(forward.length, label).toBe(total);
          const end = await list(server, { last: 13, filter, orderBy, collapse });
          expect(
            end.nodes.map((node) => node.sessionId),
            label,
          ).toEqual(forward.slice(-13));
          expect(end.pageInfo.hasPreviousPage, label).toBe(total > 13);
        }
      }
    }
  });
});

describe('F07: pages', () => {
  it('go on without a gap or a repeat when a newer session appears between two of them', async () => {
    const rows = Array.from({ length: 130 }, (_, index) => withMessage(`s${String(index).padStart(3, '0')}`, { started_at: index })).flat();
    const server = await startInProcess({ rows });
    const seen: string[] = [];
    const writer = await startWriter(server.storePath);
    let page: Sessions | null = null;
    for (let number = 0; page === null || page.pageInfo.hasNextPage; number++) {
      page = await list(server, { first: 50, after: page?.pageInfo.endCursor ?? null });
      seen.push(...page.nodes.map((node) => node.sessionId));
      await writer.transaction([
        `INSERT INTO sessions (id, source, started_at) VALUES ('new${number}', 'cli', 9000)`,
        `INSERT INTO messages (session_id, role, content, timestamp) VALUES ('new${number}', 'user', 'first!', 9000)`,
      ]);
    }
    await writer.close();
    expect(seen).toHaveLength(130);
    expect(new Set(seen).size).toBe(130);
    expect(seen.some((id) => id.startsWith('new'))).toBe(false);
  });
});
