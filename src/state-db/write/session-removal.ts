/**
 * Sessions taken out of a store with all that is theirs (`spec/state-db-writes.md` F11): messages, usage, prompts that nobody else names.
 * Routes, locks, leases and generations stay, as the owning programs leave them.
 */
import { WriteRefused } from '../../write-refused.ts';
import { idList } from '../connection.ts';
import type { StoreReading } from '../store-reading.ts';
import { type Admitted, admit, checkAdmission } from './admission.ts';
import type { SessionGraph } from './session-graph.ts';
import type { WriteTransaction } from './write-connection.ts';

const NAMED = 'IN (SELECT value FROM json_each(?))';
/** Everybody else keeps out, but what is stale is swept away, so that a late write of a dead holder is refused (G-10, G-11). */
const GUARDED = { rejectLease: 'SESSION_WRITE_GUARDED', rejectLock: 'SESSION_WRITE_GUARDED' } as const;

export interface Removal {
  readonly ids: readonly string[];
  /** Children that stay, without their parent. */
  readonly orphanedIds: readonly string[];
  readonly admitted: readonly Admitted[];
  /** Prompts that the sessions name. */
  readonly prompts: readonly string[];
}

/** Throws SESSION_WRITE_GUARDED while a turn or a compression is under way in any of them. */
export function planRemoval(store: StoreReading, graph: SessionGraph, ids: readonly string[], now: number): Removal {
  const admitted = ids.map((id) => admittedOrNamed(store, graph, id, now));
  const orphans = store.all(`SELECT id FROM sessions WHERE parent_session_id ${NAMED} AND id NOT ${NAMED} ORDER BY id`, [
    idList(ids),
    idList(ids),
  ]);
  return { ids, orphanedIds: orphans.map(({ id }) => String(id)), admitted, prompts: promptsOf(store, ids) };
}

function admittedOrNamed(store: StoreReading, graph: SessionGraph, id: string, now: number): Admitted {
  try {
    return checkAdmission(store, graph, id, GUARDED, now);
  } catch (error) {
    if (!(error instanceof WriteRefused)) throw error;
    throw new WriteRefused(error.code, '', { cause: error, details: { ...error.details, sessionId: id } });
  }
}

/** Those of the sessions in which neither a turn nor a compression is under way, and the others. */
export function withoutGuarded(
  store: StoreReading,
  graph: SessionGraph,
  ids: readonly string[],
  now: number,
): { readonly free: string[]; readonly guarded: string[] } {
  const free: string[] = [];
  const guarded: string[] = [];
  for (const id of ids) (isGuarded(store, graph, id, now) ? guarded : free).push(id);
  return { free, guarded };
}

export function isGuarded(store: StoreReading, graph: SessionGraph, id: string, now: number): boolean {
  try {
    checkAdmission(store, graph, id, GUARDED, now);
    return false;
  } catch (error) {
    if (error instanceof WriteRefused) return true;
    throw error;
  }
}

export function remove(transaction: WriteTransaction, { ids, admitted, prompts }: Removal): void {
  if (ids.length === 0) return;
  const list = idList(ids);
  for (const one of admitted) admit(transaction, one);
  // Also inside the set: their order of deletion doesn't matter then.
  transaction.run(`UPDATE sessions SET parent_session_id = NULL WHERE parent_session_id ${NAMED}`, [list]);
  transaction.run(`DELETE FROM messages WHERE session_id ${NAMED}`, [list]);
  transaction.run(`DELETE FROM sessions WHERE id ${NAMED}`, [list]);
  removeUnnamedPrompts(transaction, prompts);
}

/** Whether none of the sessions is there any more. */
export function areGone(store: StoreReading, ids: readonly string[]): boolean {
  return store.get(`SELECT 1 AS there FROM sessions WHERE id ${NAMED} LIMIT 1`, [idList(ids)]) === undefined;
}

/** Whether none of the sessions is open. */
export function areEnded(store: StoreReading, ids: readonly string[]): boolean {
  return store.get(`SELECT 1 AS open FROM sessions WHERE ended_at IS NULL AND id ${NAMED} LIMIT 1`, [idList(ids)]) === undefined;
}

/** The columns of a session that name a row of `system_prompts` (F5). */
function promptColumns(store: StoreReading): string[] {
  if (!store.shape.hasTable('system_prompts')) return [];
  return ['system_prompt_hash', 'tool_names'].filter((column) => store.shape.hasColumn('sessions', column));
}

function promptsOf(store: StoreReading, ids: readonly string[]): string[] {
  const columns = promptColumns(store);
  if (columns.length === 0) return [];
  const selects = columns.map((column) => `SELECT ${column} AS hash FROM sessions WHERE id ${NAMED} AND ${column} IS NOT NULL`);
  const rows = store.all(
    `SELECT p.hash AS hash FROM system_prompts p WHERE p.hash IN (${selects.join(' UNION ')})`,
    columns.map(() => idList(ids)),
  );
  return rows.map(({ hash }) => String(hash));
}

function removeUnnamedPrompts(transaction: WriteTransaction, prompts: readonly string[]): void {
  if (prompts.length === 0) return;
  const unnamed = promptColumns(transaction).map(
    (column) => `NOT EXISTS (SELECT 1 FROM sessions s WHERE s.${column} = system_prompts.hash)`,
  );
  transaction.run(`DELETE FROM system_prompts WHERE hash ${NAMED} AND ${unnamed.join(' AND ')}`, [idList(prompts)]);
}
