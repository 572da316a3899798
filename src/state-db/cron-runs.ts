/**
 * The runs of a scheduled job: sessions whose ids begin with the job's (`spec/state-db.md` 7.8).
 */
import type { StoreConnection } from './connection.ts';

/** Ids of the runs of a job, newest start first. A range over ids and not a pattern: `_` in a job's id stands for itself. */
export function cronRuns(connection: StoreConnection, jobId: string, limit: number): string[] {
  if (jobId === '') return [];
  const rows = connection.all(
    `SELECT s.id AS id FROM sessions s WHERE s.source = 'cron' AND s.id >= ? AND s.id < ?
     ORDER BY CASE WHEN s.started_at BETWEEN 0.0 AND 4200000000.0 THEN s.started_at ELSE -1 END DESC, s.id DESC LIMIT ?`,
    // The character after `_` is the first that no id of this job can have there.
    [`cron_${jobId}_`, `cron_${jobId}\``, limit],
  );
  return rows.map((row) => String(row.id));
}
