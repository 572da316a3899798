/**
 * Runs of a session: turns of the Web UI, by their journals. Files of one state folder serve all profiles.
 */
import { decodeCursor, encodeCursor } from '../src/cursor.ts';
import { InvalidInput } from '../src/errors.ts';
import { boundJson } from '../src/live/journal/bounded-json.ts';
import { type LiveMessage, readLiveMessage } from '../src/live/journal/live-message.ts';
import { parseRunCursor, type Replay, type RunEvent, replaySession } from '../src/live/journal/replay.ts';
import { type MalformedLine, readRunEvents } from '../src/live/journal/run-events.ts';
import { listRuns, type RunSummary } from '../src/live/journal/run-summary.ts';
import { type Page, pageRequest } from '../src/paging.ts';
import type { StoredSession } from '../src/session-store.ts';
import type { Context } from './context.ts';

/** A run with the profile that it was asked for in: journals of all profiles lie in one folder. */
export type Run = RunSummary & { readonly profile: string };

/** Newest first; a page reads the journals of its own runs only. Throws `InvalidInput` for a cursor whose run is gone. */
export async function runs(
  session: StoredSession,
  args: { first?: number | null | undefined; after?: string | null | undefined },
  ctx: Context,
): Promise<Page<Run>> {
  const page = pageRequest({ first: args.first, after: args.after });
  const { journalRoot, runs: summaries } = ctx.services;
  const listed = (await listRuns(journalRoot, session.id)).reverse();
  const start = page.after === null ? 0 : startAfter(page.after, session.id, listed);
  const found = await Promise.all(listed.slice(start, start + page.size).map(({ runId }) => summaries.get(session.id, runId)));
  return {
    items: found
      .filter((run) => run !== null)
      .map((run) => ({ cursor: encodeCursor('runs', session.id, [run.runId]), node: { ...run, profile: session.profile } })),
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
): Promise<Run | null> {
  const { profile } = await ctx.store(args.profile);
  const found = await ctx.services.runs.get(args.sessionId, args.runId);
  return found === null ? null : { ...found, profile };
}

/** Null where no session has it: what is asked by the way leaves a journal without one. */
export function sessionOf({ profile, sessionId }: Run, _: unknown, ctx: Context): Promise<StoredSession | null> {
  return ctx.loaders(profile).session.load(sessionId);
}

/** A page of a run's events, and the lines up to its end that are none. */
export interface RunEvents extends Page<RunEvent> {
  readonly malformed: readonly MalformedLine[];
  readonly malformedCount: number;
}

/** In the order of their numbers; the cursor is the event's id. Throws `InvalidInput` with BAD_CURSOR, `JournalUnreadable`. */
export async function runEvents(
  { sessionId, runId }: RunSummary,
  args: { first?: number | null | undefined; after?: string | null | undefined },
  ctx: Context,
): Promise<RunEvents> {
  const page = pageRequest({ first: args.first, after: args.after });
  const afterSeq = page.after === null ? 0 : seqOf(page.after, runId);
  const found = await readRunEvents(ctx.services.journalRoot, sessionId, runId, { afterSeq, limit: page.size });
  return {
    items: (found?.records ?? []).map((record) => ({ cursor: `${runId}:${record.seq}`, node: { runId, record } })),
    hasNextPage: found !== null && found.next !== null,
    hasPreviousPage: afterSeq > 0,
    malformed: found?.malformed ?? [],
    malformedCount: found?.malformedCount ?? 0,
  };
}

function seqOf(id: string, runId: string): number {
  const cursor = parseRunCursor(id);
  if (cursor?.runId === runId) return cursor.seq;
  throw new InvalidInput('The cursor is not the id of an event of this run. Start again without it.', {}, 'BAD_CURSOR');
}

/** Cut to a size that may be sent. What ends a run holds the whole session, which is read elsewhere. */
export function eventPayload({ record }: RunEvent): unknown {
  const { session: _, ...rest } = record.payload;
  return boundJson(record.terminal ? rest : record.payload);
}

/** Null once the run has ended: then its message is in the transcript. Throws `JournalUnreadable`. */
export async function liveMessage(run: RunSummary, _: unknown, ctx: Context): Promise<LiveMessage | null> {
  return run.terminal ? null : readLiveMessage(ctx.services.journalRoot, run);
}

/** All or nothing after a cursor `<run>:<number>` (`spec/webui-recovery.md` 3.9). Throws `JournalUnreadable`. */
export function runReplay(session: StoredSession, { after }: { after: string }, ctx: Context): Promise<Replay> {
  return replaySession(ctx.services.journalRoot, session.id, after);
}
