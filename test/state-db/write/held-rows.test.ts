/** Rows that changed since they were read (`spec/state-db-writes.md` P16). */
import { describe, expect, it } from 'vitest';
import { staleHeldRows } from '../../../src/state-db/write/held-rows.ts';
import { storedRow } from '../../../src/state-db/write/stored-row.ts';
import { buildStore, M, S } from '../../support/stores.ts';
import { writeConnection } from '../../support/write-connection.ts';

const OTHER = `v2:${'0'.repeat(32)}`;

function open() {
  return writeConnection(
    buildStore({
      schema: 31,
      rows: [
        S('s'),
        S('t'),
        M('s', { content: 'rewritten' }),
        M('s', { role: 'assistant', content: 'as it was' }),
        M('s', { role: 'tool', content: 'taken back', active: 0 }),
        M('s', { role: 'system', content: 'not probed' }),
        M('t', { content: 'elsewhere' }),
        M('s', { content: 'copy', message_uid: 'u' }),
        M('s', { content: 'newest copy', message_uid: 'u' }),
      ],
    }),
  );
}
const row = (rowId: string, rowVersion: string) => ({ rowId, messageUid: null, role: null, rowVersion });

describe('held rows', () => {
  it('T117: are reported when they were rewritten, not when they are gone, not live, or elsewhere', () => {
    const store = open();
    const current = storedRow(store, '2')?.version ?? '';
    const held = [row('1', OTHER), row('2', current), row('3', OTHER), row('4', OTHER), row('5', OTHER), row('99', OTHER), row('x', OTHER)];
    expect(staleHeldRows(store, [{ sessionId: 's', held }])).toEqual([['1']]);
  });

  it('T118: known by their uid are the newest live copy', () => {
    const store = open();
    const older = storedRow(store, '6')?.version ?? '';
    const newest = storedRow(store, '7')?.version ?? '';
    const held = (rowVersion: string, role = 'user') => [{ rowId: null, messageUid: 'u', role, rowVersion }];
    const ask = (...requests: ReturnType<typeof held>[]) =>
      staleHeldRows(
        store,
        requests.map((rows) => ({ sessionId: 's', held: rows })),
      );
    expect(ask(held(older), held(newest), held(older, 'tool'))).toEqual([['7'], [], []]);
  });

  it('need a version that is one', () => {
    expect(() => staleHeldRows(open(), [{ sessionId: 's', held: [row('1', 'v9:0')] }])).toThrow(
      expect.objectContaining({ code: 'VALIDATION' }),
    );
  });
});
