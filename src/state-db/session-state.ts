/**
 * What a session's row says at a glance: read or unread, its workspace, how its last turn ended, what it is doing now
 * (`spec/state-db.md` 4.1, 7.4, 7.6, 7.7).
 */
import { idList, type StoreConnection } from './connection.ts';
import { RowReader, type SqlRow } from './decode.ts';
import type { SessionEntry } from './session-record.ts';
import { CANONICAL_TITLE } from './titles.ts';
import { trimSpace } from './whitespace.ts';

/** How the last turn of a session ended, by its newest row. EMPTY: there is no row. */
export type LifecycleStatus = 'EMPTY' | 'ERROR' | 'INTERRUPTED' | 'COMPLETE';

const FAILED_FINISHES: ReadonlySet<string> = new Set(['error', 'agent_error', 'content_filter']);

/** The status of each session by the row with its largest id, of any state (7.7). One statement; ids without rows are EMPTY, '' is nobody's. */
export function lifecycleStatuses(connection: StoreConnection, sessionIds: readonly string[]): Map<string, LifecycleStatus> {
  const rows = connection.all(
    `SELECT m.session_id AS session_id, m.role AS role, m.finish_reason AS finish_reason, m.tool_calls IS NOT NULL AS has_calls
     FROM json_each(?) s CROSS JOIN messages m ON m.id = (SELECT MAX(x.id) FROM messages x WHERE x.session_id = s.value)`,
    [idList(sessionIds)],
  );
  const statuses = new Map<string, LifecycleStatus>(sessionIds.filter((id) => id !== '').map((id) => [id, 'EMPTY']));
  for (const row of rows) if (row.session_id !== '') statuses.set(String(row.session_id), statusOf(row));
  return statuses;
}

function statusOf(row: SqlRow): LifecycleStatus {
  const cells = new RowReader(row);
  const role = trimSpace(cells.quietText('role') ?? '').toLowerCase();
  if (FAILED_FINISHES.has(trimSpace(cells.quietText('finish_reason') ?? '').toLowerCase())) return 'ERROR';
  if (role === 'user' || role === 'tool' || (role === 'assistant' && row.has_calls === 1)) return 'INTERRUPTED';
  return 'COMPLETE';
}

/** 7.4: whether something happened after the read watermark; a session without a watermark was never tracked and counts as read. */
export function isUnread(session: Pick<SessionEntry, 'lastReadAt' | 'recency' | 'startedAt'>): boolean {
  return session.lastReadAt !== null && (session.recency ?? session.startedAt ?? 0) > session.lastReadAt;
}

/** 4.1: the repository of a session, else its folder, else none. */
export function workspaceKey(session: Pick<SessionEntry, 'gitRepoRoot' | 'cwd'>): string | null {
  return trimSpace(session.gitRepoRoot ?? '') || trimSpace(session.cwd ?? '') || null;
}

/** 7.6: the row that stands for a bot itself; it is hidden on purpose. */
export function isCanonicalIdentity(session: Pick<SessionEntry, 'hidden' | 'title'>): boolean {
  return session.hidden && session.title === CANONICAL_TITLE;
}

/** 7.7: ended without ever having had a message, so that a clean-up may take it; what can't be counted is kept. */
export function isDisposable(session: Pick<SessionEntry, 'storedMessageCount' | 'endedAt' | 'endReason' | 'archived' | 'stats'>): boolean {
  const ended = session.endedAt !== null || session.endReason !== null;
  return ended && !session.archived && session.storedMessageCount === 0 && session.stats?.total === 0;
}

/** The last sign of life that the owner wrote during a turn (4.1). */
export interface Activity {
  readonly at: number | null;
  /** What it was doing; empty when idle. */
  readonly description: string;
  readonly provenance: string;
  readonly secondsAgo: number | null;
}

const KNOWN_PROVENANCE: ReadonlySet<string> = new Set(['agent.compression', 'agent.compression_timeout', 'agent.compression_cooldown']);

/** 4.1: a description is not shown longer than its writers make it; a provenance that isn't known reads as unknown. */
export function activityOf(
  session: Pick<SessionEntry, 'lastActivityAt' | 'lastActivityDescription' | 'lastActivityProvenance'>,
  now: number,
): Activity {
  const { lastActivityAt: at, lastActivityDescription, lastActivityProvenance } = session;
  return {
    at,
    description: [...(lastActivityDescription ?? '')].slice(0, 120).join(''),
    provenance: KNOWN_PROVENANCE.has(lastActivityProvenance ?? '') ? (lastActivityProvenance ?? '') : 'unknown',
    secondsAgo: at === null ? null : now - at,
  };
}
