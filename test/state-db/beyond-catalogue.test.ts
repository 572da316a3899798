/** A store that is too large to be kept in memory gives the answers that one in memory gives. */
import { describe, expect, it } from 'vitest';
import type { StoredSession } from '../../src/session-store.ts';
import type { LineageCollapse } from '../../src/state-db/list-item.ts';
import type { SessionOrder } from '../../src/state-db/list-order.ts';
import type { ListQuery, SessionFilter } from '../../src/state-db/listing.ts';
import type { StateDbStore } from '../../src/state-db/store.ts';
import { copyStore } from '../support/golden.ts';
import { openStore } from '../support/open-store.ts';

const ORDERS = ['RECENT_ACTIVITY', 'STARTED', 'PINNED_THEN_RECENT'] as const satisfies readonly SessionOrder[];
const COLLAPSES = ['LINEAGE', 'NONE'] as const satisfies readonly LineageCollapse[];
const FILTERS: Readonly<Record<string, SessionFilter>> = {
  defaults: {},
  everything: {
    includeArchived: true,
    includeHidden: true,
    includeBackground: true,
    includeDelegates: true,
    includeOrphans: true,
    includeEmpty: true,
  },
  'one source': { sources: ['cli'] },
  'without sources': { excludeSources: ['cli', 'cron'], includeBackground: true },
  archived: { archived: true },
  pinned: { pinned: true },
  'a title': { titleContains: 'a' },
  'an id': { idContains: 'm_' },
  'a folder': { cwdPrefix: '/srv' },
  active: { activeSince: 1_780_001_000, activeBefore: 1_780_003_000 },
  'many messages': { minMessageCount: 3, includeDelegates: true },
};

interface Stores {
  readonly kept: StateDbStore;
  readonly large: StateDbStore;
}

function open(name: string): Stores {
  const path = copyStore(name);
  return { kept: openStore(path), large: openStore(path, { largestCatalogue: 0 }) };
}

/** A whole list by pages of a size, in one direction, as ids of the sessions shown. */
async function walk(store: StateDbStore, query: ListQuery, direction: 'FORWARD' | 'BACKWARD', size: number): Promise<StoredSession[]> {
  const found: StoredSession[] = [];
  for (let cursor: string | null = null; ; ) {
    const bounds = direction === 'FORWARD' ? { after: cursor, before: null } : { after: null, before: cursor };
    const page = await store.list(query, { size, direction, ...bounds });
    const nodes = page.items.map(({ node }) => node);
    if (direction === 'FORWARD') found.push(...nodes);
    else found.unshift(...nodes);
    const more = direction === 'FORWARD' ? page.hasNextPage : page.hasPreviousPage;
    cursor = (direction === 'FORWARD' ? page.items.at(-1) : page.items[0])?.cursor ?? null;
    if (!more || cursor === null) return found;
  }
}

describe.each(['basic', 'lineage', 'hostile'])('%s without a catalogue', (name) => {
  it.each(ORDERS)('lists by %s what it lists with one', async (order) => {
    const { kept, large } = open(name);
    for (const collapse of COLLAPSES) {
      for (const [label, filter] of Object.entries(FILTERS)) {
        const query = { filter, order, collapse };
        const expected = await walk(kept, query, 'FORWARD', 200);
        expect(await walk(large, query, 'FORWARD', 200), `${collapse} ${label}`).toEqual(expected);
        expect(
          (await walk(large, query, 'FORWARD', 9)).map(({ id }) => id),
          `${collapse} ${label}, pages`,
        ).toEqual(expected.map(({ id }) => id));
        expect(
          (await walk(large, query, 'BACKWARD', 9)).map(({ id }) => id),
          `${collapse} ${label}, backward`,
        ).toEqual(expected.map(({ id }) => id));
        expect(await large.totals(query), `${collapse} ${label}, totals`).toEqual(await kept.totals(query));
      }
    }
  });

  it('refuses the order that it can not tell, by name', async () => {
    const { large } = open(name);
    const page = { size: 5, direction: 'FORWARD', after: null, before: null } as const;
    await expect(large.list({ filter: {}, order: 'TITLE', collapse: 'LINEAGE' }, page)).rejects.toMatchObject({
      code: 'ORDER_UNAVAILABLE',
    });
  });

  it('knows sessions, lineage, families, liveness and references', async () => {
    const { kept, large } = open(name);
    const ids = (await kept.allSessions()).map(({ id }) => id);
    const all = [...ids, 'absent'];
    expect(await large.sessions(all)).toEqual(await kept.sessions(all));
    expect(await large.conversations(all)).toEqual(await kept.conversations(all));
    expect(await large.liveness(all)).toEqual(await kept.liveness(all));
    const [mine, theirs] = [await large.families(all), await kept.families(all)];
    for (const id of ids) {
      const sorted = (family: typeof mine extends Map<string, infer F> ? F | undefined : never) => ({
        nodes: family?.nodes.map((node) => node.id).sort(),
        edges: family?.edges.map((edge) => `${edge.parentSessionId} ${edge.childSessionId} ${edge.kind}`).sort(),
        problems: family?.problems,
      });
      expect(sorted(mine.get(id)), id).toEqual(sorted(theirs.get(id)));
    }
    const [children, childrenKept] = [await large.children(all), await kept.children(all)];
    for (const id of ids)
      expect(
        children
          .get(id)
          ?.map((child) => child.id)
          .sort(),
      ).toEqual(
        childrenKept
          .get(id)
          ?.map((child) => child.id)
          .sort(),
      );
    for (const reference of ['m_', 'm_A', 'm_A5', 'M_CLI', 'Chain A', 'Docker deployment notes', 'chain a', '%', 'nothing', 'm_id_%']) {
      expect(await large.resolve(reference), reference).toEqual(await kept.resolve(reference));
    }
  });

  it('opens conversations with the segments that they have', async () => {
    const { kept, large } = open(name);
    const page = { size: 30, direction: 'FORWARD', after: null, before: null } as const;
    const ids = (await kept.allSessions()).map(({ id }) => id);
    const queries = ids.map((sessionId) => ({ sessionId, view: 'DISPLAY', scope: 'CONVERSATION', page }) as const);
    expect(await large.messagePages(queries)).toEqual(await kept.messagePages(queries));
    expect(await large.messageCounts(queries)).toEqual(await kept.messageCounts(queries));
    expect((await large.status()).sessionCount).toBe(ids.length);
    expect((await large.status()).messageCount).toBe((await kept.status()).messageCount);
  });
});
