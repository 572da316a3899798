/** Cases 87 to 90 of `spec/state-db.md` 17: old stores, other writers, many ids, large ids. Cases 82 to 86 are in `test/fault/`. */
import { describe, expect, it } from 'vitest';
import { M, S } from '../support/stores.ts';
import { startWriter } from '../support/writer.ts';
import { CaseStore } from './case-store.ts';

const PAGE = { size: 50, direction: 'FORWARD', after: null, before: null } as const;
const QUERY = { filter: {}, order: 'RECENT_ACTIVITY', collapse: 'LINEAGE' } as const;

describe('a store of schema 6', () => {
  it('#87 answers everything, with defaults for what it lacks', async () => {
    const { store } = await CaseStore.open({
      schema: 6,
      rows: [S('s', { message_count: 2, title: 'Old' }), M('s', { content: 'a needle' }), M('s', { role: 'assistant', content: 'found' })],
    });
    const sessions = await store.sessions(['s']);
    expect(sessions.get('s')).toMatchObject({
      archived: false,
      pinned: false,
      hidden: false,
      lastActivityAt: null,
      stats: { total: 2, live: 2 },
    });
    expect((await store.list(QUERY, PAGE)).items.map(({ node }) => node.id)).toEqual(['s']);
    expect(await store.totals(QUERY)).toMatchObject({ visible: 1 });
    for (const view of ['LIVE', 'DISPLAY', 'AUDIT'] as const) {
      const [page] = await store.messagePages([{ sessionId: 's', view, scope: 'CONVERSATION', page: PAGE }]);
      expect(page?.items.map(({ node }) => [node.rowId, node.state, node.displayKind, node.observed])).toEqual([
        ['1', 'LIVE', null, false],
        ['2', 'LIVE', null, false],
      ]);
      expect(await store.messageCounts([{ sessionId: 's', view, scope: 'CONVERSATION' }])).toEqual([2]);
    }
    expect((await store.messagesAround([{ sessionId: 's', rowId: '1', window: 1 }], 'CLOCK'))[0]).toHaveLength(2);
    expect((await store.rowVersions(['1'])).size).toBe(1);
    expect(await store.toolResults([{ sessionId: 's', rowId: '1', toolCallId: 'c', live: true }])).toEqual([null]);
    expect((await store.previews(['s'])).get('s')?.text).toBe('a needle');
    expect((await store.details(['s'])).get('s')).toMatchObject({
      systemPrompt: null,
      toolNames: [],
      origin: null,
      expiryFinalized: false,
    });
    expect((await store.modelUsage(['s'])).get('s') ?? []).toEqual([]);
    expect((await store.liveness(['s'])).get('s')?.state).toBe('IDLE');
    expect((await store.conversations(['s'])).get('s')?.segments).toHaveLength(1);
    expect((await store.families(['s'])).get('s')?.problems).toEqual([]);
    expect(await store.resolve('Old')).toMatchObject({ kind: 'FOUND' });
    for (const view of ['DISPLAY', 'REPLAY'] as const)
      expect(await store.transcripts([{ sessionId: 's', view }])).toMatchObject([{ messages: [{}, {}] }]);
    expect(await store.usage({ since: null, before: null, sources: null, sessionId: null }, ['MODEL', 'DAY'])).toMatchObject([
      { key: { model: null }, sessions: 1, usage: { inputTokens: 0 } },
    ]);
    expect(await store.turnLeases()).toEqual([]);
    expect(await store.compressionLocks()).toEqual([]);
    expect(await store.delegations(null, 5)).toEqual([]);
    expect(await store.backends()).toEqual([]);
    const request = { order: 'RANK', limit: 5, after: null, sessionId: null, sources: null, excludeSources: null, roles: null } as const;
    const flags = { includeInactive: false, includeReasoning: false, since: null, before: null } as const;
    expect(await store.search({ text: 'needle', ...request, ...flags })).toMatchObject({
      route: 'FTS',
      hits: [{ message: { rowId: '1' } }],
    });
    expect(await store.search({ text: 'found', ...request, ...flags, includeReasoning: true })).toMatchObject({
      route: 'LIKE',
      hits: [{}],
    });
    const status = await store.status();
    expect(status).toMatchObject({ health: 'OK', schemaVersion: 6, search: { layout: 'E', trigram: false }, searchDegraded: false });
    expect(status.missingColumns).toContain('messages.active');
  });
});

describe('others and limits', () => {
  it('#88 a commit of another process moves the data version of a kept connection', async () => {
    const { path, connection } = await CaseStore.open([S('s')]);
    const before = connection.dataVersion();
    expect(connection.dataVersion()).toBe(before);
    const writer = await startWriter(path);
    await writer.exec("UPDATE sessions SET title = 'Tea'");
    expect(connection.dataVersion()).not.toBe(before);
    await writer.close();
  });

  it('#89 40000 ids are one look-up', async () => {
    const { store } = await CaseStore.open([S('s'), M('s', { id: 7 })]);
    const many = Array.from({ length: 40_000 }, (_, index) => `absent ${index}`);
    expect([...(await store.sessions([...many, 's'])).keys()]).toEqual(['s']);
    expect([...(await store.details([...many, 's'])).keys()]).toEqual(['s']);
    expect([...(await store.messages(Array.from({ length: 40_000 }, (_, index) => String(index)))).keys()]).toEqual(['7']);
  });

  it('#90 an id beyond 2^53 is never rounded', async () => {
    const { store, catalogue } = await CaseStore.open([S('s'), M('s', { id: 9_007_199_254_740_993n, content: 'far' }), M('s', { id: 5 })]);
    const [page] = await store.messagePages([{ sessionId: 's', view: 'DISPLAY', scope: 'SEGMENT', page: PAGE }]);
    expect(page?.items.map(({ node }) => node.rowId)).toEqual(['5', '9007199254740993']);
    expect((await store.messages(['9007199254740993'])).get('9007199254740993')?.content).toBe('far');
    expect((await store.messages(['9007199254740992'])).size).toBe(0);
    expect(catalogue.get('s')?.stats?.total).toBe(2);
  });
});
