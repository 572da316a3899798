/** Messages that wait for a transcript that was undone meanwhile (`spec/state-db-writes.md` J3, K18). */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { finishLeftovers } from '../../src/writing/leftovers.ts';
import { commandHost, type TestHost } from '../support/command-host.ts';
import { Faults } from '../support/faults.ts';
import { buildStore, M, S } from '../support/stores.ts';

const faults = new Faults();
const hosts: TestHost[] = [];
afterEach(() => {
  faults.heal();
  for (const host of hosts.splice(0)) host.close();
});

function open(
  path = buildStore({ schema: 31, rows: [S('s'), M('s', { content: 'u1' }), M('s', { content: 'a1', role: 'assistant' })] }),
): TestHost {
  const host = commandHost(path, { onStatement: faults.onStatement });
  hosts.push(host);
  return host;
}
const say = (host: TestHost, content: string) =>
  host.run('appendMessage', { sessionId: 's', message: { role: 'user', content }, lease: null });
const stored = (host: TestHost) => host.rows('SELECT content FROM messages WHERE active = 1 ORDER BY id').map(({ content }) => content);
const spooled = (host: TestHost) => {
  const folder = join(dirname(host.path), 'pending_messages');
  return existsSync(folder) ? readdirSync(folder) : [];
};
/** All of them go to the spool: the third failure says that the store has stalled. */
async function outage(host: TestHost): Promise<void> {
  faults.fail('BEGIN', 'SQLITE_BUSY');
  for (const content of ['w1', 'w2', 'w3', 'w4']) await say(host, content);
  faults.heal();
}

describe('what waits for a session', () => {
  it('T90: is forgotten with a rewind, in memory and in the spool', async () => {
    const host = open();
    await outage(host);
    await host.run('rewindSession', { sessionId: 's', turns: 1 });
    expect(host.transcript().queue.isHolding).toBe(false);
    expect(spooled(host)).toHaveLength(4);
    expect(spooled(host).every((name) => name.endsWith('.json.superseded'))).toBe(true);
    await say(host, 'new');
    expect(stored(host)).toEqual(['new']);
  });

  it('is forgotten with a rewrite, but not what was said after it', async () => {
    const host = open();
    await outage(host);
    await host.run(
      'rewriteTranscript',
      { sessionId: 's', mode: 'ARCHIVE_DROPPED', messages: [{ role: 'user', content: 'u1' }] },
      { clientMutationId: 'm' },
    );
    host.clock.now += 100;
    faults.fail('BEGIN', 'SQLITE_BUSY');
    await say(host, 'later');
    faults.heal();
    // A repeat of the mutation runs what follows it again.
    await host.run(
      'rewriteTranscript',
      { sessionId: 's', mode: 'ARCHIVE_DROPPED', messages: [{ role: 'user', content: 'u1' }] },
      { clientMutationId: 'm' },
    );
    await host.run('flushRetryQueue', { sessionId: 's' });
    expect(stored(host)).toEqual(['u1', 'later']);
  });

  it('K18: is forgotten by the next process, where the one of the rewind ended right after its commit', async () => {
    const host = open();
    await outage(host);
    host.transcript().queue.spoolAll();
    vi.spyOn(host.transcript().spool, 'list').mockImplementation(() => {
      throw new Error('the process ended here');
    });
    await expect(host.run('rewindSession', { sessionId: 's', turns: 1 })).rejects.toThrow('ended');
    const next = open(host.path);
    await finishLeftovers(next);
    await say(next, 'new');
    expect(stored(next)).toEqual(['new']);
    expect(next.receipts().unsettled('default', ['rewindSession'])).toEqual([]);
  });
});
