import { describe, expect, it } from 'vitest';
import { decodeContent } from '../../../src/state-db/content.ts';
import type { SqlRow } from '../../../src/state-db/decode.ts';
import { displayIdentity } from '../../../src/state-db/write/display-identity.ts';
import { type EncodedMessage, encodeMessage, type TranscriptMessage } from '../../../src/state-db/write/message-encoding.ts';
import { parsePythonJson } from '../../../src/state-db/write/python-json-value.ts';
import type { WriteTransaction } from '../../../src/state-db/write/write-connection.ts';
import { buildStore, S, type SchemaVersion } from '../../support/stores.ts';
import { writeConnection } from '../../support/write-connection.ts';

const NOW = 1_760_000_000.5;
const UID = '0123456789abcdef0123456789abcdef';
const PREFIX = '\u0000json:';

function emptyStore(schema: SchemaVersion = 31): WriteTransaction {
  return writeConnection(buildStore({ schema, rows: [S('s')] }));
}

interface Written extends EncodedMessage {
  readonly row: SqlRow;
}

function write(message: TranscriptMessage, path: 'GATEWAY' | 'BATCH' = 'GATEWAY', store = emptyStore()): Written {
  const encoded = encodeMessage(message, { sessionId: 's', shape: store.shape, now: NOW, path, mintUid: () => UID });
  const names = encoded.columns.map((column) => `"${column}"`).join(', ');
  const { lastInsertRowid } = store.run(
    `INSERT INTO messages (${names}) VALUES (${encoded.columns.map(() => '?').join(', ')})`,
    encoded.values,
  );
  return { ...encoded, row: store.exact('SELECT * FROM messages WHERE id = ?', [lastInsertRowid])[0] ?? {} };
}

const FULL: TranscriptMessage = {
  role: 'assistant',
  content: 'hello',
  tool_calls: [{ id: 'c1' }],
  tool_call_id: 'c0',
  tool_name: 'terminal',
  effect_disposition: 'applied',
  timestamp: 1_750_000_000,
  token_count: 12,
  finish_reason: 'stop',
  reasoning: 'why',
  reasoning_content: 'because',
  reasoning_details: [{ n: 1 }],
  codex_reasoning_items: '[1.0]',
  codex_message_items: { b: 1, a: 2 },
  platform_message_id: 345,
  observed: 'yes',
  _compressed_summary: true,
  api_content: 'sent',
  display_kind: 'steer',
  display_metadata: { a: 'é' },
  message_uid: 'mine',
  _absorbed_message_uids: ['x', '', 'x', 'y', 3],
  tool_call_uids: { z: 'u1', '10': ['u2', ''], '9': [], '': 'u4', a: 'u5' },
  tool_call_uid: 'pair',
  unknown_key: 'gone',
};

describe('the columns of a new row (V1)', () => {
  it.each<[SchemaVersion, number]>([
    [6, 12],
    [16, 17],
    [22, 19],
    [23, 21],
    [26, 21],
    ['30-early', 22],
    [30, 23],
    [31, 27],
  ])('are those that a store of schema %s has', (schema, count) => {
    const store = emptyStore(schema);
    const { columns, row } = write(FULL, 'BATCH', store);
    expect(columns).toHaveLength(count);
    expect(columns.every((column) => store.shape.hasColumn('messages', column))).toBe(true);
    expect(row).toMatchObject({ session_id: 's', role: 'assistant', content: 'hello', timestamp: 1_750_000_000 });
  });

  it('hold what the batch writer keeps', () => {
    const { row, ...encoded } = write(FULL, 'BATCH');
    expect(row).toMatchObject({
      tool_calls: '[{"id": "c1"}]',
      tool_call_id: 'c0',
      tool_name: 'terminal',
      effect_disposition: 'applied',
      token_count: 12n,
      finish_reason: 'stop',
      reasoning: 'why',
      reasoning_content: 'because',
      reasoning_details: '[{"n": 1}]',
      codex_reasoning_items: '[1.0]',
      codex_message_items: '{"b": 1, "a": 2}',
      platform_message_id: '345',
      observed: 1n,
      _compressed_summary: 1n,
      active: 1n,
      compacted: 0n,
      api_content: 'sent',
      display_kind: 'steer',
      display_metadata: '{"a": "\\u00e9"}',
      message_uid: 'mine',
      absorbed_message_uids: '["x", "y"]',
      tool_call_uids: `{"10": ["u2"], "a": "u5", "c1": "${UID}", "z": "u1"}`,
      tool_call_uid: 'pair',
    });
    expect(encoded).toMatchObject({ uid: 'mine', timestamp: 1_750_000_000, toolCallCount: 1, toolCallUid: 'pair', warnings: [] });
  });

  it('hold less of a single message (V2)', () => {
    expect(write(FULL).row).toMatchObject({
      effect_disposition: null,
      token_count: null,
      finish_reason: null,
      reasoning: 'why',
      codex_message_items: '{"b": 1, "a": 2}',
      platform_message_id: '345',
      observed: 1n,
      _compressed_summary: 0n,
      api_content: 'sent',
      display_kind: 'steer',
      message_uid: 'mine',
      absorbed_message_uids: null,
      tool_call_uids: `{"c1": "${UID}"}`,
      tool_call_uid: null,
    });
  });

  it.each(['GATEWAY', 'BATCH'] as const)('T13: keep the reasoning of an assistant alone (%s)', (path) => {
    for (const role of ['user', 'tool', 'system', 'session_meta']) {
      expect(write({ ...FULL, role }, path).row).toMatchObject({
        reasoning: null,
        reasoning_content: null,
        reasoning_details: null,
        codex_reasoning_items: null,
        codex_message_items: null,
      });
    }
    expect(write({ role: 'assistant', reasoning: 'why' }, path).row.reasoning).toBe('why');
  });

  it('have defaults for a message without anything', () => {
    const { row, toolCallCount } = write({});
    expect(row).toMatchObject({ role: 'unknown', content: null, timestamp: NOW, observed: 0n, active: 1n, tool_call_uids: null });
    expect(toolCallCount).toBe(0);
  });

  it("take the platform's id under its other name", () => {
    expect(write({ platform_message_id: '', message_id: 7 }).row.platform_message_id).toBe('7');
    expect(write({ platform_message_id: 'p', message_id: 7 }).row.platform_message_id).toBe('p');
  });

  it('T14: have a uid that the caller is told', () => {
    const { row, uid } = write({ role: 'user', content: 'x', display_metadata: null });
    expect(row).toMatchObject({ message_uid: UID, display_metadata: null });
    expect(uid).toBe(UID);
    expect(write({ role: 'user', message_uid: '' }).uid).toBe(UID);
    expect(write({ role: 'user', message_uid: 'kept' }).row.message_uid).toBe('kept');
    expect(write({ role: 'user' }, 'GATEWAY', emptyStore(30)).uid).toBeNull();
  });

  it.each([['list'], { a: 1 }, 2n ** 64n, Symbol('s')])('are refused a value that no cell can hold', (value) => {
    for (const key of ['role', 'tool_call_id', 'tool_name', 'finish_reason', 'token_count', 'reasoning', 'platform_message_id']) {
      expect(() => write({ role: 'assistant', [key]: value }, 'BATCH')).toThrow(expect.objectContaining({ code: 'VALIDATION' }));
    }
  });
});

describe('content (V3, V7)', () => {
  it('T7: of parts is JSON behind the prefix', () => {
    const content = [{ type: 'text', text: 'hi' }];
    const { row } = write({ role: 'user', content });
    expect(row.content).toBe(`${PREFIX}[{"type": "text", "text": "hi"}]`);
    expect(decodeContent(String(row.content))).toEqual(content);
  });

  it.each<[unknown, SqlRow[string]]>([
    [null, null],
    ['', ''],
    [[], `${PREFIX}[]`],
    [{}, `${PREFIX}{}`],
    [12, '12'],
    [true, '1'],
    [Buffer.from('x'), Buffer.from('x')],
    [parsePythonJson('{"b": 1.0, "1": "\\u00e9"}'), `${PREFIX}{"b": 1.0, "1": "\\u00e9"}`],
  ])('%j reads back as %j', (content, cell) => {
    expect(write({ role: 'user', content }).row.content).toEqual(cell);
  });

  it('T9: has no lone surrogates, and its pairs as they are', () => {
    expect(write({ role: 'user', content: 'a\ud83db😀' }).row.content).toBe('a\ufffdb😀');
  });

  it('that is nested without end is refused', () => {
    const ring: unknown[] = [];
    ring.push(ring);
    expect(() => write({ role: 'user', content: ring })).toThrow(expect.objectContaining({ code: 'VALIDATION' }));
  });
});

describe('tool calls (V4, W16)', () => {
  const TEXT = '[{"b": 1, "a": 1.0, "10": "\\u00e9", "9": 1e-07}]';

  it('T8: come back byte for byte when nobody changes them', () => {
    expect(write({ role: 'assistant', tool_calls: TEXT }).row.tool_calls).toBe(TEXT);
    expect(write({ role: 'assistant', tool_calls: parsePythonJson(TEXT) }).row.tool_calls).toBe(TEXT);
  });

  it.each<[unknown, string | null, number]>([
    [null, null, 0],
    ['', null, 0],
    ['[]', null, 0],
    [[], null, 0],
    [{}, null, 0],
    ['null', null, 0],
    [[{}, {}], '[{}, {}]', 2],
    ['[1,2,3]', '[1, 2, 3]', 3],
    [{ a: 1 }, '{"a": 1}', 1],
    ['no json', null, 0],
  ])('%j are stored as %j and count %d', (toolCalls, cell, count) => {
    const { row, toolCallCount } = write({ role: 'assistant', tool_calls: toolCalls });
    expect(row.tool_calls).toBe(cell);
    expect(toolCallCount).toBe(count);
  });
});

describe('times (V6)', () => {
  it.each(['2026-01-01T00:00:00Z', Number.NaN, 1e300, -1, 4_200_000_001, true, null, [], '', '0x10', Number.POSITIVE_INFINITY])(
    'T10: %j is replaced by now, as the caller is told',
    (timestamp) => {
      const { row, ...encoded } = write({ role: 'user', timestamp });
      expect(row.timestamp).toBe(NOW);
      expect(encoded.timestamp).toBe(NOW);
    },
  );

  it.each<[unknown, number]>([
    [1_700_000_000, 1_700_000_000],
    ['1700000000.25', 1_700_000_000.25],
    [' 1.7e9\n', 1_700_000_000],
    [new Date(1_700_000_000_250), 1_700_000_000.25],
    [parsePythonJson('1700000000.0'), 1_700_000_000],
    [-0, 0],
  ])('%j is %d', (timestamp, seconds) => {
    const { row, ...encoded } = write({ role: 'user', timestamp });
    expect(row.timestamp).toBe(seconds);
    expect(encoded.timestamp).toBe(seconds);
  });
});

describe('display columns', () => {
  it.each<[unknown, string | null, number]>([
    ['{"b":1.0,"a":[]}', '{"b": 1.0, "a": []}', 0],
    ['[1]', null, 1],
    ['broken', null, 1],
    ['"{}"', null, 1],
    [5, null, 0],
    [[1], null, 0],
    [{}, null, 0],
    ['', null, 0],
  ])('T12: display_metadata %j is %j', (metadata, cell, warnings) => {
    const written = write({ role: 'user', display_metadata: metadata });
    expect(written.row.display_metadata).toBe(cell);
    expect(written.warnings).toHaveLength(warnings);
  });

  it('are text or nothing', () => {
    const { row } = write({ role: 'user', api_content: ['x'], display_kind: 5 });
    expect(row).toMatchObject({ api_content: null, display_kind: null });
  });

  it('hold the identity that the row has when it is read back', () => {
    for (const message of [FULL, { role: 'tool', content: 12, tool_call_id: 345, tool_name: 'a\ud800' }, { role: 'user', content: [1] }]) {
      const { row } = write(message, 'BATCH');
      expect(row.display_identity).toEqual(displayIdentity(row));
      expect(row.display_order).toBe(row.id);
    }
  });

  it('leave the identity to be completed where SQLite decides how a float is written', () => {
    expect(write({ role: 'user', content: 0.1 }).row).toMatchObject({ content: '0.1', display_identity: null, display_order: 1n });
  });
});

describe('structured reasoning (V8)', () => {
  it.each<[unknown, string | null]>([
    ['[1,2]', '[1,2]'],
    [[1, 'é'], '[1, "\\u00e9"]'],
    [[], null],
    ['', null],
    [0, null],
    [{ a: 1 }, '{"a": 1}'],
  ])('%j is stored as %j', (value, cell) => {
    expect(write({ role: 'assistant', reasoning_details: value }).row.reasoning_details).toBe(cell);
  });
});
