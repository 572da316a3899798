/** A conversation that goes on in other sessions (`spec/live-turns.md` 11.2, 21 cases 57 to 60). */
import { describe, expect, it } from 'vitest';
import { FollowedTurns, type Reader } from './following.ts';
import { expectOnce, place, textOf } from './telling.ts';

const token = (text: string) => ({ event: 'token', payload: { text } });

async function rotated(options: { followContinuations?: boolean } = {}): Promise<{ test: FollowedTurns; reader: Reader }> {
  const test = await FollowedTurns.begin();
  await test.ui.createSession('s');
  const reader = await test.follow('s', null, options);
  await test.ui.submit({ sessionId: 's', runId: 'r', text: 'hi' });
  await test.ui.journal('s', 'r', [{ event: 'context_status' }]);
  await test.ui.lease('s', 'acquire');
  await test.ui.rows('s', [{ role: 'user', content: 'hi' }]);
  await test.ui.journal('s', 'r', [token('Before. ')]);
  await reader.until('TextDelta');
  await test.ui.rotate('s', 'c', { cloneFrom: 1 });
  await test.ui.journal('s', 'r', [token('After.')]);
  await test.ui.rows('c', [{ role: 'assistant', content: 'Before. After.' }]);
  return { test, reader };
}

async function finish(test: FollowedTurns): Promise<void> {
  await test.ui.lease('s', 'release');
  await test.ui.settle({ sessionId: 's', runId: 'r', childId: 'c' });
  await test.ui.journal('s', 'r', [
    { event: 'compressed', payload: { session_id: 'c', old_session_id: 's', new_session_id: 'c', continuation_session_id: 'c' } },
    { event: 'done', payload: { session: { session_id: 'c' } } },
    { event: 'stream_end', payload: { session_id: 's' } },
  ]);
}

describe('a rotation during a turn', () => {
  it('57: is told before the rows of the child, and the text goes on without a break', async () => {
    const { test, reader } = await rotated();
    await reader.when('the row of the child', () => reader.of('MessagesAppended').some(({ sessionId }) => sessionId === 'c'));
    await reader.when('the text', () => textOf(reader.events)[0] === 'Before. After.');
    const continued = place(reader.events, 'SessionContinued');
    expect(reader.of('SessionContinued')).toEqual([expect.objectContaining({ fromSessionId: 's', toSessionId: 'c' })]);
    expect(continued).toBeLessThan(place(reader.events, 'MessagesAppended', ({ sessionId }) => sessionId === 'c'));
    expect(new Set(reader.of('TextDelta').map(({ runId }) => runId))).toEqual(new Set(['r']));
    // The copy of the user's row is told as one that was carried, the row of the child as new.
    const [event] = reader.of('SessionContinued');
    expect(event?.carried.map(({ oldId }) => oldId)).toEqual(['1']);
    expect(reader.rowIds.filter((id) => event?.carried.some(({ newId }) => Number(newId) === id))).toEqual([]);
    await test.told();
    expect(reader.of('MessagesAppended').at(-1)?.supersedes).toEqual([{ runId: 'r', part: 'TEXT', segment: 0, toolCallId: null }]);
    expectOnce(reader);
  });

  it('58: ends once, by its run, and names the child', async () => {
    const { test, reader } = await rotated();
    await finish(test);
    await reader.until('TurnEnded');
    await test.told('c');
    await test.told('c');
    expect(reader.of('TurnEnded')).toEqual([
      expect.objectContaining({ turnId: 'r', runId: 'r', outcome: 'COMPLETED', certainty: 'CERTAIN', continuationSessionId: 'c' }),
    ]);
    // It belongs to the session in whose journal it stands, so that those who stay there hear of it; the child is named beside.
    const [end] = reader.of('TurnEnded');
    expect(end?.sessionId).toBe('s');
    expect(end?.lastMessageId).toBe(String(reader.rowIds.at(-1)));
    expect(reader.content.filter(({ kind }) => kind === 'TurnStarted')).toHaveLength(1);
    // The next turn runs in the child.
    await test.ui.submit({ sessionId: 'c', runId: 'r2', text: 'more' });
    await test.ui.journal('c', 'r2', [token('More.'), { event: 'done' }]);
    await reader.until('TurnEnded', 2);
    expect(reader.of('TurnEnded').map(({ turnId, sessionId }) => [turnId, sessionId])[1]).toEqual(['r2', 'c']);
    expectOnce(reader);
  });

  it('58: is told with its end to a reader who was away', async () => {
    const { test, reader } = await rotated();
    await reader.until('SessionContinued');
    const cursor = await reader.stop();
    await finish(test);
    test.restart();
    const later = await test.follow('s', cursor);
    await later.until('TurnEnded');
    await test.told('c');
    const events = [...reader.events, ...later.events];
    expect(textOf(events)).toEqual(['Before. After.']);
    expect(later.of('TurnEnded')).toHaveLength(1);
    expect(events.filter(({ kind }) => kind === 'SessionContinued')).toHaveLength(1);
    expect(later.of('StreamReset')).toEqual([]);
    expectOnce(reader, later);
  });

  it('57: is told to a reader who was away before it', async () => {
    const test = await FollowedTurns.begin();
    await test.ui.createSession('s');
    const reader = await test.follow('s');
    await test.ui.submit({ sessionId: 's', runId: 'r', text: 'hi' });
    await test.ui.journal('s', 'r', [{ event: 'context_status' }]);
    await test.ui.rows('s', [{ role: 'user', content: 'hi' }]);
    await test.ui.journal('s', 'r', [token('Before. ')]);
    await reader.until('TextDelta');
    await reader.until('MessagesAppended');
    const cursor = await reader.stop();
    await test.ui.rotate('s', 'c', { cloneFrom: 1 });
    await test.ui.journal('s', 'r', [token('After.')]);
    await test.ui.rows('c', [{ role: 'assistant', content: 'Before. After.' }]);
    test.restart();
    const later = await test.follow('s', cursor);
    await later.when('the text', () => textOf([...reader.events, ...later.events])[0] === 'Before. After.');
    await later.when('the row', () => later.of('MessagesAppended').some(({ sessionId }) => sessionId === 'c'));
    await finish(test);
    await later.until('TurnEnded');
    expect(later.of('SessionContinued')).toHaveLength(1);
    expect(later.of('StreamReset')).toEqual([]);
    expect(place(later.events, 'SessionContinued')).toBeLessThan(
      place(later.events, 'MessagesAppended', ({ sessionId }) => sessionId === 'c'),
    );
    expectOnce(reader, later);
  });

  it('is where those stay behind who asked not to be taken along', async () => {
    const { test, reader } = await rotated({ followContinuations: false });
    await finish(test);
    await reader.until('TurnEnded');
    await test.told('c');
    expect(reader.of('SessionContinued')).toEqual([expect.objectContaining({ fromSessionId: 's', toSessionId: 'c' })]);
    expect(reader.of('MessagesAppended').filter(({ sessionId }) => sessionId === 'c')).toEqual([]);
  });
});

describe('a conversation of several sessions', () => {
  it('59: is followed to its live end from any of them', async () => {
    const test = await FollowedTurns.begin();
    await test.ui.createSession('a', { rows: [{ role: 'user', content: 'one' }] });
    await test.ui.rotate('a', 'b');
    await test.ui.rows('b', [{ role: 'assistant', content: 'two' }]);
    await test.ui.rotate('b', 'c');
    const readers = [await test.follow('a'), await test.follow('b'), await test.follow('c')];
    expect(test.turns.hubs).toHaveLength(1);
    for (const reader of readers) {
      await reader.until('LiveSnapshot');
      expect(reader.snapshot).toMatchObject({ sessionId: 'c', conversationId: 'a', head: { sessionId: 'c' } });
      // What was before the snapshot is in it: no steps are told.
      expect(reader.of('SessionContinued')).toEqual([]);
    }
    const [row] = await test.ui.rows('c', [{ role: 'assistant', content: 'three' }]);
    for (const reader of readers) {
      await reader.until('MessagesAppended');
      expect(reader.rowIds).toEqual([row]);
    }
  });

  it('59: tells each step to a reader who was away for several', async () => {
    const test = await FollowedTurns.begin();
    await test.ui.createSession('a', { rows: [{ role: 'user', content: 'one' }] });
    const reader = await test.follow('a');
    await reader.until('LiveSnapshot');
    const cursor = await reader.stop();
    await test.ui.rotate('a', 'b');
    const [second] = await test.ui.rows('b', [{ role: 'assistant', content: 'two' }]);
    await test.ui.rotate('b', 'c');
    const [third] = await test.ui.rows('c', [{ role: 'assistant', content: 'three' }]);
    test.restart();
    const later = await test.follow('a', cursor);
    await later.when('the last row', () => later.rowIds.includes(third ?? 0));
    expect(later.story.filter((kind) => kind !== 'TurnStarted' && kind !== 'TurnEnded')).toEqual([
      'SessionContinued',
      'MessagesAppended',
      'SessionContinued',
      'MessagesAppended',
    ]);
    expect(later.rowIds).toEqual([second, third]);
    expect(later.of('SessionContinued').map(({ fromSessionId, toSessionId }) => `${fromSessionId}>${toSessionId}`)).toEqual(['a>b', 'b>c']);
    // The cursor of one that was given for any of the sessions holds for all.
    const again = await test.follow('c', later.cursor);
    await test.ui.rows('c', [{ role: 'assistant', content: 'four' }]);
    await again.until('MessagesAppended');
    expectOnce(reader, later);
  });

  it('60: does not go on in a branch', async () => {
    const test = await FollowedTurns.begin();
    await test.ui.createSession('s', { rows: [{ role: 'user', content: 'one' }] });
    const reader = await test.follow('s');
    await reader.until('LiveSnapshot');
    const branched = JSON.stringify({ _branched_from: 's' });
    await test.ui.createSession('b', {
      columns: { parent_session_id: 's', model_config: branched },
      rows: [{ role: 'user', content: 'in the branch' }],
    });
    const [, own] = [null, (await test.ui.rows('s', [{ role: 'assistant', content: 'two' }]))[0]];
    await reader.until('MessagesAppended');
    await test.told();
    expect(reader.rowIds).toEqual([own]);
    expect(reader.of('SessionContinued')).toEqual([]);
    expect(reader.events.filter(({ sessionId }) => sessionId === 'b')).toEqual([]);
    const branch = await test.follow('b');
    await branch.until('LiveSnapshot');
    expect(branch.snapshot).toMatchObject({ sessionId: 'b', conversationId: 'b' });
  });
});
