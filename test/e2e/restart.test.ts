/** The process ends, on purpose and by force: the store is as it was, and the next start serves and says what it can't continue. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { graphql } from '../generated/gql.ts';
import type { ResumeSubscription } from '../generated/graphql.ts';
import { eventually, startTestServer } from '../support/server.ts';
import { createSocketClient, subscribe } from '../support/sockets.ts';
import { buildStore, M, S } from '../support/stores.ts';
import { startWriter } from '../support/writer.ts';

const RESUME = graphql(`
  subscription Resume($after: LiveCursor) {
    liveSessions(after: $after, maxRateHz: 50) { cursor reset changes { sessionId kinds } }
  }
`);
const EVERYTHING =
  '{ sessions { nodes { title preview messages { totalCount nodes { text } } lineage { mermaid } } } usage(groupBy: [MODEL]) { sessions } }';
const SEARCH = '{ searchMessages(query: "hello") { nodes { snippet } } }';

function freshHome(): string {
  return dirname(buildStore({ rows: ['a', 'b'].flatMap((id) => [S(id, { title: id }), M(id, { content: `hello ${id}` })]) }));
}

const digest = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');

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

const isGone = (pid: number) => !existsSync(`/proc/${pid}`) || readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');

describe('a server that is killed', () => {
  it('leaves the store as it was, no process behind, and the next start serves', async () => {
    const home = freshHome();
    const first = await startTestServer({ home });
    const before = digest(first.storePath);
    await first.read(EVERYTHING);
    await first.read(SEARCH);
    const client = createSocketClient(first);
    await subscribe(client, RESUME).next();
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
    await second.stop();
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
    await next.stop();
  });
});

describe('a subscriber that comes back after a restart', () => {
  it('gets a reset with everything, since nobody can tell what was missed', async () => {
    const home = freshHome();
    const first = await startTestServer({ home });
    const { liveSessions } = await subscribe<ResumeSubscription>(createSocketClient(first), RESUME).next();
    await first.stop('SIGKILL');
    const second = await startTestServer({ home });
    const client = createSocketClient(second);
    const resumed = await subscribe<ResumeSubscription>(client, RESUME, { after: liveSessions.cursor }).next();
    expect(resumed.liveSessions.reset).toBe(true);
    expect(resumed.liveSessions.changes.map(({ sessionId }) => sessionId).sort()).toEqual(['a', 'b']);
    await client.dispose();
    await second.stop();
  });

  it('finds the cursors of lists as good as ever', async () => {
    const home = freshHome();
    const first = await startTestServer({ home });
    const page = '{ sessions(first: 1) { pageInfo { endCursor } nodes { sessionId } } }';
    const { sessions } = await first.read<{ sessions: { pageInfo: { endCursor: string }; nodes: object[] } }, unknown>(page);
    await first.stop();
    const second = await startTestServer({ home });
    const next = await second.read(`{ sessions(first: 1, after: "${sessions.pageInfo.endCursor}") { nodes { sessionId } } }`);
    expect([...sessions.nodes, ...(next as { sessions: { nodes: object[] } }).sessions.nodes]).toEqual([
      { sessionId: 'b' },
      { sessionId: 'a' },
    ]);
    await second.stop();
  });
});

describe('a server that is asked to end', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('by %s ends with code 0, with clients connected, and leaves no process', async (signal) => {
    const server = await startTestServer({ home: freshHome() });
    const client = createSocketClient(server);
    await subscribe(client, RESUME).next();
    await server.read(SEARCH);
    const children = childrenOf(server.pid);
    const start = performance.now();
    await server.stop(signal);
    expect(performance.now() - start).toBeLessThan(3000);
    await eventually(() => children.every(isGone));
    expect(server.exitCode()).toBe(0);
  });
});
