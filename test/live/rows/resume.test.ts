/** Going on from where a reader stood (`spec/live-turns.md` 14, 21). */
import { describe, expect, it } from 'vitest';
import { M, S } from '../../support/stores.ts';
import { brief, content, follow, NOW } from './following.ts';
import { append, calls, compact, insert, lease, rewind, rotate } from './operations.ts';

const SIX = {
  rows: [
    S('a'),
    S('b'),
    ...Array.from({ length: 6 }, (_, index) => M('a', { role: index % 2 === 0 ? 'user' : 'assistant', content: `row ${index}` })),
  ],
};

async function resumed(test: Awaited<ReturnType<typeof follow>>, position = test.rows.position) {
  const answer = await test.resume('a', position);
  return answer.kind === 'CONTINUED' ? content(answer.events) : answer.reason;
}

describe('a reader who was away', () => {
  it('68: gets the rows that were appended meanwhile, each once', async () => {
    const test = await follow(SIX, 'a');
    await test.commit(
      ...append('b', { timestamp: NOW }),
      ...append('a', ...[1, 2, 3, 4].map((n) => ({ role: 'assistant', content: `${n}`, timestamp: NOW }))),
    );
    expect(await resumed(test)).toEqual(['MessagesAppended 8', 'MessagesAppended 9', 'MessagesAppended 10', 'MessagesAppended 11']);
    expect(await test.pass()).toEqual([]);
    expect(await resumed(test)).toEqual([]);
    await test.commit(...append('a', { role: 'assistant', timestamp: NOW }));
    expect(await test.pass()).toEqual(['MessagesAppended 12']);
  });

  it('68: gets the turns that began and ended meanwhile, and the end of the one that was under way', async () => {
    const test = await follow(SIX, 'a');
    await test.commit(
      lease('a', 'cli', NOW),
      ...append('a', { timestamp: NOW }, { role: 'assistant', tool_calls: calls(['c', 'terminal']), timestamp: NOW }),
    );
    await test.events();
    const { position } = test.rows;
    await test.commit(
      ...append(
        'a',
        { role: 'tool', tool_call_id: 'c', tool_name: 'terminal', timestamp: NOW + 5 },
        { role: 'assistant', finish_reason: 'stop', timestamp: NOW + 6 },
        { timestamp: NOW + 100 },
        { role: 'assistant', finish_reason: 'stop', timestamp: NOW + 110 },
      ),
      'DELETE FROM session_turn_leases',
    );
    test.now += 5000;
    expect(await resumed(test, position)).toEqual([
      'MessagesAppended 9',
      'ToolFinished terminal 9 null',
      'MessagesAppended 10',
      'TurnEnded COMPLETED MEDIUM NEXT_TURN 7..10',
      'TurnStarted cli 11',
      'MessagesAppended 11',
      'MessagesAppended 12',
      'TurnEnded COMPLETED MEDIUM FINAL_ROW 11..12',
    ]);
  });

  it('hears of the end of a turn although no row came any more', async () => {
    const test = await follow(SIX, 'a');
    await test.commit(
      lease('a', 'cli', NOW),
      ...append('a', { timestamp: NOW }, { role: 'assistant', finish_reason: 'stop', timestamp: NOW }),
    );
    await test.events();
    const { position } = test.rows;
    await test.commit('DELETE FROM session_turn_leases');
    expect(await resumed(test, position)).toEqual(['TurnEnded COMPLETED HIGH LEASE_GONE 7..8']);
    expect(await resumed(test)).toEqual([]);
  });

  it('does not hear again of a turn that goes on', async () => {
    const test = await follow(SIX, 'a');
    await test.commit(lease('a', 'cli', NOW), ...append('a', { timestamp: NOW }));
    await test.events();
    expect(await resumed(test)).toEqual([]);
    await test.commit(...append('a', { role: 'assistant', finish_reason: 'stop', timestamp: NOW }), 'DELETE FROM session_turn_leases');
    expect(await test.pass()).toEqual(['MessagesAppended 8', 'TurnEnded COMPLETED HIGH LEASE_GONE 7..8']);
  });

  it('gets the same ids as somebody who was there', async () => {
    const test = await follow(SIX, 'a');
    const { position } = test.rows;
    await test.commit(...append('a', { role: 'assistant', tool_calls: calls(['c', 'terminal']), timestamp: NOW }));
    await test.events();
    await test.commit(...append('a', { role: 'tool', tool_call_id: 'c', timestamp: NOW }));
    await test.commit(...rotate('a', 'next', { content: '[CONTEXT SUMMARY]: x' }, 1, NOW));
    await test.events();
    const answer = await test.resume('a', position);
    expect(answer.kind === 'CONTINUED' && answer.events.map(({ id }) => id)).toEqual(test.told.map(({ id }) => id));
  });

  it.each([
    ['67: a rewind and appended rows', [...rewind('a', 5), ...append('a', { timestamp: NOW })]],
    ['a compaction', compact('a', [{ content: '[CONTEXT SUMMARY]: x', timestamp: NOW }], 2)],
    ['an edit', ["UPDATE messages SET content = 'another text' WHERE id = 3"]],
    ['a reaction', [`UPDATE messages SET display_metadata = '{"reactions":[]}' WHERE id = 3`]],
    ['a deletion of the newest rows', ['DELETE FROM messages WHERE id > 4']],
  ])('has to begin anew after %s', async (_, statements) => {
    const test = await follow(SIX, 'a');
    await test.commit(...statements);
    expect(await resumed(test)).toBe('TRANSCRIPT_REWRITTEN_OFFLINE');
    expect(test.rows.head?.maxMessageId).toBe(
      String(((await test.writer.exec("SELECT MAX(id) AS id FROM messages WHERE session_id = 'a'")) as { id: number }[])[0]?.id),
    );
    expect(await test.pass()).toEqual([]);
  });

  it('has to begin anew when the store has fewer rows than he has seen', async () => {
    const test = await follow(SIX, 'a');
    expect(await resumed(test, { ...test.rows.position, maxRowId: '7' })).toBe('DB_REPLACED');
  });

  it('is not misled by a counter that outlived its rows', async () => {
    const test = await follow(SIX, 'a');
    await test.commit(...append('b', { timestamp: NOW }));
    await test.events();
    const { position } = test.rows;
    expect(position.maxRowId).toBe('7');
    await test.commit("DELETE FROM messages WHERE session_id = 'b'");
    expect(await resumed(test, position)).toEqual([]);
  });

  it('hears that the conversation is gone', async () => {
    const test = await follow(SIX, 'a');
    await test.commit(lease('a', 'cli', NOW));
    await test.events();
    const { position } = test.rows;
    await test.commit('DELETE FROM messages', "DELETE FROM sessions WHERE id = 'a'");
    const answer = await test.resume('a', position);
    expect(answer.kind === 'CONTINUED' && answer.events.map(brief)).toEqual([
      'TurnEnded SESSION_DELETED CERTAIN SESSION_DELETED null..null',
      'SessionDeleted',
    ]);
  });

  it('waits for a session that is not there yet', async () => {
    const test = await follow(SIX, 'later');
    const { position } = test.rows;
    expect(position).toMatchObject({ segmentId: null, maxRowId: '6' });
    await test.commit(insert('sessions', { id: 'later', source: 'cli', started_at: NOW }), ...append('later', { timestamp: NOW }));
    const answer = await test.resume('later', position);
    expect(answer.kind === 'CONTINUED' && content(answer.events)).toEqual(['TurnStarted cli 7', 'MessagesAppended 7']);
  });
});
