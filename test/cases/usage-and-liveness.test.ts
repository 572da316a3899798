/** Cases 73 to 81 of `spec/state-db.md` 17: money, and what is running. */
import { describe, expect, it } from 'vitest';
import { auxiliaryScope, auxiliaryUsage } from '../../src/state-db/auxiliary-usage.ts';
import { leaseKey } from '../../src/state-db/lineage.ts';
import { routingEntries } from '../../src/state-db/routing.ts';
import { modelUsage, recentRoute, storeTotals } from '../../src/state-db/usage.ts';
import { type Columns, S, T } from '../support/stores.ts';
import { CaseStore, NOW } from './case-store.ts';

const usage = (session_id: string, columns: Columns) =>
  T('session_model_usage', { session_id, model: 'm', billing_provider: 'p', last_seen: 5, api_call_count: 1, ...columns });

describe('usage', () => {
  it('#73 of two routes that were seen last together the later row is the recent one', async () => {
    const { connection } = await CaseStore.open([S('s'), usage('s', { model: 'first' }), usage('s', { model: 'second' })]);
    expect(recentRoute(modelUsage(connection, ['s']).get('s') ?? [])?.model).toBe('second');
  });

  it('#74 the money of a store is what was billed, else what was estimated', async () => {
    const { connection } = await CaseStore.open([
      S('a', { message_count: 1, actual_cost_usd: null, estimated_cost_usd: 0.5 }),
      S('b', { message_count: 1, actual_cost_usd: 0.2, estimated_cost_usd: 9 }),
      S('child', { message_count: 1, parent_session_id: 'a', actual_cost_usd: 100 }),
    ]);
    expect(storeTotals(connection, { includeArchived: false, minMessageCount: 1 }).costUsd).toBeCloseTo(0.7);
  });

  it('#75 auxiliary work counts over the parents, from the nearest branch on', async () => {
    const rows = [
      S('root', { ended_at: 200, end_reason: 'compression' }),
      S('tip', { parent_session_id: 'root' }),
      S('branch', { parent_session_id: 'root', model_config: '{"_branched_from":"root"}' }),
      S('of branch', { parent_session_id: 'branch' }),
      usage('root', { task: 'vision', input_tokens: 10 }),
      usage('root', { task: '', input_tokens: 1000 }),
      usage('tip', { task: 'vision', input_tokens: 5 }),
      usage('tip', { task: 'compression', input_tokens: 3 }),
      usage('branch', { task: 'vision', input_tokens: 7 }),
      usage('of branch', { task: 'vision', input_tokens: 1 }),
    ];
    const store = await CaseStore.open(rows);
    const auxiliary = (id: string) => {
      const scope = auxiliaryScope(store.catalogue, store.entry(id));
      const bySession = modelUsage(store.connection, scope);
      return auxiliaryUsage(scope.flatMap((session) => bySession.get(session) ?? [])).map(({ task, inputTokens }) => [task, inputTokens]);
    };
    expect(auxiliary('tip')).toEqual([
      ['compression', 3],
      ['vision', 15],
    ]);
    expect(auxiliary('of branch')).toEqual([['vision', 8]]);
  });
});

const lease = (conversation_id: string, expires_at: number) =>
  T('session_turn_leases', { conversation_id, holder: 'pid=1:x', acquired_at: 900, expires_at });

describe('what is running', () => {
  const chain = [S('root', { ended_at: 200, end_reason: 'compression' }), S('tip', { parent_session_id: 'root' })];

  it('#76 the lease of a conversation lies under its root', async () => {
    const { store } = await CaseStore.open([...chain, lease('root', NOW + 10)]);
    expect((await store.liveness(['tip'])).get('tip')).toMatchObject({ state: 'LIVE', certainty: 'HIGH' });
  });

  it('#77 a lease that runs out now is over', async () => {
    const { store } = await CaseStore.open([...chain, lease('root', NOW)]);
    expect((await store.liveness(['tip'])).get('tip')?.state).toBe('IDLE');
  });

  it('#78 a compression lock counts up to its last moment', async () => {
    const { store } = await CaseStore.open([
      S('s'),
      T('compression_locks', { session_id: 's', holder: 'h', acquired_at: 900, expires_at: NOW }),
    ]);
    expect((await store.liveness(['s'])).get('s')?.state).toBe('LIVE');
  });

  it('#79 a branch of a compressed session has a lease of its own', async () => {
    const store = await CaseStore.open([...chain, S('b', { parent_session_id: 'root', model_config: '{"_branched_from":"root"}' })]);
    expect(leaseKey(store.catalogue, store.entry('b'))).toBe('b');
    expect(leaseKey(store.catalogue, store.entry('tip'))).toBe('root');
  });

  it('#80 a delegation runs, waits for its delivery, or is over', async () => {
    const delegation = (delegation_id: string, columns: Columns) =>
      T('async_delegations', {
        delegation_id,
        origin_session: 'k',
        state: 'completed',
        dispatched_at: 1,
        updated_at: 1,
        event_json: '{}',
        ...columns,
      });
    const { store } = await CaseStore.open([
      delegation('running', { state: 'running', event_json: null }),
      delegation('pending', {}),
      delegation('delivered', { delivery_state: 'delivered' }),
    ]);
    const found = Object.fromEntries(
      (await store.delegations(null, 10)).map(({ delegationId, running, undelivered }) => [delegationId, [running, undelivered]]),
    );
    expect(found).toEqual({ running: [true, false], pending: [false, true], delivered: [false, false] });
  });

  it('#81 routing entries that are damaged are left out', async () => {
    const entry = (session_key: string, entry_json: string) => T('gateway_routing', { session_key, entry_json, updated_at: 5 });
    const { connection, store } = await CaseStore.open([
      S('s'),
      entry('good', '{"session_id":"s","active_turn_token":"t","active_turn_started_at":990}'),
      entry('bad', '{not json'),
      entry('list', '[1]'),
      entry('path', '{"session_id":"../etc/passwd"}'),
    ]);
    expect(routingEntries(connection)).toMatchObject([
      { sessionKey: 'good', sessionId: 's', hasActiveTurn: true, activeTurnStartedAt: 990 },
    ]);
    expect((await store.liveness(['s'])).get('s')?.state).toBe('LIVE');
  });
});
