/** The rows of a turn, written together (`spec/state-db-writes.md` 12). */
import { afterEach, describe, expect, it } from 'vitest';
import type { TranscriptMessage } from '../../../src/state-db/write/message-encoding.ts';
import { storedRow } from '../../../src/state-db/write/stored-row.ts';
import { commandHost, type TestHost } from '../../support/command-host.ts';
import { buildStore, M, type Row, S, type SchemaVersion, T } from '../../support/stores.ts';
import { writeConnection } from '../../support/write-connection.ts';

let host: TestHost;
afterEach(() => host.close());

function open(rows: readonly Row[] = [], schema: SchemaVersion = 31): void {
  host = commandHost(buildStore({ schema, rows: [S('s'), ...rows] }));
}
function append(messages: readonly TranscriptMessage[], more: { holder?: string; sessionId?: string; clientMutationId?: string } = {}) {
  const { holder, sessionId = 's', clientMutationId = null } = more;
  const lease = holder === undefined ? null : { holder, ttlSeconds: 300 };
  return host.run('appendMessages', { sessionId, messages, lease }, { clientMutationId });
}
const rows = (columns = 'id, content') => host.rows(`SELECT ${columns} FROM messages ORDER BY id`);
const counters = () => host.rows("SELECT message_count AS mc, tool_call_count AS tc FROM sessions WHERE id = 's'")[0];
const version = (rowId: string) => storedRow(writeConnection(host.path), rowId)?.version ?? '';
const OLD = `v2:${'0'.repeat(32)}`;
const uid = (n: number) => String(n).repeat(32);

describe('a batch', () => {
  it('is written in order, with its calls paired and counted', async () => {
    open();
    const appended = await append([
      { role: 'user', content: 'look' },
      { role: 'assistant', content: null, tool_calls: [{ id: 'a' }, { id: 'b' }] },
      { role: 'tool', content: 'found', tool_call_id: 'b' },
    ]);
    expect(appended).toMatchObject({ adopted: [], rowIds: ['1', '2', '3'] });
    expect(appended.inserted.map(({ rowId, rowVersion }) => [rowId, rowVersion])).toEqual(['1', '2', '3'].map((id) => [id, version(id)]));
    const [, calls, result] = rows('tool_call_uids, tool_call_uid');
    expect(JSON.parse(String(calls?.tool_call_uids)).b).toBe(result?.tool_call_uid);
    expect(counters()).toEqual({ mc: 3, tc: 2 });
  });

  it('is written once with the same uids, and adopts what is there', async () => {
    open();
    const [one, two] = [1, 2].map((n) => ({ role: 'user', content: `m${n}`, message_uid: uid(n) }));
    await append([one ?? {}]);
    const second = await append([one ?? {}, two ?? {}]);
    expect(second.adopted).toMatchObject([{ rowId: '1', messageUid: uid(1) }]);
    expect(second.inserted).toMatchObject([{ rowId: '2', messageUid: uid(2) }]);
    expect(second.rowIds).toEqual(['1', '2']);
    expect(counters()).toEqual({ mc: 2, tc: 0 });
  });

  it('is written once with the same id of a mutation', async () => {
    open();
    const messages = [{ role: 'user', content: 'a' }];
    const first = await append(messages, { clientMutationId: 'x' });
    expect(await append(messages, { clientMutationId: 'x' })).toEqual(first);
    expect(rows()).toHaveLength(1);
  });

  it('is all or nothing', async () => {
    open();
    await expect(
      append([
        { role: 'user', content: 'a' },
        { role: 'user', content: 'b', tool_name: {} },
      ]),
    ).rejects.toMatchObject({
      code: 'VALIDATION',
    });
    expect(rows()).toEqual([]);
    expect(counters()).toEqual({ mc: 0, tc: 0 });
  });

  it('needs an open session, and the lease where one is shown', async () => {
    open([
      S('closed', { ended_at: 5, end_reason: 'compression' }),
      T('session_turn_leases', { conversation_id: 's', holder: 'other', acquired_at: 0, expires_at: 9000 }),
    ]);
    const message = [{ role: 'user', content: 'a' }];
    await expect(append(message, { sessionId: 'closed' })).rejects.toMatchObject({ code: 'SESSION_CLOSED' });
    await expect(append(message, { sessionId: 'nobody' })).rejects.toMatchObject({ code: 'SESSION_ROW_MISSING' });
    await expect(append(message, { holder: 'mine' })).rejects.toMatchObject({ code: 'TURN_LEASE_LOST' });
    expect(await append(message)).toMatchObject({ rowIds: ['1'] });
    expect(await append(message, { holder: 'other' })).toMatchObject({ rowIds: ['2'] });
  });
});

describe('a message of a batch that is a row already', () => {
  const answer = (columns: Row['columns'] = {}) =>
    M('s', { role: 'assistant', content: 'draft', finish_reason: 'length', token_count: 7, observed: 0, display_kind: 'kept', ...columns });

  it('is the truth where the row is still in its version: owned columns are written, metadata and tokens stay (B3)', async () => {
    open([answer({ api_content: 'wire', message_uid: uid(1) })]);
    const held = { role: 'assistant', content: 'final', finish_reason: 'stop', _row_id: '1', _db_row_snapshot: version('1') };
    const appended = await append([held]);
    expect(appended).toMatchObject({ inserted: [], adopted: [{ rowId: '1', messageUid: uid(1), rowVersion: version('1') }] });
    expect(rows('id, content, finish_reason, token_count, display_kind, api_content, message_uid, display_order')).toEqual([
      {
        id: 1,
        content: 'final',
        finish_reason: 'stop',
        token_count: 7,
        display_kind: 'kept',
        api_content: null,
        message_uid: uid(1),
        display_order: 1,
      },
    ]);
    expect(counters()).toEqual({ mc: 0, tc: 0 });
  });

  it('gives way where the row changed meanwhile (B4)', async () => {
    open([answer()]);
    const held = { role: 'assistant', content: 'final', _row_id: '1', _db_row_snapshot: OLD };
    expect(await append([held])).toMatchObject({ inserted: [], rowIds: ['1'] });
    expect(rows()).toEqual([{ id: 1, content: 'draft' }]);
  });

  it('fills a blank answer where no version was noted, and nothing else (B5)', async () => {
    open([answer({ content: ' ' }), answer(), M('s', { content: '' }), M('s', { role: 'tool', content: '' })]);
    await append([
      { role: 'assistant', content: 'final', finish_reason: 'stop', _row_id: '1' },
      { role: 'assistant', content: 'final', _row_id: '2' },
      { role: 'user', content: 'final', _row_id: '3' },
      { role: 'tool', content: 'final', _row_id: '4' },
    ]);
    expect(rows('id, content, finish_reason')).toMatchObject([
      { id: 1, content: 'final', finish_reason: 'length' },
      { id: 2, content: 'draft' },
      { id: 3, content: '' },
      { id: 4, content: '' },
    ]);
  });

  it('is its one live copy when a compaction retired the row (B2)', async () => {
    const same = { content: 'blank', timestamp: 50, message_uid: uid(1) };
    open([answer({ ...same, active: 0 }), answer(same), answer({ content: 'other', timestamp: 60 })]);
    expect(await append([{ role: 'assistant', content: 'x', _row_id: '1', _db_row_snapshot: version('2') }])).toMatchObject({
      rowIds: ['2'],
    });
    expect(rows()).toMatchObject([{ content: 'blank' }, { content: 'x' }, { content: 'other' }]);
  });

  it('is found by its uid and role where it noted a version but no row, the newest live one (B2)', async () => {
    open([answer({ message_uid: uid(1) }), answer({ message_uid: uid(1), content: 'newer' })]);
    const held = { role: 'assistant', content: 'x', message_uid: uid(1), _db_row_snapshot: version('2') };
    expect(await append([held])).toMatchObject({ inserted: [], rowIds: ['2'] });
    expect(rows()).toMatchObject([{ content: 'draft' }, { content: 'x' }]);
  });

  it('is new where the row is of another role, of another session, or gone', async () => {
    open([S('t'), M('t', { role: 'user', content: 'elsewhere' }), M('s', { role: 'tool', content: 'a tool' })]);
    const message = { role: 'user', content: 'new' };
    expect(await append(['1', '2', '99'].map((_row_id) => ({ ...message, _row_id })))).toMatchObject({
      adopted: [],
      rowIds: ['3', '4', '5'],
    });
  });

  it('gives the results that follow the uids of its calls', async () => {
    open([M('s', { role: 'assistant', tool_calls: '[{"id": "c"}]', tool_call_uids: `{"c": "${uid(7)}"}` })]);
    await append([
      { role: 'assistant', tool_calls: [{ id: 'c' }], _row_id: '1' },
      { role: 'tool', content: 'r', tool_call_id: 'c' },
    ]);
    expect(rows('id, tool_call_uid')).toEqual([
      { id: 1, tool_call_uid: null },
      { id: 2, tool_call_uid: uid(7) },
    ]);
  });
});
