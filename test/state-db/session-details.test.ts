/** Private and internal columns of sessions, flags over a lineage, look-ups of rows, and figures by day (`spec/state-db.md` 4, 6.3, 8, 11). */
import { describe, expect, it } from 'vitest';
import { dailyUsage } from '../../src/state-db/auxiliary-usage.ts';
import { flagsLineage } from '../../src/state-db/flags-lineage.ts';
import { messageFacts, platformMessageRows, rowsByUid } from '../../src/state-db/message-facts.ts';
import { recentTurns } from '../../src/state-db/recent-turns.ts';
import { originOf, sessionDetails, withoutCredentials } from '../../src/state-db/session-details.ts';
import { activityOf, isCanonicalIdentity, isDisposable, workspaceKey } from '../../src/state-db/session-state.ts';
import { dominantRoute, modelUsage } from '../../src/state-db/usage.ts';
import { CaseStore } from '../cases/case-store.ts';
import { M, S, T } from '../support/stores.ts';

describe('details', () => {
  it('have the prompt and the tools by their hashes, else as they stand in the row', async () => {
    const { connection } = await CaseStore.open({
      schema: 31,
      rows: [
        S('hashed', { system_prompt_hash: 'h1', tool_names: 'h2', system_prompt: 'old' }),
        S('inline', { system_prompt: 'inline', tool_names: '["a", 5]' }),
        T('system_prompts', { hash: 'h1', prompt: 'the prompt' }),
        T('system_prompts', { hash: 'h2', prompt: '["terminal","patch"]' }),
      ],
    });
    const details = sessionDetails(connection, ['hashed', 'inline', 'absent']);
    expect(details.get('hashed')).toMatchObject({ systemPrompt: 'the prompt', toolNames: ['terminal', 'patch'], systemPromptHash: 'h1' });
    expect(details.get('inline')).toMatchObject({ systemPrompt: 'inline', toolNames: ['a'] });
    expect(details.has('absent')).toBe(false);
  });

  it('show of a configuration what is known to be harmless', async () => {
    const config = { model: 'm', api_key: 'secret', _branched_from: 'x', gateway_runtime: { provider: 'p', token: 'secret' } };
    const { connection } = await CaseStore.open([
      S('s', { model_config: JSON.stringify(config), origin_json: '{"platform":"telegram","chat_id":7}' }),
    ]);
    const details = sessionDetails(connection, ['s']).get('s');
    expect(details?.modelConfig).toEqual({ model: 'm', gateway_runtime: { provider: 'p' } });
    expect(details?.origin).toMatchObject({ platform: 'telegram', chatId: '7', userId: null });
  });

  it.each([
    [null, null],
    ['', ''],
    ['https://api.example.test/v1', 'https://api.example.test/v1'],
    ['https://user:secret@api.example.test/v1?key=secret#x', 'https://api.example.test/v1'],
    ['no url', null],
  ])('show the base URL %s as %s', (url, shown) => {
    expect(withoutCredentials(url)).toBe(shown);
  });

  it.each([['[1]'], ['5'], ['null']])('have no origin in %s', (json) => {
    expect(originOf(JSON.parse(json))).toBeNull();
  });
});

describe('a session at a glance', () => {
  it('has a workspace by its repository, else by its folder', () => {
    expect(workspaceKey({ gitRepoRoot: ' /srv/a ', cwd: '/x' })).toBe('/srv/a');
    expect(workspaceKey({ gitRepoRoot: ' ', cwd: '/x' })).toBe('/x');
    expect(workspaceKey({ gitRepoRoot: null, cwd: null })).toBeNull();
  });

  it('is disposable when it ended, never had a row, and is not archived', async () => {
    const store = await CaseStore.open([
      S('gone', { ended_at: 5 }),
      S('open'),
      S('kept', { ended_at: 5, archived: 1 }),
      S('lost', { ended_at: 5, message_count: 38 }),
      S('rows', { ended_at: 5 }),
      M('rows', { active: 0 }),
    ]);
    expect([...store.catalogue.entries()].filter(isDisposable).map(({ id }) => id)).toEqual(['gone']);
  });

  it('says what it is doing, in words that its writers may use', () => {
    const activity = { lastActivityAt: 90, lastActivityDescription: 'x'.repeat(200), lastActivityProvenance: 'agent.compression' };
    expect(activityOf(activity, 100)).toEqual({ at: 90, description: 'x'.repeat(120), provenance: 'agent.compression', secondsAgo: 10 });
    expect(activityOf({ ...activity, lastActivityProvenance: 'me' }, 100).provenance).toBe('unknown');
    expect(isCanonicalIdentity({ hidden: true, title: 'Bot Chat' })).toBe(true);
    expect(isCanonicalIdentity({ hidden: true, title: 'Bot Chat #2' })).toBe(false);
  });
});

describe('flags of a conversation', () => {
  it('reach from a root everything below, from a tip its ancestors', async () => {
    const ended = { ended_at: 200, end_reason: 'compression' };
    const store = await CaseStore.open([
      S('above', { end_reason: 'cli_close' }),
      S('root', { parent_session_id: 'above', ...ended }),
      S('tip', { parent_session_id: 'root' }),
      S('side', { parent_session_id: 'root' }),
      S('branch', { parent_session_id: 'root', model_config: '{"_branched_from":"root"}' }),
      S('below', { parent_session_id: 'tip' }),
      S('loop', { parent_session_id: 'loop', ...ended }),
    ]);
    const lineage = (id: string) => flagsLineage(store.catalogue, store.entry(id)).sort();
    expect(lineage('root')).toEqual(['branch', 'root', 'side', 'tip']);
    expect(lineage('tip')).toEqual(['root', 'tip']);
    expect(lineage('loop')).toEqual(['loop']);
  });
});

describe('rows', () => {
  it('are found by their uid, their platform id, and as the newest of their kind', async () => {
    const { connection } = await CaseStore.open({
      schema: 31,
      rows: [
        S('s'),
        M('s', { message_uid: 'u1', content: 'a' }),
        M('s', { message_uid: 'u1', content: 'a' }),
        M('s', { message_uid: 'u1', content: 'a', active: 0 }),
        M('s', { role: 'assistant', content: '', platform_message_id: '7', timestamp: 5e246 }),
        M('s', { role: 'tool', content: 'out', platform_message_id: '7' }),
        M('s', { role: 'session_meta', content: 'note' }),
      ],
    });
    const uid = (role: string, uidText: string) => ({ sessionId: 's', role, uid: uidText });
    expect(rowsByUid(connection, [uid('user', 'u1'), uid('assistant', 'u1'), uid('user', 'u2')])).toEqual(['2', null, null]);
    expect(
      platformMessageRows(connection, [
        { sessionId: 's', platformMessageId: '7' },
        { sessionId: 't', platformMessageId: '7' },
      ]),
    ).toEqual([['4', '5'], []]);
    expect(messageFacts(connection, ['s', 'absent']).get('s')).toEqual({
      latestUserRowId: '2',
      latestAssistantRowId: null,
      latestLiveRowId: '6',
      latestRole: 'tool',
      lastMessageAt: 2,
      hasInactive: true,
    });
    expect(messageFacts(connection, ['absent']).get('absent')).toMatchObject({
      latestLiveRowId: null,
      lastMessageAt: null,
      hasInactive: false,
    });
  });

  it('that a person wrote are the recent turns, archived ones when they are asked for', async () => {
    const { connection } = await CaseStore.open([
      S('s'),
      M('s', { content: 'first', active: 0, compacted: 1 }),
      M('s', { content: '[CONTEXT SUMMARY]: so far' }),
      M('s', { content: 'steered', display_kind: 'steer' }),
      M('s', { content: 'Model switched', display_kind: 'model_switch' }),
      M('s', { content: 'last' }),
    ]);
    const texts = (includeInactive: boolean, limit = 10) =>
      recentTurns(connection, ['s'], { limit, includeInactive })
        .get('s')
        ?.map(({ preview }) => preview);
    expect(texts(false)).toEqual(['last', 'steered']);
    expect(texts(true)).toEqual(['last', 'steered', 'first']);
    expect(texts(true, 1)).toEqual(['last']);
  });
});

describe('usage', () => {
  it('by day, where a store counts by day', async () => {
    const day = (date: string, input_tokens: number) => T('session_daily_usage', { session_id: 's', day: date, input_tokens });
    const newest = await CaseStore.open({ schema: 31, rows: [S('s'), day('2026-08-02', 5), day('2026-08-01', 3)] });
    expect(dailyUsage(newest.connection, ['s', 'absent']).get('s')).toMatchObject([
      { day: '2026-08-01', inputTokens: 3 },
      { day: '2026-08-02', inputTokens: 5 },
    ]);
    const older = await CaseStore.open([S('s')]);
    expect(dailyUsage(older.connection, ['s']).size).toBe(0);
  });

  it('names the route that was used most, without credentials', async () => {
    const usage = (model: string, api_call_count: number, billing_base_url: string) =>
      T('session_model_usage', { session_id: 's', model, billing_provider: 'p', billing_base_url, api_call_count, last_seen: 5 });
    const { connection } = await CaseStore.open([
      S('s'),
      usage('much', 3, 'https://k:s@h.test/'),
      usage('little', 1, ''),
      usage('unknown', 9, ''),
    ]);
    expect(dominantRoute(modelUsage(connection, ['s']).get('s') ?? [])).toMatchObject({ model: 'much', billingBaseUrl: 'https://h.test/' });
  });
});
