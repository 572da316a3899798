/**
 * Runs of a session: turns of the Web UI, by their journals. Files of one state folder serve all profiles.
 */
import { decodeCursor, encodeCursor } from '../src/cursor.ts';
import { InvalidInput } from '../src/errors.ts';
import { listRuns, type RunSummary } from '../src/live/journal/run-summary.ts';
import { type Page, pageRequest } from '../src/paging.ts';
import type { StoredSession } from '../src/session-store.ts';
import type { Context } from './context.ts';

/** Newest first; a page reads the journals of its own runs only. Throws `InvalidInput` for a cursor whose run is gone. */
export async function runs(
  session: StoredSession,
  args: { first?: number | null | undefined; after?: string | null | undefined },
  ctx: Context,
): Promise<Page<RunSummary>> {
  const page = pageRequest({ first: args.first, after: args.after });
  const { journalRoot, runs: summaries } = ctx.services;
  const listed = (await listRuns(journalRoot, session.id)).reverse();
  const start = page.after === null ? 0 : startAfter(page.after, session.id, listed);
  const found = await Promise.all(listed.slice(start, start + page.size).map(({ runId }) => summaries.get(session.id, runId)));
  return {
    items: found.filter((run) => run !== null).map((run) => ({ cursor: encodeCursor('runs', session.id, [run.runId]), node: run })),
    hasNextPage: start + page.size < listed.length,
    hasPreviousPage: start > 0,
  };
}

function startAfter(cursor: string, sessionId: string, listed: readonly { readonly runId: string }[]): number {
  const [runId] = decodeCursor(cursor, 'runs', sessionId);
  const at = listed.findIndex((run) => run.runId === runId);
  if (at === -1) throw new InvalidInput('The run of this cursor is gone. Start again without it.', {}, 'STALE_CURSOR');
  return at + 1;
}

/** Null for an unknown session or run, and for ids that could leave the folder of the journals. */
export async function run(
  _: unknown,
  args: { sessionId: string; runId: string; profile?: string | null | undefined },
  ctx: Context,
): Promise<RunSummary | null> {
  await ctx.store(args.profile);
  return ctx.services.runs.get(args.sessionId, args.runId);
}
