/** Questions, todos, usage and the other things that a turn tells. */
import { describe, expect, it } from 'vitest';
import { closeInteractions } from '../../../src/live/journal/fold-interactions.ts';
import { joinEvents } from '../../../src/live/journal/join-events.ts';
import { entry, fold, kinds, of, phases, reasoning, token, tool, toolComplete } from './folded.ts';

const approval = (payload: Record<string, unknown> = {}) =>
  entry('approval', {
    command: 'rm -rf x',
    description: 'Delete x',
    pattern_keys: ['rm'],
    allow_permanent: true,
    pending_count: 1,
    ...payload,
  });
const clarify = (payload: Record<string, unknown> = {}) =>
  entry('clarify', { question: 'Which?', choices_offered: ['a', 'b'], clarify_id: 'c1', expires_at: 1_782_000_100, ...payload });

describe('questions', () => {
  it('41: an approval is told, and the next result of a tool closes it as answered', () => {
    const { state, events } = fold(
      tool('terminal', '1'),
      approval({ approval_id: 'a1', choices: ['once', 'deny'] }),
      toolComplete('terminal', '1'),
    );
    expect(of(events, 'ApprovalRequested')).toMatchObject([
      {
        approvalId: 'a1',
        command: 'rm -rf x',
        description: 'Delete x',
        patternKeys: ['rm'],
        choices: ['once', 'deny'],
        allowPermanent: true,
        allowSession: null,
        pendingCount: 1,
      },
    ]);
    expect(of(events, 'InteractionClosed')).toMatchObject([{ interactionId: 'a1', how: 'PROGRESS', origin: 'DERIVED' }]);
    expect(phases(events)).toEqual(['TOOL terminal', 'AWAITING_APPROVAL', 'THINKING']);
    expect(state.interactions).toEqual([]);
  });

  it('41: another call that starts does not answer it, what the model says does', () => {
    expect(fold(approval(), tool('other', '2')).state).toMatchObject({
      phase: 'AWAITING_APPROVAL',
      interactions: [{ interactionId: 'approval-1' }],
    });
    expect(of(fold(approval(), reasoning('on')).events, 'InteractionClosed')).toHaveLength(1);
    expect(of(fold(approval(), approval(), token('on')).events, 'InteractionClosed')).toHaveLength(2);
  });

  it('41: of several that wait, a result answers its own or the first', () => {
    const two = [approval({ approval_id: 'a1', tool: 'x' }), approval({ approval_id: 'a2', tool: 'y' })];
    expect(of(fold(...two, toolComplete('y', '9')).events, 'InteractionClosed').map(({ interactionId }) => interactionId)).toEqual(['a2']);
    expect(of(fold(...two, toolComplete('z', '9')).events, 'InteractionClosed').map(({ interactionId }) => interactionId)).toEqual(['a1']);
  });

  it('42: a clarification closes as expired when its time has passed, by the clock or by the next record', () => {
    const asked = fold(clarify());
    expect(of(asked.events, 'ClarifyRequested')).toMatchObject([
      { clarifyId: 'c1', question: 'Which?', choices: ['a', 'b'], expiresAt: 1_782_000_100 },
    ]);
    expect(phases(asked.events)).toEqual(['AWAITING_CLARIFY']);
    expect(closeInteractions(asked.state, { now: 1_782_000_099 })).toEqual({ state: asked.state, events: [] });
    const expired = closeInteractions(asked.state, { now: 1_782_000_100 });
    expect(expired.events).toMatchObject([{ kind: 'InteractionClosed', interactionId: 'c1', how: 'EXPIRED', at: 1_782_000_100 }]);
    expect(expired.state.interactions).toEqual([]);
    const replayed = fold(clarify(), token('on', { createdAt: 1_782_000_101 }));
    expect(of(replayed.events, 'InteractionClosed')).toMatchObject([{ how: 'EXPIRED', id: expired.events[0]?.id }]);
    expect(of(fold(clarify(), token('on', { createdAt: 1_782_000_050 })).events, 'InteractionClosed')).toMatchObject([{ how: 'PROGRESS' }]);
  });

  it('another source may see the answer first, with the same id', () => {
    const { state } = fold(approval({ approval_id: 'a1' }));
    const closed = closeInteractions(state, { answered: 'a1' });
    expect(closed.events).toMatchObject([{ interactionId: 'a1', how: 'PROGRESS' }]);
    expect(closed.events[0]?.id).toBe(of(fold(approval({ approval_id: 'a1' }), token('x')).events, 'InteractionClosed')[0]?.id);
    expect(closeInteractions(closed.state, { answered: 'a1' }).events).toEqual([]);
  });

  it('the end closes what is open', () => {
    const { events } = fold(approval(), clarify(), entry('cancel'));
    expect(of(events, 'InteractionClosed').map(({ how }) => how)).toEqual(['TURN_ENDED', 'TURN_ENDED']);
    expect(kinds(events).at(-1)).toBe('TurnEnded');
  });

  it('the gateway’s private keys don’t come through', () => {
    expect(JSON.stringify(fold(approval({ _private: 'hidden', args: { _x: 'hidden' } })).events)).not.toContain('hidden');
  });
});

describe('state', () => {
  it('todos are whole lists, and an older one is left alone', () => {
    const list = (ts: number, content: string) =>
      entry('todo_state', { ts, todos: [{ id: 1, content, status: 'pending' }, 'x'], version: 2, summary: { total: 1 } });
    const { state, events } = fold(list(10, 'a'), list(9, 'old'), list(11, 'b'));
    expect(state.todos).toMatchObject({ todos: [{ id: '1', content: 'b', status: 'pending' }], version: 2, ts: 11 });
    expect(of(events, 'TodoChanged').map(({ todos }) => todos[0]?.content)).toEqual(['a', 'b']);
  });

  it('usage: the latest counts, what a line leaves out stays, and done settles it', () => {
    const { state, events } = fold(
      entry('metering', { tps: 10, ttft_ms: 300, usage: { input_tokens: 1, context_length: 1000, cache_hit_percent: 5 } }),
      entry('metering', { tps: null, usage: { output_tokens: 2 } }),
      entry('done', { usage: { input_tokens: 3, duration_seconds: 2.5, used_model: 'm', turn_cache_hit_percent: 7 } }),
    );
    expect(state.usage).toMatchObject({
      inputTokens: 3,
      outputTokens: 2,
      contextLength: 1000,
      cacheHitPercent: 7,
      tokensPerSecond: 10,
      timeToFirstTokenMs: 300,
      durationSeconds: 2.5,
      model: 'm',
      final: true,
    });
    expect(of(events, 'UsageChanged').map(({ usage }) => usage.final)).toEqual([false, false, true]);
    expect(of(joinEvents(events), 'UsageChanged')).toHaveLength(1);
  });

  it('20: what comes late replaces nothing that is newer', () => {
    const metering = (tps: number, seq: number) => entry('metering', { tps }, { seq });
    const { state, events } = fold(metering(1, 1), metering(3, 3), metering(2, 2));
    expect(state.usage?.tokensPerSecond).toBe(3);
    expect(of(events, 'UsageChanged')).toHaveLength(2);
    expect(fold(entry('title', { title: 'new' }, { seq: 2 }), entry('title', { title: 'old' }, { seq: 1 })).state.title).toBe('new');
    expect(
      fold(entry('todo_state', { version: 2 }, { seq: 2 }), entry('todo_state', { version: 1 }, { seq: 1 })).state.todos?.version,
    ).toBe(2);
  });

  it('compression, goal, steering, saved state, warning and context come through', () => {
    const { state, events } = fold(
      entry('context_status', { prefill: { status: 'ok' } }),
      entry('compressing', { message: 'wait' }),
      token('x'),
      entry('state_saved', { kind: 'memory', action: 'add', name: 'n' }),
      entry('warning', { type: 'fallback', message: 'w' }),
      entry('pending_steer_leftover', { text: 'left' }),
      entry('goal', { state: 'evaluating', message: 'm', message_key: 'k', message_args: { a: 1 } }),
      entry('goal_continue', { continuation_prompt: 'p', text: 't' }),
    );
    expect(kinds(events)).toEqual([
      'ContextStatus',
      'CompressionStarted',
      'TextDelta',
      'StateSaved',
      'RunWarning',
      'SteerLeftover',
      'GoalChanged',
      'GoalContinuation',
    ]);
    expect(phases(events)).toEqual(['COMPRESSING', 'WRITING', 'FINALIZING']);
    expect(of(events, 'StateSaved')).toMatchObject([{ what: 'memory', action: 'add', name: 'n' }]);
    expect(of(events, 'GoalContinuation')).toMatchObject([{ class: 'CONTENT', continuationPrompt: 'p', text: 't' }]);
    expect(state.phase).toBe('FINALIZING');
  });

  it('of one state only the latest is told in a frame, but each warning and each saved thing for itself', () => {
    const warning = (type: string, message: string) => entry('warning', { type, message });
    const saved = (name: string) => entry('state_saved', { kind: 'skill', action: 'add', name });
    const joined = joinEvents(fold(warning('a', '1'), warning('b', '2'), warning('a', '3'), saved('x'), saved('y'), saved('x')).events);
    expect(of(joined, 'RunWarning').map(({ message }) => message)).toEqual(['2', '3']);
    expect(of(joined, 'StateSaved').map(({ name }) => name)).toEqual(['y', 'x']);
  });
});

describe('21: an unknown event', () => {
  it('passes through with its payload', () => {
    const { events } = fold(entry('brand_new', { a: [1], _private: 'hidden' }));
    expect(events).toMatchObject([{ kind: 'UnknownRunEvent', class: 'CONTENT', name: 'brand_new', payload: { a: [1] }, truncated: false }]);
  });

  it('loses a payload over 8 KiB', () => {
    const { events } = fold(entry('brand_new', { a: Array.from({ length: 20 }, () => 'x'.repeat(1000)) }));
    expect(events).toMatchObject([{ payload: null, truncated: true }]);
  });

  it('stands for a text that was too long to be read', () => {
    const { state, events } = fold(token('a'), token('x'.repeat(300_000)), token('b'));
    expect(kinds(events)).toEqual(['TextDelta', 'UnknownRunEvent', 'TextDelta']);
    expect(of(events, 'UnknownRunEvent')).toMatchObject([{ name: 'token', payload: null, truncated: true }]);
    expect(state.segments).toMatchObject([{ text: 'ab' }]);
  });
});

it('77: a turn that the gateway ran has text, tools, questions and its end', () => {
  const { state, events } = fold(
    entry('tool', { event_type: 'tool.started', name: 'terminal', args: { command: 'ls' }, tid: 'g1' }),
    entry('approval', {
      approval_id: 'a1',
      run_id: 'gateway-run',
      tool: 'terminal',
      risk_level: 'high',
      choices: ['once'],
      _sig: 'hidden',
    }),
    entry('tool_complete', { name: 'terminal', preview: 'a.txt', tid: 'g1', is_error: true, duration: 1.5 }),
    token('One '),
    token('file.'),
    entry('done', { session: { session_id: 's' }, usage: { input_tokens: 1 } }),
    entry('stream_end', { session_id: 's' }),
  );
  expect(kinds(events)).toEqual([
    'ToolStarted',
    'ApprovalRequested',
    'InteractionClosed',
    'ToolFinished',
    'TextDelta',
    'TextDelta',
    'SegmentSealed',
    'UsageChanged',
    'TurnEnded',
  ]);
  expect(state).toMatchObject({
    segments: [{ text: 'One file.', sealed: true }],
    tools: [{ toolCallId: 'g1', done: true, isError: true, durationMs: 1500 }],
    end: { outcome: 'COMPLETED' },
    interactions: [],
  });
});
