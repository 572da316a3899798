/** Whoever pages through a list sees each entry once, whatever is written meanwhile, and can go on after a restart. */
import { renameSync } from 'node:fs';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Page } from '../../src/paging.ts';
import type { SessionOrder } from '../../src/state-db/list-order.ts';
import type { StateDbStore } from '../../src/state-db/store.ts';
import type { MessageView } from '../../src/state-db/visibility.ts';
import { openStore } from '../support/open-store.ts';
import { buildStore, M, type Row, S } from '../support/stores.ts';

type Direction = 'FORWARD' | 'BACKWARD';

interface Plan {
  readonly size: number;
  readonly direction: Direction;
  readonly seeds: readonly number[];
  /** Open the store anew before each page, as a restarted server does. */
  readonly restart: boolean;
}

const plan: fc.Arbitrary<Plan> = fc.record({
  size: fc.integer({ min: 1, max: 9 }),
  direction: fc.constantFrom<Direction>('FORWARD', 'BACKWARD'),
  seeds: fc.array(fc.nat({ max: 1000 }), { minLength: 1, maxLength: 6 }),
  restart: fc.boolean(),
});

const RUNS = { numRuns: 8 };

/** Pages to the end; `between` writes something after each page. Stops at 500 pages, which no list here has. */
async function visit<T>(
  { size, direction, seeds, restart }: Plan,
  open: () => StateDbStore,
  read: (
    store: StateDbStore,
    page: { size: number; direction: Direction; after: string | null; before: string | null },
  ) => Promise<Page<T>>,
  between: (seed: number) => void,
): Promise<T[]> {
  const visited: T[] = [];
  let store = open();
  let cursor: string | null = null;
  for (let index = 0; index < 500; index++) {
    const bounds = direction === 'FORWARD' ? { after: cursor, before: null } : { after: null, before: cursor };
    const page: Page<T> = await read(store, { size, direction, ...bounds });
    const nodes = page.items.map(({ node }) => node);
    visited.push(...(direction === 'FORWARD' ? nodes : nodes.reverse()));
    cursor = (direction === 'FORWARD' ? page.items.at(-1) : page.items[0])?.cursor ?? cursor;
    if (!(direction === 'FORWARD' ? page.hasNextPage : page.hasPreviousPage)) break;
    between(seeds[index % seeds.length] ?? 0);
    if (restart) {
      store.close();
      store = open();
    }
  }
  store.close();
  return visited;
}

const unique = (items: readonly string[]) => [...new Set(items)];

describe('a list of sessions', () => {
  const START: readonly Row[] = Array.from({ length: 40 }, (_, index) => [
    S(`s${index}`, {
      started_at: 1000 + index * 10,
      title: `Title ${index % 7}`,
      pinned: Number(index % 9 === 0),
      source: index % 5 === 0 ? 'telegram' : 'cli',
    }),
    M(`s${index}`, { timestamp: 1005 + ((index * 37) % 400) }),
  ])
    .flat()
    .map((row) =>
      row.table === 'sessions' ? { ...row, columns: { ...row.columns, title: `${row.columns.title} of ${row.columns.id}` } } : row,
    );

  it.each<SessionOrder>(['STARTED', 'RECENT_ACTIVITY', 'PINNED_THEN_RECENT', 'TITLE'])(
    'by %s shows each session once while others appear',
    async (order) => {
      await fc.assert(
        fc.asyncProperty(
          plan,
          fc.constantFrom('LINEAGE', 'NONE'),
          fc.constantFrom(200_000, 0),
          async (steps, collapse, largestCatalogue) => {
            const query = { filter: {}, order, collapse } as const;
            if (largestCatalogue === 0 && order === 'TITLE') return;
            const path = buildStore({ rows: START });
            const db = new Database(path);
            let added = 0;
            const between = (seed: number) => {
              const id = `new${added++}`;
              const time = 900 + seed;
              db.prepare('INSERT INTO sessions (id, source, started_at, title) VALUES (?, ?, ?, ?)').run(
                id,
                'cli',
                time,
                `Title ${seed} ${id}`,
              );
              db.prepare("INSERT INTO messages (session_id, role, timestamp, content) VALUES (?, 'user', ?, 'x')").run(id, time);
            };
            const visited = await visit(
              steps,
              () => openStore(path, { largestCatalogue }),
              (store, page) => store.list(query, page),
              between,
            );
            db.close();
            const ids = visited.map(({ id }) => id);
            expect(ids).toEqual(unique(ids));
            expect(ids.filter((id) => id.startsWith('s')).sort()).toEqual(Array.from({ length: 40 }, (_, index) => `s${index}`).sort());
          },
        ),
        RUNS,
      );
    },
  );

  it('shows nothing twice while sessions move to the top, and misses none that stays', async () => {
    await fc.assert(
      fc.asyncProperty(plan, async (steps) => {
        const path = buildStore({ rows: START });
        const db = new Database(path);
        const moved = new Set<string>();
        const between = (seed: number) => {
          const id = `s${seed % 40}`;
          moved.add(id);
          db.prepare("INSERT INTO messages (session_id, role, timestamp, content) VALUES (?, 'user', ?, 'x')").run(id, 5000 + moved.size);
        };
        const query = { filter: {}, order: 'RECENT_ACTIVITY', collapse: 'LINEAGE' } as const;
        const visited = await visit(
          steps,
          () => openStore(path),
          (store, page) => store.list(query, page),
          between,
        );
        db.close();
        const ids = visited.map(({ id }) => id);
        // Against the order a session that moves comes up again, as the newest.
        if (steps.direction === 'FORWARD') expect(ids).toEqual(unique(ids));
        else expect(ids.filter((id) => !moved.has(id))).toEqual(unique(ids.filter((id) => !moved.has(id))));
        const still = Array.from({ length: 40 }, (_, index) => `s${index}`).filter((id) => !moved.has(id));
        expect(still.filter((id) => !ids.includes(id))).toEqual([]);
      }),
      RUNS,
    );
  });
});

describe('messages', () => {
  const SEGMENTS = ['a', 'b', 'c'];
  const START: readonly Row[] = [
    S('a', { ended_at: 50, end_reason: 'compression' }),
    S('b', { parent_session_id: 'a', ended_at: 90, end_reason: 'compression' }),
    S('c', { parent_session_id: 'b' }),
    // Rows of the segments interleave, some are archived or rewound, and the last of each are copied into the next.
    ...Array.from({ length: 45 }, (_, index) =>
      M(SEGMENTS[(index * 7) % 3] ?? 'a', {
        content: `text ${index}`,
        timestamp: 10 + index,
        ...(index % 6 === 1 ? { active: 0, compacted: 1 } : index % 11 === 2 ? { active: 0 } : {}),
      }),
    ),
    ...[6, 12, 18].map((index) => M('c', { content: `text ${index}`, timestamp: 10 + index })),
  ];

  const shows: Readonly<Record<MessageView, (row: { active: number; compacted: number }) => boolean>> = {
    LIVE: ({ active }) => active === 1,
    DISPLAY: ({ active, compacted }) => active === 1 || compacted === 1,
    AUDIT: () => true,
  };

  /** What a view shows of the rows before anything was written: texts for DISPLAY, where copies are one message, else row ids. */
  function expected(db: Database.Database, view: MessageView, ids: readonly string[]): string[] {
    const rows = db
      .prepare<[], { id: number; session_id: string; content: string; active: number; compacted: number }>(
        'SELECT * FROM messages ORDER BY id',
      )
      .all();
    const shown = rows.filter((row) => ids.includes(row.session_id) && shows[view](row));
    return view === 'DISPLAY' ? unique(shown.map(({ content }) => content)) : shown.map(({ id }) => String(id));
  }

  const cases = (['LIVE', 'DISPLAY', 'AUDIT'] as const).flatMap((view) =>
    (['SEGMENT', 'CONVERSATION'] as const).map((scope) => [view, scope] as const),
  );

  it.each(cases)('%s of a %s are shown once while more are written', async (view, scope) => {
    await fc.assert(
      fc.asyncProperty(plan, fc.constantFrom('as given', 'filled'), async (steps, display) => {
        const path = buildStore({ rows: START, schema: display === 'filled' ? 30 : 26, display });
        const db = new Database(path);
        const before = expected(db, view, scope === 'SEGMENT' ? ['c'] : SEGMENTS);
        let added = 0;
        let rotated = false;
        const insert = db.prepare("INSERT INTO messages (session_id, role, timestamp, content) VALUES (?, 'user', ?, ?)");
        const rotate = () => {
          if (rotated) return;
          rotated = true;
          db.exec("UPDATE sessions SET end_reason = 'compression', ended_at = 100 WHERE id = 'c'");
          db.exec("INSERT INTO sessions (id, source, started_at, parent_session_id) VALUES ('d', 'cli', 100, 'c')");
        };
        const between = (seed: number) => {
          // Not for ever: a page of one would never catch up with a writer of several.
          if (added > 9) return;
          if (added > 3) rotate();
          for (let count = 0; count <= seed % 3; count++) insert.run(rotated ? 'd' : 'c', 200 + added, `new ${added++}`);
        };
        const read = async (store: StateDbStore, page: Parameters<StateDbStore['messagePages']>[0][number]['page']) => {
          const [found] = await store.messagePages([{ sessionId: 'c', view, scope, page }]);
          if (found === undefined) throw new Error('no page');
          return found;
        };
        const visited = await visit(steps, () => openStore(path), read, between);
        db.close();
        const keys = visited.map(({ rowId, content }) => (view === 'DISPLAY' ? String(content) : rowId));
        expect(keys).toEqual(unique(keys));
        const old = visited
          .filter(({ content }) => String(content).startsWith('text'))
          .map(({ rowId, content }) => (view === 'DISPLAY' ? String(content) : rowId));
        expect(steps.direction === 'FORWARD' ? old : old.reverse()).toEqual(before);
      }),
      RUNS,
    );
  });

  it('that are compacted meanwhile are shown once, where they stood', async () => {
    await fc.assert(
      fc.asyncProperty(plan, async (steps) => {
        const path = buildStore({ rows: [S('s'), ...Array.from({ length: 30 }, (_, index) => M('s', { content: `text ${index}` }))] });
        const db = new Database(path);
        let compacted = false;
        const between = () => {
          if (compacted) return;
          compacted = true;
          // As an owner does it: everything is archived, and the newest messages are copied behind a summary.
          db.exec(
            "UPDATE messages SET active = 0, compacted = 1; INSERT INTO messages (session_id, role, timestamp, content) VALUES ('s', 'user', 500, 'summary')",
          );
          db.exec(
            'INSERT INTO messages (session_id, role, timestamp, content) SELECT session_id, role, timestamp, content FROM messages WHERE id BETWEEN 24 AND 30 ORDER BY id',
          );
        };
        const read = async (store: StateDbStore, page: Parameters<StateDbStore['messagePages']>[0][number]['page']) => {
          const [found] = await store.messagePages([{ sessionId: 's', view: 'DISPLAY', scope: 'SEGMENT', page }]);
          if (found === undefined) throw new Error('no page');
          return found;
        };
        const visited = await visit(steps, () => openStore(path), read, between);
        db.close();
        const texts = visited.map(({ content }) => String(content)).filter((text) => text !== 'summary');
        expect(steps.direction === 'FORWARD' ? texts : texts.reverse()).toEqual(Array.from({ length: 30 }, (_, index) => `text ${index}`));
      }),
      RUNS,
    );
  });
});

describe('a cursor', () => {
  it('of a store that was replaced is refused by name', async () => {
    const rows = [S('a'), M('a'), M('a'), M('a'), S('b'), M('b')];
    const path = buildStore({ rows, meta: { db_file_generation: 'a'.repeat(32) } });
    const query = { filter: {}, order: 'STARTED', collapse: 'LINEAGE' } as const;
    const first = { size: 1, direction: 'FORWARD', after: null, before: null } as const;
    const messages = (page: typeof first | (Omit<typeof first, 'after'> & { after: string })) =>
      ({ sessionId: 'a', view: 'LIVE', scope: 'SEGMENT', page }) as const;
    const store = openStore(path);
    const list = (await store.list(query, first)).items[0]?.cursor ?? '';
    const row = (await store.messagePages([messages(first)]))[0]?.items[0]?.cursor ?? '';
    store.close();
    renameSync(buildStore({ rows, meta: { db_file_generation: 'b'.repeat(32) } }), path);
    const replaced = openStore(path);
    await expect(replaced.list(query, { ...first, after: list })).rejects.toMatchObject({ code: 'STALE_CURSOR' });
    await expect(replaced.messagePages([messages({ ...first, after: row })])).rejects.toMatchObject({ code: 'STALE_CURSOR' });
    await expect(replaced.list({ ...query, order: 'TITLE' }, { ...first, after: list })).rejects.toMatchObject({ code: 'BAD_CURSOR' });
    await expect(replaced.list(query, { ...first, after: 'nonsense' })).rejects.toMatchObject({ code: 'BAD_CURSOR' });
  });
});
