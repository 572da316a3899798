/** Sessions deleted and emptied (`spec/state-db-writes.md` F11, F12, J2). */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { commandHost, type TestHost } from '../../support/command-host.ts';
import { buildStore, M, type Row, S, type SchemaVersion, T } from '../../support/stores.ts';

let host: TestHost;
afterEach(() => host.close());

function open(rows: readonly Row[], schema: SchemaVersion = 31): TestHost {
  host = commandHost(buildStore({ schema, rows }));
  return host;
}
const parents = () =>
  Object.fromEntries(host.rows('SELECT id, parent_session_id AS p FROM sessions ORDER BY id').map(({ id, p }) => [id, p]));
const remove = (
  sessionId: string,
  more: { scope?: 'SEGMENT' | 'LINEAGE'; expectedDeleteIds?: string[]; onlyIfEmpty?: boolean } = {},
  dryRun = false,
) => host.run('deleteSession', { sessionId, scope: 'SEGMENT', expectedDeleteIds: null, onlyIfEmpty: false, ...more }, { dryRun });
const lease = (conversation: string, expires: number) =>
  T('session_turn_leases', { conversation_id: conversation, holder: 'h', acquired_at: 0, expires_at: expires });
const lock = (session: string, expires: number) =>
  T('compression_locks', { session_id: session, holder: 'h', acquired_at: 0, expires_at: expires });
const FAMILY = [
  S('s', { ended_at: 150, end_reason: 'compression' }),
  S('d', { parent_session_id: 's', model_config: '{"_delegate_from":"s"}' }),
  S('dd', { parent_session_id: 'd', model_config: '{"_delegate_from":"d"}' }),
  S('b', { parent_session_id: 's', model_config: '{"_branched_from":"s"}' }),
  S('c', { parent_session_id: 's' }),
  ...['s', 'd', 'dd', 'b', 'c'].map((id) => M(id, { content: `of ${id}` })),
];

describe('a deleted session', () => {
  it('T136: takes what it delegated along, and leaves branches and continuations without a parent', async () => {
    open(FAMILY);
    const preview = await remove('s', {}, true);
    expect(preview).toEqual({ deletedIds: ['s', 'd', 'dd'], orphanedIds: ['b', 'c'] });
    expect(Object.keys(parents())).toHaveLength(5);
    expect(await remove('s', { expectedDeleteIds: ['dd', 'd', 's'] })).toEqual(preview);
    expect(parents()).toEqual({ b: null, c: null });
    expect(host.rows('SELECT session_id FROM messages ORDER BY 1')).toEqual([{ session_id: 'b' }, { session_id: 'c' }]);
    await expect(remove('s')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('T137: stays where another set would go than the expected one', async () => {
    open(FAMILY);
    await expect(remove('s', { expectedDeleteIds: ['s', 'dd'] })).rejects.toMatchObject({
      code: 'DELETE_SET_CHANGED',
      details: { deleteIds: ['s', 'd', 'dd'] },
    });
    expect(Object.keys(parents())).toHaveLength(5);
  });

  it.each([
    ['a turn in itself', lease('s', 1001)],
    ['a turn in what it delegated', lease('dd', 1001)],
    ['a compression of what it delegated', lock('d', 1000)],
  ])('T138: stays during %s', async (_, guard) => {
    open([...FAMILY, guard]);
    await expect(remove('s')).rejects.toMatchObject({ code: 'SESSION_WRITE_GUARDED', retryable: true });
    expect(Object.keys(parents())).toHaveLength(5);
  });

  it('goes once the turn is stale, whose lease goes with it', async () => {
    open([...FAMILY, lease('s', 1000), lock('d', 999), lease('b', 5000)]);
    await remove('s');
    expect(parents()).toEqual({ b: null, c: null });
    expect(host.rows('SELECT conversation_id FROM session_turn_leases')).toEqual([{ conversation_id: 'b' }]);
    expect(host.rows('SELECT * FROM compression_locks')).toEqual([]);
  });

  it('T139: is not empty while it has retired rows, a title or a child', async () => {
    open([
      S('retired'),
      M('retired', { active: 0 }),
      S('titled', { title: 'Tea' }),
      S('parent'),
      S('empty', { parent_session_id: 'parent' }),
    ]);
    for (const id of ['retired', 'titled', 'parent']) expect((await remove(id, { onlyIfEmpty: true })).deletedIds).toEqual([]);
    expect((await remove('empty', { onlyIfEmpty: true })).deletedIds).toEqual(['empty']);
    expect(Object.keys(parents())).toEqual(['parent', 'retired', 'titled']);
  });

  it('can be a whole conversation, with what its segments delegated', async () => {
    open([...FAMILY, S('cd', { parent_session_id: 'c', model_config: '{"_delegate_from":"c"}' })]);
    const { deletedIds, orphanedIds } = await remove('c', { scope: 'LINEAGE' });
    expect([...deletedIds].sort()).toEqual(['c', 'cd', 'd', 'dd', 's']);
    expect(orphanedIds).toEqual(['b']);
    expect(parents()).toEqual({ b: null });
  });

  it('takes its usage and its prompt along, unless another session has that too', async () => {
    open([
      T('system_prompts', { hash: 'own', prompt: 'x' }),
      T('system_prompts', { hash: 'shared', prompt: 'y' }),
      T('system_prompts', { hash: 'tools', prompt: '[]' }),
      S('s', { system_prompt_hash: 'own', tool_names: 'tools' }),
      S('t', { system_prompt_hash: 'shared' }),
      S('u', { tool_names: 'shared' }),
      T('session_model_usage', { session_id: 's', model: 'm' }),
    ]);
    await host.run('deleteSessions', { ids: ['s', 't'], expectedDeleteIds: null });
    expect(host.rows('SELECT hash FROM system_prompts')).toEqual([{ hash: 'shared' }]);
    expect(host.rows('SELECT * FROM session_model_usage')).toEqual([]);
  });

  it('leaves no files, and takes none of another session', async () => {
    open([S('s'), S('s_2'), S('sessions')]);
    const folder = join(host.home, 'sessions');
    mkdirSync(folder);
    const theirs = ['s_2.json', 'request_dump_s_2_2026.json', 'sessions.json', 'request_dump_x_s_1.json'];
    for (const name of ['s.json', 's.jsonl', 'request_dump_s_2026.json', ...theirs]) writeFileSync(join(folder, name), '{}');
    await remove('s', {}, true);
    expect(readdirSync(folder)).toHaveLength(7);
    await remove('s');
    expect(readdirSync(folder).sort()).toEqual([...theirs].sort());
    await remove('sessions');
    expect(existsSync(join(folder, 'sessions.json'))).toBe(true);
  });

  it('whose id leads elsewhere takes no file with it', async () => {
    open([S('../victim'), S('..')]);
    mkdirSync(join(host.home, 'sessions'));
    writeFileSync(join(host.home, 'victim.json'), '{}');
    await host.run('deleteSessions', { ids: ['../victim', '..'], expectedDeleteIds: null });
    expect(existsSync(join(host.home, 'victim.json'))).toBe(true);
    expect(parents()).toEqual({});
  });

  it('K29: loses its files also when the process died before', async () => {
    open([S('s')]);
    mkdirSync(join(host.home, 'sessions'));
    const envelope = { clientMutationId: 'a' };
    const input = { sessionId: 's', scope: 'SEGMENT', expectedDeleteIds: null, onlyIfEmpty: false } as const;
    const first = await host.run('deleteSession', input, envelope);
    writeFileSync(join(host.home, 'sessions', 's.jsonl'), '{}');
    expect(await host.run('deleteSession', input, envelope)).toEqual(first);
    expect(readdirSync(join(host.home, 'sessions'))).toEqual([]);
  });
});

describe('several sessions', () => {
  it('go together, with those skipped that are not there', async () => {
    open(FAMILY);
    expect(await host.run('deleteSessions', { ids: ['d', 'c', 'nobody', 'd'], expectedDeleteIds: null })).toEqual({
      deletedIds: ['d', 'dd', 'c'],
      orphanedIds: [],
      skippedIds: ['nobody'],
    });
    expect(Object.keys(parents())).toEqual(['b', 's']);
  });

  it('stay together', async () => {
    open([...FAMILY, lease('b', 5000)]);
    await expect(host.run('deleteSessions', { ids: ['c', 'b'], expectedDeleteIds: null })).rejects.toMatchObject({
      code: 'SESSION_WRITE_GUARDED',
      details: { sessionId: 'b' },
    });
    expect(Object.keys(parents())).toHaveLength(5);
  });

  it('are at most 500', async () => {
    open([]);
    const ids = Array.from({ length: 501 }, (_, index) => `s${index}`);
    await expect(host.run('deleteSessions', { ids, expectedDeleteIds: null })).rejects.toMatchObject({ code: 'TOO_MANY' });
    expect((await host.run('deleteSessions', { ids: ids.slice(1), expectedDeleteIds: null })).skippedIds).toHaveLength(500);
  });

  it('that are empty go: ended, not archived, without a row', async () => {
    const ended = { ended_at: 150, end_reason: 'cli_close' };
    open([
      S('empty', ended),
      S('open'),
      S('archived', { ...ended, archived: 1 }),
      S('full', ended),
      M('full', { active: 0 }),
      S('counted', { ...ended, message_count: 2 }),
      S('busy', ended),
      lease('busy', 5000),
    ]);
    const expectedDeleteIds = ['empty', 'full'];
    await expect(host.run('deleteEmptySessions', { expectedDeleteIds })).rejects.toMatchObject({ code: 'DELETE_SET_CHANGED' });
    expect(await host.run('deleteEmptySessions', { expectedDeleteIds: null })).toEqual({ deletedIds: ['empty'], orphanedIds: [] });
  });
});

describe('a session that is emptied', () => {
  const clear = (confirm = true, clientMutationId: string | null = null) =>
    host.run('clearSession', { sessionId: 's', confirm }, { clientMutationId });

  it('keeps nothing but itself', async () => {
    open([S('s', { message_count: 2, tool_call_count: 1, title: 'Tea' }), S('t'), M('s'), M('s', { active: 0 }), M('t')]);
    await expect(clear(false)).rejects.toMatchObject({ code: 'VALIDATION' });
    expect(await clear()).toMatchObject({ deletedMessages: 2 });
    expect(host.rows('SELECT session_id FROM messages')).toEqual([{ session_id: 't' }]);
    expect(host.rows("SELECT title, message_count AS m, tool_call_count AS c FROM sessions WHERE id = 's'")).toEqual([
      { title: 'Tea', m: 0, c: 0 },
    ]);
  });

  it('is not emptied again by a repeat', async () => {
    open([S('s'), M('s')]);
    const first = await clear(true, 'a');
    host.otherwise("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s', 'user', 'later', 2000)");
    expect(await clear(true, 'a')).toEqual(first);
    expect(host.rows('SELECT content FROM messages')).toEqual([{ content: 'later' }]);
  });

  it('waits until the turn is over', async () => {
    open([S('s'), M('s'), lease('s', 5000)]);
    await expect(clear()).rejects.toMatchObject({ code: 'SESSION_WRITE_GUARDED' });
    expect(host.rows('SELECT id FROM messages')).toHaveLength(1);
  });
});
