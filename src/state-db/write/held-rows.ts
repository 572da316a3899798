/**
 * Which of the rows that somebody holds have changed since (`spec/state-db-writes.md` P16). Asked on a connection that reads, the answer can
 * be overtaken; asked inside a transaction that writes, it can not.
 */
import { rowsByUid } from '../message-facts.ts';
import type { StoreReading } from '../store-reading.ts';
import { isVersion, storedRows } from './stored-row.ts';

/** A row by its id, or by the lasting id of its message and its role. */
export interface HeldRow {
  readonly rowId: string | null;
  readonly messageUid: string | null;
  readonly role: string | null;
  readonly rowVersion: string;
}

export interface HeldRows {
  readonly sessionId: string;
  readonly held: readonly HeldRow[];
}

const PROBED: ReadonlySet<string> = new Set(['user', 'assistant', 'tool']);

/**
 * For each request the ids of its rows that say something else by now; three statements for all. Rows that are gone, not live any more, or of
 * another session are not reported. Throws VALIDATION for a version that is no token.
 */
export function staleHeldRows(store: StoreReading, requests: readonly HeldRows[]): string[][] {
  const flat = requests.flatMap(({ sessionId, held }, request) => held.map((row) => ({ ...row, sessionId, request })));
  const byUid = flat.filter((row) => row.rowId === null && row.messageUid !== null && row.role !== null);
  const keys = byUid.map(({ sessionId, role, messageUid }) => ({ sessionId, role: role ?? '', uid: messageUid ?? '' }));
  const found = new Map(rowsByUid(store, keys).map((rowId, index) => [byUid[index], rowId]));
  const named = flat.map((row) => ({ ...row, rowId: row.rowId ?? found.get(row) ?? null }));
  const rows = storedRows(
    store,
    named.flatMap(({ rowId }) => rowId ?? []),
  );
  const stale = requests.map(() => new Set<string>());
  for (const { rowId, sessionId, rowVersion, request } of named) {
    const row = rows.get(rowId ?? '');
    if (row === undefined || !row.isLive || row.sessionId !== sessionId || !PROBED.has(row.role)) continue;
    if (!isVersion(store, row, rowVersion)) stale[request]?.add(row.rowId);
  }
  return stale.map((ids) => [...ids]);
}
