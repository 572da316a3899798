/** Sub-agents as nested live turns, at state level (`spec/live-turns.md` 11.3, 21). */
import { describe, expect, it } from 'vitest';
import { M, S } from '../../support/stores.ts';
import { eventsOf, type Following, follow, NOW } from './following.ts';
import { append, type Call, calls, insert, lease, type Statement } from './operations.ts';

const IDLE = { rows: [S('a'), M('a'), M('a', { role: 'assistant', finish_reason: 'stop' })] };
const child = (id: string, parent: string, goal: string, at: number): Statement[] => [
  insert('sessions', {
    id,
    source: 'subagent',
    parent_session_id: parent,
    started_at: at,
    model_config: JSON.stringify({ _delegate_from: parent }),
  }),
  ...append(id, { content: goal, timestamp: at }),
];
const registered = (id: string, task: object, at: number): Statement =>
  insert('async_delegations', {
    delegation_id: id,
    origin_session: 'k',
    parent_session_id: 'a',
    state: 'running',
    dispatched_at: at,
    updated_at: at,
    task_json: JSON.stringify(task),
  });
const delegations = async (test: Following, seconds?: number) => (await test.pass(seconds)).filter((text) => text.startsWith('Delegation'));

async function calling(test: Following, ...list: Call[]): Promise<void> {
  await test.commit(
    lease('a', 'cli', NOW),
    ...append('a', { timestamp: NOW }, { role: 'assistant', tool_calls: calls(...list), timestamp: NOW }),
  );
  await test.events(0);
}

describe('a delegation', () => {
  it('61: that is waited for is told with its two children, their progress once a second at most, and its end', async () => {
    const test = await follow(IDLE, 'a');
    await calling(test, ['c1', 'delegate_task', { tasks: [{ goal: 'find tea' }, { goal: 'find cups' }] }]);
    await test.commit(...child('d1', 'a', 'find tea', NOW + 1), ...child('d2', 'a', 'find cups', NOW + 1));
    const started = await test.events();
    expect(eventsOf(started, 'DelegationStarted')).toEqual([
      expect.objectContaining({ childSessionId: 'd1', goal: 'find tea', toolCallId: 'c1', background: false, depth: 1, sessionId: 'a' }),
      expect.objectContaining({ childSessionId: 'd2', goal: 'find cups', toolCallId: 'c1' }),
    ]);
    for (let index = 0; index < 10; index += 1) {
      await test.commit(...append('d1', { role: 'tool', tool_name: 'terminal', content: `${index}`, timestamp: NOW + 2 }));
      await test.events(0.25);
    }
    const progress = eventsOf(test.told, 'DelegationProgress');
    expect(progress.length).toBeGreaterThan(0);
    expect(progress.length).toBeLessThanOrEqual(3);
    expect(await delegations(test, 1)).toEqual(['DelegationProgress d1 d1 11 terminal']);
    await test.commit(
      ...append('a', { role: 'tool', tool_call_id: 'c1', tool_name: 'delegate_task', content: 'tea and cups', timestamp: NOW + 9 }),
    );
    expect(await test.pass()).toEqual([
      'MessagesAppended 17',
      'ToolFinished delegate_task 17 null',
      'DelegationFinished d1 completed tea and cups',
      'DelegationFinished d2 completed tea and cups',
    ]);
    await test.commit(...append('d1', { role: 'assistant', timestamp: NOW + 10 }));
    expect(await test.pass()).toEqual([]);
    expect(test.rows.delegations).toEqual([]);
  });

  it('61: of two calls is linked to the one with its goal', async () => {
    const test = await follow(IDLE, 'a');
    await calling(test, ['c1', 'delegate_task', { goal: 'find tea' }], ['c2', 'delegate_task', { goal: 'find cups' }]);
    await test.commit(...child('d2', 'a', 'find cups', NOW + 1), ...child('d1', 'a', 'find tea', NOW + 2));
    expect(await delegations(test)).toEqual(['DelegationStarted d2 d2 c2 waited for', 'DelegationStarted d1 d1 c1 waited for']);
    const result = { role: 'tool', tool_call_id: 'c2', content: '{"success": false, "error": "no cups"}', timestamp: NOW + 3 };
    await test.commit(...append('a', result));
    expect(await delegations(test)).toEqual(['DelegationFinished d2 error {"success": false, "error": "no cups"}']);
  });

  it('62: in the background is told from its entry in the registry to the turn that brings its result', async () => {
    const test = await follow(IDLE, 'a');
    await calling(test, ['c1', 'delegate_task', { goal: 'read it all', background: true }]);
    await test.commit(
      registered('deleg_1', { goal: 'read it all' }, NOW + 1),
      ...append('a', { role: 'tool', tool_call_id: 'c1', content: 'started', timestamp: NOW + 1 }),
    );
    expect(await delegations(test)).toEqual(['DelegationStarted deleg_1 null c1 background']);
    await test.commit(
      ...append('a', { role: 'assistant', content: 'It runs.', finish_reason: 'stop', timestamp: NOW + 2 }),
      'DELETE FROM session_turn_leases',
    );
    await test.events();
    await test.commit(...child('d1', 'a', 'read it all', NOW + 3));
    expect(await delegations(test)).toEqual(['DelegationProgress deleg_1 d1 1']);
    await test.commit([
      "UPDATE async_delegations SET state = 'completed', completed_at = ?, event_json = '{}', result_json = ?",
      NOW + 4,
      JSON.stringify({ status: 'completed', summary: 'All read.' }),
    ]);
    expect(await delegations(test)).toEqual(['DelegationFinished deleg_1 completed All read.']);
    await test.commit(
      lease('a', 'cli', test.now, 'next'),
      ...append('a', {
        content: 'The result is here.',
        display_kind: 'async_delegation_complete',
        display_metadata: JSON.stringify({ delegation_id: 'deleg_1' }),
        timestamp: test.now,
      }),
    );
    expect(await test.pass()).toEqual(['TurnStarted cli 8', 'MessagesAppended 8', 'DelegationProgress deleg_1 d1 1 8']);
    await test.commit("UPDATE async_delegations SET delivery_state = 'delivered'");
    expect(await test.pass()).toEqual([]);
  });

  it('62: in the background with several goals is one for each', async () => {
    const test = await follow(IDLE, 'a');
    await test.commit(registered('deleg_1', { goals: ['one', 'two'], is_batch: true }, NOW));
    expect(await delegations(test)).toEqual([
      'DelegationStarted deleg_1 null null background',
      'DelegationStarted deleg_1 null null background',
    ]);
    await test.commit(...child('d2', 'a', 'two', NOW + 1), ...child('d1', 'a', 'one', NOW + 1));
    await test.events();
    expect(test.rows.delegations.map(({ goal, sessionIds }) => [goal, ...sessionIds])).toEqual([
      ['one', 'd1'],
      ['two', 'd2'],
    ]);
  });

  it('63: of a delegate is one level deeper', async () => {
    const test = await follow(IDLE, 'a');
    await calling(test, ['c1', 'delegate_task', { goal: 'find tea' }]);
    await test.commit(
      ...child('d1', 'a', 'find tea', NOW + 1),
      ...append('d1', { role: 'assistant', tool_calls: calls(['n1', 'delegate_task', { goal: 'ask around' }]), timestamp: NOW + 1 }),
    );
    await test.events();
    await test.commit(...child('e1', 'd1', 'ask around', NOW + 2));
    const events = await test.events();
    expect(eventsOf(events, 'DelegationStarted')).toEqual([
      expect.objectContaining({ depth: 2, sessionId: 'd1', childSessionId: 'e1', toolCallId: 'n1', goal: 'ask around' }),
    ]);
    await test.commit(...child('f1', 'e1', 'too deep', NOW + 3));
    expect(await delegations(test)).toEqual([]);
    await test.commit(...append('d1', { role: 'tool', tool_call_id: 'n1', content: 'asked', timestamp: NOW + 4 }));
    expect(await delegations(test)).toContain('DelegationFinished e1 completed asked');
  });

  it('63: is not told to a reader who wants none', async () => {
    const test = await follow(IDLE, 'a', { delegates: 'NONE' });
    await calling(test, ['c1', 'delegate_task', { goal: 'find tea' }]);
    await test.commit(...child('d1', 'a', 'find tea', NOW + 1));
    expect(await test.pass()).toEqual([]);
  });

  it('goes on in another session when the delegate is compacted by rotation', async () => {
    const test = await follow(IDLE, 'a');
    await calling(test, ['c1', 'delegate_task', { goal: 'find tea' }]);
    await test.commit(...child('d1', 'a', 'find tea', NOW + 1));
    await test.events();
    await test.commit(
      "UPDATE sessions SET ended_at = 1, end_reason = 'compression' WHERE id = 'd1'",
      insert('sessions', {
        id: 'd1b',
        source: 'subagent',
        parent_session_id: 'd1',
        started_at: NOW + 2,
        model_config: '{"_delegate_from":"a"}',
      }),
      ...append('d1b', { content: 'so far', timestamp: NOW + 2 }),
    );
    expect(await delegations(test)).toEqual(['DelegationProgress d1 d1 2']);
  });

  it('that is under way at first is known, one that is over is not', async () => {
    const test = await follow(IDLE, 'a');
    await calling(test, ['c0', 'delegate_task', { goal: 'earlier' }]);
    await test.commit(
      ...child('d0', 'a', 'earlier', NOW + 1),
      ...append('a', { role: 'tool', tool_call_id: 'c0', content: 'done', timestamp: NOW + 2 }),
    );
    await test.commit(
      ...append('a', { role: 'assistant', tool_calls: calls(['c1', 'delegate_task', { goal: 'now' }]), timestamp: NOW + 3 }),
    );
    await test.commit(...child('d1', 'a', 'now', NOW + 4), registered('deleg_1', { goal: 'slow' }, NOW));
    const later = await follow(test.path, 'a');
    expect(later.rows.delegations.map(({ key }) => key).sort()).toEqual(['d1', 'deleg_1']);
    expect(await later.pass()).toEqual([]);
  });

  it('that began or ended while the reader was away is told to him', async () => {
    const test = await follow(IDLE, 'a');
    await calling(test, ['c1', 'delegate_task', { goal: 'one' }]);
    await test.commit(...child('d1', 'a', 'one', NOW + 1));
    await test.events();
    const { position } = test.rows;
    await test.commit(...append('a', { role: 'tool', tool_call_id: 'c1', content: 'done', timestamp: NOW + 2 }));
    await test.commit(
      ...append('a', { role: 'assistant', tool_calls: calls(['c2', 'delegate_task', { goal: 'two' }]), timestamp: NOW + 3 }),
    );
    await test.commit(...child('d2', 'a', 'two', NOW + 4));
    const answer = await test.resume('a', position);
    const events = answer.kind === 'CONTINUED' ? answer.events : [];
    expect(eventsOf(events, 'DelegationFinished').map(({ childSessionId }) => childSessionId)).toEqual(['d1']);
    expect(eventsOf(events, 'DelegationStarted').map(({ childSessionId }) => childSessionId)).toEqual(['d2']);
  });
});
