/**
 * How one conversation hangs together by the rules of the Web UI (`spec/webui-listing.md` 5.4, capability C8).
 */
import type { StoredSession } from '../src/session-store.ts';
import { type LineageReport, lineageReport, type ReportedChild, type ReportedSegment } from '../src/web-ui/list/lineage-report.ts';
import type { Context } from './context.ts';

export type SessionLineageReport = LineageReport & { readonly profile: string };
/** A session of a report, with the profile that it was found in. */
export type Reported<T extends ReportedSegment | ReportedChild> = T & { readonly profile: string };

/** More segments than a report walks. */
const MOST_PARENTS = 32;

/** Of an unknown session nothing is found, which is an answer and no error. */
export async function sessionLineageReport(
  _: unknown,
  args: { sessionId: string; profile?: string | null | undefined },
  ctx: Context,
): Promise<SessionLineageReport> {
  const { profile } = await ctx.store(args.profile);
  const found = await ctx.loaders(profile).family.load(args.sessionId);
  const sessions = new Map((found?.nodes ?? []).map((session) => [session.id, session]));
  const isCut = found?.problems.some(({ code }) => code === 'TRUNCATED') === true;
  // A family is cut from the bottom, where the session may stand.
  if (isCut) for (const session of await upFrom(args.sessionId, profile, ctx)) sessions.set(session.id, session);
  const report = lineageReport({ sessions }, args.sessionId);
  return { ...report, manualReview: report.manualReview || isCut, profile };
}

export function segments({ segments: found, profile }: SessionLineageReport): Reported<ReportedSegment>[] {
  return found.map((segment) => ({ ...segment, profile }));
}

export function children({ children: found, profile }: SessionLineageReport): Reported<ReportedChild>[] {
  return found.map((child) => ({ ...child, profile }));
}

/** Null for one that went since. */
export function sessionOf(
  { id, profile }: Reported<ReportedSegment | ReportedChild>,
  _: unknown,
  ctx: Context,
): Promise<StoredSession | null> {
  return ctx.loaders(profile).session.load(id);
}

async function upFrom(sessionId: string, profile: string, ctx: Context): Promise<StoredSession[]> {
  const walked: StoredSession[] = [];
  for (let id: string | null = sessionId; id !== null && walked.length < MOST_PARENTS; ) {
    const session: StoredSession | null = await ctx.loaders(profile).session.load(id);
    if (session === null) break;
    walked.push(session);
    id = session.parentId;
  }
  return walked;
}
