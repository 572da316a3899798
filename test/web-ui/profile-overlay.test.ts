/** When the list of a profile is composed anew: at once where that is quick, a little later where it is not, never late for our own changes. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { StoredEntries } from '../../src/state-db/entry-overlay.ts';
import { decodeSession, toEntry } from '../../src/state-db/session-record.ts';
import { ProfileOverlay } from '../../src/web-ui/profile-overlay.ts';
import { parseListSettings } from '../../src/web-ui/settings-file.ts';
import { parseSidecar } from '../../src/web-ui/sidecar/parse-sidecar.ts';
import type { SidecarRow } from '../../src/web-ui/sidecar/sidecar-row.ts';
import type { WebUiFacts } from '../../src/web-ui/web-ui-home.ts';
import { sidecarText } from '../support/sidecars.ts';

const SIGNATURE = { mtimeNs: 1n, size: 1, ctimeNs: 1n, ino: 1n };

function file(id: string, title = id): SidecarRow {
  const text = sidecarText(id, { title }, [{ role: 'user', content: 'x', timestamp: 1_782_000_000 }]);
  return parseSidecar(Buffer.from(text), id, SIGNATURE).row;
}

function factsOf(rows: ReadonlyMap<string, SidecarRow>): WebUiFacts {
  return {
    sidecars: { rows, ignoredFiles: [], duplicates: [] },
    claude: [],
    deleted: new Set(),
    zeroMessages: new Set(),
    settings: parseListSettings(null),
    projects: { status: 'MISSING', projects: [] },
  };
}

const FILES = new Map([['a', file('a')]]);
const ADDED = file('b');
const EMPTY_STORE: StoredEntries = { version: {}, shape: {}, entries: () => [] };

/** More rows of terminals than one composition counts: each composition asks for some. */
const MUCH_TO_COUNT: StoredEntries = {
  ...EMPTY_STORE,
  entries: () =>
    Array.from({ length: 200 }, (_, index) => {
      const record = decodeSession({ id: `t${index}`, source: 'cli', started_at: 1_782_000_000, ended_at: 1_782_000_001 });
      return toEntry(record, { total: 200, live: 200, lastTimestamp: 1_782_000_000 });
    }),
};

/** A folder whose files are what a test says; and an overlay on it that counts no composition as quick unless it is told so. */
function overlaid(quickMs = -1, store = EMPTY_STORE) {
  const home: { changes: number; isRead: Promise<void> | null } = { changes: 0, isRead: null };
  let facts = factsOf(FILES);
  const overlay = new ProfileOverlay({
    home: {
      facts: async () => {
        const seen = facts;
        await home.isRead;
        return seen;
      },
      onChange: () => () => {},
      get changes() {
        return home.changes;
      },
    },
    profile: 'default',
    profileHome: '/nowhere',
    profiles: async () => ['default'],
    onError: (error) => {
      throw error;
    },
    quickMs,
  });
  const counted: (readonly string[])[] = [];
  const settle = () =>
    overlay.settle(store, (ids) => {
      counted.push(ids);
      return new Map(ids.map((id) => [id, 1]));
    });
  const set = (change: Partial<WebUiFacts>) => {
    facts = { ...facts, ...change };
  };
  const save = (saved: SidecarRow) => set({ sidecars: factsOf(new Map([...facts.sidecars.rows, [saved.id, saved]])).sidecars });
  const add = () => save(ADDED);
  return { home, overlay, counted, settle, add, save, set, hasAdded: () => [...overlay.ids()].includes(ADDED.id) };
}

/** Each look at the clock takes a millisecond, so that composing the list takes a time that can be told. */
const clock = { now: 0, step: 1 };
beforeEach(() => {
  clock.step = 1;
  vi.spyOn(performance, 'now').mockImplementation(() => (clock.now += clock.step));
});
afterEach(() => {
  vi.restoreAllMocks();
});

describe('a change of files', () => {
  it('is in the list at once where composing it is quick', async () => {
    const { settle, add, hasAdded } = overlaid(1000);
    await settle();
    add();
    await settle();
    expect(hasAdded()).toBe(true);
  });

  it('waits where composing takes long, and who listens is told when it is time', async () => {
    const { overlay, settle, add, hasAdded } = overlaid();
    let told = 0;
    const stop = overlay.onChange(() => told++);
    await settle();
    expect(hasAdded()).toBe(false);
    add();
    await settle();
    expect(hasAdded()).toBe(false);
    await vi.waitFor(() => expect(told).toBe(1));
    clock.now += 1000;
    await settle();
    expect(hasAdded()).toBe(true);
    stop();
  });

  it('in a session that stands by itself is shown while the list waits, each save of it, and stays when the list is made', async () => {
    const { overlay, settle, save } = overlaid();
    const titles = () => overlay.compose('a', undefined)?.title;
    const told: string[] = [];
    overlay.onComposition((ids) => told.push(...ids));
    await settle();
    told.length = 0;
    for (const title of ['One', 'Two']) {
      save(file('a', title));
      await settle();
      expect(titles()).toBe(title);
    }
    await settle();
    expect(told).toEqual(['a', 'a']);
    clock.now += 1000;
    await settle();
    expect([titles(), told]).toEqual(['Two', ['a', 'a']]);
  });

  it('does not wait for sessions of terminals to be counted, which takes several compositions', async () => {
    const { overlay, counted, settle, save } = overlaid(-1, MUCH_TO_COUNT);
    await settle();
    save(file('a', 'New'));
    await settle();
    expect(overlay.compose('a', undefined)?.title).toBe('New');
    expect(counted).toHaveLength(1);
  });

  it('waits together with whatever else changed beside it', async () => {
    const { overlay, settle, save, set } = overlaid();
    await settle();
    save(file('a', 'New'));
    set({ deleted: new Set(['x']) });
    await settle();
    expect(overlay.compose('a', undefined)?.title).toBe('a');
    clock.now += 1000;
    await settle();
    expect(overlay.compose('a', undefined)?.title).toBe('New');
  });

  it('of our own in a session that stands by itself is shown without a composition, and any other with one', async () => {
    const { home, overlay, counted, settle, save, set, add, hasAdded } = overlaid(-1, MUCH_TO_COUNT);
    const titles = () => overlay.compose('a', undefined)?.title;
    await settle();
    save(file('a', 'Ours'));
    home.changes++;
    await settle();
    expect([titles(), counted.length]).toEqual(['Ours', 1]);
    // What another program changed waits its time.
    set({ deleted: new Set(['x']) });
    await settle();
    expect(counted).toHaveLength(1);
    save(file('a', 'Ours again'));
    home.changes++;
    await settle();
    expect([titles(), counted.length]).toEqual(['Ours again', 2]);
    add();
    await settle();
    expect(hasAdded()).toBe(false);
    save(file('a', 'Ours at last'));
    home.changes++;
    await settle();
    expect([titles(), hasAdded(), counted.length]).toEqual(['Ours at last', true, 3]);
  });

  it('of our own is not undone by who looked before it, and was slow', async () => {
    const { home, overlay, settle, save } = overlaid(1000);
    await settle();
    const slow = Promise.withResolvers<void>();
    home.isRead = slow.promise;
    const first = settle();
    home.isRead = null;
    save(file('a', 'Ours'));
    home.changes++;
    await settle();
    slow.resolve();
    await first;
    expect(overlay.compose('a', undefined)?.title).toBe('Ours');
  });

  it('of our own never waits', async () => {
    const { home, settle, add, hasAdded } = overlaid();
    await settle();
    add();
    home.changes++;
    await settle();
    expect(hasAdded()).toBe(true);
  });
});

describe('a list that takes long to be made', () => {
  /** Every step of it is followed by a pause. */
  const slowly = () => {
    clock.step = 10;
  };

  it('leaves the thread to others, who see the list as it was, and are told when it is time for what came meanwhile', async () => {
    const { overlay, settle, add, save, hasAdded } = overlaid();
    await settle();
    let told = 0;
    overlay.onChange(() => told++);
    add();
    clock.now += 1000;
    slowly();
    const made = settle();
    await new Promise((resolve) => setImmediate(resolve));
    save(file('a', 'New'));
    await settle();
    expect([hasAdded(), overlay.compose('a', undefined)?.title]).toEqual([false, 'a']);
    await made;
    clock.step = 0;
    expect([hasAdded(), overlay.compose('a', undefined)?.title]).toEqual([true, 'a']);
    await vi.waitFor(() => expect(told).toBe(1), 5000);
    await settle();
    expect(overlay.compose('a', undefined)?.title).toBe('New');
  });

  it('is waited for by who would see no list, and by who made a change', async () => {
    const { home, overlay, settle, add, save, hasAdded } = overlaid();
    slowly();
    const first = settle();
    await new Promise((resolve) => setImmediate(resolve));
    await settle();
    expect(overlay.compose('a', undefined)?.title).toBe('a');
    await first;
    add();
    home.changes++;
    const second = settle();
    await new Promise((resolve) => setImmediate(resolve));
    save(file('a', 'Ours'));
    home.changes++;
    await settle();
    expect([hasAdded(), overlay.compose('a', undefined)?.title]).toEqual([true, 'Ours']);
    await second;
  });

  it('is made by the next one when it could not be', async () => {
    const broken = { now: true };
    const store: StoredEntries = {
      ...EMPTY_STORE,
      entries: () => {
        if (broken.now) throw new Error('broken');
        return [];
      },
    };
    const { overlay, settle } = overlaid(-1, store);
    const [first, second] = await Promise.allSettled([settle(), settle()]);
    expect([first.status, second.status]).toEqual(['rejected', 'rejected']);
    broken.now = false;
    await settle();
    expect(overlay.compose('a', undefined)?.title).toBe('a');
  });
});
