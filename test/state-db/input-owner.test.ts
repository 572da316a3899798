/** Whether an inbound event was stored already (`spec/state-db-writes.md` L2, A15). */
import { describe, expect, it } from 'vitest';
import { openStore } from '../support/open-store.ts';
import { buildStore, M, type Row, S, type SchemaVersion } from '../support/stores.ts';

const owner = (name: string) => JSON.stringify({ gateway_input_owner: name });

function open(rows: readonly Row[], schema: SchemaVersion = 31) {
  return openStore(buildStore({ schema, rows }));
}
const LINEAGE = [
  S('p', { ended_at: 10, end_reason: 'compression' }),
  S('c', { parent_session_id: 'p', started_at: 10, ended_at: 20, end_reason: 'compression' }),
  S('tip', { parent_session_id: 'c', started_at: 20 }),
  S('b', { parent_session_id: 'p', started_at: 12, model_config: '{"_branched_from": "p"}' }),
];

describe('an inbound event', () => {
  it('T157: is known by the metadata of a message in the tip or what was compressed into it, never by an observed row or bad metadata', async () => {
    const store = open([
      ...LINEAGE,
      M('p', { display_metadata: owner('ancestor'), active: 0, compacted: 1 }),
      M('tip', { display_metadata: owner('observed'), observed: 1 }),
      M('tip', { display_metadata: '{"gateway_input_owner": "malformed"' }),
      M('tip', { display_metadata: JSON.stringify(owner('twice')), observed: 0 }),
      M('tip', { display_metadata: owner('back'), active: 0 }),
      M('tip', { display_metadata: owner('tool'), role: 'tool' }),
      M('tip', { content: 'said' }),
      M('b', { display_metadata: owner('branch') }),
    ]);
    const ask = async (sessionId: string, owners: readonly string[]) => {
      const found = await store.inputOwnersExist(owners.map((name) => ({ sessionId, owner: name })));
      return owners.filter((_, index) => found[index]);
    };
    const all = ['ancestor', 'observed', 'malformed', 'twice', 'back', 'tool', 'said', 'branch', ''];
    expect(await ask('tip', all)).toEqual(['ancestor', 'twice']);
    expect(await ask('p', all)).toEqual(['ancestor', 'twice']);
    expect(await ask('b', all)).toEqual(['branch']);
    expect(await ask('nobody', all)).toEqual([]);
  });

  it('is unknown in stores without metadata', async () => {
    const store = open([S('s'), M('s')], 6);
    expect(await store.inputOwnersExist([{ sessionId: 's', owner: 'x' }])).toEqual([false]);
    expect(await store.platformMessagesExist([{ sessionId: 's', platformMessageId: 'x' }])).toEqual([false]);
  });

  it("is known by the platform's id on any row of the session", async () => {
    const store = open([S('s'), S('t'), M('s', { platform_message_id: '7', active: 0 }), M('t', { platform_message_id: '8' })]);
    const keys = ['7', '8', ''].map((platformMessageId) => ({ sessionId: 's', platformMessageId }));
    expect(await store.platformMessagesExist(keys)).toEqual([true, false, false]);
  });
});
