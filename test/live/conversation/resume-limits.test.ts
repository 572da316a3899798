/** Cursors that nobody can simply go on from (`spec/live-turns.md` 14, 21 cases 67 to 72). */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FollowedTurns } from './following.ts';
import { expectOnce, place } from './telling.ts';
import { finish, quiet, running, textOfWords, token } from './written-turn.ts';

describe('a transcript that changed while the reader was away', () => {
  it.each([
    ['a server that went on', false],
    ['a server that was started anew', true],
  ] as const)('67: and was rewritten is reset, by %s', async (_, restarts) => {
    const test = await FollowedTurns.begin({ lingerMs: 0, tickMs: 50 });
    await test.ui.createSession('s', {
      rows: [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: 'b' },
      ],
    });
    const reader = await test.follow('s');
    await reader.until('LiveSnapshot');
    const cursor = await reader.stop();
    await expect.poll(() => test.turns.hubs.length).toBe(0);
    await test.ui.rewind('s', 2);
    await test.ui.rows(
      's',
      Array.from({ length: 4 }, (_, index) => ({ role: 'assistant' as const, content: `${index}` })),
    );
    if (restarts) test.restart();
    const later = await test.follow('s', cursor);
    await later.until('LiveSnapshot');
    await quiet(test);
    expect(later.frames[0]?.events.map(({ kind }) => kind)).toEqual(['StreamReset', 'LiveSnapshot']);
    expect(later.of('StreamReset')[0]).toMatchObject({ reason: 'TRANSCRIPT_REWRITTEN_OFFLINE', scope: 'TRANSCRIPT' });
    expect(later.snapshot.head).toMatchObject({ maxMessageId: '6', activeCount: 5 });
    expect(later.content).toEqual([]);
    await test.ui.rows('s', [{ role: 'assistant', content: 'next' }]);
    await later.until('MessagesAppended');
    expect(later.rowIds).toEqual([7]);
  });

  it('68: and only grew is told by its new rows', async () => {
    const test = await FollowedTurns.begin();
    await test.ui.createSession('s', { rows: [{ role: 'user', content: 'a' }] });
    const reader = await test.follow('s');
    await reader.until('LiveSnapshot');
    const cursor = await reader.stop();
    await test.ui.rows(
      's',
      Array.from({ length: 4 }, (_, index) => ({ role: 'assistant' as const, content: `${index}` })),
    );
    test.restart();
    const later = await test.follow('s', cursor);
    await later.until('MessagesAppended', 4);
    await quiet(test);
    expect(later.rowIds).toEqual([2, 3, 4, 5]);
    expect(later.of('StreamReset')).toEqual([]);
    expectOnce(reader, later);
  });
});

describe('a journal that was swept away while the reader was away', () => {
  const sweep = (test: FollowedTurns) => rmSync(join(test.ui.sessions, '_run_journal', 's', 'r.jsonl'));

  it('69: is no loss when the end was told', async () => {
    const { test, reader } = await running(3);
    await finish(test, textOfWords(3));
    await reader.until('TurnEnded');
    await reader.until('MessagesAppended');
    await quiet(test);
    const cursor = await reader.stop();
    sweep(test);
    test.restart();
    const later = await test.follow('s', cursor);
    await test.ui.rows('s', [{ role: 'user', content: 'more' }]);
    await later.until('MessagesAppended');
    await quiet(test);
    expect(later.of('StreamReset')).toEqual([]);
    expect(later.of('TurnEnded')).toEqual([]);
    expectOnce(reader, later);
  });

  it('69: ends nothing anew', async () => {
    const { test, reader } = await running(3);
    await finish(test, textOfWords(3));
    await reader.until('TurnEnded');
    sweep(test);
    test.ahead = 90;
    await test.looks(2);
    expect(reader.of('TurnEnded')).toHaveLength(1);
    expect(reader.of('StreamReset')).toEqual([]);
  });

  it('70: is told when the end was not, and the end follows from what else is there', async () => {
    const { test, reader } = await running(3);
    const cursor = await reader.stop();
    await finish(test, textOfWords(3));
    sweep(test);
    test.restart();
    const later = await test.follow('s', cursor);
    await later.until('StreamReset');
    expect(later.of('StreamReset')[0]).toMatchObject({ reason: 'RUN_GONE', scope: 'RUN' });
    const reset = place(later.events, 'StreamReset');
    expect(later.events[reset + 1]?.kind).toBe('LiveSnapshot');
    test.ahead = 90;
    await later.until('TurnEnded');
    await quiet(test);
    expect(later.of('TurnEnded')).toEqual([expect.objectContaining({ turnId: 'r', outcome: 'COMPLETED', certainty: 'HIGH' })]);
    expect(later.rowIds).toEqual([1]);
  });
});

describe('a cursor', () => {
  it('71: that is damaged, of another conversation or profile is refused', async () => {
    const test = await FollowedTurns.begin();
    await test.ui.createSession('s');
    await test.ui.createSession('other');
    const reader = await test.follow('s');
    await reader.until('LiveSnapshot');
    const cursor = await reader.stop();
    const damaged = `${cursor.slice(0, 40)}${cursor[40] === 'A' ? 'B' : 'A'}${cursor.slice(41)}`;
    await expect(test.follow('s', damaged)).rejects.toMatchObject({ code: 'CURSOR_INVALID' });
    await expect(test.follow('s', 'nonsense')).rejects.toMatchObject({ code: 'CURSOR_INVALID' });
    await expect(test.follow('other', cursor)).rejects.toMatchObject({ code: 'CURSOR_FOREIGN' });
    const elsewhere = await FollowedTurns.begin({ profile: 'work' });
    await elsewhere.ui.createSession('s');
    await expect(elsewhere.follow('s', cursor)).rejects.toMatchObject({ code: 'CURSOR_FOREIGN' });
  });

  it('72: at the beginning of a very long run is answered by a snapshot', async () => {
    const { test, reader } = await running(10);
    const { cursor } = reader;
    await reader.stop();
    const thoughts = Array.from({ length: 30 }, (_, index) => ({ event: 'reasoning', payload: { text: `${index} `.repeat(2000) } }));
    const lines = Array.from({ length: 39_000 }, (_, index) =>
      index % 10 === 0
        ? { event: 'metering', payload: { tps: 40, usage: { output_tokens: index } } }
        : token('word after word after word after word after word '),
    );
    await test.ui.journal('s', 'r', [...lines, ...thoughts]);
    test.restart();
    const later = await test.follow('s', cursor);
    await later.until('LiveSnapshot');
    const [frame] = later.frames;
    expect(later.of('LiveSnapshot')[0]?.reason).toBe('CATCH_UP');
    expect(JSON.stringify(frame?.events).length).toBeLessThanOrEqual(1024 * 1024);
    const turn = later.snapshot.turn;
    const length = lines.reduce((sum, { payload }) => sum + ('text' in payload ? (payload.text?.length ?? 0) : 0), 0);
    const segment = turn?.segments[0];
    expect((segment?.offset ?? 0) + (segment?.text.length ?? 0)).toBe(textOfWords(10).length + length);
    expect(later.snapshot.hasEarlier).toBe(true);
    const whole = (await test.turns.snapshot(test.store, 's')).snapshot.turn?.segments[0]?.text ?? '';
    expect(whole).toHaveLength(textOfWords(10).length + length);
    expect(whole.endsWith(segment?.text ?? 'x')).toBe(true);
    await test.ui.journal('s', 'r', [token('Last.')]);
    await later.when('the last word', () => later.of('TextDelta').some(({ text }) => text.endsWith('Last.')));
  });
});
