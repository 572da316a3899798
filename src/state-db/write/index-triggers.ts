/**
 * The triggers that keep the full-text indexes in step with `messages`, and how a write goes on without them (`spec/state-db-writes.md` W13,
 * X3).
 */
import type { WriteConnection } from './write-connection.ts';

const SYNC_TRIGGER = /^messages_fts(_trigram|_cjk)?_(insert|delete|update)\w*$/;
const CJK_TRIGGER = /^messages_fts_cjk_\w+$/;

/** Whether every write of a message needs the tokenizer of the CJK index. */
export function needsCjkTokenizer(connection: WriteConnection): boolean {
  return connection.messageTriggers().some((name) => CJK_TRIGGER.test(name));
}

/**
 * In one transaction: a note in `state_meta` that the indexes are out of date, then the triggers go. False where the store has no place for
 * the note, or no trigger to drop: then the write has to fail. Throws what SQLite throws.
 */
export function detachIndexes(connection: WriteConnection, which: 'ALL' | 'CJK'): boolean {
  if (!connection.shape.hasTable('state_meta')) return false;
  connection.begin();
  try {
    const triggers = connection.messageTriggers().filter((name) => (which === 'CJK' ? CJK_TRIGGER : SYNC_TRIGGER).test(name));
    if (triggers.length === 0) {
      connection.rollback();
      return false;
    }
    const notes = [
      ...(which === 'ALL' ? ['fts_stale'] : []),
      ...(triggers.some((name) => CJK_TRIGGER.test(name)) ? ['fts_cjk_stale'] : []),
    ];
    for (const key of notes) connection.run("INSERT OR REPLACE INTO state_meta (key, value) VALUES (?, '1')", [key]);
    // Names match the patterns above: letters and underscores.
    for (const name of triggers) connection.run(`DROP TRIGGER "${name}"`);
    connection.commit();
    return true;
  } catch (error) {
    connection.rollback();
    throw error;
  }
}
