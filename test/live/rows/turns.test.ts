/** Turns as rows and leases show them (`spec/live-turns.md` 21). */
import { describe, expect, it } from 'vitest';
import { M, S } from '../../support/stores.ts';
import { content, eventsOf, follow, NOW } from './following.ts';
import { append, calls, insert, lease } from './operations.ts';

const IDLE = { rows: [S('a', { source: 'telegram' }), M('a'), M('a', { role: 'assistant', finish_reason: 'stop' })] };

describe('a turn', () => {
  it('3: begins with the lease of its platform, before the row of the user', async () => {
    const test = await follow(IDLE, 'a');
    await test.commit(lease('a', 'telegram', NOW));
    const [started, ...others] = await test.events();
    expect(others).toEqual([]);
    expect(started).toMatchObject({
      kind: 'TurnStarted',
      executor: 'OTHER',
      platform: 'telegram',
      userMessageId: null,
      baseMessageId: '2',
    });
    await test.commit(...append('a', { timestamp: NOW + 1 }));
    expect(await test.pass()).toEqual(['MessagesAppended 3']);
    expect(test.rows.turn).toMatchObject({ userMessageId: '3', firstMessageId: '3' });
  });

  it('3: begins before its row also when both are seen at once', async () => {
    const test = await follow(IDLE, 'a');
    await test.commit(lease('a', 'telegram', NOW), ...append('a', { timestamp: NOW }));
    expect(await test.pass()).toEqual(['TurnStarted telegram 3', 'MessagesAppended 3']);
  });

  it('4: of a new session begins with the row, since there is no lease', async () => {
    const test = await follow({ rows: [S('other')] }, 'a');
    expect(test.rows.head).toBe(null);
    await test.commit(insert('sessions', { id: 'a', source: 'cli', model: 'm', started_at: NOW }), ...append('a', { timestamp: NOW }));
    const events = await test.events();
    expect(content(events)).toEqual(['TurnStarted cli 1', 'MessagesAppended 1']);
    expect(events[0]).toMatchObject({ sessionId: 'a', model: 'm', source: 'cli', baseMessageId: null });
    await test.commit(...append('a', { role: 'assistant', content: 'Hi.', finish_reason: 'stop', timestamp: NOW + 1 }));
    expect(await test.pass()).toEqual(['MessagesAppended 2', 'TurnEnded COMPLETED MEDIUM FINAL_ROW 1..2']);
  });

  it('ends behind its last row when the lease goes', async () => {
    const test = await follow(IDLE, 'a');
    await test.commit(lease('a', 'telegram', NOW), ...append('a', { timestamp: NOW }));
    await test.events();
    await test.commit(
      ...append('a', { role: 'assistant', content: 'Yes.', finish_reason: 'stop', timestamp: NOW + 2 }),
      'DELETE FROM session_turn_leases',
    );
    expect(await test.pass()).toEqual(['MessagesAppended 4', 'TurnEnded COMPLETED HIGH LEASE_GONE 3..4']);
    expect(test.rows.position.turnId).toBe(null);
  });

  it.each([
    ['no answer', { role: 'tool', tool_call_id: 'c', finish_reason: null }, 'INTERRUPTED MEDIUM'],
    ['an error', { role: 'assistant', finish_reason: 'error' }, 'FAILED HIGH'],
  ])('that leaves %s has the outcome that its last row allows', async (_, row, outcome) => {
    const test = await follow(IDLE, 'a');
    await test.commit(lease('a', 'telegram', NOW), ...append('a', { timestamp: NOW }, { timestamp: NOW + 1, ...row }));
    await test.events();
    await test.commit('DELETE FROM session_turn_leases');
    expect(await test.pass()).toEqual([`TurnEnded ${outcome} LEASE_GONE 3..4`]);
  });

  it('whose lease runs out was interrupted, until work shows that it was not', async () => {
    const test = await follow(IDLE, 'a');
    await test.commit(lease('a', 'telegram', NOW), ...append('a', { timestamp: NOW }));
    await test.events();
    expect(await test.pass(290)).toEqual([]);
    expect(await test.pass(20)).toEqual(['TurnEnded INTERRUPTED HIGH LEASE_EXPIRED 3..3']);
    await test.commit(['UPDATE session_turn_leases SET expires_at = ?', test.now + 300]);
    await test.events();
    expect(test.rows.turn).toMatchObject({ userMessageId: '3' });
    await test.commit(...append('a', { role: 'assistant', finish_reason: 'stop', timestamp: test.now }), 'DELETE FROM session_turn_leases');
    expect(await test.pass()).toEqual(['MessagesAppended 4', 'TurnEnded COMPLETED HIGH LEASE_GONE 3..4']);
    const ids = eventsOf(test.told, 'TurnEnded').map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
  });

  it('is told apart from the next one when both are seen at once', async () => {
    const test = await follow(IDLE, 'a');
    await test.commit(lease('a', 'telegram', NOW), ...append('a', { timestamp: NOW }));
    await test.events();
    await test.commit(
      ...append('a', { role: 'assistant', finish_reason: 'stop', timestamp: NOW + 1 }),
      'DELETE FROM session_turn_leases',
      lease('a', 'telegram', NOW + 2, 'def'),
      ...append('a', { timestamp: NOW + 2 }),
    );
    expect(await test.pass()).toEqual([
      'MessagesAppended 4',
      'TurnEnded COMPLETED MEDIUM NEXT_TURN 3..4',
      'TurnStarted telegram 5',
      'MessagesAppended 5',
    ]);
  });

  it('ends with its session', async () => {
    const test = await follow(IDLE, 'a');
    await test.commit(...append('a', { timestamp: NOW }));
    expect(await test.pass()).toEqual(['TurnStarted telegram 3', 'MessagesAppended 3']);
    await test.commit(["UPDATE sessions SET ended_at = ?, end_reason = 'tui_close'", NOW + 1]);
    expect(await test.pass()).toEqual(['TurnEnded INTERRUPTED HIGH SESSION_ENDED 3..3', 'SessionChanged ENDED']);
  });

  it('ends when its session is deleted, and so does the conversation', async () => {
    const test = await follow(IDLE, 'a');
    await test.commit(lease('a', 'telegram', NOW), ...append('a', { timestamp: NOW }));
    await test.events();
    await test.commit('DELETE FROM messages', 'DELETE FROM sessions');
    expect(await test.pass()).toEqual(['TurnEnded SESSION_DELETED CERTAIN SESSION_DELETED 3..3', 'SessionDeleted']);
    expect(await test.pass()).toEqual([]);
  });

  it('13: leaves open whether a tool failed until its row says so', async () => {
    const test = await follow(IDLE, 'a');
    await test.commit(
      lease('a', 'telegram', NOW),
      ...append(
        'a',
        { timestamp: NOW },
        {
          role: 'assistant',
          tool_calls: calls(['c1', 'terminal', { command: 'ls' }], ['c2', 'web_search'], ['c3', 'terminal']),
          timestamp: NOW,
        },
        { role: 'tool', tool_call_id: 'c1', tool_name: 'terminal', content: '{"output": "", "exit_code": 2}', timestamp: NOW },
        { role: 'tool', tool_call_id: 'c2', tool_name: 'web_search', content: 'three results', timestamp: NOW },
        { role: 'tool', tool_call_id: 'c3', tool_name: 'terminal', content: '{"output": "x", "exit_code": 0}', timestamp: NOW },
      ),
    );
    const events = await test.events();
    expect(eventsOf(events, 'ToolStarted')[0]).toMatchObject({
      toolCallId: 'c1',
      argsPreview: { command: 'ls' },
      argsComplete: true,
      messageId: '4',
    });
    expect(eventsOf(events, 'ToolFinished').map((event) => [event.toolCallId, event.isError, event.messageId])).toEqual([
      ['c1', true, '5'],
      ['c2', null, '6'],
      ['c3', false, '7'],
    ]);
  });

  it('40: goes on through a tool of twenty minutes while its lease is renewed, with a heartbeat a minute at most', async () => {
    const test = await follow(IDLE, 'a');
    await test.commit(
      lease('a', 'telegram', NOW),
      ...append('a', { timestamp: NOW }, { role: 'assistant', tool_calls: calls(['c1', 'terminal']), timestamp: NOW }),
    );
    await test.events();
    for (let minute = 1; minute <= 20; minute += 1) {
      await test.commit(['UPDATE session_turn_leases SET expires_at = ?', NOW + minute * 60 + 300]);
      await test.commit([
        'UPDATE sessions SET last_activity_at = ?, last_activity_description = ?',
        NOW + minute * 60 + 20,
        'executing tool: terminal',
      ]);
      for (let second = 0; second < 60; second += 10) {
        const events = await test.events(10);
        expect(events.filter(({ kind }) => kind !== 'ActivityHeartbeat')).toEqual([]);
      }
    }
    expect(eventsOf(test.told, 'ActivityHeartbeat').length).toBe(20);
    expect(test.rows.turn).not.toBe(null);
  });

  it('79: of an old store shows at row level, at its end', async () => {
    const test = await follow({ schema: 6, rows: [S('a'), M('a')] }, 'a');
    await test.commit(
      ...append(
        'a',
        { timestamp: NOW - 400 },
        { role: 'assistant', tool_calls: calls(['c1', 'terminal']), finish_reason: 'tool_calls', timestamp: NOW - 300 },
        { role: 'tool', tool_call_id: 'c1', tool_name: 'terminal', content: 'ok', timestamp: NOW - 200 },
        { role: 'assistant', content: 'Done.', finish_reason: 'stop', timestamp: NOW },
      ),
    );
    expect(await test.pass()).toEqual([
      'TurnStarted cli 2',
      'MessagesAppended 2',
      'MessagesAppended 3',
      'ToolStarted terminal 3',
      'MessagesAppended 4',
      'ToolFinished terminal 4 null',
      'MessagesAppended 5',
      'TurnEnded COMPLETED MEDIUM FINAL_ROW 2..5',
    ]);
    await test.commit('DELETE FROM messages WHERE id >= 4');
    expect(await test.pass()).toEqual(['MessagesRetracted 4,5 DELETED']);
  });

  it('79: of a store without leases is not over while its answer takes long', async () => {
    const test = await follow({ schema: 16, rows: [S('a'), M('a')] }, 'a');
    await test.commit(...append('a', { timestamp: NOW }));
    expect(await test.pass()).toEqual(['TurnStarted cli 2', 'MessagesAppended 2']);
    expect(await test.pass(200)).toEqual([]);
    await test.commit(...append('a', { role: 'assistant', content: 'At last.', finish_reason: 'stop', timestamp: NOW + 200 }));
    expect(await test.pass()).toEqual(['MessagesAppended 3', 'TurnEnded COMPLETED MEDIUM FINAL_ROW 2..3']);
    await test.commit(...append('a', { timestamp: test.now }));
    await test.events();
    expect(await test.pass(400)).toEqual(['TurnEnded INTERRUPTED LOW SILENCE 4..4']);
    await test.commit(...append('a', { role: 'assistant', content: 'Still here.', finish_reason: 'stop', timestamp: test.now }));
    expect(await test.pass()).toEqual(['MessagesAppended 5', 'TurnEnded COMPLETED MEDIUM FINAL_ROW 4..5']);
  });

  it('that is under way at first is known by its lease or by its last rows', async () => {
    const test = await follow(IDLE, 'a');
    expect(test.rows.turn).toBe(null);
    await test.commit(
      lease('a', 'telegram', NOW),
      ...append('a', { timestamp: NOW }, { role: 'assistant', tool_calls: calls(['c', 'terminal']), timestamp: NOW }),
    );
    const byLease = await follow(test.path, 'a');
    expect(byLease.rows.turn).toMatchObject({ userMessageId: '3', firstMessageId: '3', lastMessageId: '4' });
    await test.events();
    expect(byLease.rows.turn?.turnId).toBe(test.rows.turn?.turnId);
    await test.commit('DELETE FROM session_turn_leases', [
      'UPDATE sessions SET last_activity_at = ?, last_activity_description = ?',
      NOW,
      'executing',
    ]);
    expect((await follow(test.path, 'a')).rows.turn).toMatchObject({ turnId: 'r:3', leaseKey: null });
    await test.commit("UPDATE sessions SET last_activity_description = ''");
    expect((await follow(test.path, 'a')).rows.turn).toMatchObject({ turnId: 'r:3' });
  });

  it('is not begun by what is said to others, or by a note', async () => {
    const test = await follow(IDLE, 'a');
    await test.commit(...append('a', { observed: 1, timestamp: NOW }, { content: 'gpt', display_kind: 'model_switch', timestamp: NOW }));
    expect(await test.pass()).toEqual(['MessagesAppended 3', 'MessagesAppended 4']);
  });
});
