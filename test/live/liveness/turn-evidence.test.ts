/** What the turn journal tells of a run, across sessions and processes. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { TurnEvidenceReader } from '../../../src/live/liveness/turn-evidence.ts';
import { newSessionsDir, shardPath, writeTurns } from '../../support/sidecars.ts';
import { removeStores } from '../../support/stores.ts';

afterAll(removeStores);

const T = 1_782_000_000;
const line = (event: string, at: number, more: Record<string, unknown> = {}) => ({
  event,
  turn_id: 'turn',
  stream_id: 'run',
  created_at: T + at,
  ...more,
});
const submitted = line('submitted', 0, { role: 'user', content: 'Hello', model: 'gpt' });

const NOTHING = {
  turnId: null,
  pid: null,
  submittedAt: null,
  workerStartedAt: null,
  completedAt: null,
  interrupted: null,
  content: null,
  model: null,
};

function open() {
  const sessionsDir = newSessionsDir();
  return { sessionsDir, reader: new TurnEvidenceReader(join(sessionsDir, '_turn_journal')) };
}

describe('the evidence of a run', () => {
  it('grows with the lines of the turn', async () => {
    const { sessionsDir, reader } = open();
    expect(await reader.read(['s'], 'run')).toEqual(NOTHING);
    writeTurns(sessionsDir, 's', 7, [submitted]);
    const first = { ...NOTHING, turnId: 'turn', pid: 7, submittedAt: T, content: 'Hello', model: 'gpt' };
    expect(await reader.read(['s'], 'run')).toEqual(first);
    writeTurns(sessionsDir, 's', 7, [line('worker_started', 1), line('submitted', 2, { stream_id: 'other', content: 'x' })]);
    expect(await reader.read(['s'], 'run')).toEqual({ ...first, workerStartedAt: T + 1 });
    writeTurns(sessionsDir, 's', 7, [line('assistant_started', 3), line('completed', 9)]);
    expect(await reader.read(['s'], 'run')).toEqual({ ...first, workerStartedAt: T + 1, completedAt: T + 9 });
    expect(await reader.read(['s'], 'none')).toEqual(NOTHING);
  });

  it('the latest of two ends counts', async () => {
    const { sessionsDir, reader } = open();
    writeTurns(sessionsDir, 's', 7, [submitted, line('completed', 9)]);
    writeTurns(sessionsDir, 's', 8, [line('interrupted', 10, { reason: 'cancelled' })]);
    expect(await reader.read(['s'], 'run')).toMatchObject({
      pid: 8,
      completedAt: null,
      interrupted: { at: T + 10, reason: 'cancelled' },
    });
  });

  it('is found in the child after a rotation, under a turn id of its own', async () => {
    const { sessionsDir, reader } = open();
    writeTurns(sessionsDir, 'parent', 7, [submitted]);
    writeTurns(sessionsDir, 'child', 7, [line('completed', 9, { turn_id: 'invented' })]);
    expect(await reader.read(['child', 'parent', 'child'], 'run')).toMatchObject({ turnId: 'turn', submittedAt: T, completedAt: T + 9 });
    expect(await reader.read(['parent'], 'run')).toMatchObject({ completedAt: null });
  });

  it('a prompt is cut to what may be shown, and one too long to be read is left out', async () => {
    const { sessionsDir, reader } = open();
    writeTurns(sessionsDir, 's', 7, [{ ...submitted, content: 'x'.repeat(100_000) }]);
    writeTurns(sessionsDir, 't', 7, [{ ...submitted, content: 'x'.repeat(400_000) }]);
    expect((await reader.read(['s'], 'run')).content).toBe('x'.repeat(65_536));
    expect(await reader.read(['t'], 'run')).toMatchObject({ turnId: 'turn', content: null });
  });

  it('what can’t be read as a line, and what is no session, tells nothing', async () => {
    const { sessionsDir, reader } = open();
    writeTurns(sessionsDir, 's', 7, [submitted]);
    writeFileSync(shardPath(sessionsDir, 's', 8), 'broken\n5\n\n{"event":"completed"}\n{"stream_id":"run","event":"completed"}');
    expect(await reader.read(['s', '../s', '', 's~7'], 'run')).toMatchObject({ pid: 7, completedAt: null });
    rmSync(shardPath(sessionsDir, 's', 7));
    expect(await reader.read(['s'], 'run')).toEqual(NOTHING);
  });
});

describe('what is kept of the files', () => {
  it('answers for runs old and new, again and again', async () => {
    const { sessionsDir, reader } = open();
    const runs = Array.from({ length: 40 }, (_, index) =>
      line('submitted', index, { stream_id: `run${index}`, content: `prompt ${index}` }),
    );
    writeTurns(sessionsDir, 's', 7, runs);
    for (const round of [1, 2]) {
      for (const index of [39, 0, 38, 20]) {
        expect((await reader.read(['s'], `run${index}`)).content, `round ${round}`).toBe(`prompt ${index}`);
      }
    }
  });

  it('of many sessions only those asked for last are kept, and all are answered', async () => {
    const { sessionsDir, reader } = open();
    for (let index = 0; index < 100; index++) writeTurns(sessionsDir, `s${index}`, 7, [submitted]);
    for (let index = 0; index < 100; index++) expect(await reader.read([`s${index}`], 'run')).toMatchObject({ pid: 7 });
    writeTurns(sessionsDir, 's0', 7, [line('completed', 1)]);
    expect(await reader.read(['s0'], 'run')).toMatchObject({ completedAt: T + 1 });
  });
});
