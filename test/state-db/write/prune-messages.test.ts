/** Which row a held message means, and whether it is still what it was read from (`spec/state-db-writes.md` P2 to P8). */
import { afterEach, describe, expect, it } from 'vitest';
import type { TranscriptMessage } from '../../../src/state-db/write/message-encoding.ts';
import { type HeldMessage, type PruneMessagesInput, pruneMessages } from '../../../src/state-db/write/prune-messages.ts';
import { operationContext } from '../../../src/writing/command.ts';
import { commandHost, type TestHost } from '../../support/command-host.ts';
import { buildStore, M, type Row, S, T } from '../../support/stores.ts';

let host: TestHost;
afterEach(() => host.close());

function open(rows: readonly Row[]): void {
  host = commandHost(buildStore({ schema: 31, rows: [S('s'), ...rows] }));
}
function prune(original: HeldMessage, replacement: TranscriptMessage, more: Partial<PruneMessagesInput> = {}) {
  const input = { sessionId: 's', pairs: [{ original, replacement }], modelConfigPatch: null, lease: null, ...more };
  return host.writer.write(
    (transaction) => {
      const context = operationContext(host);
      return pruneMessages.execute(transaction, pruneMessages.plan(transaction, input, context), context);
    },
    { patience: pruneMessages.patience, touchesMessages: true },
  );
}
const contents = () => host.rows('SELECT id, content FROM messages WHERE active = 1 ORDER BY id').map(({ id, content }) => [id, content]);
const rowCount = () => host.rows('SELECT count(*) AS n FROM messages')[0]?.n;
const DIGEST = '7494114319b90db6563ad1f9bb560ac4';
const tool = (content: string, more: TranscriptMessage = {}) => ({ role: 'tool', content, tool_call_id: 'c', ...more });

describe('a held message', () => {
  it('means the row that it names, in the version that it noted', async () => {
    open([M('s', { role: 'tool', content: 'hello', observed: 0 })]);
    const original = { role: 'tool', content: 'hello', _row_id: 1, _db_row_snapshot: DIGEST };
    expect(await prune(original, { role: 'tool', content: 'x' })).toMatchObject([{ rowId: '1', archivedTwinRowId: '2' }]);
    await expect(prune(original, { role: 'tool', content: 'y' })).rejects.toMatchObject({ code: 'ROW_VERSION_CONFLICT' });
    expect(contents()).toEqual([[1, 'x']]);
  });

  it('T98: of which the row was rewritten is stale, also without a noted version', async () => {
    open([M('s', { role: 'tool', content: 'hello', tool_call_id: 'c' })]);
    await prune(tool('hello'), tool('x'));
    await expect(prune(tool('hello'), tool('x'))).rejects.toMatchObject({ code: 'ROW_VERSION_CONFLICT' });
    expect(rowCount()).toBe(2);
  });

  it('T103: that several rows were folded into is not rewritten, nor is one of another role than these', async () => {
    open([M('s', { role: 'tool', content: 'a', tool_call_id: 'c' })]);
    await expect(prune({ ...tool('a'), _absorbed_row_ids: [1] }, tool('x'))).rejects.toMatchObject({ code: 'ROW_NOT_REWRITABLE' });
    await expect(prune({ role: 'user', content: 'a', _row_id: 1 }, tool('x'))).rejects.toMatchObject({ code: 'ROW_NOT_REWRITABLE' });
  });

  it('T104: that two live rows can be is not certain', async () => {
    open([
      M('s', { role: 'tool', content: 'a', tool_call_id: 'c' }),
      M('s', { role: 'tool', content: 'b', tool_call_id: 'c' }),
      M('s', { role: 'tool', content: 'old', tool_call_id: 'd', active: 0 }),
      M('s', { role: 'tool', content: 'new', tool_call_id: 'd' }),
    ]);
    await expect(prune(tool('a'), tool('x'))).rejects.toMatchObject({ code: 'ROW_UNRESOLVED', message: expect.stringContaining('2 rows') });
    await expect(prune(tool('a', { tool_call_id: 'e' }), tool('x'))).rejects.toThrow('0 rows');
    expect(await prune(tool('new', { tool_call_id: 'd' }), tool('x', { tool_call_id: 'd' }))).toMatchObject([{ rowId: '4' }]);
  });

  it('T105: of an assistant means the row with the same calls in the same order', async () => {
    const calls = (...ids: string[]) =>
      JSON.stringify(ids.map((id) => ({ id })))
        .replaceAll(':', ': ')
        .replaceAll(',', ', ');
    open([
      M('s', { role: 'assistant', content: 'x', tool_calls: calls('a', 'b') }),
      M('s', { role: 'assistant', content: 'x', tool_calls: calls('b', 'a') }),
    ]);
    const original = { role: 'assistant', content: 'x', tool_calls: [{ id: 'a' }, { id: 'b' }] };
    expect(await prune(original, { ...original, content: 'short' })).toMatchObject([{ rowId: '1' }]);
    expect(contents()).toEqual([
      [1, 'short'],
      [2, 'x'],
    ]);
  });

  it('without calls means the row with its text, memory that was recalled into it left aside', async () => {
    open([M('s', { role: 'assistant', content: 'an answer' }), M('s', { role: 'assistant', content: 'another' })]);
    const original = { role: 'assistant', content: ' <memory-context>old</memory-context>an answer\n' };
    expect(await prune(original, { role: 'assistant', content: 'short' })).toMatchObject([{ rowId: '1' }]);
    await expect(prune({ role: 'assistant', content: [{ type: 'text', text: 'another' }] }, original)).rejects.toThrow('0 rows');
  });

  it('T106: that names a row of another session, or one that was taken back, is stale', async () => {
    open([S('t'), M('t', { role: 'tool', content: 'a' }), M('s', { role: 'tool', content: 'a', active: 0 })]);
    for (const id of [1, 2]) {
      await expect(prune({ role: 'tool', content: 'a', _row_id: id }, tool('x'))).rejects.toMatchObject({ code: 'ROW_NOT_LIVE' });
    }
  });

  it('T107: keeps its role', async () => {
    open([M('s', { role: 'tool', content: 'a', tool_call_id: 'c' })]);
    await expect(prune(tool('a'), { role: 'assistant', content: 'x' })).rejects.toMatchObject({ code: 'ROW_UNRESOLVED' });
    expect(rowCount()).toBe(1);
  });

  it('T108, T109: is only written where its two versions differ, and never where it stands', async () => {
    open([M('s', { role: 'tool', content: 'a', tool_call_id: 'c', finish_reason: 'kept' })]);
    expect(await prune(tool('a'), tool('a'))).toEqual([]);
    expect(await prune(tool('a'), tool('a', { tool_call_id: 'other', timestamp: 77 }))).toEqual([]);
    expect(rowCount()).toBe(1);
    await prune(tool('a'), tool('b', { tool_name: 'named' }));
    expect(host.rows('SELECT content, tool_call_id, timestamp, tool_name, finish_reason FROM messages WHERE id = 1')).toEqual([
      { content: 'b', tool_call_id: 'c', timestamp: 1, tool_name: 'named', finish_reason: 'kept' },
    ]);
  });

  it('T110, T112: is written without a lease also where a compression closed the session, with one only while it is held', async () => {
    open([
      S('p', { ended_at: 5, end_reason: 'compression' }),
      M('p', { role: 'tool', content: 'a', tool_call_id: 'c' }),
      T('session_turn_leases', { conversation_id: 'p', holder: 'h', acquired_at: 0, expires_at: 9000 }),
    ]);
    const lease = (holder: string) => ({ sessionId: 'p', lease: { holder, ttlSeconds: 300 } });
    await expect(prune(tool('a'), tool('x'), lease('other'))).rejects.toMatchObject({ code: 'TURN_LEASE_LOST' });
    await expect(prune(tool('a'), tool('x'), lease('h'))).rejects.toMatchObject({ code: 'SESSION_CLOSED' });
    expect(await prune(tool('a'), tool('x'), { sessionId: 'p' })).toHaveLength(1);
  });
});
