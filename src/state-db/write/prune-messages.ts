/**
 * The rewrite of rows for who holds messages and not row versions: which row each message means, and whether it is still what the message was
 * read from (`spec/state-db-writes.md` P2 to P8).
 */
import { WriteRefused } from '../../write-refused.ts';
import { stripMemoryBlocks } from '../conversation.ts';
import type { SqlValue } from '../decode.ts';
import type { StoreReading } from '../store-reading.ts';
import { isLiveSql } from '../visibility.ts';
import { trimSpace } from '../whitespace.ts';
import { type Admitted, admit, checkAdmission, type Lease } from './admission.ts';
import { changedCells } from './changed-cells.ts';
import type { TranscriptMessage } from './message-encoding.ts';
import { type PlannedRow, type RewrittenRow, refuseTwice, requireDisplayColumns, rewritableRow, rewriteRows } from './prune-rows.ts';
import { type ConfigChange, type ConfigPatch, planConfigPatch, writeConfig } from './session-config.ts';
import { SessionGraph } from './session-graph.ts';
import type { StoreOperation } from './store-operation.ts';
import { isVersion, type StoredRow, storedRow, versionConflict } from './stored-row.ts';
import { contentCell, isGiven, nonEmptyString, toolCallIds, toolCallsCell } from './stored-value.ts';

/** A message with what its reader noted about its row; every value is untrusted. */
export interface HeldMessage extends TranscriptMessage {
  readonly _row_id?: unknown;
  /** The version of the row, as a token or as the bare digest. */
  readonly _db_row_snapshot?: unknown;
  readonly _absorbed_row_ids?: unknown;
}

export interface MessagePair {
  readonly original: HeldMessage;
  readonly replacement: TranscriptMessage;
}

export interface PruneMessagesInput {
  readonly sessionId: string;
  readonly pairs: readonly MessagePair[];
  readonly modelConfigPatch: ConfigPatch | null;
  /** Without one nothing is asked for admission: a prune ahead of time is made without a lease on purpose. */
  readonly lease: Lease | null;
}

interface Plan {
  readonly sessionId: string;
  readonly admitted: Admitted | null;
  readonly config: ConfigChange | null;
  readonly rows: readonly PlannedRow[];
}

/** Throws as `pruneRows` does, and ROW_UNRESOLVED where not exactly one row can be meant. Gives the rows that were written. */
export const pruneMessages: StoreOperation<PruneMessagesInput, Plan, readonly RewrittenRow[]> = {
  patience: 'ROUTINE',
  touchesMessages: true,
  plan: (store, { sessionId, pairs, modelConfigPatch, lease }, { now, mintUid }) => {
    requireDisplayColumns(store);
    const graph = new SessionGraph(store);
    const admitted = lease === null ? null : checkAdmission(store, graph, sessionId, { lease, rejectClosed: true }, now);
    const config = modelConfigPatch === null ? null : planConfigPatch(store, sessionId, modelConfigPatch);
    const rows = pairs.map(({ original, replacement }) => {
      const row = rowOf(store, sessionId, original);
      if (replacement.role !== row.role) throw unresolved('The replacement has another role.');
      return { row, cells: changedCells(store.shape, row, { original, replacement }, mintUid) };
    });
    refuseTwice(rows.map(({ row }) => row.rowId));
    return { sessionId, admitted, config, rows };
  },
  execute: (transaction, { sessionId, admitted, config, rows }) => {
    if (admitted !== null) admit(transaction, admitted);
    const rewritten = rewriteRows(transaction, sessionId, rows);
    if (config !== null) writeConfig(transaction, config);
    return rewritten;
  },
  preview: ({ rows }) => rows.map(({ row }) => ({ rowId: row.rowId, rowVersion: row.version, archivedTwinRowId: null })),
};

/** P3 to P6: the one row that a held message means, unchanged since it was read. */
export function rowOf(store: StoreReading, sessionId: string, original: HeldMessage): StoredRow {
  const { role } = original;
  if (role !== 'assistant' && role !== 'tool') throw notRewritable('Only rows of an assistant or a tool can.');
  if (Array.isArray(original._absorbed_row_ids)) throw notRewritable('Several rows were folded into this message.');
  const rowId = candidate(store, sessionId, role, original);
  const row = rewritableRow(storedRow(store, rowId), sessionId, rowId);
  if (row.role !== role) throw new WriteRefused('ROW_NOT_LIVE', 'It is a row of another role.', { details: { rowId } });
  if (!isUnchanged(store, row, original)) throw versionConflict(row);
  return row;
}

/** P6: by the version that was noted, else by what the message says. */
export function isUnchanged(store: StoreReading, row: StoredRow, held: HeldMessage): boolean {
  const token = snapshotToken(held._db_row_snapshot);
  if (token !== null) return isVersion(store, row, token);
  const { cells } = row;
  return (
    row.role === held.role &&
    lensed(row.role, cells.content ?? null) === lensed(row.role, contentCell(held.content)) &&
    nonEmptyString(cells.tool_call_id) === nonEmptyString(held.tool_call_id) &&
    toolCallsCell(cells.tool_calls) === toolCallsCell(held.tool_calls)
  );
}

/** The token of a noted version: bare digests are those of the newer scheme; null for none and for one of a scheme of others (D5). */
export function snapshotToken(snapshot: unknown): string | null {
  if (typeof snapshot !== 'string') return null;
  if (/^[0-9a-f]{32}$/.test(snapshot)) return `v2:${snapshot}`;
  return /^v[12]:[0-9a-f]{32}$/.test(snapshot) ? snapshot : null;
}

/** P4: the id that the message names; else the one live row with its call, its calls or its text. */
function candidate(store: StoreReading, sessionId: string, role: 'assistant' | 'tool', original: HeldMessage): string {
  const named = positiveInteger(original._row_id);
  if (named !== null) return named;
  const found = matchingRows(store, sessionId, role, original);
  const [only] = found;
  if (only === undefined || found.length > 1) throw unresolved(`${found.length} rows can be meant.`);
  return only;
}

function matchingRows(store: StoreReading, sessionId: string, role: 'assistant' | 'tool', original: HeldMessage): string[] {
  const select = `SELECT CAST(m.id AS TEXT) AS id, m.tool_calls AS calls FROM messages m
    WHERE m.session_id = ? AND m.role = ? AND ${isLiveSql(store.shape, 'm')}`;
  const callId = nonEmptyString(original.tool_call_id);
  if (role === 'tool' && callId !== null) {
    return store.all(`${select} AND m.tool_call_id = ?`, [sessionId, role, callId]).map(({ id }) => String(id));
  }
  if (role === 'assistant' && isGiven(original.tool_calls)) {
    const wanted = JSON.stringify(toolCallIds(original.tool_calls));
    const rows = store.all(`${select} AND m.tool_calls IS NOT NULL`, [sessionId, role]);
    return rows.filter(({ calls }) => JSON.stringify(toolCallIds(calls)) === wanted).map(({ id }) => String(id));
  }
  if (typeof original.content !== 'string') return [];
  const content = lensed(role, contentCell(original.content));
  return store.all(`${select} AND m.content IS ?`, [sessionId, role, content]).map(({ id }) => String(id));
}

/** RW2: a text of a person or an assistant without the memory that was recalled into it. */
function lensed(role: string, content: SqlValue): SqlValue {
  return typeof content === 'string' && (role === 'user' || role === 'assistant') ? trimSpace(stripMemoryBlocks(content)) : content;
}

function positiveInteger(value: unknown): string | null {
  if (typeof value === 'bigint') return value > 0n ? String(value) : null;
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? String(value) : null;
}

function unresolved(why: string): WriteRefused {
  return new WriteRefused('ROW_UNRESOLVED', why);
}

function notRewritable(why: string): WriteRefused {
  return new WriteRefused('ROW_NOT_REWRITABLE', why);
}
