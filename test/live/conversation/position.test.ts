/** The cursor of a conversation (`spec/live-turns.md` 14.1). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeLiveCursor,
  encodeLiveCursor,
  isAsFar,
  isSamePosition,
  type LivePosition,
  type RunMark,
} from '../../../src/live/conversation/position.ts';

const run = (runId: string, more: Partial<RunMark> = {}): RunMark => ({
  runId,
  sessionId: 's',
  startedAt: 1_795_000_000.123,
  position: { generation: '0cd178ef', seq: 39_000, holes: [], offset: 18_000_000 },
  ended: null,
  ...more,
});

const position = (more: Partial<LivePosition> = {}): LivePosition => ({
  conversationId: 's',
  generation: '65024-2179446',
  since: 1_795_000_000.5,
  covered: true,
  rows: {
    segmentId: 's',
    maxRowId: '110000',
    digest: '2b7ba092602e0125',
    turnId: 'l:67eda36e',
    at: 1_795_000_001.25,
    views: ['7bc8a009', '22b5be9d', 'e53cf490'],
  },
  runs: [run('a443c08f6204d45c58be2193539eb9c5')],
  ...more,
});

const cursor = (at: LivePosition) =>
  encodeLiveCursor({ profile: 'default', issuedAt: 1_795_000_002, position: at, mark: { log: 'ccd28fc8', index: 12 } });

describe('a cursor', () => {
  it.each([
    ['of an idle conversation', position({ runs: [], covered: false })],
    ['during a run', position()],
    ['of a run without a journal', position({ runs: [run('r', { position: null })] })],
    ['of a run that is over', position({ runs: [run('r', { ended: { outcome: 'COMPLETED', certainty: 'CERTAIN' } })] })],
    ['of a run in another session', position({ runs: [run('r', { sessionId: 'parent' })] })],
    [
      'with holes',
      position({
        runs: [
          run('r', {
            position: {
              generation: 'g',
              seq: 9,
              holes: [
                { from: 2, to: 3 },
                { from: 7, to: 7 },
              ],
              offset: null,
            },
          }),
        ],
      }),
    ],
    ['of a session that the store has not yet', position({ rows: { ...position().rows, segmentId: null, turnId: null } })],
  ])('%s comes back as it was', (_, at) => {
    expect(decodeLiveCursor(cursor(at), 'default')).toEqual({
      profile: 'default',
      issuedAt: 1_795_000_002,
      position: at,
      mark: { log: 'ccd28fc8', index: 12 },
    });
  });

  it('is short as a rule', () => {
    expect(cursor(position()).length).toBeLessThan(520);
  });

  it('with three runs of sixteen holes each has at most 1,024 characters, and keeps the newest run', () => {
    const holes = Array.from({ length: 16 }, (_, index) => ({ from: 30_000 + index * 10, to: 30_004 + index * 10 }));
    const at = { generation: '0cd178ef', seq: 39_000, holes, offset: 18_000_000 };
    const ids = ['a443c08f6204d45c58be2193539eb9c5', 'b443c08f6204d45c58be2193539eb9c5', 'c443c08f6204d45c58be2193539eb9c5'];
    const text = cursor(position({ conversationId: '20261129_173002_e83601', runs: ids.map((id) => run(id, { position: at })) }));
    expect(text.length).toBeLessThanOrEqual(1024);
    const { runs } = decodeLiveCursor(text, 'default').position;
    expect(runs.at(-1)).toMatchObject({ runId: ids.at(-1), position: { seq: 39_000, holes } });
  });

  it('that was damaged is refused, wherever the damage is', () => {
    const text = cursor(position());
    fc.assert(
      fc.property(fc.nat(text.length - 2), fc.constantFrom(...'Aa0-_'), (at, character) => {
        fc.pre(text[at] !== character);
        const damaged = text.slice(0, at) + character + text.slice(at + 1);
        expect(() => decodeLiveCursor(damaged, 'default')).toThrow(expect.objectContaining({ code: 'CURSOR_INVALID' }));
      }),
    );
    fc.assert(
      fc.property(fc.string({ maxLength: 3000 }), (nonsense) => {
        expect(() => decodeLiveCursor(nonsense, 'default')).toThrow(expect.objectContaining({ code: 'CURSOR_INVALID' }));
      }),
    );
  });

  it('of another profile is foreign', () => {
    expect(() => decodeLiveCursor(cursor(position()), 'work')).toThrow(expect.objectContaining({ code: 'CURSOR_FOREIGN' }));
  });
});

describe('two positions', () => {
  const over = run('old', { ended: { outcome: 'COMPLETED', certainty: 'CERTAIN' } });

  it('are the same whatever the clocks and hints say', () => {
    const here = run('r', { startedAt: 1, position: { generation: 'g', seq: 3, holes: [], offset: null } });
    const there = run('r', { startedAt: 2, position: { generation: 'g', seq: 3, holes: [], offset: 99 } });
    expect(isSamePosition(position({ runs: [here], since: 1 }), position({ runs: [there], since: 2 }))).toBe(true);
  });

  it.each([
    ['another line', { runs: [run('r', { position: { generation: '0cd178ef', seq: 39_001, holes: [], offset: null } })] }],
    ['another end', { runs: [run('r', { ended: { outcome: 'COMPLETED', certainty: 'CERTAIN' } })] }],
    ['another row', { rows: { ...position().rows, maxRowId: '110001' } }],
    ['another file', { generation: 'x' }],
    ['another turn', { covered: false, rows: { ...position().rows, turnId: 'r:7' } }],
    ['a run more that goes on', { runs: [run('r'), run('q')] }],
  ] as const)('differ by %s', (_, more) => {
    const here = position({ runs: [run('r')] });
    const there = position({ runs: [run('r')], ...more });
    expect(isSamePosition(here, there)).toBe(false);
    expect(isAsFar(here, there)).toBe(false);
    expect(isAsFar(there, here)).toBe(false);
  });

  it('are the same with or without a turn that a run tells of', () => {
    expect(isSamePosition(position(), position({ covered: false, rows: { ...position().rows, turnId: null } }))).toBe(true);
  });

  it('with a run that is over and only one of them follows are as far, but not the same', () => {
    const here = position({ runs: [run('r')] });
    const there = position({ runs: [over, run('r')] });
    expect([isAsFar(here, there), isAsFar(there, here)]).toEqual([true, true]);
    expect(isSamePosition(here, there)).toBe(false);
  });
});
