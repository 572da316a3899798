/** Changes that other programs make to sessions, as frames: what happened, once, in order (`field-cases` F03, F48, F79). */
import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { followed, message, shown } from '../support/followed-feed.ts';
import { M, S } from '../support/stores.ts';

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

  it('T72: a title that changes is told though no row was added', async () => {
    const { follow, writer } = await followed([S('a', { title: 'Old' }), M('a', { content: 'hello' })]);
    const feed = await follow();
    await feed.next();
    await writer.exec("UPDATE sessions SET title = 'New' WHERE id = 'a'");
    const frame = await feed.next();
    expect([shown(frame), frame.changes[0]?.session?.title]).toEqual([['a UPDATED'], 'New']);
  });

  it('T73: a checkpoint of the log is no change', async () => {
    const { follow, writer, path } = await followed([S('a'), M('a', { content: 'hello' })]);
    const feed = await follow();
    await feed.next();
    await writer.exec(message('a'));
    expect(shown(await feed.next())).toEqual(['a MESSAGES']);
    const before = statSync(path).mtimeMs;
    await writer.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    // It did move the log into the store.
    expect([statSync(`${path}-wal`).size, statSync(path).mtimeMs > before]).toEqual([0, true]);
    expect(await feed.drain(600)).toEqual([]);
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
