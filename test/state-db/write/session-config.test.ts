/** Patches of a session's configuration (`spec/state-db-writes.md` F14). */
import { afterEach, describe, expect, it } from 'vitest';
import { commandHost, type TestHost } from '../../support/command-host.ts';
import { buildStore, S, T } from '../../support/stores.ts';

let host: TestHost;
afterEach(() => host.close());

function open(config: string | null): void {
  const lease = T('session_turn_leases', { conversation_id: 's', holder: 'h', acquired_at: 0, expires_at: 9000 });
  host = commandHost(buildStore({ schema: 31, rows: [S('s', { model_config: config }), lease] }));
}
const patch = (changes: Record<string, unknown>, sessionId = 's') => host.run('patchSessionConfig', { sessionId, patch: changes });
const stored = () => host.rows('SELECT model_config AS config FROM sessions')[0]?.config;

describe('a patch of a configuration', () => {
  it('sets keys and takes keys away, whoever runs a turn; all else stays as it is written', async () => {
    open('{"2": 1e5, "_branched_from": "x", "temperature": 1.0, "gone": [1]}');
    expect(await patch({ gone: null, model: 'm', deep: { é: [1, null] } })).toEqual({ sessionId: 's', changed: true });
    expect(stored()).toBe('{"2": 100000.0, "_branched_from": "x", "temperature": 1.0, "model": "m", "deep": {"\\u00e9": [1, null]}}');
  });

  it('changes nothing when it is made once more', async () => {
    open(null);
    await patch({ a: 1 });
    expect(await patch({ a: 1, b: null })).toEqual({ sessionId: 's', changed: false });
    expect(stored()).toBe('{"a": 1}');
  });

  it('leaves NULL when no key is left', async () => {
    open('{"a": 1}');
    expect(await patch({ a: null })).toEqual({ sessionId: 's', changed: true });
    expect(stored()).toBeNull();
  });

  it('never sets a marker of lineage, and merges into objects alone', async () => {
    open('[1]');
    await expect(patch({ _branched_from: 'y' })).rejects.toMatchObject({ code: 'VALIDATION' });
    await expect(patch({ _delegate_from: null })).rejects.toMatchObject({ code: 'VALIDATION' });
    await expect(patch({ a: 1 })).rejects.toMatchObject({ code: 'VALIDATION' });
    await expect(patch({ a: 1 }, 'nobody')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(stored()).toBe('[1]');
  });
});
