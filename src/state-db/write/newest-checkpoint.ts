/**
 * The items by which a provider resumes from its own compaction: only those of the newest live row are of use, and sent twice they would be
 * refused (`spec/state-db-writes.md` RW1 step 3).
 */
import { isJsonObject } from '../decode.ts';
import { pythonJson } from './python-json.ts';
import { parsePythonJson } from './python-json-value.ts';
import type { WriteTransaction } from './write-connection.ts';

const CANDIDATES = `SELECT m.id AS id, m.codex_reasoning_items AS items FROM messages m
  WHERE m.session_id = ? AND m.role = 'assistant' AND m.active = 1 AND instr(m.codex_reasoning_items, 'compaction') > 0 ORDER BY m.id DESC`;
const UPDATE = 'UPDATE messages SET codex_reasoning_items = ? WHERE id = ?';

/** Takes the items of a compaction out of all live rows of an assistant but the newest that has some. Gives the number of changed rows. */
export function keepNewestCheckpoint(transaction: WriteTransaction, sessionId: string): number {
  const { shape } = transaction;
  if (!shape.hasColumn('messages', 'codex_reasoning_items') || !shape.hasColumn('messages', 'active')) return 0;
  let isNewest = true;
  let changed = 0;
  for (const row of transaction.exact(CANDIDATES, [sessionId])) {
    const items = typeof row.items === 'string' ? parsePythonJson(row.items) : null;
    if (!Array.isArray(items)) continue;
    const kept = items.filter((item) => !isCompaction(item));
    if (kept.length === items.length) continue;
    if (!isNewest) changed += transaction.run(UPDATE, [kept.length === 0 ? null : pythonJson(kept), row.id ?? null]).changes;
    isNewest = false;
  }
  return changed;
}

function isCompaction(item: unknown): boolean {
  return isJsonObject(item) && item.type === 'compaction';
}
