/** Changes that other programs make to sessions, as frames: what happened, once, in order, resumable (`field-cases` F03, F48, F55, F79). */
import { copyFileSync, renameSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { JobPool } from '../../src/jobs/pool.ts';
import { type FollowOptions, type LiveSessionsFrame, SessionFeed } from '../../src/live/session-feed.ts';
import { StateDbStore } from '../../src/state-db/store.ts';
import { buildStore, M, type Row, removeStores, S } from '../support/stores.ts';
import { startWriter, type Writer } from '../support/writer.ts';

afterAll(removeStores);

const cleanups: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface Followed {
  readonly feed: SessionFeed;
  readonly store: StateDbStore;
  readonly path: string;
  readonly writer: Writer;
  readonly follow: (options?: Partial<FollowOptions>) => Promise<Follower>;
}

async function followed(rows: readonly Row[]): Promise<Followed> {
  const path = buildStore({ rows });
  const feed = new SessionFeed();
  const store = openStore(path);
  const writer = await startWriter(path);
  cleanups.push(
    () => writer.close(),
    () => feed.close(),
    () => store.close(),
  );
  const follow = async (options: Partial<FollowOptions> = {}) => {
    const aborter = new AbortController();
    const frames = await feed.follow(store, { sessionIds: null, after: null, maxRateHz: 50, ...options }, aborter.signal);
    cleanups.push(() => aborter.abort());
    return new Follower(frames, aborter);
  };
  return { feed, store, path, writer, follow };
}

function openStore(path: string): StateDbStore {
  return new StateDbStore({
    profile: 'default',
    path,
    strictObserver: false,
    largestCatalogue: 10_000,
    slowReadLimitMs: 1000,
    largestTranscript: 1000,
    jobs: new JobPool(new URL('file:///unused'), 1),
    now: () => Date.now() / 1000,
  });
}

class Follower {
  readonly frames: AsyncIterableIterator<LiveSessionsFrame>;
  readonly aborter: AbortController;
  #pending: Promise<IteratorResult<LiveSessionsFrame>> | null = null;

  constructor(frames: AsyncIterableIterator<LiveSessionsFrame>, aborter: AbortController) {
    this.frames = frames;
    this.aborter = aborter;
  }

  async next(): Promise<LiveSessionsFrame> {
    this.#pending ??= this.frames.next();
    const { value, done } = await this.#pending;
    this.#pending = null;
    if (done) throw new Error('the feed ended');
    return value;
  }

  /** Frames until none comes for a while. */
  async drain(ms = 250): Promise<LiveSessionsFrame[]> {
    const frames: LiveSessionsFrame[] = [];
    for (;;) {
      this.#pending ??= this.frames.next();
      const result = await Promise.race([this.#pending, sleep(ms)]);
      if (result === undefined) return frames;
      this.#pending = null;
      if (result.done) return frames;
      frames.push(result.value);
    }
  }
}

/** `id KIND+KIND`, with what it continues and that it is gone. */
function shown(frame: LiveSessionsFrame): string[] {
  return frame.changes.map(({ sessionId, kinds, previousSessionId, deleted }) =>
    [sessionId, kinds.join('+'), previousSessionId === null ? '' : `after ${previousSessionId}`, deleted ? 'gone' : '']
      .filter(Boolean)
      .join(' '),
  );
}

const message = (id: string, text = 'more') =>
  `INSERT INTO messages (session_id, role, content, timestamp) VALUES ('${id}', 'user', '${text}', 900)`;

describe('F48: what another program does', () => {
  it('is announced as what it is, within two seconds, with the state after it', async () => {
    const { follow, writer } = await followed([S('x', { title: 'X' }), M('x', { content: 'hello' }), S('d'), M('d', { content: 'bye' })]);
    const feed = await follow();
    expect(await feed.next()).toMatchObject({ changes: [], reset: false });
    const start = performance.now();
    await writer.exec(message('x'));
    const appended = await feed.next();
    expect(performance.now() - start).toBeLessThan(2000);
    expect(shown(appended)).toEqual(['x MESSAGES']);
    expect(appended.changes[0]?.session).toMatchObject({ id: 'x', title: 'X', stats: { total: 2, live: 2 } });
    await writer.transaction(["INSERT INTO sessions (id, source, started_at) VALUES ('n', 'cli', 500)", message('n')]);
    expect(shown(await feed.next())).toEqual(['n ADDED']);
    await writer.transaction(["DELETE FROM messages WHERE session_id = 'd'", "DELETE FROM sessions WHERE id = 'd'"]);
    const [gone] = (await feed.next()).changes;
    expect(gone).toMatchObject({ sessionId: 'd', conversationId: 'd', kinds: ['DELETED'], deleted: true, session: null });
    await writer.exec("UPDATE sessions SET ended_at = 700, end_reason = 'tui_exit' WHERE id = 'x'");
    expect(shown(await feed.next())).toEqual(['x ENDED']);
    await writer.exec("UPDATE sessions SET ended_at = NULL, end_reason = NULL WHERE id = 'x'");
    expect(shown(await feed.next())).toEqual(['x REOPENED']);
    await writer.exec("UPDATE sessions SET title = 'Renamed' WHERE id = 'x'");
    const renamed = await feed.next();
    expect([shown(renamed), renamed.changes[0]?.session?.title]).toEqual([['x UPDATED'], 'Renamed']);
    await writer.exec("UPDATE messages SET active = 0 WHERE session_id = 'x' AND id = 1");
    expect(shown(await feed.next())).toEqual(['x MESSAGES']);
  });

  it('F03: by a rotation names the conversation, what was, and what is', async () => {
    const { follow, writer } = await followed([S('a'), M('a', { content: 'hello' })]);
    const feed = await follow();
    await feed.next();
    await writer.transaction([
      "UPDATE sessions SET ended_at = 200, end_reason = 'compression' WHERE id = 'a'",
      "INSERT INTO sessions (id, source, started_at, parent_session_id) VALUES ('b', 'cli', 200, 'a')",
      message('b'),
    ]);
    const changes = (await feed.drain()).flatMap((frame) => frame.changes);
    expect(changes.find(({ sessionId }) => sessionId === 'b')).toMatchObject({
      conversationId: 'a',
      previousSessionId: 'a',
      kinds: expect.arrayContaining(['ROTATED']),
    });
    expect(changes.find(({ sessionId }) => sessionId === 'a')).toMatchObject({ conversationId: 'a', kinds: ['ENDED'] });
  });

  it('that is undone again before anybody looks is no change', async () => {
    const { follow, writer } = await followed([S('a'), M('a', { content: 'hello' })]);
    const feed = await follow();
    await feed.next();
    await writer.exec('BEGIN IMMEDIATE');
    await writer.exec(message('a'));
    await writer.exec('ROLLBACK');
    await writer.exec("UPDATE state_meta SET value = value WHERE key = 'nothing'");
    expect(await feed.drain(400)).toEqual([]);
  });
});

describe('following some sessions only', () => {
  const rows = ['a', 'b', 'c'].flatMap((id) => [S(id), M(id, { content: id })]);

  it('begins with their state, of those that do not exist too, and leaves the others out', async () => {
    const { follow, writer } = await followed(rows);
    const feed = await follow({ sessionIds: ['a', 'nope'] });
    expect(shown(await feed.next())).toEqual(['a STATE', 'nope DELETED gone']);
    await writer.exec(message('b'));
    await writer.exec(message('a'));
    expect((await feed.drain()).flatMap(shown)).toEqual(['a MESSAGES']);
  });

  it('goes on with the session that continues one of them', async () => {
    const { follow, writer } = await followed(rows);
    const feed = await follow({ sessionIds: ['a'] });
    await feed.next();
    await writer.transaction([
      "UPDATE sessions SET ended_at = 200, end_reason = 'compression' WHERE id = 'a'",
      "INSERT INTO sessions (id, source, started_at, parent_session_id) VALUES ('a2', 'cli', 200, 'a')",
    ]);
    const rotated = (await feed.drain()).flatMap((frame) => frame.changes);
    expect(rotated.map(({ sessionId }) => sessionId)).toContain('a2');
    await writer.exec(message('a2'));
    const later = await feed.next();
    expect(shown(later)).toEqual(['a2 MESSAGES']);
    const again = await follow({ sessionIds: ['a'] });
    expect(shown(await again.next())).toEqual(['a STATE', 'a2 STATE']);
    await writer.exec(message('a2'));
    expect(shown(await again.next())).toEqual(['a2 MESSAGES']);
  });
});

describe('coming back with a cursor', () => {
  it('gives exactly what was missed, each session once in its newest state, and then goes on', async () => {
    const { follow, writer } = await followed([S('a'), M('a', { content: 'a' }), S('b'), M('b', { content: 'b' })]);
    const first = await follow();
    await first.next();
    await writer.exec(message('a', 'seen'));
    const { cursor } = await first.next();
    first.aborter.abort();
    await writer.exec(message('a', 'missed'));
    await writer.exec("UPDATE sessions SET title = 'Missed' WHERE id = 'a'");
    await writer.exec(message('b', 'missed'));
    const second = await follow({ after: cursor });
    const missed = await second.next();
    expect(missed.reset).toBe(false);
    expect(missed.changes.map(({ sessionId }) => sessionId).sort()).toEqual(['a', 'b']);
    expect(missed.changes.find(({ sessionId }) => sessionId === 'a')?.session).toMatchObject({ title: 'Missed', stats: { total: 3 } });
    await writer.exec(message('b'));
    expect(shown(await second.next())).toEqual(['b MESSAGES']);
    const third = await follow({ after: (await follow({ after: cursor })) && missed.cursor });
    const between = await third.next();
    expect(between.changes.map(({ sessionId }) => sessionId)).toEqual(['b']);
  });

  it('knows a rotation that was missed, also when only the old session is followed', async () => {
    const { follow, writer } = await followed([S('a'), M('a', { content: 'a' }), S('z'), M('z', { content: 'z' })]);
    const first = await follow({ sessionIds: ['a'] });
    const { cursor } = await first.next();
    first.aborter.abort();
    await writer.transaction([
      "UPDATE sessions SET ended_at = 200, end_reason = 'compression' WHERE id = 'a'",
      "INSERT INTO sessions (id, source, started_at, parent_session_id) VALUES ('b', 'cli', 200, 'a')",
      message('b'),
      message('z'),
    ]);
    const second = await follow({ sessionIds: ['a'], after: cursor });
    expect((await second.next()).changes.map(({ sessionId }) => sessionId).sort()).toEqual(['a', 'b']);
  });

  it('is an empty frame when nothing was missed', async () => {
    const { follow } = await followed([S('a')]);
    const { cursor } = await (await follow()).next();
    expect(await (await follow({ after: cursor })).next()).toMatchObject({ changes: [], reset: false });
  });

  it('of another process is a reset with everything', async () => {
    const { follow, store } = await followed([S('a'), M('a', { content: 'a' }), S('b')]);
    const { cursor } = await (await follow()).next();
    const other = new SessionFeed();
    const aborter = new AbortController();
    cleanups.push(() => aborter.abort());
    const frames = await other.follow(store, { sessionIds: null, after: cursor, maxRateHz: 50 }, aborter.signal);
    const frame = await new Follower(frames, aborter).next();
    expect(frame.reset).toBe(true);
    expect(shown(frame).sort()).toEqual(['a STATE', 'b STATE']);
  });

  it('that is too old for the ring is a reset, and never a gap', async () => {
    const { follow, writer } = await followed([S('a'), M('a', { content: 'a' })]);
    const first = await follow();
    const { cursor } = await first.next();
    await writer.exec(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO sessions (id, source, started_at) SELECT 's' || i, 'cli', i FROM n",
    );
    await first.drain(600);
    const frame = await (await follow({ after: cursor })).next();
    expect([frame.reset, frame.changes.length]).toEqual([true, 5001]);
  }, 20_000);

  it.each(['', 'x', 'e30', Buffer.from('{}').toString('base64url'), 'A'.repeat(5000)])('that is none is refused: %j', async (after) => {
    const { follow, feed } = await followed([S('a')]);
    await expect(follow({ after })).rejects.toMatchObject({ code: 'CURSOR_INVALID' });
    expect([feed.subscribers, feed.watches]).toEqual([0, 0]);
  });

  it('of another profile is refused, and so is one with a changed byte', async () => {
    const { follow } = await followed([S('a')]);
    const { cursor } = await (await follow()).next();
    const changed = `${cursor.slice(0, 40)}${cursor[40] === 'A' ? 'B' : 'A'}${cursor.slice(41)}`;
    await expect(follow({ after: changed })).rejects.toMatchObject({ code: 'CURSOR_INVALID' });
    const elsewhere = new StateDbStore({
      profile: 'work',
      path: buildStore({ rows: [S('a')] }),
      strictObserver: false,
      largestCatalogue: 10,
      slowReadLimitMs: 10,
      largestTranscript: 10,
      jobs: new JobPool(new URL('file:///unused'), 1),
      now: () => 0,
    });
    cleanups.push(() => elsewhere.close());
    const other = new SessionFeed().follow(elsewhere, { sessionIds: null, after: cursor, maxRateHz: 1 }, new AbortController().signal);
    await expect(other).rejects.toMatchObject({ code: 'CURSOR_FOREIGN' });
  });
});

describe('F79: a slow consumer', () => {
  it('gets at most so many frames a second, the first change at once', async () => {
    const { follow, writer } = await followed([S('a'), M('a', { content: 'a' })]);
    const feed = await follow({ maxRateHz: 4 });
    await feed.next();
    await sleep(300);
    const start = performance.now();
    let frames = 0;
    const reading = (async () => {
      while (performance.now() - start < 1100) {
        await feed.next();
        frames++;
      }
    })();
    for (let writes = 0; performance.now() - start < 1300; writes++) {
      await writer.exec(message('a', `write ${writes}`));
      await sleep(20);
    }
    await reading;
    expect(frames).toBeGreaterThanOrEqual(4);
    expect(frames).toBeLessThanOrEqual(7);
  });

  it('holds nothing up and costs no memory: changes join to the newest state of each session', async () => {
    const { follow, writer } = await followed([S('a'), M('a', { content: 'a' }), S('b'), M('b', { content: 'b' })]);
    const [slow, quick] = [await follow(), await follow()];
    await slow.next();
    await quick.next();
    for (let writes = 0; writes < 30; writes++) await writer.exec(message(writes % 2 === 0 ? 'a' : 'b', `write ${writes}`));
    await writer.exec("UPDATE sessions SET title = 'Last' WHERE id = 'a'");
    expect((await quick.drain()).length).toBeGreaterThanOrEqual(1);
    const frame = await slow.next();
    expect(frame.changes).toHaveLength(2);
    expect(frame.changes.find(({ sessionId }) => sessionId === 'a')).toMatchObject({
      kinds: expect.arrayContaining(['MESSAGES']),
      session: { title: 'Last', stats: { total: 16 } },
    });
    expect(await slow.drain()).toEqual([]);
  });
});

describe('F55: another file in the place of the store', () => {
  const other = () => buildStore({ rows: [S('new'), M('new', { content: 'new' }), S('a', { title: 'Another a' })] });

  it('is a reset with all followed sessions, and old cursors lead to one, too', async () => {
    const { follow, path } = await followed([S('a'), M('a', { content: 'a' })]);
    const [all, some] = [await follow(), await follow({ sessionIds: ['a', 'nope'] })];
    const { cursor } = await all.next();
    await some.next();
    renameSync(other(), path);
    const reset = await all.next();
    expect([reset.reset, shown(reset).sort()]).toEqual([true, ['a STATE', 'new STATE']]);
    const narrow = await some.next();
    expect([narrow.reset, shown(narrow).sort()]).toEqual([true, ['a STATE', 'nope DELETED gone']]);
    expect((await (await follow({ after: cursor })).next()).reset).toBe(true);
    const current = await (await follow({ after: reset.cursor })).next();
    expect([current.reset, current.changes]).toEqual([false, []]);
  });

  it('is a reset also when there was no store for a while', async () => {
    const { follow, path, store } = await followed([S('a'), M('a', { content: 'a' })]);
    const feed = await follow();
    await feed.next();
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
    await sleep(600);
    expect(await store.status()).toMatchObject({ health: 'NOT_FOUND' });
    copyFileSync(other(), `${path}.new`);
    renameSync(`${path}.new`, path);
    const frame = await feed.next();
    expect([frame.reset, shown(frame).sort()]).toEqual([true, ['a STATE', 'new STATE']]);
  });

  it('again and again while a large store is being compared ends with the last one, and ends nothing else', async () => {
    const many = (name: string) =>
      buildStore({
        rows: [S(name)],
        extra: (db) =>
          db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
            INSERT INTO sessions (id, source, started_at) SELECT '${name}' || i, 'cli', i FROM n`),
      });
    const { follow, path, store } = await followed([S('a')]);
    const feed = await follow();
    await feed.next();
    for (let swap = 0; swap < 5; swap++) {
      const next = many(`s${swap}-`);
      // As a careful restore does: an old log beside a new file would be replayed into it.
      for (const suffix of ['-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
      renameSync(next, path);
      await sleep(40);
      const writer = await startWriter(path);
      await writer.exec(`UPDATE sessions SET title = 'T${swap}' WHERE id = 's${swap}-7'`);
      await sleep(swap * 60);
      await writer.close();
    }
    expect((await store.sessions(['s4-7', 's3-7'])).size).toBe(1);
    let resets = 0;
    for (let title: string | null | undefined = null; title !== 'T4'; ) {
      const frame = await feed.next();
      if (frame.reset) resets++;
      title = frame.changes.find((change) => change.sessionId === 's4-7')?.session?.title;
    }
    expect(resets).toBeGreaterThan(0);
  }, 60_000);
});
