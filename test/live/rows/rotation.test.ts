/** Conversations that go on in another session (`spec/live-turns.md` 11.2, 21). */
import { describe, expect, it } from 'vitest';
import { M, S } from '../../support/stores.ts';
import { content, eventsOf, follow, NOW } from './following.ts';
import { append, calls, compact, insert, lease, rotate } from './operations.ts';

const PARENT = {
  rows: [
    S('a', { model: 'm' }),
    ...Array.from({ length: 6 }, (_, index) => M('a', { role: index % 2 === 0 ? 'user' : 'assistant', content: `row ${index}` })),
  ],
};
const SUMMARY = { content: '[CONTEXT SUMMARY]: so far', display_kind: 'hidden' };
const branch = (id: string, parent: string) =>
  insert('sessions', {
    id,
    source: 'cli',
    parent_session_id: parent,
    started_at: NOW,
    model_config: JSON.stringify({ _branched_from: parent }),
  });

describe('a rotation', () => {
  it('57: is told before the rows of the child, and the turn goes on', async () => {
    const test = await follow(PARENT, 'a');
    await test.commit(lease('a', 'cli', NOW), ...append('a', { content: 'go on', timestamp: NOW }));
    await test.events(0);
    await test.commit(...rotate('a', 'b', SUMMARY, 2, NOW + 1));
    await test.commit(...append('b', { role: 'assistant', tool_calls: calls(['c1', 'terminal']), timestamp: NOW + 2 }));
    const events = await test.events(0);
    expect(content(events)).toEqual(['SessionContinued a>b handoff 8 carried 6>9,7>10', 'MessagesAppended 11', 'ToolStarted terminal 11']);
    expect(events.map(({ sessionId }) => sessionId)).toEqual(['b', 'b', 'b']);
    expect(test.rows.head?.sessionId).toBe('b');
    // The lease lies at the root.
    expect(test.rows.turn).toMatchObject({ firstMessageId: '7', lastMessageId: '11' });
    await test.commit(...append('b', { role: 'assistant', finish_reason: 'stop', timestamp: NOW + 3 }), 'DELETE FROM session_turn_leases');
    expect(content(await test.events(0))).toEqual(['MessagesAppended 12', 'TurnEnded COMPLETED HIGH LEASE_GONE 7..12']);
    expect(test.told.at(-1)).toMatchObject({ sessionId: 'b' });
  });

  it('57: is told with everything that happened in the child meanwhile, another rotation too', async () => {
    const test = await follow(PARENT, 'a');
    await test.commit(...rotate('a', 'b', SUMMARY, 2, NOW));
    await test.commit(...append('b', { role: 'assistant', content: 'x', timestamp: NOW + 1 }));
    await test.commit(...compact('b', [{ content: '[CONTEXT SUMMARY]: again', timestamp: NOW + 2 }], 1));
    await test.commit(...rotate('b', 'c', SUMMARY, 1, NOW + 3));
    await test.commit(...append('c', { role: 'assistant', content: 'y', timestamp: NOW + 4 }));
    expect(content(await test.events(0))).toEqual([
      'SessionContinued a>b handoff 7 carried 5>8,6>9',
      'MessagesAppended 10',
      'TranscriptCompacted archived 3 summaries 11 carried 10>12',
      'SessionContinued b>c handoff 13 carried 12>14',
      'MessagesAppended 15',
    ]);
    expect(test.rows.segmentIds).toEqual(['a', 'b', 'c']);
  });

  it('settles the compaction that announced it', async () => {
    const test = await follow(PARENT, 'a');
    const lock = { session_id: 'a', holder: 'pid=7:tid=1', acquired_at: NOW, expires_at: NOW + 300 };
    await test.commit(insert('compression_locks', lock));
    await test.commit(...rotate('a', 'b', SUMMARY, 1, NOW + 1));
    expect((await test.events()).map(({ kind }) => kind)).toEqual(['CompressionStarted', 'SessionContinued']);
    await test.commit('DELETE FROM compression_locks');
    expect(await test.pass()).toEqual([]);
  });

  it('is only announced to a reader who does not follow', async () => {
    const test = await follow(PARENT, 'a', { followContinuations: false });
    await test.commit(...rotate('a', 'b', SUMMARY, 1, NOW));
    await test.commit(...append('b', { role: 'assistant', timestamp: NOW + 1 }));
    expect(content(await test.events())).toEqual(['SessionContinued a>b handoff 7 carried 6>8']);
    await test.commit(...append('b', { role: 'assistant', timestamp: NOW + 2 }));
    expect(await test.pass()).toEqual([]);
    expect(test.rows.segmentIds).toEqual(['a']);
  });

  it('59: is followed to the tip from any ancestor', async () => {
    const first = await follow(PARENT, 'a');
    await first.commit(...rotate('a', 'b', SUMMARY, 1, NOW));
    await first.commit(...rotate('b', 'c', SUMMARY, 1, NOW + 1));
    const test = await follow(first.path, 'a');
    expect(test.rows.segmentIds).toEqual(['a', 'b', 'c']);
    expect(test.rows.head).toMatchObject({ sessionId: 'c', activeCount: 2 });
    const position = {
      segmentId: 'a',
      maxRowId: '6',
      digest: first.rows.position.digest,
      turnId: null,
      at: NOW,
      views: ['', '', ''] as const,
    };
    const resumed = await test.resume('a', position);
    expect(resumed.kind === 'CONTINUED' && eventsOf(resumed.events, 'SessionContinued').map(({ toSessionId }) => toSessionId)).toEqual([
      'b',
      'c',
    ]);
    const fromTheMiddle = await follow(first.path, 'b');
    expect(fromTheMiddle.rows.segmentIds).toEqual(['a', 'b', 'c']);
  });

  it('60: is no branch', async () => {
    const test = await follow(PARENT, 'a');
    await test.commit(branch('side', 'a'), ...append('side', { content: 'elsewhere', timestamp: NOW }));
    expect(await test.pass()).toEqual([]);
    await test.commit(...rotate('a', 'b', SUMMARY, 1, NOW));
    await test.events();
    expect(test.rows.segmentIds).toEqual(['a', 'b']);
  });

  it('60: of a branch is followed, although its child inherits the marker', async () => {
    const test = await follow(PARENT, 'side');
    await test.commit(branch('side', 'a'), ...append('side', { content: 'elsewhere', timestamp: NOW }));
    expect(content(await test.events())).toEqual(['TurnStarted cli 7', 'MessagesAppended 7']);
    await test.commit(...rotate('side', 'next', SUMMARY, 1, NOW + 1));
    expect(content(await test.events())).toEqual(['SessionContinued side>next handoff 8 carried 7>9']);
  });

  it('is not followed round a loop of parents', async () => {
    const ended = { ended_at: 5, end_reason: 'compression' };
    const loop = [S('a', { ...ended, parent_session_id: 'b' }), S('b', { ...ended, parent_session_id: 'a' }), M('a'), M('b')];
    const test = await follow({ rows: loop }, 'a');
    expect(test.rows.segmentIds).toEqual(['b', 'a']);
    await test.commit("UPDATE sessions SET title = 'x' WHERE id = 'a'");
    expect(await test.pass()).toEqual(['TitleChanged x']);
  });
});
