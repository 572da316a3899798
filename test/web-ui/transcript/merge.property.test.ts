/** What every merge keeps, whatever the two stores hold: I1 to I6 of `spec/webui-transcript.md` 15.1. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DISPLAY_METADATA } from '../../../src/web-ui/transcript/display-metadata.ts';
import { mergeTranscript } from '../../../src/web-ui/transcript/merge.ts';
import { reconcile } from '../../../src/web-ui/transcript/reconcile.ts';
import { isMessage } from '../../../src/web-ui/transcript/values.ts';

const GAINED: ReadonlySet<string> = new Set(['api_content', ...DISPLAY_METADATA]);

const text = fc.constantFrom('', 'go', 'alpha bravo', 'charlie delta', 'alpha', 'look [screenshot]');
const content = fc.oneof(
  { weight: 8, arbitrary: text },
  {
    weight: 1,
    arbitrary: fc.constantFrom('A', 'B').map((image) => [
      { type: 'text', text: 'look' },
      { type: 'image_url', image_url: image },
    ]),
  },
);
const message = fc.record(
  {
    role: fc.constantFrom('user', 'assistant', 'tool'),
    content,
    timestamp: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.constantFrom(3.4, 3.6, '5', null, 'bad')),
    tool_calls: fc.constantFrom([{ id: 'c1' }], [{ id: 'c2' }]),
    tool_call_id: fc.constantFrom('c1', 'c2'),
    _state_db_row_id: fc.integer({ min: 1, max: 4 }),
    id: fc.integer({ min: 1, max: 3 }),
    api_content: fc.constantFrom('W', 'V'),
    _turnTps: fc.constantFrom(1, 2),
    _partial: fc.constant(true),
    _error: fc.constant(true),
  },
  { requiredKeys: ['role', 'content'] },
);
const list = fc.array(message, { maxLength: 8 });
const anything = fc.array(fc.oneof({ weight: 6, arbitrary: message }, { weight: 1, arbitrary: fc.anything() }), { maxLength: 6 });
const options = fc.record({
  watermark: fc.constantFrom(null, 0, 3, 6, '6'),
  boundary: fc.constantFrom(null, 2, 6),
  provenance: fc.constantFrom('STATE_DB' as const, 'UNVERIFIED' as const),
});
const RUNS = { numRuns: 2000 };

describe('a merge', () => {
  it('I1, I2, I4: keeps every local message once, in order, and completes nothing but what is missing', () => {
    fc.assert(
      fc.property(list, list, options, (local, state, how) => {
        const { messages, origins } = mergeTranscript(local, state, how);
        const kept = origins.flatMap(({ from, index }, at) =>
          from === 'LOCAL' ? [{ index, message: messages[at] as Record<string, unknown> }] : [],
        );
        expect(kept.map(({ index }) => index)).toEqual(local.map((_, index) => index));
        for (const { index, message: found } of kept) {
          const before: Record<string, unknown> = { ...local[index] };
          for (const key of Object.keys(found)) if (!GAINED.has(key)) expect(found[key]).toEqual(before[key]);
          for (const key of Object.keys(before)) expect(found[key]).toEqual(before[key]);
        }
      }),
      RUNS,
    );
  });

  it('I3: takes a row in as it is, and decides about each once', () => {
    fc.assert(
      fc.property(list, list, options, (local, state, how) => {
        const { messages, origins, decisions } = mergeTranscript(local, state, how);
        expect(decisions.map(({ index }) => index)).toEqual(state.map((_, index) => index));
        const shown = decisions.filter((decision) => decision.shown);
        expect(shown.map(({ index }) => index).sort()).toEqual(
          origins.flatMap(({ from, index }) => (from === 'STATE' ? [index] : [])).sort(),
        );
        for (const { index, position } of shown) {
          const found = messages[position ?? -1];
          if (!isMessage(found)) throw new Error('no message at the position');
          const before: Record<string, unknown> = { ...state[index] };
          for (const key of Object.keys(found)) if (!GAINED.has(key) || key in before) expect(found[key]).toEqual(before[key]);
          expect(found.api_content).toEqual(before.api_content);
        }
      }),
      RUNS,
    );
  });

  it('I5: never parts a call from the results that followed it', () => {
    fc.assert(
      fc.property(list, list, options, (local, state, how) => {
        const { origins } = mergeTranscript(local, state, how);
        const places = origins.flatMap(({ from }, at) => (from === 'LOCAL' ? [at] : []));
        for (let index = 0; index < local.length; index += 1) {
          if (local[index]?.role !== 'assistant' || local[index]?.tool_calls === undefined) continue;
          for (let next = index + 1; local[next]?.role === 'tool'; next += 1) {
            expect(places[next]).toBe((places[index] ?? -1) + next - index);
          }
        }
      }),
      RUNS,
    );
  });

  it('I6: changes nothing without rows', () => {
    fc.assert(
      fc.property(list, options, (local, how) => {
        expect(mergeTranscript(local, [], how).messages).toEqual(local);
      }),
    );
  });

  it('takes anything, changes nothing that came in, and gives what can cross a process', () => {
    fc.assert(
      fc.property(anything, anything, options, fc.constantFrom('DISPLAY', 'CONTEXT'), (local, state, how, view) => {
        const before = [structuredCloneOrNull(local), structuredCloneOrNull(state)];
        fc.pre(before.every((copy) => copy !== null));
        const session = { messages: local, context_messages: local.slice(2), truncation_watermark: how.watermark };
        const found = reconcile(session, { messages: state, revision: null }, view);
        expect(structuredClone(found)).toEqual(found);
        expect([local, state]).toEqual(before);
      }),
    );
  });
});

function structuredCloneOrNull<T>(value: T): T | null {
  try {
    return structuredClone(value);
  } catch {
    return null;
  }
}
