/**
 * Looks at single sessions that operations on them share.
 */
import { WriteRefused } from '../../write-refused.ts';
import { isForkBound, isTool, type LineageNode, RESET_REASONS } from '../lineage.ts';
import type { StoreReading } from '../store-reading.ts';
import type { GraphSession, SessionGraph } from './session-graph.ts';

/** Throws NOT_FOUND. */
export function requireSession(graph: SessionGraph, id: string): GraphSession {
  const session = graph.get(id);
  if (session === undefined) throw new WriteRefused('NOT_FOUND', 'There is no such session.');
  return session;
}

/** Throws SCHEMA_UNSUPPORTED when `sessions` lacks one of the columns. */
export function requireColumns(store: StoreReading, columns: readonly string[]): void {
  const missing = columns.filter((column) => !store.shape.hasColumn('sessions', column));
  if (missing.length > 0) throw new WriteRefused('SCHEMA_UNSUPPORTED', `Its sessions have no ${missing.join(', ')}.`);
}

/** How a session ended, as stored: a time that can't be trusted is an end all the same. */
export interface StoredEnd {
  readonly isEnded: boolean;
  readonly endedAt: number | null;
  readonly reason: string | null;
}

/** Throws NOT_FOUND. */
export function storedEnd(store: StoreReading, id: string): StoredEnd {
  const row = store.get('SELECT ended_at, end_reason FROM sessions WHERE id = ?', [id]);
  if (row === undefined) throw new WriteRefused('NOT_FOUND', 'There is no such session.');
  return {
    isEnded: row.ended_at !== null,
    endedAt: typeof row.ended_at === 'number' ? row.ended_at : null,
    reason: typeof row.end_reason === 'string' ? row.end_reason : null,
  };
}

/** Whether a compressed session goes on in a child, open or not (C3). */
export function hasContinuation(graph: SessionGraph, id: string): boolean {
  return graph.children(id).some((child) => !isForkBound(child, { resets: true }));
}

/** Children that are resets by their routing key alone, which a reopened parent would make continuations of (F3). */
export function unmarkedResets(graph: SessionGraph, parent: GraphSession): LineageNode[] {
  if (!RESET_REASONS.has(parent.endReason ?? '') || parent.sessionKey === null || parent.sessionKey === '') return [];
  return graph.children(parent.id).filter((child) => {
    const isMarked = child.branchedFrom !== null || child.delegateFrom !== null || child.resetFrom !== null;
    const isLater = child.startedAt !== null && parent.startedAt !== null && child.startedAt >= parent.startedAt;
    return child.sessionKey === parent.sessionKey && isLater && !isMarked && !isTool(child);
  });
}
