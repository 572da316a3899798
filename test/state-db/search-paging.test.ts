/** Pages of hits, whatever answers: an index, its second try, the text itself, and rows that a rebuild has not reached. */
import { describe, expect, it } from 'vitest';
import { StoreConnection } from '../../src/state-db/connection.ts';
import { type SearchAnswer, search } from '../../src/state-db/search/search.ts';
import type { SearchOrder, SearchQuery } from '../../src/state-db/search/search-query.ts';
import { buildStore, M, S, type StoreSpec } from '../support/stores.ts';

const QUERY: SearchQuery = {
  text: 'needle',
  order: 'RANK',
  limit: 4,
  after: null,
  sessionIds: null,
  sources: null,
  excludeSources: null,
  roles: null,
  includeInactive: false,
  includeReasoning: false,
  since: null,
  before: null,
};

const rows = [
  S('s'),
  ...Array.from({ length: 30 }, (_, index) =>
    M('s', { content: `${'needle '.repeat(1 + (index % 5))} row ${index}`, timestamp: index % 7 === 3 ? 5e246 : 100 + (index % 6) }),
  ),
];

function walk(spec: StoreSpec, query: Partial<SearchQuery> = {}): { ids: number[]; answers: SearchAnswer[] } {
  const connection = StoreConnection.open(buildStore(spec), { lockWaitMs: 1000 });
  const answers: SearchAnswer[] = [];
  for (let after: string | null = null; answers.length < 50; ) {
    const answer: SearchAnswer = search(connection, { ...QUERY, ...query, after }, 'g');
    answers.push(answer);
    after = answer.hits.at(-1)?.cursor ?? null;
    if (!answer.hasNextPage) break;
  }
  connection.close();
  return { ids: answers.flatMap(({ hits }) => hits.map(({ rowId }) => Number(rowId))), answers };
}

const all = Array.from({ length: 30 }, (_, index) => index + 1);
const sorted = (ids: readonly number[]) => ids.toSorted((a, b) => a - b);

describe.each<SearchOrder>(['RANK', 'NEWEST', 'OLDEST'])('by %s', (order) => {
  it.each<[string, StoreSpec, Partial<SearchQuery>]>([
    ['the word index', { rows }, {}],
    ['the text itself', { rows, fts: 'none' }, {}],
    ['the text, because tool rows were asked for', { rows }, { roles: ['tool', 'user'] }],
    ['a second try, as a substring', { rows }, { text: 'needl' }],
  ])('%s shows each hit once', (_name, spec, query) => {
    const { ids } = walk(spec, { order, ...query });
    expect(sorted(ids)).toEqual(all);
  });

  it('rows that a rebuild has not reached come after the others, each once', () => {
    const { ids, answers } = walk(
      {
        rows,
        meta: { fts_rebuild_high_water: '20', fts_rebuild_progress: '5' },
        extra: (db) => {
          for (let id = 6; id <= 20; id++) {
            db.prepare(
              "INSERT INTO messages_fts(messages_fts, rowid, content) SELECT 'delete', id, content FROM messages WHERE id = ?",
            ).run(id);
          }
        },
      },
      { order },
    );
    expect(sorted(ids)).toEqual(all);
    expect(sorted(ids.slice(15))).toEqual(all.slice(5, 20));
    expect(answers.every(({ degraded, indexPercent }) => degraded && indexPercent === 25)).toBe(true);
  });
});

describe('times', () => {
  it.each([
    ['NEWEST', -1],
    ['OLDEST', 1],
  ] as const)('that can not be trusted come last by %s', (order, direction) => {
    const { ids } = walk({ rows }, { order });
    const times = ids.map((id) => ((id - 1) % 7 === 3 ? null : 100 + ((id - 1) % 6)));
    const known = times.filter((time) => time !== null);
    expect(times.slice(known.length).every((time) => time === null)).toBe(true);
    expect(known).toEqual(known.toSorted((a, b) => direction * (a - b)));
  });
});

describe('cursors', () => {
  it('of another order, of another store, and of an index that is gone are refused', () => {
    const connection = StoreConnection.open(buildStore({ rows }), { lockWaitMs: 1000 });
    const cursor = search(connection, QUERY, 'g').hits[0]?.cursor ?? '';
    const next = (query: Partial<SearchQuery>, generation = 'g') => search(connection, { ...QUERY, after: cursor, ...query }, generation);
    expect(() => next({ order: 'NEWEST' })).toThrow(expect.objectContaining({ code: 'BAD_CURSOR' }));
    expect(() => next({}, 'h')).toThrow(expect.objectContaining({ code: 'STALE_CURSOR' }));
    expect(() => next({ after: 'nonsense' })).toThrow(expect.objectContaining({ code: 'BAD_CURSOR' }));
    expect(() => next({ roles: ['tool'] })).toThrow(expect.objectContaining({ code: 'BAD_CURSOR' }));
    expect(next({}).hits).toHaveLength(4);
    connection.close();
  });
});
