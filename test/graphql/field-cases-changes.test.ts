/** Field cases about changes of sessions as a whole, on a running server (`spec/field-cases.md`). */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { mutating } from '../support/mutating.ts';
import { startInProcess, type TestServer } from '../support/server.ts';
import { M, type Row, S } from '../support/stores.ts';

const WRITING = { allowWrites: true } as const;
const start = (rows: readonly Row[]): Promise<TestServer> => startInProcess({ schema: 31, rows, settings: WRITING });
const startOn = (path: string): Promise<TestServer> => startInProcess({ home: dirname(path), settings: WRITING });
const COMPRESSED = { ended_at: 150, end_reason: 'compression' };
const say = (server: TestServer, sessionId: string) =>
  mutating(server, 'appendMessage', { sessionId, message: { role: 'user', content: 'new' } }, 'status');

function column(path: string, sql: string): unknown[] {
  const db = new Database(path, { readonly: true });
  try {
    return db.prepare(sql).pluck().all();
  } finally {
    db.close();
  }
}
const idsIn = ({ storePath }: TestServer): unknown[] => column(storePath, 'SELECT id FROM sessions ORDER BY id');

describe('a title', () => {
  it('F11: of a session that no list shows is refused with the id by which that can be looked at', async () => {
    const server = await start([S('t1', { source: 'tui', title: 'Foo', archived: 1 }), S('d1', { source: 'desktop' })]);
    const refused = await mutating(server, 'setSessionTitle', { sessionId: 'd1', title: 'Foo' }, 'changed');
    expect(refused).toMatchObject({ code: 'TITLE_IN_USE', details: { sessionId: 't1' }, settled: true });
    const found = await server.read(
      '{ session(sessionId: "t1") { source { raw } archived conversationId } d1: session(sessionId: "d1") { title } }',
    );
    expect(found).toEqual({ session: { source: { raw: 'tui' }, archived: true, conversationId: 't1' }, d1: { title: null } });
    await server.stop();
  });

  it('F12: that is automatic is refused aloud where it is taken, and gives way to one of a person', async () => {
    const server = await start([S('a', { title: 'Debug import', title_source: 'user' }), S('b')]);
    const automatic = { title: 'Debug import', source: 'LLM' };
    expect(await mutating(server, 'setSessionTitle', { sessionId: 'b', ...automatic }, 'changed')).toMatchObject({ code: 'TITLE_IN_USE' });
    expect(await mutating(server, 'setSessionTitle', { sessionId: 'a', title: 'Other', source: 'LLM' }, 'changed')).toMatchObject({
      changed: false,
    });
    await server.stop();
  });
});

describe('a session that is opened again', () => {
  it('F09: may be one that a fork ended which was never made', async () => {
    const server = await start([S('p', { ended_at: 105, end_reason: 'branched' }), M('p')]);
    expect(await mutating(server, 'reopenSession', { sessionId: 'p' }, 'session { endReason }')).toMatchObject({
      session: { endReason: null },
    });
    await server.stop();
  });

  it('F23: is a compressed one only while nothing continues it', async () => {
    const server = await start([
      S('p', COMPRESSED),
      M('p'),
      S('c', { parent_session_id: 'p', started_at: 150 }),
      S('q', COMPRESSED),
      M('q'),
    ]);
    const reopen = (sessionId: string) => mutating(server, 'reopenOrphanedCompressionParent', { sessionId }, '__typename');
    expect(await reopen('p')).toMatchObject({ code: 'HAS_CONTINUATION' });
    expect(await reopen('q')).toMatchObject({ __typename: 'ReopenOrphanedCompressionParentPayload' });
    await server.stop();
  });
});

describe('a deletion', () => {
  const fork = (parent: string, more: object = {}) => JSON.stringify({ _branched_from: parent, ...more });
  const delegate = (parent: string) => JSON.stringify({ _delegate_from: parent });

  it('F62: takes what its preview named and nothing newer, or with LINEAGE every segment', async () => {
    const rows = [
      S('a', COMPRESSED),
      S('b', { parent_session_id: 'a', started_at: 150, ended_at: 160, end_reason: 'compression' }),
      S('c', { parent_session_id: 'b', started_at: 160 }),
      S('d', { parent_session_id: 'a', model_config: delegate('a') }),
      S('e', { parent_session_id: 'd', model_config: delegate('d') }),
      S('f', { parent_session_id: 'a', model_config: fork('a') }),
      ...['a', 'b', 'c', 'd', 'e', 'f'].map((id) => M(id)),
    ];
    const server = await start(rows);
    const fields = 'deletedIds orphanedIds';
    const preview = await mutating(server, 'deleteSession', { sessionId: 'a', dryRun: true }, fields);
    expect(preview).toMatchObject({ deletedIds: ['a', 'd', 'e'], orphanedIds: ['b', 'f'] });
    expect(idsIn(server)).toHaveLength(6);
    const remove = (expectedDeleteIds: unknown) => mutating(server, 'deleteSession', { sessionId: 'a', expectedDeleteIds }, fields);
    expect(await remove(['a'])).toMatchObject({ code: 'DELETE_SET_CHANGED', settled: true });
    expect(await remove(preview.deletedIds)).toMatchObject({ deletedIds: ['a', 'd', 'e'] });
    expect(idsIn(server)).toEqual(['b', 'c', 'f']);
    expect(column(server.storePath, "SELECT id FROM sessions WHERE parent_session_id = 'a'")).toEqual([]);
    const whole = await start(rows);
    expect(await mutating(whole, 'deleteSession', { sessionId: 'a', scope: 'LINEAGE' }, fields)).toMatchObject({ orphanedIds: ['f'] });
    expect(idsIn(whole)).toEqual(['f']);
    await Promise.all([server.stop(), whole.stop()]);
  });

  it('F63: leaves a branch that inherited the marker of a delegate, and what says nothing that can be read', async () => {
    const server = await start([
      S('p'),
      S('b', { parent_session_id: 'p', model_config: fork('p', { _delegate_from: 'p' }) }),
      S('l', { parent_session_id: 'p', source: 'subagent', model_config: '{broken' }),
      M('b'),
      M('l'),
    ]);
    expect(await mutating(server, 'deleteSession', { sessionId: 'p' }, 'deletedIds')).toMatchObject({ deletedIds: ['p'] });
    expect(idsIn(server)).toEqual(['b', 'l']);
    expect(column(server.storePath, 'SELECT COUNT(*) FROM messages')).toEqual([2]);
    await server.stop();
  });

  it('F64: lasts: nothing finds the session, a late writer does not bring it back, nor does a restart', async () => {
    const server = await start([S('w'), M('w', { content: 'needle' })]);
    await mutating(server, 'deleteSession', { sessionId: 'w' }, 'deletedIds');
    const gone =
      '{ session(sessionId: "w") { title } sessions { totalCount } searchMessages(query: "needle", first: 5) { nodes { snippet } } }';
    const nothing = { session: null, sessions: { totalCount: 0 }, searchMessages: { nodes: [] } };
    expect(await server.read(gone)).toEqual(nothing);
    expect(await say(server, 'w')).toMatchObject({ code: 'NOT_FOUND' });
    await server.stop();
    const next = await startOn(server.storePath);
    expect(await next.read(gone)).toEqual(nothing);
    expect(await say(next, 'w')).toMatchObject({ code: 'NOT_FOUND' });
    expect(idsIn(next)).toEqual([]);
    await next.stop();
  });

  it('F38: of all that is empty leaves open sessions, titled ones, parents and those whose counters say that work was done', async () => {
    const ended = { ended_at: 150, end_reason: 'cli_close' };
    const old = { ...ended, started_at: 1, source: 'tui' };
    const server = await start([
      S('open'),
      S('empty', old),
      S('parent', old),
      S('child', { parent_session_id: 'parent' }),
      M('child'),
      S('t', { ...old, title: 'T' }),
    ]);
    const ghosts = await mutating(server, 'pruneSessions', { filter: 'GHOSTS', dryRun: true }, 'ids');
    expect(ghosts.ids).toEqual(expect.arrayContaining(['empty']));
    for (const id of ['open', 't', 'child']) expect(ghosts.ids).not.toContain(id);
    await server.stop();
  });
});

describe('what reads find, writes find', () => {
  it('F25: also a session without a file of the Web UI', async () => {
    const server = await start([S('x', { source: 'webui' }), M('x')]);
    expect(await mutating(server, 'setSessionTitle', { sessionId: 'x', title: 'T' }, 'session { title }')).toMatchObject({
      session: { title: 'T' },
    });
    expect(await say(server, 'x')).toMatchObject({ status: 'COMMITTED' });
    await server.stop();
  });

  it.each(['../x', '/etc/x', '..\\x', 'C:x', 'x\u0000', '*', '.', '', 'x'.repeat(300)])('F73: an id is no path: %j', async (sessionId) => {
    const server = await start([S('x')]);
    const outside = join(server.home, '..', 'x.json');
    writeFileSync(outside, 'mine');
    for (const name of ['deleteSession', 'clearSession', 'setSessionTitle', 'endSession', 'rewindSession']) {
      const more = { clearSession: { confirm: true }, setSessionTitle: { title: 'T' }, endSession: { reason: 'done' } }[name] ?? {};
      const upper = name.charAt(0).toUpperCase() + name.slice(1);
      const document = `mutation ($input: ${upper}Input!) { ${name}(input: $input) { __typename ... on UserError { code } } }`;
      const { data, errors } = await server.query<Record<string, { code?: string }>, unknown>(document, { input: { sessionId, ...more } });
      expect(['NOT_FOUND', 'VALIDATION', 'BAD_SESSION_ID', 'NOTHING_TO_REWIND']).toContain(
        data?.[name]?.code ?? errors[0]?.extensions.code,
      );
    }
    expect(readFileSync(outside, 'utf8')).toBe('mine');
    expect(idsIn(server)).toEqual(['x']);
    await server.stop();
  });

  it('F59: many sessions at once are one change', async () => {
    const ended = { ended_at: 150, end_reason: 'cli_close' };
    const server = await start([S('kept'), ...Array.from({ length: 5000 }, (_, index) => S(`e${index}`, ended))]);
    expect(await mutating(server, 'deleteEmptySessions', {}, 'count')).toMatchObject({ count: 5000 });
    expect(idsIn(server)).toEqual(['kept']);
    await server.stop();
  }, 30_000);
});

describe('an export and an import', () => {
  it('F66: out and in again keeps what was said; what is there is skipped, one fault stops all, a segment alone stands alone', async () => {
    const calls = '[{"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]';
    const from = await start([
      S('a', { ...COMPRESSED, title: 'Trip' }),
      M('a', { content: '\u0000json:[{"type": "text", "text": "hi"}]' }),
      M('a', { role: 'assistant', content: '', tool_calls: calls }),
      M('a', { role: 'tool', content: 'out', tool_call_id: 'c1', tool_name: 'ls', active: 0, compacted: 1 }),
      S('b', { parent_session_id: 'a', started_at: 150 }),
      M('b', { content: 'on' }),
    ]);
    const answer = await mutating(from, 'exportSession', { sessionId: 'b', scope: 'LINEAGE', includeArchivedRows: true }, 'url');
    const response = await fetch(new URL(String(answer.url), from.url), { headers: { authorization: `Bearer ${from.token}` } });
    const exported: unknown = await response.json();
    const into = await start([]);
    const bring = (sessions: unknown[]) => mutating(into, 'importSessions', { sessions }, 'importedIds skippedIds detachedIds');
    expect(await bring([exported])).toMatchObject({ importedIds: ['a', 'b'], skippedIds: [] });
    const rows =
      'SELECT role || content || coalesce(tool_calls, tool_call_id, 0) || timestamp || active || compacted FROM messages ORDER BY id';
    expect(column(into.storePath, rows)).toEqual(column(from.storePath, rows));
    expect(column(into.storePath, 'SELECT title FROM sessions ORDER BY id')).toEqual(['Trip', null]);
    expect(await bring([exported])).toMatchObject({ importedIds: [], skippedIds: ['a', 'b'] });
    const five = Array.from({ length: 5 }, (_, index) => ({
      id: `n${index}`,
      messages: [index === 2 ? {} : { role: 'user', content: 'x' }],
    }));
    expect(await bring(five)).toMatchObject({ code: 'IMPORT_INVALID', details: { errors: [{ index: 2 }] } });
    expect(idsIn(into)).toEqual(['a', 'b']);
    const alone = await start([]);
    const segment = { id: 'b', parent_session_id: 'a', messages: [{ role: 'user', content: 'on' }] };
    expect(await mutating(alone, 'importSessions', { sessions: [segment] }, 'importedIds detachedIds')).toMatchObject({
      importedIds: ['b'],
      detachedIds: ['b'],
    });
    await Promise.all([from.stop(), into.stop(), alone.stop()]);
  });
});
