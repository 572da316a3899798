/**
 * What a few stored rows say, changed without writing the transcript anew (`spec/state-db-writes.md` 11): tool output becomes a stub, an
 * answer gets shorter. The row keeps its id and its place; what it said stays beside it, archived and searchable. All or nothing.
 */
import { WriteRefused } from '../../write-refused.ts';
import type { StoreReading } from '../store-reading.ts';
import { type Admitted, admit, checkAdmission, type Lease } from './admission.ts';
import { changedCells, messageOf } from './changed-cells.ts';
import { completeDisplayIndex } from './display-index.ts';
import { type Cells, changeRow } from './row-in-place.ts';
import { type ConfigChange, type ConfigPatch, planConfigPatch, writeConfig } from './session-config.ts';
import { SessionGraph } from './session-graph.ts';
import type { OperationContext, StoreOperation } from './store-operation.ts';
import { isVersion, type StoredRow, storedRows, versionConflict } from './stored-row.ts';
import type { WriteTransaction } from './write-connection.ts';

/** A change of one row as a client asks for it; what is left out stays as it is (P17). */
export interface RowChange {
  readonly rowId: string;
  readonly rowVersion: string;
  /** Null empties the cell. */
  readonly content?: unknown;
  readonly toolCalls?: unknown;
}

export interface PruneInput {
  readonly sessionId: string;
  readonly changes: readonly RowChange[];
  readonly modelConfigPatch: ConfigPatch | null;
  readonly lease: Lease | null;
}

/** A row with the cells to write; none when it says already what it should. */
export interface PlannedRow {
  readonly row: StoredRow;
  readonly cells: Cells;
}

export interface RewrittenRow {
  readonly rowId: string;
  /** Of the row as it is now stored; in a preview, of the row as it is. */
  readonly rowVersion: string;
  /** The row that keeps what it said; null in a preview. */
  readonly archivedTwinRowId: string | null;
}

export interface PrunedRows {
  readonly sessionId: string;
  readonly rewrittenCount: number;
  readonly rewritten: readonly RewrittenRow[];
  /** Rows that already said what was asked for. */
  readonly unchangedIds: readonly string[];
  /** Nothing was left to do: every row says what was asked for, and at least one of them in a later version than the one named. */
  readonly alreadyApplied: boolean;
}

interface PrunePlan {
  readonly sessionId: string;
  readonly admitted: Admitted;
  readonly config: ConfigChange | null;
  readonly rows: readonly PlannedRow[];
  readonly isRepeat: boolean;
}

const REWRITABLE: ReadonlySet<string> = new Set(['assistant', 'tool']);

/**
 * P1 to P17. Throws TURN_LEASE_LOST, SESSION_CLOSED, NOT_FOUND, ROW_NOT_LIVE, ROW_NOT_REWRITABLE, ROW_VERSION_CONFLICT (with the row's id and
 * current version), VALIDATION, SCHEMA_UNSUPPORTED. A repeat is told by what the rows say, whatever version it names.
 */
export const pruneRows: StoreOperation<PruneInput, PrunePlan, PrunedRows> = {
  patience: 'ROUTINE',
  touchesMessages: true,
  plan: (store, { sessionId, changes, modelConfigPatch, lease }, { now, mintUid }) => {
    requireDisplayColumns(store);
    refuseTwice(changes.map(({ rowId }) => rowId));
    const graph = new SessionGraph(store);
    if (graph.get(sessionId) === undefined) throw new WriteRefused('NOT_FOUND', 'There is no such session.');
    const admitted = checkAdmission(store, graph, sessionId, { lease, rejectClosed: true }, now);
    const config = modelConfigPatch === null ? null : planConfigPatch(store, sessionId, modelConfigPatch);
    const stored = storedRows(
      store,
      changes.map(({ rowId }) => rowId),
    );
    let isRepeat = false;
    const rows = changes.map((change) => {
      const row = rewritableRow(stored.get(change.rowId) ?? null, sessionId, change.rowId);
      const cells = cellsOf(store, row, change, mintUid);
      if (!isVersion(store, row, change.rowVersion)) {
        if (Object.keys(cells).length > 0) throw versionConflict(row);
        isRepeat = true;
      }
      return { row, cells };
    });
    return { sessionId, admitted, config, rows, isRepeat };
  },
  execute: (transaction, plan) => {
    admit(transaction, plan.admitted);
    const rewritten = rewriteRows(transaction, plan.sessionId, plan.rows);
    if (plan.config !== null) writeConfig(transaction, plan.config);
    return outcome(plan, rewritten);
  },
  preview: (plan) =>
    outcome(
      plan,
      changing(plan.rows).map(({ row }) => ({ rowId: row.rowId, rowVersion: row.version, archivedTwinRowId: null })),
    ),
  wasMade: (store, { rewritten }) => {
    const rows = storedRows(
      store,
      rewritten.map(({ rowId }) => rowId),
    );
    return rewritten.every(({ rowId, rowVersion }) => rows.get(rowId)?.version === rowVersion);
  },
};

/** P9 to P13, for rows that were verified in this transaction. Gives those that were written. */
export function rewriteRows(transaction: WriteTransaction, sessionId: string, rows: readonly PlannedRow[]): RewrittenRow[] {
  const written = changing(rows);
  if (written.length === 0) return [];
  completeDisplayIndex(transaction, sessionId);
  const twins = new Map(written.map(({ row, cells }) => [row.rowId, changeRow(transaction, row, cells, { withTwin: true })]));
  return [...storedRows(transaction, [...twins.keys()]).values()].map(({ rowId, version }) => ({
    rowId,
    rowVersion: version,
    archivedTwinRowId: twins.get(rowId) ?? null,
  }));
}

/** P1: rows keep their place by columns that older stores lack. */
export function requireDisplayColumns({ shape }: StoreReading): void {
  if (shape.hasColumn('messages', 'display_identity') && shape.hasColumn('messages', 'display_order')) return;
  throw new WriteRefused('SCHEMA_UNSUPPORTED', 'Its messages have no display order.');
}

/** P15. */
export function refuseTwice(rowIds: readonly string[]): void {
  if (new Set(rowIds).size < rowIds.length) throw new WriteRefused('VALIDATION', 'A row is named twice.');
}

/** P3, P5: the row, if it is a live one of an assistant or a tool in this session. */
export function rewritableRow(row: StoredRow | null, sessionId: string, rowId: string): StoredRow {
  if (row === null || row.sessionId !== sessionId || !row.isLive) throw new WriteRefused('ROW_NOT_LIVE', '', { details: { rowId } });
  if (REWRITABLE.has(row.role)) return row;
  throw new WriteRefused('ROW_NOT_REWRITABLE', 'Only rows of an assistant or a tool can.', { details: { rowId } });
}

function cellsOf(store: StoreReading, row: StoredRow, change: RowChange, mintUid: OperationContext['mintUid']): Cells {
  const original = messageOf(row);
  const replacement = {
    ...original,
    ...(change.content === undefined ? {} : { content: change.content }),
    ...(change.toolCalls === undefined ? {} : { tool_calls: change.toolCalls }),
  };
  return changedCells(store.shape, row, { original, replacement }, mintUid);
}

function changing(rows: readonly PlannedRow[]): PlannedRow[] {
  return rows.filter(({ cells }) => Object.keys(cells).length > 0);
}

function outcome({ sessionId, rows, isRepeat }: PrunePlan, rewritten: readonly RewrittenRow[]): PrunedRows {
  const written = new Set(rewritten.map(({ rowId }) => rowId));
  const unchangedIds = rows.map(({ row }) => row.rowId).filter((rowId) => !written.has(rowId));
  return {
    sessionId,
    rewrittenCount: rewritten.length,
    rewritten,
    unchangedIds,
    alreadyApplied: isRepeat && rewritten.length === 0,
  };
}
