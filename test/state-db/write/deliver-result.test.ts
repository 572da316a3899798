/** Results of delegated work, delivered once (`spec/state-db-writes.md` B7). */
import { afterEach, describe, expect, it } from 'vitest';
import { commandHost, type TestHost } from '../../support/command-host.ts';
import { buildStore, M, type Row, S, T } from '../../support/stores.ts';

let host: TestHost;
afterEach(() => host.close());

function open(rows: readonly Row[]): void {
  host = commandHost(buildStore({ schema: 31, rows: [S('s'), ...rows] }));
}
const deliver = (more: { sessionId?: string; delegationId?: string; notice?: string | null; suppressed?: boolean } = {}) =>
  host.run('deliverDelegationResult', { sessionId: 's', delegationId: 'd1', notice: null, content: 'done', suppressed: false, ...more });

describe('the result of a delegation', () => {
  it('is one row of a person with its identity, counted once', async () => {
    open([]);
    expect(await deliver()).toEqual({ sessionId: 's', rowId: '1', duplicate: false });
    expect(await deliver()).toEqual({ sessionId: 's', rowId: '1', duplicate: true });
    expect(await deliver({ notice: 'late' })).toMatchObject({ rowId: '2', duplicate: false });
    expect(await deliver({ delegationId: 'd2', suppressed: true })).toMatchObject({ rowId: '3', duplicate: false });
    expect(host.rows('SELECT role, content, display_kind AS kind, display_metadata AS metadata FROM messages ORDER BY id')).toEqual([
      { role: 'user', content: 'done', kind: 'async_delegation_complete', metadata: '{"delegation_id": "d1"}' },
      { role: 'user', content: 'done', kind: 'async_delegation_complete', metadata: '{"delegation_id": "d1", "delivery_notice": "late"}' },
      { role: 'user', content: 'done', kind: 'hidden', metadata: '{"delegation_id": "d2"}' },
    ]);
    expect(host.rows('SELECT message_count AS mc FROM sessions')).toEqual([{ mc: 3 }]);
  });

  it('is found where it was delivered before a compression, also while a turn runs', async () => {
    open([
      S('p', { ended_at: 90, end_reason: 'compression' }),
      S('c', { parent_session_id: 'p', started_at: 90 }),
      M('p', { display_metadata: '{"delegation_id": "d1"}' }),
      T('session_turn_leases', { conversation_id: 'p', holder: 'h', acquired_at: 0, expires_at: 9000 }),
    ]);
    expect(await deliver({ sessionId: 'c' })).toEqual({ sessionId: 'p', rowId: '1', duplicate: true });
    await expect(deliver({ sessionId: 'c', delegationId: 'd2' })).rejects.toMatchObject({ code: 'SESSION_BUSY' });
    host.clock.now = 9000;
    await expect(deliver({ sessionId: 'p', delegationId: 'd2' })).rejects.toMatchObject({ code: 'SESSION_CLOSED' });
    expect(await deliver({ sessionId: 'c', delegationId: 'd2' })).toMatchObject({ duplicate: false });
  });

  it('needs the id of its delegation, and its session', async () => {
    open([]);
    await expect(deliver({ delegationId: '' })).rejects.toMatchObject({ code: 'VALIDATION' });
    await expect(deliver({ sessionId: 'nobody' })).rejects.toMatchObject({ code: 'SESSION_ROW_MISSING' });
  });
});
