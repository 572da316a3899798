/** What must hold for every journal: the fold doesn't depend on how the records are split, joining loses nothing. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JournalEvent } from '../../../src/live/journal/events.ts';
import { foldRecord, foldRecords } from '../../../src/live/journal/fold.ts';
import { joinEvents } from '../../../src/live/journal/join-events.ts';
import type { JournalRecord } from '../../../src/live/journal/line.ts';
import { emptyTurn, type LiveTurn } from '../../../src/live/journal/live-turn.ts';
import { type JournalEntry, journalRecords } from '../../support/journal-lines.ts';
import { of, RUN } from './folded.ts';

const word = fc.constantFrom('a', 'bc ', 'd\n', '😀', '', ' ');
const id = fc.constantFrom(undefined, '1', '2', '3');
const name = fc.constantFrom('terminal', 'read', 'clarify', '');

const anyEntry: fc.Arbitrary<JournalEntry> = fc.oneof(
  { weight: 6, arbitrary: word.map((text) => ({ event: 'token', payload: { text } })) },
  { weight: 3, arbitrary: word.map((text) => ({ event: 'reasoning', payload: { text } })) },
  {
    weight: 2,
    arbitrary: fc
      .record({ text: word, already_streamed: fc.boolean(), reasoning_echo: fc.boolean() })
      .map((payload) => ({ event: 'interim_assistant', payload })),
  },
  { weight: 2, arbitrary: fc.record({ tid: id, name }).map((payload) => ({ event: 'tool', payload })) },
  { weight: 2, arbitrary: fc.record({ tid: id, name, is_error: fc.boolean() }).map((payload) => ({ event: 'tool_complete', payload })) },
  fc.record({ approval_id: id, tool: name }).map((payload) => ({ event: 'approval', payload })),
  fc.record({ clarify_id: id, expires_at: fc.constant(1_782_000_000.2) }).map((payload) => ({ event: 'clarify', payload })),
  fc.nat().map((tps) => ({ event: 'metering', payload: { tps, usage: { input_tokens: tps } } })),
  word.map((title) => ({ event: 'title', payload: { title } })),
  fc.nat().map((ts) => ({ event: 'todo_state', payload: { ts, todos: [] } })),
  fc
    .constantFrom('done', 'cancel', 'apperror', 'stream_end', 'compressing', 'compressed', 'goal', 'warning', 'brand_new', '')
    .map((event) => ({ event })),
  // Payloads that hold anything at all.
  fc
    .record({
      event: fc.constantFrom('token', 'tool', 'tool_complete', 'todo_state', 'metering', 'done', 'approval', 'x'),
      payload: fc.object(),
    })
    .map(({ event, payload }) => ({ event, payload: payload as Record<string, unknown> })),
);

/** In the order of their numbers, or with some missing, late, or twice. */
const anyRecords: fc.Arbitrary<JournalRecord[]> = fc
  .array(fc.tuple(anyEntry, fc.constantFrom(0, 0, 0, 0, 0, 2, 5)), { maxLength: 60 })
  .map((items) => items.map(([entry, shift], index) => ({ ...entry, seq: Math.max(1, index + 1 + shift) })))
  .map((entries) => journalRecords(RUN, entries));

const empty = emptyTurn(RUN, 'g');

describe('the fold', () => {
  it('of any split is the fold of the whole', () => {
    fc.assert(
      fc.property(anyRecords, fc.nat(), (records, cut) => {
        const whole = foldRecords(empty, records);
        const at = records.length === 0 ? 0 : cut % records.length;
        const first = foldRecords(empty, records.slice(0, at));
        const second = foldRecords(first.state, records.slice(at));
        expect(second.state).toEqual(whole.state);
        expect([...first.events, ...second.events]).toEqual(whole.events);
      }),
      { numRuns: 300 },
    );
  });

  it('changes no state that was handed out', () => {
    fc.assert(
      fc.property(anyRecords, (records) => {
        let state = empty;
        for (const record of records) {
          const before = JSON.stringify(state);
          const frozen = freeze(state);
          state = foldRecord(frozen, record).state;
          expect(JSON.stringify(frozen)).toBe(before);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('gives every content event an id of its own', () => {
    fc.assert(
      fc.property(anyRecords, (records) => {
        const content = foldRecords(empty, records).events.filter((event) => event.class === 'CONTENT');
        expect(new Set(content.map((event) => event.id)).size).toBe(content.length);
      }),
      { numRuns: 200 },
    );
  });

  it('of a record that was there changes nothing', () => {
    fc.assert(
      fc.property(anyRecords, (records) => {
        const { state } = foldRecords(empty, records);
        for (const record of records) expect(foldRecord(state, record)).toEqual({ state, events: [] });
      }),
      { numRuns: 100 },
    );
  });

  it('late text lands where it would have stood', () => {
    const tokens = fc.array(fc.constantFrom('a', 'b ', 'c\n', '😀'), { minLength: 2, maxLength: 12 });
    fc.assert(
      fc.property(tokens, fc.array(fc.nat(), { maxLength: 12 }), (words, late) => {
        const records = journalRecords(
          RUN,
          words.map((text) => ({ event: 'token', payload: { text } })),
        );
        const isLate = new Set(late.map((index) => index % records.length));
        // The last one comes in time, so that the others are missed.
        isLate.delete(records.length - 1);
        const order = [...records.filter((_, index) => !isLate.has(index)), ...records.filter((_, index) => isLate.has(index))];
        expect(textOf(foldRecords(empty, order).state)).toBe(words.join(''));
      }),
    );
  });
});

describe('joining', () => {
  it('in parts is joining at once', () => {
    fc.assert(
      fc.property(anyRecords, fc.nat(), (records, cut) => {
        const { events } = foldRecords(empty, records);
        const at = events.length === 0 ? 0 : cut % events.length;
        const parts = [...joinEvents(events.slice(0, at)), ...joinEvents(events.slice(at))];
        expect(joinEvents(parts)).toEqual(joinEvents(events));
      }),
      { numRuns: 300 },
    );
  });

  it('loses no text, no call and no end', () => {
    fc.assert(
      fc.property(anyRecords, (records) => {
        const { events, state } = foldRecords(empty, records);
        const joined = joinEvents(events);
        expect(replayed(joined)).toEqual(replayed(events));
        if (state.holes.length === 0 && !events.some(({ late }) => late)) expect(replayed(joined).join('')).toBe(textOf(state));
        for (const kind of ['ToolStarted', 'ToolFinished', 'SegmentSealed', 'ApprovalRequested'] as const) {
          expect(of(joined, kind)).toEqual(of(events, kind));
        }
        expect(of(joined, 'TurnEnded').at(-1)).toEqual(of(events, 'TurnEnded').at(-1));
      }),
      { numRuns: 300 },
    );
  });
});

/** What a client has that puts each delta where its offset says. */
function replayed(events: readonly JournalEvent[]): string[] {
  const segments: string[] = [];
  for (const { segment, offset, text } of of(events, 'TextDelta')) {
    const before = segments[segment] ?? '';
    segments[segment] = before.slice(0, offset) + text + before.slice(offset);
  }
  return segments;
}

function textOf(state: LiveTurn): string {
  return state.segments.map(({ text }) => text).join('');
}

function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const item of Object.values(value)) freeze(item);
  return Object.freeze(value);
}
