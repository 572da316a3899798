/** Exports and their guard (`spec/state-db.md` 9.6, 9.7). */
import { describe, expect, it } from 'vitest';
import { exportLineage, exportSessions } from '../../src/state-db/export.ts';
import { CaseStore } from '../cases/case-store.ts';
import { structured } from '../support/message-rows.ts';
import { M, S } from '../support/stores.ts';

describe('an export', () => {
  it('has the rows that are live, under the names of their columns', async () => {
    const store = await CaseStore.open([
      S('s', { title: 'Tea', started_at: 5e246 }),
      M('s', { content: structured([{ type: 'text', text: 'look' }]) }),
      M('s', { active: 0, compacted: 1 }),
      M('s', { id: 9_007_199_254_740_993n, role: 'assistant', content: 'far' }),
    ]);
    const [session] = exportSessions(store.connection, [store.entry('s')], { largest: 0 });
    expect(session).toMatchObject({
      id: 's',
      title: 'Tea',
      started_at: null,
      messages: [
        { id: 1, content: [{ type: 'text', text: 'look' }], active: 1 },
        { id: '9007199254740993', content: 'far' },
      ],
    });
    expect(JSON.parse(JSON.stringify(session))).toEqual(session);
  });

  it('of a lineage joins its segments', async () => {
    const store = await CaseStore.open([
      S('a', { ended_at: 5, end_reason: 'compression' }),
      S('b', { parent_session_id: 'a', title: 'Tip' }),
      M('a', { content: 'one' }),
      M('b', { content: 'two' }),
    ]);
    const exported = exportLineage(store.connection, store.catalogue, store.entry('a'), { largest: 0 });
    expect(exported).toMatchObject({ id: 'b', title: 'Tip', message_count: 2, lineage_session_ids: ['a', 'b'] });
    expect(exported.segments.map(({ messages }) => messages.length)).toEqual([1, 1]);
  });

  it('of too many rows is refused by name, before a row is read', async () => {
    const store = await CaseStore.open([S('s'), M('s'), M('s'), M('s'), M('s', { active: 0 })]);
    expect(() => exportSessions(store.connection, [store.entry('s')], { largest: 2 })).toThrow(
      expect.objectContaining({ code: 'EXPORT_TOO_LARGE', details: { sessionId: 's', count: 3, limit: 2 } }),
    );
    expect(exportSessions(store.connection, [store.entry('s')], { largest: 3 })).toHaveLength(1);
  });
});
