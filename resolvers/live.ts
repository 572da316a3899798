/**
 * Subscriptions: changes of sessions, and of the health of a store.
 */
import { InvalidInput } from '../src/errors.ts';
import type { LiveSessionChange, LiveSessionsFrame } from '../src/live/session-feed.ts';
import type { SessionStore } from '../src/session-store.ts';
import type { Liveness } from '../src/state-db/liveness.ts';
import type { Context } from './context.ts';
import { liveness } from './stores.ts';

export interface LiveSessionsArguments {
  readonly profile?: string | null | undefined;
  readonly sessionIds?: readonly string[] | null | undefined;
  readonly after?: string | null | undefined;
  readonly maxRateHz?: number | null | undefined;
}

const SLOWEST_HZ = 0.01;
const FASTEST_HZ = 50;
const MOST_SESSIONS = 10_000;

export async function liveSessions(_: unknown, args: LiveSessionsArguments, ctx: Context): Promise<AsyncIterable<LiveSessionsFrame>> {
  const store = await ctx.store(args.profile);
  const maxRateHz = args.maxRateHz ?? 2;
  if (!(maxRateHz >= SLOWEST_HZ && maxRateHz <= FASTEST_HZ))
    throw new InvalidInput(`maxRateHz must be between ${SLOWEST_HZ} and ${FASTEST_HZ}; it was ${maxRateHz}.`);
  if ((args.sessionIds?.length ?? 0) > MOST_SESSIONS) throw new InvalidInput(`sessionIds may name at most ${MOST_SESSIONS} sessions.`);
  return ctx.services.feed.follow(store, { sessionIds: args.sessionIds ?? null, after: args.after ?? null, maxRateHz }, ctx.signal);
}

export async function storeHealthChanged(
  _: unknown,
  args: { profile?: string | null | undefined },
  ctx: Context,
): Promise<AsyncIterable<SessionStore>> {
  return ctx.services.feed.followHealth(await ctx.store(args.profile), ctx.signal);
}

export function changeLiveness(change: LiveSessionChange, _: unknown, ctx: Context): Promise<Liveness> | null {
  return change.session === null ? null : liveness(change.session, undefined, ctx);
}

export function changeRunId({ profile, sessionId, deleted }: LiveSessionChange, _: unknown, ctx: Context): Promise<string | null> | null {
  return deleted ? null : ctx.services.webUi.owningRun(profile, sessionId);
}
