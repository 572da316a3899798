/** What is kept in memory equals what the file says, whatever other programs wrote meanwhile (`spec/live-turns.md` 7.3). */
import { describe, expect, it } from 'vitest';
import type { StoredSession } from '../../src/session-store.ts';
import type { LineageCollapse } from '../../src/state-db/list-item.ts';
import type { SessionOrder } from '../../src/state-db/list-order.ts';
import type { SessionFilter } from '../../src/state-db/listing.ts';
import type { StateDbStore } from '../../src/state-db/store.ts';
import { openStore } from '../support/open-store.ts';
import { buildStore, M, type Row, S } from '../support/stores.ts';
import { startWriter } from '../support/writer.ts';
import { RandomWrites } from './random-writes.ts';

const ORDERS: readonly SessionOrder[] = ['RECENT_ACTIVITY', 'STARTED', 'PINNED_THEN_RECENT', 'TITLE'];
const COLLAPSES: readonly LineageCollapse[] = ['LINEAGE', 'NONE'];
const EVERYTHING: SessionFilter = {
  includeArchived: true,
  includeHidden: true,
  includeBackground: true,
  includeDelegates: true,
  includeOrphans: true,
  includeEmpty: true,
};
const FILTERS: readonly SessionFilter[] = [{}, EVERYTHING, { pinned: true, includeEmpty: true }, { sources: ['cli'] }];

async function wholeList(
  store: StateDbStore,
  order: SessionOrder,
  collapse: LineageCollapse,
  filter: SessionFilter,
): Promise<StoredSession[]> {
  const found: StoredSession[] = [];
  for (let after: string | null = null; ; ) {
    const page = await store.list({ filter, order, collapse }, { size: 7, direction: 'FORWARD', after, before: null });
    found.push(...page.items.map(({ node }) => node));
    after = page.items.at(-1)?.cursor ?? null;
    if (!page.hasNextPage || after === null) return found;
  }
}

/** Everything that lists and lineage say about a store. */
async function picture(store: StateDbStore): Promise<unknown> {
  const sessions = (await store.allSessions()).sort((a, b) => (a.id < b.id ? -1 : 1));
  const ids = sessions.map(({ id }) => id);
  const lists: Record<string, unknown> = {};
  for (const order of ORDERS) {
    for (const collapse of COLLAPSES) {
      for (const [index, filter] of FILTERS.entries()) {
        const items = await wholeList(store, order, collapse, filter);
        lists[`${order} ${collapse} ${index}`] = items.map(({ id }) => id);
        lists[`${collapse} ${index} totals`] = await store.totals({ filter, order, collapse });
      }
    }
  }
  const conversations = await store.conversations(ids);
  const children = await store.children(ids);
  return {
    sessions,
    lists,
    segments: ids.map((id) => conversations.get(id)?.segments.map((segment) => segment.id)),
    children: ids.map((id) =>
      children
        .get(id)
        ?.map((child) => child.id)
        .sort(),
    ),
  };
}

const START: readonly Row[] = Array.from({ length: 12 }, (_, index) => [
  S(`s${index}`, {
    started_at: index * 10,
    parent_session_id: index % 3 === 0 ? null : `s${index - 1}`,
    end_reason: index % 3 === 0 ? 'compression' : null,
  }),
  M(`s${index}`, { timestamp: index * 10 + 1 }),
]).flat();

describe('after random writes of another process', () => {
  it.each([1, 2, 121, 130, 132])(
    'every entry, order and total is that of a store opened anew (seed %s)',
    async (seed) => {
      const path = buildStore({ rows: START });
      const kept = openStore(path);
      await picture(kept);
      const writer = await startWriter(path);
      const writes = new RandomWrites(seed, 12);
      for (let round = 0; round < 12; round++) {
        for (let step = 0; step < 6; step++) {
          await writer.transaction(writes.next());
          if (step % 2 === 0)
            await kept.list(
              { filter: {}, order: 'RECENT_ACTIVITY', collapse: 'LINEAGE' },
              { size: 5, direction: 'FORWARD', after: null, before: null },
            );
        }
        await kept.settle();
        const fresh = openStore(path);
        expect(await picture(kept), `seed ${seed}, round ${round}`).toEqual(await picture(fresh));
        fresh.close();
      }
      await writer.close();
      kept.close();
    },
    30_000,
  );
});

describe('without waiting', () => {
  it('every read has what was committed before it: appends, titles, rewinds, deletions, rotations', async () => {
    const path = buildStore({ rows: [S('a', { title: 'Old' }), M('a'), M('a')] });
    const store = openStore(path);
    const writer = await startWriter(path);
    const session = async (id = 'a') => (await store.sessions([id])).get(id);
    expect((await session())?.stats).toEqual({ total: 2, live: 2, lastTimestamp: 2 });

    await writer.exec("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('a', 'user', 'x', 50)");
    expect(await session()).toMatchObject({ stats: { total: 3, live: 3, lastTimestamp: 50 }, recency: 50 });
    await writer.exec("UPDATE sessions SET title = 'New' WHERE id = 'a'");
    expect((await session())?.title).toBe('New');
    await writer.exec('UPDATE messages SET active = 0 WHERE id = 3');
    expect((await session())?.stats).toMatchObject({ total: 3, live: 2 });
    await writer.exec('DELETE FROM messages WHERE id = 3');
    expect(await session()).toMatchObject({ stats: { total: 2, live: 2, lastTimestamp: 2 }, recency: 2 });
    await writer.transaction([
      "UPDATE sessions SET end_reason = 'compression', ended_at = 60 WHERE id = 'a'",
      "INSERT INTO sessions (id, source, started_at, parent_session_id) VALUES ('b', 'cli', 60, 'a')",
    ]);
    expect((await store.conversations(['a'])).get('a')?.tip.id).toBe('b');
    await writer.exec("DELETE FROM sessions WHERE id = 'b'");
    expect(await session('b')).toBeUndefined();
    expect((await store.conversations(['a'])).get('a')?.tip.id).toBe('a');
    await writer.close();
  });

  it('listeners hear of each change once, with the conversation that it belongs to', async () => {
    const path = buildStore({ rows: [S('a'), M('a')] });
    const store = openStore(path);
    await store.allSessions();
    const heard: string[] = [];
    store.onSessions((event) => {
      if (event.kind === 'RESET') heard.push('reset');
      else
        for (const { before, after } of event.changes)
          heard.push(after === null ? `no ${before?.id}` : `${after.id} of ${after.conversationId}`);
    });
    const writer = await startWriter(path);
    await writer.transaction([
      "UPDATE sessions SET end_reason = 'compression', ended_at = 60 WHERE id = 'a'",
      "INSERT INTO sessions (id, source, started_at, parent_session_id) VALUES ('b', 'cli', 60, 'a')",
      "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('b', 'user', 'x', 61)",
    ]);
    await store.check();
    expect(heard.sort()).toEqual(['a of a', 'b of a']);
    heard.length = 0;
    await writer.exec("DELETE FROM sessions WHERE id = 'b'");
    await store.check();
    expect(heard).toEqual(['no b']);
    await writer.close();
  });
});
