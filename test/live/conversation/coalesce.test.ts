/** Fewer events that say the same, at a pace (`spec/live-turns.md` 13 M8, 15.2). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { coalesce } from '../../../src/live/conversation/coalesce.ts';
import type { LiveEvent } from '../../../src/live/conversation/events.ts';
import { StatePace } from '../../../src/live/conversation/state-pace.ts';
import { textOf } from './telling.ts';

const base = {
  profile: 'default',
  sessionId: 's',
  conversationId: 's',
  depth: 0,
  runId: 'r',
  at: 1,
  origin: 'RUN_JOURNAL',
  late: false,
} as const;
const event = (kind: string, fields: object = {}, id = kind): LiveEvent =>
  ({ ...base, id, class: 'CONTENT', kind, ...fields }) as unknown as LiveEvent;
const state = (kind: string, fields: object = {}, id = kind) => event(kind, { class: 'STATE', ...fields }, id);
const delta = (seq: number, text: string, offset: number, more: object = {}) =>
  event('TextDelta', { segment: 0, offset, text, seqFrom: seq, seqTo: seq, ...more }, `j:${seq}`);
const short = (events: readonly LiveEvent[]) => events.map(({ kind, id }) => (kind === id ? kind : `${kind} ${id}`));

describe('deltas', () => {
  it('of one segment join, under the id of the last', () => {
    const told = coalesce([delta(1, 'ab', 0), delta(2, 'c', 2), delta(3, 'd', 3)]);
    expect(told).toEqual([expect.objectContaining({ id: 'j:3', text: 'abcd', offset: 0, seqFrom: 1, seqTo: 3 })]);
  });

  it.each([
    ['of other segments', delta(2, 'c', 0, { segment: 1 })],
    ['of other runs', delta(2, 'c', 2, { runId: 'q' })],
    ['that are late', delta(2, 'c', 2, { late: true })],
    ['that belong elsewhere', delta(2, 'c', 1)],
    ['of another kind', event('ReasoningDelta', { segment: 0, offset: 2, text: 'c' }, 'j:2')],
  ])('%s do not join', (_, other) => {
    expect(coalesce([delta(1, 'ab', 0), other])).toHaveLength(2);
  });

  it('do not join over other content, but over states', () => {
    expect(short(coalesce([delta(1, 'a', 0), event('ToolStarted'), delta(2, 'b', 1)]))).toEqual([
      'TextDelta j:1',
      'ToolStarted',
      'TextDelta j:2',
    ]);
    expect(short(coalesce([delta(1, 'a', 0), state('UsageChanged', { live: {}, settled: null }), delta(2, 'b', 1)]))).toEqual([
      'TextDelta j:2',
      'UsageChanged',
    ]);
  });

  it('give the same text however they are joined', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 20 }),
        fc.array(fc.nat(20)),
        (texts, cuts) => {
          let offset = 0;
          const deltas = texts.map((text, index) => {
            offset += text.length;
            return delta(index + 1, text, offset - text.length);
          });
          const parts = [0, ...cuts.filter((cut) => cut < deltas.length).toSorted((a, b) => a - b), deltas.length];
          const joined = parts.slice(1).flatMap((to, index) => coalesce(deltas.slice(parts[index], to)));
          expect(textOf(joined)).toEqual([texts.join('')]);
          expect(coalesce(joined)).toEqual(coalesce(deltas));
        },
      ),
    );
  });
});

describe('states', () => {
  it('give way to the latest of the same', () => {
    const phases = ['THINKING', 'WRITING'].map((phase) => state('TurnPhaseChanged', { phase }, phase));
    expect(short(coalesce([phases[0] as LiveEvent, event('ToolStarted'), phases[1] as LiveEvent]))).toEqual([
      'ToolStarted',
      'TurnPhaseChanged WRITING',
    ]);
  });

  it.each([
    [
      'of other sessions',
      state('SessionChanged', { changed: ['MODEL'] }, 'a'),
      state('SessionChanged', { changed: ['MODEL'], sessionId: 'c' }, 'b'),
    ],
    ['of other fields', state('SessionChanged', { changed: ['MODEL'] }, 'a'), state('SessionChanged', { changed: ['READ'] }, 'b')],
    ['of other rows', state('MessagesUpdated', { ids: ['1'] }, 'a'), state('MessagesUpdated', { ids: ['2'] }, 'b')],
    ['live and settled', state('UsageChanged', { live: {}, settled: null }, 'a'), state('UsageChanged', { live: null, settled: {} }, 'b')],
    [
      'of other questions',
      state('InteractionClosed', { interactionId: '1' }, 'a'),
      state('InteractionClosed', { interactionId: '2' }, 'b'),
    ],
  ])('%s both stay', (_, a, b) => {
    expect(coalesce([a, b])).toEqual([a, b]);
  });

  it('that update a fact of the same frame become part of it', () => {
    const told = coalesce([
      event('ToolStarted', { messageId: null }, 'd:a'),
      delta(1, 'x', 0),
      state('ToolStarted', { messageId: '5' }, 'd:a'),
    ]);
    expect(told).toEqual([
      expect.objectContaining({ id: 'd:a', class: 'CONTENT', messageId: '5' }),
      expect.objectContaining({ kind: 'TextDelta' }),
    ]);
  });
});

describe('the pace of states', () => {
  const usage = (id: string, more: object = {}) => state('UsageChanged', { live: {}, settled: null, ...more }, id);

  it('tells the first at once and then the latest of each half second', () => {
    const pace = new StatePace();
    expect(short(pace.take([usage('a')], 0))).toEqual(['UsageChanged a']);
    expect(pace.take([usage('b')], 100)).toEqual([]);
    expect(pace.take([usage('c')], 200)).toEqual([]);
    expect(pace.dueAt).toBe(500);
    expect(pace.take([], 499)).toEqual([]);
    expect(short(pace.take([], 500))).toEqual(['UsageChanged c']);
    expect(pace.dueAt).toBe(null);
  });

  it('holds back neither content nor other states, and tells everything with the end of a turn', () => {
    const pace = new StatePace();
    pace.take([usage('a')], 0);
    expect(short(pace.take([usage('b'), delta(1, 'x', 0), state('TurnPhaseChanged')], 10))).toEqual(['TextDelta j:1', 'TurnPhaseChanged']);
    expect(short(pace.take([event('TurnEnded')], 20)).toSorted()).toEqual(['TurnEnded', 'UsageChanged b']);
  });

  it('is that of each session and delegation by itself', () => {
    const pace = new StatePace();
    const progress = (delegationId: string) => state('DelegationProgress', { delegationId, deliveredMessageId: null }, delegationId);
    expect(pace.take([progress('a'), progress('b')], 0)).toHaveLength(2);
    expect(pace.take([progress('a')], 500)).toEqual([]);
    expect(pace.take([], 1000)).toHaveLength(1);
  });
});
