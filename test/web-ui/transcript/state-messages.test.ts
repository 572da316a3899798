/** Reading rows: T13 to T35 of `spec/webui-transcript.md` 26.1, 26.2, and stores of every schema. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, describe, expect, it } from 'vitest';
import { StoreUnreadable } from '../../../src/errors.ts';
import { Meter, metered } from '../../../src/meter.ts';
import { StoreConnection } from '../../../src/state-db/connection.ts';
import { continuationChain } from '../../../src/web-ui/transcript/continuations.ts';
import { regenerationTail } from '../../../src/web-ui/transcript/regeneration-tail.ts';
import { readRevisions } from '../../../src/web-ui/transcript/revision.ts';
import { prefixKeys, prefixSummary, sessionSummaries } from '../../../src/web-ui/transcript/session-summaries.ts';
import { readManyStateMessages, readStateMessages, type StateQuery } from '../../../src/web-ui/transcript/state-messages.ts';
import { buildStore, type Columns, M, type Row, S, type SchemaVersion, type StoreSpec, temporaryFolder } from '../../support/stores.ts';

const connections: StoreConnection[] = [];
afterAll(() => {
  for (const connection of connections.splice(0)) connection.close();
});

function open(spec: StoreSpec | readonly Row[]): StoreConnection {
  const connection = StoreConnection.open(buildStore(Array.isArray(spec) ? { rows: spec } : (spec as StoreSpec)), { lockWaitMs: 1000 });
  connections.push(connection);
  return connection;
}

const texts = (store: StoreConnection, id: string, query: StateQuery = {}) =>
  readStateMessages(store, id, query).messages.map(({ content }) => content);

/** Eight live rows at 10 to 17, and one archived at 18. */
const nineRows = [
  S('s'),
  ...Array.from({ length: 9 }, (_, index) => M('s', { content: `m${index}`, timestamp: 10 + index, active: index === 8 ? 0 : 1 })),
];

describe('the rows of a session', () => {
  const activity: StoreSpec = {
    reconciled: true,
    rows: [
      S('s'),
      M('s', { content: 'live', active: 1 }),
      M('s', { content: 'gone', active: 0 }),
      M('s', { content: 'old', active: null }),
    ],
  };

  it('T13: are the live ones, NULL counts as live, or all on request', () => {
    const store = open(activity);
    expect(texts(store, 's')).toEqual(['live', 'old']);
    expect(texts(store, 's', { includeInactive: true })).toEqual(['live', 'gone', 'old']);
  });

  it('T14: come in the order in which they were stored', () => {
    const store = open({
      reconciled: true,
      rows: [
        S('s'),
        M('s', { content: '1', timestamp: 20 }),
        M('s', { content: '2', timestamp: 5 }),
        M('s', { content: '3', timestamp: 7 }),
      ],
    });
    expect(texts(store, 's')).toEqual(['1', '2', '3']);
    expect(readStateMessages(store, 's').rowIds).toEqual(['1', '2', '3']);
  });

  it('T15: are at most the newest so many, one at least, all without a number', () => {
    const store = open(nineRows);
    expect(texts(store, 's', { limit: 2 })).toEqual(['m6', 'm7']);
    expect(texts(store, 's', { limit: 0 })).toEqual(['m7']);
    expect(texts(store, 's', { limit: -3 })).toEqual(['m7']);
    expect(texts(store, 's', { limit: Number('abc') })).toHaveLength(8);
  });

  it('T16: begin at a time, rows without one stay', () => {
    const store = openTimeless();
    expect(texts(store, 's', { since: 14 })).toEqual(['none', 'm14', 'm18']);
    expect(() => readStateMessages(store, 's', { since: Number.NaN })).toThrow(RangeError);
  });

  it('T17: with text that is not UTF-8 are all shown, and told as degraded', () => {
    const store = open({
      rows: [S('s'), M('s', { content: 'fine' })],
      extra: (db) =>
        db.exec("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s', 'user', CAST(x'61ff62' AS TEXT), 2)"),
    });
    const snapshot = readStateMessages(store, 's');
    expect(snapshot.messages.map(({ content }) => content)).toEqual(['fine', 'a�b']);
    expect(snapshot.degraded).toBe(true);
  });

  it('T18: are read without ids, activity and tool columns', () => {
    const store = openBare("INSERT INTO messages VALUES ('s', 'user', 'hi', 1)");
    expect(readStateMessages(store, 's')).toMatchObject({
      messages: [{ role: 'user', content: 'hi', timestamp: 1 }],
      rowIds: [null],
      revision: null,
    });
    expect(prefixKeys(store, 's', 5)).toBeNull();
    expect(readRevisions(store, ['s']).get('s')).toBeNull();
    expect(prefixSummary(store, 's', 5)).toEqual({ count: 1, nullTimestampCount: 0 });
  });

  it.each<SchemaVersion>([6, 16, 22, 26, 30, 31])('are read from a store of schema %s', (schema) => {
    const store = open({ schema, rows: [S('s'), M('s', { content: 'hi' }), M('s', { role: 'tool', content: 'r', tool_name: 'n' })] });
    expect(readStateMessages(store, 's').messages).toEqual([
      { role: 'user', content: 'hi', timestamp: 1 },
      { role: 'tool', content: 'r', timestamp: 2, tool_name: 'n', name: 'n' },
    ]);
    const revision = readStateMessages(store, 's').revision;
    expect(readRevisions(store, ['s']).get('s')).toEqual(revision);
    expect(revision === null).toBe(schema === 6);
  });

  it('of many sessions take one statement', async () => {
    const store = open([S('s'), S('o'), M('s', { content: 'a' }), M('o', { content: 'b' }), M('s', { content: 'c', api_content: 'w' })]);
    const meter = new Meter();
    const found = await metered(meter, async () => readManyStateMessages(store, ['o', 's', 'none']));
    expect(meter.statements).toBe(1);
    for (const id of ['o', 's', 'none']) expect(found.get(id)).toEqual(readStateMessages(store, id));
  });
});

/** A messages table without NOT NULL, as very old stores have it. */
function openBare(sql: string, columns = 'session_id, role, content, timestamp'): StoreConnection {
  const path = join(temporaryFolder(), 'state.db');
  const db = new Database(path);
  db.exec(`CREATE TABLE sessions (id TEXT PRIMARY KEY); CREATE TABLE messages (${columns}); ${sql}`);
  db.close();
  const connection = StoreConnection.open(path, { lockWaitMs: 1000 });
  connections.push(connection);
  return connection;
}

function openTimeless(): StoreConnection {
  return openBare(
    "INSERT INTO messages VALUES (1, 's', 'user', 'none', NULL), (2, 's', 'user', 'm10', 10), (3, 's', 'user', 'm14', 14), (4, 's', 'user', 'm18', 18)",
    'id INTEGER PRIMARY KEY, session_id, role, content, timestamp REAL',
  );
}

describe('segments that a session goes on from', () => {
  const said = (...ids: string[]) => ids.map((id) => M(id, { content: id }));
  const abc = [
    S('a', { ended_at: 5, end_reason: 'compression', started_at: 1 }),
    S('b', { parent_session_id: 'a', started_at: 5, ended_at: 9, end_reason: 'cli_close' }),
    S('c', { parent_session_id: 'b', started_at: 9 }),
    S('d', { parent_session_id: 'b', started_at: 9, source: 'telegram' }),
    ...said('a', 'b', 'c', 'd'),
  ];

  it('T19: are read in front of it, without a revision', () => {
    const store = open(abc);
    expect(texts(store, 'c', { stitch: true })).toEqual(['a', 'b', 'c']);
    expect(readStateMessages(store, 'c', { stitch: true }).revision).toBeNull();
    expect(readStateMessages(store, 'a', { stitch: true }).revision).not.toBeNull();
  });

  it('T20: are of the same source', () => {
    expect(texts(open(abc), 'd', { stitch: true })).toEqual(['d']);
  });

  const pair = (parent: Columns, child: Columns) =>
    open({ schema: 30, rows: [S('p', parent), S('k', { parent_session_id: 'p', ...child }), ...said('p', 'k')] });

  it.each<readonly [string, Columns, Columns, string[]]>([
    ['T21: a child that began before', { ended_at: 5, end_reason: 'compression' }, { started_at: 2 }, ['k']],
    ['T21: a parent that was reset', { ended_at: 5, end_reason: 'session_reset' }, { started_at: 9 }, ['k']],
    ['a branch', { ended_at: 5, end_reason: 'compression' }, { started_at: 9, model_config: '{"_branched_from":"p"}' }, ['k']],
    ['a delegate', { ended_at: 5, end_reason: 'compression' }, { started_at: 9, model_config: '{"_delegate_from":"p"}' }, ['k']],
    ['a tool', { ended_at: 5, end_reason: 'compression' }, { started_at: 9, source: 'tool' }, ['k']],
    ['a damaged configuration', { ended_at: 5, end_reason: 'compression' }, { started_at: 9, model_config: '{bad' }, ['p', 'k']],
    ['T22: a parent that never ended', { ended_at: null, end_reason: 'cli_close' }, { started_at: 1 }, ['p', 'k']],
    ['T22: a parent without a source', { ended_at: 5, end_reason: 'compression', source: '' }, { started_at: 5 }, ['p', 'k']],
  ])('%s', (_, parent, child, expected) => {
    expect(texts(pair(parent, child), 'k', { stitch: true })).toEqual(expected);
  });

  it('T21: a fork begins anew', () => {
    const store = openBare(
      `DROP TABLE sessions;
       CREATE TABLE sessions (id, parent_session_id, end_reason, started_at, ended_at, source, session_source);
       INSERT INTO sessions VALUES ('p', NULL, 'compression', 1, 5, 'cli', NULL), ('k', 'p', NULL, 9, NULL, 'cli', ' Fork ');
       INSERT INTO messages VALUES ('p', 'user', 'p', 1), ('k', 'user', 'k', 9)`,
    );
    expect(texts(store, 'k', { stitch: true })).toEqual(['k']);
  });

  it('T23: are twenty at most, and that is told (H11)', () => {
    const chain = Array.from({ length: 25 }, (_, index) => [
      S(`s${index}`, { ended_at: 1, end_reason: 'compression', started_at: 1, parent_session_id: index === 0 ? null : `s${index - 1}` }),
      M(`s${index}`, { content: `s${index}` }),
    ]);
    const store = open(chain.flat());
    expect(continuationChain(store, 's24')).toEqual({ ids: Array.from({ length: 21 }, (_, index) => `s${index + 4}`), truncated: true });
    expect(readStateMessages(store, 's24', { stitch: true })).toMatchObject({ truncated: true });
    expect(continuationChain(store, 's20').truncated).toBe(false);
  });

  it('T24: that name each other are read once each', () => {
    const ended = { ended_at: 1, end_reason: 'compression', started_at: 1 };
    const store = open({
      rows: [
        S('a', ended),
        S('b', { ...ended, parent_session_id: 'a' }),
        M('b', { content: 'b1' }),
        M('a', { content: 'a2' }),
        M('b', { content: 'b3' }),
      ],
      extra: (db) => db.exec("UPDATE sessions SET parent_session_id = 'b' WHERE id = 'a'"),
    });
    expect(texts(store, 'a', { stitch: true })).toEqual(['b1', 'a2', 'b3']);
  });
});

describe('the revision', () => {
  const revision = (rows: readonly Row[], id = 's', reconciled = false) => {
    const store = open({ rows, reconciled });
    const read = readStateMessages(store, id).revision;
    expect(readRevisions(store, [id]).get(id)).toEqual(read);
    return read;
  };

  it('T25: is unknown where a row is neither live nor not', () => {
    expect(revision([S('s'), M('s', { active: 1 }), M('s', { active: null })], 's', true)).toBeNull();
  });

  it('T26: of an unknown session is that it has no rows', () => {
    expect(revision([S('s')], 'nobody')).toEqual({
      sessionId: 'nobody',
      activeMessageCount: 0,
      maxActiveMessageId: 0,
      activeRowsDigest: '',
    });
  });

  it.each([
    ['wire-v1', '50101e75ded18d78bc21646a6fcd4cddb8f07901838635dda6eac85d219c1359'],
    ['wire-v2', 'de45994b9f134be94b99ce03a47da3b553c86a27e5cdcfd67885644a8372102a'],
  ])('T27: has the digest of %s', (payload, activeRowsDigest) => {
    expect(revision([S('s'), M('s', { api_content: payload }), M('s', { content: 'x' })])).toEqual({
      sessionId: 's',
      activeMessageCount: 2,
      maxActiveMessageId: 2,
      activeRowsDigest,
    });
  });

  it('T28: is unknown for a part of the rows', () => {
    const store = open(nineRows);
    expect(readStateMessages(store, 's').revision).toMatchObject({ activeMessageCount: 8, maxActiveMessageId: 8 });
    for (const query of [{ since: 1 }, { limit: 5000 }, { includeInactive: true }]) {
      expect(readStateMessages(store, 's', query).revision).toBeNull();
    }
  });

  it('is unknown where a payload is bytes', () => {
    expect(revision([S('s'), M('s', { api_content: Buffer.from('x') })])).toBeNull();
  });
});

describe('summaries', () => {
  it('T29: count all rows, and the live ones apart (H10)', () => {
    const store = open(nineRows);
    expect(sessionSummaries(store, ['s', 'nobody'])).toEqual(
      new Map([
        ['s', { messageCount: 9, activeCount: 8, lastMessageAt: 18 }],
        ['nobody', { messageCount: 0, activeCount: 0, lastMessageAt: 0 }],
      ]),
    );
  });

  it('are zeros where the newest time is text', () => {
    const store = openBare("INSERT INTO messages VALUES ('s', 'user', 'hi', 1), ('s', 'user', 'hi', 'yesterday')");
    expect(sessionSummaries(store, ['s']).get('s')).toEqual({ messageCount: 0, activeCount: 0, lastMessageAt: 0 });
  });

  it('T30: of a prefix need a finite time and a session', () => {
    const store = open(nineRows);
    expect(prefixSummary(store, 's', Number.POSITIVE_INFINITY)).toBeNull();
    expect(prefixSummary(store, 's', Number.NaN)).toBeNull();
    expect(prefixSummary(store, '', 5)).toBeNull();
    expect(prefixSummary(store, 's', 12)).toEqual({ count: 2, nullTimestampCount: 0 });
    expect(prefixSummary(openTimeless(), 's', 14)).toEqual({ count: 1, nullTimestampCount: 1 });
  });
});

describe('keys of a prefix and the tail', () => {
  const sevenRows = [
    S('s'),
    ...Array.from({ length: 9 }, (_, index) => M('s', { content: `m${index}`, timestamp: 10 + index, active: index === 6 ? 0 : 1 })),
  ];

  it('T31: the keys include inactive rows', () => {
    expect(prefixKeys(open(sevenRows), 's', 17)).toHaveLength(7);
  });

  it('T32: the tail knows only live rows', () => {
    const tail = regenerationTail(open(sevenRows), 's', 17);
    expect(tail?.prefixKeys).toHaveLength(6);
    expect(tail?.prefix).toEqual({ count: 6, nullTimestampCount: 0 });
    expect(tail?.tail.map(({ content }) => content)).toEqual(['m7', 'm8']);
    expect(tail?.tailKeys).toHaveLength(2);
  });

  it('T33: keys come by time, the prefix of the tail as stored (H9)', () => {
    const store = open([S('s'), M('s', { content: 'late', timestamp: 20 }), M('s', { content: 'early', timestamp: 5 })]);
    const keys = prefixKeys(store, 's', 30) ?? [];
    expect(keys.map((key) => key.includes('early'))).toEqual([true, false]);
    expect(regenerationTail(store, 's', 30)?.prefixKeys).toEqual(keys.toReversed());
  });

  it('T34: a commit during the read, to any session, leaves nothing proven', () => {
    const path = buildStore({ rows: [S('s'), S('o'), M('s', { content: 'a' })] });
    const store = StoreConnection.open(path, { lockWaitMs: 1000 });
    connections.push(store);
    const writer = new Database(path);
    const disturbed = new Proxy(store, {
      get: (target, name) => {
        if (name === 'all') {
          writer.exec("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('o', 'user', 'x', 9)");
        }
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    expect(regenerationTail(disturbed, 's', 0)).toBeNull();
    writer.close();
    expect(regenerationTail(store, 's', 0)?.tail).toHaveLength(1);
  });

  it('keeps rows without a time in the tail', () => {
    const tail = regenerationTail(openTimeless(), 's', 14);
    expect(tail?.tail.map(({ content }) => content)).toEqual(['none', 'm14', 'm18']);
    expect(tail?.prefix).toEqual({ count: 1, nullTimestampCount: 1 });
    expect(regenerationTail(openTimeless(), 's', Number.NaN)).toBeNull();
    expect(regenerationTail(openTimeless(), '', 14)).toBeNull();
  });
});

it("T35: a profile whose store is missing is an error, never another profile's data (H3)", () => {
  const path = join(temporaryFolder(), 'state.db');
  expect(() => StoreConnection.open(path, { lockWaitMs: 1 })).toThrow(StoreUnreadable);
  expect(existsSync(path)).toBe(false);
});
