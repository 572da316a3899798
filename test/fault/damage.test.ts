/** Damage inside a store: what can be read is read, the rest is an error of its own and never an empty list (2.3; field-cases F20, F53, F54). */
import { closeSync, openSync, writeSync } from 'node:fs';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { StoreUnreadable } from '../../src/errors.ts';
import { describeHealth } from '../../src/state-db/health.ts';
import { copyStore } from '../support/golden.ts';
import { openStore } from '../support/open-store.ts';
import { buildStore, M, S } from '../support/stores.ts';

const QUERY = { filter: {}, order: 'RECENT_ACTIVITY', collapse: 'LINEAGE' } as const;
const PAGE = { size: 200, direction: 'FORWARD', after: null, before: null } as const;
const segment = (sessionId: string, view: 'LIVE' | 'DISPLAY' | 'AUDIT' = 'LIVE') =>
  ({ sessionId, view, scope: 'SEGMENT', page: PAGE }) as const;

const SEARCH = {
  text: 'needle',
  order: 'RANK',
  limit: 20,
  after: null,
  sessionId: null,
  sources: null,
  excludeSources: null,
  roles: null,
} as const;
const REST = { includeInactive: false, includeReasoning: false, since: null, before: null } as const;

/** A store in which the rows of `whole` and of `torn` lie on pages of their own; those of `torn` that hold rows are overwritten. */
function withTornPages(object: 'messages' | 'idx_messages_session'): string {
  const text = 'x'.repeat(3000);
  const rowsOf = (id: string) => Array.from({ length: 20 }, (_, index) => M(id, { content: `${id} ${index} ${text}` }));
  const path = buildStore({ rows: [S('whole', { title: 'Whole' }), S('torn', { title: 'Torn' }), ...rowsOf('whole'), ...rowsOf('torn')] });
  const db = new Database(path, { readonly: true });
  const size = Number(db.pragma('page_size', { simple: true }));
  const pages = db
    .prepare("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY pageno")
    .pluck()
    .all(object) as number[];
  db.close();
  // Rows lie on the leaves in the order of their ids: the last ones are those of the second session.
  const torn = object === 'messages' ? pages.slice(-8) : pages;
  const file = openSync(path, 'r+');
  for (const page of torn) writeSync(file, Buffer.alloc(size, 0xa5), 0, size, (page - 1) * size);
  closeSync(file);
  return path;
}

async function thrown(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => null,
    (error: unknown) => error,
  );
}

describe('a schema that declares a table twice', () => {
  it('#83 is told apart from lost rows, and every read says so', async () => {
    const path = buildStore({ rows: [S('a'), M('a')] });
    const db = new Database(path);
    db.unsafeMode();
    db.pragma('writable_schema = ON');
    db.exec("INSERT INTO sqlite_master SELECT * FROM sqlite_master WHERE name = 'messages_fts'");
    db.close();
    const store = openStore(path);
    expect(await store.status()).toMatchObject({
      health: 'SCHEMA_MALFORMED',
      problem: describeHealth('SCHEMA_MALFORMED'),
      sessionCount: null,
    });
    for (const read of [store.list(QUERY, PAGE), store.sessions(['a']), store.messagePages([segment('a')])]) {
      expect(await thrown(read)).toMatchObject({ code: 'SCHEMA_MALFORMED' });
    }
  });
});

describe('damaged pages of messages', () => {
  it('cost the session that lies on them, and no other', async () => {
    const store = openStore(withTornPages('messages'));
    expect((await store.list(QUERY, PAGE)).items.map(({ node }) => node.title).sort()).toEqual(['Torn', 'Whole']);
    const [whole] = await store.messagePages([segment('whole')]);
    expect(whole?.items).toHaveLength(20);
    for (const view of ['LIVE', 'DISPLAY', 'AUDIT'] as const) {
      const error = await thrown(store.messagePages([segment('torn', view)]));
      expect(error).toBeInstanceOf(StoreUnreadable);
      expect(error).toMatchObject({ code: 'CORRUPT', message: describeHealth('CORRUPT') });
    }
    expect(await thrown(store.transcripts([{ sessionId: 'torn', view: 'DISPLAY' }]))).toMatchObject({ code: 'CORRUPT' });
    expect(await store.transcripts([{ sessionId: 'whole', view: 'DISPLAY' }])).toMatchObject([{ messages: { length: 20 } }]);
    expect(await store.status()).toMatchObject({ health: 'CORRUPT', problem: describeHealth('CORRUPT'), sessionCount: 2 });
    expect((await store.sessions(['torn'])).get('torn')?.title).toBe('Torn');
  });

  it('of an index leave the counts of its sessions unknown, not zero', async () => {
    const path = withTornPages('idx_messages_session');
    const store = openStore(path);
    const sessions = await store.sessions(['whole', 'torn']);
    for (const id of ['whole', 'torn']) {
      const { stats } = sessions.get(id) ?? {};
      expect(stats === null || stats?.total === 20).toBe(true);
    }
    expect((await store.list(QUERY, PAGE)).items).toHaveLength(2);
  });
});

describe('a damaged full-text index', () => {
  it.each(['fts-damaged', 'fts-damaged-write', 'fts-damaged-latent', 'fts-damaged-trigram'])(
    'costs ranked search alone (%s)',
    async (name) => {
      const store = openStore(copyStore(name));
      expect(await store.status()).toMatchObject({
        health: 'OK',
        problem: null,
        sessionCount: 17,
        messageCount: 173,
        searchDegraded: true,
      });
      const [page] = await store.messagePages([segment('m_long', 'DISPLAY')]);
      expect(page?.items).toHaveLength(48);
      const found = await store.search({ ...SEARCH, ...REST, text: 'zanzibar' });
      expect(found.hits.map(({ message }) => message.rowId)).toEqual(['14']);
      const cjk = await store.search({ ...SEARCH, ...REST, text: '大别山项目' });
      expect(cjk.hits.map(({ message }) => message.rowId)).toEqual(['29']);
      expect(found.degraded || cjk.degraded).toBe(true);
    },
  );
});
