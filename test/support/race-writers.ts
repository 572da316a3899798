/**
 * What happens at once in a race: each function does one thing over and over until the time is up. Two servers and a plain writer do it to the
 * same few sessions.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import type { SeededRandom } from '../../src/demo/random.ts';
import { displayIdentity } from '../../src/state-db/write/display-identity.ts';
import type { RaceClient } from './race-client.ts';
import type { Writer } from './writer.ts';

/** What is only appended to, also by following a conversation from one segment to the next. */
export const LOGS = ['log0', 'log1'] as const;
export const ROTATING = 'turn';
export const UNDONE = ['undo0', 'undo1'] as const;
export const PRUNED = 'prune';
export const REWRITTEN = 'rewrite';
export const SESSIONS = [...LOGS, ROTATING, ...UNDONE, PRUNED, REWRITTEN] as const;

export interface Race {
  readonly path: string;
  readonly random: SeededRandom;
  readonly isOver: () => boolean;
}

export type Deed = (race: Race) => Promise<unknown>;

/** Does something again and again, with pauses of up to so many milliseconds. */
export async function repeated(race: Race, deed: Deed, pauseMs: number): Promise<void> {
  while (!race.isOver()) {
    await deed(race);
    await sleep(race.random.between(0, pauseMs));
  }
}

/** Messages one after the other, now and then the same one twice or under a lease. */
export function appends(client: RaceClient): Deed {
  return async ({ random }) => {
    const sessionId = pick(random, SESSIONS);
    const role = sessionId === PRUNED ? 'tool' : random.next() < 0.5 ? 'user' : 'assistant';
    await client.append(sessionId, { role, again: random.next() < 0.2 ? 2 : 0 });
  };
}

export function appendsUnderLease(client: RaceClient): Deed {
  return async ({ random }) => {
    const sessionId = pick(random, UNDONE);
    const lease = await client.run('acquireTurnLease', 'leaseToken', { sessionId, ttlSeconds: 30, holderLabel: 'race' });
    if (lease === null) return;
    const leaseToken = String(lease.leaseToken);
    await client.append(sessionId, { leaseToken });
    await client.append(sessionId, { role: 'assistant', leaseToken });
    while ((await client.run('releaseTurnLease', 'clientMutationId', { leaseToken })) === null) await sleep(50);
  };
}

export function appendsBatches(client: RaceClient): Deed {
  return ({ random }) => client.appendBatch(pick(random, LOGS));
}

export function rewinds(client: RaceClient): Deed {
  return async ({ random }) => {
    const input = { sessionId: pick(random, UNDONE), turns: 1 + Math.floor(random.next() * 3) };
    const done = await client.run('rewindSession', 'receipt retiredIds', input);
    if (done === null || random.next() < 0.5) return;
    await client.run('restoreRewind', 'restoredCount', { receipt: done.receipt });
  };
}

export function prunes(client: RaceClient): Deed {
  return async (race) => {
    const rows = read(
      race.path,
      "SELECT CAST(id AS TEXT) AS id FROM messages WHERE session_id = ? AND role = 'tool' AND active = 1 ORDER BY id DESC LIMIT 20",
      PRUNED,
    );
    const rowId = rows.length === 0 ? null : String(pick(race.random, rows).id);
    const rowVersion = rowId === null ? null : await client.versionOf(rowId);
    if (rowId === null || rowVersion === null) return;
    await client.run('pruneRows', 'rewrittenCount', { sessionId: PRUNED, changes: [{ rowId, rowVersion, content: `stub of ${rowId}` }] });
  };
}

export function edits(client: RaceClient): Deed {
  return async (race) => {
    const rows = read(
      race.path,
      "SELECT CAST(id AS TEXT) AS id FROM messages WHERE session_id = ? AND role = 'user' AND active = 1 ORDER BY id DESC LIMIT 5",
      pick(race.random, UNDONE),
    );
    const rowId = rows.length === 0 ? null : String(pick(race.random, rows).id);
    const rowVersion = rowId === null ? null : await client.versionOf(rowId);
    if (rowId === null || rowVersion === null) return;
    await client.run('editUserMessage', 'alreadyApplied', { rowId, rowVersion, content: `edit of ${rowId}` });
  };
}

export function rewrites(client: RaceClient): Deed {
  let count = 0;
  return ({ random }) => {
    const messages = Array.from({ length: 1 + Math.floor(random.next() * 3) }, () => ({ role: 'user', content: `rewritten ${++count}` }));
    return client.run('rewriteTranscript', 'inserted', { sessionId: REWRITTEN, mode: 'ARCHIVE_DROPPED', messages, force: true });
  };
}

export function marks(client: RaceClient): Deed {
  let count = 0;
  return async ({ random }) => {
    const sessionId = pick(random, SESSIONS);
    if (random.next() < 0.5)
      await client.run('setSessionTitle', 'clientMutationId', { sessionId, title: `title ${++count} of ${sessionId}` });
    else await client.run('setSessionArchived', 'clientMutationId', { sessionId, archived: random.next() < 0.5 });
  };
}

/** A session is made, written to by two servers while one deletes it, and gone in the end. */
export function lives(maker: RaceClient, other: RaceClient): Deed {
  let count = 0;
  return async ({ path }) => {
    const sessionId = `temporary-${++count}`;
    if ((await maker.run('createSession', 'session { sessionId }', { id: sessionId, source: 'cli' })) === null) return;
    await maker.append(sessionId);
    const remove = () => maker.run('deleteSession', 'deletedIds', { sessionId });
    await Promise.all([other.append(sessionId), remove(), maker.append(sessionId)]);
    while (read(path, 'SELECT 1 FROM sessions WHERE id = ?', sessionId).length > 0) {
      await remove();
      await sleep(50);
    }
  };
}

/** The owning programs: rows with their counters, undone turns, titles, and transactions that take a while. */
export function owns(writer: Writer): Deed {
  let count = 0;
  return async ({ random }) => {
    const sessionId = pick(random, SESSIONS);
    const deed = random.next();
    if (deed < 0.6) await writer.transaction(ownRow(sessionId, `owner ${++count}`));
    else if (deed < 0.75) await writer.transaction(ownRewind(pick(random, UNDONE), random.next()));
    else if (deed < 0.9) await writer.exec('UPDATE sessions SET title = ? WHERE id = ?', [`owner's ${++count}`, sessionId]);
    else if (deed < 0.98) await holds(writer, random.between(10, 200), ownRow(sessionId, `owner ${++count}`));
    else await holds(writer, LONG_HOLD_MS, []);
  };
}

/** Locks a session as a compression does, for a moment. */
export function compresses(writer: Writer): Deed {
  return async ({ random }) => {
    const sessionId = pick(random, UNDONE);
    const until = Date.now() / 1000 + 60;
    await writer.exec('INSERT OR REPLACE INTO compression_locks (session_id, holder, acquired_at, expires_at) VALUES (?, ?, ?, ?)', [
      sessionId,
      'pid=1:tid=1:agent=a:nonce=00000000',
      until - 60,
      until,
    ]);
    await sleep(random.between(20, 600));
    await writer.exec('DELETE FROM compression_locks WHERE session_id = ?', [sessionId]);
  };
}

/** Closes the newest segment of a conversation and opens the next one, in one transaction. */
export function rotates(writer: Writer): Deed {
  let segment = 0;
  return async () => {
    const tip = segment === 0 ? ROTATING : `${ROTATING}-${segment}`;
    segment += 1;
    const at = Date.now() / 1000;
    await writer.transaction([
      ["UPDATE sessions SET ended_at = ?, end_reason = 'compression' WHERE id = ?", at, tip],
      ["INSERT INTO sessions (id, source, started_at, parent_session_id) VALUES (?, 'cli', ?, ?)", `${ROTATING}-${segment}`, at, tip],
    ]);
  };
}

/** Longer than the servers wait, so that messages have to queue. */
const LONG_HOLD_MS = 2500;

async function holds(writer: Writer, ms: number, statements: readonly Statement[]): Promise<void> {
  await writer.exec('BEGIN IMMEDIATE');
  await sleep(ms);
  for (const [sql, ...params] of statements) await writer.exec(sql, params);
  await writer.exec('COMMIT');
}

type Statement = readonly [sql: string, ...params: (string | number | Buffer)[]];

function ownRow(sessionId: string, content: string): Statement[] {
  const timestamp = Date.now() / 1000;
  const identity = displayIdentity({ role: 'assistant', content, timestamp });
  return [
    [
      `INSERT INTO messages (session_id, role, content, timestamp, active, compacted, display_identity)
       SELECT ?, 'assistant', ?, ?, 1, 0, ? WHERE EXISTS (SELECT 1 FROM sessions WHERE id = ?)`,
      sessionId,
      content,
      timestamp,
      identity,
      sessionId,
    ],
    recount(sessionId),
  ];
}

/** From a row near the end of the transcript. */
function ownRewind(sessionId: string, share: number): Statement[] {
  const skipped = Math.floor(share * 4);
  return [
    [
      `UPDATE messages SET active = 0 WHERE session_id = ? AND active = 1
       AND id >= (SELECT id FROM messages WHERE session_id = ? AND active = 1 AND role = 'user' ORDER BY id DESC LIMIT 1 OFFSET ${skipped})`,
      sessionId,
      sessionId,
    ],
    ['UPDATE sessions SET rewind_count = rewind_count + 1 WHERE id = ?', sessionId],
    recount(sessionId),
  ];
}

function recount(sessionId: string): Statement {
  return [
    `UPDATE sessions SET message_count = (SELECT count(*) FROM messages m WHERE m.session_id = sessions.id AND m.active = 1) WHERE id = ?`,
    sessionId,
  ];
}

function pick<T>(random: SeededRandom, values: readonly T[]): T {
  const value = values[Math.floor(random.next() * values.length)];
  if (value === undefined) throw new Error('there is nothing to pick from');
  return value;
}

function read(path: string, sql: string, ...params: string[]): Record<string, unknown>[] {
  const db = new Database(path, { readonly: true });
  try {
    return db.prepare<unknown[], Record<string, unknown>>(sql).all(...params);
  } finally {
    db.close();
  }
}
