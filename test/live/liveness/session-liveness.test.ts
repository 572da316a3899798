/** A store's word on a session and that of the Web UI's files, put together. */
import { describe, expect, it } from 'vitest';
import { type OwningRun, sessionLiveness } from '../../../src/live/liveness/session-liveness.ts';
import { type RunEvidence, runVerdict } from '../../../src/live/liveness/verdict.ts';
import type { Liveness } from '../../../src/state-db/liveness.ts';

const T = 1_782_000_000;
const stored = (state: Liveness['state'], more: Partial<Liveness> = {}): Liveness => ({
  state,
  certainty: 'HIGH',
  evidence: ['stored'],
  lastSignalAt: T - 1000,
  basis: 'NOTHING',
  holderPid: null,
  ...more,
});
const IDLE = stored('IDLE');
const run = (change: Partial<RunEvidence>, pid: number | null = 7): OwningRun => ({
  runId: 'run',
  pid,
  verdict: runVerdict({
    now: T,
    terminal: null,
    runStartedAt: T - 3600,
    hasJournal: true,
    journalGrewAt: T - 10,
    sidecar: { activeStreamId: 'run', owns: true, clearedAt: null, cancelledAt: null },
    process: 'UNKNOWN',
    leaseLive: false,
    lastActivityAt: null,
    completedAt: null,
    ...change,
  }),
});
const DEAD = run({ process: 'DEAD' });
const SUSPECT = run({ journalGrewAt: T - 100 });
const lease = (holderPid: number | null) => stored('LIVE', { basis: 'LEASE', holderPid });

describe('the liveness of a session', () => {
  it.each<[string, Liveness, OwningRun, Partial<Liveness>]>([
    [
      'a run that lives, though the store is silent',
      IDLE,
      run({ process: 'ALIVE' }),
      { state: 'LIVE', certainty: 'CERTAIN', lastSignalAt: T - 10 },
    ],
    ['a run that has just been heard of', IDLE, run({}), { state: 'LIVE', certainty: 'MEDIUM' }],
    ['a run and a lease', lease(7), run({ leaseLive: true }), { state: 'LIVE', certainty: 'HIGH' }],
    ['a run that is starting', IDLE, run({ process: 'ALIVE', hasJournal: false }), { state: 'STARTING', certainty: 'CERTAIN' }],
    ['one whose lease is there already', lease(7), run({ process: 'ALIVE', hasJournal: false }), { state: 'LIVE', certainty: 'CERTAIN' }],
    ['40: a long silence of a living process', stored('STALE'), run({ process: 'ALIVE', journalGrewAt: T - 1200 }), { state: 'LIVE' }],
    ['37: silence', IDLE, SUSPECT, { state: 'SUSPECT', certainty: 'LOW' }],
    ['37: a long silence', IDLE, run({ journalGrewAt: T - 400 }), { state: 'STALE', certainty: 'LOW' }],
    [
      'silence in the files while the store moves',
      stored('LIVE', { basis: 'ROW', certainty: 'MEDIUM' }),
      SUSPECT,
      { state: 'LIVE', certainty: 'MEDIUM' },
    ],
    ['36: the process is gone', IDLE, DEAD, { state: 'STALE', certainty: 'CERTAIN' }],
    ['36: and its lease is still there', lease(7), DEAD, { state: 'STALE', certainty: 'CERTAIN' }],
    ['36: and its heartbeat is still fresh', stored('LIVE', { basis: 'HEARTBEAT' }), DEAD, { state: 'STALE' }],
    ['36: and its row is still fresh', stored('LIVE', { basis: 'ROW' }), DEAD, { state: 'STALE' }],
    ['another process took the session up', lease(8), DEAD, { state: 'LIVE', evidence: ['stored'] }],
    ['somebody holds a lease, nobody knows who', lease(7), run({ terminal: 'COMPLETED' }, null), { state: 'LIVE' }],
    ['the gateway took the session up', stored('LIVE', { basis: 'GATEWAY' }), DEAD, { state: 'LIVE' }],
    [
      'an end in the journal that never reached the file',
      IDLE,
      run({ terminal: 'FAILED', process: 'ALIVE' }),
      { state: 'STALE', certainty: 'CERTAIN' },
    ],
    ['a session that was ended', stored('ENDED', { basis: 'ENDED' }), DEAD, { state: 'ENDED' }],
    ['one that was ended and runs again', stored('ENDED', { basis: 'ENDED' }), run({ process: 'ALIVE' }), { state: 'LIVE' }],
    ['nothing at all is known', IDLE, run({ runStartedAt: null, journalGrewAt: null }), { state: 'UNKNOWN', certainty: 'LOW' }],
  ])('%s', (_, before, turn, expected) => {
    expect(sessionLiveness(before, turn)).toMatchObject(expected);
  });

  it('says why a session is stale', () => {
    const { evidence } = sessionLiveness(IDLE, DEAD);
    expect(evidence[0]).toBe('Run run was left behind as running: it was interrupted.');
    expect(evidence).toContain('The process that executed the run is gone.');
  });

  it('stays as the store has it where the Web UI has nothing to say', () => {
    expect(sessionLiveness(IDLE, null)).toBe(IDLE);
  });

  it('is less sure when the files can’t be read', () => {
    expect(sessionLiveness(IDLE, 'UNREADABLE')).toMatchObject({
      state: 'IDLE',
      certainty: 'LOW',
      evidence: ['stored', expect.any(String)],
    });
    expect(sessionLiveness(lease(7), 'UNREADABLE')).toMatchObject({ state: 'LIVE', certainty: 'HIGH' });
  });
});
