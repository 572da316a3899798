/** Tools and questions that journal and rows both tell of (`spec/live-turns.md` 13 M9, 21 cases 11 to 13, 41, 42). */
import { describe, expect, it } from 'vitest';
import { FollowedTurns, type Reader } from './following.ts';
import { expectOnce, place, textOf } from './telling.ts';

async function running(options: Parameters<typeof FollowedTurns.begin>[0] = {}): Promise<{ test: FollowedTurns; reader: Reader }> {
  const test = await FollowedTurns.begin(options);
  await test.ui.createSession('s');
  const reader = await test.follow('s');
  await test.ui.submit({ sessionId: 's', runId: 'r', text: 'hi' });
  await test.ui.journal('s', 'r', [{ event: 'context_status' }]);
  await test.ui.rows('s', [{ role: 'user', content: 'hi' }]);
  await reader.until('MessagesAppended');
  return { test, reader };
}

const token = (text: string) => ({ event: 'token', payload: { text } });
const tool = (tid: string | null, name = 'terminal') => ({
  event: 'tool',
  payload: { name, args: { command: 'ls' }, ...(tid ? { tid } : {}) },
});
const complete = (tid: string | null, more: object = {}) => ({
  event: 'tool_complete',
  payload: { name: 'terminal', preview: 'a b', is_error: false, ...(tid ? { tid } : {}), ...more },
});
const calls = (...ids: string[]) => ids.map((id) => ({ id, name: 'terminal', args: { command: 'ls' } }));
const content = <K extends 'ToolStarted' | 'ToolFinished'>(reader: Reader, kind: K) =>
  reader.of(kind).filter((event) => event.class === 'CONTENT');

describe('a tool', () => {
  it('11: that journal and rows tell of starts once and finishes once, a blocked one by its row', async () => {
    const { test, reader } = await running();
    const [calling] = await test.ui.rows('s', [{ role: 'assistant', content: null, toolCalls: calls('a', 'b') }]);
    await test.ui.journal('s', 'r', [tool('a'), tool('b')]);
    const [first] = await test.ui.rows('s', [{ role: 'tool', toolCallId: 'a', toolName: 'terminal', content: 'a b' }]);
    await test.ui.journal('s', 'r', [complete('a')]);
    const [second] = await test.ui.rows('s', [{ role: 'tool', toolCallId: 'b', toolName: 'terminal', content: 'blocked' }]);
    await test.ui.journal('s', 'r', [token('Done.')]);
    await reader.until('TextDelta');
    await reader.until('MessagesAppended', 4);
    await test.told();
    await reader.when('both ends', () => content(reader, 'ToolFinished').length === 2);
    expect(content(reader, 'ToolStarted').map(({ toolCallId }) => toolCallId)).toEqual(['a', 'b']);
    expect(content(reader, 'ToolFinished').map(({ toolCallId }) => toolCallId)).toEqual(['a', 'b']);
    const last = (kind: 'ToolStarted' | 'ToolFinished', id: string) => reader.of(kind).findLast(({ toolCallId }) => toolCallId === id);
    expect(last('ToolStarted', 'a')?.messageId).toBe(String(calling));
    expect(last('ToolStarted', 'b')?.messageId).toBe(String(calling));
    expect(last('ToolFinished', 'a')).toMatchObject({ messageId: String(first), resultPreview: 'a b' });
    expect(last('ToolFinished', 'b')).toMatchObject({ messageId: String(second), resultPreview: 'blocked' });
    expect(
      reader.of('MessagesAppended').map(({ supersedes }) => supersedes.map(({ part, toolCallId }) => `${part} ${toolCallId}`)),
    ).toEqual([[], [], ['TOOL a'], ['TOOL b']]);
    // Every telling of one call has the same id.
    for (const kind of ['ToolStarted', 'ToolFinished'] as const)
      for (const id of ['a', 'b'])
        expect(new Set(reader.of(kind).flatMap((event) => (event.toolCallId === id ? [event.id] : []))).size).toBe(1);
    expectOnce(reader);
  });

  it('11: is told after the row that called it, however late that is noticed (M3)', async () => {
    const { test, reader } = await running();
    for (let round = 0; round < 5; round++) {
      const id = `c${round}`;
      await test.ui.rows('s', [{ role: 'assistant', content: `step ${round}`, toolCalls: calls(id) }]);
      await test.ui.journal('s', 'r', [tool(id)]);
      await test.ui.rows('s', [{ role: 'tool', toolCallId: id, toolName: 'terminal', content: 'a b' }]);
      await test.ui.journal('s', 'r', [complete(id)]);
    }
    await reader.when('all ends', () => content(reader, 'ToolFinished').length === 5);
    const order = reader.content.flatMap((event) => {
      if (event.kind === 'MessagesAppended') return event.rows.map((row) => `row ${row.toolCallId ?? row.calls[0]?.id}`);
      return event.kind === 'ToolStarted' || event.kind === 'ToolFinished' ? [`${event.kind} ${event.toolCallId}`] : [];
    });
    const expected = Array.from({ length: 5 }, (_, index) => [
      `row c${index}`,
      `ToolStarted c${index}`,
      `row c${index}`,
      `ToolFinished c${index}`,
    ]);
    expect(order.slice(1)).toEqual(expected.flat());
    expectOnce(reader);
  });

  it('12: that ends without having begun is told to begin first', async () => {
    const { test, reader } = await running();
    await test.ui.journal('s', 'r', [complete('x', { duration: 1.5 })]);
    await reader.until('ToolFinished');
    await test.ui.rows('s', [{ role: 'tool', toolCallId: 'x', toolName: 'terminal', content: 'a b' }]);
    await reader.until('MessagesAppended', 2);
    await test.told();
    expect(content(reader, 'ToolStarted').map(({ toolCallId }) => toolCallId)).toEqual(['x']);
    expect(content(reader, 'ToolFinished').map(({ toolCallId, durationMs }) => [toolCallId, durationMs])).toEqual([['x', 1500]]);
    expect(place(reader.events, 'ToolStarted')).toBeLessThan(place(reader.events, 'ToolFinished'));
    expectOnce(reader);
  });

  it('13: fails by what its row says; until then nobody knows', async () => {
    const { test, reader } = await running();
    await test.ui.journal('s', 'r', [tool('a'), complete('a')]);
    await reader.until('ToolFinished');
    expect(reader.of('ToolFinished')[0]).toMatchObject({ isError: null, messageId: null, class: 'CONTENT' });
    const [row] = await test.ui.rows('s', [
      { role: 'tool', toolCallId: 'a', toolName: 'terminal', content: '{"success": false, "error": "no such file"}' },
    ]);
    await reader.until('ToolFinished', 2);
    expect(reader.of('ToolFinished')[1]).toMatchObject({ isError: true, messageId: String(row), class: 'STATE' });
    expect(reader.of('ToolFinished')[1]?.id).toBe(reader.of('ToolFinished')[0]?.id);
  });

  it('14: without an id is paired with its row by name and order', async () => {
    const { test, reader } = await running();
    await test.ui.rows('s', [{ role: 'assistant', content: null, toolCalls: calls('a', 'b') }]);
    await test.ui.journal('s', 'r', [tool(null), tool(null)]);
    await test.ui.rows('s', [{ role: 'tool', toolCallId: 'a', toolName: 'terminal', content: 'one' }]);
    await test.ui.rows('s', [{ role: 'tool', toolCallId: 'b', toolName: 'terminal', content: 'two' }]);
    await test.ui.journal('s', 'r', [complete(null, { preview: 'two' }), complete(null, { preview: 'one' }), token('Done.')]);
    await reader.until('TextDelta');
    await reader.until('MessagesAppended', 4);
    await test.told();
    expect(content(reader, 'ToolStarted')).toHaveLength(2);
    expect(content(reader, 'ToolFinished')).toHaveLength(2);
    expect((await test.turns.snapshot(test.store, 's')).snapshot.turn?.tools.map(({ toolCallId, done }) => [toolCallId, done])).toEqual([
      ['a', true],
      ['b', true],
    ]);
    expectOnce(reader);
  });

  it('of a turn that only rows tell of starts and finishes by them', async () => {
    const test = await FollowedTurns.begin();
    await test.ui.createSession('s', { source: 'telegram', sidecar: false });
    const reader = await test.follow('s');
    await test.ui.rows('s', [{ role: 'user', content: 'hi' }]);
    await test.ui.rows('s', [{ role: 'assistant', content: null, toolCalls: calls('a') }]);
    await test.ui.rows('s', [{ role: 'tool', toolCallId: 'a', toolName: 'terminal', content: 'one' }]);
    await reader.until('ToolFinished');
    expect(reader.story).toEqual([
      'TurnStarted',
      'MessagesAppended',
      'MessagesAppended',
      'ToolStarted',
      'MessagesAppended',
      'ToolFinished',
    ]);
    expectOnce(reader);
  });
});

describe('text that rows settle', () => {
  it('is superseded segment by segment', async () => {
    const { test, reader } = await running();
    await test.ui.journal('s', 'r', [{ event: 'reasoning', payload: { text: 'Hm.' } }, token('Let me '), token('look.')]);
    await test.ui.rows('s', [{ role: 'assistant', content: 'Let me look.', reasoning: 'Hm.', toolCalls: calls('a') }]);
    await test.ui.journal('s', 'r', [{ event: 'interim_assistant', payload: { text: 'Let me look.', already_streamed: true } }, tool('a')]);
    await test.ui.rows('s', [{ role: 'tool', toolCallId: 'a', toolName: 'terminal', content: 'x' }]);
    await test.ui.journal('s', 'r', [complete('a'), token('Done.')]);
    await test.ui.rows('s', [{ role: 'assistant', content: 'Done.' }]);
    await test.ui.journal('s', 'r', [{ event: 'done' }]);
    await reader.until('TurnEnded');
    expect(textOf(reader.events)).toEqual(['Let me look.', 'Done.']);
    expect(reader.of('MessagesAppended').map(({ supersedes }) => supersedes.map(({ part, segment }) => `${part} ${segment}`))).toEqual([
      [],
      ['REASONING 0', 'TEXT 0'],
      ['TOOL null'],
      ['TEXT 1'],
    ]);
    // What a row settles was told before it.
    const textAt = reader.events.findLastIndex((event) => event.kind === 'TextDelta' && event.segment === 0);
    expect(textAt).toBeLessThan(
      place(reader.events, 'MessagesAppended', (event) => event.kind === 'MessagesAppended' && event.ids[0] === '2'),
    );
    expectOnce(reader);
  });
});

describe('a question', () => {
  it('41: is told at once, and that it was answered when the turn goes on', async () => {
    const { test, reader } = await running();
    const late = await test.follow('s', null, { coalesceMs: 1000 });
    await late.until('LiveSnapshot');
    await test.ui.journal('s', 'r', [
      tool('a'),
      { event: 'approval', payload: { request_id: 'q1', command: 'rm x', description: 'Remove', pattern_key: 'rm', pending_count: 1 } },
    ]);
    await late.until('ApprovalRequested');
    await reader.until('ApprovalRequested');
    expect(reader.of('ApprovalRequested')[0]).toMatchObject({ approvalId: 'q1', command: 'rm x', patternKeys: ['rm'], pendingCount: 1 });
    const asked = (await test.turns.snapshot(test.store, 's')).snapshot.turn;
    expect(asked).toMatchObject({ phase: 'AWAITING_APPROVAL', interactions: [{ interactionId: 'q1' }] });
    await test.ui.journal('s', 'r', [complete('a')]);
    await reader.until('InteractionClosed');
    expect(reader.of('InteractionClosed')).toEqual([expect.objectContaining({ interactionId: 'q1', how: 'PROGRESS' })]);
    expect((await test.turns.snapshot(test.store, 's')).snapshot.turn?.interactions).toEqual([]);
    expectOnce(reader);
  });

  it('41: was answered when the row of its tool is there', async () => {
    const { test, reader } = await running();
    await test.ui.journal('s', 'r', [{ event: 'clarify', payload: { clarify_id: 'q2', question: 'Which?', choices_offered: ['a', 'b'] } }]);
    await reader.until('ClarifyRequested');
    await test.ui.rows('s', [
      { role: 'assistant', content: null, toolCalls: [{ id: 'k', name: 'clarify' }] },
      { role: 'tool', toolCallId: 'k', toolName: 'clarify', content: 'a' },
    ]);
    await reader.until('InteractionClosed');
    await test.ui.journal('s', 'r', [token('Then a.')]);
    await reader.until('TextDelta');
    expect(reader.of('InteractionClosed').map(({ interactionId, how }) => `${interactionId} ${how}`)).toEqual(['q2 PROGRESS']);
  });

  it('42: runs out', async () => {
    const { test, reader } = await running({ tickMs: 50 });
    const expiresAt = Math.floor(Date.now() / 1000) + 60;
    await test.ui.journal('s', 'r', [{ event: 'clarify', payload: { clarify_id: 'q', question: 'Which?', expires_at: expiresAt } }]);
    await reader.until('ClarifyRequested');
    test.ahead = 50;
    await test.looks();
    expect(reader.of('InteractionClosed')).toEqual([]);
    test.ahead = 62;
    await reader.until('InteractionClosed');
    expect(reader.of('InteractionClosed')).toEqual([expect.objectContaining({ interactionId: 'q', how: 'EXPIRED' })]);
    await test.ui.journal('s', 'r', [token('Never mind.')]);
    await reader.until('TextDelta');
    await test.looks();
    expect(reader.of('InteractionClosed')).toHaveLength(1);
  });
});
