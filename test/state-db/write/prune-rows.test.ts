/** Rows that say something else in their place, with what they said beside them (`spec/state-db-writes.md` 11). */
import Database from 'better-sqlite3';
import { afterEach, describe, expect, it } from 'vitest';
import type { StoreWriterOptions } from '../../../src/state-db/write/store-writer.ts';
import type { Envelope } from '../../../src/writing/command.ts';
import { commandHost, type TestHost } from '../../support/command-host.ts';
import { openStore } from '../../support/open-store.ts';
import { buildStore, type Columns, M, type Row, S, type SchemaVersion, T } from '../../support/stores.ts';

const FULL = 'AAAAAAAAAA';
const STUB = '[Old tool output cleared to save context space]';
const FIRST = 'v2:d382f8cd0479578aaf854c99822b679f';
const SECOND = 'v2:34d741c7dec5697811ac058a31a02225';
const FULL_IDENTITY = 'e65827cf0bc72e749e777346e8c06604595f1174bd81a5722f9e0c0a258f9e35';
const STUB_IDENTITY = '5199f9a0abf88c1af44fe8a06e56b62bd98d79e84baa81aa26e36d6c1155e486';
const STATE = `SELECT id, role, content, active, compacted, display_order AS slot, lower(hex(display_identity)) AS identity, message_uid AS uid
  FROM messages ORDER BY id`;

let host: TestHost;
afterEach(() => host.close());

const toolRow = (columns: Columns = {}): Row =>
  M('s', { role: 'tool', content: FULL, tool_call_id: 'call_9', tool_name: 'terminal', timestamp: 1700000010, observed: 0, ...columns });
const ROWS = [
  M('s', { content: 'do it', message_uid: 'u1' }),
  toolRow({ message_uid: 'u2' }),
  M('s', { content: 'thanks', message_uid: 'u3' }),
];
const session = (columns: Columns = {}) => S('s', { message_count: 3, tool_call_count: 1, ...columns });

function open(rows: readonly Row[] = [session(), ...ROWS], schema: SchemaVersion = 31, options: Partial<StoreWriterOptions> = {}): void {
  host = commandHost(buildStore({ schema, rows }), options);
}

interface Change {
  readonly rowId: string;
  readonly rowVersion: string;
  readonly content?: unknown;
  readonly toolCalls?: unknown;
}
function prune(
  changes: readonly Change[],
  more: { holder?: string; patch?: Record<string, unknown>; sessionId?: string } & Partial<Envelope> = {},
) {
  const { holder, patch, sessionId = 's', ...envelope } = more;
  const lease = holder === undefined ? null : { holder, ttlSeconds: 300 };
  return host.run('pruneRows', { sessionId, changes, modelConfigPatch: patch ?? null, lease }, envelope);
}
const stub = (rowVersion = FIRST, rowId = '2'): Change => ({ rowId, rowVersion, content: STUB });
const state = () => host.rows(STATE);
const versionOf = async (rowId: string) => {
  const store = openStore(host.path);
  try {
    return (await store.rowVersions([rowId])).get(rowId) ?? '';
  } finally {
    store.close();
  }
};

describe('a prune of rows', () => {
  it('T96: keeps the row in its place and what it said beside it', async () => {
    open();
    expect(await prune([stub()])).toEqual({
      sessionId: 's',
      rewrittenCount: 1,
      rewritten: [{ rowId: '2', rowVersion: SECOND, archivedTwinRowId: '4' }],
      unchangedIds: [],
      alreadyApplied: false,
    });
    const [first, second, third, twin] = state();
    expect(first).toMatchObject({ id: 1, content: 'do it', slot: 1 });
    expect(second).toEqual({ id: 2, role: 'tool', content: STUB, active: 1, compacted: 0, slot: 2, identity: STUB_IDENTITY, uid: 'u2' });
    expect(third).toMatchObject({ id: 3, content: 'thanks', slot: 3 });
    expect(twin).toEqual({ id: 4, role: 'tool', content: FULL, active: 0, compacted: 1, slot: 2, identity: FULL_IDENTITY, uid: 'u2' });
    expect(host.rows('SELECT message_count AS mc, tool_call_count AS tc FROM sessions')).toEqual([{ mc: 3, tc: 1 }]);
  });

  it('T97: shows the new text in the old place', async () => {
    open();
    await prune([stub()]);
    const store = openStore(host.path);
    const page = { size: 10, direction: 'FORWARD', after: null, before: null } as const;
    const [messages] = await store.messagePages([{ sessionId: 's', view: 'DISPLAY', scope: 'SEGMENT', page }]);
    store.close();
    expect(messages?.items.map(({ node }) => [node.rowId, node.rawContent])).toEqual([
      ['1', 'do it'],
      ['2', STUB],
      ['3', 'thanks'],
    ]);
  });

  it('T98, K22: is told as done when it is asked for once more with the old version', async () => {
    open();
    await prune([stub()]);
    const before = state();
    expect(await prune([stub()])).toEqual({ sessionId: 's', rewrittenCount: 0, rewritten: [], unchangedIds: ['2'], alreadyApplied: true });
    expect(state()).toEqual(before);
  });

  it('gets its first answer again with the same id', async () => {
    open();
    const first = await prune([stub()], { clientMutationId: 'once' });
    expect(await prune([stub()], { clientMutationId: 'once' })).toEqual(first);
    expect(state()).toHaveLength(4);
  });

  it('T99: made twice leaves two twins in one place', async () => {
    open();
    await prune([stub()]);
    expect(await prune([{ rowId: '2', rowVersion: SECOND, content: 'gone' }])).toMatchObject({ rewritten: [{ archivedTwinRowId: '5' }] });
    expect(state().filter((row) => row.slot === 2)).toMatchObject([
      { id: 2, content: 'gone', active: 1 },
      { id: 4, content: FULL, identity: FULL_IDENTITY, compacted: 1 },
      { id: 5, content: STUB, identity: STUB_IDENTITY, compacted: 1 },
    ]);
  });

  it('T100, T101: is all or nothing when one row changed meanwhile, and names it', async () => {
    open([session(), ...ROWS, toolRow({ content: 'other', tool_call_id: 'call_10' })]);
    const other = await versionOf('4');
    host.otherwise("UPDATE messages SET content = 'by another' WHERE id = 4");
    const before = state();
    const current = await versionOf('4');
    await expect(prune([stub(), { rowId: '4', rowVersion: other, content: 'x' }])).rejects.toMatchObject({
      code: 'ROW_VERSION_CONFLICT',
      details: { rowId: '4', currentRowVersion: current },
    });
    expect(state()).toEqual(before);
  });

  it('T102: is not made of the words of a person', async () => {
    open();
    await expect(prune([{ rowId: '1', rowVersion: FIRST, content: 'x' }])).rejects.toMatchObject({ code: 'ROW_NOT_REWRITABLE' });
  });

  it('T106: is not made of rows of another session, of those taken back, and of those that are gone', async () => {
    open([session(), S('t'), M('t', { role: 'tool', content: FULL }), toolRow({ active: 0 })]);
    for (const rowId of ['1', '2', '99']) {
      await expect(prune([stub(FIRST, rowId)])).rejects.toMatchObject({ code: 'ROW_NOT_LIVE', details: { rowId } });
    }
  });

  it('T108: with the text that is there already is checked and writes nothing', async () => {
    open();
    const before = state();
    expect(await prune([{ rowId: '2', rowVersion: FIRST, content: FULL }])).toMatchObject({
      rewrittenCount: 0,
      unchangedIds: ['2'],
      alreadyApplied: false,
    });
    expect(state()).toEqual(before);
  });

  it('T110: of who lost the lease is refused before anything is written', async () => {
    open([session(), ...ROWS, T('session_turn_leases', { conversation_id: 's', holder: 'other', acquired_at: 0, expires_at: 9000 })]);
    const before = state();
    await expect(prune([stub()], { holder: 'mine' })).rejects.toMatchObject({ code: 'TURN_LEASE_LOST' });
    expect(state()).toEqual(before);
  });

  it('T111: without a lease is made while somebody else runs a turn', async () => {
    open([session(), ...ROWS, T('session_turn_leases', { conversation_id: 's', holder: 'other', acquired_at: 0, expires_at: 9000 })]);
    expect(await prune([stub()])).toMatchObject({ rewrittenCount: 1 });
  });

  it('T112: is not made in a session that a compression closed', async () => {
    open([session({ ended_at: 200, end_reason: 'compression' }), ...ROWS]);
    await expect(prune([stub()])).rejects.toMatchObject({ code: 'SESSION_CLOSED' });
  });

  it('T113: takes a patch of the configuration along, or neither is made', async () => {
    open([session({ model_config: '{"_branched_from": "x", "z": 1, "f": 1.0}' }), ...ROWS]);
    await prune([stub()], { patch: { k: 1, z: null } });
    expect(host.rows('SELECT model_config AS config FROM sessions')).toEqual([{ config: '{"_branched_from": "x", "f": 1.0, "k": 1}' }]);
    const before = state();
    await expect(prune([stub(SECOND)], { patch: { k: 2 }, sessionId: 'nobody' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(prune([stub(FIRST, '1')], { patch: { k: 2 } })).rejects.toMatchObject({ code: 'ROW_NOT_REWRITABLE' });
    expect(state()).toEqual(before);
    expect(host.rows('SELECT model_config AS config FROM sessions')).toEqual([{ config: '{"_branched_from": "x", "f": 1.0, "k": 1}' }]);
  });

  it('T114: completes the display index of a session that lacks it', async () => {
    open();
    expect(state().map(({ identity }) => identity)).toEqual(['', '', '']);
    await prune([stub()]);
    for (const row of state()) expect(row.identity).toMatch(/^[0-9a-f]{64}$/);
  });

  it('T115, K21, K23: that fails before any of its statements leaves nothing or all', async () => {
    open();
    await prune([stub()]);
    const after = state();
    host.close();
    let statements = 0;
    let isArmed = false;
    for (let failing = 0; ; failing++) {
      statements = 0;
      open([session(), ...ROWS], 31, {
        onStatement: () => {
          if (isArmed && statements++ === failing) throw new Error('stopped');
        },
      });
      const before = state();
      isArmed = true;
      const outcome = await prune([stub()]).then(
        () => 'MADE',
        () => 'STOPPED',
      );
      isArmed = false;
      expect(state()).toEqual(outcome === 'MADE' ? after : before);
      if (outcome === 'MADE') break;
      host.close();
    }
    expect(statements).toBeGreaterThan(10);
  });

  it('T116: that meets a lock at its commit leaves one twin, and the version of the row as it was kept', async () => {
    let failures = 1;
    open([session(), ...ROWS], 31, {
      onStatement: (sql) => {
        if (sql === 'COMMIT' && failures-- > 0) throw new Database.SqliteError('database is locked', 'SQLITE_BUSY');
      },
    });
    expect(await prune([stub()])).toMatchObject({ rewritten: [{ rowVersion: SECOND, archivedTwinRowId: '4' }] });
    expect(failures).toBe(-1);
    expect(state()).toHaveLength(4);
    expect(await versionOf('2')).toBe(SECOND);
  });

  it('T119: leaves both texts to be found', async () => {
    open();
    await prune([stub()]);
    const found = (word: string) => host.rows('SELECT rowid AS id FROM messages_fts WHERE messages_fts MATCH ?', word);
    expect(found('cleared')).toEqual([{ id: 2 }]);
    expect(found(FULL)).toEqual([{ id: 4 }]);
    host.otherwise("INSERT INTO messages_fts (messages_fts, rank) VALUES ('integrity-check', 1)");
  });

  it('drops the text that the provider was given, and keeps the uids of calls', async () => {
    const calls = '[{"id": "a"}, {"id": "b"}]';
    open([
      session(),
      M('s', {
        role: 'assistant',
        content: 'long',
        api_content: 'long, really',
        tool_calls: calls,
        tool_call_uids: '{"a": "1", "b": "2"}',
      }),
    ]);
    await prune([{ rowId: '1', rowVersion: await versionOf('1'), content: 'short', toolCalls: [{ id: 'b', n: 1 }] }]);
    expect(host.rows('SELECT content, api_content, tool_calls, tool_call_uids FROM messages WHERE id = 1')).toEqual([
      { content: 'short', api_content: null, tool_calls: '[{"id": "b", "n": 1}]', tool_call_uids: '{"a": "1", "b": "2"}' },
    ]);
    expect(host.rows('SELECT content, api_content, tool_calls FROM messages WHERE id = 2')).toEqual([
      { content: 'long', api_content: 'long, really', tool_calls: calls },
    ]);
  });

  it('is foretold by a dry run, which writes nothing', async () => {
    open();
    const before = state();
    expect(await prune([stub()], { dryRun: true })).toMatchObject({
      rewrittenCount: 1,
      rewritten: [{ rowId: '2', rowVersion: FIRST, archivedTwinRowId: null }],
    });
    expect(state()).toEqual(before);
  });

  it('is made in a store without uids, and refused in one without display order', async () => {
    const withoutUids = (rows: readonly Row[]) => rows.map(({ table, columns: { message_uid: _, ...columns } }) => ({ table, columns }));
    open([session(), ...withoutUids(ROWS)], 30);
    expect(await prune([{ rowId: '2', rowVersion: await versionOf('2'), content: STUB }])).toMatchObject({ rewrittenCount: 1 });
    expect(host.rows('SELECT content, display_order AS slot FROM messages WHERE id IN (2, 4)')).toEqual([
      { content: STUB, slot: 2 },
      { content: FULL, slot: 2 },
    ]);
    host.close();
    open([session(), ...withoutUids(ROWS)], 26);
    await expect(prune([stub()])).rejects.toMatchObject({ code: 'SCHEMA_UNSUPPORTED' });
  });

  it('names each row once, with a version that is one', async () => {
    open();
    await expect(prune([stub(), stub()])).rejects.toMatchObject({ code: 'VALIDATION' });
    await expect(prune([stub('7494114319b90db6563ad1f9bb560ac4')])).rejects.toMatchObject({ code: 'VALIDATION' });
  });
});
