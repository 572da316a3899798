/** Sessions pruned and swept into the archive (`spec/state-db-writes.md` 17, F9). */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { PruneInput } from '../../../src/state-db/write/prune-sessions.ts';
import { vacuumObstacle } from '../../../src/state-db/write/vacuum-gates.ts';
import { commandHost, type TestHost } from '../../support/command-host.ts';
import { buildStore, M, type Row, S, type SchemaVersion, T } from '../../support/stores.ts';

const DAY = 86_400;
const NOW = 1000 * DAY;
let host: TestHost;
afterEach(() => host.close());

function open(rows: readonly Row[], schema: SchemaVersion = 31): TestHost {
  host = commandHost(buildStore({ schema, rows }), { now: NOW });
  return host;
}
const ids = () => host.rows('SELECT id FROM sessions ORDER BY id').map(({ id }) => id);
const prune = (more: Partial<PruneInput> = {}, dryRun = false) =>
  host.run(
    'pruneSessions',
    { filter: 'INACTIVE', olderThanDays: 90, source: null, closeStale: false, expectedIds: null, ...more },
    { dryRun },
  );
const sweep = (more: { idleDays?: number; expectedIds?: string[] } = {}, dryRun = false) =>
  host.run('archiveStaleSessions', { idleDays: 3, expectedIds: null, ...more }, { dryRun });
const daysAgo = (days: number) => NOW - days * DAY;
const ended = (days: number, reason = 'cli_close') => ({ started_at: daysAgo(days + 1), ended_at: daysAgo(days), end_reason: reason });
const lease = (conversation: string) =>
  T('session_turn_leases', { conversation_id: conversation, holder: 'h', acquired_at: 0, expires_at: NOW + 100 });

describe('a prune', () => {
  it('takes what ended and was not touched for so long', async () => {
    open([
      S('old', ended(100)),
      M('old', { timestamp: daysAgo(100) }),
      S('spoken', ended(100)),
      M('spoken', { timestamp: daysAgo(80) }),
      S('beaten', { ...ended(100), last_activity_at: daysAgo(80) }),
      S('open', { started_at: daysAgo(200) }),
      S('pinned', { ...ended(100), pinned: 1 }),
      S('busy', ended(100)),
      lease('busy'),
      S('child', { parent_session_id: 'old', started_at: NOW }),
      S('odd', { started_at: 5e246, ended_at: 5e246, end_reason: 'x' }),
    ]);
    const preview = await prune({}, true);
    expect(preview).toMatchObject({ deletedIds: ['old'], orphanedIds: ['child'], skippedGuarded: ['busy'] });
    await expect(prune({ expectedIds: ['old', 'spoken'] })).rejects.toMatchObject({ code: 'SET_CHANGED' });
    expect(await prune({ expectedIds: ['old'] })).toMatchObject({ deletedIds: ['old'] });
    expect(ids()).toEqual(['beaten', 'busy', 'child', 'odd', 'open', 'pinned', 'spoken']);
    expect(host.rows("SELECT parent_session_id AS p FROM sessions WHERE id = 'child'")).toEqual([{ p: null }]);
  });

  it('counts what was reaped from then on', async () => {
    open([
      S('a', { started_at: daysAgo(300), ended_at: daysAgo(80), end_reason: 'startup_orphan_reap' }),
      S('b', ended(91, 'startup_orphan_reap')),
    ]);
    expect(await prune()).toMatchObject({ deletedIds: ['b'] });
  });

  it('T142: of a negative age does nothing', async () => {
    open([S('old', ended(100))]);
    await expect(prune({ olderThanDays: -1 })).rejects.toMatchObject({ code: 'VALIDATION' });
    await expect(prune({ olderThanDays: Number.NaN })).rejects.toMatchObject({ code: 'VALIDATION' });
    expect(ids()).toEqual(['old']);
  });

  it('T143: leaves a compressed segment whose continuation is recent', async () => {
    open([
      S('a', ended(100, 'compression')),
      S('b', { ...ended(95, 'compression'), parent_session_id: 'a' }),
      S('c', { parent_session_id: 'b', started_at: daysAgo(1) }),
      S('x', ended(100, 'compression')),
      S('y', { ...ended(95), parent_session_id: 'x' }),
    ]);
    expect(await prune()).toMatchObject({ deletedIds: ['x', 'y'] });
    expect(ids()).toEqual(['a', 'b', 'c']);
  });

  it('leaves what continues a pinned segment, and one source when another is meant', async () => {
    open([
      S('p', { ...ended(100, 'compression'), pinned: 1 }),
      S('q', { ...ended(100), parent_session_id: 'p' }),
      S('cron', { ...ended(100), source: 'cron' }),
      S('cli', ended(100)),
    ]);
    expect(await prune({ source: 'cron' })).toMatchObject({ deletedIds: ['cron'] });
    expect(ids()).toEqual(['cli', 'p', 'q']);
  });

  it('does not take what the sessions delegated', async () => {
    open([S('s', ended(100)), S('d', { parent_session_id: 's', started_at: NOW, model_config: '{"_delegate_from":"s"}' })]);
    await prune();
    expect(ids()).toEqual(['d']);
  });

  it('ends what runtimes left open, when it is asked to', async () => {
    const left = { started_at: daysAgo(100) };
    open([
      S('cli', left),
      S('chat', { ...left, source: 'telegram' }),
      S('pinned', { ...left, pinned: 1 }),
      S('busy', left),
      lease('busy'),
      S('new', { started_at: daysAgo(5) }),
    ]);
    expect(await prune()).toMatchObject({ closedIds: [] });
    expect(await prune({ closeStale: true })).toMatchObject({ closedIds: ['cli'], skippedGuarded: ['busy'] });
    expect(host.rows("SELECT ended_at AS at, end_reason AS reason FROM sessions WHERE id = 'cli'")).toEqual([
      { at: NOW, reason: 'startup_orphan_reap' },
    ]);
    expect(await prune({ closeStale: true })).toMatchObject({ deletedIds: [], closedIds: [] });
  });

  it('of ghosts takes what the terminal left without a message', async () => {
    const ghost = { ...ended(1), source: 'tui' };
    open([
      S('ghost', ghost),
      S('young', { ...ghost, started_at: daysAgo(0.9) }),
      S('cli', ended(2)),
      S('full', ghost),
      M('full', { active: 0 }),
      S('titled', { ...ghost, title: 'Tea' }),
    ]);
    expect(await prune({ filter: 'GHOSTS' })).toMatchObject({ deletedIds: ['ghost'] });
  });

  it('of what was never active takes its route too, while no gateway runs', async () => {
    const keyed = { source: 'telegram', session_key: 'k', started_at: daysAgo(100) };
    const entry = (key: string, id: string) =>
      T('gateway_routing', { session_key: key, entry_json: JSON.stringify({ session_id: id }), updated_at: 1 });
    open([S('never', keyed), S('used', { ...keyed, input_tokens: 5 }), entry('k', 'never'), entry('l', 'used'), entry('m', 'x')]);
    host.otherwise("UPDATE gateway_routing SET entry_json = 'no JSON' WHERE session_key = 'm'");
    mkdirSync(join(host.home, 'sessions'));
    const mirror = join(host.home, 'sessions', 'sessions.json');
    writeFileSync(mirror, '{"_note": 1, "k": {"session_id": "never"}, "l": {"session_id": "used"}}');
    host.otherwise("INSERT INTO gateway_heartbeats (backend_id, pid, started_at, last_heartbeat) VALUES ('b', 1, 1, ?)", NOW - 60);
    await expect(prune({ filter: 'NEVER_ACTIVE' })).rejects.toMatchObject({ code: 'GATEWAY_ONLINE' });
    host.otherwise('UPDATE gateway_heartbeats SET last_heartbeat = ?', NOW - 91);
    expect(await prune({ filter: 'NEVER_ACTIVE' })).toMatchObject({ deletedIds: ['never'] });
    expect(host.rows('SELECT session_key AS k FROM gateway_routing ORDER BY 1')).toEqual([{ k: 'l' }, { k: 'm' }]);
    expect(JSON.parse(readFileSync(mirror, 'utf8'))).toEqual({ _note: 1, l: { session_id: 'used' } });
  });

  it.each([6, 16, 22, 26, 30] as const)('fits a store of schema %s', async (schema) => {
    open([S('old', ended(100)), M('old', { timestamp: daysAgo(100) }), S('new', ended(1))], schema);
    expect(await prune({ closeStale: true })).toMatchObject({ deletedIds: ['old'] });
    expect(await prune({ filter: 'NEVER_ACTIVE' })).toMatchObject({ deletedIds: [] });
    expect(ids()).toEqual(['new']);
  });
});

describe('a store is compacted', () => {
  const facts = { pruned: 1, freePages: 26, pages: 100, lastVacuum: NOW - 30 * DAY, holders: 0, now: NOW };

  it('after a prune that left much of it empty, when it was not for 30 days and nobody else has it open', () => {
    expect(vacuumObstacle(facts)).toBeNull();
    expect(vacuumObstacle({ ...facts, lastVacuum: null })).toBeNull();
  });

  it.each([
    ['NOTHING_PRUNED', { pruned: 0 }],
    ['TOO_LITTLE_FREE', { freePages: 25 }],
    ['TOO_RECENT', { lastVacuum: NOW - 29 * DAY }],
    ['OTHER_HOLDERS', { holders: 1 }],
  ] as const)('T141: not for %s', (obstacle, more) => {
    expect(vacuumObstacle({ ...facts, ...more })).toBe(obstacle);
  });

  it('is said by the prune itself', async () => {
    const large = Array.from({ length: 200 }, () => M('old', { content: 'x'.repeat(4000), timestamp: daysAgo(100) }));
    open([S('old', ended(100)), ...large, S('small', ended(100))]);
    expect(await prune({ source: 'nothing' })).toMatchObject({ vacuumDue: false });
    expect(await prune()).toMatchObject({ deletedIds: ['old', 'small'], vacuumDue: true });
  });
});

describe('a sweep', () => {
  const archived = () => host.rows('SELECT id FROM sessions WHERE archived = 1 ORDER BY id').map(({ id }) => id);

  it('archives conversations that rest, and marks them as its own', async () => {
    open([
      S('a', { ...ended(5, 'compression'), archived: 1 }),
      S('b', { ...ended(4, 'compression'), parent_session_id: 'a' }),
      S('c', { parent_session_id: 'b', started_at: daysAgo(4) }),
      S('live', { started_at: daysAgo(10) }),
      M('live', { timestamp: daysAgo(1) }),
      S('pinned', { started_at: daysAgo(10), pinned: 1 }),
      S('bot', { started_at: daysAgo(10), hidden: 1, title: 'Bot Chat' }),
      S('busy', { started_at: daysAgo(10) }),
      lease('busy'),
    ]);
    const preview = await sweep({}, true);
    expect(preview).toEqual({ sessionIds: ['c', 'b'], tipIds: ['c'] });
    await expect(sweep({ expectedIds: [] })).rejects.toMatchObject({ code: 'SET_CHANGED' });
    await expect(sweep({ idleDays: -1 })).rejects.toMatchObject({ code: 'VALIDATION' });
    expect(archived()).toEqual(['a']);
    expect(await sweep({ expectedIds: ['c'] })).toEqual(preview);
    expect(archived()).toEqual(['a', 'b', 'c']);
    expect(host.rows('SELECT id FROM sessions WHERE auto_archived = 1 ORDER BY id')).toEqual([{ id: 'b' }, { id: 'c' }]);
  });

  it('works without the mark, and not without an archive', async () => {
    open([S('s', { started_at: daysAgo(10) })], 26);
    expect(await sweep()).toMatchObject({ tipIds: ['s'] });
    expect(archived()).toEqual(['s']);
    host.close();
    open([S('s')], 6);
    await expect(sweep()).rejects.toMatchObject({ code: 'SCHEMA_UNSUPPORTED' });
  });
});
