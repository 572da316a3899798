/**
 * Messages that were taken are written once or kept, whatever fails and whoever dies (`spec/state-db-writes.md` 5, A8 to A12, K1, K38, O5).
 */
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { unreadable } from '../../src/state-db/health.ts';
import { WriteRefused } from '../../src/write-refused.ts';
import { commandHost, type TestHost } from '../support/command-host.ts';
import { Faults } from '../support/faults.ts';
import { copyOf, killedWrite } from '../support/killed-writer.ts';
import { capDrop, putFile } from '../support/spool.ts';
import { buildStore, S, temporaryFolder } from '../support/stores.ts';

const faults = new Faults();
const hosts: TestHost[] = [];
afterEach(() => {
  vi.restoreAllMocks();
  faults.heal();
  for (const host of hosts.splice(0)) host.close();
});

function open(path = buildStore({ schema: 31, rows: [S('s')] })): TestHost {
  const host = commandHost(path, { onStatement: faults.onStatement });
  hosts.push(host);
  return host;
}
const say = (host: TestHost, content: string, clientMutationId: string | null = null, sessionId = 's') =>
  host.run('appendMessage', { sessionId, message: { role: 'user', content }, lease: null }, { clientMutationId });
const stored = (host: TestHost) => host.rows('SELECT content FROM messages ORDER BY id').map(({ content }) => content);
const spooled = (host: TestHost) => {
  const folder = join(dirname(host.path), 'pending_messages');
  return existsSync(folder) ? readdirSync(folder) : [];
};
const busy = () => faults.fail('BEGIN', 'SQLITE_BUSY');
/** The third failure in a row moves everything to the spool. */
async function outage(host: TestHost): Promise<void> {
  busy();
  for (const content of ['a', 'b', 'c']) await say(host, content);
  faults.heal();
}

describe('a repeat with the same clientMutationId', () => {
  it.each([16, 31] as const)(
    'K38: writes the message when another program got the row id that was rolled back (schema %i)',
    async (schema) => {
      const path = buildStore({ schema, rows: [S('s')] });
      const input = { sessionId: 's', message: { role: 'user', content: 'mine' }, lease: null };
      const write = { command: 'appendMessage', input, clientMutationId: 'm' } as const;
      // The last one is the checkpoint at the end.
      const commit = ((await killedWrite({ ...write, path: copyOf(path), killAt: null })) ?? 0) - 1;
      await killedWrite({ ...write, path, killAt: commit });
      const host = open(path);
      expect(host.receipts().find('m')).toMatchObject({ state: 'PLANNED' });
      host.otherwise("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s', 'assistant', 'theirs', 5)");
      expect(await say(host, 'mine', 'm')).toMatchObject({ status: 'COMMITTED' });
      expect(stored(host)).toEqual(['theirs', 'mine']);
      await say(host, 'mine', 'm');
      expect(stored(host)).toEqual(['theirs', 'mine']);
    },
  );

  it('does not guess in a store without uids, where the row is of the session and is not what was written', async () => {
    const path = buildStore({ schema: 16, rows: [S('s')] });
    const input = { sessionId: 's', message: { role: 'user', content: 'mine' }, lease: null };
    const write = { command: 'appendMessage', input, clientMutationId: 'm' } as const;
    const commit = ((await killedWrite({ ...write, path: copyOf(path), killAt: null })) ?? 0) - 1;
    await killedWrite({ ...write, path, killAt: commit });
    const host = open(path);
    host.otherwise("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s', 'user', 'theirs', 5)");
    await expect(say(host, 'mine', 'm')).rejects.toMatchObject({ code: 'INDETERMINATE', settled: false });
    expect(stored(host)).toEqual(['theirs']);
  });

  it('K1: sends a message again that waited in the memory of a process that is gone', async () => {
    const host = open();
    busy();
    expect(await say(host, 'a', 'm')).toMatchObject({ status: 'QUEUED' });
    faults.heal();
    const next = open(host.path);
    expect(await say(next, 'a', 'm')).toMatchObject({ status: 'COMMITTED' });
    expect(await say(next, 'a', 'm')).toMatchObject({ status: 'COMMITTED' });
    expect(stored(next)).toEqual(['a']);
  });

  it('is told that the message came into the store meanwhile', async () => {
    const host = open();
    busy();
    expect(await say(host, 'a', 'm')).toMatchObject({ status: 'QUEUED' });
    faults.heal();
    await host.run('flushRetryQueue', { sessionId: 's' });
    expect(host.receipts().find('m')).toMatchObject({ state: 'DONE' });
    expect(await say(host, 'a', 'm')).toMatchObject({ status: 'COMMITTED' });
    expect(stored(host)).toEqual(['a']);
  });

  it('writes nothing twice in a store without uids, where the message is in the spool', async () => {
    const host = open(buildStore({ schema: 16, rows: [S('s')] }));
    busy();
    for (const content of ['a', 'b', 'c']) await say(host, content, content);
    faults.heal();
    expect(await say(host, 'a', 'a')).toMatchObject({ status: 'QUEUED' });
    await say(host, 'd');
    expect(stored(host)).toEqual(['a', 'b', 'c', 'd']);
  });
});

describe('a message that was taken', () => {
  it('waits when it can not be told what is older, and is not said to be refused', async () => {
    const first = open();
    await outage(first);
    const host = open(first.path);
    const ancestors = vi.spyOn(host.transcript().store, 'ancestors').mockRejectedValue(new WriteRefused('STORE_UNREADABLE'));
    expect(await say(host, 'd')).toMatchObject({ status: 'QUEUED', problem: { code: 'STORE_UNREADABLE' } });
    ancestors.mockRestore();
    await host.run('flushRetryQueue', { sessionId: 's' });
    expect(stored(host)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('A8: is diverted also where older ones are in the spool', async () => {
    const host = open();
    await outage(host);
    rmSync(host.path);
    renameSync(buildStore({ schema: 31, rows: [S('s')] }), host.path);
    expect(await say(host, 'd')).toMatchObject({ status: 'DIVERTED', problem: { code: 'STORE_REPLACED' } });
    expect(spooled(host)).toHaveLength(4);
    expect(host.transcript().queue.hasPending).toBe(false);
  });

  it('A11, A12: is told as it is when something unforeseen fails, and holds nothing up for ever', async () => {
    const host = open();
    faults.fail('INSERT INTO messages', 'SQLITE_ERROR');
    await expect(say(host, 'a')).rejects.toMatchObject({ code: 'SQLITE_ERROR' });
    for (const content of ['b', 'c'])
      expect(await say(host, content)).toMatchObject({ status: 'QUEUED', problem: { code: 'INDETERMINATE' } });
    expect(host.transcript().queue.isHolding).toBe(false);
    expect(spooled(host)).toHaveLength(3);
    faults.heal();
    await say(host, 'd');
    expect(stored(host)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('is tried again from the spool without a new one, once the store works', async () => {
    const host = open();
    await outage(host);
    const { queue } = host.transcript();
    expect([queue.isHolding, queue.hasPending]).toEqual([false, true]);
    await queue.flushAll();
    expect(stored(host)).toEqual(['a', 'b', 'c']);
    expect(queue.hasPending).toBe(false);
  });

  it('is not held up by a spool file with a message that no store takes, which is kept for a person', async () => {
    const host = open();
    putFile(dirname(host.path), capDrop('s', 1, 0, { role: 'tool', tool_name: { no: 'text' }, message_uid: 'x' }));
    expect(await say(host, 'a')).toMatchObject({ status: 'COMMITTED' });
    expect(host.events).toContainEqual({ code: 'SPOOL_STOPPED', sessionId: 's', count: 1, reason: 'VALIDATION' });
    expect(spooled(host)).toEqual([expect.stringMatching(/^pending-[0-9a-f]{32}\.json$/)]);
    expect(host.transcript().queue.hasPending).toBe(false);
  });

  it('R1: finds its way back when the continuation to which it was led is gone', async () => {
    const host = open(
      buildStore({
        schema: 31,
        rows: [S('s', { ended_at: 150, end_reason: 'compression' }), S('c', { parent_session_id: 's', started_at: 150 })],
      }),
    );
    expect(await say(host, 'a')).toMatchObject({ status: 'COMMITTED', sessionId: 'c' });
    host.otherwise("DELETE FROM messages WHERE session_id = 'c'");
    host.otherwise("DELETE FROM sessions WHERE id = 'c'");
    host.otherwise("UPDATE sessions SET ended_at = NULL, end_reason = NULL WHERE id = 's'");
    expect(await say(host, 'b')).toMatchObject({ status: 'COMMITTED', sessionId: 's' });
    expect(stored(host)).toEqual(['b']);
    expect(host.transcript().queue.hasPending).toBe(false);
  });

  it('is waited for by a flush that comes while it is written', async () => {
    const host = open();
    faults.fail('BEGIN', 'SQLITE_BUSY', 20);
    const appended = Promise.all(['a', 'b'].map((content) => say(host, content)));
    while (!host.transcript().queue.isHolding) await new Promise(setImmediate);
    expect(await host.transcript().queue.flush('s')).toEqual({ remaining: 0, problem: null });
    await appended;
  });
});

describe('a change that is committed', () => {
  it('K29: is told, also when its files can not be seen to, which the next process does', async () => {
    const host = open();
    await say(host, 'a');
    vi.spyOn(host.writer, 'read').mockRejectedValue(unreadable('IO_ERROR'));
    const deleted = host.run(
      'deleteSession',
      { sessionId: 's', scope: 'SEGMENT', onlyIfEmpty: false, expectedDeleteIds: null },
      { clientMutationId: 'm' },
    );
    expect(await deleted).toMatchObject({ deletedIds: ['s'] });
    expect(host.receipts().unsettled('default', ['deleteSession'])).toHaveLength(1);
  });
});

describe('a store that is not there yet', () => {
  it('is no store that was replaced: once it is made, it is written to', async () => {
    const path = join(temporaryFolder(), 'state.db');
    const host = open(path);
    const lease = { sessionId: 's', holder: 'h', ttlSeconds: 10 };
    await expect(host.run('acquireTurnLease', lease)).rejects.toMatchObject({ code: 'STORE_UNREADABLE', retryable: true });
    expect(host.writer.quarantine).toBeNull();
    renameSync(buildStore({ schema: 31, rows: [S('s')] }), path);
    expect(await host.run('acquireTurnLease', lease)).toMatchObject({ conversationId: 's' });
  });
});
