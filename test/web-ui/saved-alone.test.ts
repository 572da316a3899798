/** Saves that are shown before the whole list is composed: never anything that the whole list would not say. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listRowOf } from '../../src/web-ui/beside-entry.ts';
import type { Known } from '../../src/web-ui/known-session.ts';
import { composeList, DEFAULT_REQUEST } from '../../src/web-ui/list/compose-list.ts';
import { NO_CONTEXT } from '../../src/web-ui/list/store-projection.ts';
import type { StoreSession } from '../../src/web-ui/list/store-rows.ts';
import { isSameKnown, savedAlone, savedFiles, tiedIds } from '../../src/web-ui/saved-alone.ts';
import { parseSidecar } from '../../src/web-ui/sidecar/parse-sidecar.ts';
import type { SidecarRow } from '../../src/web-ui/sidecar/sidecar-row.ts';
import { type Fields, sidecarText } from '../support/sidecars.ts';

const AT = 1_782_000_000;
const IDS = ['a', 'b', 'c', 'd'] as const;
const NO_TOMBSTONES = [] as const;

interface World {
  readonly files: ReadonlyMap<string, SidecarRow>;
  readonly store: ReadonlyMap<string, StoreSession>;
}

function file(id: string, { messages = 1, ...fields }: Fields & { readonly messages?: number }): SidecarRow {
  const said = Array.from({ length: messages }, (_, at) => ({ role: 'user', content: `m${at}`, timestamp: AT + at }));
  const text = sidecarText(id, { title: id, created_at: AT, updated_at: AT + 100, ...fields }, said);
  return parseSidecar(Buffer.from(text), id, { mtimeNs: 1n, size: text.length, ctimeNs: 1n, ino: 1n }).row;
}

function session(id: string, more: Partial<StoreSession>): StoreSession {
  const stats = { total: 2, live: 2, lastTimestamp: AT + 50, archived: 0, rewound: 0 };
  return {
    id,
    source: 'webui',
    title: null,
    model: null,
    parentId: null,
    startedAt: AT,
    endedAt: null,
    endReason: null,
    storedMessageCount: 2,
    userId: null,
    chatId: null,
    chatType: null,
    threadId: null,
    sessionKey: null,
    branchedFrom: null,
    delegateFrom: null,
    resetFrom: null,
    stats: stats as unknown as StoreSession['stats'],
    ...more,
  };
}

function listOf({ files, store }: World): Map<string, Known> {
  const rows = { profile: 'default', sessions: store, userMessages: () => null, derivedTitle: () => null };
  const inputs = {
    sidecars: [...files.values()].map(listRowOf),
    stores: [{ store: rows, context: NO_CONTEXT, gateway: new Map() }],
    claude: [],
    tombstones: { deleted: new Set<string>(), zeroMessages: new Set<string>() },
    live: { streams: new Set<string>(), attention: new Set<string>() },
  };
  const list = composeList(inputs, { ...DEFAULT_REQUEST, includeArchived: true, window: null });
  return new Map(list.rows.map((row) => [row.id, { row, sidecar: files.get(row.id) ?? null, claude: null, tombstones: NO_TOMBSTONES }]));
}

function shownAlone(before: World, after: World): Map<string, Known> {
  const known = listOf(before);
  const saved = savedFiles(before.files, after.files);
  return savedAlone(known, tiedIds(known), saved?.saved ?? [], (saving, when) => {
    const entry = (when === 'NOW' ? after : before).store.get(saving.id);
    return listOf({ files: new Map([[saving.id, saving]]), store: new Map(entry === undefined ? [] : [[saving.id, entry]]) }).get(
      saving.id,
    );
  });
}

const world = (files: Readonly<Record<string, SidecarRow>>, store: readonly StoreSession[] = []): World => ({
  files: new Map(Object.entries(files)),
  store: new Map(store.map((each) => [each.id, each])),
});

describe('a save of one file', () => {
  const beside = file('b', {});

  it('is shown with its title, its times, its counts and its flags', () => {
    const saved = file('a', { title: 'New', messages: 3, updated_at: AT + 200, pinned: true });
    const shown = shownAlone(world({ a: file('a', {}), b: beside }), world({ a: saved, b: beside }));
    expect([...shown.keys()]).toEqual(['a']);
    expect(shown.get('a')).toMatchObject({ sidecar: saved, row: { title: 'New', messageCount: 3, updatedAt: AT + 200, pinned: true } });
  });

  it('is shown beside what the store has of its session', () => {
    const store = [session('a', { storedMessageCount: 9, stats: null })];
    const shown = shownAlone(world({ a: file('a', {}) }, store), world({ a: file('a', { title: 'New' }) }, store));
    expect(shown.get('a')?.row).toMatchObject({ title: 'New', messageCount: 9 });
  });

  it.each<[string, Fields & { messages?: number }, Fields & { messages?: number }, Fields]>([
    ['that makes it a snapshot', {}, { pre_compression_snapshot: true }, {}],
    ['that gives it a parent', {}, { parent_session_id: 'b' }, {}],
    ['that another goes on from', {}, { title: 'New' }, { parent_session_id: 'a' }],
    [
      'of a chat',
      { source_tag: 'telegram', session_source: 'messaging' },
      { source_tag: 'telegram', session_source: 'messaging', title: 'New' },
      {},
    ],
    [
      'of a session of a terminal',
      { is_cli_session: true, source_tag: 'cli' },
      { is_cli_session: true, source_tag: 'cli', title: 'New' },
      {},
    ],
    ['that brings the first message', { messages: 0 }, { messages: 1 }, {}],
    ['that moves it to another profile', {}, { profile: 'work' }, {}],
  ])('%s waits for the whole list', (_, before, after, other) => {
    const b = file('b', other);
    expect(shownAlone(world({ a: file('a', before), b }), world({ a: file('a', after), b })).size).toBe(0);
  });

  it('among many waits', () => {
    const many = (title: string) => new Map(Array.from({ length: 20 }, (_, at) => [`s${at}`, file(`s${at}`, { title })]));
    expect(savedFiles(many('Old'), many('New'))).toBeNull();
  });

  it('is told apart from files that came or went', () => {
    const [a, b] = [file('a', {}), file('b', {})];
    const files = (...rows: readonly SidecarRow[]) => new Map(rows.map((row) => [row.id, row]));
    const saved = file('a', { title: 'New' });
    expect(savedFiles(files(a, b), files(saved, b))).toEqual({ saved: [saved], isMore: false });
    expect(savedFiles(files(a), files(a, b))).toEqual({ saved: [], isMore: true });
    expect(savedFiles(files(a, b), files(a))).toEqual({ saved: [], isMore: true });
    expect(savedFiles(files(a), files(b))).toEqual({ saved: [], isMore: true });
  });
});

/** Mostly the plain value: worlds in which everything is tied to everything prove little. */
const seldom = <T>(plain: T, ...others: readonly T[]) =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(plain) }, { weight: 1, arbitrary: fc.constantFrom(...others) });
const parent = seldom<string | null>(null, ...IDS);
const fieldsOf = fc.record({
  title: fc.constantFrom('Untitled', 'One', 'Two'),
  messages: seldom(1, 0, 3),
  updated_at: fc.constantFrom(AT, AT + 60, AT + 100),
  parent_session_id: parent,
  pre_compression_snapshot: seldom(false, true),
  session_source: seldom<string | null>(null, 'fork', 'messaging'),
  source_tag: seldom<string | null>(null, 'telegram', 'cron', 'cli'),
  is_cli_session: seldom(false, true),
  archived: fc.boolean(),
  pinned: fc.boolean(),
  project_id: fc.constantFrom(null, 'p1'),
  active_stream_id: fc.constantFrom(null, null, 'st'),
});
const sessionOf = fc.record({
  source: seldom('webui', 'cli', 'telegram', 'subagent'),
  title: fc.constantFrom(null, 'Stored'),
  parentId: parent,
  endedAt: seldom<number | null>(null, AT + 10),
  endReason: seldom<string | null>(null, 'compression'),
  storedMessageCount: seldom(2, 0, 5),
});

it('whatever is shown early is what the whole list says, and the whole list says nothing else of the others', () => {
  let shownEarly = 0;
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom(...IDS), fieldsOf, { minKeys: 1 }),
      fc.dictionary(fc.constantFrom(...IDS), sessionOf),
      fc.nat(3),
      fc.record(Object.fromEntries(Object.entries({ title: fc.constantFrom('Untitled', 'New'), messages: fc.constantFrom(0, 2, 4) }))),
      fieldsOf,
      fc.boolean(),
      (files, sessions, at, small, large, isSmall) => {
        const ids = Object.keys(files);
        const id = ids[at % ids.length] ?? '';
        const store = Object.entries(sessions).map(([name, more]) => session(name, more));
        const rows = Object.fromEntries(Object.entries(files).map(([name, fields]) => [name, file(name, fields)]));
        const saved = file(id, isSmall ? { ...files[id], ...small } : large);
        const [before, after] = [world(rows, store), world({ ...rows, [id]: saved }, store)];
        const early = shownAlone(before, after);
        if (early.size === 0) return;
        shownEarly++;
        const [old, whole] = [listOf(before), listOf(after)];
        expect([...whole.keys()].sort()).toEqual([...old.keys()].sort());
        for (const [name, known] of whole) expect(isSameKnown(known, early.get(name) ?? old.get(name) ?? known)).toBe(true);
      },
    ),
    { numRuns: 1500 },
  );
  expect(shownEarly).toBeGreaterThan(100);
});
