/**
 * What must hold in a store after any write, whatever it was: checked with a connection of its own.
 */
import Database from 'better-sqlite3';
import { readShape } from '../../src/state-db/columns.ts';
import type { SqlRow } from '../../src/state-db/decode.ts';
import { displayIdentity } from '../../src/state-db/write/display-identity.ts';
import { toolCallCount } from '../../src/state-db/write/stored-value.ts';
import { FTS_INDEXES, unsoundRows } from '../golden/index-soundness.ts';

/**
 * Everything that is wrong, in words; empty for a sound store. The file itself, the full-text indexes against the rows; of the sessions that
 * are named, the counters against the live rows and the display columns against what their rows say (D6 to D13).
 */
export function storeFaults(path: string, sessionIds: readonly string[] = []): string[] {
  const db = new Database(path);
  try {
    const faults: string[] = [];
    const check = db.pragma('integrity_check', { simple: true });
    if (check !== 'ok') faults.push(`integrity_check: ${String(check)}`);
    for (const index of FTS_INDEXES) {
      if (db.prepare('SELECT 1 FROM sqlite_master WHERE name = ?').get(index) === undefined) continue;
      const unsound = unsoundRows(db, index);
      if (unsound === null || unsound.size > 0) faults.push(`${index}: rows ${[...(unsound ?? ['all'])].join(', ')}`);
    }
    for (const id of sessionIds) faults.push(...counterFaults(db, id), ...displayFaults(db, id));
    return faults;
  } finally {
    db.close();
  }
}

function counterFaults(db: Database.Database, sessionId: string): string[] {
  const active = readShape(db).hasColumn('messages', 'active') ? '(active IS NULL OR active <> 0)' : '1';
  const rows = db.prepare<[string], SqlRow>(`SELECT tool_calls FROM messages WHERE session_id = ? AND ${active}`).all(sessionId);
  const session = db.prepare<[string], SqlRow>('SELECT message_count, tool_call_count FROM sessions WHERE id = ?').get(sessionId);
  const calls = rows.reduce((sum, row) => sum + toolCallCount(row.tool_calls), 0);
  const isRight = session?.message_count === rows.length && session.tool_call_count === calls;
  return isRight ? [] : [`counters of ${sessionId}: ${JSON.stringify(session)} for ${rows.length} rows with ${calls} calls`];
}

function displayFaults(db: Database.Database, sessionId: string): string[] {
  if (!readShape(db).hasColumn('messages', 'display_identity')) return [];
  const rows = db
    .prepare<[string], SqlRow>('SELECT * FROM messages WHERE session_id = ? AND (active = 1 OR compacted = 1) ORDER BY id')
    .safeIntegers()
    .all(sessionId);
  const slots = new Map<string, bigint>();
  const live = new Map(rows.filter(({ active }) => active === 1n).map((row) => [row.message_uid ?? null, row.display_order]));
  return rows.flatMap((row) => {
    const identity = displayIdentity(row);
    const key = identity.toString('hex');
    // The archived twin of a row that was rewritten stands where that row does (11).
    const twin = row.active === 0n && row.message_uid != null ? live.get(row.message_uid) : undefined;
    const slot = twin ?? slots.get(key) ?? BigInt(String(row.id));
    if (typeof slot === 'bigint') slots.set(key, slot);
    const stored = row.display_identity;
    const isSame = stored instanceof Uint8Array && Buffer.from(stored).equals(identity);
    return isSame && row.display_order === slot
      ? []
      : [`display of row ${String(row.id)}: ${String(row.display_order)}, not ${String(slot)}`];
  });
}
