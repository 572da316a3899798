/** The table that says whether a run is alive, done or dead (`spec/live-turns.md` 9), row by row. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TurnOutcome } from '../../../src/live/journal/terminal.ts';
import { type RunEvidence, runVerdict } from '../../../src/live/liveness/verdict.ts';

const T = 1_782_000_000;
/** A run that began an hour ago, owns its session, wrote to its journal just now, and of whose process nothing is known. */
const RUNNING: RunEvidence = {
  now: T,
  terminal: null,
  runStartedAt: T - 3600,
  hasJournal: true,
  journalGrewAt: T,
  sidecar: { activeStreamId: 'run', owns: true, clearedAt: null, cancelledAt: null },
  process: 'UNKNOWN',
  leaseLive: false,
  lastActivityAt: null,
  completedAt: null,
};
const cleared = (more: object = {}): RunEvidence['sidecar'] => ({
  activeStreamId: null,
  owns: false,
  clearedAt: T,
  cancelledAt: null,
  ...more,
});

type Change = Partial<RunEvidence>;
const verdict = (change: Change) => runVerdict({ ...RUNNING, ...change });
const alive = (certainty: string, dueAt: number | null = null, phase: string | null = null) => ({
  state: 'ALIVE',
  certainty,
  phase,
  ending: null,
  dueAt,
});
const over = (outcome: string, certainty: string) => ({
  state: 'DEAD',
  certainty,
  phase: null,
  ending: { outcome, certainty },
  dueAt: null,
});
const suspect = (dueAt: number) => ({ state: 'SUSPECT', certainty: 'LOW', phase: null, ending: null, dueAt });

describe('the rows of the table', () => {
  it.each<[string, Change, object]>([
    ['row 1: a terminal line', { terminal: 'FAILED' }, over('FAILED', 'CERTAIN')],
    [
      'row 1 before all others',
      { terminal: 'COMPLETED', process: 'ALIVE', sidecar: 'GONE', leaseLive: true },
      over('COMPLETED', 'CERTAIN'),
    ],
    ['row 2: the process lives', { process: 'ALIVE' }, alive('CERTAIN')],
    ['row 2, 40: a tool that runs for 20 minutes', { process: 'ALIVE', journalGrewAt: T - 1200 }, alive('CERTAIN')],
    ['row 3: a lease', { leaseLive: true, journalGrewAt: T - 1200 }, alive('HIGH')],
    ['row 3, 40: a lease that is refreshed for 20 minutes', { leaseLive: true, journalGrewAt: T - 1200 }, alive('HIGH')],
    ['row 4: a journal that grew 89 s ago', { journalGrewAt: T - 89 }, alive('MEDIUM', T + 1)],
    ['row 4: a heartbeat 10 s ago', { journalGrewAt: T - 1200, lastActivityAt: T - 10 }, alive('MEDIUM', T + 80)],
    [
      'row 4: no journal yet, submitted 5 s ago',
      { hasJournal: false, journalGrewAt: null, runStartedAt: T - 5 },
      alive('MEDIUM', T + 85, 'STARTING'),
    ],
    ['row 5, 36: the process is gone', { process: 'DEAD' }, over('INTERRUPTED', 'CERTAIN')],
    ['row 5 though the lease has not run out', { process: 'DEAD', leaseLive: true }, over('INTERRUPTED', 'CERTAIN')],
    ['row 6, 37: 90 s of silence', { journalGrewAt: T - 90 }, suspect(T + 210)],
    ['row 6, 37: 300 s of silence', { journalGrewAt: T - 300 }, over('INTERRUPTED', 'LOW')],
    ['row 6: the heartbeat was the last sign', { journalGrewAt: T - 1200, lastActivityAt: T - 90 }, suspect(T + 210)],
    ['row 6, 38: it goes on after all', { journalGrewAt: T - 1 }, alive('MEDIUM', T + 89)],
    ['row 7, 33: cancelled', { sidecar: cleared({ cancelledAt: T - 1 }) }, alive('HIGH', T + 180, 'CANCELLING')],
    ['row 7, 33: 12 s later', { now: T + 12, sidecar: cleared({ cancelledAt: T - 1 }) }, alive('HIGH', T + 180, 'CANCELLING')],
    ['row 7, 34: it never unwinds', { now: T + 180, sidecar: cleared({ cancelledAt: T - 1 }) }, over('CANCELLED', 'HIGH')],
    [
      'row 7: the second in which it began',
      { runStartedAt: T + 0.9, sidecar: cleared({ cancelledAt: T }) },
      alive('HIGH', T + 180, 'CANCELLING'),
    ],
    [
      'row 7, 35: before the next run',
      { sidecar: cleared({ activeStreamId: 'R2', cancelledAt: T - 1 }) },
      alive('HIGH', T + 180, 'CANCELLING'),
    ],
    ['row 7: the process is gone', { process: 'DEAD', sidecar: cleared({ cancelledAt: T - 1 }) }, over('CANCELLED', 'HIGH')],
    ['not row 7: a marker of a turn before', { sidecar: cleared({ cancelledAt: T - 3700 }) }, alive('MEDIUM', T + 60, 'FINALIZING')],
    ['row 8, 31: the goal judge', { now: T + 6, completedAt: T, sidecar: cleared() }, alive('HIGH', T + 60, 'FINALIZING')],
    ['row 8: after 60 s', { now: T + 60, completedAt: T, sidecar: cleared() }, over('COMPLETED', 'HIGH')],
    ['row 8: a save long after it', { completedAt: T - 500, sidecar: cleared() }, over('COMPLETED', 'HIGH')],
    ['row 9, 35: another run owns', { sidecar: cleared({ activeStreamId: 'R2' }) }, { ...suspect(T + 20), certainty: 'HIGH' }],
    ['row 9, 35: after 20 s', { now: T + 20, sidecar: cleared({ activeStreamId: 'R2' }) }, over('SUPERSEDED', 'HIGH')],
    ['row 9: it had told its end', { now: T + 20, completedAt: T, sidecar: cleared({ activeStreamId: 'R2' }) }, over('COMPLETED', 'HIGH')],
    ['row 9: its process is gone', { process: 'DEAD', sidecar: cleared({ activeStreamId: 'R2' }) }, over('INTERRUPTED', 'HIGH')],
    ['row 10: nothing else is known', { sidecar: cleared() }, alive('MEDIUM', T + 60, 'FINALIZING')],
    ['row 10: after 60 s', { now: T + 60, sidecar: cleared() }, over('UNKNOWN', 'MEDIUM')],
    ['row 10: nobody saw when', { sidecar: cleared({ clearedAt: null }), journalGrewAt: T - 50 }, alive('MEDIUM', T + 10, 'FINALIZING')],
    ['row 10: long ago', { sidecar: cleared({ clearedAt: null }), journalGrewAt: T - 5000 }, over('UNKNOWN', 'MEDIUM')],
    ['row 10, 39: repaired after a crash', { process: 'DEAD', sidecar: cleared() }, over('INTERRUPTED', 'MEDIUM')],
    ['row 11: deleted', { sidecar: 'GONE', process: 'ALIVE' }, over('SESSION_DELETED', 'CERTAIN')],
  ])('%s', (_, change, expected) => {
    expect(verdict(change)).toMatchObject(expected);
  });

  it.each<[string, Change, object]>([
    ['row 1', { terminal: 'COMPLETED' }, over('COMPLETED', 'CERTAIN')],
    ['row 2', { process: 'ALIVE', journalGrewAt: T - 5000 }, alive('CERTAIN')],
    ['row 4', {}, alive('MEDIUM', T + 90)],
    ['row 5', { process: 'DEAD' }, over('INTERRUPTED', 'CERTAIN')],
    ['row 6', { journalGrewAt: T - 100 }, suspect(T + 200)],
    ['row 6, old', { journalGrewAt: T - 5000 }, over('INTERRUPTED', 'LOW')],
  ])('a run beside the sessions counts as the owner: %s', (_, change, expected) => {
    expect(verdict({ sidecar: 'NEVER_SEEN', ...change })).toMatchObject(expected);
  });

  it.each<[string, Change, object]>([
    ['while the process lives', { process: 'ALIVE', runStartedAt: T - 500 }, alive('CERTAIN', null, 'STARTING')],
    ['while a lease is held', { leaseLive: true, runStartedAt: T - 500 }, alive('HIGH', null, 'STARTING')],
    ['1: for 8 s', { runStartedAt: T - 8 }, alive('MEDIUM', T + 82, 'STARTING')],
    ['not for ever', { runStartedAt: T - 300 }, over('INTERRUPTED', 'LOW')],
    [
      'when nothing at all is known',
      { runStartedAt: null },
      { state: 'UNKNOWN', certainty: 'LOW', phase: 'STARTING', ending: null, dueAt: null },
    ],
  ])('a run without a journal is starting, %s', (_, change, expected) => {
    expect(verdict({ hasJournal: false, journalGrewAt: null, ...change })).toMatchObject(expected);
  });
});

describe('what is told with it', () => {
  it('evidence, by code and sentence, that stays the same while only time passes', () => {
    const { evidence } = verdict({ process: 'ALIVE', leaseLive: true, lastActivityAt: T - 3 });
    expect(evidence.map(({ code }) => code)).toEqual(['SIDECAR_OWNS', 'PROCESS_ALIVE', 'LEASE', 'JOURNAL_GREW', 'ACTIVITY']);
    for (const { sentence } of evidence) expect(sentence).toMatch(/^[A-Z].*\.$/);
    expect(verdict({ process: 'ALIVE', leaseLive: true, lastActivityAt: T - 3, now: T + 500 }).evidence).toEqual(evidence);
    const others = verdict({
      terminal: 'CANCELLED',
      completedAt: T,
      hasJournal: false,
      sidecar: cleared({ activeStreamId: 'R2', cancelledAt: T }),
    });
    expect(others.evidence.map(({ code }) => code)).toEqual([
      'TERMINAL_LINE',
      'CANCELLATION_MARKER',
      'OTHER_RUN_OWNS',
      'TURN_COMPLETED',
      'NO_JOURNAL',
    ]);
  });

  it('the newest sign of life, and none from the future', () => {
    expect(verdict({ lastActivityAt: T - 3, journalGrewAt: T - 9 }).lastSignalAt).toBe(T - 3);
    expect(verdict({ lastActivityAt: T + 1e6, journalGrewAt: T - 9 }).lastSignalAt).toBe(T - 9);
    expect(verdict({ runStartedAt: null, journalGrewAt: null }).lastSignalAt).toBeNull();
  });
});

describe('for whatever evidence', () => {
  const time = fc.option(
    fc.oneof(fc.double({ min: T - 4000, max: T + 30, noNaN: true }), fc.integer({ min: T - 400, max: T }), fc.constant(4e9)),
  );
  const outcome = fc.constantFrom<TurnOutcome>('COMPLETED', 'TOOL_LIMIT', 'CANCELLED', 'FAILED', 'INTERRUPTED', 'UNKNOWN');
  const sidecar: fc.Arbitrary<RunEvidence['sidecar']> = fc.oneof(
    fc.constantFrom('GONE' as const, 'NEVER_SEEN' as const),
    fc.record({ owns: fc.constant(true), activeStreamId: fc.constant('run'), clearedAt: fc.constant(null), cancelledAt: time }),
    fc.record({ owns: fc.constant(false), activeStreamId: fc.constantFrom(null, 'R2'), clearedAt: time, cancelledAt: time }),
  );
  const anything: fc.Arbitrary<RunEvidence> = fc.record({
    now: fc.double({ min: T, max: T + 1000, noNaN: true }),
    terminal: fc.option(outcome),
    runStartedAt: time,
    hasJournal: fc.boolean(),
    journalGrewAt: time,
    sidecar,
    process: fc.constantFrom('ALIVE' as const, 'DEAD' as const, 'UNKNOWN' as const),
    leaseLive: fc.boolean(),
    lastActivityAt: time,
    completedAt: time,
  });

  it('a terminal line is the end, for certain', () => {
    fc.assert(
      fc.property(anything, outcome, (evidence, terminal) => {
        expect(runVerdict({ ...evidence, terminal })).toMatchObject(over(terminal, 'CERTAIN'));
      }),
    );
  });

  it('40: a run whose process lives is never over while it owns its session, however long it is silent', () => {
    const owns = { activeStreamId: 'run', owns: true, clearedAt: null, cancelledAt: null };
    fc.assert(
      fc.property(anything, fc.nat(1e7), (evidence, later) => {
        const { state, ending } = runVerdict({ ...evidence, now: evidence.now + later, terminal: null, process: 'ALIVE', sidecar: owns });
        expect({ state, ending }).toEqual({ state: 'ALIVE', ending: null });
      }),
    );
  });

  it('the time that is due lies ahead, and then the verdict is another', () => {
    fc.assert(
      fc.property(anything, (evidence) => {
        const { dueAt, ...before } = runVerdict(evidence);
        if (dueAt === null) return;
        expect(dueAt).toBeGreaterThan(evidence.now);
        const { dueAt: _, ...after } = runVerdict({ ...evidence, now: dueAt });
        expect(after).not.toEqual(before);
      }),
      { numRuns: 1000 },
    );
  });

  it('until it is due the verdict stays', () => {
    fc.assert(
      fc.property(anything, fc.double({ min: 0, max: 0.999, noNaN: true }), (evidence, part) => {
        const before = runVerdict(evidence);
        const now = evidence.now + ((before.dueAt ?? evidence.now + 10_000) - evidence.now) * part;
        if (before.dueAt !== null && now >= before.dueAt) return;
        expect(runVerdict({ ...evidence, now })).toEqual(before);
      }),
      { numRuns: 1000 },
    );
  });

  it('nothing is alive for ever by itself: without a living process and a lease it ends, or is unknown', () => {
    fc.assert(
      fc.property(anything, fc.constantFrom('DEAD' as const, 'UNKNOWN' as const), (evidence, process) => {
        const { state } = runVerdict({ ...evidence, now: evidence.now + 1e6, leaseLive: false, process });
        expect(['DEAD', 'UNKNOWN']).toContain(state);
      }),
    );
  });

  it('an end has an outcome and the same certainty, and nothing is due behind it', () => {
    fc.assert(
      fc.property(anything, (evidence) => {
        const { state, certainty, ending, dueAt, phase } = runVerdict(evidence);
        expect(ending !== null).toBe(state === 'DEAD');
        if (ending !== null) expect({ certainty, dueAt, phase }).toEqual({ certainty: ending.certainty, dueAt: null, phase: null });
      }),
    );
  });
});
