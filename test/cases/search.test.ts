/** Cases 56 to 72 of `spec/state-db.md` 17: what is searched for, where, and what is found. */
import type Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import type { SearchRequest, SearchResult } from '../../src/session-store.ts';
import { LONGEST_QUERY, sanitizeQuery } from '../../src/state-db/search/sanitize.ts';
import { structured } from '../support/message-rows.ts';
import { M, type Row, S, type StoreSpec } from '../support/stores.ts';
import { CaseStore } from './case-store.ts';

const REQUEST: SearchRequest = {
  text: '',
  order: 'RANK',
  limit: 20,
  after: null,
  sessionId: null,
  sources: null,
  excludeSources: null,
  roles: null,
  includeInactive: false,
  includeReasoning: false,
  since: null,
  before: null,
};

async function search(spec: StoreSpec | readonly Row[], text: string, request: Partial<SearchRequest> = {}): Promise<SearchResult> {
  const { store } = await CaseStore.open(spec);
  return store.search({ ...REQUEST, text, ...request });
}

const rowIds = ({ hits }: SearchResult) => hits.map(({ message }) => Number(message.rowId));
const row = (content: string, columns = {}) => M('s', { content, ...columns });

describe('queries', () => {
  it.each([
    ['chat-send', '"chat-send"'],
    ['P2.2 release', '"P2.2" release'],
    ['TODO: fix', 'TODO  fix'],
    ['AND foo OR', 'foo'],
    ['**pre*', 'pre*'],
    ['100%', '100'],
    ['a/b/c.ts', 'a b "c.ts"'],
    ['NOT', ''],
  ])('#56 %s is searched as %s', (text, sanitized) => {
    expect(sanitizeQuery(text)).toBe(sanitized);
  });

  it.each(['-deploy', 'foo.'])('#57 %s finds nothing and is no error', async (text) => {
    expect(await search([S('s'), row('deploy foo')], text)).toMatchObject({ hits: [], route: 'FTS', degraded: false });
  });

  it('#58 only the first 2048 characters count', async () => {
    const text = `${'needle '.repeat(2048 / 7)}${' '.repeat(10)}`.slice(0, LONGEST_QUERY) + ' absent'.repeat(500);
    expect(text.length).toBeGreaterThan(5000);
    expect(rowIds(await search([S('s'), row('a needle')], text))).toEqual([1]);
    expect([...sanitizeQuery('x'.repeat(5000))]).toHaveLength(2048);
  });
});

describe('text without spaces', () => {
  const rows = [S('s'), row('修改youer服务端 广西桂林')];

  it('#59 a word inside it is found by the second try', async () => {
    expect(await search(rows, 'youer')).toMatchObject({ hits: [{ message: { rowId: '1' } }], route: 'TRIGRAM' });
  });

  it('#60 two characters are found as a substring', async () => {
    expect(await search(rows, '桂林')).toMatchObject({ hits: [{ message: { rowId: '1' } }], route: 'LIKE', degraded: false });
  });

  it('#61 three characters are found by the trigram index', async () => {
    expect(await search(rows, '广西桂')).toMatchObject({ hits: [{ message: { rowId: '1' } }], route: 'TRIGRAM' });
  });

  it('#66 an index whose tokenizer is missing is left alone', async () => {
    const extra = (db: Database.Database) => {
      db.exec("CREATE VIRTUAL TABLE messages_fts_cjk USING fts5(content, tool_name, tool_calls, tokenize='unicode61')");
      db.unsafeMode();
      db.pragma('writable_schema = ON');
      db.exec("UPDATE sqlite_master SET sql = replace(sql, 'unicode61', 'cjk_unicode61') WHERE name = 'messages_fts_cjk'");
    };
    const store = await CaseStore.open({ rows, extra });
    expect(await store.list()).toEqual(['s']);
    expect((await store.store.status()).search).toMatchObject({ cjk: false, trigram: true });
    expect(await store.store.search({ ...REQUEST, text: '广西桂' })).toMatchObject({
      hits: [{ message: { rowId: '1' } }],
      route: 'TRIGRAM',
    });
  });
});

describe('what the indexes hold', () => {
  it('#62 the end of a long tool row is found when tool rows are asked for', async () => {
    const spec: StoreSpec = { schema: 31, rows: [S('s'), row(`${'x '.repeat(4500)}tailword`, { role: 'tool' })] };
    expect(await search(spec, 'tailword')).toMatchObject({ hits: [] });
    expect(await search(spec, 'tailword', { roles: ['tool'] })).toMatchObject({ hits: [{ message: { rowId: '1' } }], route: 'LIKE' });
  });

  it('#63 words of structured content are found with and without an index', async () => {
    const rows = [S('s'), row(structured([{ type: 'text', text: 'a needle' }]))];
    expect(await search(rows, 'needle')).toMatchObject({ hits: [{ message: { rowId: '1' } }], route: 'FTS' });
    expect(await search({ rows, fts: 'none' }, 'needle')).toMatchObject({
      hits: [{ message: { rowId: '1' } }],
      route: 'LIKE',
      degraded: true,
    });
  });

  it('#64 an index that is marked stale is not used', async () => {
    const spec: StoreSpec = { rows: [S('s'), row('deploy now')], meta: { fts_stale: '1' } };
    expect(await search(spec, 'deploy')).toMatchObject({ hits: [{ message: { rowId: '1' } }], route: 'LIKE', degraded: true });
  });

  it('#65 rows that a rebuild has not reached are found beside it', async () => {
    const spec: StoreSpec = {
      rows: [S('s'), row('deploy', { id: 10 }), row('deploy', { id: 70 }), row('deploy', { id: 120 })],
      meta: { fts_rebuild_high_water: '100', fts_rebuild_progress: '40' },
      extra: (db) => db.exec("INSERT INTO messages_fts(messages_fts, rowid, content) VALUES ('delete', 70, 'deploy')"),
    };
    const found = await search(spec, 'deploy');
    expect(rowIds(found).sort((a, b) => a - b)).toEqual([10, 70, 120]);
    expect(found).toMatchObject({ indexPercent: 40, degraded: true });
  });

  it('#67 an inline index finds tools by their names', async () => {
    const spec: StoreSpec = { schema: 22, rows: [S('s'), row('output', { role: 'tool', tool_name: 'terminal' })] };
    const found = await search(spec, 'terminal');
    expect(found.hits.map(({ snippet }) => snippet.trim())).toEqual(['output >>>terminal<<<']);
  });
});

describe('what is found', () => {
  it('#68 rewound rows only when they are asked for', async () => {
    const rows = [S('s'), row('needle', { active: 0 })];
    expect(rowIds(await search(rows, 'needle'))).toEqual([]);
    expect(rowIds(await search(rows, 'needle', { includeInactive: true }))).toEqual([1]);
  });

  it('#69 hidden rows never', async () => {
    const rows = [S('s'), row('needle', { display_kind: 'hidden' })];
    for (const includeInactive of [false, true]) expect(rowIds(await search(rows, 'needle', { includeInactive }))).toEqual([]);
  });

  it('#70 an empty list of sources is a real filter, of excluded ones none', async () => {
    const rows = [S('s'), row('needle')];
    expect(rowIds(await search(rows, 'needle', { sources: [] }))).toEqual([]);
    expect(rowIds(await search(rows, 'needle', { excludeSources: [] }))).toEqual([1]);
  });

  it('#71 a group without a positive term finds nothing by itself', async () => {
    const rows = [S('s'), row('foo'), row('neither'), row('bar')];
    expect(rowIds(await search({ rows, fts: 'none' }, 'foo OR NOT bar'))).toEqual([1]);
  });

  it('#72 signs of LIKE in a phrase stand for themselves', async () => {
    const rows = [S('s'), row('100% sure', { role: 'tool' }), row('1000 sure', { role: 'tool' })];
    expect(rowIds(await search(rows, '"100%"', { roles: ['tool'] }))).toEqual([1]);
  });
});
