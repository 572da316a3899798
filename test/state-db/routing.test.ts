/** Which session a gateway conversation goes on in (`spec/state-db.md` 12.3). */
import { describe, expect, it } from 'vitest';
import { StoreConnection } from '../../src/state-db/connection.ts';
import {
  conversationGenerations,
  currentGatewaySessions,
  generationKey,
  type Peer,
  recoverableByKey,
  recoverableByPeer,
  routingEntries,
  sessionByOrigin,
} from '../../src/state-db/routing.ts';
import { buildStore, type Columns, M, type Row, S, type SchemaVersion, T } from '../support/stores.ts';

const open = (rows: readonly Row[], schema: SchemaVersion = 26) => StoreConnection.open(buildStore({ rows, schema }), { lockWaitMs: 1000 });
const keyed = (id: string, columns: Columns = {}) =>
  S(id, { source: 'telegram', session_key: 'k', user_id: 'u', chat_id: 'c', chat_type: 'dm', ...columns });
const PEER: Peer = { source: 'telegram', userId: 'u', chatId: 'c', chatType: 'dm', threadId: null, profile: null };

describe('the session to go on with', () => {
  const byKey = (...rows: Row[]) => recoverableByKey(open(rows), 'telegram', 'k');

  it.each([
    ['open', {}, 'a'],
    ['ended by accident', { ended_at: 150, end_reason: 'agent_close' }, 'a'],
    ['handed over', { ended_at: 150, end_reason: 'cli_close', handoff_state: 'completed' }, 'a'],
    ['ended on purpose', { ended_at: 150, end_reason: 'cli_close' }, null],
    ['continued elsewhere', { ended_at: 150, end_reason: 'compression' }, null],
  ])('may be %s', (_name, columns, expected) => {
    expect(byKey(keyed('a', columns))).toBe(expected);
  });

  it('is not one from before a reset of the conversation', () => {
    const reset = keyed('b', { started_at: 120, ended_at: 200, end_reason: 'session_reset' });
    expect(byKey(keyed('a', { last_activity_at: 190 }), reset)).toBeNull();
    expect(byKey(keyed('a', { last_activity_at: 210 }), reset)).toBe('a');
    expect(byKey(keyed('a', { last_activity_at: 5e246 }), reset)).toBeNull();
  });

  it('is one with messages before one without, then the latest', () => {
    expect(byKey(keyed('empty', { started_at: 300 }), keyed('old'), keyed('young', { started_at: 200 }), M('old'), M('young'))).toBe(
      'young',
    );
    expect(byKey(keyed('old'), keyed('young', { started_at: 200 }))).toBe('young');
  });

  it('has the same source and key', () => {
    expect(byKey(keyed('a', { source: 'discord' }), keyed('b', { session_key: 'other' }))).toBeNull();
    expect(recoverableByKey(open([keyed('a', { session_key: '' })]), 'telegram', '')).toBeNull();
  });

  it('is found by its peer when it has messages and belongs to the profile', () => {
    const rows = [keyed('a', { session_key: null }), M('a')];
    expect(recoverableByPeer(open(rows), PEER)).toBe('a');
    expect(recoverableByPeer(open(rows), { ...PEER, threadId: '5' })).toBeNull();
    expect(recoverableByPeer(open([keyed('a')]), PEER)).toBeNull();
    expect(recoverableByPeer(open([keyed('a', { profile_name: 'work' }), M('a')]), { ...PEER, profile: 'default' })).toBeNull();
    expect(recoverableByPeer(open([keyed('a', { profile_name: null }), M('a')]), { ...PEER, profile: 'default' })).toBe('a');
  });
});

describe('the session of a chat', () => {
  const byOrigin = (userId: string | null, ...rows: Row[]) =>
    sessionByOrigin(open(rows), { source: 'Telegram', chatId: 'c', threadId: null, userId });

  it('is the newest open one of the user', () => {
    expect(byOrigin('u', keyed('old'), keyed('new', { started_at: 200 }), keyed('other', { user_id: 'v', started_at: 300 }))).toBe('new');
    expect(byOrigin('u', keyed('ended', { ended_at: 200 }))).toBeNull();
    expect(byOrigin('u', keyed('unkeyed', { session_key: null }))).toBeNull();
  });

  it('is none when it could be several', () => {
    expect(byOrigin('x', keyed('a'), keyed('b', { user_id: 'v' }))).toBeNull();
    expect(byOrigin(null, keyed('a'), keyed('b', { user_id: 'v' }))).toBeNull();
    expect(byOrigin(null, keyed('a'), keyed('b', { started_at: 200 }))).toBe('b');
    expect(byOrigin('x', keyed('a'))).toBe('a');
  });
});

describe('the index', () => {
  it('has entries by scope, without those that name no safe session', () => {
    const entry = (session_key: string, value: unknown, scope = '') =>
      T('gateway_routing', { scope, session_key, entry_json: JSON.stringify(value), updated_at: 7 });
    const connection = open([
      entry('k1', {
        session_id: 'a',
        display_name: 'Ada',
        origin: { platform: 'discord', guild_id: 5 },
        suspended: true,
        active_turn_token: '',
      }),
      entry('k2', { session_id: 'b' }, 'other'),
      entry('k3', { session_id: '..' }),
      entry('k4', { session_id: 7 }),
      entry('k5', 'text'),
    ]);
    expect(routingEntries(connection).map(({ scope, sessionKey }) => [scope, sessionKey])).toEqual([
      ['', 'k1'],
      ['other', 'k2'],
    ]);
    expect(routingEntries(connection, '')).toMatchObject([
      {
        sessionId: 'a',
        displayName: 'Ada',
        suspended: true,
        hasActiveTurn: false,
        origin: { platform: 'discord', scopeId: '5' },
        updatedAt: 7,
      },
    ]);
  });

  it('shows the current session of each key', () => {
    const connection = open([
      keyed('old'),
      keyed('now', { started_at: 200, ended_at: 300 }),
      keyed('damaged', { started_at: 'text' }),
      keyed('other', { session_key: 'k2', source: 'discord' }),
      M('other', { timestamp: 900 }),
    ]);
    expect(currentGatewaySessions(connection)).toEqual(['other', 'now']);
    expect(currentGatewaySessions(connection, { platform: 'TELEGRAM' })).toEqual(['now']);
    expect(currentGatewaySessions(connection, { activeOnly: true })).toEqual(['other']);
  });

  it('knows generations above 0', () => {
    const generation = (session_key: string, value: number) =>
      T('conversation_generations', { source: 'telegram', session_key, generation: value });
    const keys = ['k1', 'k2', 'k3'].map((sessionKey) => ({ source: 'telegram', sessionKey }));
    const found = conversationGenerations(open([generation('k1', 3), generation('k2', 0)], 30), keys);
    expect(keys.map((key) => found.get(generationKey(key)) ?? null)).toEqual([3, null, null]);
    expect(conversationGenerations(open([]), keys).size).toBe(0);
  });

  it('is not there in old stores', () => {
    const connection = open([S('a')], 6);
    expect(routingEntries(connection)).toEqual([]);
    expect(currentGatewaySessions(connection)).toEqual([]);
    expect(recoverableByKey(connection, 'cli', 'k')).toBeNull();
    expect(recoverableByPeer(connection, PEER)).toBeNull();
    expect(sessionByOrigin(connection, { source: 'cli', chatId: 'c', threadId: null, userId: null })).toBeNull();
  });
});
