/**
 * Texts that are nothing but the name of a tool in brackets beside the calls themselves, emptied (`spec/state-db-writes.md` M6).
 */
import { WriteRefused } from '../../write-refused.ts';
import { isToolMarker } from '../conversation.ts';
import type { StoreReading } from '../store-reading.ts';
import { completeDisplayIndex } from './display-index.ts';
import { changeRow } from './row-in-place.ts';
import type { StoreOperation } from './store-operation.ts';
import { isGiven } from './stored-value.ts';

export interface MarkersInput {
  /** Refuse when other rows are concerned than a preview named; null to take them as they are. */
  readonly expectedRowIds: readonly string[] | null;
}

export interface CleanedMarkers {
  readonly rowIds: readonly string[];
}

interface MarkerRow {
  readonly rowId: string;
  readonly sessionId: string;
  readonly hasApiContent: boolean;
}

/**
 * All such rows of the store, whatever became of them. Only the content changes, and what a provider was given in its place is dropped (V11).
 * Throws SET_CHANGED. A repeat finds nothing left.
 */
export const cleanMarkers: StoreOperation<MarkersInput, readonly MarkerRow[], CleanedMarkers> = {
  patience: 'ROUTINE',
  touchesMessages: true,
  plan: (store, { expectedRowIds }) => {
    const rows = markerRows(store);
    if (expectedRowIds !== null && !sameSet(expectedRowIds, idsOf(rows))) {
      throw new WriteRefused('SET_CHANGED', '', { details: { rowIds: idsOf(rows) } });
    }
    return rows;
  },
  execute: (transaction, rows) => {
    for (const sessionId of new Set(rows.map((row) => row.sessionId))) completeDisplayIndex(transaction, sessionId);
    for (const row of rows) {
      changeRow(transaction, row, row.hasApiContent ? { content: '', api_content: null } : { content: '' }, { withTwin: false });
    }
    return { rowIds: idsOf(rows) };
  },
  preview: (rows) => ({ rowIds: idsOf(rows) }),
};

function markerRows(store: StoreReading): MarkerRow[] {
  const apiContent = store.shape.columnOr('messages', 'api_content', 'm', 'NULL');
  const rows = store.all(
    `SELECT CAST(m.id AS TEXT) AS id, m.session_id AS session_id, m.content AS content, m.tool_calls AS calls,
       ${apiContent} IS NOT NULL AS has_api_content
     FROM messages m WHERE m.role = 'assistant' AND m.tool_calls IS NOT NULL AND m.content LIKE '%[%]%' AND length(m.content) < 1000
     ORDER BY m.id`,
  );
  return rows.flatMap((row) => {
    const isMarker = typeof row.content === 'string' && isToolMarker(row.content) && hasCalls(row.calls);
    return isMarker ? [{ rowId: String(row.id), sessionId: String(row.session_id), hasApiContent: row.has_api_content === 1 }] : [];
  });
}

/** The text of an empty list says that there are none. */
function hasCalls(calls: unknown): boolean {
  return isGiven(calls) && calls !== '[]' && calls !== 'null';
}

function idsOf(rows: readonly MarkerRow[]): string[] {
  return rows.map(({ rowId }) => rowId);
}

function sameSet(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && new Set([...left, ...right]).size === left.length;
}
