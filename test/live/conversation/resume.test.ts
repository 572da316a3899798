/** Going on with a cursor (`spec/live-turns.md` 14, 21 cases 20, 64 to 66): nothing is lost and nothing comes twice. */
import { describe, expect, it } from 'vitest';
import { FollowedTurns, type Reader } from './following.ts';
import { expectGapless, expectOnce, place, textOf } from './telling.ts';
import { finish, quiet, running, textOfWords, token, words } from './written-turn.ts';

describe('a reader that was away during a turn', () => {
  it.each([
    ['64: of a server that went on', (_: FollowedTurns) => {}],
    ['65: of a server that was started anew', (test: FollowedTurns) => test.restart()],
  ])('%s gets the rest of the text and one end', async (_, meanwhile) => {
    const { test, reader } = await running(500);
    await test.ui.rows('s', [{ role: 'user', content: 'hi' }]);
    await reader.until('MessagesAppended');
    const cursor = await reader.stop();
    await test.ui.journal('s', 'r', words(500, 1000));
    await finish(test, textOfWords(1000));
    meanwhile(test);
    const later = await test.follow('s', cursor);
    await later.until('TurnEnded');
    await quiet(test);
    expect(later.of('LiveSnapshot')).toEqual([]);
    expect(later.of('StreamReset')).toEqual([]);
    expect(later.of('TextDelta')[0]?.seqFrom).toBe(501);
    expectGapless([...reader.of('TextDelta'), ...later.of('TextDelta')]);
    expect(textOf([...reader.events, ...later.events])).toEqual([textOfWords(1000)]);
    expect(later.of('TurnEnded').map(({ outcome }) => outcome)).toEqual(['COMPLETED']);
    expect(later.of('TurnStarted').filter((event) => event.class === 'CONTENT')).toEqual([]);
    expect([...reader.rowIds, ...later.rowIds]).toEqual([1, 2]);
    expect(later.of('MessagesAppended')[0]?.supersedes).toEqual([{ runId: 'r', part: 'TEXT', segment: 0, toolCallId: null }]);
    expectOnce(reader, later);
  });

  it('65: is told the same by a second server', async () => {
    const { test, reader } = await running(20);
    const cursor = await reader.stop();
    await test.ui.journal('s', 'r', words(20, 40));
    await finish(test, textOfWords(40));
    const first = await test.follow('s', cursor);
    await first.until('TurnEnded');
    await quiet(test);
    const content = first.content.map(({ id, kind }) => `${kind} ${id}`);
    test.restart();
    const second = await test.follow('s', cursor);
    await second.until('TurnEnded');
    await quiet(test);
    expect(second.content.map(({ id, kind }) => `${kind} ${id}`)).toEqual(content);
    expect(textOf([...reader.events, ...second.events])).toEqual(textOf([...reader.events, ...first.events]));
  });

  it('20: gets a line that came late once, in its place', async () => {
    const { test, reader } = await running(2);
    await test.ui.hole('s', 'r');
    await test.ui.journal('s', 'r', words(3, 5));
    await reader.when('what follows the hole', () => reader.of('TextDelta').at(-1)?.seqTo === 5);
    const cursor = await reader.stop();
    await test.ui.journal('s', 'r', [{ ...token('2 '), seq: 3 }]);
    for (const restarts of [false, true]) {
      if (restarts) test.restart();
      const later = await test.follow('s', cursor);
      await later.until('TextDelta');
      await quiet(test);
      expect(later.of('TextDelta')).toEqual([expect.objectContaining({ text: '2 ', late: true, seqFrom: 3, seqTo: 3 })]);
      expect(textOf([...reader.events, ...later.events])).toEqual([textOfWords(5)]);
      expectOnce(reader, later);
      const { cursor: after } = later;
      await later.stop();
      const last = await test.follow('s', after);
      await test.ui.journal('s', 'r', [{ event: 'title', payload: { title: `${restarts}` } }]);
      await last.until('TitleChanged');
      expect(last.of('TextDelta')).toEqual([]);
      await last.stop();
    }
  });

  it('66: gets a frame that was lost again, in other parts perhaps', async () => {
    const { test, reader } = await running(10);
    const { cursor } = reader;
    await test.ui.journal('s', 'r', [...words(10, 20), { event: 'tool', payload: { name: 'terminal', tid: 'c1' } }, ...words(20, 30)]);
    await reader.when('the text', () => textOf(reader.events).join('') === textOfWords(30));
    await reader.stop();
    const lost = reader.frames.slice(reader.frames.findIndex((frame) => frame.cursor === cursor) + 1).flatMap(({ events }) => events);
    const told = reader.events.slice(0, reader.events.length - lost.length);
    for (const restarts of [false, true]) {
      if (restarts) test.restart();
      const later = await test.follow('s', cursor);
      await later.when('the text', () => textOf([...told, ...later.events]).join('') === textOfWords(30));
      await quiet(test);
      expect(textOf([...told, ...later.events])).toEqual(textOf(reader.events));
      const others = (events: Reader['events']) =>
        events.filter((event) => event.class === 'CONTENT' && event.kind !== 'TextDelta').map(({ id }) => id);
      expect(others(later.events)).toEqual(others(lost));
      await later.stop();
    }
  });

  it('goes on exactly with a turn that is still under way, with tools that rows told of', async () => {
    const { test, reader } = await running(5);
    await test.ui.rows('s', [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: textOfWords(5), toolCalls: [{ id: 'c1', name: 'terminal', args: { command: 'ls' } }] },
    ]);
    await reader.until('ToolStarted');
    const cursor = await reader.stop();
    test.restart();
    const later = await test.follow('s', cursor);
    await test.ui.journal('s', 'r', [{ event: 'tool', payload: { name: 'terminal', tid: 'c1' } }]);
    await test.ui.rows('s', [{ role: 'tool', toolCallId: 'c1', toolName: 'terminal', content: 'a b' }]);
    await test.ui.journal('s', 'r', [
      { event: 'tool_complete', payload: { name: 'terminal', tid: 'c1', preview: 'a b', is_error: false } },
      token('Two.'),
    ]);
    await later.when('the answer', () => textOf([...reader.events, ...later.events])[1] === 'Two.');
    await finish(test, 'Two.');
    await later.until('TurnEnded');
    await quiet(test);
    const all = [...reader.events, ...later.events].filter((event) => event.class === 'CONTENT');
    expect(all.filter(({ kind }) => kind === 'ToolStarted')).toHaveLength(1);
    expect(all.filter(({ kind }) => kind === 'ToolFinished')).toHaveLength(1);
    expect(later.of('MessagesAppended').map(({ supersedes }) => supersedes.map(({ part }) => part))).toEqual([['TOOL'], ['TEXT']]);
    expectOnce(reader, later);
  });

  it('is told of a turn that began and ended meanwhile', async () => {
    const test = await FollowedTurns.begin();
    await test.ui.createSession('s');
    const reader = await test.follow('s');
    await reader.until('LiveSnapshot');
    const cursor = await reader.stop();
    const played = await test.ui.play('s', { seed: 3, rounds: 1, words: 5, beatMs: 10 });
    test.restart();
    const later = await test.follow('s', cursor);
    await later.until('TurnEnded');
    await quiet(test);
    expect(later.story[0]).toBe('TurnStarted');
    expect(later.content.filter(({ kind }) => kind === 'TurnStarted')).toHaveLength(1);
    expect(later.of('TurnEnded').map(({ turnId, outcome }) => [turnId, outcome])).toEqual([[played.runId, 'COMPLETED']]);
    expect(textOf(later.events)).toEqual(played.texts.filter((text) => text !== ''));
    expectOnce(reader, later);
  });

  it('is told of two turns that came meanwhile, each with its own rows', async () => {
    const test = await FollowedTurns.begin();
    await test.ui.createSession('s');
    const reader = await test.follow('s');
    await reader.until('LiveSnapshot');
    const cursor = await reader.stop();
    const first = await test.ui.play('s', { seed: 3, rounds: 1, words: 5, beatMs: 10 });
    const second = await test.ui.play('s', { seed: 4, rounds: 1, words: 5, beatMs: 10 });
    test.restart();
    const later = await test.follow('s', cursor);
    await later.until('TurnEnded', 2);
    await quiet(test);
    const started = later.content.filter(({ kind }) => kind === 'TurnStarted');
    expect(started.map(({ runId }) => runId)).toEqual([first.runId, second.runId]);
    expect(later.of('TurnEnded').map(({ turnId }) => turnId)).toEqual([first.runId, second.runId]);
    const secondAt = place(later.events, 'TurnStarted', (event) => event.runId === second.runId);
    const firstEnd = place(later.events, 'TurnEnded');
    expect(firstEnd).toBeLessThan(secondAt);
    const [endOfFirst] = later.of('TurnEnded');
    const between = later.events.slice(0, firstEnd).flatMap((event) => (event.kind === 'MessagesAppended' ? event.ids : []));
    expect(endOfFirst?.lastMessageId).toBe(between.at(-1));
    const rest = later.events.slice(secondAt).flatMap((event) => (event.kind === 'MessagesAppended' ? event.ids : []));
    expect(rest.map(Number)).toEqual(Array.from({ length: rest.length }, (_, index) => between.length + 1 + index));
    expectOnce(reader, later);
  });
});

describe('a reader that was away for long', () => {
  it('is told the rest of a turn that was over long before the server was started anew', async () => {
    const { test, reader } = await running(3);
    const cursor = await reader.stop();
    await test.ui.journal('s', 'r', words(3, 6));
    await finish(test, textOfWords(6));
    await test.ui.play('s', { seed: 5, rounds: 0, words: 3, beatMs: 10 });
    test.ahead = 3600;
    test.restart();
    const later = await test.follow('s', cursor);
    await later.until('TurnEnded', 2);
    await quiet(test);
    expect(later.of('LiveSnapshot')).toEqual([]);
    expect(textOf([...reader.events, ...later.events.filter(({ runId }) => runId === 'r')])).toEqual([textOfWords(6)]);
    expect(later.of('TurnEnded').map(({ outcome, certainty }) => `${outcome} ${certainty}`)).toEqual([
      'COMPLETED CERTAIN',
      'COMPLETED CERTAIN',
    ]);
    expectOnce(reader, later);
    // And once more, from where that was.
    const again = await later.stop();
    test.restart();
    const last = await test.follow('s', again);
    await test.ui.rows('s', [{ role: 'assistant', content: 'later' }]);
    await last.until('MessagesAppended');
    expect(last.of('LiveSnapshot')).toEqual([]);
    expectOnce(reader, later, last);
  });
});
