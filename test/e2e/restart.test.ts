/** The process ends, on purpose and by force: the store is as it was, and the next start serves and says what it can't continue. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { graphql } from '../generated/gql.ts';
import type { ResumeSubscription } from '../generated/graphql.ts';
import { eventually, startTestServer, type TestServer } from '../support/server.ts';
import { createSocketClient, subscribe } from '../support/sockets.ts';
import { buildStore, M, S } from '../support/stores.ts';
import { startWriter } from '../support/writer.ts';

const RESUME = graphql(`
  subscription Resume($after: LiveCursor) {
    liveSessions(after: $after, maxRateHz: 50) { cursor reset changes { sessionId session { title } } }
  }
`);
const PAGE = graphql(`
  query PageOfOne($after: String) { sessions(first: 1, after: $after) { pageInfo { endCursor } nodes { sessionId title } } }
`);
const EVERYTHING =
  '{ sessions { nodes { title preview messages { totalCount nodes { text } } lineage { mermaid } } } usage(groupBy: [MODEL]) { sessions } }';
const SEARCH = '{ searchMessages(query: "hello") { nodes { snippet } } }';

function freshHome(): string {
  return dirname(buildStore({ rows: ['a', 'b'].flatMap((id) => [S(id, { title: id }), M(id, { content: `hello ${id}` })]) }));
}

const digest = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');

const follow = (server: TestServer, after: string | null = null) =>
  subscribe<ResumeSubscription>(createSocketClient(server), RESUME, { after });

/** Processes that the server started. */
function childrenOf(pid: number): number[] {
  return readdirSync('/proc').flatMap((entry) => {
    if (!/^\d+$/.test(entry)) return [];
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === pid ? [Number(entry)] : [];
    } catch {
      return [];
    }
  });
}

function isGone(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return !existsSync(`/proc/${pid}`);
  }
}

describe('a server that is killed', () => {
  it('leaves the store as it was, no process behind, and the next start serves', async () => {
    const home = freshHome();
    const first = await startTestServer({ home });
    const before = digest(first.storePath);
    await first.read(EVERYTHING);
    await first.read(SEARCH);
    await follow(first).next();
    const children = childrenOf(first.pid);
    expect(children.length).toBeGreaterThan(0);
    const answers = Array.from({ length: 20 }, () => first.query(EVERYTHING).catch(() => null));
    await first.stop('SIGKILL');
    await Promise.all(answers);
    expect(digest(first.storePath)).toBe(before);
    await eventually(() => children.every(isGone));
    const db = new Database(first.storePath);
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
    db.close();
    expect(digest(first.storePath)).toBe(before);
    const second = await startTestServer({ home });
    expect(await second.read('{ sessions { totalCount } }')).toEqual({ sessions: { totalCount: 2 } });
  });

  it('does not take back what a writer has committed, or hold it up', async () => {
    const home = freshHome();
    const server = await startTestServer({ home });
    const writer = await startWriter(server.storePath);
    await writer.exec("UPDATE sessions SET title = 'before' WHERE id = 'a'");
    await server.read(EVERYTHING);
    await server.stop('SIGKILL');
    await writer.exec("UPDATE sessions SET title = 'after' WHERE id = 'a'");
    await writer.close();
    const next = await startTestServer({ home });
    expect(await next.read('{ session(sessionId: "a") { title } }')).toEqual({ session: { title: 'after' } });
  });
});

describe('after a restart', () => {
  it('the cursor of a list is as good as ever, and that of a feed gives everything anew, since nobody can tell what was missed', async () => {
    const home = freshHome();
    const first = await startTestServer({ home });
    const page = (await first.read(PAGE)).sessions;
    const { cursor } = (await follow(first).next()).liveSessions;
    await first.stop('SIGKILL');
    const writer = await startWriter(first.storePath);
    await writer.exec("UPDATE sessions SET title = 'meanwhile' WHERE id = 'a'");
    const second = await startTestServer({ home });
    const next = (await second.read(PAGE, { after: page.pageInfo.endCursor })).sessions;
    expect([...page.nodes, ...next.nodes]).toEqual([
      { sessionId: 'b', title: 'b' },
      { sessionId: 'a', title: 'meanwhile' },
    ]);
    const feed = follow(second, cursor);
    const { reset, changes } = (await feed.next()).liveSessions;
    expect(reset).toBe(true);
    expect(Object.fromEntries(changes.map(({ sessionId, session }) => [sessionId, session?.title]))).toEqual({ a: 'meanwhile', b: 'b' });
    // And from there it goes on as ever.
    await writer.exec("UPDATE sessions SET title = 'now' WHERE id = 'b'");
    expect((await feed.next()).liveSessions).toMatchObject({ reset: false, changes: [{ sessionId: 'b', session: { title: 'now' } }] });
    await writer.close();
  });
});

describe('two servers on one store', () => {
  it('answer alike, hear the same changes, and one goes on when the other is killed', async () => {
    const home = freshHome();
    const before = digest(`${home}/state.db`);
    const servers = await Promise.all([startTestServer({ home }), startTestServer({ home })]);
    const [first, second] = servers;
    const [one, other] = await Promise.all(servers.map((server) => server.read(EVERYTHING)));
    expect(one).toEqual(other);
    expect(digest(first.storePath)).toBe(before);
    const feeds = [follow(first), follow(second)] as const;
    const [{ liveSessions }] = await Promise.all([feeds[0].next(), feeds[1].next()]);
    const writer = await startWriter(first.storePath);
    for (const title of ['One', 'Two', 'Three']) {
      await writer.exec('UPDATE sessions SET title = ? WHERE id = ?', [title, 'a']);
      for (const feed of feeds) expect((await feed.next()).liveSessions.changes).toMatchObject([{ sessionId: 'a', session: { title } }]);
    }
    // A cursor of a list is the store's, one of a feed is of the process that counted.
    const { sessions } = await first.read(PAGE);
    expect((await second.read(PAGE, { after: sessions.pageInfo.endCursor })).sessions.nodes).toEqual([{ sessionId: 'a', title: 'Three' }]);
    expect((await follow(second, liveSessions.cursor).next()).liveSessions.reset).toBe(true);
    await first.stop('SIGKILL');
    await writer.exec("UPDATE sessions SET title = 'Four' WHERE id = 'a'");
    expect((await feeds[1].next()).liveSessions.changes).toMatchObject([{ session: { title: 'Four' } }]);
    await writer.close();
  });
});

describe('a server that is asked to end', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('by %s ends with code 0, with clients connected, and leaves no process', async (signal) => {
    const server = await startTestServer({ home: freshHome() });
    await follow(server).next();
    await server.read(SEARCH);
    const children = childrenOf(server.pid);
    const start = performance.now();
    await server.stop(signal);
    expect(performance.now() - start).toBeLessThan(3000);
    await eventually(() => children.every(isGone));
    expect(server.exitCode()).toBe(0);
  });
});
