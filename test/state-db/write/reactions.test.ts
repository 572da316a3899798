/** Reactions (`spec/state-db-writes.md` F13). */
import { afterEach, describe, expect, it } from 'vitest';
import { storedRow } from '../../../src/state-db/write/stored-row.ts';
import { commandHost, type TestHost } from '../../support/command-host.ts';
import { buildStore, M, type Row, S } from '../../support/stores.ts';
import { writeConnection } from '../../support/write-connection.ts';

let host: TestHost;
afterEach(() => host.close());

function open(rows: readonly Row[]): void {
  host = commandHost(buildStore({ schema: 31, rows: [S('s'), ...rows] }));
}
const react = (rowId: string, desired: string | null, more: { author?: string; sessionId?: string } = {}) =>
  host.run('setMessageReaction', { sessionId: 's', rowId, desired, author: 'user', ...more });
const metadata = (id = 1) => host.rows('SELECT display_metadata AS cell FROM messages WHERE id = ?', id)[0]?.cell;

describe('a reaction', () => {
  it('T140: is what it is to be, so that a repeat changes nothing', async () => {
    open([M('s')]);
    expect(await react('1', '👍')).toEqual({ sessionId: 's', rowId: '1', changed: true });
    host.clock.now = 2000;
    expect(await react('1', '👍')).toMatchObject({ changed: false });
    expect(metadata()).toBe('{"reactions": [{"emoji": "\\ud83d\\udc4d", "author": "user", "at": 1000}]}');
    expect(await react('1', null)).toMatchObject({ changed: true });
    expect(await react('1', null)).toMatchObject({ changed: false });
    expect(metadata()).toBeNull();
  });

  it('replaces the one of the same author, keeps all else, and is no new version of the row', async () => {
    open([
      M('s', {
        display_metadata:
          '{"n": 1.0, "reactions": [{"emoji": "a", "author": "agent", "at": 5}, {"emoji": "b", "author": "user"}], "z": {}}',
      }),
    ]);
    const before = storedRow(writeConnection(host.path), '1')?.version;
    await react('1', 'c');
    expect(metadata()).toBe(
      '{"n": 1.0, "reactions": [{"emoji": "a", "author": "agent", "at": 5}, {"emoji": "c", "author": "user", "at": 1000}], "z": {}}',
    );
    expect(storedRow(writeConnection(host.path), '1')?.version).toBe(before);
  });

  it('reads metadata that was encoded twice, and never overwrites what is no object', async () => {
    open([M('s', { display_metadata: '"{\\"a\\": 1}"' }), M('s', { display_metadata: 'not json' })]);
    await react('1', 'c');
    expect(JSON.parse(String(metadata()))).toMatchObject({ a: 1, reactions: [{ emoji: 'c' }] });
    await expect(react('2', 'c')).rejects.toMatchObject({ code: 'ROW_NOT_REWRITABLE' });
    expect(metadata(2)).toBe('not json');
  });

  it('is for a message that the conversation shows', async () => {
    open([
      S('p', { ended_at: 90, end_reason: 'compression' }),
      S('c', { parent_session_id: 'p', started_at: 90 }),
      M('p', { active: 0, compacted: 1 }),
      M('s'),
      M('s', { active: 0 }),
    ]);
    expect(await react('1', 'x', { sessionId: 'c' })).toMatchObject({ changed: true });
    for (const [rowId, sessionId] of [
      ['2', 'c'],
      ['3', 's'],
      ['9', 's'],
    ] as const) {
      await expect(react(rowId, 'x', { sessionId })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    }
  });
});

describe('reactions that the agent was not told of', () => {
  const take = (clientMutationId: string | null = null) => host.run('takeUnseenReactions', { sessionId: 's' }, { clientMutationId });

  it('are given once, without its own', async () => {
    open([M('s', { content: 'first' }), M('s', { role: 'assistant', content: '\u0000json:[{"type":"text","text":"second"}]' })]);
    await react('2', 'b');
    await react('2', 'own', { author: 'agent' });
    await react('1', 'a');
    expect(await take()).toEqual({
      sessionId: 's',
      reactions: [
        { rowId: '1', role: 'user', emoji: 'a', author: 'user', text: 'first' },
        { rowId: '2', role: 'assistant', emoji: 'b', author: 'user', text: 'second' },
      ],
    });
    expect(await take()).toEqual({ sessionId: 's', reactions: [] });
    expect(metadata(2)).toContain('"author": "user", "at": 1000, "seen": true}');
    await react('1', 'changed');
    expect(await take()).toMatchObject({ reactions: [{ emoji: 'changed' }] });
  });

  it('are given again to the same id of a mutation', async () => {
    open([M('s', { content: 'first' })]);
    await react('1', 'a');
    const first = await take('x');
    expect(await take('x')).toEqual(first);
    expect(first.reactions).toHaveLength(1);
  });
});
