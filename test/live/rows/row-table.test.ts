/** What a follower remembers of rows. */
import { describe, expect, it } from 'vitest';
import { RowTable } from '../../../src/live/rows/row-table.ts';
import type { RowPrint } from '../../../src/state-db/live-rows.ts';

const print = (rowId: string, changes: Partial<RowPrint> = {}): RowPrint => ({
  rowId,
  live: true,
  archived: false,
  contentBytes: 5,
  callsBytes: 0,
  displayBytes: 0,
  identity: null,
  hash: null,
  ...changes,
});

describe('a table of rows', () => {
  it('tells what moved, what was edited and what went', () => {
    const before = RowTable.of([print('1'), print('2'), print('3', { live: false, archived: true }), print('9007199254740993')]);
    const moves = before.compare([
      print('1', { contentBytes: 6, displayBytes: 2 }),
      print('3', { live: false }),
      print('9007199254740993', { live: false, archived: true }),
      print('9007199254740994'),
    ]);
    expect(moves).toEqual({
      liveBefore: 3,
      liveKept: 1,
      moved: [
        { rowId: '2', from: 'LIVE', to: 'GONE' },
        { rowId: '3', from: 'ARCHIVED', to: 'HIDDEN' },
        { rowId: '9007199254740993', from: 'LIVE', to: 'ARCHIVED' },
      ],
      updated: [{ rowId: '1', fields: ['CONTENT', 'DISPLAY'], emptied: false }],
    });
  });

  it('sees an edit of equal length where the identity moved, and nothing where one was filled in', () => {
    const before = RowTable.of([print('1', { identity: 'AA00000011' }), print('2'), print('3', { identity: 'AA00000011' })]);
    const { updated } = before.compare([
      print('1', { identity: 'BB00000011' }),
      print('2', { identity: 'CC00000011' }),
      print('3', { identity: null }),
    ]);
    expect(updated.map(({ rowId, fields }) => [rowId, ...fields])).toEqual([
      ['1', 'UNKNOWN'],
      ['3', 'UNKNOWN'],
    ]);
  });

  it('adds up what a digest has', () => {
    const table = RowTable.of([print('1'), print('2', { live: false, archived: true, callsBytes: 7 })]).plus([print('3', { live: false })]);
    expect(table.digest()).toEqual({
      rows: 3,
      live: 1,
      archived: 1,
      liveMarks: 1,
      archivedMarks: 2,
      contentBytes: 15,
      callsBytes: 7,
      displayBytes: 0,
    });
    expect([table.lastRowId, table.stateOf('2'), table.stateOf('4'), RowTable.EMPTY.lastRowId]).toEqual(['3', 'ARCHIVED', null, null]);
  });
});
