/** The cost of a page follows the page: no statement behind lists and message pages reads a whole table (field-cases F67, F68). */
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openStore } from '../support/open-store.ts';
import type { SchemaVersion } from '../support/store-versions.ts';
import { buildStore, M, type Row, S } from '../support/stores.ts';

const PAGE = { size: 5, direction: 'FORWARD', after: null, before: null } as const;
const VIEWS = ['LIVE', 'DISPLAY', 'AUDIT'] as const;
const SCOPES = ['SEGMENT', 'CONVERSATION'] as const;

const ROWS: readonly Row[] = Array.from({ length: 30 }, (_, index) => [
  S(`s${index}`, {
    parent_session_id: index % 2 === 1 ? `s${index - 1}` : null,
    ...(index % 2 === 0 ? { ended_at: 200, end_reason: 'compression' } : {}),
  }),
  ...Array.from({ length: 6 }, (_unused, row) => M(`s${index}`, { content: `text ${row}`, timestamp: 10 + (row % 4) })),
]).flat();

const prepared = new Set<string>();
const prepare = Database.prototype.prepare;

beforeEach(() => {
  prepared.clear();
  vi.spyOn(Database.prototype, 'prepare').mockImplementation(function (this: Database.Database, sql: string) {
    prepared.add(sql);
    return prepare.call(this, sql);
  });
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** The steps of a statement's plan. */
function plan(db: Database.Database, sql: string): string[] {
  const names = [...sql.matchAll(/:([a-z]+)/g)].map(([, name]) => name ?? '');
  const nulls = names.length > 0 ? [Object.fromEntries(names.map((name) => [name, null]))] : [...sql.matchAll(/\?/g)].map(() => null);
  const steps = db.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(...nulls);
  return steps.map(({ detail }) => detail);
}

/** Those that read a whole table or index; lists that were handed in, and what was computed, don't count. */
function scans(db: Database.Database, sql: string): string[] {
  return plan(db, sql).filter((detail) => /^SCAN (?!.*VIRTUAL TABLE)(?!CONSTANT ROW)(?!asked$)(?!repeated$)(?!\(?subquery)/.test(detail));
}

it('a statement that reads a whole table is told', () => {
  const db = new Database(buildStore());
  expect(scans(db, 'SELECT id FROM messages WHERE content = ?')).toEqual(['SCAN messages']);
  expect(scans(db, 'SELECT COUNT(*) FROM sessions')).toHaveLength(1);
  expect(scans(db, 'SELECT m.id FROM json_each(?) r JOIN messages m ON m.id = r.value')).toEqual([]);
  db.close();
});

const touchesRows = (sql: string) => /\b(?:messages|sessions)\b/.test(sql);

describe.each<[SchemaVersion, 'as given' | 'filled']>([
  [26, 'as given'],
  [30, 'as given'],
  [30, 'filled'],
  [31, 'filled'],
])('a store of schema %s, display columns %s', (schema, display) => {
  it('is read by index alone for lists, pages and what they show', async () => {
    const path = buildStore({ schema, display, rows: ROWS });
    const store = openStore(path);
    await store.allSessions();
    prepared.clear();

    const writer = new Database(path);
    writer.exec("INSERT INTO messages (session_id, role, timestamp, content) VALUES ('s1', 'user', 400, 'x')");
    writer.exec("INSERT INTO sessions (id, source, started_at) VALUES ('new', 'cli', 500)");
    prepared.clear();
    const ids = ['s0', 's1', 's2', 'new'];
    for (const order of ['RECENT_ACTIVITY', 'STARTED', 'PINNED_THEN_RECENT', 'TITLE'] as const) {
      for (const collapse of ['LINEAGE', 'NONE'] as const) await store.list({ filter: {}, order, collapse }, PAGE);
    }
    await store.totals({ filter: {}, order: 'STARTED', collapse: 'LINEAGE' });
    await Promise.all([store.previews(ids), store.details(ids), store.modelUsage(ids), store.liveness(ids), store.sessions(ids)]);
    await Promise.all([store.conversations(ids), store.families(ids)]);
    for (const view of VIEWS) {
      for (const scope of SCOPES) {
        for (const direction of ['FORWARD', 'BACKWARD'] as const) {
          await store.messagePages(ids.map((sessionId) => ({ sessionId, view, scope, page: { ...PAGE, direction } })));
        }
        await store.messageCounts(ids.map((sessionId) => ({ sessionId, view, scope })));
      }
    }
    for (const order of ['ROW', 'CLOCK'] as const) await store.messagesAround([{ sessionId: 's1', rowId: '8', window: 2 }], order);
    await store.messages(['1', '2']);
    await store.rowVersions(['1']);
    await store.toolResults([{ sessionId: 's1', rowId: '7', toolCallId: 'c', live: true }]);
    await store.settle();

    const statements = [...prepared].filter(touchesRows);
    expect(statements.length).toBeGreaterThan(15);
    const found = statements.flatMap((sql) => scans(writer, sql).map((step) => `${step} in ${sql}`));
    writer.close();
    expect(found).toEqual([]);
  });

  it('has the counts of its sessions in an index', async () => {
    const path = buildStore({ schema, display, rows: ROWS });
    await openStore(path).allSessions();
    const counts = [...prepared].filter((sql) => sql.includes('AS last_timestamp'));
    expect(counts).toHaveLength(1);
    const db = new Database(path, { readonly: true });
    const steps = counts.flatMap((sql) => plan(db, sql)).filter((step) => step.includes(' m '));
    db.close();
    expect(steps).toEqual([expect.stringMatching(/^SEARCH m USING COVERING INDEX idx_messages_session_active \(session_id=\?\)$/)]);
  });
});

it('F68: the copies in a session of 20,000 rows with slots are found in one pass', async () => {
  const path = buildStore({ schema: 31, rows: [S('s')] });
  const db = new Database(path);
  for (const name of db.prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'trigger'").pluck().all()) {
    db.exec(`DROP TRIGGER ${name}`);
  }
  db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
    INSERT INTO messages (session_id, role, content, timestamp, active, compacted, display_order, display_identity)
    SELECT 's', 'user', 'text', i, i > 1, i <= 1, max(i, 2), randomblob(32) FROM n`);
  db.close();
  const store = openStore(path);
  const began = performance.now();
  const [count] = await store.messageCounts([{ sessionId: 's', view: 'DISPLAY', scope: 'CONVERSATION' }]);
  expect(count).toBe(19_999);
  // A pass takes a tenth of a second; one pass a row took minutes.
  expect(performance.now() - began).toBeLessThan(5000);
});
