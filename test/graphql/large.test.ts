/** Large stores and sessions: the cost of an answer follows what was asked for, and nobody waits for somebody else's slow read. */
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { openDescriptors, startInProcess, type TestServer } from '../support/server.ts';
import { M, S } from '../support/stores.ts';
import { startWriter } from '../support/writer.ts';

const numbers = (n: number) => `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${n})`;

let server: TestServer;
beforeAll(async () => {
  server = await startInProcess({
    settings: { slowReaders: '1' },
    rows: [S('huge'), S('family'), M('family', { content: 'hello' })],
    extra: (db) =>
      db.exec(`
        ${numbers(30_000)} INSERT INTO messages (session_id, role, content, timestamp)
          SELECT 'huge', CASE i % 2 WHEN 0 THEN 'tool' ELSE 'assistant' END, 'row ' || i || ' ' || printf('%.*c', 600, 'x'), i FROM n;
        ${numbers(40_000)} INSERT INTO sessions (id, source, started_at, parent_session_id, model_config)
          SELECT 'helper' || i, 'subagent', 200 + i, 'family', '{"_delegate_from":"family"}' FROM n;
        INSERT INTO sessions (id, source, started_at, ended_at, end_reason) VALUES ('link1', 'cli', 1, 2, 'compression');
        ${numbers(1500)} INSERT INTO sessions (id, source, started_at, ended_at, end_reason, parent_session_id)
          SELECT 'link' || (i + 1), 'cli', i + 1, i + 2, CASE WHEN i < 1500 THEN 'compression' END, 'link' || i FROM n;
        INSERT INTO messages (session_id, role, content, timestamp) VALUES ('link1501', 'user', 'the end of a long chain', 9);`),
  });
});

describe('F68: a session of 30,000 messages', () => {
  it('shows its end at the cost of the page', async () => {
    const page =
      'query End { session(sessionId: "huge") { messages(last: 30) { totalCount pageInfo { hasPreviousPage } nodes { rowId } } } }';
    await server.read(page);
    const { session } = await server.read<{ session: { messages: object } }, unknown>(page);
    expect(session.messages).toMatchObject({ totalCount: 30_000, pageInfo: { hasPreviousPage: true } });
    const small = await server.requestLine('End');
    await server.read('query Short { session(sessionId: "family") { messages(last: 30) { totalCount nodes { rowId } } } }');
    const short = await server.requestLine('Short');
    expect(Number(small.statements)).toBeLessThanOrEqual(Number(short.statements) + 2);
    expect(Number(small.rows)).toBeLessThan(Number(short.rows) + 70);
  });

  it('is refused as a whole, with the count and the setting, before it is read', async () => {
    const { errors, data } = await server.query<{ session: object }, unknown>(
      'query Whole { session(sessionId: "huge") { sessionId transcript { revision } } }',
    );
    expect(data).toEqual({ session: { sessionId: 'huge', transcript: null } });
    expect(errors).toMatchObject([
      { message: expect.stringContaining('--max-transcript-messages'), extensions: { code: 'TRANSCRIPT_TOO_LARGE', limit: 20_000 } },
    ]);
    expect(Number((await server.requestLine('Whole')).rows)).toBeLessThan(10);
  });
});

describe('F59: very many sessions in one answer', () => {
  it('a family of 40,000 is cut, and says so', async () => {
    const { session } = await server.read<{ session: { lineage: { nodes: object[]; problems: object[] } } }, unknown>(
      '{ session(sessionId: "family") { lineage { nodes { sessionId } problems { code } } } }',
    );
    expect(session.lineage.nodes).toHaveLength(2000);
    expect(session.lineage.problems).toEqual([{ code: 'TRUNCATED' }]);
  });

  it('as many as 10,000 can be followed, more are refused', async () => {
    const subscribe = async (count: number) => {
      const ids = Array.from({ length: count }, (_, index) => `helper${index}`);
      const aborter = new AbortController();
      const response = await fetch(server.graphql, {
        method: 'POST',
        headers: { ...server.headers, accept: 'text/event-stream' },
        body: JSON.stringify({ query: 'subscription ($ids: [String!]) { liveSessions(sessionIds: $ids) { cursor } }', variables: { ids } }),
        signal: aborter.signal,
      });
      const first = await response.body?.pipeThrough(new TextDecoderStream()).getReader().read();
      aborter.abort();
      return String(first?.value);
    };
    expect(await subscribe(10_000)).not.toContain('errors');
    expect(await subscribe(10_001)).toContain('at most 10000');
  });

  it('F01: a chain of 1,501 segments is still one row, found under its first id', async () => {
    const { sessions } = await server.read<{ sessions: { nodes: { sessionId: string; conversationId: string }[] } }, unknown>(
      '{ sessions { nodes { sessionId conversationId } } }',
    );
    expect(sessions.nodes.filter((node) => node.sessionId.startsWith('link'))).toMatchObject([{ conversationId: 'link1' }]);
  });
});

describe('F81: while something slow is going on', () => {
  it('a search through every row, small queries are answered at once', async () => {
    const start = performance.now();
    const slow = Promise.all(
      Array.from({ length: 4 }, (_, index) =>
        server.query(
          `{ searchMessages(query: "row ${index}99", filter: { includeReasoning: true }, first: 5) { route nodes { snippet } } }`,
        ),
      ),
    );
    let done = false;
    void slow.then(() => {
      done = true;
    });
    const times: number[] = [];
    while (!done) {
      const asked = performance.now();
      await server.read('{ session(sessionId: "family") { sessionId messages(last: 1) { nodes { text } } } }');
      times.push(performance.now() - asked);
    }
    const total = performance.now() - start;
    for (const { errors, data } of await slow) expect([errors, JSON.stringify(data)]).toEqual([[], expect.stringContaining('LIKE')]);
    expect(times.length).toBeGreaterThan(1);
    // One that had to wait for a search would take as long as the searches; on a busy machine everything takes longer.
    expect(Math.max(...times)).toBeLessThan(Math.max(250, total / 2));
  });

  it('a write lock of another program, queries are answered as ever', async () => {
    const writer = await startWriter(server.storePath);
    await writer.exec('BEGIN IMMEDIATE');
    await writer.exec("UPDATE sessions SET title = 'not yet' WHERE id = 'family'");
    const start = performance.now();
    await Promise.all(
      Array.from({ length: 50 }, async () => {
        expect(await server.read('{ session(sessionId: "family") { title } }')).toEqual({ session: { title: null } });
      }),
    );
    expect(performance.now() - start).toBeLessThan(2000);
    await writer.exec('COMMIT');
    await writer.close();
    // Changed columns of a store with so many sessions are found by a comparison at intervals.
    const title = async () => JSON.stringify(await server.read('{ session(sessionId: "family") { title } }'));
    for (let tries = 0; tries < 40 && !(await title()).includes('not yet'); tries++) await sleep(50);
    expect(await title()).toContain('not yet');
  });

  it('F69: 300 lists in a row leave no descriptor behind', async () => {
    const small = await startInProcess({
      rows: Array.from({ length: 20 }, (_, index) => [S(`s${index}`), M(`s${index}`, { content: 'x' })]).flat(),
    });
    const open = () =>
      openDescriptors(process.pid)
        .filter((path) => path.startsWith(small.home))
        .sort();
    const list = () => small.read('{ sessions(first: 5) { nodes { displayTitle } } }');
    await list();
    const before = open();
    for (let round = 0; round < 30; round++) await Promise.all(Array.from({ length: 10 }, list));
    expect(open()).toEqual(before);
    await small.stop();
  });
});
