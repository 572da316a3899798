/** Changes of a message of a person (`spec/state-db-writes.md` B8, V11, Z8). */
import { afterEach, describe, expect, it } from 'vitest';
import { storedRow } from '../../../src/state-db/write/stored-row.ts';
import { commandHost, type TestHost } from '../../support/command-host.ts';
import { buildStore, M, type Row, S, type SchemaVersion, T } from '../../support/stores.ts';
import { writeConnection } from '../../support/write-connection.ts';

let host: TestHost;
afterEach(() => host.close());

function open(rows: readonly Row[], schema: SchemaVersion = 31): void {
  host = commandHost(buildStore({ schema, rows }));
}
const version = (rowId: string) => storedRow(writeConnection(host.path), rowId)?.version ?? '';
const edit = (rowId: string, rowVersion: string, content: unknown, holder?: string) =>
  host.run('editUserMessage', { rowId, rowVersion, content, lease: holder === undefined ? null : { holder, ttlSeconds: 300 } });
const deactivate = (rowId: string, rowVersion: string) => host.run('deactivateMessage', { rowId, rowVersion, lease: null });
const rows = (columns: string) => host.rows(`SELECT ${columns} FROM messages ORDER BY id`);
const lease = T('session_turn_leases', { conversation_id: 's', holder: 'h', acquired_at: 0, expires_at: 9000 });
const OLD = `v2:${'0'.repeat(32)}`;

describe('the words of a person', () => {
  for (const schema of [6, 16, 26, 30, 31] as const) {
    it(`are changed in place in a store of schema ${schema}`, async () => {
      open([S('s'), M('s', { content: 'first' }), M('s', { content: 'second' })], schema);
      expect(await edit('1', version('1'), 'changed')).toEqual({
        sessionId: 's',
        rowId: '1',
        rowVersion: version('1'),
        alreadyApplied: false,
      });
      expect(rows('id, content')).toEqual([
        { id: 1, content: 'changed' },
        { id: 2, content: 'second' },
      ]);
    });
  }

  it('take what the provider was given along, and leave archived copies in the place of the message', async () => {
    open([
      S('s'),
      M('s', { content: 'same', timestamp: 5, active: 0, compacted: 1 }),
      M('s', { content: 'between' }),
      M('s', { content: 'same', timestamp: 5, api_content: 'wire' }),
    ]);
    await edit('3', version('3'), [{ type: 'text', text: 'x' }]);
    expect(rows('id, content, api_content, display_order AS slot, display_identity IS NULL AS lacking')).toEqual([
      { id: 1, content: 'same', api_content: null, slot: 1, lacking: 0 },
      { id: 2, content: 'between', api_content: null, slot: 2, lacking: 0 },
      { id: 3, content: '\u0000json:[{"type": "text", "text": "x"}]', api_content: null, slot: 1, lacking: 0 },
    ]);
  });

  it('are only changed in the version that was read; a repeat is told as done', async () => {
    open([S('s'), M('s', { content: 'first' })]);
    const first = version('1');
    await edit('1', first, 'changed');
    expect(await edit('1', first, 'changed')).toMatchObject({ alreadyApplied: true, rowVersion: version('1') });
    await expect(edit('1', first, 'otherwise')).rejects.toMatchObject({
      code: 'ROW_VERSION_CONFLICT',
      details: { currentRowVersion: version('1') },
    });
  });

  it('are not changed while a turn runs, but by who runs it', async () => {
    open([S('s'), M('s', { content: 'first' }), lease]);
    await expect(edit('1', version('1'), 'changed')).rejects.toMatchObject({ code: 'SESSION_BUSY' });
    await expect(deactivate('1', version('1'))).rejects.toMatchObject({ code: 'SESSION_BUSY' });
    expect(await edit('1', version('1'), 'changed', 'h')).toMatchObject({ alreadyApplied: false });
  });

  it('are those of a live row of a person', async () => {
    open([S('s'), M('s', { role: 'assistant', content: 'a' }), M('s', { content: 'back', active: 0 })]);
    await expect(edit('1', version('1'), 'x')).rejects.toMatchObject({ code: 'ROW_NOT_REWRITABLE' });
    await expect(edit('2', version('2'), 'x')).rejects.toMatchObject({ code: 'ROW_NOT_LIVE' });
    await expect(edit('9', OLD, 'x')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('a message that is taken out', () => {
  it('leaves the transcript, and the counters say so', async () => {
    open([
      S('s', { message_count: 9, tool_call_count: 9 }),
      M('s', { content: 'first' }),
      M('s', { role: 'assistant', tool_calls: '[{"id": "a"}, {"id": "b"}]' }),
      M('s', { role: 'assistant', tool_calls: '[{"id": "c"}]', active: 0, compacted: 1 }),
    ]);
    const token = version('1');
    expect(await deactivate('1', token)).toMatchObject({ alreadyApplied: false });
    expect(rows('id, active, compacted')).toMatchObject([{ active: 0, compacted: 0 }, { active: 1 }, { active: 0 }]);
    expect(host.rows('SELECT message_count AS mc, tool_call_count AS tc FROM sessions')).toEqual([{ mc: 1, tc: 2 }]);
    expect(await deactivate('1', token)).toMatchObject({ alreadyApplied: true });
  });

  it('is the one that was read, and not an archived one', async () => {
    open([S('s'), M('s', { content: 'first' }), M('s', { content: 'old', active: 0, compacted: 1 })]);
    await expect(deactivate('1', OLD)).rejects.toMatchObject({ code: 'ROW_VERSION_CONFLICT' });
    await expect(deactivate('2', version('2'))).rejects.toMatchObject({ code: 'ROW_NOT_LIVE' });
  });

  it('needs a store that can set it aside', async () => {
    open([S('s'), M('s', { content: 'first' })], 6);
    await expect(deactivate('1', version('1'))).rejects.toMatchObject({ code: 'SCHEMA_UNSUPPORTED' });
  });
});

describe('what a provider was given', () => {
  const note = (rowId: string | null, content: unknown, apiContent: string | null) =>
    host.run('setApiContent', { sessionId: 's', rowId, content, apiContent });

  it('is noted on the newest message of a person, if that says so', async () => {
    open([S('s'), M('s', { content: 'a' }), M('s', { content: 'b' }), M('s', { content: 'a', active: 0 })]);
    expect(await note(null, 'a', 'wire')).toEqual({ sessionId: 's', rowId: null });
    const before = version('2');
    expect(await note(null, 'b', 'wire \ud83d')).toEqual({ sessionId: 's', rowId: '2' });
    expect(rows('api_content')).toEqual([{ api_content: null }, { api_content: 'wire \ufffd' }, { api_content: null }]);
    expect(version('2')).toBe(before);
  });

  it('is noted on the copy of a message that was compacted meanwhile', async () => {
    const same = { content: 'a', timestamp: 5 };
    open(
      [S('s'), S('t'), M('s', { ...same, active: 0 }), M('s', same), M('t', { content: 'a' }), M('s', { role: 'tool', content: 'a' })],
      30,
    );
    expect(await note('1', 'a', 'wire')).toMatchObject({ rowId: '2' });
    expect(await note('3', 'a', 'wire')).toMatchObject({ rowId: null });
    expect(await note('4', 'a', 'wire')).toMatchObject({ rowId: null });
  });
});
