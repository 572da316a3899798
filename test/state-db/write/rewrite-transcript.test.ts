/** A transcript written anew: what stays, what is hidden, what is deleted (`spec/state-db-writes.md` 9). */
import { afterEach, describe, expect, it } from 'vitest';
import { stripMemoryBlocks } from '../../../src/state-db/conversation.ts';
import type { TranscriptMessage } from '../../../src/state-db/write/message-encoding.ts';
import type { RewriteMode, RewriteTranscriptInput } from '../../../src/state-db/write/rewrite-transcript.ts';
import { commandHost, type TestHost } from '../../support/command-host.ts';
import { storeFaults } from '../../support/store-faults.ts';
import { buildStore, M, type Row, S, type StoreSpec, T } from '../../support/stores.ts';

let host: TestHost;
afterEach(() => host.close());

const ARCHIVED = { active: 0, compacted: 1 };
const RETIRED = { active: 0, compacted: 0 };
const user = (content: unknown, more: TranscriptMessage = {}): TranscriptMessage => ({ role: 'user', content, ...more });

function open(rows: readonly Row[], spec: StoreSpec = {}): void {
  host = commandHost(buildStore({ schema: 31, ...spec, rows: [S('s'), ...rows] }));
}
function rewrite(mode: RewriteMode, messages: readonly TranscriptMessage[], more: Partial<RewriteTranscriptInput> = {}) {
  return host.run('rewriteTranscript', { sessionId: 's', mode, messages, force: true, ...more });
}
const stored = () =>
  host.rows('SELECT id, content, active, compacted FROM messages ORDER BY id').map(({ id, content, active, compacted }) => {
    return `${String(id)}${active === 1 ? 'L' : compacted === 1 ? 'A' : 'R'} ${String(content)}`;
  });
const live = () => host.rows('SELECT id FROM messages WHERE active = 1 ORDER BY id').map(({ id }) => String(id));
const counters = () => host.rows("SELECT message_count, tool_call_count FROM sessions WHERE id = 's'")[0];
const FOUR = [
  M('s', { content: 'one' }),
  M('s', { content: 'two' }),
  M('s', { content: 'three', ...ARCHIVED }),
  M('s', { content: 'four', ...RETIRED }),
];

describe('a rewrite', () => {
  it('T73: that destroys leaves only what it was given, and nothing else to be found', async () => {
    open(FOUR);
    expect(await rewrite('DESTRUCTIVE', [user('x')], { expectedActiveIds: ['1', '2'] })).toMatchObject({
      kept: 0,
      inserted: 1,
      insertedIds: ['5'],
      deletedIds: ['1', '2', '3', '4'],
    });
    expect(stored()).toEqual(['5L x']);
    expect(counters()).toEqual({ message_count: 1, tool_call_count: 0 });
    expect(host.rows("SELECT rowid FROM messages_fts WHERE messages_fts MATCH 'one OR two OR three OR four'")).toEqual([]);
    expect(storeFaults(host.path, ['s'])).toEqual([]);
  });

  it('T74: of the live rows alone leaves archived and rewound ones', async () => {
    open(FOUR);
    expect(await rewrite('ACTIVE_ONLY', [user('x')])).toMatchObject({ kept: 0, inserted: 1, deletedIds: ['1', '2'] });
    expect(stored()).toEqual(['3A three', '4R four', '5L x']);
    expect(counters()).toEqual({ message_count: 1, tool_call_count: 0 });
    expect(storeFaults(host.path, ['s'])).toEqual([]);
  });

  it('T75: that archives keeps the common beginning and hides the rest', async () => {
    open([M('s', { content: 'a' }), M('s', { content: 'b' }), M('s', { content: 'c' })]);
    expect(await rewrite('ARCHIVE_DROPPED', [user('a'), user('b2')])).toMatchObject({ kept: 1, inserted: 1, retiredIds: ['2', '3'] });
    expect(stored()).toEqual(['1L a', '2R b', '3R c', '4L b2']);
    expect(counters()).toEqual({ message_count: 2, tool_call_count: 0 });
    expect(storeFaults(host.path, ['s'])).toEqual([]);
  });

  it('T76: with what is there changes no row', async () => {
    const calls = '[{"id": "c", "n": 1.0}]';
    open([
      M('s', { content: 'a' }),
      M('s', { role: 'assistant', content: null, tool_calls: calls }),
      M('s', { role: 'tool', tool_call_id: 'c', content: '\u0000json:[{"type": "text", "text": "é"}]' }),
    ]);
    const before = host.rows('SELECT id, content, tool_calls, active, compacted, timestamp FROM messages');
    const messages = [
      user('a'),
      { role: 'assistant', tool_calls: [{ n: 1, id: 'c' }] },
      { role: 'tool', tool_call_id: 'c', content: [{ text: 'é', type: 'text' }] },
    ];
    expect(await rewrite('ARCHIVE_DROPPED', messages)).toMatchObject({ kept: 3, inserted: 0, retiredIds: [] });
    expect(host.rows('SELECT id, content, tool_calls, active, compacted, timestamp FROM messages')).toEqual(before);
    expect(counters()).toEqual({ message_count: 3, tool_call_count: 1 });
  });

  it.each<[string, TranscriptMessage]>([
    ['role', { role: 'assistant', content: 'a' }],
    ['content', user('b')],
    ['structure', user([{ type: 'text', text: 'a' }])],
    ['call id', user('a', { tool_call_id: 'c' })],
    ['calls', user('a', { tool_calls: [{ id: 'c' }] })],
  ])('keeps no row of another %s', async (_, message) => {
    open([M('s', { content: 'a' })]);
    expect(await rewrite('ARCHIVE_DROPPED', [message])).toMatchObject({ kept: 0, inserted: 1, retiredIds: ['1'] });
  });

  it('that only shortens hides the end, and one that only adds hides nothing', async () => {
    open([M('s', { content: 'a' }), M('s', { content: 'b' })]);
    expect(await rewrite('ARCHIVE_DROPPED', [user('a')])).toMatchObject({ kept: 1, inserted: 0, retiredIds: ['2'] });
    expect(await rewrite('ARCHIVE_DROPPED', [user('a'), user('a')])).toMatchObject({ kept: 1, inserted: 1, retiredIds: [] });
    expect(await rewrite('ARCHIVE_DROPPED', [])).toMatchObject({ kept: 0, inserted: 0, retiredIds: ['1', '3'] });
    expect(counters()).toEqual({ message_count: 0, tool_call_count: 0 });
    expect(storeFaults(host.path, ['s'])).toEqual([]);
  });

  it('T77: is refused where a compression closed the session', async () => {
    host = commandHost(buildStore({ schema: 31, rows: [S('s', { ended_at: 9, end_reason: 'compression' }), M('s', { content: 'a' })] }));
    for (const mode of ['ARCHIVE_DROPPED', 'ACTIVE_ONLY'] as const) {
      await expect(rewrite(mode, [])).rejects.toMatchObject({ code: 'SESSION_CLOSED', details: { sessionId: 's' } });
    }
    expect(stored()).toEqual(['1L a']);
  });

  it('T78: takes texts for the same that differ in outer blanks and recalled memory, of people and assistants alone', async () => {
    const memory = '<memory-context>secret</memory-context>';
    open([M('s', { content: '  hi ' }), M('s', { role: 'assistant', content: `${memory}yes` }), M('s', { role: 'tool', content: ' ok' })]);
    expect(stripMemoryBlocks(`${memory}yes`)).toBe('yes');
    const messages = [user('hi'), { role: 'assistant', content: 'yes' }, { role: 'tool', content: 'ok' }];
    expect(await rewrite('ARCHIVE_DROPPED', messages)).toMatchObject({ kept: 2, inserted: 1, retiredIds: ['3'] });
    expect(stored().slice(0, 2)).toEqual(['1L   hi ', `2L ${memory}yes`]);
  });

  it('keeps uids that it is given, makes others, and pairs calls with results', async () => {
    open([M('s', { content: 'a', message_uid: 'u1' })]);
    const messages = [
      user('a', { message_uid: 'u1' }),
      { role: 'assistant', tool_calls: [{ id: 'c' }] },
      { role: 'tool', tool_call_id: 'c' },
    ];
    await rewrite('ACTIVE_ONLY', messages);
    const [first, second, third] = host.rows('SELECT message_uid, tool_call_uids, tool_call_uid FROM messages ORDER BY id');
    expect(first).toMatchObject({ message_uid: 'u1' });
    expect(second?.message_uid).toMatch(/^[0-9a-f]{32}$/);
    expect(JSON.parse(String(second?.tool_call_uids))).toEqual({ c: third?.tool_call_uid });
    expect(counters()).toEqual({ message_count: 3, tool_call_count: 1 });
  });

  it('keeps archived copies of a message in its slot', async () => {
    open([M('s', { content: 'a', timestamp: 5, ...ARCHIVED }), M('s', { content: 'a', timestamp: 5 })]);
    await rewrite('ACTIVE_ONLY', [user('a', { timestamp: 5 }), user('b')]);
    expect(host.rows('SELECT id, display_order AS slot FROM messages ORDER BY id')).toEqual([
      { id: 1, slot: 1 },
      { id: 3, slot: 1 },
      { id: 4, slot: 4 },
    ]);
    expect(storeFaults(host.path, ['s'])).toEqual([]);
  });

  it('gives a message that was hidden before a new row with the uid that it had', async () => {
    open([M('s', { content: 'a', message_uid: 'u1' }), M('s', { content: 'b', message_uid: 'u2' })]);
    await rewrite('ARCHIVE_DROPPED', [user('b', { message_uid: 'u2' }), user('a', { message_uid: 'u1' })]);
    expect(host.rows('SELECT message_uid AS uid FROM messages WHERE active = 1 ORDER BY id')).toEqual([{ uid: 'u2' }, { uid: 'u1' }]);
    expect(stored()).toEqual(['1R a', '2R b', '3L b', '4L a']);
  });

  it('leaves the items of a compaction to the newest live row that has some', async () => {
    const items = '[{"type": "compaction", "id": 1}, {"type": "reasoning"}]';
    open([M('s', { role: 'assistant', content: 'a', codex_reasoning_items: items })]);
    const compaction = { codex_reasoning_items: [{ type: 'compaction', id: 2 }] };
    await rewrite('ARCHIVE_DROPPED', [
      { role: 'assistant', content: 'a' },
      { role: 'assistant', content: 'b', ...compaction },
    ]);
    expect(host.rows('SELECT codex_reasoning_items AS items FROM messages ORDER BY id').map(({ items: found }) => found)).toEqual([
      '[{"type": "reasoning"}]',
      '[{"type": "compaction", "id": 2}]',
    ]);
  });
});

describe('a rewrite that deletes', () => {
  it('has to be wanted, and to know what is there', async () => {
    open(FOUR);
    await expect(rewrite('ACTIVE_ONLY', [], { force: false })).rejects.toMatchObject({ code: 'VALIDATION' });
    await expect(rewrite('DESTRUCTIVE', [])).rejects.toMatchObject({ code: 'VALIDATION' });
    const expected = { expectedActiveIds: ['1', '2'] };
    await expect(rewrite('DESTRUCTIVE', [], { force: false, ...expected })).rejects.toMatchObject({ code: 'VALIDATION' });
    await expect(rewrite('DESTRUCTIVE', [], { expectedActiveIds: ['1'] })).rejects.toMatchObject({ code: 'TRANSCRIPT_CHANGED' });
    expect(stored()).toHaveLength(4);
    expect(await rewrite('ACTIVE_ONLY', [], { force: false, ...expected })).toMatchObject({ deletedIds: ['1', '2'] });
  });
});

describe('guards of a rewrite', () => {
  it('refuse it while anybody else is at work, and let the holder of the lease in', async () => {
    open([M('s', { content: 'a' }), T('session_turn_leases', { conversation_id: 's', holder: 'h', acquired_at: 0, expires_at: 2000 })]);
    await expect(rewrite('ARCHIVE_DROPPED', [])).rejects.toMatchObject({ code: 'SESSION_BUSY' });
    await expect(rewrite('ARCHIVE_DROPPED', [], { leaseToken: 'x' })).rejects.toMatchObject({ code: 'TURN_LEASE_LOST' });
    expect(live()).toEqual(['1']);
    await rewrite('ARCHIVE_DROPPED', [], { leaseToken: 'h' });
    expect(live()).toEqual([]);
    host.otherwise("INSERT INTO compression_locks (session_id, holder, acquired_at, expires_at) VALUES ('s', 'c', 0, 2000)");
    await expect(rewrite('ARCHIVE_DROPPED', [], { leaseToken: 'h' })).rejects.toMatchObject({ code: 'COMPRESSION_IN_PROGRESS' });
  });

  it('take away what is stale', async () => {
    open([M('s', { content: 'a' }), T('session_turn_leases', { conversation_id: 's', holder: 'h', acquired_at: 0, expires_at: 1000 })]);
    await rewrite('ARCHIVE_DROPPED', []);
    expect(host.rows('SELECT * FROM session_turn_leases')).toEqual([]);
  });

  it('need the session', async () => {
    open([]);
    await expect(rewrite('ARCHIVE_DROPPED', [], { sessionId: 'nobody' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('a dry run of a rewrite', () => {
  it('tells what would be done, and does nothing', async () => {
    open(FOUR);
    const input = { sessionId: 's', mode: 'ARCHIVE_DROPPED', messages: [user('one'), user('x')] } as const;
    const planned = await host.run('rewriteTranscript', input, { dryRun: true });
    expect(planned).toMatchObject({ kept: 1, inserted: 1, retiredIds: ['2'], insertedIds: [] });
    expect(stored()).toHaveLength(4);
    await expect(
      host.run('rewriteTranscript', { ...input, messages: [user('x', { tool_name: {} })] }, { dryRun: true }),
    ).rejects.toMatchObject({ code: 'VALIDATION' });
  });
});

describe('a rewrite of an older store', () => {
  it.each([16, 22, 26, 30] as const)('of schema %i does the same with the columns that it has', async (schema) => {
    open([M('s', { content: 'a' }), M('s', { content: 'b' })], { schema });
    expect(await rewrite('ARCHIVE_DROPPED', [user('a'), user('c')])).toMatchObject({ kept: 1, inserted: 1, retiredIds: ['2'] });
    expect(live()).toEqual(['1', '3']);
    expect(storeFaults(host.path, ['s'])).toEqual([]);
    expect(await rewrite('ACTIVE_ONLY', [user('d')])).toMatchObject({ deletedIds: ['1', '3'] });
    expect(live()).toEqual(['4']);
    expect(storeFaults(host.path, ['s'])).toEqual([]);
  });

  it('that can not hide messages is refused where some would be hidden', async () => {
    open([M('s', { content: 'a' })], { schema: 6 });
    await expect(rewrite('ARCHIVE_DROPPED', [user('b')])).rejects.toMatchObject({ code: 'SCHEMA_UNSUPPORTED', settled: true });
    expect(await rewrite('ACTIVE_ONLY', [user('b')])).toMatchObject({ deletedIds: ['1'], inserted: 1 });
    expect(host.rows('SELECT content FROM messages')).toEqual([{ content: 'b' }]);
    expect(storeFaults(host.path, ['s'])).toEqual([]);
  });
});

describe('the receipt of a rewrite', () => {
  it('gives a repeat the first answer, and does the work once', async () => {
    open([M('s', { content: 'a' })]);
    const input = { sessionId: 's', mode: 'ACTIVE_ONLY', messages: [user('b')], force: true } as const;
    const first = await host.run('rewriteTranscript', input, { clientMutationId: 'm' });
    expect(await host.run('rewriteTranscript', input, { clientMutationId: 'm' })).toEqual(first);
    expect(stored()).toEqual(['2L b']);
  });
});
