/** Sub-agents of a turn (`spec/live-turns.md` 11.3, 21 cases 61 to 63). */
import { describe, expect, it } from 'vitest';
import type { LiveOptions } from '../../../src/live/conversation/options.ts';
import { insert } from '../rows/operations.ts';
import { FollowedTurns, type Reader } from './following.ts';
import { expectOnce, place } from './telling.ts';

const call = (id: string, args: Readonly<Record<string, unknown>>) => ({ id, name: 'delegate_task', args });

async function delegating(
  args: Readonly<Record<string, unknown>>,
  options: Partial<LiveOptions> = {},
): Promise<{ test: FollowedTurns; reader: Reader }> {
  const test = await FollowedTurns.begin();
  await test.ui.createSession('s');
  const reader = await test.follow('s', null, options);
  await test.ui.submit({ sessionId: 's', runId: 'r', text: 'hi' });
  await test.ui.journal('s', 'r', [{ event: 'context_status' }]);
  await test.ui.lease('s', 'acquire');
  await test.ui.rows('s', [{ role: 'user', content: 'hi' }]);
  await test.ui.rows('s', [{ role: 'assistant', content: null, toolCalls: [call('c1', args)] }]);
  await test.ui.journal('s', 'r', [{ event: 'tool', payload: { name: 'delegate_task', tid: 'c1', args } }]);
  await reader.until('ToolStarted');
  return { test, reader };
}

const child = (test: FollowedTurns, id: string, parent: string, goal: string) =>
  test.ui.createSession(id, {
    source: 'subagent',
    sidecar: false,
    columns: { parent_session_id: parent, model_config: JSON.stringify({ _delegate_from: parent }) },
    rows: [{ role: 'user', content: goal }],
  });

async function finish(test: FollowedTurns, answer: string): Promise<void> {
  await test.ui.rows('s', [{ role: 'assistant', content: answer }]);
  await test.ui.lease('s', 'release');
  await test.ui.settle({ sessionId: 's', runId: 'r' });
  await test.ui.journal('s', 'r', [{ event: 'token', payload: { text: answer } }, { event: 'done' }]);
}

describe('a delegation', () => {
  it('61: that is waited for is told with its children, their progress and its end', async () => {
    const { test, reader } = await delegating({ tasks: [{ goal: 'find tea' }, { goal: 'find cups' }] });
    await child(test, 'd1', 's', 'find tea');
    await child(test, 'd2', 's', 'find cups');
    await reader.until('DelegationStarted', 2);
    expect(reader.of('DelegationStarted')).toEqual([
      expect.objectContaining({ childSessionId: 'd1', goal: 'find tea', toolCallId: 'c1', background: false, depth: 1 }),
      expect.objectContaining({ childSessionId: 'd2', goal: 'find cups', toolCallId: 'c1', background: false, depth: 1 }),
    ]);
    const begun = performance.now();
    for (let count = 0; count < 10; count++) {
      await test.ui.rows('d1', [{ role: 'tool', toolName: 'terminal', toolCallId: `t${count}`, content: `${count}` }]);
    }
    await reader.when('the last progress', () => reader.of('DelegationProgress').some(({ messageCount }) => messageCount === 11));
    const seconds = (performance.now() - begun) / 1000;
    expect(reader.of('DelegationProgress').filter(({ childSessionId }) => childSessionId === 'd1').length).toBeLessThanOrEqual(2 + seconds);
    expect((await test.turns.snapshot(test.store, 's')).snapshot.delegations.map(({ goal }) => goal).sort()).toEqual([
      'find cups',
      'find tea',
    ]);
    await test.ui.rows('s', [{ role: 'tool', toolCallId: 'c1', toolName: 'delegate_task', content: 'tea and cups' }]);
    await reader.until('DelegationFinished', 2);
    expect(place(reader.events, 'ToolFinished')).toBeLessThan(place(reader.events, 'DelegationFinished'));
    await finish(test, 'Found.');
    await reader.until('TurnEnded');
    // The turn and the rows are those of the parent.
    expect(reader.of('TurnStarted').every(({ sessionId }) => sessionId === 's')).toBe(true);
    expect(reader.of('MessagesAppended').every(({ sessionId, depth }) => sessionId === 's' && depth === 0)).toBe(true);
    expectOnce(reader);
  });

  it('62: in the background is told from its entry in the registry to the turn that brings its result', async () => {
    const { test, reader } = await delegating({ goal: 'read it all', background: true });
    const now = Date.now() / 1000;
    await test.commit(
      insert('async_delegations', {
        delegation_id: 'deleg_00000001',
        origin_session: 'k',
        parent_session_id: 's',
        state: 'running',
        dispatched_at: now,
        updated_at: now,
        task_json: JSON.stringify({ goal: 'read it all' }),
      }),
    );
    await test.ui.rows('s', [{ role: 'tool', toolCallId: 'c1', toolName: 'delegate_task', content: 'started' }]);
    await reader.until('DelegationStarted');
    expect(reader.of('DelegationStarted')).toEqual([
      expect.objectContaining({ delegationId: 'deleg_00000001', background: true, toolCallId: 'c1', goal: 'read it all' }),
    ]);
    await finish(test, 'It runs.');
    await reader.until('TurnEnded');
    await child(test, 'd1', 's', 'read it all');
    await reader.when('its session', () => reader.of('DelegationProgress').some(({ childSessionId }) => childSessionId === 'd1'));
    await test.commit([
      "UPDATE async_delegations SET state = 'completed', completed_at = ?, event_json = '{}', result_json = ?",
      Date.now() / 1000,
      JSON.stringify({ status: 'completed', summary: 'All read.' }),
    ]);
    await reader.until('DelegationFinished');
    expect(reader.of('DelegationFinished')[0]).toMatchObject({ delegationId: 'deleg_00000001', status: 'completed', summary: 'All read.' });
    await test.ui.submit({ sessionId: 's', runId: 'r2', text: 'The result', source: 'process_wakeup' });
    await test.ui.journal('s', 'r2', [{ event: 'context_status' }]);
    const [delivered] = await test.ui.rows('s', [
      {
        role: 'user',
        content: 'The result is here.',
        columns: { display_kind: 'async_delegation_complete', display_metadata: JSON.stringify({ delegation_id: 'deleg_00000001' }) },
      },
    ]);
    await reader.when('the delivery', () =>
      reader.of('DelegationProgress').some(({ deliveredMessageId }) => deliveredMessageId === String(delivered)),
    );
    expect(reader.content.filter(({ kind }) => kind === 'TurnStarted').map(({ runId }) => runId)).toEqual(['r', 'r2']);
    expectOnce(reader);
  });

  it('63: of a delegate is one level deeper, and all of it is hidden from who wants none', async () => {
    const { test, reader } = await delegating({ goal: 'find tea' });
    const none = await test.follow('s', null, { delegates: 'NONE' });
    const messages = await test.follow('s', null, { delegates: 'MESSAGES' });
    await child(test, 'd1', 's', 'find tea');
    await test.ui.rows('d1', [{ role: 'assistant', content: null, toolCalls: [call('n1', { goal: 'ask around' })] }]);
    await reader.until('DelegationStarted');
    await child(test, 'e1', 'd1', 'ask around');
    await reader.until('DelegationStarted', 2);
    expect(reader.of('DelegationStarted').map(({ depth, childSessionId, toolCallId }) => [depth, childSessionId, toolCallId])).toEqual([
      [1, 'd1', 'c1'],
      [2, 'e1', 'n1'],
    ]);
    await test.ui.rows('e1', [{ role: 'assistant', content: 'asked' }]);
    await test.ui.rows('d1', [{ role: 'tool', toolCallId: 'n1', toolName: 'delegate_task', content: 'asked' }]);
    await reader.until('DelegationFinished');
    await test.ui.rows('s', [{ role: 'tool', toolCallId: 'c1', toolName: 'delegate_task', content: 'tea' }]);
    await reader.until('DelegationFinished', 2);
    await finish(test, 'Found.');
    for (const each of [reader, none, messages]) await each.until('TurnEnded');
    expect(none.events.filter(({ kind, depth }) => kind.startsWith('Delegation') || depth > 0)).toEqual([]);
    expect(reader.of('MessagesAppended').filter(({ depth }) => depth > 0)).toEqual([]);
    const told = messages.of('MessagesAppended').filter(({ depth }) => depth > 0);
    expect(told.filter(({ sessionId }) => sessionId === 'd1').every(({ depth }) => depth === 1)).toBe(true);
    expect(told.filter(({ sessionId }) => sessionId === 'e1').every(({ depth }) => depth === 2)).toBe(true);
    // The call within the child, and the results there; the goals began before the children were known.
    expect(told.flatMap(({ rows }) => rows.map(({ role }) => role))).toEqual(expect.arrayContaining(['assistant', 'tool']));
    for (const each of [reader, none, messages]) expectOnce(each);
  });

  it('63: is told message by message also to a reader who was away', async () => {
    const { test, reader } = await delegating({ goal: 'find tea' }, { delegates: 'MESSAGES' });
    await child(test, 'd1', 's', 'find tea');
    await reader.until('DelegationStarted');
    await test.ui.rows('d1', [{ role: 'assistant', content: 'looking' }]);
    await reader.when('a row of the child', () => reader.of('MessagesAppended').some(({ rows }) => rows[0]?.text === 'looking'));
    const cursor = await reader.stop();
    await test.ui.rows('d1', [{ role: 'assistant', content: 'found' }]);
    await test.ui.rows('s', [{ role: 'tool', toolCallId: 'c1', toolName: 'delegate_task', content: 'tea' }]);
    await finish(test, 'Found.');
    test.restart();
    const later = await test.follow('s', cursor, { delegates: 'MESSAGES' });
    await later.until('TurnEnded');
    await test.told();
    expect(
      later
        .of('MessagesAppended')
        .filter(({ depth }) => depth === 1)
        .map(({ rows }) => rows[0]?.text),
    ).toEqual(['found']);
    expect(later.of('DelegationFinished')).toHaveLength(1);
    expect(later.of('DelegationStarted')).toEqual([]);
    expectOnce(reader, later);
  });
});
