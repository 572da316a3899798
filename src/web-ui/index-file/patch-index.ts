/**
 * Changes of single rows of the Web UI's index (`spec/webui-sidecars.md` 8.5, 8.8). A running Web UI may write it again from its memory.
 */
import { IntegralFloat } from '../../state-db/write/python-json-value.ts';
import { WriteRefused } from '../../write-refused.ts';
import type { MayReplace } from '../replace-file.ts';
import type { Fields } from '../sidecar/coercions.ts';
import { readCompact } from '../sidecar/read-compact.ts';
import { inOrder } from '../sidecar/session-queue.ts';
import { sidecarJson } from '../sidecar/sidecar-json.ts';
import { indexPath, readIndex, readRowsForWriting, writeIndex } from './index-file.ts';
import { rebuildIndex } from './rebuild-index.ts';

/** What of a session file its row in the index has too. */
const IN_ROW: ReadonlySet<string> = new Set([
  'title',
  'workspace',
  'model',
  'model_provider',
  'updated_at',
  'message_count',
  'pinned',
  'archived',
  'project_id',
  'profile',
  'personality',
  'manual_title',
  'enabled_toolsets',
  'composer_draft',
  'process_wakeup_pause',
  'user_message_count',
  'last_message_at',
  'active_stream_id',
  'pending_user_message',
  'has_pending_user_message',
  'input_tokens',
  'output_tokens',
  'estimated_cost',
  'parent_session_id',
  'is_cli_session',
  'source_tag',
  'raw_source',
  'session_source',
  'source_label',
  'read_only',
]);

/**
 * Puts changed members of a session file into its row, so that a Web UI that lists by its index sees them. False when there is no row, or
 * the index is damaged or was written meanwhile: it heals itself, so this is no error.
 */
export async function patchIndexRow(sessionsDir: string, id: string, patch: Fields): Promise<boolean> {
  const wanted = Object.entries(patch).filter(([key]) => IN_ROW.has(key));
  if (wanted.length === 0) return false;
  return inOrder(indexPath(sessionsDir), async () => {
    const index = await readRowsForWriting(sessionsDir);
    const row = index?.rows.find(({ session_id }) => session_id === id);
    if (index === null || row === undefined) return false;
    const different = wanted.filter(([key, value]) => textOf(row[key]) !== textOf(value));
    if (different.length === 0) return true;
    for (const [key, value] of different) row[key] = value;
    return writtenIndex(sessionsDir, index.rows, index.mayReplace);
  });
}

/**
 * Gives a session whose file was made or replaced its row as the Web UI would write it. False where there is no index, or it is damaged or was
 * written meanwhile: lists read the file all the same.
 */
export async function putIndexRow(sessionsDir: string, id: string): Promise<boolean> {
  const made = await readCompact(sessionsDir, id);
  if (made === null) return false;
  return inOrder(indexPath(sessionsDir), async () => {
    const index = await readRowsForWriting(sessionsDir);
    if (index === null) return false;
    const at = index.rows.findIndex(({ session_id }) => session_id === id);
    const present = index.rows[at];
    if (present !== undefined && sidecarJson(present) === sidecarJson(made.compact)) return true;
    const others = index.rows.filter(({ session_id }) => session_id !== id);
    return writtenIndex(sessionsDir, [...others, made.compact], index.mayReplace);
  });
}

async function writtenIndex(sessionsDir: string, rows: readonly Fields[], mayReplace: MayReplace): Promise<boolean> {
  try {
    await writeIndex(sessionsDir, rows, mayReplace);
    return true;
  } catch (error) {
    if (error instanceof WriteRefused) return false;
    throw error;
  }
}

/** Times are floats in the index, also whole ones. */
function textOf(value: unknown): string {
  return sidecarJson(value instanceof IntegralFloat ? value.value : (value ?? null));
}

/**
 * Takes the row of a session out; the session's file is left alone, and lists have it again while it is there. A damaged index is built
 * anew. Whether there was such a row. Throws `WriteRefused`.
 */
export async function pruneIndexRow(sessionsDir: string, id: string): Promise<boolean> {
  return (await pruneIndexRows(sessionsDir, (row) => row === id)) > 0;
}

/** The same for all rows with such ids; how many there were. */
export async function pruneIndexRows(sessionsDir: string, isPruned: (id: string) => boolean): Promise<number> {
  if (![...(await readIndex(sessionsDir)).rows.keys()].some(isPruned)) return 0;
  return inOrder(indexPath(sessionsDir), async () => {
    const index = await readRowsForWriting(sessionsDir);
    if (index === null) {
      await rebuildIndex(sessionsDir);
      return 0;
    }
    const kept = index.rows.filter(({ session_id: id }) => typeof id !== 'string' || !isPruned(id));
    if (kept.length < index.rows.length) await writeIndex(sessionsDir, kept, index.mayReplace);
    return index.rows.length - kept.length;
  });
}
