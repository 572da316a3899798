/**
 * More facts of a session: how its last turn ended, what it is doing, where it comes from, what its auxiliary work cost.
 */
import type { StoredSession } from '../src/session-store.ts';
import type { DailyUsage, TaskUsage } from '../src/state-db/auxiliary-usage.ts';
import type { RecentTurn } from '../src/state-db/recent-turns.ts';
import type { RoutingEntry } from '../src/state-db/routing.ts';
import type { Origin, SessionDetails } from '../src/state-db/session-details.ts';
import { type Activity, activityOf, type LifecycleStatus, workspaceKey } from '../src/state-db/session-state.ts';
import type { Context } from './context.ts';
import { checkedCount } from './numbers.ts';

export async function status(session: StoredSession, _: unknown, ctx: Context): Promise<LifecycleStatus> {
  return (await ctx.loaders(session.profile).lifecycle.load(session.id)) ?? 'EMPTY';
}

export function activity(session: StoredSession): Activity | null {
  return session.lastActivityAt === null ? null : activityOf(session, Date.now() / 1000);
}

export function workspace(session: StoredSession): string | null {
  return workspaceKey(session);
}

export async function origin(session: StoredSession, _: unknown, ctx: Context): Promise<Origin | null> {
  return (await details(session, ctx))?.origin ?? null;
}

export async function systemPrompt(session: StoredSession, _: unknown, ctx: Context): Promise<string | null> {
  return (await details(session, ctx))?.systemPrompt ?? null;
}

export async function modelConfig(session: StoredSession, _: unknown, ctx: Context): Promise<Readonly<Record<string, unknown>> | null> {
  return (await details(session, ctx))?.modelConfig ?? null;
}

export async function toolNames(session: StoredSession, _: unknown, ctx: Context): Promise<readonly string[]> {
  return (await details(session, ctx))?.toolNames ?? [];
}

function details(session: StoredSession, ctx: Context): Promise<SessionDetails | null> {
  return ctx.loaders(session.profile).details.load(session.id);
}

export function auxiliaryUsage(session: StoredSession, _: unknown, ctx: Context): Promise<readonly TaskUsage[]> {
  return ctx.loaders(session.profile).auxiliaryUsage.load(session.id);
}

export function dailyUsage(session: StoredSession, _: unknown, ctx: Context): Promise<readonly DailyUsage[]> {
  return ctx.loaders(session.profile).dailyUsage.load(session.id);
}

const MOST_TURNS = 20;

export async function recentTurns(
  session: StoredSession,
  args: { first?: number | null | undefined },
  ctx: Context,
): Promise<readonly RecentTurn[]> {
  const count = checkedCount('first', args.first ?? 10, MOST_TURNS);
  return (await ctx.loaders(session.profile).recentTurns.load(session.id)).slice(0, count);
}

export async function resumeTarget(session: StoredSession, _: unknown, ctx: Context): Promise<StoredSession> {
  return (await ctx.loaders(session.profile).resumeTarget.load(session.id)) ?? session;
}

export interface Handoff {
  readonly state: string;
  readonly platform: string | null;
}

/** A hand-over to another platform, pending, running, completed or failed; null without one. */
export function handoff(session: StoredSession): Handoff | null {
  return session.handoffState === null ? null : { state: session.handoffState, platform: session.handoffPlatform };
}

export async function routing(
  _: unknown,
  args: { profile?: string | null | undefined; scope?: string | null | undefined },
  ctx: Context,
): Promise<readonly RoutingEntry[]> {
  return (await ctx.store(args.profile)).routing(args.scope ?? null);
}

const MOST_RUNS = 200;

export async function cronRuns(
  _: unknown,
  args: { jobId: string; first?: number | null | undefined; profile?: string | null | undefined },
  ctx: Context,
): Promise<readonly StoredSession[]> {
  return (await ctx.store(args.profile)).cronRuns(args.jobId, checkedCount('first', args.first ?? 50, MOST_RUNS));
}
