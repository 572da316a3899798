/** Sessions brought in from an export (`spec/state-db-writes.md` 18). */
import { afterEach, describe, expect, it } from 'vitest';
import { StoreConnection } from '../../../src/state-db/connection.ts';
import { exportSessions } from '../../../src/state-db/export.ts';
import { SessionGraph } from '../../../src/state-db/write/session-graph.ts';
import { commandHost, type TestHost } from '../../support/command-host.ts';
import { copyStore } from '../../support/golden.ts';
import { buildStore, M, type Row, S, type SchemaVersion } from '../../support/stores.ts';

let host: TestHost;
afterEach(() => host.close());

function open(rows: readonly Row[] = [], schema: SchemaVersion = 31): TestHost {
  host = commandHost(buildStore({ schema, rows }));
  return host;
}
const bring = (sessions: readonly unknown[], envelope: { dryRun?: boolean; clientMutationId?: string } = {}) =>
  host.run('importSessions', { sessions }, envelope);
const stored = () => host.rows('SELECT id, parent_session_id AS p FROM sessions ORDER BY id');
const said = (content: unknown, more: object = {}) => ({ role: 'user', content, timestamp: 5, ...more });

describe('an import', () => {
  it('T151: links children that come before their parents', async () => {
    open();
    const sessions = [
      { id: 'child', parent_session_id: 'parent', messages: [said('a')] },
      { id: 'parent', source: 'cli', started_at: 50, title: 'Tea', messages: [said('b'), said('c')] },
    ];
    const preview = await bring(sessions, { dryRun: true });
    expect(stored()).toEqual([]);
    expect(await bring(sessions)).toEqual(preview);
    expect(preview).toEqual({
      importedIds: ['child', 'parent'],
      skippedIds: [],
      detachedIds: [],
      retitledIds: [],
      messageCount: 3,
    });
    expect(stored()).toEqual([
      { id: 'child', p: 'parent' },
      { id: 'parent', p: null },
    ]);
    expect(host.rows("SELECT source, started_at, title, message_count FROM sessions WHERE id = 'parent'")).toEqual([
      { source: 'cli', started_at: 50, title: 'Tea', message_count: 2 },
    ]);
    expect(host.rows("SELECT source, started_at FROM sessions WHERE id = 'child'")).toEqual([{ source: 'import', started_at: 1000 }]);
  });

  it('T152: drops one edge of a loop', async () => {
    open();
    const sessions = [
      { id: 'a', parent_session_id: 'b' },
      { id: 'b', parent_session_id: 'a' },
      { id: 'c', parent_session_id: 'nobody' },
      { id: 'd', parent_session_id: 'd' },
    ];
    expect(await bring(sessions)).toMatchObject({ detachedIds: ['b', 'c', 'd'] });
    expect(stored()).toEqual([
      { id: 'a', p: 'b' },
      { id: 'b', p: null },
      { id: 'c', p: null },
      { id: 'd', p: null },
    ]);
  });

  it('T153: with one bad role brings in nothing, and says which', async () => {
    open();
    const sessions = [
      { id: 'a', messages: [said('x')] },
      { id: 'b', messages: [said('x'), { content: 'a secret' }] },
    ];
    const refusal = await bring(sessions).catch((error: unknown) => error);
    expect(refusal).toMatchObject({
      code: 'IMPORT_INVALID',
      details: { errors: [{ index: 1, sessionId: 'b', message: 'message 1: its role is no text, or empty.' }] },
    });
    expect(JSON.stringify(refusal)).not.toContain('secret');
    expect(stored()).toEqual([]);
  });

  it('T154: leaves a session that exists as it is', async () => {
    open([S('a', { title: 'Mine' }), M('a', { content: 'mine' })]);
    expect(
      await bring([
        { id: 'a', title: 'Yours', messages: [said('yours')] },
        { id: 'b', parent_session_id: 'a' },
      ]),
    ).toMatchObject({
      importedIds: ['b'],
      skippedIds: ['a'],
    });
    expect(host.rows('SELECT content FROM messages')).toEqual([{ content: 'mine' }]);
    expect(host.rows("SELECT title FROM sessions WHERE id = 'a'")).toEqual([{ title: 'Mine' }]);
    expect(stored()).toContainEqual({ id: 'b', p: 'a' });
  });

  it.each([
    ['no object', 5],
    ['no id', { messages: [] }],
    ['a blank id', { id: ' ' }],
    ['messages that are no list', { id: 'a', messages: {} }],
    ['a message that is no object', { id: 'a', messages: ['x'] }],
    ['a title that is no text', { id: 'a', title: 5 }],
    ['a title that is too long', { id: 'a', title: 'x'.repeat(101) }],
    ['a count of tokens that is no whole number', { id: 'a', messages: [said('x', { token_count: 1.5 })] }],
    ['a reasoning that is no text', { id: 'a', messages: [said('x', { reasoning: {} })] }],
    ['a configuration that is no object', { id: 'a', model_config: '[1]' }],
  ])('is refused as a whole for %s', async (_, session) => {
    open();
    await expect(bring([{ id: 'fine' }, session])).rejects.toMatchObject({ code: 'IMPORT_INVALID', details: { errors: [{ index: 1 }] } });
    expect(stored()).toEqual([]);
  });

  it('is refused for an id that occurs twice', async () => {
    open();
    await expect(bring([{ id: 'a' }, { id: 'a' }])).rejects.toMatchObject({ code: 'IMPORT_INVALID' });
  });

  it.each([
    ['501 sessions', Array.from({ length: 501 }, (_, index) => ({ id: `s${index}` }))],
    ['10001 messages in one', [{ id: 'a', messages: Array.from({ length: 10_001 }, () => ({ role: 'user' })) }]],
    [
      '50001 messages in all',
      Array.from({ length: 6 }, (_, index) => ({ id: `s${index}`, messages: Array.from({ length: 9000 }, () => ({ role: 'user' })) })),
    ],
    ['more than 5 MiB in one', [{ id: 'a', messages: [said('é'.repeat(2_700_000))] }]],
    ['more than 25 MiB in all', Array.from({ length: 6 }, (_, index) => ({ id: `s${index}`, messages: [said('x'.repeat(5_000_000))] }))],
  ])('is refused for %s', async (_, sessions) => {
    open();
    await expect(bring(sessions)).rejects.toMatchObject({ code: 'IMPORT_TOO_LARGE' });
    expect(stored()).toEqual([]);
  });

  it('brings no routing, pins, activity or hand-offs', async () => {
    open();
    await bring([
      { id: 'a', session_key: 'k', chat_id: 'c', pinned: 1, hidden: 1, last_activity_at: 7, rewind_count: 3, handoff_state: 'pending' },
    ]);
    expect(host.rows('SELECT session_key, chat_id, pinned, hidden, last_activity_at, rewind_count, handoff_state FROM sessions')).toEqual([
      { session_key: null, chat_id: null, pinned: 0, hidden: 0, last_activity_at: null, rewind_count: 0, handoff_state: null },
    ]);
  });

  it('gives a title that is taken the next number', async () => {
    open([S('t', { title: 'Tea' })]);
    expect(
      await bring([
        { id: 'a', title: 'Tea' },
        { id: 'b', title: 'Tea' },
      ]),
    ).toMatchObject({ retitledIds: ['a', 'b'] });
    expect(host.rows('SELECT id, title FROM sessions ORDER BY id')).toEqual([
      { id: 'a', title: 'Tea #2' },
      { id: 'b', title: 'Tea #3' },
      { id: 't', title: 'Tea' },
    ]);
  });

  it('pairs results with calls, and keeps archived rows archived', async () => {
    open();
    await bring([
      {
        id: 'a',
        messages: [
          said('old', { active: 0, compacted: 1, message_uid: 'u1' }),
          { role: 'assistant', tool_calls: [{ id: 'c1' }], timestamp: 6, reasoning_details: '[{"a": 1}]' },
          { role: 'tool', tool_call_id: 'c1', content: 'done', timestamp: 7 },
        ],
      },
    ]);
    const [old, call, result] = host.rows('SELECT * FROM messages ORDER BY id');
    expect(old).toMatchObject({ active: 0, compacted: 1, message_uid: 'u1' });
    expect(call).toMatchObject({ active: 1, tool_calls: '[{"id": "c1"}]', reasoning_details: '[{"a": 1}]' });
    expect(JSON.parse(String(call?.tool_call_uids))).toEqual({ c1: result?.tool_call_uid });
    expect(host.rows('SELECT message_count AS m, tool_call_count AS c FROM sessions')).toEqual([{ m: 2, c: 1 }]);
  });

  it('of a whole conversation brings in its segments', async () => {
    open();
    const first = { id: 'a', end_reason: 'compression', ended_at: 9, messages: [said('x')] };
    const last = { id: 'b', parent_session_id: 'a', messages: [said('y')] };
    await bring([{ ...last, segments: [first, last], messages: [said('x'), said('y')] }]);
    expect(stored()).toEqual([
      { id: 'a', p: null },
      { id: 'b', p: 'a' },
    ]);
    expect(host.rows('SELECT session_id AS s, content AS c FROM messages ORDER BY id')).toEqual([
      { s: 'a', c: 'x' },
      { s: 'b', c: 'y' },
    ]);
  });

  it('is done once for one id', async () => {
    open();
    const first = await bring([{ id: 'a', messages: [said('x')] }], { clientMutationId: 'once' });
    expect(await bring([{ id: 'a', messages: [said('x')] }], { clientMutationId: 'once' })).toEqual(first);
    expect(host.rows('SELECT id FROM messages')).toHaveLength(1);
  });

  it.each([6, 16, 22, 26, 30] as const)('fits a store of schema %s', async (schema) => {
    open([], schema);
    await bring([{ id: 'a', system_prompt: 'x', model_config: { a: 1 }, messages: [said('x'), said('y', { active: 0 })] }]);
    expect(host.rows('SELECT content FROM messages')).toHaveLength(schema === 6 ? 1 : 2);
    expect(host.rows('SELECT message_count AS m, model_config AS c FROM sessions')).toEqual([{ m: 1, c: '{"a": 1}' }]);
  });

  it('of what this server exports is the same again', async () => {
    const exported = () => {
      const connection = StoreConnection.open(host.path, { lockWaitMs: 1000 });
      const graph = new SessionGraph(connection);
      const ids = connection.all("SELECT id FROM sessions WHERE source IN ('cli', 'cron') ORDER BY id").map(({ id }) => String(id));
      const sessions = exportSessions(
        connection,
        ids.flatMap((id) => graph.get(id) ?? []),
        { largest: 0 },
      );
      connection.close();
      return sessions;
    };
    host = commandHost(copyStore('basic'));
    const before = exported();
    host.close();
    open([], 26);
    await bring(JSON.parse(JSON.stringify(before)) as unknown[]);
    const after = exported();
    const transcripts = (sessions: typeof before) =>
      sessions.map(({ id, model, title, parent_session_id, started_at, system_prompt, messages }) => ({
        session: { id, model, title, parent_session_id, started_at, system_prompt },
        messages: messages.map(({ id: _, ...message }) => message),
      }));
    expect(before.length).toBeGreaterThan(3);
    expect(transcripts(after)).toEqual(transcripts(before));
  });
});
