/** Coming back to a feed: exactly what was missed, or a reset that says so, also when another file lies there (`field-cases` F48, F55). */
import { copyFileSync, renameSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { SessionFeed } from '../../src/live/session-feed.ts';
import { cleanups, Follower, followed, message, shown } from '../support/followed-feed.ts';
import { openStore } from '../support/open-store.ts';
import { buildStore, M, S } from '../support/stores.ts';
import { startWriter } from '../support/writer.ts';

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
    const elsewhere = openStore(buildStore({ rows: [S('a')] }), { profile: 'work' });
    const other = new SessionFeed().follow(elsewhere, { sessionIds: null, after: cursor, maxRateHz: 1 }, new AbortController().signal);
    await expect(other).rejects.toMatchObject({ code: 'CURSOR_FOREIGN' });
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
