/** A store that can't be read for a moment: what was read before is told afterwards. */
import { describe, expect, it } from 'vitest';
import { StoreUnreadable } from '../../../src/errors.ts';
import type { SessionStore } from '../../../src/session-store.ts';
import { FollowedTurns } from './following.ts';
import { expectOnce } from './telling.ts';

/** Fails some calls of a method of the store. */
function failing<K extends 'readRows' | 'rowsBetween'>(store: SessionStore, method: K, fails: (call: number) => boolean): void {
  const original = store[method].bind(store) as (...args: unknown[]) => Promise<unknown>;
  let call = 0;
  Object.assign(store, {
    [method]: (...args: unknown[]) =>
      fails(++call) ? Promise.reject(new StoreUnreadable('BUSY', 'The store is busy.')) : original(...args),
  });
}

describe('a store that can not be read now and then', () => {
  it('loses no row and no event', async () => {
    const test = await FollowedTurns.begin({ tickMs: 50 });
    await test.ui.createSession('s');
    const reader = await test.follow('s');
    await reader.until('LiveSnapshot');
    failing(test.store, 'readRows', (call) => call % 3 !== 0);
    const played = await test.ui.play('s', { seed: 2, rounds: 2, words: 6, beatMs: 40 });
    await reader.until('TurnEnded');
    const stored = (await test.exec('SELECT id FROM messages ORDER BY id')) as { id: number }[];
    expect(reader.rowIds).toEqual(stored.map(({ id }) => id));
    expect(reader.of('TurnEnded').map(({ turnId, lastMessageId }) => [turnId, lastMessageId])).toEqual([
      [played.runId, String(stored.at(-1)?.id)],
    ]);
    expectOnce(reader);
    expect(test.errors.every((error) => error instanceof StoreUnreadable)).toBe(true);
  });

  it('loses no row when those of sub-agents can not be read', async () => {
    const test = await FollowedTurns.begin({ tickMs: 50 });
    await test.ui.createSession('s');
    const reader = await test.follow('s', null, { delegates: 'MESSAGES' });
    await test.ui.lease('s', 'acquire');
    await test.ui.rows('s', [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: null, toolCalls: [{ id: 'c1', name: 'delegate_task', args: { goal: 'find tea' } }] },
    ]);
    await test.ui.createSession('d1', {
      source: 'subagent',
      sidecar: false,
      columns: { parent_session_id: 's', model_config: JSON.stringify({ _delegate_from: 's' }) },
      rows: [{ role: 'user', content: 'find tea' }],
    });
    await reader.until('DelegationStarted');
    let isBroken = true;
    failing(test.store, 'rowsBetween', () => isBroken);
    const [row] = await test.ui.rows('s', [{ role: 'assistant', content: 'waiting' }]);
    await test.ui.rows('d1', [{ role: 'assistant', content: 'found' }]);
    await expect.poll(() => test.errors.length).toBeGreaterThan(0);
    isBroken = false;
    await reader.when('the row', () => reader.rowIds.includes(row ?? 0));
    await reader.when('the row of the sub-agent', () => reader.of('MessagesAppended').some(({ rows }) => rows[0]?.text === 'found'));
    expectOnce(reader);
  });
});
