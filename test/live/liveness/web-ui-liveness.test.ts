/** How many files are looked at for the liveness of a list, and how often. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import type { RunSummary } from '../../../src/live/journal/run-summary.ts';
import { WebUiLiveness } from '../../../src/live/liveness/web-ui-liveness.ts';
import type { Liveness } from '../../../src/state-db/liveness.ts';
import { newSessionsDir, saveSidecar, sidecarText } from '../../support/sidecars.ts';
import { removeStores } from '../../support/stores.ts';

afterAll(removeStores);

const T = 1_782_000_000;
const IDLE: Liveness = { state: 'IDLE', certainty: 'HIGH', evidence: [], lastSignalAt: null, basis: 'NOTHING', holderPid: null };
const idle = (ids: readonly string[]) => new Map(ids.map((id) => [id, IDLE]));

function summary(sessionId: string, runId: string, sizeBytes: number, grewAt: number): RunSummary {
  return {
    sessionId,
    runId,
    generation: 'g',
    lastSeq: 1,
    lastEvent: 'token',
    eventCount: 1,
    terminal: false,
    terminalState: 'running',
    malformedLines: 0,
    duplicates: 0,
    openEnd: false,
    firstCreatedAt: T,
    lastCreatedAt: grewAt,
    holes: [],
    sizeBytes,
  };
}

function open(count: number, sizeBytes: number) {
  const sessionsDir = newSessionsDir();
  const ids = Array.from({ length: count }, (_, index) => `s${index}`);
  for (const id of ids) saveSidecar(sessionsDir, id, sidecarText(id, { active_stream_id: `${id}-run` }));
  const clock = { now: T + 1, grewAt: T };
  const reads = { now: 0, most: 0, all: 0 };
  const runs = {
    async get(sessionId: string, runId: string): Promise<RunSummary> {
      reads.all++;
      reads.most = Math.max(reads.most, ++reads.now);
      await sleep(1);
      reads.now--;
      return summary(sessionId, runId, sizeBytes, clock.grewAt);
    },
  };
  return { sessionsDir, ids, clock, reads, liveness: new WebUiLiveness({ sessionsDir, runs, now: () => clock.now }) };
}

describe('the liveness of a list', () => {
  it('looks at eight sessions at a time', async () => {
    const { ids, reads, liveness } = open(50, 100);
    const found = await liveness.forSessions('default', idle([...ids, 'none']));
    expect([...found.keys()]).toEqual([...ids, 'none']);
    expect(found.get('s49')).toMatchObject({ state: 'LIVE', certainty: 'MEDIUM' });
    expect(found.get('none')).toBe(IDLE);
    expect(reads).toMatchObject({ all: 50, most: 8 });
  });

  it('reads a long journal that is still growing once in two seconds, a short one each time', async () => {
    const long = open(1, 5_000_000);
    const short = open(1, 5000);
    for (const { ids, clock, liveness } of [long, short]) {
      for (const after of [1, 1.5, 2.9, 3.1]) {
        clock.now = T + after;
        await liveness.forSessions('default', idle(ids));
      }
    }
    expect(long.reads.all).toBe(2);
    expect(short.reads.all).toBe(4);
  });

  it('38: a run that goes on after a silence is live again', async () => {
    const { ids, clock, liveness } = open(1, 100);
    const stateAt = async (now: number) => {
      clock.now = now;
      return (await liveness.forSessions('default', idle(ids))).get('s0')?.state;
    };
    expect(await stateAt(T + 89)).toBe('LIVE');
    expect(await stateAt(T + 90)).toBe('SUSPECT');
    expect(await stateAt(T + 300)).toBe('STALE');
    clock.grewAt = T + 310;
    expect(await stateAt(T + 311)).toBe('LIVE');
  });

  it('belongs to the profile that the file names', async () => {
    const { sessionsDir, ids, liveness } = open(1, 100);
    expect((await liveness.forSessions('work', idle(ids))).get('s0')).toBe(IDLE);
    for (const profile of ['default', '', null]) {
      saveSidecar(sessionsDir, 's0', sidecarText('s0', { active_stream_id: 'run', profile }));
      expect((await liveness.forSessions('default', idle(ids))).get('s0')).toMatchObject({ state: 'LIVE' });
    }
    saveSidecar(sessionsDir, 's0', sidecarText('s0', { active_stream_id: 'run', profile: 'work' }));
    expect((await liveness.forSessions('default', idle(ids))).get('s0')).toBe(IDLE);
    expect((await liveness.forSessions('work', idle(ids))).get('s0')).toMatchObject({ state: 'LIVE' });
  });

  it('files that can’t be read make it less sure, and are no error', async () => {
    const { ids } = open(1, 100);
    const unreadable = new WebUiLiveness({ sessionsDir: `/tmp/${'x'.repeat(300)}`, runs: { get: async () => null }, now: () => T });
    expect((await unreadable.forSessions('default', idle(ids))).get('s0')).toMatchObject({ state: 'IDLE', certainty: 'LOW' });
  });
});
