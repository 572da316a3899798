/** Sessions created, ended and opened again (`spec/state-db-writes.md` 13.1 C3, C5, 13.2 F1 to F6). */
import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { commandHost, type TestHost } from '../../support/command-host.ts';
import { buildStore, M, type Row, S, type SchemaVersion, T } from '../../support/stores.ts';

let host: TestHost;
afterEach(() => host.close());

function open(rows: readonly Row[], schema: SchemaVersion = 31): TestHost {
  host = commandHost(buildStore({ schema, rows }));
  return host;
}
const row = (id: string) => host.rows('SELECT * FROM sessions WHERE id = ?', id)[0];
const end = (sessionId: string, reason: string) => host.run('endSession', { sessionId, reason });
const reset = (sessionId: string, reason = 'session_reset') => host.run('markSessionReset', { sessionId, reason });
const reopen = (sessionId: string, more: { explicitCloseOnly?: boolean; expectedEndReason?: string } = {}) =>
  host.run('reopenSession', { sessionId, explicitCloseOnly: false, expectedEndReason: null, ...more });
const reopenOrphan = (sessionId: string) => host.run('reopenOrphanedCompressionParent', { sessionId });
const lock = (session: string, expires: number) =>
  T('compression_locks', { session_id: session, holder: 'h', acquired_at: 0, expires_at: expires });
const lease = (conversation: string, expires: number) =>
  T('session_turn_leases', { conversation_id: conversation, holder: 'h', acquired_at: 0, expires_at: expires });
const NEW = {
  id: 'n',
  source: 'cli',
  model: null,
  parentSessionId: null,
  title: null,
  cwd: null,
  kind: 'ROOT',
  modelConfig: null,
  systemPrompt: null,
} as const;

describe('the end of a session', () => {
  it('T120: has the first reason', async () => {
    open([S('s')]);
    expect(await end('s', 'cli_close')).toMatchObject({ changed: true, endReason: 'cli_close' });
    host.clock.now = 2000;
    expect(await end('s', 'webhook_complete')).toMatchObject({ changed: false, endReason: 'cli_close' });
    expect(row('s')).toMatchObject({ ended_at: 1000, end_reason: 'cli_close' });
  });

  it('T121: by a reset begins one new generation of the routing key', async () => {
    open([S('s', { source: 'telegram', session_key: 'k' }), S('t', { session_key: 'k' })]);
    await end('s', 'session_reset');
    await end('s', 'session_reset');
    await end('t', 'cli_close');
    expect(host.rows('SELECT * FROM conversation_generations')).toEqual([{ source: 'telegram', session_key: 'k', generation: 1 }]);
  });

  it('T122: by an accident gives way to a reset', async () => {
    open([S('s', { session_key: 'k', ended_at: 200, end_reason: 'agent_close' })]);
    expect(await reset('s')).toMatchObject({ changed: true });
    expect(row('s')).toMatchObject({ ended_at: 1000, end_reason: 'session_reset' });
    expect(host.rows('SELECT generation FROM conversation_generations')).toEqual([{ generation: 1 }]);
  });

  it('T123: on purpose stays', async () => {
    open([S('s', { session_key: 'k', ended_at: 200, end_reason: 'tui_close' })]);
    expect(await reset('s')).toMatchObject({ changed: false, endReason: 'tui_close' });
    expect(row('s')).toMatchObject({ ended_at: 200 });
    expect(host.rows('SELECT * FROM conversation_generations')).toEqual([]);
  });

  it.each(['compression', 'orphaned_compression', 'branched', ' '])('is never written by a client as %j', async (reason) => {
    open([S('s')]);
    await expect(end('s', reason)).rejects.toMatchObject({ code: 'INVALID_REASON' });
    await expect(reset('s', reason)).rejects.toMatchObject({ code: 'INVALID_REASON' });
    expect(row('s')).toMatchObject({ ended_at: null });
  });

  it('needs a session', async () => {
    open([]);
    await expect(end('s', 'x')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('is the same in a store without generations', async () => {
    open([S('s')], 6);
    expect(await reset('s')).toMatchObject({ changed: true });
    expect(row('s')).toMatchObject({ end_reason: 'session_reset' });
  });
});

describe('a session that is opened again', () => {
  const CLOSED = S('p', { ended_at: 150, end_reason: 'compression' });

  it('T124: is none that a continuation goes on from', async () => {
    open([CLOSED, S('c', { parent_session_id: 'p', ended_at: 300, end_reason: 'cli_close' })]);
    await expect(reopen('p')).rejects.toMatchObject({ code: 'HAS_CONTINUATION' });
    await expect(reopenOrphan('p')).rejects.toMatchObject({ code: 'HAS_CONTINUATION' });
    expect(row('p')).toMatchObject({ end_reason: 'compression' });
  });

  it('T125: may be a compressed one that nothing continues, once its lock has expired', async () => {
    open([CLOSED, S('b', { parent_session_id: 'p', model_config: '{"_branched_from":"p"}' }), lock('p', 999)]);
    expect(await reopenOrphan('p')).toEqual({ sessionId: 'p', reopened: true });
    expect(row('p')).toMatchObject({ ended_at: null, end_reason: null });
    expect(host.rows('SELECT * FROM compression_locks')).toEqual([]);
    expect(await reopenOrphan('p')).toEqual({ sessionId: 'p', reopened: false });
  });

  it('T125: is refused while its lock is held', async () => {
    open([CLOSED, lock('p', 1000)]);
    await expect(reopenOrphan('p')).rejects.toMatchObject({ code: 'COMPRESSION_IN_PROGRESS' });
    expect(row('p')).toMatchObject({ ended_at: 150 });
  });

  it('leaves what a reset began apart from it', async () => {
    open([
      S('p', { session_key: 'k', ended_at: 150, end_reason: 'idle' }),
      S('reset', { parent_session_id: 'p', session_key: 'k', started_at: 150, model_config: '{"a": 1}' }),
      S('other', { parent_session_id: 'p', session_key: 'x', started_at: 150 }),
      S('damaged', { parent_session_id: 'p', session_key: 'k', started_at: 150, model_config: 'no JSON' }),
    ]);
    expect(await reopen('p')).toEqual({ sessionId: 'p', changed: true, clearedReason: 'idle' });
    expect(JSON.parse(String(row('reset')?.model_config))).toEqual({ a: 1, _reset_from: 'p' });
    expect(row('other')).toMatchObject({ model_config: null });
    expect(row('damaged')).toMatchObject({ model_config: 'no JSON' });
  });

  it('waits until the turn is over', async () => {
    open([S('s', { ended_at: 150, end_reason: 'cli_close' }), lease('s', 1001)]);
    await expect(reopen('s')).rejects.toMatchObject({ code: 'SESSION_BUSY' });
    host.clock.now = 1001;
    expect(await reopen('s')).toMatchObject({ changed: true });
    expect(host.rows('SELECT * FROM session_turn_leases')).toEqual([]);
  });

  it('leaves the archive that a sweep put it in, and not that of a person', async () => {
    const ended = { archived: 1, ended_at: 150, end_reason: 'cli_close' };
    open([S('swept', { ...ended, auto_archived: 1 }), S('kept', { ...ended })]);
    await reopen('swept');
    await reopen('kept');
    expect(row('swept')).toMatchObject({ archived: 0, auto_archived: 0 });
    expect(row('kept')).toMatchObject({ archived: 1 });
  });

  it('can be told apart from one that a clean-up ended, and from one that has ended otherwise since', async () => {
    open([S('a', { ended_at: 1, end_reason: 'lru_evict' }), S('b', { ended_at: 1, end_reason: 'cli_close' })]);
    expect(await reopen('a', { explicitCloseOnly: true })).toMatchObject({ changed: false, clearedReason: null });
    expect(await reopen('b', { explicitCloseOnly: true })).toMatchObject({ changed: true, clearedReason: 'cli_close' });
    await expect(reopen('a', { expectedEndReason: 'cli_close' })).rejects.toMatchObject({ code: 'CONFLICT' });
  });
});

describe('continuations that were left behind', () => {
  it('are ended: open, old, with messages, without a call of a model', async () => {
    const now = 10 * 86_400;
    const child = { parent_session_id: 'p', started_at: 100 };
    open([
      S('p', { ended_at: 100, end_reason: 'compression' }),
      S('left', child),
      S('called', { ...child, api_call_count: 1 }),
      S('empty', child),
      S('new', { ...child, started_at: now - 60 }),
      S('branch', { ...child, model_config: '{"_branched_from":"p"}' }),
      ...['left', 'called', 'new', 'branch'].map((id) => M(id)),
    ]);
    host.clock.now = now;
    expect(await host.run('finalizeOrphanedCompressions', {})).toEqual({ sessionIds: ['left'] });
    expect(row('left')).toMatchObject({ ended_at: now, end_reason: 'orphaned_compression' });
    expect(await host.run('finalizeOrphanedCompressions', {})).toEqual({ sessionIds: [] });
  });
});

describe('a session that is created', () => {
  it('T126: keeps what it has where it exists', async () => {
    open([S('n', { model: 'old', cwd: '/a' })]);
    expect(await host.run('createSession', { ...NEW, model: 'new', cwd: '/b', title: 'Tea' })).toEqual({ sessionId: 'n', created: false });
    expect(row('n')).toMatchObject({ model: 'old', cwd: '/a', source: 'cli', title: null, profile_name: 'default' });
  });

  it('T127: gets its source where that was a placeholder', async () => {
    open([S('n', { source: 'unknown', created_source: 'unknown' })]);
    await host.run('createSession', NEW);
    expect(row('n')).toMatchObject({ source: 'cli', created_source: 'unknown' });
  });

  it('T128: takes over the workspace of its parent, and the routing of a segment that it continues', async () => {
    const peer = { cwd: '/w', git_branch: 'main', git_repo_root: '/w', session_key: 'k', chat_id: 'c', user_id: 'u', origin_json: '{}' };
    open([S('open', peer), S('closed', { ...peer, ended_at: 150, end_reason: 'compression' })]);
    await host.run('createSession', { ...NEW, id: 'a', parentSessionId: 'open' });
    await host.run('createSession', { ...NEW, id: 'b', parentSessionId: 'closed', cwd: '/own' });
    await host.run('createSession', { ...NEW, id: 'c', parentSessionId: 'closed', kind: 'BRANCH' });
    expect(row('a')).toMatchObject({ cwd: '/w', git_branch: 'main', git_repo_root: '/w', session_key: null, chat_id: null, user_id: null });
    expect(row('b')).toMatchObject({ cwd: '/own', session_key: 'k', chat_id: 'c', user_id: 'u', origin_json: '{}' });
    expect(row('c')).toMatchObject({ cwd: '/w', session_key: null, model_config: '{"_branched_from": "closed"}' });
  });

  it('is new with all that was asked for', async () => {
    open([]);
    await host.run('createSession', { ...NEW, title: ' Tea ', model: 'm', modelConfig: { temperature: 1 }, systemPrompt: 'Be kind.' });
    const hash = createHash('sha256').update('Be kind.').digest('hex');
    expect(row('n')).toMatchObject({
      source: 'cli',
      created_source: 'cli',
      title: 'Tea',
      title_source: 'user',
      started_at: 1000,
      model: 'm',
      model_config: '{"temperature": 1}',
      system_prompt_hash: hash,
      message_count: 0,
      profile_name: 'default',
    });
    expect(host.rows('SELECT * FROM system_prompts')).toEqual([{ hash, prompt: 'Be kind.' }]);
  });

  it('keeps the mark of a reset beside its first configuration', async () => {
    open([S('p'), S('n', { model_config: '{"_reset_from":"p"}' })]);
    await host.run('createSession', { ...NEW, modelConfig: { a: 1 } });
    expect(JSON.parse(String(row('n')?.model_config))).toEqual({ a: 1, _reset_from: 'p' });
    await host.run('createSession', { ...NEW, modelConfig: { a: 2 } });
    expect(JSON.parse(String(row('n')?.model_config))).toEqual({ a: 1, _reset_from: 'p' });
  });

  it('K28: gets the title that its ended ancestor still has', async () => {
    open([S('p', { title: 'Tea', ended_at: 150, end_reason: 'compression' })]);
    await host.run('createSession', { ...NEW, parentSessionId: 'p', title: 'Tea' });
    expect(row('n')).toMatchObject({ title: 'Tea' });
    expect(row('p')).toMatchObject({ title: null });
  });

  it.each([
    ['PARENT_NOT_FOUND', { parentSessionId: 'nobody' }],
    ['VALIDATION', { parentSessionId: 'n' }],
    ['VALIDATION', { kind: 'BRANCH' }],
    ['VALIDATION', { id: '../n' }],
    ['VALIDATION', { id: ' ' }],
    ['VALIDATION', { source: '' }],
    ['VALIDATION', { modelConfig: { _branched_from: 'x' } }],
    ['VALIDATION', { modelConfig: [] }],
    ['TITLE_IN_USE', { title: 'Tea' }],
  ] as const)('is refused with %s for %j', async (code, input) => {
    open([S('tea', { title: 'Tea' })]);
    await expect(host.run('createSession', { ...NEW, ...input })).rejects.toMatchObject({ code });
    expect(host.rows('SELECT id FROM sessions')).toEqual([{ id: 'tea' }]);
  });

  it('never descends from itself', async () => {
    open([S('n'), S('child', { parent_session_id: 'n' })]);
    await expect(host.run('createSession', { ...NEW, parentSessionId: 'child' })).rejects.toMatchObject({ code: 'VALIDATION' });
  });

  it('gets an id where it is given none, the same for a repeat', async () => {
    open([]);
    const envelope = { clientMutationId: 'a' };
    const first = await host.run('createSession', { ...NEW, id: null }, envelope);
    expect(first.sessionId).toMatch(/^19700101_001640_[0-9a-f]{8}$/);
    expect(await host.run('createSession', { ...NEW, id: null }, envelope)).toEqual(first);
    expect(host.rows('SELECT id FROM sessions')).toHaveLength(1);
  });

  it.each([6, 16, 22, 23, 26, '30-early', 30, 31] as const)('fits a store of schema %s', async (schema) => {
    open([S('p', { ended_at: 150, end_reason: 'compression', title: 'Tea' })], schema);
    await host.run('createSession', { ...NEW, parentSessionId: 'p', title: 'Tea', systemPrompt: 'x', modelConfig: { a: 1 } });
    expect(row('n')).toMatchObject({ parent_session_id: 'p', title: 'Tea', source: 'cli', model_config: '{"a": 1}' });
    await host.run('endSession', { sessionId: 'n', reason: 'cli_close' });
    expect(await reopen('n')).toMatchObject({ changed: true });
    await host.run('deleteSession', { sessionId: 'p', scope: 'LINEAGE', expectedDeleteIds: ['p', 'n'], onlyIfEmpty: false });
    expect(host.rows('SELECT id FROM sessions')).toEqual([]);
  });
});
