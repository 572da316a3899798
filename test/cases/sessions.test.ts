/** Cases 18 to 34 of `spec/state-db.md` 17: clocks, flags, statuses, previews, titles and ids. */
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { listTotals, pinnedBeyond } from '../../src/state-db/listing.ts';
import { isUnread, lifecycleStatuses } from '../../src/state-db/session-state.ts';
import { DELIM, END, PRIOR, SUM } from '../../src/state-db/summary-markers.ts';
import { structured } from '../support/message-rows.ts';
import { M, type Row, S } from '../support/stores.ts';
import { CaseStore } from './case-store.ts';

const LINEAGE = { order: 'RECENT_ACTIVITY', collapse: 'LINEAGE' } as const;

describe('clocks', () => {
  it('#18 a session without any time that counts has no recency and comes last', async () => {
    const store = await CaseStore.open([S('g', { started_at: 'abc', last_activity_at: 5e246 }), S('old', { started_at: 0 })]);
    expect(store.entry('g')).toMatchObject({ recency: null, startedAt: null, lastActivityAt: null });
    expect(await store.list()).toEqual(['old', 'g']);
    expect(await store.list({}, 'STARTED')).toEqual(['old', 'g']);
  });

  it('#19 the newest row stands in for a damaged heartbeat', async () => {
    const store = await CaseStore.open([S('g', { started_at: 50, last_activity_at: 5e246 }), M('g', { timestamp: 77 })]);
    expect(store.entry('g').recency).toBe(77);
  });

  it('#20 rows that are not live count for the recency', async () => {
    const store = await CaseStore.open([S('g', { started_at: 50, last_activity_at: 60 }), M('g', { timestamp: 90, active: 0 })]);
    expect(store.entry('g').recency).toBe(90);
  });

  it('#21 text, infinity and bytes never win the newest time', async () => {
    const times = [100, 101, 'garbage', 5e246, Number.POSITIVE_INFINITY, Buffer.from('bytes')];
    const store = await CaseStore.open([S('g'), ...times.map((timestamp) => M('g', { timestamp }))]);
    expect(store.entry('g').stats?.lastTimestamp).toBe(101);
    const db = new Database(store.path, { readonly: true });
    expect(db.prepare('SELECT MAX(timestamp) FROM messages').pluck().get()).toEqual(Buffer.from('bytes'));
    db.close();
  });
});

describe('flags', () => {
  it('#22 an archived and hidden session is in no list but the archived one', async () => {
    const store = await CaseStore.open([S('a', { archived: 1, hidden: 1 })]);
    expect(await store.list()).toEqual([]);
    expect(await store.list({ archived: true })).toEqual(['a']);
  });

  it('#23 a hidden session is neither listed nor counted', async () => {
    const store = await CaseStore.open([S('a', { hidden: 1 }), S('b')]);
    expect(await store.list()).toEqual(['b']);
    const totals = listTotals(store.catalogue, { filter: { includeEmpty: true }, ...LINEAGE });
    expect(totals).toMatchObject({ visible: 1, hidden: new Map([['HIDDEN', 1]]) });
  });

  it('#24 pinned entries outside a page are known, newest start first', async () => {
    const store = await CaseStore.open([S('new', { started_at: 300 }), S('p1', { pinned: 1 }), S('p2', { pinned: 1, started_at: 200 })]);
    const query = { filter: { includeEmpty: true }, ...LINEAGE };
    const beyond = (...shown: string[]) => pinnedBeyond(store.catalogue, query, new Set(shown)).map(({ root }) => root.id);
    expect(beyond('new')).toEqual(['p2', 'p1']);
    expect(beyond('new', 'p2')).toEqual(['p1']);
  });

  it.each([
    [null, 100, false],
    [0, 100, true],
    [50, 100, true],
    [150, 100, false],
  ])('#25 a watermark of %s and a recency of %s: unread %s', async (last_read_at, recency, unread) => {
    const store = await CaseStore.open([S('a', { last_read_at, last_activity_at: recency })]);
    expect(isUnread(store.entry('a'))).toBe(unread);
  });
});

describe('the last turn', () => {
  const calls = '[{"id":"c1"}]';
  it.each([
    ['INTERRUPTED', [M('a', { role: 'tool' })]],
    ['INTERRUPTED', [M('a', { role: 'user' })]],
    ['INTERRUPTED', [M('a', { role: 'assistant', tool_calls: calls })]],
    ['COMPLETE', [M('a', { role: 'assistant' })]],
    ['ERROR', [M('a', { role: 'assistant', finish_reason: ' Error ' })]],
    ['ERROR', [M('a', { role: 'user' }), M('a', { role: 'assistant', finish_reason: 'content_filter', active: 0 })]],
    ['EMPTY', []],
  ] as const)('#26 is %s by the newest row', async (status, rows) => {
    const store = await CaseStore.open([S('a'), ...rows]);
    expect(lifecycleStatuses(store.connection, ['a']).get('a')).toBe(status);
  });
});

describe('previews', () => {
  const preview = async (...rows: Row[]) => {
    const { store } = await CaseStore.open([S('s'), ...rows]);
    return (await store.previews(['s'])).get('s');
  };
  const user = (content: string, columns = {}) => M('s', { content, ...columns });

  it('#27 are cut after 60 characters', async () => {
    expect((await preview(user('a'.repeat(70))))?.text).toBe(`${'a'.repeat(60)}...`);
  });

  it('#28 skip a summary in front of the real question', async () => {
    expect((await preview(user(`${SUM}earlier talk${END}\n\nreal ask`)))?.text).toBe('real ask');
  });

  it('#29 skip a row that is only a summary', async () => {
    expect((await preview(user(`${SUM}earlier talk${END}`), user('hello')))?.text).toBe('hello');
  });

  it('#30 keep what was said before a merged summary', async () => {
    expect((await preview(user(`${PRIOR}\nkeep me\n${DELIM}${SUM}earlier talk`)))?.text).toBe('keep me');
  });

  it('#31 skip hidden rows', async () => {
    expect((await preview(user('scaffold', { display_kind: 'hidden' }), user('hi')))?.text).toBe('hi');
  });

  it('#32 show the text of structured content', async () => {
    expect(await preview(user(structured([{ type: 'text', text: 'look' }])))).toMatchObject({ text: 'look', source: 'STRUCTURED' });
  });
});

describe('titles and ids', () => {
  it('#33 a numbered title wins over the exact one, but for the canonical chat', async () => {
    const { store } = await CaseStore.open([
      S('w1', { title: 'Work' }),
      S('w2', { title: 'Work #2', started_at: 200 }),
      S('b1', { title: 'Bot Chat' }),
      S('b2', { title: 'Bot Chat #2', started_at: 200 }),
    ]);
    expect(await store.resolve('Work')).toMatchObject({ kind: 'FOUND', session: { id: 'w2' } });
    expect(await store.resolve('Bot Chat')).toMatchObject({ kind: 'FOUND', session: { id: 'b1' } });
  });

  it('#34 the beginning of several ids is none of them, a whole id is itself', async () => {
    const { store } = await CaseStore.open([S('abc1'), S('abc2')]);
    expect(await store.resolve('abc')).toEqual({ kind: 'AMBIGUOUS', candidates: ['abc1', 'abc2'] });
    expect(await store.resolve('abc1')).toMatchObject({ kind: 'FOUND', session: { id: 'abc1' } });
  });
});
