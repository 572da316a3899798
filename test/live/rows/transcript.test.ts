/** Every way in which rows change, as a follower tells it (`spec/live-turns.md` 6.4, 21). */
import { copyFile, rename } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { Meter, metered } from '../../../src/meter.ts';
import { M, S } from '../../support/stores.ts';
import { content, eventsOf, follow, NOW } from './following.ts';
import { append, calls, compact, insert, prune, replace, restore, rewind } from './operations.ts';

const rows = (count: number) => Array.from({ length: count }, (_, index) => M('a', { role: index % 2 === 0 ? 'user' : 'assistant' }));
const TEN = { rows: [S('a', { message_count: 10 }), S('b'), ...rows(10)] };

describe('a transcript', () => {
  it('43: tells a rewind by the rows that went', async () => {
    const test = await follow(TEN, 'a');
    await test.commit(...rewind('a', 8));
    const [event] = await test.events(0);
    expect(event).toMatchObject({ kind: 'MessagesRetracted', fromId: '8', ids: ['8', '9', '10'], cause: 'REWIND', id: 'mr:a:1' });
  });

  it('44: tells what a restore brought back', async () => {
    const test = await follow(TEN, 'a');
    await test.commit(...rewind('a', 8));
    await test.events(0);
    await test.commit(...restore('a', 8));
    expect(await test.pass(0)).toEqual(['MessagesRestored 8,9,10 REWIND']);
  });

  it('tells which rows came back and which went, although their number stays', async () => {
    const test = await follow(TEN, 'a');
    await test.commit(...rewind('a', 10));
    await test.events(0);
    await test.commit('UPDATE messages SET active = 1 WHERE id = 10', 'UPDATE messages SET active = 0 WHERE id = 9');
    expect(await test.pass(0)).toEqual(['MessagesRestored 10 REWIND', 'MessagesRetracted 9 DELETED']);
  });

  it.each([
    ['deletes', (rows: object[]) => replace('a', rows as Record<string, string>[])],
    ['hides', (rows: object[]) => [...hideAll, ...append('a', ...(rows as Record<string, string>[]))]],
  ])('45: is replaced in one commit that %s all and puts in others', async (_, statements) => {
    const test = await follow({ rows: [S('a'), ...rows(40)] }, 'a');
    const others = Array.from({ length: 38 }, (_, index) => ({ content: `new ${index}`, timestamp: NOW }));
    await test.commit(...statements(others));
    const events = await test.events(0);
    const ids = Array.from({ length: 38 }, (_, index) => String(41 + index));
    expect(events).toEqual([expect.objectContaining({ kind: 'TranscriptReplaced', newIds: ids, activeCount: 38, carried: [] })]);
  });

  it('is cleared', async () => {
    const test = await follow(TEN, 'a');
    await test.commit("DELETE FROM messages WHERE session_id = 'a'");
    expect(await test.events(0)).toEqual([expect.objectContaining({ kind: 'TranscriptReplaced', newIds: [], activeCount: 0 })]);
  });

  it('keeps what a rewrite of its end left alone', async () => {
    const test = await follow(TEN, 'a');
    await test.commit('UPDATE messages SET active = 0 WHERE id >= 9', ...append('a', { content: 'other', timestamp: NOW }));
    expect(content(await test.events(0))).toEqual(['MessagesRetracted 9,10 REPLACED', 'TurnStarted cli 11', 'MessagesAppended 11']);
  });

  it('48: tells pruned rows as updates, and nothing of the twins that keep their bodies', async () => {
    const tools = [3, 4].map((id) => M('a', { id, role: 'tool', tool_call_id: `c${id}`, content: 'a long result '.repeat(50) }));
    const test = await follow({ schema: 30, display: 'filled', rows: [S('a'), ...rows(2), ...tools] }, 'a');
    await test.commit(...prune(3, '[cleared]'), ...prune(4, '[cleared]'));
    const events = await test.events(0);
    expect(events).toEqual([expect.objectContaining({ kind: 'MessagesUpdated', ids: ['3', '4'], cause: 'PRUNE', fields: ['CONTENT'] })]);
  });

  it('49: tells a reaction within a second', async () => {
    const test = await follow(TEN, 'a');
    await test.commit([`UPDATE messages SET display_metadata = '{"reactions":[{"emoji":"x","author":"u"}]}' WHERE id = ?`, 4]);
    expect(await test.pass(0)).toEqual([]);
    expect(await test.pass(1)).toEqual(['MessagesUpdated 4 DISPLAY DISPLAY']);
    expect(await test.pass(1)).toEqual([]);
  });

  it('tells an edit of equal length while the row is young', async () => {
    const test = await follow(TEN, 'a');
    await test.commit(...append('a', { role: 'assistant', content: 'abc', timestamp: NOW, display_metadata: '{"reactions":[1]}' }));
    await test.events(0);
    await test.commit(`UPDATE messages SET display_metadata = '{"reactions":[2]}' WHERE id = 11`);
    expect(await test.pass()).toEqual(['MessagesUpdated 11 DISPLAY DISPLAY']);
    await test.commit(`UPDATE messages SET content = 'abd' WHERE id = 11`);
    expect(await test.pass()).toEqual(['MessagesUpdated 11 UNKNOWN CONTENT']);
    expect(await test.pass()).toEqual([]);
  });

  it('tells a row that was emptied, and a stamp for display', async () => {
    const test = await follow(TEN, 'a');
    await test.commit("UPDATE messages SET content = '' WHERE id = 4", "UPDATE messages SET display_kind = 'hidden' WHERE id = 5");
    await test.commit("UPDATE messages SET content = 'marker' WHERE id = 6");
    const events = await test.pass();
    // NULL content of M is 0 bytes already, so emptying it changes nothing.
    expect(events).toEqual(['MessagesUpdated 5 DISPLAY DISPLAY', 'MessagesUpdated 6 UNKNOWN CONTENT']);
    await test.commit("UPDATE messages SET content = '' WHERE id = 6");
    expect(await test.pass()).toEqual(['MessagesUpdated 6 CLEANUP CONTENT']);
  });

  it('50: has nothing to tell of what leaves its rows alone', async () => {
    const test = await follow(TEN, 'a');
    await test.writer.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    expect(content(await test.events())).toEqual([]);
    await test.writer.exec('VACUUM');
    expect(content(await test.events())).toEqual([]);
    await test.writer.exec("INSERT INTO messages_fts(messages_fts) VALUES ('optimize')");
    await test.commit(...append('b', {}), "UPDATE sessions SET title = 'other' WHERE id = 'b'");
    expect(await test.events()).toEqual([]);
  });

  it('51: is told in order, in few passes, when fifty commits come at once', async () => {
    const test = await follow(TEN, 'a');
    const commits = Array.from({ length: 50 }, (_, index) =>
      test.commit(...append('a', { role: 'assistant', content: `${index}`, timestamp: NOW })),
    );
    for (let pass = 0; pass < 10; pass += 1) {
      await test.events(0);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await Promise.all(commits);
    await test.events(0);
    expect(eventsOf(test.told, 'MessagesAppended').flatMap(({ ids }) => ids)).toEqual(
      Array.from({ length: 50 }, (_, index) => String(11 + index)),
    );
  });

  it('56: tells a spool that is drained by id, and takes no turn for begun', async () => {
    const test = await follow({ rows: [S('a'), M('a', { timestamp: NOW - 60 })] }, 'a');
    const spooled = Array.from({ length: 150 }, (_, index) => ({
      role: index % 3 === 0 ? 'user' : index % 3 === 1 ? 'assistant' : 'tool',
      tool_calls: index % 3 === 1 ? calls([`c${index}`, 'terminal']) : null,
      timestamp: NOW - 86_400 - index,
    }));
    await test.commit(...append('a', ...spooled));
    const events = await test.events();
    expect(events.map(({ kind }) => kind)).toEqual(Array.from({ length: 150 }, () => 'MessagesAppended'));
    expect(eventsOf(events, 'MessagesAppended').flatMap(({ ids }) => ids)).toEqual(
      Array.from({ length: 150 }, (_, index) => String(index + 2)),
    );
    expect(test.rows.turn).toBe(null);
  });

  it('comes in portions when very many rows were appended', async () => {
    const test = await follow(TEN, 'a');
    await test.commit(
      ...append('a', ...Array.from({ length: 1201 }, (_, index) => ({ role: 'assistant', content: `${index}`, timestamp: NOW }))),
    );
    const first = await test.rows.pass();
    expect([first.events.length, first.more, first.position.maxRowId]).toEqual([500, true, '510']);
    const rest = await test.events();
    expect(eventsOf(rest, 'MessagesAppended').flatMap(({ ids }) => ids)).toEqual(
      Array.from({ length: 701 }, (_, index) => String(511 + index)),
    );
  });

  it('tells what was appended and compacted before anybody looked', async () => {
    const test = await follow(TEN, 'a');
    await test.commit(...append('a', { role: 'assistant', content: 'unseen', timestamp: NOW }));
    await test.commit(...compact('a', [{ content: '[CONTEXT SUMMARY]: so far' }], 2));
    await test.commit(...append('a', { role: 'assistant', content: 'after', timestamp: NOW + 1 }));
    expect(content(await test.events(0))).toEqual([
      'MessagesAppended 11',
      'TranscriptCompacted archived 9 summaries 12 carried 10>13,11>14',
      'MessagesAppended 15',
    ]);
  });

  it('costs nothing while nothing is committed, and few statements when rows are', async () => {
    const test = await follow(TEN, 'a');
    const statements = async (seconds: number) => {
      await test.store.generation();
      const meter = new Meter();
      await metered(meter, () => test.events(seconds));
      return meter.statements;
    };
    expect(await statements(1)).toBe(0);
    const messages = Array.from({ length: 10 }, (_, index) => ({ role: 'assistant', content: `${index}`, timestamp: NOW }));
    await test.commit(...append('a', ...messages));
    expect(await statements(0)).toBeLessThanOrEqual(10);
    expect(await statements(1)).toBeLessThanOrEqual(10);
    expect(await statements(1)).toBe(0);
  });

  it('is another one when the store was replaced', async () => {
    const test = await follow(TEN, 'a');
    await test.commit(insert('sessions', { id: 'z', source: 'cli', started_at: NOW }));
    await test.events();
    await test.writer.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    await copyFile(test.path, `${test.path}.copy`);
    await rename(`${test.path}.copy`, test.path);
    await new Promise((resolve) => setTimeout(resolve, 30));
    const pass = await test.rows.pass();
    expect(pass).toMatchObject({ events: [], replaced: true });
  });
});

const hideAll = ["UPDATE messages SET active = 0 WHERE session_id = 'a'"];
