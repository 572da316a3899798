/**
 * The ways in which rows change (`spec/live-turns.md` 6.4), as the statements of one commit of their owner.
 */
import type { Cell, Columns } from '../../support/stores.ts';

export type Statement = string | readonly [sql: string, ...params: Cell[]];

/** Rows as the owner appends them: live, counted in the same commit. */
export function append(sessionId: string, ...rows: Columns[]): Statement[] {
  return [
    ...rows.map((row) => insert('messages', { session_id: sessionId, role: 'user', content: 'hello', timestamp: 1_900_000_000, ...row })),
    ['UPDATE sessions SET message_count = message_count + ? WHERE id = ?', rows.length, sessionId],
  ];
}

export function insert(table: string, columns: Columns): Statement {
  const names = Object.keys(columns);
  return [`INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`, ...Object.values(columns)];
}

export function rewind(sessionId: string, fromId: number): Statement[] {
  return [
    ['UPDATE messages SET active = 0 WHERE session_id = ? AND active = 1 AND id >= ?', sessionId, fromId],
    ['UPDATE sessions SET rewind_count = rewind_count + 1 WHERE id = ?', sessionId],
  ];
}

/** G0's restore, which the specification lists among what a reader sees. */
export function restore(sessionId: string, fromId: number): Statement[] {
  return [['UPDATE messages SET active = 1 WHERE session_id = ? AND active = 0 AND compacted = 0 AND id >= ?', sessionId, fromId]];
}

/** Everything is deleted and put in anew. */
export function replace(sessionId: string, rows: readonly Columns[], activeOnly = false): Statement[] {
  return [
    [`DELETE FROM messages WHERE session_id = ?${activeOnly ? ' AND active = 1' : ''}`, sessionId],
    ...append(sessionId, ...rows),
    ['UPDATE sessions SET message_count = ? WHERE id = ?', rows.length, sessionId],
  ];
}

/** Columns that a copy takes over; the id and the flags are its own. */
const COPIED = `session_id, role, content, tool_call_id, tool_calls, tool_name, timestamp, token_count, finish_reason, reasoning, reasoning_content,
  platform_message_id, observed, api_content, display_kind, display_metadata`;

/**
 * In-place compaction: all live rows go, the summaries come, the last `kept` rows that were live come back under new ids. `retire`: the
 * originals of those are superseded (30) instead of archived (26).
 */
export function compact(sessionId: string, summaries: readonly Columns[], kept: number, retire = false): Statement[] {
  const tail = 'SELECT id FROM messages WHERE session_id = :session AND active = 1 ORDER BY id DESC LIMIT :kept'
    .replace(':session', '?')
    .replace(':kept', '?');
  return [
    'DROP TABLE IF EXISTS temp.carried',
    [`CREATE TEMP TABLE carried AS SELECT id FROM (${tail}) ORDER BY id`, sessionId, BigInt(kept)],
    ['UPDATE messages SET active = 0, compacted = 1 WHERE session_id = ? AND active = 1', sessionId],
    ...summaries.map((row) => insert('messages', { session_id: sessionId, role: 'user', timestamp: 0, ...row })),
    `INSERT INTO messages (${COPIED}) SELECT ${COPIED} FROM messages WHERE id IN (SELECT id FROM temp.carried) ORDER BY id`,
    ...(retire ? ['UPDATE messages SET compacted = 0 WHERE id IN (SELECT id FROM temp.carried)'] : []),
    [
      'UPDATE sessions SET message_count = (SELECT COUNT(*) FROM messages m WHERE m.session_id = sessions.id AND m.active = 1) WHERE id = ?',
      sessionId,
    ],
  ];
}

/** Rotation: the parent ends, the child begins with a summary and copies of the parent's last rows. */
export function rotate(parentId: string, childId: string, summary: Columns, kept: number, at: number): Statement[] {
  return [
    ["UPDATE sessions SET ended_at = ?, end_reason = 'compression' WHERE id = ?", at, parentId],
    [
      'INSERT INTO sessions (id, source, model, model_config, parent_session_id, started_at, message_count) SELECT ?, source, model, model_config, id, ?, ? FROM sessions WHERE id = ?',
      childId,
      at,
      kept + 1,
      parentId,
    ],
    insert('messages', { session_id: childId, role: 'user', timestamp: at, ...summary }),
    [
      `INSERT INTO messages (${COPIED}) SELECT ${COPIED.replace('session_id', '?')} FROM (SELECT * FROM messages WHERE session_id = ? AND active = 1 ORDER BY id DESC LIMIT ?) ORDER BY id`,
      childId,
      parentId,
      BigInt(kept),
    ],
  ];
}

/** A pruned row: an archived twin keeps the body, the live row gets a stub. */
export function prune(rowId: number, stub: string): Statement[] {
  return [
    [`INSERT INTO messages (${COPIED}, active, compacted) SELECT ${COPIED}, 0, 1 FROM messages WHERE id = ?`, BigInt(rowId)],
    ['UPDATE messages SET content = ? WHERE id = ?', stub, BigInt(rowId)],
  ];
}

export function lease(conversationId: string, platform: string, at: number, turn = 'abc'): Statement {
  return insert('session_turn_leases', {
    conversation_id: conversationId,
    holder: `pid=77:turn=${turn}:platform=${platform}`,
    acquired_at: at,
    expires_at: at + 300,
  });
}

export type Call = readonly [id: string, name: string, args?: unknown];

export function calls(...list: Call[]): string {
  return JSON.stringify(
    list.map(([id, name, args = {}]) => ({ id, type: 'function', function: { name, arguments: JSON.stringify(args) } })),
  );
}
