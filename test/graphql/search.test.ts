/** Search finds all of it or says that it may not; what a person types is text and never syntax (`field-cases` H). */
import { beforeAll, describe, expect, it } from 'vitest';
import { graphql } from '../generated/gql.ts';
import type { SearchFilter } from '../generated/graphql.ts';
import { structured } from '../support/message-rows.ts';
import { startInProcess, type TestServer } from '../support/server.ts';
import { M, type Row, S, type StoreSpec } from '../support/stores.ts';

const SEARCH = graphql(`
  query Search($profile: String!, $query: String!, $first: Int, $after: String, $filter: SearchFilter) {
    searchMessages(profile: $profile, query: $query, first: $first, after: $after, filter: $filter) {
      route
      degraded
      pageInfo { hasNextPage endCursor }
      nodes { snippet message { rowId text state } session { sessionId } }
    }
  }
`);

const PUNCTUATED = "issue #123 in src/main.py for ada@example.test at 50% don't use C++ or chat-send, v1.2; a_b";
const CJK = ['在春天的时候我们一起去爬山然后喝茶', '日本語のテキストを検索するのは難しい', '오늘은 날씨가 아주 좋아서 산책했다'];

function fifty(make: (index: number) => string): Row[] {
  return Array.from({ length: 50 }, (_, index) => M('x', { content: make(index) }));
}

const STORES: Readonly<Record<string, StoreSpec>> = {
  f49: { rows: [S('x'), ...fifty((index) => (index % 5 === 0 ? `${index} ${CJK[index % 3]} end` : `other words ${index}`))] },
  f50: { rows: [S('x'), M('x', { content: PUNCTUATED }), M('x', { content: 'nothing of the kind' })] },
  'f51-stale': {
    rows: [S('x'), M('x', { content: 'needle one' })],
    extra: (db) => {
      for (const name of db.prepare("SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE '%fts%'").pluck().all()) {
        db.exec(`DROP TRIGGER "${name}"`);
      }
      db.exec("INSERT INTO state_meta (key, value) VALUES ('fts_stale', '1')");
      for (const n of ['two', 'three', 'four']) {
        db.prepare("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('x', 'user', ?, 9)").run(`needle ${n}`);
      }
    },
  },
  'f51-damaged': {
    rows: [S('x'), ...['one', 'two', 'three', 'four'].map((n) => M('x', { content: `needle ${n}` }))],
    extra: (db) => db.unsafeMode().exec("UPDATE messages_fts_data SET block = CAST(printf('%.*c', length(block), 'x') AS BLOB)"),
  },
  'f51-none': { rows: [S('x'), ...['one', 'two', 'three', 'four'].map((n) => M('x', { content: `needle ${n}` }))], fts: 'none' },
  f52: {
    rows: [
      S('x'),
      M('x', {
        content: structured([
          { type: 'text', text: 'well hello there' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
        ]),
      }),
      M('x', { content: 'needle retired', active: 0 }),
      M('x', { content: 'needle archived', active: 0, compacted: 1 }),
      M('x', { content: 'needle live' }),
      M('gone', { content: 'needle of nobody' }),
    ],
  },
};

let server: TestServer;
beforeAll(async () => {
  server = await startInProcess({ profiles: STORES });
});

async function search(profile: string, query: string, filter: SearchFilter = {}) {
  const { searchMessages } = await server.read(SEARCH, { profile, query, first: 100, filter });
  return { ...searchMessages, texts: searchMessages.nodes.map((node) => node.message.text) };
}

describe('F49: text without spaces between its words', () => {
  const phrases = CJK.flatMap((text) => [1, 2, 3, 6].flatMap((length) => [text.slice(2, 2 + length), text.slice(5, 5 + length)]));

  it.each([...new Set(phrases.filter((phrase) => !/\s/.test(phrase)))])('finds "%s" wherever it stands', async (phrase) => {
    const found = await search('f49', phrase);
    const all = fifty((index) => (index % 5 === 0 ? `${index} ${CJK[index % 3]} end` : `other words ${index}`));
    const expected = all.map((row) => String(row.columns.content)).filter((text) => text.includes(phrase));
    expect(expected.length).toBeGreaterThan(0);
    expect([...found.texts].sort()).toEqual(expected.sort());
  });
});

describe('F50: punctuation', () => {
  it.each(['#123', 'src/main.py', 'ada@example.test', '50%', "don't", 'C++', 'chat-send', 'v1.2', 'a_b', '"chat-send"'])(
    'finds %s',
    async (query) => {
      expect((await search('f50', query)).texts).toContain(PUNCTUATED);
    },
  );

  it.each([
    '"unclosed',
    'AND',
    'OR',
    'NOT',
    'NEAR(',
    'NEAR(a b, 2)',
    'content:x',
    '*',
    '^x',
    '-word',
    '(',
    ')',
    '"',
    "'",
    '\\',
    '%',
    '_',
    ';--',
    '\u0000',
    '💥',
  ])('takes %j for text', async (query) => {
    const { data, errors } = await server.query(SEARCH, { profile: 'f50', query });
    expect(errors).toEqual([]);
    expect(data?.searchMessages).toBeDefined();
  });

  it('refuses a blank query', async () => {
    expect(await server.error(SEARCH, { profile: 'f50', query: '   ' })).toMatchObject({ extensions: { code: 'BAD_USER_INPUT' } });
  });
});

describe('F51: an index that can not be used', () => {
  it.each(['f51-stale', 'f51-damaged', 'f51-none'])('costs time and no hits, and the answer says so: %s', async (profile) => {
    const found = await search(profile, 'needle');
    expect(found).toMatchObject({ degraded: true, route: 'LIKE', pageInfo: { hasNextPage: false } });
    expect([...found.texts].sort()).toEqual(['needle four', 'needle one', 'needle three', 'needle two']);
    const { profile: facts } = await server.read<{ profile: { store: object } }, unknown>(
      `{ profile(name: "${profile}") { store { health searchDegraded search { indexPercent } } } }`,
    );
    expect(facts.store).toEqual({ health: 'OK', searchDegraded: true, search: { indexPercent: 0 } });
    const { session } = await server.read<{ session: { messages: object } }, unknown>(
      `{ session(profile: "${profile}", sessionId: "x") { messages { totalCount } } }`,
    );
    expect(session.messages).toEqual({ totalCount: 4 });
  });
});

describe('F52: rows that are found and rows that are not', () => {
  it('finds structured content and shows it as text', async () => {
    const found = await search('f52', 'hello');
    expect(found.texts).toEqual(['well hello there']);
    expect(found.nodes[0]?.snippet).toContain('hello');
    expect(found.nodes[0]?.snippet).not.toContain('\u0000');
  });

  it('finds what compaction archived, neither what was taken back nor rows of nobody', async () => {
    expect([...(await search('f52', 'needle')).texts].sort()).toEqual(['needle archived', 'needle live']);
    expect([...(await search('f52', 'needle', { includeInactive: true })).texts].sort()).toEqual([
      'needle archived',
      'needle live',
      'needle retired',
    ]);
  });

  it('gives all pages together what one page gives', async () => {
    const whole = (await search('f49', 'words')).nodes.map((node) => node.message.rowId);
    expect(whole).toHaveLength(40);
    const ids: (string | null | undefined)[] = [];
    const pageAfter = (after: string | null) => server.read(SEARCH, { profile: 'f49', query: 'words', first: 7, after });
    let page = await pageAfter(null);
    for (;;) {
      ids.push(...page.searchMessages.nodes.map((node) => node.message.rowId));
      if (!page.searchMessages.pageInfo.hasNextPage) break;
      page = await pageAfter(page.searchMessages.pageInfo.endCursor ?? null);
    }
    expect(ids).toEqual(whole);
  });
});
