/** Undoing the turns of a person, and taking that back (`spec/state-db-writes.md` 10). */
import { afterEach, describe, expect, it } from 'vitest';
import { END, SUM } from '../../../src/state-db/summary-markers.ts';
import { readTranscripts } from '../../../src/state-db/transcript.ts';
import type { RewindSessionInput } from '../../../src/state-db/write/rewind-session.ts';
import { commandHost, type TestHost } from '../../support/command-host.ts';
import { storeFaults } from '../../support/store-faults.ts';
import { buildStore, M, type Row, S, type StoreSpec, T } from '../../support/stores.ts';

let host: TestHost;
afterEach(() => host.close());

const STRUCTURED = '\u0000json:';
const user = (content: string | null, more = {}) => M('s', { content, ...more });
const assistant = (content: string | null, more = {}) => M('s', { role: 'assistant', content, ...more });
const carrier = (text: string) => user(`${SUM}body ${END} ${text}`, { _compressed_summary: 1 });
const parts = (...list: readonly unknown[]) => STRUCTURED + JSON.stringify(list);
const TWO = [user('u1'), assistant('a1'), user('u2'), assistant('a2', { tool_calls: '[{"id": "c"}]' })];

function open(rows: readonly Row[], spec: StoreSpec = {}): void {
  host = commandHost(buildStore({ schema: 31, ...spec, rows: [S('s', { message_count: 99, tool_call_count: 99 }), ...rows] }));
}
function rewind(more: Partial<RewindSessionInput> = {}, envelope: Parameters<TestHost['run']>[2] = {}) {
  return host.run('rewindSession', { sessionId: 's', turns: 1, ...more }, envelope);
}
function restore(receipt: string | null) {
  return host.run('restoreRewind', { receipt: receipt ?? '', leaseToken: null });
}
const states = () =>
  host
    .rows('SELECT id, active, compacted FROM messages ORDER BY id')
    .map(({ id, active, compacted }) => `${String(id)}${active === 1 ? 'L' : compacted === 1 ? 'A' : 'R'}`)
    .join(' ');
const session = () => host.rows("SELECT message_count, tool_call_count, rewind_count FROM sessions WHERE id = 's'")[0];
const revision = async (view: 'REPLAY' | 'DISPLAY', sessionIds = ['s']) =>
  host.writer.read((store) => {
    const [transcript] = readTranscripts(store, [{ view, sessionIds }], 0);
    return typeof transcript === 'object' ? transcript.revision : '';
  });

describe('a rewind', () => {
  it('T79: hides the last turn, counts itself, and sets the counters from what is live', async () => {
    open(TWO);
    expect(await rewind()).toMatchObject({
      rewoundCount: 2,
      turnsUndone: 1,
      targetText: 'u2',
      targetId: '3',
      retiredIds: ['3', '4'],
      newHeadId: '2',
      replacementId: null,
    });
    expect(states()).toBe('1L 2L 3R 4R');
    expect(session()).toEqual({ message_count: 2, tool_call_count: 0, rewind_count: 1 });
    expect(storeFaults(host.path, ['s'])).toEqual([]);
  });

  it('T80: of more turns than there are begins at the first', async () => {
    open(TWO);
    expect(await rewind({ turns: 5 })).toMatchObject({ rewoundCount: 4, turnsUndone: 2, targetText: 'u1', newHeadId: null });
    expect(states()).toBe('1R 2R 3R 4R');
    expect(storeFaults(host.path, ['s'])).toEqual([]);
  });

  it.each([0, -3])('T81: of %i turns undoes one', async (turns) => {
    open(TWO);
    expect(await rewind({ turns })).toMatchObject({ turnsUndone: 1, targetText: 'u2' });
  });

  it.each<[string, readonly Row[]]>([
    ['no rows', []],
    ['no rows of a person', [assistant('a'), M('s', { role: 'tool', content: 'x' })]],
    ['a bare summary', [user(`${SUM}body`, { _compressed_summary: 1 })]],
    ['a note of the machine', [user('Model switched', { display_kind: 'model_switch' }), user('x', { display_kind: 'hidden' })]],
    ['blanks', [user(' \n '), user('<memory-context>x</memory-context>'), user(null)]],
    ['the prompt of a review', [user('Review the conversation above and update the skill library now'), assistant('ok')]],
    ['what was undone before', [user('x', { active: 0 })]],
  ])('T82: finds nothing in a session with %s', async (_, rows) => {
    open(rows);
    const before = states();
    await expect(rewind()).rejects.toMatchObject({ code: 'NOTHING_TO_REWIND', settled: true });
    expect(states()).toBe(before);
    expect(session()).toMatchObject({ rewind_count: 0, message_count: 99 });
  });

  it('T83: is refused when a row came after what the caller saw', async () => {
    open(TWO);
    const seen = await Promise.all([revision('REPLAY'), revision('DISPLAY')]);
    host.otherwise("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s', 'assistant', 'more', 9)");
    for (const expected of [{ expectedActiveIds: ['1', '2', '3', '4'] }, ...seen.map((expectedRevision) => ({ expectedRevision }))]) {
      await expect(rewind(expected)).rejects.toMatchObject({ code: 'TRANSCRIPT_CHANGED' });
    }
    expect(states()).toBe('1L 2L 3L 4L 5L');
    expect(await rewind({ expectedActiveIds: ['1', '2', '3', '4', '5'] })).toMatchObject({ rewoundCount: 3 });
  });

  it('T84: is refused when its target was edited, or is another than the one expected', async () => {
    open(TWO);
    const expectedRevision = await revision('REPLAY');
    await expect(rewind({ expectedTargetId: '1' })).rejects.toMatchObject({ code: 'TRANSCRIPT_CHANGED' });
    host.otherwise("UPDATE messages SET content = 'edited' WHERE id = 3");
    await expect(rewind({ expectedRevision })).rejects.toMatchObject({ code: 'TRANSCRIPT_CHANGED' });
    expect(await rewind({ expectedRevision: await revision('REPLAY'), expectedTargetId: '3' })).toMatchObject({ targetText: 'edited' });
  });

  it('takes the revision of the whole conversation as well as that of the segment', async () => {
    open([S('p', { ended_at: 50, end_reason: 'compression' }), M('p', { content: 'before' }), ...TWO]);
    host.otherwise("UPDATE sessions SET parent_session_id = 'p' WHERE id = 's'");
    await expect(rewind({ expectedRevision: await revision('REPLAY', ['p']) })).rejects.toMatchObject({ code: 'TRANSCRIPT_CHANGED' });
    expect(await rewind({ expectedRevision: await revision('DISPLAY', ['p', 's']) })).toMatchObject({ targetText: 'u2' });
    expect(await rewind({ expectedRevision: await revision('REPLAY') })).toMatchObject({ targetText: 'u1' });
    await expect(rewind({ expectedRevision: 'x' })).rejects.toMatchObject({ code: 'TRANSCRIPT_CHANGED' });
  });

  it('T85: of a turn that carries a summary keeps the summary, hidden, and gives the words back', async () => {
    open([carrier('live ask'), assistant('a1')]);
    const done = await rewind();
    expect(done).toMatchObject({ rewoundCount: 2, targetText: 'live ask', replacementId: '3', newHeadId: '3' });
    expect(states()).toBe('1R 2R 3L');
    expect(host.rows('SELECT role, content, display_kind, _compressed_summary, timestamp, message_uid FROM messages WHERE id = 3')).toEqual(
      [
        {
          role: 'user',
          content: `${SUM}body ${END}`,
          display_kind: 'hidden',
          _compressed_summary: 1,
          timestamp: 1,
          message_uid: done.replacementUid,
        },
      ],
    );
    expect(session()).toMatchObject({ message_count: 1 });
    expect(storeFaults(host.path, ['s'])).toEqual([]);
    await expect(rewind()).rejects.toMatchObject({ code: 'NOTHING_TO_REWIND' });
  });

  it('T86: for a retry finds nothing in a plain turn', async () => {
    open(TWO);
    await expect(rewind({ requireRetryable: true })).rejects.toMatchObject({ code: 'NOTHING_TO_REWIND' });
    expect(states()).toBe('1L 2L 3L 4L');
  });

  it.each<[string, readonly unknown[]]>([
    [
      'an image',
      [
        { type: 'text', text: 'a' },
        { type: 'image_url', image_url: { url: 'x' } },
      ],
    ],
    ['an annotated text', [{ type: 'text', text: 'a', annotations: [] }]],
    ['a part of another type', [{ type: 'thinking', text: 'a' }]],
  ])('T87: for a retry of a turn with %s is refused before anything is written', async (_, live) => {
    open([user(parts({ type: 'text', text: `${SUM}body ${END}` }, ...live), { _compressed_summary: 1 })]);
    await expect(rewind({ requireRetryable: true })).rejects.toMatchObject({ code: 'NOT_RETRYABLE' });
    expect(states()).toBe('1L');
    expect(await rewind()).toMatchObject({ rewoundCount: 1 });
  });

  it('T88: for a retry joins the texts of the parts as they are, else a line each', async () => {
    const rows = [user(parts({ type: 'text', text: `${SUM}body ${END}` }, { type: 'text', text: 'a' }, 'b'), { _compressed_summary: 1 })];
    open(rows);
    expect(await rewind({}, { dryRun: true })).toMatchObject({ targetText: 'a\nb' });
    expect(await rewind({ requireRetryable: true })).toMatchObject({ targetText: 'ab', rewoundCount: 1 });
  });

  it('T89: takes messages that follow each other without an answer for one turn', async () => {
    open([user('u0'), assistant('a0'), user('u1'), user('u2'), assistant('a')]);
    expect(await rewind({ turns: 2 }, { dryRun: true })).toMatchObject({ turnsUndone: 2, targetText: 'u0' });
    expect(await rewind()).toMatchObject({ turnsUndone: 1, targetId: '3', targetText: 'u1\n\nu2', retiredIds: ['3', '4', '5'] });
  });

  it.each<[string, readonly Row[], string, number]>([
    ['a note of the machine between them', [user('u1'), user('n', { display_kind: 'model_switch' }), user('u2')], 'u2', 2],
    ['an answer of calls alone between them', [user('u1'), assistant(null, { tool_calls: '[{"id": "c"}]' }), user('u2')], 'u2', 2],
    ['parts', [user('u1'), user(parts({ type: 'image_url', image_url: 'x' }))], '', 2],
    ['a summary in the second', [user('u1'), carrier('u2')], 'u2', 2],
    ['a steering text first', [user('u1', { display_kind: 'steer' }), user('u2')], 'u2', 2],
    ['a steering text second', [user('u1'), user('u2', { display_kind: 'steer' })], 'u1\n\nu2', 1],
    ['a skill that was called', [user('u1', { display_kind: 'skill_invocation' })], 'u1', 1],
  ])('counts turns right with %s', async (_, rows, targetText, turns) => {
    open(rows);
    expect(await rewind({}, { dryRun: true })).toMatchObject({ targetText });
    expect(await rewind({ turns: 9 }, { dryRun: true })).toMatchObject({ turnsUndone: turns });
  });

  it('leaves archived rows alone, but hides a live one that is marked as archived', async () => {
    open([user('u0', { active: 0, compacted: 1 }), user('u1', { compacted: 1 }), user('late', { active: 0, compacted: 1 })]);
    await rewind();
    expect(states()).toBe('1A 2R 3A');
  });
});

describe('guards of a rewind', () => {
  it('refuse it while anybody else is at work, and let the holder of the lease in', async () => {
    open([...TWO, T('session_turn_leases', { conversation_id: 's', holder: 'h', acquired_at: 0, expires_at: 2000 })]);
    await expect(rewind()).rejects.toMatchObject({ code: 'SESSION_BUSY', retryable: true });
    await expect(rewind({ leaseToken: 'x' })).rejects.toMatchObject({ code: 'TURN_LEASE_LOST' });
    expect(await rewind({ leaseToken: 'h' })).toMatchObject({ rewoundCount: 2 });
    host.otherwise("INSERT INTO compression_locks (session_id, holder, acquired_at, expires_at) VALUES ('s', 'c', 0, 2000)");
    await expect(rewind({ leaseToken: 'h' })).rejects.toMatchObject({ code: 'COMPRESSION_IN_PROGRESS' });
    host.otherwise("UPDATE sessions SET ended_at = 1, end_reason = 'compression'");
    host.otherwise('DELETE FROM compression_locks');
    await expect(rewind({ leaseToken: 'h' })).rejects.toMatchObject({ code: 'SESSION_CLOSED' });
    expect(states()).toBe('1L 2L 3R 4R');
  });
});

describe('a receipt of a rewind', () => {
  it('T91: gives a repeat the first answer; no other turn is undone', async () => {
    open(TWO);
    const first = await rewind({}, { clientMutationId: 'm' });
    expect(first.receipt).toBe('m');
    expect(await rewind({}, { clientMutationId: 'm' })).toEqual(first);
    expect(states()).toBe('1L 2L 3R 4R');
    expect(session()).toMatchObject({ rewind_count: 1 });
  });

  it('is there without an id of the client, and not for a dry run', async () => {
    open(TWO);
    expect(await rewind({}, { dryRun: true })).toMatchObject({ receipt: null, rewoundCount: 2 });
    expect(states()).toBe('1L 2L 3L 4L');
    const { receipt } = await rewind();
    expect(receipt).toMatch(/^[0-9a-f]{32}$/);
  });

  it('T158: is not given to the second of two who undo the same turn', async () => {
    open(TWO);
    const other = commandHost(host.path);
    const input = { sessionId: 's', turns: 1, expectedActiveIds: ['1', '2', '3', '4'] };
    const results = await Promise.allSettled([host.run('rewindSession', input), other.run('rewindSession', input)]);
    other.close();
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(results.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'TRANSCRIPT_CHANGED' } });
    expect(states()).toBe('1L 2L 3R 4R');
    expect(session()).toMatchObject({ rewind_count: 1 });
  });
});

describe('a restored rewind', () => {
  it('T93: has every row live again that was, and no other', async () => {
    open([user('old', { active: 0, compacted: 1 }), user('gone', { active: 0 }), ...TWO]);
    const { receipt } = await rewind();
    expect(states()).toBe('1A 2R 3L 4L 5R 6R');
    expect(await restore(receipt)).toMatchObject({ restoredCount: 2 });
    expect(states()).toBe('1A 2R 3L 4L 5L 6L');
    expect(session()).toEqual({ message_count: 4, tool_call_count: 1, rewind_count: 1 });
    expect(storeFaults(host.path, ['s'])).toEqual([]);
  });

  it('gives a repeat the first answer', async () => {
    open(TWO);
    const { receipt } = await rewind();
    const first = await restore(receipt);
    expect(await restore(receipt)).toEqual(first);
    await rewind();
    expect(await restore(receipt)).toEqual(first);
    expect(states()).toBe('1L 2L 3R 4R');
  });

  it('hides the scaffold again', async () => {
    open([carrier('live ask'), assistant('a1')]);
    const { receipt } = await rewind();
    expect(await restore(receipt)).toMatchObject({ restoredCount: 2, retiredId: '3' });
    expect(states()).toBe('1L 2L 3R');
    expect(storeFaults(host.path, ['s'])).toEqual([]);
  });

  it('has its messages in their old place again, among the archived copies that stayed in view', async () => {
    open([user('u', { timestamp: 5 }), assistant('a'), user('u', { timestamp: 5, active: 0, compacted: 1 })]);
    const slots = () =>
      host.rows('SELECT display_order AS slot FROM messages WHERE active = 1 OR compacted = 1 ORDER BY id').map(({ slot }) => slot);
    const { receipt } = await rewind();
    expect(slots()).toEqual([3]);
    await restore(receipt);
    expect(slots()).toEqual([1, 2, 1]);
    expect(storeFaults(host.path, ['s'])).toEqual([]);
    const { receipt: again } = await rewind();
    expect(slots()).toEqual([3]);
    await restore(again);
    expect(slots()).toEqual([1, 2, 1]);
    expect(storeFaults(host.path, ['s'])).toEqual([]);
  });

  it('T94: is refused when the session went on', async () => {
    open(TWO);
    const { receipt } = await rewind();
    host.otherwise("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s', 'user', 'other', 9)");
    await expect(restore(receipt)).rejects.toMatchObject({ code: 'TRANSCRIPT_CHANGED', settled: true });
    expect(states()).toBe('1L 2L 3R 4R 5L');
    host.otherwise('UPDATE messages SET active = 0 WHERE id = 5');
    expect(await restore(receipt)).toMatchObject({ restoredCount: 2 });
  });

  it('comes back in the order of the rewinds, so that no hole is left', async () => {
    open(TWO);
    const [first, second] = [await rewind(), await rewind()];
    await expect(restore(first.receipt)).rejects.toMatchObject({ code: 'TRANSCRIPT_CHANGED' });
    await restore(second.receipt);
    await restore(first.receipt);
    expect(states()).toBe('1L 2L 3L 4L');
  });

  it.each([
    ['UPDATE messages SET compacted = 1 WHERE id = 3', 'archived'],
    ['DELETE FROM messages WHERE id = 3', 'deleted'],
    ["UPDATE messages SET session_id = 'other' WHERE id = 3", 'of another session'],
  ])('is refused when a row is no longer as it was left: %s', async (sql) => {
    open([...TWO, S('other')]);
    const { receipt } = await rewind();
    host.otherwise(sql);
    await expect(restore(receipt)).rejects.toMatchObject({ code: 'TRANSCRIPT_CHANGED' });
  });

  it('needs the receipt of a rewind of this profile', async () => {
    open(TWO);
    const { receipt } = await rewind();
    await host.run(
      'rewriteTranscript',
      { sessionId: 's', mode: 'ARCHIVE_DROPPED', messages: [] },
      { clientMutationId: 'w', dryRun: false },
    );
    await expect(restore('nobody')).rejects.toMatchObject({ code: 'RECEIPT_UNKNOWN' });
    await expect(restore('w')).rejects.toMatchObject({ code: 'RECEIPT_UNKNOWN' });
    const other = commandHost(host.path, { profile: 'other' });
    await expect(other.run('restoreRewind', { receipt: receipt ?? '', leaseToken: null })).rejects.toMatchObject({
      code: 'RECEIPT_UNKNOWN',
    });
    other.close();
  });

  it('obeys the guards', async () => {
    open(TWO);
    const { receipt } = await rewind();
    host.otherwise("INSERT INTO session_turn_leases VALUES ('s', 'h', 0, 2000)");
    await expect(restore(receipt)).rejects.toMatchObject({ code: 'SESSION_BUSY' });
    expect(await host.run('restoreRewind', { receipt: receipt ?? '', leaseToken: 'h' }, { dryRun: true })).toMatchObject({
      restoredCount: 2,
    });
    expect(states()).toBe('1L 2L 3R 4R');
  });
});

describe('a rewind of an older store', () => {
  it.each([16, 22, 26, 30] as const)('of schema %i works with the columns that it has', async (schema) => {
    open([carrierOf(schema), assistant('a1')], { schema });
    const { receipt, replacementId } = await rewind();
    expect(replacementId).toBe('3');
    expect(host.rows('SELECT id FROM messages WHERE active = 1')).toEqual([{ id: 3 }]);
    expect(storeFaults(host.path, ['s'])).toEqual([]);
    await restore(receipt);
    expect(host.rows('SELECT id FROM messages WHERE active = 1')).toEqual([{ id: 1 }, { id: 2 }]);
    expect(storeFaults(host.path, ['s'])).toEqual([]);
  });

  it('that can not hide messages is refused', async () => {
    open([user('u')], { schema: 6 });
    await expect(rewind()).rejects.toMatchObject({ code: 'SCHEMA_UNSUPPORTED', settled: true });
    await expect(rewind({}, { dryRun: true })).rejects.toMatchObject({ code: 'SCHEMA_UNSUPPORTED' });
  });
});

function carrierOf(schema: 16 | 22 | 26 | 30): Row {
  const text = `${SUM}body ${END} live ask`;
  return user(text, schema === 30 ? { _compressed_summary: 1 } : {});
}
