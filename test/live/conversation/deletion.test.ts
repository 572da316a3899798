/** Sessions and journals that go while they are followed (`spec/live-turns.md` 3.4, 21 cases 23, 24, 78). */
import { readFileSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FollowedTurns, type Reader } from './following.ts';
import { expectOnce, place, textOf } from './telling.ts';

const token = (text: string) => ({ event: 'token', payload: { text } });

async function running(): Promise<{ test: FollowedTurns; reader: Reader; path: string }> {
  const test = await FollowedTurns.begin({ tickMs: 50 });
  await test.ui.createSession('s');
  const reader = await test.follow('s');
  await test.ui.submit({ sessionId: 's', runId: 'r', text: 'hi' });
  await test.ui.journal('s', 'r', [{ event: 'context_status' }]);
  await test.ui.rows('s', [{ role: 'user', content: 'hi' }]);
  await test.ui.journal('s', 'r', ['one ', 'two ', 'three '].map(token));
  await reader.when('the text', () => textOf(reader.events)[0] === 'one two three ');
  await reader.until('MessagesAppended');
  return { test, reader, path: join(test.ui.sessions, '_run_journal', 's', 'r.jsonl') };
}

/** What a client shows after the last reset. */
const shown = (reader: Reader) => textOf(reader.events.slice(reader.events.findLastIndex(({ kind }) => kind === 'StreamReset') + 1));

describe('a session that is deleted', () => {
  it('23: while its run goes on ends its turn, and what the run writes anew is not mixed with what was before', async () => {
    const { test, reader } = await running();
    await test.ui.deleteSession('s');
    await reader.until('SessionDeleted');
    await reader.until('TurnEnded');
    await test.looks();
    expect(reader.of('SessionDeleted')).toHaveLength(1);
    expect(reader.of('TurnEnded')).toEqual([expect.objectContaining({ turnId: 'r', outcome: 'SESSION_DELETED', certainty: 'CERTAIN' })]);
    await test.ui.journal('s', 'r', [token('anew ')]);
    await reader.when('the new text', () => shown(reader)[0] === 'anew ');
    // Where the journal was seen to go before the sidecar, RUN_GONE was told before.
    expect(reader.of('StreamReset').at(-1)).toMatchObject({ reason: 'RUN_REWRITTEN', scope: 'RUN' });
    await test.looks();
    // What was begun anew ends anew, of the same.
    expect(new Set(reader.of('TurnEnded').map(({ outcome }) => outcome))).toEqual(new Set(['SESSION_DELETED']));
    expect(reader.of('SessionDeleted')).toHaveLength(1);
    expectOnce(reader);
  });

  it('78: with the side question that it was made for, is told behind the end of that', async () => {
    const test = await FollowedTurns.begin({ tickMs: 50 });
    await test.ui.createSession('btw', { stored: false });
    const reader = await test.follow('btw');
    await test.ui.submit({ sessionId: 'btw', runId: 'r', text: 'By the way?' });
    await test.ui.journal('btw', 'r', [
      token('Yes.'),
      { event: 'done', payload: { ephemeral: true, answer: 'Yes.' } },
      { event: 'stream_end' },
    ]);
    await reader.until('TurnEnded');
    rmSync(join(test.ui.sessions, 'btw.json'));
    await reader.until('SessionDeleted');
    await test.looks();
    expect(reader.story.filter((kind) => kind !== 'SegmentSealed')).toEqual(['TurnStarted', 'TextDelta', 'TurnEnded', 'SessionDeleted']);
    expect(reader.of('TurnEnded')[0]).toMatchObject({ outcome: 'COMPLETED', certainty: 'CERTAIN' });
    expectOnce(reader);
  });

  it('is told once, whichever of its files and rows is seen to go first', async () => {
    const { test, reader } = await running();
    // The Web UI was too slow with its file.
    await test.commit("DELETE FROM messages WHERE session_id = 's'", "DELETE FROM sessions WHERE id = 's'");
    await reader.until('SessionDeleted');
    rmSync(join(test.ui.sessions, 's.json'));
    await reader.until('TurnEnded');
    await test.looks();
    expect(reader.of('SessionDeleted')).toHaveLength(1);
  });

  it('is told once when the store had it, and the turn that only rows told of ends with it', async () => {
    const test = await FollowedTurns.begin({ tickMs: 50 });
    await test.ui.createSession('s', { source: 'telegram', sidecar: false });
    const reader = await test.follow('s');
    await test.ui.lease('s', 'acquire', 'telegram');
    await test.ui.rows('s', [{ role: 'user', content: 'hi' }]);
    await reader.until('MessagesAppended');
    await test.ui.deleteSession('s');
    await reader.until('SessionDeleted');
    await test.looks();
    expect(reader.of('SessionDeleted')).toHaveLength(1);
    expect(reader.of('TurnEnded').map(({ outcome }) => outcome)).toEqual(['SESSION_DELETED']);
    expect(place(reader.events, 'TurnEnded')).toBeGreaterThan(-1);
  });
});

describe('a journal', () => {
  it('24: that is cut is told anew', async () => {
    const { test, reader, path } = await running();
    const lines = readFileSync(path, 'utf8').split('\n');
    truncateSync(path, Buffer.byteLength(`${lines.slice(0, 2).join('\n')}\n`));
    await reader.until('StreamReset');
    expect(reader.of('StreamReset')[0]).toMatchObject({ reason: 'RUN_REWRITTEN', scope: 'RUN' });
    await reader.when('what is left', () => shown(reader)[0] === 'one ');
    const frame = reader.frames.find(({ events }) => events.some(({ kind }) => kind === 'StreamReset'));
    const kinds = frame?.events.map(({ kind }) => kind) ?? [];
    expect(kinds[kinds.indexOf('StreamReset') + 1]).toBe('LiveSnapshot');
    await test.ui.journal('s', 'r', [{ ...token('four'), seq: 3 }]);
    await reader.when('what comes then', () => shown(reader)[0] === 'one four');
    expect(reader.of('TurnEnded')).toEqual([]);
  });
});
