/**
 * The segments of a conversation as a follower sees them: up to the root and down to the tip by the bound test, since a continuation
 * inherits its parent's markers (`spec/live-turns.md` 11.2, `spec/state-db.md` 6.2, 12.2).
 */
import { idList, type StoreConnection } from './connection.ts';
import { RowReader } from './decode.ts';
import { compareContinuations, isForkBound } from './lineage.ts';
import { decodeSession, SESSION_COLUMNS, type SessionEntry, toEntry } from './session-record.ts';

/** A session with what went wrong when it was last compacted; its rows aren't counted. */
export interface LiveSession extends SessionEntry {
  readonly compressionError: string | null;
}

const MOST_SEGMENTS = 1000;

/** The session and the segments before it, root first: up while it continues its parent (`spec/state-db.md` 12.2, the key of a lease). */
export function ancestorsOf(connection: StoreConnection, sessionId: string): LiveSession[] {
  const rows = connection.all(
    `WITH RECURSIVE up(id) AS (SELECT ? UNION SELECT s.parent_session_id FROM up JOIN sessions s ON s.id = up.id
       WHERE s.parent_session_id IS NOT NULL LIMIT ${MOST_SEGMENTS}) SELECT id FROM up`,
    [sessionId],
  );
  const sessions = sessionsById(
    connection,
    rows.map(({ id }) => String(id)),
  );
  const chain: LiveSession[] = [];
  for (let current = sessions.get(sessionId); current !== undefined && !chain.includes(current); ) {
    chain.unshift(current);
    if (current.parentId === null || isForkBound(current, { resets: true })) break;
    const parent = sessions.get(current.parentId);
    current = parent?.endReason === 'compression' ? parent : undefined;
  }
  return chain;
}

/** What continues a session, step by step, up to a session that is known: of several children the best one; a marker counts only if it names the parent itself (11.2). */
export function continuationsOf(connection: StoreConnection, start: LiveSession, known: Iterable<string>): LiveSession[] {
  const found: LiveSession[] = [];
  const seen = new Set(known).add(start.id);
  for (let current = start; current.endReason === 'compression' && found.length < MOST_SEGMENTS; ) {
    const children = sessionsWhere(connection, 's.parent_session_id = ?', current.id);
    const next = children.filter((child) => !isForkBound(child, { resets: true })).sort(compareContinuations)[0];
    if (next === undefined || seen.has(next.id)) break;
    seen.add(next.id);
    found.push(next);
    current = next;
  }
  return found;
}

export function sessionsById(connection: StoreConnection, ids: readonly string[]): Map<string, LiveSession> {
  const found = sessionsWhere(connection, 's.id IN (SELECT value FROM json_each(?))', idList(ids));
  return new Map(found.map((session) => [session.id, session]));
}

function sessionsWhere(connection: StoreConnection, condition: string, value: string): LiveSession[] {
  const columns = connection.shape.selectList('sessions', [...SESSION_COLUMNS, 'compression_failure_error'], 's');
  return connection.all(`SELECT ${columns} FROM sessions s WHERE ${condition}`, [value]).map((row) => ({
    ...toEntry(decodeSession(row), null),
    compressionError: new RowReader(row).text('compression_failure_error'),
  }));
}
