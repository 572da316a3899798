/**
 * The exact text that a provider was given in place of a message's own, noted after the message was written (`spec/state-db-writes.md` B8,
 * V11). It is no part of what a row says, so its version stays.
 */
import { WriteRefused } from '../../write-refused.ts';
import type { StoreReading } from '../store-reading.ts';
import { isLiveSql } from '../visibility.ts';
import { activeRow } from './reconcile.ts';
import type { StoreOperation } from './store-operation.ts';
import { type StoredRow, storedRow } from './stored-row.ts';
import { contentCell } from './stored-value.ts';

export interface ApiContentInput {
  readonly sessionId: string;
  /** Null: the newest live message of a person. One that was compacted meanwhile is found by its copy. */
  readonly rowId: string | null;
  /** What the message says; nothing is written when it says something else by now. */
  readonly content: unknown;
  readonly apiContent: string | null;
}

export interface ApiContentResult {
  readonly sessionId: string;
  /** The row that was meant; null when there is none that says this. */
  readonly rowId: string | null;
}

interface Plan {
  readonly result: ApiContentResult;
  readonly apiContent: string | null;
}

/** Throws SCHEMA_UNSUPPORTED. A repeat writes the same again. */
export const setApiContent: StoreOperation<ApiContentInput, Plan, ApiContentResult> = {
  patience: 'ROUTINE',
  touchesMessages: true,
  plan: (store, { sessionId, rowId, content, apiContent }) => {
    if (!store.shape.hasColumn('messages', 'api_content'))
      throw new WriteRefused('SCHEMA_UNSUPPORTED', 'Its messages have no api_content.');
    const row = rowId === null ? newestOfPerson(store, sessionId) : namedRow(store, sessionId, rowId);
    const isSame = row !== null && row.role === 'user' && row.cells.content === contentCell(content);
    return { result: { sessionId, rowId: isSame ? row.rowId : null }, apiContent: apiContent?.toWellFormed() ?? null };
  },
  execute: (transaction, { result, apiContent }) => {
    if (result.rowId !== null) transaction.run('UPDATE messages SET api_content = ? WHERE id = ?', [apiContent, BigInt(result.rowId)]);
    return result;
  },
  preview: ({ result }) => result,
};

function namedRow(store: StoreReading, sessionId: string, rowId: string): StoredRow | null {
  const row = storedRow(store, rowId);
  return row === null || row.sessionId !== sessionId ? null : activeRow(store, row);
}

function newestOfPerson(store: StoreReading, sessionId: string): StoredRow | null {
  const row = store.get(
    `SELECT CAST(m.id AS TEXT) AS id FROM messages m
     WHERE m.session_id = ? AND m.role = 'user' AND ${isLiveSql(store.shape, 'm')} ORDER BY m.id DESC LIMIT 1`,
    [sessionId],
  );
  return row === undefined ? null : storedRow(store, String(row.id));
}
