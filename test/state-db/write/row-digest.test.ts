import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import type { SqlRow } from '../../../src/state-db/decode.ts';
import { digestColumns, parseRowVersion, rowDigest, rowVersion } from '../../../src/state-db/write/row-digest.ts';
import { openStore } from '../../support/open-store.ts';
import { buildStore, type Columns, M, S } from '../../support/stores.ts';
import { writeConnection } from '../../support/write-connection.ts';

const CALLS = String.raw`[{"id": "call_1", "type": "function", "function": {"name": "read_file", "arguments": "{\"path\": \"a.txt\"}"}}]`;
const UNSET = { observed: null };
const ZEROES = { observed: 0, _compressed_summary: 0 };

/** The rows of 3.1; `_compressed_summary` can't be NULL in a store that was made by the owner. */
const VECTORS: readonly (readonly [what: string, columns: Columns, digest: string])[] = [
  ['nothing', { ...UNSET, _compressed_summary: null }, 'c238460d76034704aab948f807ecd008'],
  ['plain text', { content: 'hello', ...ZEROES }, '7494114319b90db6563ad1f9bb560ac4'],
  [
    'calls and their uids',
    {
      content: '',
      tool_calls: CALLS,
      finish_reason: 'tool_calls',
      ...ZEROES,
      tool_call_uids: '{"call_1": "0123456789abcdef0123456789abcdef"}',
    },
    '3d93dfe595fe6e31b37366d80c8031f9',
  ],
  [
    'text beyond ASCII',
    {
      content: 'déjà ☃ 😀',
      tool_call_id: 'call_1',
      tool_name: 'read_file',
      token_count: 12,
      observed: 1,
      _compressed_summary: 0,
    },
    '71052cc648e91c0da21357ee1e4693dd',
  ],
  ['bytes and a float', { content: Buffer.from([0, 1]), token_count: 1.5, ...ZEROES }, 'ce9627cbb9f298508089ae85840447b1'],
  ['a tool row', { content: 'A'.repeat(10), tool_call_id: 'call_9', tool_name: 'terminal', ...ZEROES }, 'd382f8cd0479578aaf854c99822b679f'],
  [
    'a pruned tool row',
    { content: '[Old tool output cleared to save context space]', tool_call_id: 'call_9', tool_name: 'terminal', ...ZEROES },
    '34d741c7dec5697811ac058a31a02225',
  ],
];

const READ = 'SELECT * FROM messages WHERE id = 1';

function store(columns: Columns) {
  return writeConnection(buildStore({ schema: 31, reconciled: true, rows: [S('s'), M('s', columns)] }));
}

function versionOf(connection: ReturnType<typeof store>): string {
  return rowVersion(connection.exact(READ)[0] ?? {}, connection.shape);
}

describe('the digest of a row (3.1)', () => {
  it.each(VECTORS)('T1: %s', (_what, columns, digest) => {
    expect(versionOf(store(columns))).toBe(`v2:${digest}`);
  });

  it('T2: an integral REAL is an integer by affinity, and the platform id has no part in it', () => {
    const expected = versionOf(store({ content: 'x', token_count: 12 }));
    const connection = store({ content: 'x' });
    connection.run('UPDATE messages SET token_count = ?, platform_message_id = ?', [12, 345n]);
    expect(connection.exact(READ)[0]).toMatchObject({ token_count: 12n, platform_message_id: '345' });
    expect(versionOf(connection)).toBe(expected);
  });

  it('T3: a row read without safe integers has another digest', () => {
    const path = buildStore({ schema: 31, rows: [S('s'), M('s', VECTORS[3]?.[1])] });
    const { shape } = writeConnection(path);
    const db = new Database(path, { readonly: true });
    const statement = db.prepare<[], SqlRow>(READ);
    const digests = [true, false].map((exact) => rowDigest(statement.safeIntegers(exact).get() ?? {}, digestColumns(shape)));
    db.close();
    expect(digests[0]).toBe(VECTORS[3]?.[2]);
    expect(digests[1]).not.toBe(digests[0]);
  });

  it.each(['display_metadata', 'api_content', 'codex_reasoning_items', 'platform_message_id', 'display_kind', 'message_uid', 'role'])(
    'T4: stays when %s changes',
    (column) => {
      const connection = store({ content: 'x' });
      const before = versionOf(connection);
      connection.run(`UPDATE messages SET ${column} = 'other'`);
      expect(connection.exact(READ)[0]).toMatchObject({ [column]: 'other' });
      expect(versionOf(connection)).toBe(before);
    },
  );

  it.each([
    ['finish_reason', 'stop'],
    ['reasoning', ''],
    ['observed', 1n],
    ['tool_call_uids', '{}'],
    ['content', Buffer.from('x')],
  ])('T5: differs when %s changes', (column, value) => {
    const connection = store({ content: 'x' });
    const before = versionOf(connection);
    connection.run(`UPDATE messages SET ${column} = ?`, [value]);
    expect(versionOf(connection)).not.toBe(before);
  });

  it('has the columns of the earlier scheme too', () => {
    const connection = store({ content: 'hello', ...ZEROES });
    expect(rowVersion(connection.exact(READ)[0] ?? {}, connection.shape, 'v1')).toBe('v1:45887567538993d958e6647f2c5d7a72');
  });

  it('leaves out the columns that a store lacks', () => {
    const all = writeConnection(buildStore({ schema: 31 })).shape;
    const early = writeConnection(buildStore({ schema: 30 })).shape;
    const missing = new Set(['absorbed_message_uids', 'tool_call_uids']);
    expect(digestColumns(all)).toHaveLength(15);
    expect(digestColumns(early)).toEqual(digestColumns(all).filter((column) => !missing.has(column)));
    expect(digestColumns(early, 'v1')).toHaveLength(18);
  });

  it('is what readers of live rows are told', async () => {
    const [, columns, digest] = VECTORS[3] ?? ['', {}, ''];
    const reader = openStore(buildStore({ schema: 31, rows: [S('s'), M('s', columns), M('s', { ...columns, active: 0 })] }));
    expect(await reader.rowVersions(['1', '2', '3'])).toEqual(new Map([['1', `v2:${digest}`]]));
  });
});

describe('tokens of row versions (D5)', () => {
  it('tell their scheme; any other text is no token', () => {
    const digest = '0123456789abcdef'.repeat(2);
    expect(parseRowVersion(`v2:${digest}`)).toEqual({ scheme: 'v2', digest });
    expect(parseRowVersion(`v1:${digest}`)).toEqual({ scheme: 'v1', digest });
    for (const text of [digest, `v3:${digest}`, `v2:${digest}0`, `v2:${digest.toUpperCase()}`, ''])
      expect(parseRowVersion(text)).toBeNull();
  });
});
