/** The append path over a real store (`spec/state-db-writes.md` 25.2). */
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, describe, expect, it } from 'vitest';
import { commandHost, type TestHost } from '../support/command-host.ts';
import { Faults } from '../support/faults.ts';
import { buildStore, type Row, S, type StoreSpec, T, temporaryFolder } from '../support/stores.ts';

const faults = new Faults();
const hosts: TestHost[] = [];
afterEach(() => {
  faults.heal();
  for (const host of hosts.splice(0)) host.close();
});

function open(rows: readonly Row[] = [], spec: StoreSpec = {}): TestHost {
  return reopen(buildStore({ schema: 31, ...spec, rows: [S('s'), ...rows] }));
}

function reopen(path: string): TestHost {
  const host = commandHost(path, { onStatement: faults.onStatement });
  hosts.push(host);
  return host;
}

const say = (host: TestHost, content: string, more: object = {}, sessionId = 's') =>
  host.run('appendMessage', { sessionId, message: { role: 'user', content, ...more }, lease: null });
const stored = (host: TestHost, sessionId = 's') =>
  host.rows('SELECT content FROM messages WHERE session_id = ? ORDER BY id', sessionId).map(({ content }) => content);
const counters = (host: TestHost, sessionId = 's') =>
  host.rows('SELECT message_count AS mc, tool_call_count AS tc FROM sessions WHERE id = ?', sessionId)[0];
const spoolFolder = (host: TestHost) => join(dirname(host.path), 'pending_messages');
const spooled = (host: TestHost) => (existsSync(spoolFolder(host)) ? readdirSync(spoolFolder(host)).sort() : []);
const payloads = (host: TestHost) =>
  spooled(host)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(join(spoolFolder(host), name), 'utf8')))
    .sort((a, b) => a.ts - b.ts || a.seq - b.seq);
const busy = () => faults.fail('BEGIN', 'SQLITE_BUSY');

const CHAIN = [S('p', { ended_at: 150, end_reason: 'compression' }), S('c', { parent_session_id: 'p', started_at: 150 })];

describe('an append', () => {
  it('T15: is a row, and counts', async () => {
    const host = open();
    expect(await say(host, 'a')).toMatchObject({ status: 'COMMITTED', queueDepth: 0, failureCount: 0, problem: null });
    expect(stored(host)).toEqual(['a']);
    expect(counters(host)).toEqual({ mc: 1, tc: 0 });
    expect(host.rows('SELECT active, length(message_uid) AS uid FROM messages')).toEqual([{ active: 1, uid: 32 }]);
  });

  it('T16: counts calls in the same transaction', async () => {
    const host = open();
    const calls = ['a', 'b'].map((id) => ({ id, type: 'function', function: { name: 'ls', arguments: '{}' } }));
    await say(host, '', { role: 'assistant', tool_calls: calls });
    expect(counters(host)).toEqual({ mc: 1, tc: 2 });
  });

  it('keeps why the model stopped, what it thought and how many tokens it took', async () => {
    const host = open();
    const more = { role: 'assistant', finish_reason: 'stop', reasoning: 'why', token_count: 7, effect_disposition: 'applied' };
    await say(host, 'a', more);
    expect(host.rows('SELECT role, finish_reason, reasoning, token_count, effect_disposition FROM messages')).toEqual([more]);
  });

  it('T17, K3: with the same uid is a duplicate, with the same row', async () => {
    const host = open();
    const first = await say(host, 'a', { message_uid: 'u1' });
    expect(await say(host, 'a', { message_uid: 'u1' })).toMatchObject({ status: 'DUPLICATE', rowId: first.rowId });
    expect(counters(host)).toEqual({ mc: 1, tc: 0 });
  });

  it('with the same clientMutationId gets the first answer, also in a store without uids', async () => {
    for (const schema of [16, 31] as const) {
      const host = open([], { schema });
      const append = () =>
        host.run('appendMessage', { sessionId: 's', message: { role: 'user', content: 'a' }, lease: null }, { clientMutationId: 'm' });
      const first = await append();
      expect(await append()).toEqual(first);
      expect(stored(host)).toEqual(['a']);
    }
  });

  it('under a clientMutationId that another message was sent with is refused', async () => {
    const host = open();
    const append = (content: string) =>
      host.run('appendMessage', { sessionId: 's', message: { role: 'user', content }, lease: null }, { clientMutationId: 'm' });
    await append('a');
    await expect(append('b')).rejects.toMatchObject({ code: 'VALIDATION' });
  });

  it('to a session that never was is refused', async () => {
    const host = open();
    await expect(say(host, 'a', {}, 'nobody')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(host.transcript().queue.isHolding).toBe(false);
  });

  it('T31: goes to a session that was ended by anything but a compression', async () => {
    const host = open([S('r', { ended_at: 150, end_reason: 'session_reset' })]);
    expect(await say(host, 'a', {}, 'r')).toMatchObject({ status: 'COMMITTED', sessionId: 'r' });
  });

  it('T61, T62: keeps its own lease alive, and is refused with one that is lost', async () => {
    const lease = (holder: string) => ({ holder, ttlSeconds: 300 });
    const append = (host: TestHost, holder: string) =>
      host.run('appendMessage', { sessionId: 's', message: { role: 'user', content: 'a' }, lease: lease(holder) });
    const host = open([T('session_turn_leases', { conversation_id: 's', holder: 'h1', acquired_at: 0, expires_at: 900 })]);
    expect(await append(host, 'h1')).toMatchObject({ status: 'COMMITTED' });
    expect(host.rows('SELECT expires_at FROM session_turn_leases')).toEqual([{ expires_at: 1300 }]);
    await expect(append(host, 'h2')).rejects.toMatchObject({ code: 'TURN_LEASE_LOST' });
    expect(stored(host)).toEqual(['a']);
  });

  it('T63, T66: without a lease heeds neither leases nor locks of others', async () => {
    const host = open([
      T('session_turn_leases', { conversation_id: 's', holder: 'h', acquired_at: 0, expires_at: 5000 }),
      T('compression_locks', { session_id: 's', holder: 'h', acquired_at: 0, expires_at: 5000 }),
    ]);
    expect(await say(host, 'a')).toMatchObject({ status: 'COMMITTED' });
  });
});

describe('while the store fails', () => {
  it('T18: a message waits, and nothing is thrown', async () => {
    const host = open();
    busy();
    const before = host.clock.slept;
    expect(await say(host, 'a')).toMatchObject({ status: 'QUEUED', queueDepth: 1, failureCount: 1, problem: { code: 'STORE_BUSY' } });
    expect(host.clock.slept - before).toBeGreaterThanOrEqual(60_000);
    expect(await host.run('retryQueue', { sessionId: 's' })).toMatchObject({ depth: 1, failures: 1, entries: [{ role: 'user' }] });
  });

  it('T19: what waits comes before what is new', async () => {
    const host = open();
    busy();
    await say(host, 'a');
    faults.heal();
    expect(await say(host, 'b')).toMatchObject({ status: 'COMMITTED', queueDepth: 0, failureCount: 0 });
    expect(stored(host)).toEqual(['a', 'b']);
  });

  it('T20, T22: the oldest of more than 200 goes to the spool, and is the first to be written', async () => {
    const host = open();
    busy();
    const outcomes = Array.from({ length: 201 }, (_, index) => say(host, `m${index + 1}`));
    // All of them are taken before the first attempt is over.
    await Promise.all(outcomes);
    expect(await host.run('retryQueue', { sessionId: 's' })).toMatchObject({ depth: 200 });
    expect(payloads(host).map(({ data }) => data.message.content)).toEqual(['m1']);
    faults.heal();
    await say(host, 'm202');
    expect(stored(host)).toEqual(Array.from({ length: 202 }, (_, index) => `m${index + 1}`));
    expect(spooled(host)).toEqual([]);
    expect(counters(host)).toEqual({ mc: 202, tc: 0 });
  });

  it('T21: a message that neither memory nor the spool can hold is refused, and none that was taken is lost', async () => {
    const host = open();
    writeFileSync(spoolFolder(host), 'no folder');
    busy();
    const outcomes = Array.from({ length: 201 }, (_, index) => say(host, `m${index + 1}`).catch((error) => error));
    const last = (await Promise.all(outcomes)).at(-1);
    expect(last).toMatchObject({ code: 'QUEUE_FULL', settled: true, retryable: true });
    rmSync(spoolFolder(host));
    faults.heal();
    await host.run('flushRetryQueue', { sessionId: 's' });
    expect(stored(host)).toEqual(Array.from({ length: 200 }, (_, index) => `m${index + 1}`));
  });

  it('T23: a backlog that failed three times is in the spool, in order', async () => {
    const host = open();
    busy();
    for (const content of ['a', 'b', 'c']) await say(host, content);
    expect(host.transcript().queue.isHolding).toBe(false);
    expect(payloads(host).map(({ data }) => data.message.content)).toEqual(['a', 'b', 'c']);
    expect(payloads(host).map(({ seq }) => seq)).toEqual([0, 1, 2].map((step) => payloads(host)[0].seq + step));
    expect(host.events).toContainEqual({ code: 'STALLED', sessionId: 's', count: 3, reason: 'STORE_BUSY' });
    faults.heal();
    await say(host, 'd');
    expect(stored(host)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('what an earlier process left in the spool comes before what is new', async () => {
    const host = open();
    busy();
    for (const content of ['a', 'b', 'c']) await say(host, content);
    faults.heal();
    const next = reopen(host.path);
    await say(next, 'd');
    expect(stored(next)).toEqual(['a', 'b', 'c', 'd']);
    expect(spooled(next)).toEqual([]);
  });

  it('what waits at the end of the process is in the spool, and comes first afterwards', async () => {
    const host = open();
    busy();
    await say(host, 'a');
    expect(host.transcript().queue.spoolAll()).toBe(0);
    faults.heal();
    const next = reopen(host.path);
    await say(next, 'b');
    expect(stored(next)).toEqual(['a', 'b']);
  });

  it('is tried again with the queue, not with each message', async () => {
    const host = open();
    busy();
    await Promise.all(['a', 'b', 'c', 'd'].map((content) => say(host, content)));
    expect(await host.run('retryQueue', { sessionId: 's' })).toMatchObject({ depth: 4, failures: 1 });
    expect(await host.run('flushRetryQueue', { sessionId: 's' })).toMatchObject({
      committed: 0,
      remaining: 4,
      lastError: { code: 'STORE_BUSY' },
    });
    faults.heal();
    expect(await host.run('flushRetryQueue', { sessionId: 's' })).toEqual({ committed: 4, remaining: 0, lastError: null });
    expect(stored(host)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('can be given up by who knows how much is lost', async () => {
    const host = open();
    busy();
    await say(host, 'a');
    await expect(host.run('discardRetryQueue', { sessionId: 's', confirmDepth: 2 })).rejects.toMatchObject({
      code: 'CONFLICT',
      details: { depth: 1 },
    });
    expect(await host.run('discardRetryQueue', { sessionId: 's', confirmDepth: 1 }, { dryRun: true })).toEqual({ discarded: 1 });
    expect(await host.run('discardRetryQueue', { sessionId: 's', confirmDepth: 1 })).toEqual({ discarded: 1 });
    faults.heal();
    await say(host, 'b');
    expect(stored(host)).toEqual(['b']);
  });

  it('T56: a session that is gone may come back', async () => {
    const host = open();
    await say(host, 'a');
    host.otherwise('DELETE FROM messages');
    host.otherwise('DELETE FROM sessions');
    expect(await say(host, 'b')).toMatchObject({ status: 'QUEUED', problem: { code: 'SESSION_ROW_MISSING' } });
    host.otherwise("INSERT INTO sessions (id, source, started_at) VALUES ('s', 'cli', 1)");
    await say(host, 'c');
    expect(stored(host)).toEqual(['b', 'c']);
  });
});

describe('a session that was compressed', () => {
  it('T24: is followed to its open continuation', async () => {
    const host = open(CHAIN);
    expect(await say(host, 'a', {}, 'p')).toMatchObject({ status: 'COMMITTED', sessionId: 'c' });
    expect(await say(host, 'b', {}, 'p')).toMatchObject({ sessionId: 'c' });
    expect(stored(host, 'c')).toEqual(['a', 'b']);
    expect(stored(host, 'p')).toEqual([]);
  });

  it('leaves the route of a gateway where it leads, for the gateway keeps its own', async () => {
    const entry = '{"session_id": "p"}';
    const host = open([...CHAIN, T('gateway_routing', { session_key: 'k', entry_json: entry, updated_at: 1 })]);
    expect(await say(host, 'a', {}, 'p')).toMatchObject({ sessionId: 'c' });
    expect(host.rows('SELECT entry_json AS entry, updated_at AS at FROM gateway_routing')).toEqual([{ entry, at: 1 }]);
  });

  it('T25: has its backlog written before that of the continuation', async () => {
    const host = open([S('p'), S('c', { parent_session_id: 'p', started_at: 150 })]);
    busy();
    for (const content of ['m1', 'm2']) await say(host, content, {}, 'p');
    await say(host, 'c1', {}, 'c');
    faults.heal();
    host.otherwise("UPDATE sessions SET ended_at = 150, end_reason = 'compression' WHERE id = 'p'");
    await say(host, 'new', {}, 'p');
    await host.run('flushRetryQueue', { sessionId: 'p' });
    expect(stored(host, 'c')).toEqual(['m1', 'm2', 'new', 'c1']);
  });

  it('T26: is followed over several segments', async () => {
    const host = open([
      S('p', { ended_at: 150, end_reason: 'compression' }),
      S('c1', { parent_session_id: 'p', started_at: 150, ended_at: 160, end_reason: 'compression' }),
      S('c2', { parent_session_id: 'c1', started_at: 160 }),
    ]);
    expect(await say(host, 'a', {}, 'p')).toMatchObject({ sessionId: 'c2' });
  });

  for (const [name, more] of [
    ['T27: and goes on nowhere', []],
    ['T28: and has only a branch', [S('b', { parent_session_id: 'p', started_at: 150, model_config: '{"_branched_from":"p"}' })]],
    ['T29: and whose tip was closed', [S('c', { parent_session_id: 'p', started_at: 150, ended_at: 170, end_reason: 'cli_close' })]],
  ] as const) {
    it(`${name} keeps the message as a dead letter and says so`, async () => {
      const host = open([S('p', { ended_at: 150, end_reason: 'compression' }), ...more]);
      await expect(say(host, 'a', {}, 'p')).rejects.toMatchObject({ code: 'NO_LIVE_CONTINUATION' });
      expect(spooled(host)).toEqual([expect.stringMatching(/^pending-[0-9a-f]{32}\.json\.dead$/)]);
      expect(await host.run('spoolEntries', { sessionId: 'p' })).toMatchObject([{ state: 'DEAD', preview: 'a' }]);
    });
  }

  it('T30: keeps its message and its place when the continuation fails', async () => {
    const host = open(CHAIN);
    faults.fail('INSERT INTO messages', 'SQLITE_FULL', 1);
    expect(await say(host, 'a', {}, 'p')).toMatchObject({
      status: 'QUEUED',
      sessionId: 'p',
      failureCount: 1,
      problem: { code: 'STORE_FULL' },
    });
    expect(await say(host, 'b', {}, 'p')).toMatchObject({ status: 'COMMITTED', sessionId: 'c' });
    expect(stored(host, 'c')).toEqual(['a', 'b']);
  });

  it('Z12: has its message diverted at once when the store is found damaged on the way to the continuation', async () => {
    const host = open(CHAIN);
    faults.fail('INSERT INTO messages', 'SQLITE_CORRUPT', 1);
    expect(await say(host, 'a', {}, 'p')).toMatchObject({ status: 'DIVERTED', problem: { code: 'STORE_CORRUPT' } });
    expect(payloads(host).map(({ data }) => data.message.content)).toEqual(['a']);
    expect(existsSync(join(dirname(host.path), 'sessions', 'p.jsonl'))).toBe(true);
  });

  it('T53: has its spooled messages written to the continuation', async () => {
    const host = open([S('p')]);
    busy();
    for (const content of ['a', 'b', 'c']) await say(host, content, {}, 'p');
    faults.heal();
    host.otherwise("UPDATE sessions SET ended_at = 150, end_reason = 'compression' WHERE id = 'p'");
    host.otherwise("INSERT INTO sessions (id, source, started_at, parent_session_id) VALUES ('c', 'cli', 150, 'p')");
    expect(await host.run('drainSpool', { sessionId: 'p', limit: null })).toMatchObject({ remaining: 0, stoppedBy: [] });
    expect(stored(host, 'c')).toEqual(['a', 'b', 'c']);
  });
});

describe('a store that must not be written to any more', () => {
  const replaceBy = (host: TestHost, other: string) => {
    rmSync(host.path);
    renameSync(other, host.path);
  };

  it('T32: has its messages diverted once the file is another one, and never touches the new one', async () => {
    const host = open();
    await say(host, 'before');
    const other = buildStore({ schema: 31, rows: [S('s')] });
    replaceBy(host, other);
    expect(await say(host, 'größer')).toMatchObject({ status: 'DIVERTED', problem: { code: 'STORE_REPLACED' } });
    expect(payloads(host).map(({ data }) => data.message.content)).toEqual(['größer']);
    // T54: one line a message, readable.
    const lines = readFileSync(join(dirname(host.path), 'sessions', 's.jsonl'), 'utf8')
      .trim()
      .split('\n');
    expect(lines.map((line) => JSON.parse(line).content)).toEqual(['größer']);
    expect(lines[0]).toContain('größer');
    expect(host.writer.quarantine).toBe('STORE_REPLACED');
    await expect(host.run('acquireTurnLease', { sessionId: 's', holder: 'h', ttlSeconds: 1 })).rejects.toMatchObject({
      code: 'STORE_REPLACED',
    });
    // Without the -wal of the old file, which would be taken for its own.
    const alone = join(temporaryFolder(), 'state.db');
    copyFileSync(host.path, alone);
    const db = new Database(alone, { readonly: true });
    expect(db.prepare('SELECT content FROM messages').all()).toEqual([]);
    db.close();
  });

  it('T33: is told by its application id where the inode is the same', async () => {
    const stamp = (id: number) => ({ extra: (db: Database.Database) => db.pragma(`application_id = ${id}`) });
    const host = open([], { ...stamp(0x11111111), journal: 'delete' });
    await say(host, 'a');
    const bytes = readFileSync(host.path);
    bytes.writeUInt32BE(0x22222222, 68);
    writeFileSync(host.path, bytes);
    expect(await say(host, 'b')).toMatchObject({ status: 'DIVERTED', problem: { code: 'STORE_REPLACED' } });
  });

  it('T34: is not suspected where there is no application id yet', async () => {
    const host = open();
    await say(host, 'a');
    host.otherwise('PRAGMA application_id = 286331153');
    host.otherwise('PRAGMA wal_checkpoint(TRUNCATE)');
    expect(await say(host, 'b')).toMatchObject({ status: 'COMMITTED' });
  });

  it.runIf(process.platform === 'linux')('T35: is one whose -wal was removed', async () => {
    const host = open();
    await say(host, 'a');
    rmSync(`${host.path}-wal`);
    expect(await say(host, 'b')).toMatchObject({ status: 'DIVERTED', problem: { code: 'WAL_GENERATION_LOST' } });
    expect(host.writer.quarantine).toBe('WAL_GENERATION_LOST');
    host.writer.close();
    expect(existsSync(`${host.path}-wal`)).toBe(false);
  });

  it('T36: is not suspected after our own close', async () => {
    const host = open();
    await say(host, 'a');
    host.writer.close();
    expect(existsSync(`${host.path}-wal`)).toBe(false);
    expect(await say(host, 'b')).toMatchObject({ status: 'COMMITTED' });
  });

  it('T38: is one with damaged pages, until the server starts again', async () => {
    const host = open();
    faults.fail('INSERT INTO messages', 'SQLITE_CORRUPT', 1);
    expect(await say(host, 'a')).toMatchObject({ status: 'DIVERTED', problem: { code: 'STORE_CORRUPT' } });
    expect(await say(host, 'b')).toMatchObject({ status: 'DIVERTED', problem: { code: 'STORE_CORRUPT' } });
    expect(stored(host)).toEqual([]);
    expect(payloads(host)).toHaveLength(2);
  });
});

describe('a damaged index', () => {
  it('T37, K31: is set aside for the row, and searched without until it is rebuilt', async () => {
    const host = open();
    faults.fail('INSERT INTO messages', 'SQLITE_CORRUPT_VTAB', 1);
    expect(await say(host, 'a')).toMatchObject({ status: 'COMMITTED' });
    expect(host.rows("SELECT value FROM state_meta WHERE key = 'fts_stale'")).toEqual([{ value: '1' }]);
    expect(host.rows("SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'messages_fts%'")).toEqual([]);
    expect(stored(host)).toEqual(['a']);
  });

  it('T39: is not what a busy store is, whatever its text says', async () => {
    const host = open();
    faults.fail('INSERT INTO messages', 'SQLITE_BUSY', 1, 'vtable constructor failed: messages_fts');
    expect(await say(host, 'a')).toMatchObject({ status: 'COMMITTED' });
    expect(host.rows("SELECT value FROM state_meta WHERE key = 'fts_stale'")).toEqual([]);
  });

  it('T55: whose tokenizer is missing refuses the message, or is given up where the operator allows it', async () => {
    const cjk = (db: Database.Database) => {
      db.exec('CREATE TRIGGER messages_fts_cjk_insert AFTER INSERT ON messages BEGIN SELECT no_such_tokenizer(new.content); END');
    };
    const host = open([], { extra: cjk });
    await expect(say(host, 'a')).rejects.toMatchObject({ code: 'FTS_TOKENIZER_MISSING', settled: true });
    expect(stored(host)).toEqual([]);
    host.close();
    const allowed = commandHost(host.path, { detachCjkIndex: true });
    hosts.push(allowed);
    expect(await say(allowed, 'a')).toMatchObject({ status: 'COMMITTED' });
    expect(allowed.rows("SELECT key FROM state_meta WHERE key IN ('fts_stale', 'fts_cjk_stale')")).toEqual([{ key: 'fts_cjk_stale' }]);
    expect(allowed.rows("SELECT name FROM sqlite_master WHERE name LIKE 'messages_fts_cjk%' AND type = 'trigger'")).toEqual([]);
  });
});

describe('an index that can not be set aside', () => {
  /** Without the table for the note there is nothing to fall back on. */
  const openWith = (rebuildIndex: () => Promise<'REBUILT' | 'SKIPPED'>) => {
    const path = buildStore({ schema: 31, rows: [S('s')], extra: (db) => db.exec('DROP TABLE state_meta') });
    const host = commandHost(path, { onStatement: faults.onStatement, rebuildIndex });
    hosts.push(host);
    return host;
  };

  it('T40, T41: is rebuilt, and every message is written once', async () => {
    let rebuilds = 0;
    const host = openWith(async () => {
      rebuilds++;
      faults.heal();
      return 'REBUILT';
    });
    faults.fail('INSERT INTO messages', 'SQLITE_CORRUPT_VTAB');
    const outcomes = await Promise.all([say(host, 'm1'), say(host, 'm2')]);
    expect(outcomes.map(({ status }) => status)).toEqual(['COMMITTED', 'COMMITTED']);
    expect(stored(host)).toEqual(['m1', 'm2']);
    expect(rebuilds).toBe(1);
  });

  it('T42: is not rebuilt again within five minutes', async () => {
    let rebuilds = 0;
    const host = openWith(async () => {
      rebuilds++;
      return 'REBUILT';
    });
    faults.fail('INSERT INTO messages', 'SQLITE_CORRUPT_VTAB');
    expect(await say(host, 'a')).toMatchObject({ status: 'QUEUED', problem: { code: 'FTS_INDEX_DAMAGED' } });
    host.clock.now += 10;
    await say(host, 'b');
    expect(rebuilds).toBe(1);
    host.clock.now += 300;
    await say(host, 'c');
    expect(rebuilds).toBe(2);
  });

  it('T43: is tried again when others had the store open', async () => {
    let rebuilds = 0;
    const host = openWith(async () => {
      rebuilds++;
      return 'SKIPPED';
    });
    faults.fail('INSERT INTO messages', 'SQLITE_CORRUPT_VTAB');
    await say(host, 'a');
    await say(host, 'b');
    expect(rebuilds).toBe(2);
    faults.heal();
    await say(host, 'c');
    expect(stored(host)).toEqual(['a', 'b', 'c']);
  });
});

describe('errors of the disk', () => {
  it('T160: at the begin are tried once more, inside the write never', async () => {
    const host = open();
    faults.fail('BEGIN', 'SQLITE_IOERR_READ', 1);
    expect(await say(host, 'a')).toMatchObject({ status: 'COMMITTED' });
    faults.fail('INSERT INTO messages', 'SQLITE_IOERR_WRITE', 1);
    expect(await say(host, 'b')).toMatchObject({ status: 'QUEUED', problem: { code: 'STORE_IO_UNSETTLED' } });
    expect(stored(host)).toEqual(['a']);
  });

  it('T159: fifty writes are followed by one checkpoint', async () => {
    const seen: string[] = [];
    const host = commandHost(buildStore({ schema: 31, rows: [S('s')] }), { onStatement: (sql) => seen.push(sql) });
    hosts.push(host);
    for (let index = 0; index < 50; index++) await say(host, String(index));
    expect(seen.filter((sql) => sql.includes('checkpoint'))).toEqual(['PRAGMA wal_checkpoint(PASSIVE)']);
  });

  it.skipIf(process.getuid?.() === 0)('a store that may not be written keeps its message waiting', async () => {
    const host = open();
    chmodSync(host.path, 0o400);
    expect(await say(host, 'a')).toMatchObject({ status: 'QUEUED', problem: { code: 'STORE_READONLY' } });
    mkdirSync(join(dirname(host.path), 'x'));
  });
});
