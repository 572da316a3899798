/** Messages as new rows: each once, counted, in stores of every age (`spec/state-db-writes.md` A14, RW4, W16). */
import { afterEach, describe, expect, it } from 'vitest';
import { type InsertOptions, insertMessages } from '../../../src/state-db/write/insert-messages.ts';
import type { TranscriptMessage } from '../../../src/state-db/write/message-encoding.ts';
import { WriteConnection } from '../../../src/state-db/write/write-connection.ts';
import { buildStore, M, type Row, S, type SchemaVersion } from '../../support/stores.ts';

let connection: WriteConnection;
afterEach(() => connection.close());

let minted = 0;
const mintUid = () => (++minted).toString(16).padStart(32, '0');

function open(schema: SchemaVersion, rows: readonly Row[] = [S('s')]): void {
  connection = WriteConnection.open(buildStore({ schema, rows }));
}
function insert(messages: readonly TranscriptMessage[], options: Partial<InsertOptions> = {}, sessionId = 's') {
  return insertMessages(connection, sessionId, messages, {
    path: 'BATCH',
    now: 5000,
    mintUid,
    known: 'SKIP',
    addToCounters: true,
    ...options,
  });
}
const count = (sql: string) => connection.get(`SELECT count(*) AS n FROM messages WHERE ${sql}`)?.n;
const counters = () => connection.get("SELECT message_count AS mc, tool_call_count AS tc FROM sessions WHERE id = 's'");
const uid = (n: number) => String(n).repeat(32);

describe('messages as new rows', () => {
  for (const schema of [6, 16, 22, 26, '30-early', 30, 31] as const) {
    it(`T15, T16: are written and counted in one go in a store of schema ${schema}`, () => {
      open(schema);
      const messages = [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: 'b', tool_calls: [{ id: 'c1' }, { id: 'c2' }] },
        { role: 'tool', content: 'c', tool_call_id: 'c1' },
      ];
      const inserted = insert(messages);
      expect(inserted.map(({ rowId, duplicate }) => [rowId, duplicate])).toEqual([
        ['1', false],
        ['2', false],
        ['3', false],
      ]);
      expect(connection.all('SELECT id, role, content FROM messages ORDER BY id')).toEqual([
        { id: 1, role: 'user', content: 'a' },
        { id: 2, role: 'assistant', content: 'b' },
        { id: 3, role: 'tool', content: 'c' },
      ]);
      expect(counters()).toEqual({ mc: 3, tc: 2 });
      for (const { uid } of inserted) expect(uid).toEqual(schema === 31 ? expect.stringMatching(/^[0-9a-f]{32}$/) : null);
    });
  }

  it('T17: with a uid that is there already are not written again, and the row is named', () => {
    open(31);
    const first = insert([{ role: 'user', content: 'a', message_uid: uid(1) }], { path: 'GATEWAY' });
    const second = insert([{ role: 'user', content: 'a', message_uid: uid(1) }], { path: 'GATEWAY', now: 6000 });
    expect(first).toMatchObject([{ rowId: '1', uid: uid(1), duplicate: false, timestamp: 5000 }]);
    expect(second).toMatchObject([{ rowId: '1', uid: uid(1), duplicate: true, timestamp: 5000 }]);
    expect(counters()).toEqual({ mc: 1, tc: 0 });
  });

  it('are known throughout the conversation and not in a branch of it', () => {
    open(31, [
      S('p', { ended_at: 150, end_reason: 'compression' }),
      S('s', { parent_session_id: 'p', started_at: 150 }),
      S('b', { parent_session_id: 'p', started_at: 150, model_config: '{"_branched_from":"p"}' }),
      M('p', { message_uid: uid(1), active: 0, compacted: 0 }),
    ]);
    const message = { role: 'user', content: 'a', message_uid: uid(1) };
    expect(insert([message])).toMatchObject([{ rowId: '1', duplicate: true }]);
    expect(insert([message], {}, 'b')).toMatchObject([{ rowId: '2', duplicate: false }]);
  });

  it('are known by the live one of several copies', () => {
    open(31, [S('s'), M('s', { message_uid: uid(1) }), M('s', { message_uid: uid(1), active: 0, compacted: 1 })]);
    expect(insert([{ role: 'user', content: 'x', message_uid: uid(1) }])).toMatchObject([{ rowId: '1', duplicate: true }]);
  });

  it('are written once when one call brings a uid twice', () => {
    open(31);
    const message = { role: 'user', content: 'a', message_uid: uid(1) };
    expect(insert([message, message]).map(({ rowId, duplicate }) => [rowId, duplicate])).toEqual([
      ['1', false],
      ['1', true],
    ]);
    expect(counters()).toEqual({ mc: 1, tc: 0 });
  });

  it("are known by the platform's id where a store keeps no uids, within the session and the role", () => {
    open(26, [S('s'), S('t')]);
    const message = { role: 'user', content: 'a', message_id: 345 };
    insert([message]);
    expect(insert([{ ...message, message_id: '345' }])).toMatchObject([{ rowId: '1', duplicate: true }]);
    expect(insert([message], {}, 't')).toMatchObject([{ duplicate: false }]);
    expect(insert([{ ...message, role: 'assistant' }])).toMatchObject([{ duplicate: false }]);
    expect(insert([{ role: 'user', content: 'a' }])).toMatchObject([{ duplicate: false }]);
  });

  it('are written again where a transcript is written anew', () => {
    open(31, [S('s'), M('s', { message_uid: uid(1), active: 0, compacted: 1 })]);
    const inserted = insert([{ role: 'user', content: 'a', message_uid: uid(1) }], { known: 'INSERT', addToCounters: false });
    expect(inserted).toMatchObject([{ rowId: '2', uid: uid(1), duplicate: false }]);
    expect(count("message_uid = '11111111111111111111111111111111'")).toBe(2);
    expect(counters()).toEqual({ mc: 0, tc: 0 });
  });

  it('are taken for a live row that is the same byte for byte, each row once', () => {
    open(31, [
      S('s'),
      M('s', { content: 'a', timestamp: 10, message_uid: uid(1) }),
      M('s', { content: 'b', timestamp: 11, active: 0, compacted: 1 }),
    ]);
    const messages = [
      { role: 'user', content: 'a', timestamp: 10 },
      { role: 'user', content: 'a', timestamp: 10 },
      { role: 'user', content: 'b', timestamp: 11 },
      { role: 'user', content: 'a', timestamp: 12 },
    ];
    const found = insert(messages, { adoptTwins: true });
    expect(found.map(({ rowId, duplicate }) => [rowId, duplicate])).toEqual([
      ['1', true],
      ['3', false],
      ['4', false],
      ['5', false],
    ]);
    expect(found[0]?.uid).toBe(uid(1));
    const others = [
      { role: 'user', content: 'c', timestamp: 10, message_uid: uid(2) },
      { role: 'user', content: 'c' },
    ];
    for (const message of others) {
      insert([message], { adoptTwins: true });
      expect(insert([{ ...message, message_uid: message.message_uid && uid(3) }], { adoptTwins: true })).toMatchObject([
        { duplicate: false },
      ]);
    }
    expect(counters()).toEqual({ mc: 7, tc: 0 });
  });

  it('T56: need their session', () => {
    open(31);
    expect(() => insert([{ role: 'user', content: 'a' }], {}, 'nobody')).toThrow(expect.objectContaining({ code: 'SESSION_ROW_MISSING' }));
  });

  it('add to counters below zero and to those that are NULL', () => {
    open(26, [S('s', { message_count: -5, tool_call_count: null })]);
    insert([{ role: 'assistant', content: 'a', tool_calls: [{ id: 'x' }] }]);
    expect(counters()).toEqual({ mc: -4, tc: 1 });
  });

  it('leave the items of a compaction to the newest row that has some', () => {
    open(31);
    const items = (...types: string[]) => types.map((type) => ({ type, id: 1 }));
    const assistant = (...types: string[]) => ({ role: 'assistant', content: 'x', codex_reasoning_items: items(...types) });
    insert([assistant('compaction', 'reasoning'), assistant('compaction'), assistant('compaction'), assistant('reasoning')], {
      keepNewestCheckpoint: true,
    });
    expect(connection.all('SELECT codex_reasoning_items AS items FROM messages ORDER BY id').map(({ items }) => items)).toEqual([
      '[{"type": "reasoning", "id": 1}]',
      null,
      '[{"type": "compaction", "id": 1}]',
      '[{"type": "reasoning", "id": 1}]',
    ]);
  });
});
