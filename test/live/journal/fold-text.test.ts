/** Text and reasoning of a turn from its journal. */
import { describe, expect, it } from 'vitest';
import { joinEvents } from '../../../src/live/journal/join-events.ts';
import type { JournalEntry } from '../../support/journal-lines.ts';
import { entry, fold, interim, kinds, of, phases, reasoning, token, tool } from './folded.ts';

const texts = (...entries: readonly JournalEntry[]) =>
  fold(...entries).state.segments.map(({ text, sealed }) => (sealed ? `${text}|` : text));

describe('text', () => {
  it('5: a hundred tokens join to few deltas without a gap', () => {
    const words = Array.from({ length: 100 }, (_, index) => `w${index} `);
    const { events } = fold(...words.map((word) => token(word)));
    const frames = [0, 1, 2, 3].map((frame) => joinEvents(events.slice(frame * 26, (frame + 1) * 26)));
    const deltas = frames.flatMap((frame) => of(frame, 'TextDelta'));
    expect(deltas).toHaveLength(4);
    expect(deltas.map(({ text }) => text).join('')).toBe(words.join(''));
    let next = 1;
    let offset = 0;
    for (const delta of deltas) {
      expect(delta.seqFrom).toBe(next);
      expect(delta.offset).toBe(offset);
      expect(delta.id).toBe(`j:r:g:${delta.seqTo}`);
      next = delta.seqTo + 1;
      offset += delta.text.length;
    }
    expect(next).toBe(101);
  });

  it('6: each token is a delta of its own, in order', () => {
    const { events } = fold(...Array.from({ length: 10 }, (_, index) => token(`${index}`)));
    expect(of(events, 'TextDelta').map(({ id, text, offset, segment }) => [id, text, offset, segment])).toEqual(
      Array.from({ length: 10 }, (_, index) => [`j:r:g:${index + 1}`, `${index}`, index, 0]),
    );
    expect(phases(events)).toEqual(['WRITING']);
  });

  it('offsets count UTF-16 units', () => {
    expect(of(fold(token('a😀'), token('b')).events, 'TextDelta').map(({ offset }) => offset)).toEqual([0, 3]);
  });

  it('8: an interim text that was streamed seals the segment and doubles nothing', () => {
    const { state, events } = fold(token('ab'), token('c'), interim('abc', true), token('next'));
    expect(kinds(events)).toEqual(['TextDelta', 'TextDelta', 'SegmentSealed', 'TextDelta']);
    expect(of(events, 'SegmentSealed')).toMatchObject([{ segment: 0, by: 'INTERIM', text: null, dropReasoningTail: null, id: 'j:r:g:3' }]);
    expect(state.segments.map(({ text, sealed }) => [text, sealed])).toEqual([
      ['abc', true],
      ['next', false],
    ]);
  });

  it('9: one that was not streamed is set off by a blank line, then the segment is sealed', () => {
    const { state, events } = fold(token('abc'), interim(' xyz ', false));
    expect(events.filter(({ class: each }) => each === 'CONTENT')).toMatchObject([
      { kind: 'TextDelta', id: 'j:r:g:1', text: 'abc' },
      { kind: 'TextDelta', id: 'j:r:g:2:text', segment: 0, offset: 3, text: '\n\nxyz' },
      { kind: 'SegmentSealed', id: 'j:r:g:2', segment: 0, by: 'INTERIM', text: 'xyz' },
    ]);
    expect(state.segments).toMatchObject([{ text: 'abc\n\nxyz', sealed: true }]);
  });

  it('9: without text before it, or after white space, it stands as it is', () => {
    expect(texts(interim('xyz', false))).toEqual(['xyz|']);
    expect(texts(token('abc\n'), interim('xyz', false))).toEqual(['abc\nxyz|']);
    expect(texts(token('abc '), interim('xyz', false))).toEqual(['abc xyz|']);
  });

  it('a streamed interim text whose tokens are lost is the text, unless the segment before has it', () => {
    expect(texts(interim('lost', true))).toEqual(['lost|']);
    expect(texts(token('kept'), tool('t'), interim('kept', true))).toEqual(['kept|']);
  });

  it('tools seal the text, and segments without text are none', () => {
    const { state, events } = fold(token('a'), tool('t', '1'), tool('u', '2'), token('b'), interim('', true));
    expect(texts(token('a'), tool('t', '1'), tool('u', '2'), token('b'), interim('', true))).toEqual(['a|', 'b|']);
    expect(of(events, 'SegmentSealed').map(({ by }) => by)).toEqual(['TOOL', 'INTERIM']);
    expect(state.tools.map(({ segment }) => segment)).toEqual([0, 0]);
  });

  it('empty and damaged texts change nothing', () => {
    const { state, events } = fold(
      token(''),
      entry('token', { text: 5 }),
      entry('token'),
      reasoning(''),
      entry('reasoning', { text: null }),
    );
    expect(events).toEqual([]);
    expect(state.segments).toEqual([]);
  });
});

describe('reasoning', () => {
  it('7: is whole before the first text', () => {
    const { state, events } = fold(reasoning('a'), reasoning('b'), reasoning('c'), token('x'));
    expect(kinds(events)).toEqual(['ReasoningDelta', 'ReasoningDelta', 'ReasoningDelta', 'TextDelta']);
    expect(state.reasoning).toMatchObject([{ index: 0, text: 'abc', closed: true, seq: 1 }]);
    expect(phases(events)).toEqual(['THINKING', 'WRITING']);
  });

  it('after text or a tool it is the next one', () => {
    const { state } = fold(reasoning('a'), token('x'), reasoning('b'), tool('t'), reasoning('c'), reasoning('d'));
    expect(state.reasoning.map(({ text }) => text)).toEqual(['a', 'b', 'cd']);
  });

  it('has its text in one of three fields', () => {
    expect(fold(entry('reasoning', { thinking: 'a' }), entry('reasoning', { text: '', reasoning: 'b' })).state.reasoning[0]?.text).toBe(
      'ab',
    );
  });

  it('10: an interim text that echoes it is taken off its end', () => {
    const { state, events } = fold(reasoning('first, '), reasoning('then this.\n'), interim('then this.', false, { reasoning_echo: true }));
    expect(of(events, 'SegmentSealed')).toMatchObject([{ text: 'then this.', dropReasoningTail: 'then this.\n' }]);
    expect(state.reasoning[0]?.text).toBe('first, ');
    expect(state.segments).toMatchObject([{ text: 'then this.', sealed: true }]);
  });

  it('10: what its end does not have is not taken off', () => {
    const { state, events } = fold(reasoning('something else'), interim('note', false, { reasoning_echo: true }));
    expect(of(events, 'SegmentSealed')).toMatchObject([{ dropReasoningTail: null }]);
    expect(state.reasoning[0]?.text).toBe('something else');
  });
});

it('deltas join only where one goes on where the other ends', () => {
  const [delta] = of(fold(token('abc')).events, 'TextDelta');
  if (delta === undefined) throw new Error('no delta');
  const joined = (more: Partial<typeof delta>) =>
    joinEvents([delta, { ...delta, id: 'next', seqFrom: 2, seqTo: 2, offset: 3, ...more }]).length;
  expect(joined({})).toBe(1);
  expect(joined({ segment: 1 })).toBe(2);
  expect(joined({ offset: 4 })).toBe(2);
  expect(joined({ late: true })).toBe(2);
  expect(joined({ runId: 'other' })).toBe(2);
});

describe('20: a late record', () => {
  it('goes where it belongs, with the offset of that place', () => {
    const { state, events } = fold(
      token('one '),
      token('four', { seq: 4 }),
      token('three ', { seq: 3 }),
      token('two ', { seq: 2 }),
      token('!', { seq: 5 }),
    );
    expect(state.segments).toMatchObject([{ text: 'one two three four!' }]);
    expect(state.holes).toEqual([]);
    expect(of(events, 'TextDelta').map(({ text, offset, late }) => [text, offset, late])).toEqual([
      ['one ', 0, false],
      ['four', 4, false],
      ['three ', 4, true],
      ['two ', 4, true],
      ['!', 18, false],
    ]);
  });

  it('of reasoning likewise', () => {
    const { state } = fold(reasoning('a'), reasoning('c', { seq: 3 }), token('x', { seq: 4 }), reasoning('b', { seq: 2 }));
    expect(state.reasoning.map(({ text }) => text)).toEqual(['abc']);
  });

  it('before a tool it is the text before that tool', () => {
    const { state } = fold(tool('t', '1'), { ...tool('u', '2'), seq: 3 }, token('after', { seq: 4 }), token('between', { seq: 2 }));
    expect(state.segments.map(({ text }) => text)).toEqual(['betweenafter']);
    const other = fold(token('a'), { ...tool('t', '1'), seq: 3 }, token('late', { seq: 2 }), token('b', { seq: 4 })).state;
    expect(other.segments.map(({ text, sealed }) => [text, sealed])).toEqual([
      ['alate', true],
      ['b', false],
    ]);
    const first = fold({ ...tool('t', '1'), seq: 2 }, token('late', { seq: 1 }), token('b', { seq: 3 })).state;
    expect(first.segments.map(({ text, sealed }) => [text, sealed])).toEqual([
      ['late', true],
      ['b', false],
    ]);
  });

  it('between tools is a segment of its own for each place', () => {
    const { state } = fold(
      { ...tool('t', '1'), seq: 2 },
      { ...tool('u', '2'), seq: 4 },
      token('first', { seq: 1 }),
      token('second', { seq: 3 }),
    );
    expect(state.segments.map(({ text }) => text)).toEqual(['first', 'second']);
  });

  it('says nothing of what happens now', () => {
    const { events } = fold(token('a'), { ...tool('t', '1'), seq: 3 }, token('late', { seq: 2 }));
    expect(phases(events)).toEqual(['WRITING', 'TOOL t']);
  });

  it('that was there before changes nothing', () => {
    const before = fold(token('a'), token('b')).state;
    const { state, events } = fold(token('a'), token('b'), token('again', { seq: 2 }), token('again', { seq: 1 }));
    expect(state).toEqual(before);
    expect(of(events, 'TextDelta')).toHaveLength(2);
  });
});
