import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, compareRowIds, logicalKey, projectLogicalMessages, sortByRowId } from '../../src/state-db/logical-message.ts';
import type { MessageRecord } from '../../src/state-db/message-row.ts';
import { DELIM, END, PRIOR, SUM } from '../../src/state-db/summary-markers.ts';
import { anyRecords, record, structured } from '../support/message-rows.ts';

const ARCHIVED = { active: 0, compacted: 1 };
const REWOUND = { active: 0, compacted: 0 };
const SAME = { content: 'same', timestamp: 1 };

function shown(rows: readonly MessageRecord[]): string[] {
  return projectLogicalMessages(rows).map(({ representative }) => representative.rowId);
}

describe('the display projection without display_order', () => {
  it('37: shows every logical message where slots are incomplete', () => {
    const rows = [record(1, { ...SAME, ...ARCHIVED, display_order: 1 }), record(2, { ...SAME, display_order: 1 }), record(3), record(4)];
    expect(shown(rows)).toEqual(['2', '3', '4']);
  });

  it('38: shows the live copy in the place of the archived one', () => {
    const rows = [record(1, { ...SAME, ...ARCHIVED }), record(2, ARCHIVED), record(3, SAME)];
    expect(shown(rows)).toEqual(['3', '2']);
    expect(projectLogicalMessages(rows)[0]).toMatchObject({ slotRowId: '1', rowIds: ['1', '3'], copies: 2 });
  });

  it('39: leaves rows for the model only out', () => {
    expect(shown([record(1, { display_metadata: '{"model_only":true}' }), record(2, { display_metadata: '{"model_only":1}' })])).toEqual([
      '2',
    ]);
  });

  it('leaves rewound rows out, and takes an unknown state for live', () => {
    expect(shown([record(1, REWOUND), record(2, { active: null }), record(3, ARCHIVED)])).toEqual(['2', '3']);
  });

  it('prefers the live copy to a newer archived one, and of two equals the newer', () => {
    expect(shown([record(1, SAME), record(2, { ...SAME, ...ARCHIVED })])).toEqual(['1']);
    expect(shown([record(1, { ...SAME, ...ARCHIVED }), record(2, { ...SAME, ...ARCHIVED })])).toEqual(['2']);
  });

  it('Z13: takes what a message said before it was rewritten in place for a copy of it, and no other row', () => {
    const uid = { message_uid: 'u', timestamp: 1 };
    const rows = [record(1, { ...uid, content: 'stub' }), record(2), record(3, { ...uid, ...ARCHIVED, content: 'whole' })];
    expect(shown(rows)).toEqual(['1', '2']);
    expect(projectLogicalMessages(rows)[0]).toMatchObject({ rowIds: ['1', '3'], copies: 2 });
    for (const other of [{ timestamp: 2 }, { session_id: 't' }, { message_uid: 'v' }, { message_uid: null }, { active: 1, compacted: 0 }]) {
      expect(shown([record(1, { ...uid, content: 'stub' }), record(3, { ...uid, ...ARCHIVED, content: 'whole', ...other })])).toEqual([
        '1',
        '3',
      ]);
    }
  });

  it('compares ids beyond 2^53 exactly', () => {
    const rows = [
      { ...record(0, SAME), rowId: '9007199254740993' },
      { ...record(0, SAME), rowId: '9007199254740992' },
    ];
    expect(shown(rows)).toEqual(['9007199254740993']);
  });

  it('shows every visible row in exactly one message, in the order of the slots', () => {
    fc.assert(
      fc.property(anyRecords, (rows) => {
        const messages = projectLogicalMessages(rows);
        const visible = rows.filter((row) => row.state !== 'REWOUND' && row.displayMetadata?.model_only !== true);
        expect(messages.flatMap(({ rowIds }) => rowIds).sort()).toEqual(visible.map(({ rowId }) => rowId).sort());
        const slots = messages.map(({ slotRowId }) => slotRowId);
        expect(slots).toEqual(slots.toSorted(compareRowIds));
        for (const { representative, rowIds, copies } of messages) {
          expect(rowIds).toContain(representative.rowId);
          expect(copies).toBe(rowIds.length);
        }
      }),
    );
  });
});

describe('the logical identity (8.3)', () => {
  const key = (columns: Parameters<typeof record>[1]) => logicalKey(record(1, { ...SAME, ...columns }));

  it.each([
    ['role', { role: 'assistant' }],
    ['content', { content: 'other' }],
    ['timestamp', { timestamp: 2 }],
    ['tool_call_id', { tool_call_id: 'c1' }],
    ['tool_calls', { tool_calls: '[]' }],
    ['tool_name', { tool_name: 'terminal' }],
  ])('tells rows of another %s apart', (_column, columns) => {
    expect(key(columns)).not.toBe(key({}));
  });

  it('takes no notice of other columns, and tells NULL from empty', () => {
    expect(key({ finish_reason: 'stop', display_kind: 'steer', session_id: 't', active: 0 })).toBe(key({}));
    expect(key({ tool_name: '' })).not.toBe(key({ tool_name: null }));
    expect(key({ content: null })).not.toBe(key({ content: '' }));
  });

  it('takes a composite carrier for the words of the person in it', () => {
    expect(key({ content: `${SUM}text ${END}\n\nsame` })).toBe(key({}));
    expect(key({ content: `${PRIOR}\nsame\n\n${DELIM}\n\n${SUM}text` })).toBe(key({}));
    expect(key({ content: `${SUM}text ${END}\n\nsame`, role: 'assistant' })).not.toBe(key({ role: 'assistant' }));
    const ask = [
      { type: 'text', text: 'look' },
      { type: 'image_url', image_url: { url: 'data:' } },
    ];
    const carrier = [{ type: 'text', text: `${SUM}text ${END}` }, ...ask];
    expect(key({ content: structured(carrier) })).toBe(key({ content: structured(ask) }));
  });

  it('lets only the text decide whether a row is a summary', () => {
    const flagged = { content: `odd ${END} same`, _compressed_summary: 1 };
    expect(key(flagged)).not.toBe(key({}));
    expect(key(flagged)).toBe(key({ ...flagged, _compressed_summary: 0 }));
  });

  it('compares structured content by value, and damaged content as stored', () => {
    expect(key({ content: '\u0000json:{"a":1,"b":[2]}' })).toBe(key({ content: '\u0000json:{ "b": [2], "a": 1 }' }));
    expect(key({ content: '\u0000json:"same"' })).not.toBe(key({}));
    expect(key({ content: '\u0000json:{bad' })).toBe(key({ content: '\u0000json:{bad' }));
    const deep = `\u0000json:${'['.repeat(5000)}${']'.repeat(5000)}`;
    expect(key({ content: deep })).toBe(key({ content: deep }));
  });

  it('never takes rows whose time is damaged for copies of each other', () => {
    expect(shown([record(1, { ...SAME, timestamp: 5e246 }), record(2, { ...SAME, timestamp: 'abc' })])).toEqual(['1', '2']);
  });
});

it('row ids are ordered as numbers of any size, and everything else comes last', () => {
  const ids = ['', 'x', '10', '9', '-1', '-10', '9007199254740993', '9007199254740992'];
  expect(ids.toSorted(compareRowIds)).toEqual(['-10', '-1', '9', '10', '9007199254740992', '9007199254740993', '', 'x']);
  expect(sortByRowId([record(10), record(9)]).map(({ rowId }) => rowId)).toEqual(['9', '10']);
  fc.assert(
    fc.property(fc.bigInt(), fc.bigInt(), (a, b) => {
      expect(Math.sign(compareRowIds(String(a), String(b)))).toBe(a < b ? -1 : a > b ? 1 : 0);
    }),
  );
});

it('canonical JSON sorts keys, has no spaces, keeps letters, and gives up on absurd depth', () => {
  expect(canonicalJson({ b: [1, 'é', null], a: { d: true, c: 0 } })).toBe('{"a":{"c":0,"d":true},"b":[1,"é",null]}');
  expect(canonicalJson(JSON.parse(`${'['.repeat(1000)}${']'.repeat(1000)}`))).toBeNull();
});
