/** Turns as the Web UI's processes recorded them. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { deriveTurnStates, eventsOfRun, pidOfRun, readTurnJournal } from '../../../src/live/journal/turn-journal.ts';
import { journalRoot } from '../../support/journal-lines.ts';

function shards(files: Readonly<Record<string, readonly unknown[]>>): string {
  const root = journalRoot();
  for (const [name, lines] of Object.entries(files)) {
    writeFileSync(join(root, name), lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''));
  }
  return root;
}

const at = (event: string, turnId: string | null, createdAt: unknown, more: Record<string, unknown> = {}) => ({
  event,
  ...(turnId === null ? {} : { turn_id: turnId }),
  created_at: createdAt,
  ...(event === 'completed' || event === 'interrupted' ? { terminal: true } : {}),
  ...more,
});

describe('the turn journal', () => {
  it('merges the files of all processes by time, and of other sessions none', async () => {
    const root = shards({
      's.jsonl': [at('submitted', 'legacy', 5)],
      's~10.jsonl': [at('submitted', 'a', 1), at('completed', 'a', 9)],
      's~20.jsonl': [at('submitted', 'b', 7), 'broken', '', '5'],
      's2~10.jsonl': [at('submitted', 'other', 2)],
      's~x.jsonl': [at('submitted', 'other', 2)],
      's~10.jsonl.tmp': [at('submitted', 'other', 2)],
    });
    const { events, malformed } = await readTurnJournal(root, 's');
    expect(events.map(({ turnId, event, pid }) => [turnId, event, pid])).toEqual([
      ['a', 'submitted', 10],
      ['legacy', 'submitted', null],
      ['b', 'submitted', 20],
      ['a', 'completed', 10],
    ]);
    expect(malformed).toEqual([
      { line: 2, shard: 's~20.jsonl' },
      { line: 4, shard: 's~20.jsonl' },
    ]);
    expect(await readTurnJournal(root, 'none')).toEqual({ events: [], malformed: [], malformedCount: 0, truncated: false });
    expect(await readTurnJournal(root, '../s')).toEqual({ events: [], malformed: [], malformedCount: 0, truncated: false });
    expect(await readTurnJournal('/nowhere', 's')).toEqual({ events: [], malformed: [], malformedCount: 0, truncated: false });
  });

  it('the latest event is a turn’s state, of equal times the later line; two ends are a collision', async () => {
    const root = shards({
      's~1.jsonl': [
        at('submitted', 'a', 1),
        at('completed', 'a', 2),
        at('interrupted', 'a', 3),
        at('submitted', 'b', 'x'),
        at('worker_started', 'b', null),
        at('submitted', null, 9),
      ],
    });
    const { states, collisions } = deriveTurnStates((await readTurnJournal(root, 's')).events);
    expect([...states].map(([turnId, { event }]) => [turnId, event]).sort()).toEqual([
      ['a', 'interrupted'],
      ['b', 'worker_started'],
    ]);
    expect(collisions.map(({ turnId, events }) => [turnId, events.map(({ event }) => event)])).toEqual([
      ['a', ['completed', 'interrupted']],
    ]);
  });

  it('77: a run of the gateway has a start and no end, and that is no interruption', async () => {
    const root = shards({ 's~7.jsonl': [at('submitted', 'a', 1, { stream_id: 'run' })] });
    const { events } = await readTurnJournal(root, 's');
    expect(deriveTurnStates(events).states.get('a')).toMatchObject({ event: 'submitted', terminal: false });
    expect(pidOfRun(events, 'run')).toBe(7);
  });

  it('a run is followed by its stream into the session after a rotation, where its turn has another id', async () => {
    const root = shards({
      'parent~7.jsonl': [at('submitted', 'a', 1, { stream_id: 'run' }), at('worker_started', 'a', 2, { stream_id: 'run' })],
      'child~8.jsonl': [at('completed', 'invented', 9, { stream_id: 'run' }), at('submitted', 'b', 10, { stream_id: 'next' })],
    });
    const both = [...(await readTurnJournal(root, 'child')).events, ...(await readTurnJournal(root, 'parent')).events];
    expect(eventsOfRun(both, 'run').map(({ event }) => event)).toEqual(['submitted', 'worker_started', 'completed']);
    expect(pidOfRun(both, 'run')).toBe(8);
    expect(pidOfRun(both, 'unknown')).toBeNull();
  });

  it('a line over 256 KiB keeps its first fields, and its time from the turn’s id', async () => {
    const turnId = '20260822T101112Z-0123456789ab';
    const submitted = { event: 'submitted', turn_id: turnId, stream_id: 'run', role: 'user', content: 'x'.repeat(400_000), created_at: 5 };
    const { events, malformed } = await readTurnJournal(shards({ 's~7.jsonl': [submitted] }), 's');
    expect(malformed).toEqual([]);
    expect(events).toMatchObject([{ event: 'submitted', turnId, streamId: 'run', createdAt: Date.UTC(2026, 7, 22, 10, 11, 12) / 1000 }]);
    expect(events[0]?.fields.content).toBeUndefined();
  });

  it('a link in the place of a file is not followed, the directory itself may be one', async () => {
    const outside = shards({ 's~7.jsonl': [at('submitted', 'a', 1)] });
    const root = journalRoot();
    symlinkSync(join(outside, 's~7.jsonl'), join(root, 's~7.jsonl'));
    mkdirSync(join(root, 's~8.jsonl'));
    expect((await readTurnJournal(root, 's')).events).toEqual([]);
    const linked = join(journalRoot(), 'turns');
    symlinkSync(outside, linked);
    expect((await readTurnJournal(linked, 's')).events).toHaveLength(1);
  });
});
