/** Many who follow one conversation, some of them slowly (`spec/live-turns.md` 15, 16, 21 cases 73, 75, 76). */
import { describe, expect, it } from 'vitest';
import type { LiveFrame } from '../../../src/live/conversation/frame-group.ts';
import { DEFAULT_OPTIONS } from '../../../src/live/conversation/options.ts';
import { FollowedTurns } from './following.ts';
import { expectOnce, textOf } from './telling.ts';

const token = (text: string) => ({ event: 'token', payload: { text } });
const words = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => token(`${from + index} `));
const textOfWords = (to: number) => Array.from({ length: to }, (_, index) => `${index} `).join('');

/** A subscriber who asks for the next frame when the test says so. */
async function pulling(test: FollowedTurns): Promise<{ next: () => Promise<LiveFrame>; frames: LiveFrame[]; stop: () => void }> {
  const abort = new AbortController();
  const source = await test.turns.follow(test.store, 's', null, DEFAULT_OPTIONS, abort.signal);
  const frames: LiveFrame[] = [];
  const next = async () => {
    const { value, done } = await source.next();
    if (done === true) throw new Error('the stream has ended');
    frames.push(value);
    return value;
  };
  return { next, frames, stop: () => abort.abort() };
}

async function running(): Promise<FollowedTurns> {
  const test = await FollowedTurns.begin();
  await test.ui.createSession('s');
  await test.ui.submit({ sessionId: 's', runId: 'r', text: 'hi' });
  await test.ui.journal('s', 'r', [{ event: 'context_status' }]);
  return test;
}

describe('a slow subscriber', () => {
  it('73: gets one joined delta for all that he has missed, and nothing is lost', async () => {
    const test = await running();
    const fast = await test.follow('s');
    const slow = await pulling(test);
    await slow.next();
    for (const to of [200, 400, 600]) {
      await test.ui.journal('s', 'r', words(to - 200, to), { afterMs: 1 });
      await fast.when('the text', () => textOf(fast.events)[0] === textOfWords(to));
      const frame = await slow.next();
      expect(frame.events.filter(({ kind }) => kind === 'TextDelta')).toHaveLength(1);
    }
    while (textOf(slow.frames.flatMap(({ events }) => events))[0] !== textOfWords(600)) await slow.next();
    expect(slow.frames.length).toBeLessThan(8);
    expect(fast.frames.length).toBeGreaterThan(slow.frames.length);
    slow.stop();
  });

  it('73: who holds no frame of his own costs nothing while he waits', async () => {
    const test = await running();
    const fast = await test.follow('s');
    const slow = await pulling(test);
    await slow.next();
    await test.ui.journal('s', 'r', words(0, 5000));
    await fast.when('the text', () => textOf(fast.events)[0] === textOfWords(5000));
    // The one log that all share has the text once.
    expect(test.turns.hubs).toHaveLength(1);
    expect(test.turns.hubs[0]?.log.bytes).toBeLessThan(1024 * 1024);
    slow.stop();
  });

  it('75: two of 5,000 catch up by themselves and join the others again, who do not wait for them', async () => {
    const test = await running();
    const others = await Promise.all(Array.from({ length: 4998 }, () => test.follow('s')));
    const [slow, slower] = [await pulling(test), await pulling(test)];
    await Promise.all([slow.next(), slower.next()]);
    await test.ui.journal('s', 'r', words(0, 100), { afterMs: 2 });
    for (const each of others) await each.when('the text', () => textOf(each.events)[0] === textOfWords(100));
    const [first, ...rest] = others;
    // Equal subscribers get the very same frames.
    for (const each of rest) expect(each.frames.slice(1).at(-1)).toBe(first?.frames.slice(1).at(-1));
    const frame = await slow.next();
    expect(textOf(slow.frames.flatMap(({ events }) => events))[0]).toBe(textOfWords(100));
    expect(others.every(({ frames }) => !frames.includes(frame))).toBe(true);
    await test.ui.journal('s', 'r', [token('end')]);
    const joined = await slow.next();
    await first?.when('the end', () => textOf(first.events)[0]?.endsWith('end') === true);
    expect(first?.frames).toContain(joined);
    // The other one has still asked for nothing, and gets all of it at once.
    await slower.next();
    expect(textOf(slower.frames.flatMap(({ events }) => events))[0]).toBe(`${textOfWords(100)}end`);
    const next = [slow.next(), slower.next()];
    await test.ui.journal('s', 'r', [token('.')]);
    expect(await next[1]).toBe(await next[0]);
    expect(test.turns.hubs[0]?.subscribers).toBe(5000);
    for (const each of [slow, slower]) each.stop();
    for (const each of others) expectOnce(each);
  });

  it('goes on exactly with the cursor of any of his frames', async () => {
    const test = await running();
    const reader = await test.follow('s', null, { coalesceMs: 0 });
    await test.ui.journal('s', 'r', words(0, 30), { afterMs: 3 });
    await test.ui.rows('s', [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: textOfWords(30) },
    ]);
    await test.ui.journal('s', 'r', [{ event: 'done' }]);
    await reader.until('TurnEnded');
    await reader.stop();
    for (const [index, { cursor }] of reader.frames.entries()) {
      expect(cursor.length).toBeLessThanOrEqual(1024);
      const later = await test.follow('s', cursor);
      const before = reader.frames.slice(0, index + 1).flatMap(({ events }) => events);
      if (!before.some(({ kind }) => kind === 'TurnEnded')) await later.until('TurnEnded');
      await test.told();
      const events = [...before, ...later.events];
      expect(textOf(events)).toEqual([textOfWords(30)]);
      expect(events.flatMap((event) => (event.kind === 'MessagesAppended' ? event.ids : []))).toEqual(['1', '2']);
      expect(events.filter(({ kind }) => kind === 'TurnEnded')).toHaveLength(1);
      await later.stop();
    }
  });
});

describe('the last subscriber', () => {
  it('76: leaves, and after a while nothing is watched any more; the next one begins with what is there then', async () => {
    const test = await FollowedTurns.begin({ lingerMs: 100, tickMs: 50 });
    await test.ui.createSession('s', { rows: [{ role: 'user', content: 'a' }] });
    const reader = await test.follow('s');
    await reader.until('LiveSnapshot');
    expect(test.turns.hubs).toHaveLength(1);
    expect(test.turns.watches).toBeGreaterThan(0);
    const cursor = await reader.stop();
    await expect.poll(() => test.turns.hubs.length).toBe(0);
    expect(test.turns.watches).toBe(0);
    await test.ui.rows('s', [{ role: 'assistant', content: 'b' }]);
    const next = await test.follow('s');
    await next.until('LiveSnapshot');
    expect(next.snapshot.head).toMatchObject({ maxMessageId: '2', activeCount: 2 });
    expect(next.content).toEqual([]);
    const later = await test.follow('s', cursor);
    await later.until('MessagesAppended');
    expect(later.rowIds).toEqual([2]);
  });

  it('76: who comes back in time finds the same hub', async () => {
    const test = await FollowedTurns.begin({ lingerMs: 60_000, tickMs: 50 });
    await test.ui.createSession('s');
    const reader = await test.follow('s');
    await reader.until('LiveSnapshot');
    const [hub] = test.turns.hubs;
    await reader.stop();
    await test.looks(2);
    await test.follow('s');
    expect(test.turns.hubs).toEqual([hub]);
  });
});
