/** Turn leases: one holder a conversation (`spec/state-db-writes.md` 4). */
import { afterEach, describe, expect, it } from 'vitest';
import { commandHost, type TestHost } from '../../support/command-host.ts';
import { buildStore, type Row, S, T } from '../../support/stores.ts';

let host: TestHost;
afterEach(() => host.close());

function open(rows: readonly Row[]): TestHost {
  host = commandHost(buildStore({ rows: [S('s'), ...rows] }));
  return host;
}
const lease = (conversation: string, holder: string, expires: number) =>
  T('session_turn_leases', { conversation_id: conversation, holder, acquired_at: 0, expires_at: expires });
const acquire = (sessionId: string, holder: string) => host.run('acquireTurnLease', { sessionId, holder, ttlSeconds: 300 });
const stored = () => host.rows('SELECT conversation_id, holder, expires_at FROM session_turn_leases ORDER BY 1');

describe('a turn lease', () => {
  it('T57: goes to who asks first, under the root of the conversation', async () => {
    open([]);
    expect(await acquire('s', 'h1')).toEqual({ conversationId: 's', holder: 'h1', expiresAt: 1300 });
    expect(stored()).toEqual([{ conversation_id: 's', holder: 'h1', expires_at: 1300 }]);
  });

  it('T58: is refused while another holder lives, whose row stays as it is', async () => {
    open([lease('s', 'h1', 1001)]);
    await expect(acquire('s', 'h2')).rejects.toMatchObject({ code: 'LEASE_HELD', details: { expiresAt: 1001 } });
    expect(stored()).toEqual([{ conversation_id: 's', holder: 'h1', expires_at: 1001 }]);
  });

  it('T59: is free from the second at which it expires', async () => {
    open([lease('s', 'h1', 1000)]);
    expect(await acquire('s', 'h2')).toMatchObject({ holder: 'h2' });
    expect(stored()).toEqual([{ conversation_id: 's', holder: 'h2', expires_at: 1300 }]);
  });

  it('T68: is one for all segments of a compressed conversation', async () => {
    open([S('p', { ended_at: 150, end_reason: 'compression' }), S('c', { parent_session_id: 'p', started_at: 150 })]);
    expect(await acquire('c', 'h1')).toMatchObject({ conversationId: 'p' });
    await expect(acquire('p', 'h2')).rejects.toMatchObject({ code: 'LEASE_HELD' });
  });

  it('T69: of a branch is independent of its parent', async () => {
    open([
      S('p', { ended_at: 150, end_reason: 'compression' }),
      S('b', { parent_session_id: 'p', started_at: 150, model_config: '{"_branched_from":"p"}' }),
      lease('p', 'h1', 5000),
    ]);
    expect(await acquire('b', 'h2')).toMatchObject({ conversationId: 'b' });
  });

  it('T70: of a process that is gone holds until it expires', async () => {
    open([lease('s', 'pid=999999:turn=x:platform=cli', 1001)]);
    await expect(acquire('s', 'h2')).rejects.toMatchObject({ code: 'LEASE_HELD' });
    host.clock.now = 1001;
    expect(await acquire('s', 'h2')).toMatchObject({ holder: 'h2' });
  });

  it('T71: that expired more than a day ago is swept, one of a moment ago is not', async () => {
    open([S('old'), S('new'), lease('old', 'h', 1000 - 86_401), lease('new', 'h', 990)]);
    await acquire('s', 'h1');
    expect(stored().map((row) => row.conversation_id)).toEqual(['new', 's']);
  });

  it('T72: is lost to who released it', async () => {
    open([]);
    await acquire('s', 'h1');
    expect(await host.run('releaseTurnLease', { holder: 'h1' })).toEqual({ released: true });
    await expect(host.run('renewTurnLease', { sessionId: 's', holder: 'h1', ttlSeconds: 300 })).rejects.toMatchObject({
      code: 'TURN_LEASE_LOST',
    });
    expect(await host.run('releaseTurnLease', { holder: 'h1' })).toEqual({ released: false });
  });

  it('is revived by its holder as long as nobody took it', async () => {
    open([lease('s', 'h1', 900)]);
    expect(await host.run('renewTurnLease', { sessionId: 's', holder: 'h1', ttlSeconds: 0 })).toMatchObject({ expiresAt: 1000.1 });
  });

  it('is not taken by a dry run', async () => {
    open([]);
    const envelope = { dryRun: true };
    expect(await host.run('acquireTurnLease', { sessionId: 's', holder: 'h', ttlSeconds: 1 }, envelope)).toMatchObject({ holder: 'h' });
    expect(stored()).toEqual([]);
  });

  it('needs a session and a store that has leases', async () => {
    open([]);
    await expect(acquire('nobody', 'h')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    host.close();
    host = commandHost(buildStore({ schema: 16, rows: [S('s')] }));
    await expect(acquire('s', 'h')).rejects.toMatchObject({ code: 'SCHEMA_UNSUPPORTED', settled: true });
  });
});
