/**
 * What keeps a turn from being settled (`spec/webui-recovery.md` 11.1, 11.2 with D13 to D16). Pure; the first that holds is told.
 */
import { type Fields, word } from '../sidecar/coercions.ts';
import { isNoSession, type SidecarRow } from '../sidecar/sidecar-row.ts';
import type { LiveState } from './live-state.ts';

export type RepairBlock =
  | 'NOT_PENDING'
  | 'NO_STREAM'
  | 'STREAM_LIVE'
  | 'LIVENESS_UNKNOWN'
  | 'PRE_COMPRESSION_SNAPSHOT'
  | 'HAS_CONTINUATION'
  | 'WITHIN_GRACE';

/** Seconds after its start in which a turn is left alone. */
const GRACE_SECONDS = 30;

/** A session that names another as its parent, by its file or its row in the index. */
export interface ChildSession {
  readonly id: string;
  readonly sessionSource: string | null;
  /** It is the focused continuation of an exhausted session. */
  readonly isFocused: boolean;
}

export interface GuardedTurn {
  readonly row: Pick<SidecarRow, 'pending' | 'activeStreamId' | 'isCompressionSnapshot' | 'sessionSource'>;
  readonly live: LiveState;
  readonly children: readonly ChildSession[];
  /** Epoch seconds. */
  readonly now: number;
  /** What can't be told to run does not, and a prompt needs no run. */
  readonly force: boolean;
}

/** Null: the turn may be settled. With `needsPrompt` false the same for a run that no prompt waits for. */
export function repairBlock({ row, live, children, now, force }: GuardedTurn, needsPrompt = true): RepairBlock | null {
  const { pending, activeStreamId } = row;
  if (pending === null && (needsPrompt || activeStreamId === null)) return 'NOT_PENDING';
  if (activeStreamId === null && !force) return 'NO_STREAM';
  if (live === 'LIVE') return 'STREAM_LIVE';
  if (live === 'UNKNOWN' && !force) return 'LIVENESS_UNKNOWN';
  if (row.isCompressionSnapshot) return 'PRE_COMPRESSION_SNAPSHOT';
  if (children.some((child) => isContinuation(child, row))) return 'HAS_CONTINUATION';
  return isWithinGrace(pending?.startedAt ?? null, now) ? 'WITHIN_GRACE' : null;
}

/** Also before the start: the clock may have been set back (D15). */
export function isWithinGrace(startedAt: number | null, now: number): boolean {
  return startedAt !== null && now - startedAt < GRACE_SECONDS;
}

/** A branch goes its own way, as does a focused continuation (D14). */
export function isContinuation(
  { isFocused, sessionSource }: Pick<ChildSession, 'isFocused' | 'sessionSource'>,
  parent: Pick<SidecarRow, 'sessionSource'>,
): boolean {
  return !isFocused && (sessionSource !== 'fork' || parent.sessionSource === 'fork');
}

/** It answers an exhausted session (19.3). */
export function isFocused({ compressionRecovery: { sourceSessionId, action } }: Pick<SidecarRow, 'compressionRecovery'>): boolean {
  return sourceSessionId !== null && action !== null;
}

/** By the files and, for those that have none yet, by the index. */
export function childrenOf(id: string, rows: Iterable<SidecarRow>, indexed: ReadonlyMap<string, Fields>): ChildSession[] {
  const found = new Map<string, ChildSession>();
  for (const [childId, fields] of indexed) {
    if (fields.parent_session_id !== id || childId === id) continue;
    const keys = [fields.compression_recovery_source_session_id, fields.compression_recovery_action];
    const hasKeys = keys.every((key) => word(key) !== null);
    found.set(childId, { id: childId, sessionSource: word(fields.session_source), isFocused: hasKeys });
  }
  for (const row of rows) {
    if (isNoSession(row)) continue;
    // Where both tell, the file is right.
    found.delete(row.id);
    if (row.parentSessionId !== id || row.id === id) continue;
    found.set(row.id, { id: row.id, sessionSource: row.sessionSource, isFocused: isFocused(row) });
  }
  return [...found.values()];
}

/** Compressions that one run may have gone through. */
const MOST_ROTATIONS = 8;

/** The sessions that one comes from by its files, the nearest first. */
export function ancestorsOf(id: string, rows: ReadonlyMap<string, Pick<SidecarRow, 'parentSessionId'>>): string[] {
  const found: string[] = [];
  for (let next = rows.get(id)?.parentSessionId ?? null; next !== null && found.length < MOST_ROTATIONS; ) {
    if (next === id || found.includes(next)) break;
    found.push(next);
    next = rows.get(next)?.parentSessionId ?? null;
  }
  return found;
}

/** Epoch seconds; null without a grace that runs. */
export function graceEndsAt(startedAt: number | null, now: number): number | null {
  return startedAt !== null && isWithinGrace(startedAt, now) ? startedAt + GRACE_SECONDS : null;
}
