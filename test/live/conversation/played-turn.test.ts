import { describe, expect, it } from 'vitest';
import { FollowedTurns } from './following.ts';

describe('a turn that is played', () => {
  it('comes as text, tools and rows, with one beginning and one end', async () => {
    const test = await FollowedTurns.begin();
    await test.ui.createSession('s');
    const reader = await test.follow('s');
    const played = await test.ui.play('s', { seed: 7, rounds: 2, words: 10, beatMs: 30 });
    await reader.until('TurnEnded');
    const content = reader.events.filter((event) => event.class === 'CONTENT');
    expect(content.filter(({ kind }) => kind === 'TurnStarted')).toHaveLength(1);
    expect(reader.of('TurnEnded')).toHaveLength(1);
    expect(reader.of('TurnEnded')[0]).toMatchObject({ turnId: played.runId, outcome: 'COMPLETED', certainty: 'CERTAIN' });
    const texts = Map.groupBy(reader.of('TextDelta'), ({ segment }) => segment);
    const told = [...texts.values()].map((deltas) => deltas.map(({ text }) => text).join(''));
    expect(told).toEqual(played.texts.filter((text) => text !== ''));
    expect(new Set(content.map(({ id }) => id)).size).toBe(content.length);
    expect(test.errors).toEqual([]);
  });
});
