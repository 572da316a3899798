/**
 * A turn that is submitted in the very moment in which the one before ends (a queued message, a goal that goes on). How the two meet is a
 * matter of milliseconds: each case plays many pairs.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { LiveEvent } from '../../../src/live/conversation/events.ts';
import { FollowedTurns } from './following.ts';

const PAIRS = 15;

interface Pair {
  readonly first: string;
  readonly second: string;
  readonly events: readonly LiveEvent[];
}

/** Turns in pairs, the second at once behind the first. Gives what was told of each pair. */
async function playPairs(ends: 'done' | 'cancel'): Promise<Pair[]> {
  const test = await FollowedTurns.begin();
  await test.ui.createSession('s');
  const reader = await test.follow('s');
  const pairs: Pair[] = [];
  for (let number = 0; number < PAIRS; number += 1) {
    const [first, second] = [`first-${number}`, `second-${number}`];
    const before = reader.events.length;
    await Promise.all([...play(test, first, ends), ...play(test, second, 'done')]);
    await reader.until('TurnEnded', (number + 1) * 2);
    // Only the second of a pair comes at once.
    await sleep(60);
    pairs.push({ first, second, events: reader.events.slice(before) });
  }
  expect(test.errors).toEqual([]);
  return pairs;
}

function play({ ui }: FollowedTurns, runId: string, ends: 'done' | 'cancel'): Promise<unknown>[] {
  const run = { sessionId: 's', runId };
  return [
    ui.submit({ ...run, text: 'Go on.' }),
    ui.journal('s', runId, [{ event: 'context_status', payload: {} }]),
    ui.lease('s', 'acquire'),
    ui.rows('s', [{ role: 'user', content: 'Go on.' }]),
    ui.journal('s', runId, [{ event: 'token', payload: { text: `answer of ${runId}` } }]),
    ...(ends === 'cancel' ? [] : [ui.rows('s', [{ role: 'assistant', content: `answer of ${runId}` }])]),
    ui.lease('s', 'release'),
    ui.settle({ ...run, cancelled: ends === 'cancel' }),
    ui.journal('s', runId, [{ event: ends, payload: {} }]),
  ];
}

describe('a turn that begins in the moment in which the one before ends', () => {
  it('has its own rows: they are not taken for rows of the turn before, and cover its text', async () => {
    const wrong = (await playPairs('done')).flatMap(({ first, second, events }) => {
      const rows = events.flatMap((event) => (event.kind === 'MessagesAppended' ? [event] : []));
      const owners = rows.map(({ runId }) => runId);
      const covered = rows.flatMap(({ supersedes }) => supersedes.map(({ runId }) => runId));
      const isRight = String(owners) === String([first, first, second, second]) && String(covered) === String([first, second]);
      const ends = events.flatMap((event) =>
        event.kind === 'TurnEnded' ? [`${event.turnId}: ${event.firstMessageId} to ${event.lastMessageId}`] : [],
      );
      return isRight ? [] : [{ owners, covered, ends }];
    });
    expect(wrong.slice(0, 3), `${wrong.length} of ${PAIRS} pairs`).toEqual([]);
  });

  it.each(['done', 'cancel'] as const)('is told to begin after the other was told to end (%s)', async (ends) => {
    const wrong = (await playPairs(ends)).flatMap(({ first, second, events }) => {
      const turns = events.flatMap((event) =>
        event.class === 'CONTENT' && (event.kind === 'TurnStarted' || event.kind === 'TurnEnded') ? [`${event.kind} ${event.turnId}`] : [],
      );
      const wanted = [`TurnStarted ${first}`, `TurnEnded ${first}`, `TurnStarted ${second}`, `TurnEnded ${second}`];
      return String(turns) === String(wanted) ? [] : [turns];
    });
    expect(wrong.slice(0, 3), `${wrong.length} of ${PAIRS} pairs`).toEqual([]);
  });
});
