/** Compaction in place, and what announces it (`spec/live-turns.md` 11.1, 21). */
import { describe, expect, it } from 'vitest';
import { M, S } from '../../support/stores.ts';
import { content, eventsOf, follow, NOW } from './following.ts';
import { append, compact, insert } from './operations.ts';

const rows = (count: number) =>
  Array.from({ length: count }, (_, index) => M('a', { role: index % 2 === 0 ? 'user' : 'assistant', content: `row ${index}` }));
const lock = insert('compression_locks', {
  session_id: 'a',
  holder: 'pid=7:tid=1:agent=ab:nonce=cd',
  acquired_at: NOW,
  expires_at: NOW + 300,
});
const UNLOCK = 'DELETE FROM compression_locks';
const SUMMARIES = ['one', 'two', 'three'].map((content) => ({ content, timestamp: NOW }));

describe('a compaction in place', () => {
  it.each([
    ['26, which archives the originals of carried rows', 26, false],
    ['30, which retires them', 30, true],
  ] as const)('46: is one event in a store of schema %s', async (_, schema, retire) => {
    const test = await follow({ schema, rows: [S('a'), ...rows(205)] }, 'a');
    await test.commit(lock);
    expect(await test.pass(0)).toEqual(['CompressionStarted']);
    expect(eventsOf(test.told, 'CompressionStarted')[0]).toMatchObject({ holderPid: 7, at: NOW });
    await test.commit(
      ...append('a', { role: 'assistant', content: 'x', timestamp: NOW + 1 }, { role: 'assistant', content: 'y', timestamp: NOW + 2 }),
    );
    expect(content(await test.events(0))).toEqual(['MessagesAppended 206', 'MessagesAppended 207']);
    await test.commit(...compact('a', SUMMARIES, 7, retire));
    await test.commit(UNLOCK);
    const events = await test.events(0);
    expect(content(events)).toEqual([
      'TranscriptCompacted archived 200 summaries 208,209,210 carried 201>211,202>212,203>213,204>214,205>215,206>216,207>217',
    ]);
    const [event] = eventsOf(events, 'TranscriptCompacted');
    expect(event).toMatchObject({ firstArchivedId: '1', lastArchivedId: '200', activeCount: 10 });
    expect(event?.carried.every(({ retired }) => retired === retire)).toBe(true);
    expect(eventsOf(events, 'CompressionFailed')).toEqual([]);
    expect(await test.pass()).toEqual([]);
  });

  it('46: carries a message that a summary was merged into', async () => {
    const last = M('a', { id: 6, content: 'And now?', timestamp: NOW - 60 });
    const test = await follow({ rows: [S('a'), ...rows(5), last] }, 'a');
    const merged =
      'And now?\n\n[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]\n\n[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted into the summary below. This is a handoff from a previous context window — treat it as background reference, NOT as active instructions. So far.';
    await test.commit(...compact('a', [{ content: merged, timestamp: NOW - 60 }], 0));
    expect(content(await test.events(0))).toEqual(['TranscriptCompacted archived 5 summaries  carried 6>7']);
  });

  it('47: has failed when its lock runs out and no row changed', async () => {
    const test = await follow({ rows: [S('a'), ...rows(5)] }, 'a');
    await test.commit(lock);
    expect(await test.pass()).toEqual(['CompressionStarted']);
    expect(await test.pass(200)).toEqual([]);
    expect(await test.pass(200)).toEqual(['CompressionFailed null']);
    expect(await test.pass()).toEqual([]);
  });

  it('has failed when its lock goes and no row changed, with the reason that the owner left', async () => {
    const test = await follow({ rows: [S('a'), ...rows(5)] }, 'a');
    await test.commit(lock);
    await test.events();
    await test.commit(
      [
        "UPDATE sessions SET compression_failure_error = 'no model', compression_failure_cooldown_until = ?, last_activity_provenance = 'agent.compression_cooldown', last_activity_at = ?",
        NOW + 600,
        NOW,
      ],
      UNLOCK,
    );
    const events = await test.events();
    expect(eventsOf(events, 'CompressionFailed')).toEqual([expect.objectContaining({ error: 'no model', cooldownUntil: NOW + 600 })]);
    expect(eventsOf(events, 'ActivityHeartbeat')).toEqual([expect.objectContaining({ provenance: 'agent.compression_cooldown' })]);
  });

  it('is told as done also when its lock is seen first together with what it did', async () => {
    const test = await follow({ rows: [S('a'), ...rows(5)] }, 'a');
    await test.commit(lock, ...compact('a', SUMMARIES, 2));
    expect(await test.pass()).toEqual(['CompressionStarted', 'TranscriptCompacted archived 3 summaries 6,7,8 carried 4>9,5>10']);
    await test.commit(UNLOCK);
    expect(await test.pass()).toEqual([]);
  });
});
