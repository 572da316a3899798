/** Changes of rows beside what turns append (`spec/live-turns.md` 6.4, 11.1, 21 cases 43 to 51, 54, 56, 79). */
import { copyFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { UiRow } from '../../support/web-ui-turn.ts';
import { prune } from '../rows/operations.ts';
import { FollowedTurns, type Reader } from './following.ts';
import { expectOnce, place, textOf } from './telling.ts';

const rows = (count: number, word = 'row'): UiRow[] =>
  Array.from({ length: count }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: `${word} ${index}`,
    timestamp: 1000 + index,
  }));

async function idle(
  count: number,
  options: Parameters<typeof FollowedTurns.begin>[0] = {},
): Promise<{ test: FollowedTurns; reader: Reader }> {
  const test = await FollowedTurns.begin(options);
  await test.ui.createSession('s', { rows: rows(count) });
  const reader = await test.follow('s');
  await reader.until('LiveSnapshot');
  return { test, reader };
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => String(from + index));

describe('a transcript', () => {
  it('43, 44: loses rows by a rewind and gets them back', async () => {
    const { test, reader } = await idle(6);
    const ids = await test.ui.rewind('s', 4);
    await reader.until('MessagesRetracted');
    expect(reader.of('MessagesRetracted')).toEqual([expect.objectContaining({ ids: ['4', '5', '6'], cause: 'REWIND', fromId: '4' })]);
    await test.ui.restore('s', ids);
    await reader.until('MessagesRestored');
    expect(reader.of('MessagesRestored')).toEqual([expect.objectContaining({ ids: ['4', '5', '6'], cause: 'REWIND' })]);
    expect(reader.story).toEqual(['MessagesRetracted', 'MessagesRestored']);
    expectOnce(reader);
  });

  it('45: is replaced as a whole', async () => {
    const { test, reader } = await idle(40);
    const ids = await test.ui.replace('s', rows(38, 'other'));
    await reader.until('TranscriptReplaced');
    expect(reader.of('TranscriptReplaced')).toEqual([expect.objectContaining({ newIds: ids.map(String), activeCount: 38 })]);
    await test.told();
    expect(reader.of('MessagesAppended')).toEqual([]);
    expect(reader.story).toEqual(['TranscriptReplaced']);
  });

  it.each([[26], [31]] as const)('46: is compacted in place in a store of schema %s', async (schema) => {
    const { test, reader } = await idle(205, { schema });
    await test.ui.lock('s', 'acquire');
    await reader.until('CompressionStarted');
    const appended = await test.ui.rows('s', [
      { role: 'assistant', content: 'x' },
      { role: 'assistant', content: 'y' },
    ]);
    await reader.until('MessagesAppended', 2);
    const handoff = ['one', 'two', 'three'].map((content): UiRow => ({ role: 'user', content: `[CONTEXT SUMMARY]: ${content}` }));
    const { carried } = await test.ui.compact('s', { handoff, carryFrom: 201 });
    await test.ui.lock('s', 'release');
    await reader.until('TranscriptCompacted');
    await test.told();
    const [event] = reader.of('TranscriptCompacted');
    expect(event).toMatchObject({ archivedCount: 200, firstArchivedId: '1', lastArchivedId: '200', activeCount: 10 });
    expect(event?.summaryIds).toHaveLength(3);
    expect(event?.carried.map(({ oldId, newId }) => [Number(oldId), Number(newId)])).toEqual(carried);
    expect(reader.story).toEqual(['MessagesAppended', 'MessagesAppended', 'TranscriptCompacted']);
    expect(reader.rowIds).toEqual(appended);
    expect(reader.of('CompressionFailed')).toEqual([]);
    expect(place(reader.events, 'CompressionStarted')).toBeLessThan(place(reader.events, 'TranscriptCompacted'));
    expectOnce(reader);
  });

  it.each([
    [26, 'oldId'],
    [31, 'newId'],
  ] as const)('46: is compacted during a turn, which goes on and is told by the rows that are seen, in schema %s', async (schema, seen) => {
    const test = await FollowedTurns.begin({ schema });
    await test.ui.createSession('s', { rows: rows(4) });
    const reader = await test.follow('s');
    await test.ui.submit({ sessionId: 's', runId: 'r', text: 'hi' });
    await test.ui.journal('s', 'r', [{ event: 'context_status' }]);
    const [own] = await test.ui.rows('s', [{ role: 'user', content: 'hi' }]);
    await reader.until('MessagesAppended');
    await test.ui.lock('s', 'acquire');
    await test.ui.journal('s', 'r', [{ event: 'compressing', payload: { session_id: 's', message: 'Compressing' } }]);
    await reader.until('CompressionStarted');
    await test.ui.compact('s', { handoff: 'Short.', carryFrom: own ?? 0 });
    await test.ui.lock('s', 'release');
    await reader.until('TranscriptCompacted');
    const firstMessageId = reader.of('TranscriptCompacted')[0]?.carried[0]?.[seen];
    await test.ui.journal('s', 'r', [{ event: 'token', payload: { text: 'Yes.' } }]);
    const [answer] = await test.ui.rows('s', [{ role: 'assistant', content: 'Yes.' }]);
    await test.ui.settle({ sessionId: 's', runId: 'r' });
    await test.ui.journal('s', 'r', [
      { event: 'compressed', payload: { old_session_id: 's', new_session_id: 's' } },
      { event: 'done', payload: { session: { session_id: 's' } } },
    ]);
    await reader.until('TurnEnded');
    expect(reader.of('TranscriptCompacted')).toHaveLength(1);
    expect(reader.of('TurnEnded')).toEqual([
      expect.objectContaining({ firstMessageId, lastMessageId: String(answer), continuationSessionId: null }),
    ]);
    expect(reader.rowIds).toEqual([own, answer]);
    expectOnce(reader);
  });

  it('47: was to be compacted and was not', async () => {
    const { test, reader } = await idle(5, { tickMs: 50 });
    await test.ui.lock('s', 'acquire');
    await reader.until('CompressionStarted');
    await test.looks();
    expect(reader.of('CompressionFailed')).toEqual([]);
    test.ahead = 310;
    await reader.until('CompressionFailed');
    expect(reader.content).toEqual([]);
  });

  it('48: has rows pruned, which are told as updates, and not the twins that keep their bodies', async () => {
    const test = await FollowedTurns.begin({ schema: 30 });
    const long = 'a long result '.repeat(50);
    await test.ui.createSession('s', {
      rows: [...rows(2), ...['a', 'b'].map((id): UiRow => ({ role: 'tool', toolCallId: id, toolName: 'terminal', content: long }))],
    });
    const reader = await test.follow('s');
    await reader.until('LiveSnapshot');
    await test.commit(...prune(3, '[cleared]'), ...prune(4, '[cleared]'));
    await reader.until('MessagesUpdated');
    expect(reader.of('MessagesUpdated')).toEqual([expect.objectContaining({ ids: ['3', '4'], cause: 'PRUNE', fields: ['CONTENT'] })]);
    expect(reader.content).toEqual([]);
  });

  it('49: gets a reaction', async () => {
    const { test, reader } = await idle(4);
    await test.commit(`UPDATE messages SET display_metadata = '{"reactions":[{"emoji":"x","author":"u"}]}' WHERE id = 4`);
    await reader.until('MessagesUpdated');
    expect(reader.of('MessagesUpdated')).toEqual([expect.objectContaining({ ids: ['4'], cause: 'DISPLAY', fields: ['DISPLAY'] })]);
    expect(reader.content).toEqual([]);
  });

  it('50: tells nothing of what the owner does to keep its file in order', async () => {
    const { test, reader } = await idle(6);
    await test.ui.lease('s', 'acquire');
    await reader.until('TurnStarted');
    const { length } = reader.content;
    await test.ui.lease('s', 'renew');
    await test.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    await test.exec('VACUUM');
    await test.exec("INSERT INTO messages_fts(messages_fts) VALUES ('optimize')");
    await test.told();
    const [id] = await test.ui.rows('s', [{ role: 'user', content: 'hi' }]);
    await reader.until('MessagesAppended');
    expect(reader.content.slice(length).map((event) => event.kind)).toEqual(['MessagesAppended']);
    expect(reader.rowIds).toEqual([id]);
    expect(reader.of('StreamReset')).toEqual([]);
  });

  it('51: of fifty commits at once is told in order', async () => {
    const { test, reader } = await idle(2);
    await Promise.all(Array.from({ length: 50 }, (_, index) => test.ui.rows('s', [{ role: 'assistant', content: `${index}` }])));
    await reader.until('MessagesAppended', 50);
    expect(reader.rowIds.map(String)).toEqual(range(3, 52));
    expectOnce(reader);
  });

  it('54: in another file is reset, and told by a snapshot', async () => {
    const { test, reader } = await idle(2);
    const older = join(test.home, 'older.db');
    await test.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    copyFileSync(test.ui.statePath, older);
    await test.ui.rows('s', [{ role: 'assistant', content: 'newer' }]);
    await reader.until('MessagesAppended');
    const before = reader.cursor;
    await test.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    renameSync(older, test.ui.statePath);
    await reader.until('StreamReset');
    expect(reader.of('StreamReset')).toEqual([expect.objectContaining({ reason: 'DB_REPLACED', scope: 'ALL' })]);
    const frame = reader.frames.find(({ events }) => events.some(({ kind }) => kind === 'StreamReset'));
    expect(frame?.events.map(({ kind }) => kind).slice(-2)).toEqual(['StreamReset', 'LiveSnapshot']);
    expect(reader.of('LiveSnapshot').at(-1)).toMatchObject({ reason: 'RESET', snapshot: { head: { maxMessageId: '2' } } });
    await reader.stop();
    const later = await test.follow('s', before);
    await later.until('StreamReset');
    expect(later.of('StreamReset')[0]).toMatchObject({ reason: 'DB_REPLACED', scope: 'ALL' });
  });

  it('54: in another file keeps the turn that its journal tells of', async () => {
    const test = await FollowedTurns.begin();
    await test.ui.createSession('s', { rows: rows(2) });
    const reader = await test.follow('s');
    await test.ui.submit({ sessionId: 's', runId: 'r', text: 'hi' });
    await test.ui.journal('s', 'r', [{ event: 'token', payload: { text: 'Hello ' } }]);
    await reader.until('TextDelta');
    const older = join(test.home, 'older.db');
    await test.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    copyFileSync(test.ui.statePath, older);
    renameSync(older, test.ui.statePath);
    await reader.until('StreamReset');
    const snapshot = reader.of('LiveSnapshot').at(-1)?.snapshot;
    expect(snapshot?.turn).toMatchObject({ runId: 'r', userText: 'hi', segments: [{ text: 'Hello ' }] });
    await test.ui.journal('s', 'r', [{ event: 'token', payload: { text: 'again' } }, { event: 'done' }]);
    await reader.until('TurnEnded');
    expect(textOf(reader.events)).toEqual(['Hello again']);
    expectOnce(reader);
  });

  it('56: gets rows of yesterday by their ids, and no turn begins with them', async () => {
    const { test, reader } = await idle(2);
    const yesterday = Date.now() / 1000 - 86_400;
    const spooled = Array.from({ length: 150 }, (_, index): UiRow => {
      const role = (['user', 'assistant', 'tool'] as const)[index % 3] ?? 'user';
      return {
        role,
        content: `${index}`,
        timestamp: yesterday - index,
        ...(role === 'tool' ? { toolCallId: `c${index}`, toolName: 'terminal' } : {}),
      };
    });
    const ids = await test.ui.rows('s', spooled);
    await reader.until('MessagesAppended', 150);
    expect(reader.rowIds).toEqual(ids);
    expect(reader.story.filter((kind) => kind.startsWith('Turn'))).toEqual([]);
  });

  it('79: of the oldest schema has turns by its rows', async () => {
    const test = await FollowedTurns.begin({ schema: 6 });
    await test.commit("INSERT INTO sessions (id, source, started_at) VALUES ('s', 'cli', 1)");
    const reader = await test.follow('s');
    await reader.until('LiveSnapshot');
    const now = Date.now() / 1000;
    const add = (role: string, content: string, finish: string | null): [string, ...(string | number | null)[]] => [
      'INSERT INTO messages (session_id, role, content, timestamp, finish_reason) VALUES (?, ?, ?, ?, ?)',
      's',
      role,
      content,
      now,
      finish,
    ];
    await test.commit(add('user', 'hi', null), add('assistant', 'hello', 'stop'), "UPDATE sessions SET message_count = 2 WHERE id = 's'");
    await reader.until('TurnEnded');
    expect(reader.story).toEqual(['TurnStarted', 'MessagesAppended', 'MessagesAppended', 'TurnEnded']);
    expect(reader.of('TurnEnded')[0]).toMatchObject({ outcome: 'COMPLETED', firstMessageId: '1', lastMessageId: '2' });
    expect(test.errors).toEqual([]);
  });
});
