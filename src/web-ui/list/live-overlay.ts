/** What a live process adds to a row (`spec/webui-listing.md` 9.7, 9.8). */
import type { ListRow } from './list-row.ts';

/** What is known of a session that is loaded in a running process. */
export interface LiveSession {
  readonly activeStreamId: string | null;
  readonly hasPending: boolean;
  readonly pendingStartedAt: number | null;
  readonly updatedAt: number | null;
  readonly lastMessageAt: number | null;
}

/** The row with the state of the running session; times only move forward. */
export function overlayLive(row: ListRow, live: LiveSession): ListRow {
  return {
    ...row,
    activeStreamId: live.activeStreamId,
    hasPending: live.hasPending,
    pendingStartedAt: later(row.pendingStartedAt, live.pendingStartedAt),
    updatedAt: later(row.updatedAt, live.updatedAt),
    lastMessageAt: later(row.lastMessageAt, live.lastMessageAt),
  };
}

function later(a: number | null, b: number | null): number | null {
  return b !== null && b > (a ?? 0) ? b : a;
}

const RUN_STAMP = /^\d{8}_\d{6}$/;

/** The id of the running job whose run a row is, from the ids and start times (epoch seconds) of running jobs; null when it is none. */
export function runningCronJob(row: Pick<ListRow, 'id' | 'createdAt'>, running: ReadonlyMap<string, number>): string | null {
  const longestFirst = [...running].sort(([a], [b]) => b.length - a.length);
  for (const [jobId, startedAt] of longestFirst) {
    const prefix = `cron_${jobId}_`;
    if (!row.id.startsWith(prefix) || !RUN_STAMP.test(row.id.slice(prefix.length))) continue;
    return row.createdAt !== null && row.createdAt >= startedAt ? jobId : null;
  }
  return null;
}
