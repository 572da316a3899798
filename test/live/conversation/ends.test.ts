/** How a turn ends by its journal (`spec/live-turns.md` 21, cases 22 and 25 to 32, 77). */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FollowedTurns, type Reader } from './following.ts';
import { expectOnce, place, textOf } from './telling.ts';

async function running(options: Parameters<typeof FollowedTurns.begin>[0] = {}): Promise<{ test: FollowedTurns; reader: Reader }> {
  const test = await FollowedTurns.begin(options);
  await test.ui.createSession('s');
  const reader = await test.follow('s');
  await test.ui.submit({ sessionId: 's', runId: 'r', text: 'hi' });
  await test.ui.journal('s', 'r', [{ event: 'context_status' }, { event: 'token', payload: { text: 'Hello.' } }]);
  await test.ui.rows('s', [{ role: 'user', content: 'hi' }]);
  await reader.until('TextDelta');
  return { test, reader };
}

const outcomes = (reader: Reader) => reader.of('TurnEnded').map(({ outcome, certainty }) => `${outcome} ${certainty}`);

describe('a turn ends', () => {
  it('25: once, although usage and a title follow before the stream is closed', async () => {
    const { test, reader } = await running();
    await test.ui.rows('s', [{ role: 'assistant', content: 'Hello.' }]);
    await test.ui.settle({ sessionId: 's', runId: 'r' });
    await test.ui.journal('s', 'r', [
      { event: 'done', payload: { usage: { output_tokens: 5 } } },
      { event: 'metering', payload: { tps: 40 } },
      { event: 'title', payload: { title: 'Greeting' } },
      { event: 'stream_end' },
    ]);
    await reader.until('TitleChanged');
    await test.told();
    await reader.until('TurnEnded');
    expect(outcomes(reader)).toEqual(['COMPLETED CERTAIN']);
    expect(reader.of('TurnEnded')[0]).toMatchObject({
      turnId: 'r',
      runId: 'r',
      evidence: null,
      corrects: null,
      firstMessageId: '1',
      lastMessageId: '2',
      usage: { outputTokens: 5, final: true },
    });
    expect(place(reader.events, 'TitleChanged')).toBeGreaterThan(place(reader.events, 'TurnEnded'));
    expectOnce(reader);
  });

  it.each([
    ['26: when the stream is closed and nothing else was said', [{ event: 'stream_end' }], 'COMPLETED CERTAIN'],
    [
      '27: at the limit of its tools',
      [{ event: 'done', payload: { terminal_state: 'tool_limit_reached' } }, { event: 'stream_end' }],
      'TOOL_LIMIT CERTAIN',
    ],
  ])('%s', async (_, lines, outcome) => {
    const { test, reader } = await running();
    await test.ui.journal('s', 'r', lines);
    await reader.until('TurnEnded');
    await test.told();
    expect(outcomes(reader)).toEqual([outcome]);
  });

  it('29: by the last word, when both are read at once', async () => {
    const { test, reader } = await running();
    const cursor = await reader.stop();
    await test.ui.journal('s', 'r', [{ event: 'done' }, { event: 'cancel', payload: { type: 'cancelled' } }]);
    test.restart();
    const later = await test.follow('s', cursor);
    await later.until('TurnEnded');
    await test.told();
    expect(outcomes(later)).toEqual(['CANCELLED CERTAIN']);
  });

  it('29: once more when the last word comes later, and says which end it corrects', async () => {
    const { test, reader } = await running();
    await test.ui.journal('s', 'r', [{ event: 'done' }]);
    await reader.until('TurnEnded');
    await test.ui.journal('s', 'r', [{ event: 'cancel', payload: { type: 'cancelled' } }]);
    await reader.until('TurnEnded', 2);
    expect(outcomes(reader)).toEqual(['COMPLETED CERTAIN', 'CANCELLED CERTAIN']);
    expect(reader.of('TurnEnded')[1]?.corrects).toBe(reader.of('TurnEnded')[0]?.id);
  });

  it('28: with the error of its owner', async () => {
    const { test, reader } = await running();
    await test.ui.settle({ sessionId: 's', runId: 'r', error: { type: 'rate_limit', message: 'Slow down' } });
    await test.ui.journal('s', 'r', [{ event: 'apperror', payload: { type: 'rate_limit', message: 'Slow down', label: 'Rate limit' } }]);
    await reader.until('TurnEnded');
    await test.told();
    expect(reader.of('TurnEnded')).toEqual([
      expect.objectContaining({ outcome: 'FAILED', error: expect.objectContaining({ type: 'rate_limit', message: 'Slow down' }) }),
    ]);
  });

  it('30: behind its rows, however late those are noticed', async () => {
    const { test, reader } = await running();
    await test.ui.rows('s', [{ role: 'assistant', content: 'Hello.' }]);
    await test.ui.journal('s', 'r', [{ event: 'done' }, { event: 'stream_end' }], { afterMs: 5 });
    await reader.until('TurnEnded');
    expect(reader.rowIds).toEqual([1, 2]);
    expect(reader.events.findLastIndex(({ kind }) => kind === 'MessagesAppended')).toBeLessThan(place(reader.events, 'TurnEnded'));
  });

  it('31: after the goal was judged, and is finalizing meanwhile', async () => {
    const { test, reader } = await running({ tickMs: 50 });
    await test.ui.rows('s', [{ role: 'assistant', content: 'Hello.' }]);
    await test.ui.settle({ sessionId: 's', runId: 'r' });
    await reader.when('FINALIZING', () => reader.of('TurnPhaseChanged').some(({ phase }) => phase === 'FINALIZING'));
    test.ahead = 6;
    await test.looks();
    expect((await test.turns.snapshot(test.store, 's')).snapshot.turn?.phase).toBe('FINALIZING');
    expect(reader.of('TurnEnded')).toEqual([]);
    await test.ui.journal('s', 'r', [{ event: 'goal', payload: { state: 'idle', message: 'done' } }, { event: 'done' }]);
    await reader.until('TurnEnded');
    await test.looks();
    expect(outcomes(reader)).toEqual(['COMPLETED CERTAIN']);
    expect(place(reader.events, 'GoalChanged')).toBeLessThan(place(reader.events, 'TurnEnded'));
  });

  it('32: once, when the title is found after the stream was closed', async () => {
    const { test, reader } = await running();
    await test.ui.journal('s', 'r', [{ event: 'done' }, { event: 'stream_end' }]);
    await reader.until('TurnEnded');
    await test.ui.journal('s', 'r', [
      { event: 'title_status', payload: { status: 'ok' } },
      { event: 'title', payload: { title: 'New' } },
    ]);
    await reader.when('the title', () => reader.of('TitleChanged').some(({ title }) => title === 'New'));
    await test.told();
    expect(outcomes(reader)).toEqual(['COMPLETED CERTAIN']);
    expect(reader.of('TurnStarted').filter((event) => event.class === 'CONTENT')).toHaveLength(1);
  });

  it('22: with nothing but its own journal: what else lies there is no run', async () => {
    const { test, reader } = await running();
    const directory = join(test.ui.sessions, '_run_journal', 's');
    expect(existsSync(directory)).toBe(true);
    const line = {
      version: 1,
      event_id: 'x:1',
      seq: 1,
      run_id: 'x',
      session_id: 's',
      event: 'done',
      created_at: 1,
      terminal: true,
      payload: {},
    };
    writeFileSync(join(directory, '_terminal_runs.jsonl'), `${JSON.stringify(line)}\n`);
    writeFileSync(join(directory, '_terminal_runs.authority.json'), '{}');
    writeFileSync(join(directory, '.r.lock'), '');
    await test.ui.journal('s', 'r', [{ event: 'token', payload: { text: ' More.' } }]);
    await reader.when('more text', () => textOf(reader.events)[0] === 'Hello. More.');
    await test.told();
    expect(reader.of('TurnStarted').map(({ turnId }) => turnId)).toEqual(expect.arrayContaining(['r']));
    expect(new Set(reader.of('TurnStarted').map(({ turnId }) => turnId))).toEqual(new Set(['r']));
    expect(reader.of('TurnEnded')).toEqual([]);
    expect(test.errors).toEqual([]);
  });

  it('77: of a relay to the gateway, whose turn journal never tells the end', async () => {
    const test = await FollowedTurns.begin({ tickMs: 50 });
    await test.ui.createSession('s');
    const reader = await test.follow('s');
    await test.ui.submit({ sessionId: 's', runId: 'r', text: 'hi', worker: false });
    const args = { command: 'ls' };
    await test.ui.journal('s', 'r', [
      { event: 'token', payload: { text: 'Look.' } },
      { event: 'tool', payload: { name: 'terminal', args, event_type: 'tool.started' } },
      { event: 'approval', payload: { approval_id: 'a1', command: 'ls', tool: 'terminal', choices: ['once'], run_id: 'g' } },
      { event: 'tool_complete', payload: { name: 'terminal', args, preview: 'a b', is_error: false, duration: 0.2 } },
      { event: 'token', payload: { text: 'Two files.' } },
    ]);
    await reader.until('ToolFinished');
    test.ahead = 120;
    await test.looks();
    expect(reader.of('TurnEnded')).toEqual([]);
    expect(reader.of('LivenessChanged')).toEqual([]);
    await test.ui.settle({ sessionId: 's', runId: 'r', relayed: true });
    await test.ui.journal('s', 'r', [{ event: 'done', payload: { usage: { output_tokens: 9 } } }, { event: 'stream_end' }]);
    await reader.until('TurnEnded');
    await test.looks();
    expect(outcomes(reader)).toEqual(['COMPLETED CERTAIN']);
    expect(textOf(reader.events)).toEqual(['Look.', 'Two files.']);
    expect(reader.story.filter((kind) => kind.startsWith('Tool'))).toEqual(['ToolStarted', 'ToolFinished']);
    expect(reader.of('ToolFinished')[0]).toMatchObject({ isError: false, durationMs: 200 });
    expect(reader.of('InteractionClosed')[0]).toMatchObject({ interactionId: 'a1', how: 'PROGRESS' });
    expectOnce(reader);
  });
});
