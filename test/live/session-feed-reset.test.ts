/** A reset while the store is busy or goes on changing: nothing newer is lost under it, and it is never lost itself (`field-cases` F55). */
import { renameSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { StoreUnreadable } from '../../src/errors.ts';
import type { StateDbStore } from '../../src/state-db/store.ts';
import { cleanups, followed, message, shown } from '../support/followed-feed.ts';
import { buildStore, M, S } from '../support/stores.ts';

/** A store whose schema moved is opened anew: the same file, and a reset. */
const reopens = (table: string) => `CREATE TABLE ${table} (x)`;
const rows = ['a', 'b'].flatMap((id) => [S(id), M(id, { content: id })]);
const busy = () => new StoreUnreadable('BUSY', 'The store is locked.');

/** Holds the next answer of a reading of states back, which has been read by then. */
function held(store: StateDbStore, name: 'allSessions' | 'sessions') {
  const taken = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const hold = async <T>(states: Promise<T>): Promise<T> => {
    const read = await states;
    taken.resolve();
    await gate.promise;
    return read;
  };
  const { allSessions, sessions } = store;
  if (name === 'allSessions') vi.spyOn(store, name).mockImplementationOnce(() => hold(allSessions.call(store)));
  else vi.spyOn(store, name).mockImplementationOnce((ids) => hold(sessions.call(store, ids)));
  return { taken: taken.promise, release: gate.resolve };
}

/** Resolves when the store has told of a change of the session. */
function told(store: StateDbStore, sessionId: string): Promise<void> {
  return new Promise((resolve) => {
    const stop = store.onSessions((event) => {
      if (event.kind === 'SESSIONS' && event.changes.some(({ before, after }) => (after ?? before)?.id === sessionId)) resolve();
    });
    cleanups.push(stop);
  });
}

describe('changes while the states of a reset are read', () => {
  it('are newer than these: they stay, and the cursor counts what was told', async () => {
    const { follow, writer, store } = await followed(rows);
    const feed = await follow();
    await feed.next();
    const reading = held(store, 'allSessions');
    await writer.exec(reopens('one'));
    await reading.taken;
    const changed = Promise.all([told(store, 'a'), told(store, 'n'), told(store, 'b')]);
    await writer.transaction([
      "UPDATE sessions SET title = 'Newer' WHERE id = 'a'",
      "INSERT INTO sessions (id, source, started_at) VALUES ('n', 'cli', 500)",
      "DELETE FROM messages WHERE session_id = 'b'",
      "DELETE FROM sessions WHERE id = 'b'",
    ]);
    await changed;
    reading.release();
    const frame = await feed.next();
    expect([frame.reset, shown(frame).sort()]).toEqual([true, ['a STATE+UPDATED', 'b DELETED gone', 'n ADDED']]);
    expect(frame.changes.find(({ sessionId }) => sessionId === 'a')?.session?.title).toBe('Newer');
    expect(await (await follow({ after: frame.cursor })).next()).toMatchObject({ changes: [], reset: false });
  });

  it('may be the continuation of a followed session, which is not told as gone', async () => {
    const { follow, writer, store } = await followed(rows);
    const feed = await follow({ sessionIds: ['a'] });
    await feed.next();
    const reading = held(store, 'sessions');
    await writer.exec(reopens('one'));
    await reading.taken;
    const changed = told(store, 'a2');
    await writer.transaction([
      "UPDATE sessions SET ended_at = 200, end_reason = 'compression' WHERE id = 'a'",
      "INSERT INTO sessions (id, source, started_at, parent_session_id) VALUES ('a2', 'cli', 200, 'a')",
    ]);
    await changed;
    reading.release();
    const frame = await feed.next();
    expect([frame.reset, shown(frame).sort()]).toEqual([true, ['a STATE+ENDED', 'a2 ROTATED after a']]);
  });

  it('may be another reset, whose states are newer than those that come late', async () => {
    const { follow, writer, store } = await followed(rows);
    const feed = await follow();
    await feed.next();
    const reading = held(store, 'allSessions');
    await writer.exec(reopens('one'));
    await reading.taken;
    await writer.transaction([reopens('two'), "UPDATE sessions SET title = 'Newer' WHERE id = 'a'"]);
    const frame = await feed.next();
    reading.release();
    expect([frame.reset, shown(frame).sort()]).toEqual([true, ['a STATE', 'b STATE']]);
    expect(frame.changes.find(({ sessionId }) => sessionId === 'a')?.session?.title).toBe('Newer');
    expect(await feed.drain()).toEqual([]);
  });
});

describe('a reset whose states can not be read', () => {
  it.each([1, 3])('stays owed until they can be, after %i failures', async (failures) => {
    const { follow, path, store, writer } = await followed(rows);
    const feed = await follow();
    await feed.next();
    const reading = vi.spyOn(store, 'allSessions');
    for (let failure = 0; failure < failures; failure++) reading.mockRejectedValueOnce(busy());
    await writer.close();
    const next = buildStore({ rows: [S('new'), M('new', { content: 'new' })] });
    for (const suffix of ['-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
    renameSync(next, path);
    const frame = await feed.next();
    expect(reading.mock.calls.length).toBeGreaterThan(failures);
    expect([frame.reset, shown(frame)]).toEqual([true, ['new STATE']]);
    expect(await (await follow({ after: frame.cursor })).next()).toMatchObject({ changes: [], reset: false });
  });

  it('lets no change out before it, and loses none', async () => {
    const { follow, writer, store } = await followed(rows);
    const feed = await follow();
    await feed.next();
    const reading = vi.spyOn(store, 'allSessions').mockRejectedValue(busy());
    await writer.exec(reopens('one'));
    await vi.waitFor(() => expect(reading).toHaveBeenCalled());
    await writer.exec(message('a'));
    expect(await feed.drain(400)).toEqual([]);
    reading.mockRestore();
    const frame = await feed.next();
    expect([frame.reset, frame.changes.map(({ sessionId }) => sessionId).sort()]).toEqual([true, ['a', 'b']]);
    expect(frame.changes.find(({ sessionId }) => sessionId === 'a')?.session?.stats?.total).toBe(2);
  });

  it('is tried no more when the stream has ended', async () => {
    const { follow, writer, store, feed } = await followed(rows);
    const follower = await follow();
    await follower.next();
    const reading = vi.spyOn(store, 'allSessions').mockRejectedValue(busy());
    await writer.exec(reopens('one'));
    await vi.waitFor(() => expect(reading).toHaveBeenCalled());
    follower.aborter.abort();
    const tries = reading.mock.calls.length;
    await sleep(600);
    expect([reading.mock.calls.length, feed.subscribers]).toEqual([tries, 0]);
  });

  it('for a reason that is not the store ends the stream with it', async () => {
    const { follow, writer, store } = await followed(rows);
    const feed = await follow();
    await feed.next();
    vi.spyOn(store, 'allSessions').mockRejectedValueOnce(new TypeError('a defect'));
    const ended = expect(feed.next()).rejects.toThrow('a defect');
    await writer.exec(reopens('one'));
    await ended;
  });
});
