/** How turns begin and how text comes (`spec/live-turns.md` 21, cases 1 to 7). */
import { describe, expect, it } from 'vitest';
import { FollowedTurns } from './following.ts';
import { expectGapless, expectOnce, place, textOf } from './telling.ts';

const tokens = (count: number, word = 'w') =>
  Array.from({ length: count }, (_, index) => ({ event: 'token', payload: { text: `${word}${index} ` } }));

describe('a turn begins', () => {
  it('1: with the sidecar, once, while no journal comes for seconds', async () => {
    const test = await FollowedTurns.begin({ tickMs: 50 });
    await test.ui.createSession('s');
    const reader = await test.follow('s');
    await test.ui.submit({ sessionId: 's', runId: 'r', text: 'Tea?' });
    await reader.until('TurnStarted');
    test.ahead = 8;
    await test.looks();
    // Whether a worker of the Web UI or its relay to the gateway executes the run can't be told at that time: WEBUI stands for both.
    expect(reader.of('TurnStarted')).toEqual([
      expect.objectContaining({
        turnId: 'r',
        executor: 'WEBUI',
        pendingText: 'Tea?',
        source: 'webui',
        class: 'CONTENT',
        origin: 'SIDECAR',
      }),
    ]);
    const { turn } = (await test.turns.snapshot(test.store, 's')).snapshot;
    expect(turn).toMatchObject({ turnId: 'r', phase: 'STARTING', userText: 'Tea?', liveness: 'ALIVE' });
    expect(reader.of('TurnEnded')).toEqual([]);
    expect(test.errors).toEqual([]);
  });

  it('2: once, when the intent is recorded before the sidecar', async () => {
    const test = await FollowedTurns.begin({ tickMs: 50 });
    await test.ui.createSession('s');
    const reader = await test.follow('s');
    await test.ui.submit({ sessionId: 's', runId: 'r', text: 'Again', order: 'TURN_JOURNAL_FIRST' });
    await test.ui.rows('s', [{ role: 'user', content: 'Again' }]);
    await reader.until('MessagesAppended');
    expect(reader.story).toEqual(['TurnStarted', 'MessagesAppended']);
    // The row of the user is told as an update of the same fact.
    await reader.when('the row of the user', () => reader.of('TurnStarted').some(({ userMessageId }) => userMessageId === '1'));
    expect(new Set(reader.of('TurnStarted').map(({ id }) => id)).size).toBe(1);
  });

  it('3: with the lease of its platform, before its rows', async () => {
    const test = await FollowedTurns.begin();
    await test.ui.createSession('s', { source: 'telegram', sidecar: false });
    const reader = await test.follow('s');
    await test.ui.lease('s', 'acquire', 'telegram');
    await reader.until('TurnStarted');
    await test.ui.rows('s', [{ role: 'user', content: 'hi' }]);
    await reader.until('MessagesAppended');
    expect(reader.story).toEqual(['TurnStarted', 'MessagesAppended']);
    expect(reader.of('TurnStarted')[0]).toMatchObject({ executor: 'OTHER', platform: 'telegram', runId: null });
    await test.ui.rows('s', [{ role: 'assistant', content: 'hello' }]);
    await test.ui.lease('s', 'release');
    await reader.until('TurnEnded');
    expect(reader.of('TurnEnded')).toEqual([
      expect.objectContaining({ outcome: 'COMPLETED', certainty: 'HIGH', firstMessageId: '1', lastMessageId: '2' }),
    ]);
  });

  it('4: with the row, in a session that comes with it', async () => {
    const test = await FollowedTurns.begin();
    const reader = await test.follow('s');
    expect((await test.turns.snapshot(test.store, 's')).snapshot.head).toBe(null);
    await test.ui.createSession('s', { source: 'telegram', sidecar: false, rows: [{ role: 'user', content: 'hi' }] });
    await reader.until('MessagesAppended');
    expect(reader.story).toEqual(['TurnStarted', 'MessagesAppended']);
    expect(reader.of('TurnStarted')[0]).toMatchObject({ executor: 'OTHER', userMessageId: '1' });
  });

  it('once, although rows and lease of it come before its sidecar is seen', async () => {
    const test = await FollowedTurns.begin();
    await test.ui.createSession('s');
    const reader = await test.follow('s');
    await test.ui.lease('s', 'acquire');
    await test.ui.rows('s', [{ role: 'user', content: 'hi' }]);
    await reader.until('MessagesAppended');
    await test.ui.submit({ sessionId: 's', runId: 'r', text: 'hi' });
    await test.ui.journal('s', 'r', tokens(3));
    await reader.until('TextDelta');
    await test.ui.rows('s', [{ role: 'assistant', content: textOf(reader.events)[0] ?? '' }]);
    await test.ui.lease('s', 'release');
    await test.ui.settle({ sessionId: 's', runId: 'r' });
    await test.ui.journal('s', 'r', [{ event: 'done' }, { event: 'stream_end' }]);
    await reader.until('TurnEnded');
    await test.told();
    expect(reader.content.filter(({ kind }) => kind === 'TurnStarted')).toHaveLength(1);
    expect(new Set(reader.of('TurnStarted').map(({ id }) => id)).size).toBe(1);
    expect(reader.of('TurnEnded').map(({ turnId, outcome }) => [turnId, outcome])).toEqual([['r', 'COMPLETED']]);
    expectOnce(reader);
  });

  it('that is under way when following begins is in the snapshot', async () => {
    const test = await FollowedTurns.begin();
    await test.ui.createSession('s');
    await test.ui.submit({ sessionId: 's', runId: 'r', text: 'hi' });
    await test.ui.rows('s', [{ role: 'user', content: 'hi' }]);
    await test.ui.journal('s', 'r', [{ event: 'reasoning', payload: { text: 'hm' } }, ...tokens(2)]);
    const reader = await test.follow('s');
    await reader.until('LiveSnapshot');
    expect(reader.snapshot.turn).toMatchObject({ runId: 'r', userText: 'hi', userMessageId: '1', segments: [{ text: 'w0 w1 ' }] });
    expect(reader.content).toEqual([]);
    await test.ui.journal('s', 'r', tokens(1, 'x'));
    await reader.until('TextDelta');
    expect(textOf(reader.events)).toEqual(['w0 w1 x0 ']);
    expect(reader.story).toEqual(['TextDelta']);
  });
});

describe('text', () => {
  it('5: of a hundred lines comes joined, without a gap', async () => {
    const test = await FollowedTurns.begin();
    await test.ui.createSession('s');
    const reader = await test.follow('s', null, { coalesceMs: 100 });
    await test.ui.submit({ sessionId: 's', runId: 'r', text: 'hi' });
    await reader.until('TurnStarted');
    const told = tokens(100);
    const begun = performance.now();
    await test.ui.journal('s', 'r', told, { afterMs: 2 });
    await reader.when('the last word', () => reader.of('TextDelta').at(-1)?.seqTo === 100);
    const took = performance.now() - begun;
    const frames = reader.frames.filter(({ events }) => events.some(({ kind }) => kind === 'TextDelta'));
    // One at once, then one for each window.
    expect(frames.length).toBeLessThanOrEqual(2 + took / 100);
    expect(textOf(reader.events)).toEqual([told.map(({ payload }) => payload.text).join('')]);
    expectGapless(reader.of('TextDelta'));
    expectOnce(reader);
  });

  it('6: comes with each line when nothing is joined', async () => {
    const test = await FollowedTurns.begin();
    await test.ui.createSession('s');
    const reader = await test.follow('s', null, { coalesceMs: 0 });
    await test.ui.submit({ sessionId: 's', runId: 'r', text: 'hi' });
    await reader.until('TurnStarted');
    for (let count = 1; count <= 10; count++) {
      await test.ui.journal('s', 'r', tokens(1, `n${count}-`));
      await reader.until('TextDelta', count);
    }
    const frames = reader.frames.filter(({ events }) => events.some(({ kind }) => kind === 'TextDelta'));
    expect(frames).toHaveLength(10);
    expect(reader.of('TextDelta').map(({ seqFrom, seqTo }) => [seqFrom, seqTo])).toEqual(
      Array.from({ length: 10 }, (_, index) => [index + 1, index + 1]),
    );
  });

  it('7: follows the thought before it', async () => {
    const test = await FollowedTurns.begin();
    await test.ui.createSession('s');
    const reader = await test.follow('s');
    await test.ui.submit({ sessionId: 's', runId: 'r', text: 'hi' });
    await reader.until('TurnStarted');
    const thoughts = ['one ', 'two ', 'three'].map((text) => ({ event: 'reasoning', payload: { text } }));
    await test.ui.journal('s', 'r', [...thoughts, ...tokens(2)]);
    await reader.when('all of the text', () => textOf(reader.events)[0] === 'w0 w1 ');
    expect(textOf(reader.events, 'ReasoningDelta')).toEqual(['one two three']);
    const last = reader.events.findLastIndex(({ kind }) => kind === 'ReasoningDelta');
    expect(last).toBeLessThan(place(reader.events, 'TextDelta'));
  });
});
