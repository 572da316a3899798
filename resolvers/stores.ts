/**
 * Profiles, their stores, usage, running work, and the server itself.
 */
import { InvalidInput } from '../src/errors.ts';
import type { SessionStore, StoredSession, StoreStatus } from '../src/session-store.ts';
import type { Backend, Delegation, Hold, Liveness } from '../src/state-db/liveness.ts';
import type { UsageBucket, UsageDimension } from '../src/state-db/usage.ts';
import type { Context } from './context.ts';

export interface Profile {
  readonly name: string;
}

export async function profiles(_: unknown, __: unknown, ctx: Context): Promise<Profile[]> {
  return (await ctx.services.profiles.stores()).map((store) => ({ name: store.profile }));
}

/** Null for a name that no profile has: a look-up, unlike the argument `profile` of other fields. */
export async function profile(_: unknown, args: { name?: string | null | undefined }, ctx: Context): Promise<Profile | null> {
  const name = args.name ?? ctx.services.profiles.defaultProfile;
  if (!(await ctx.services.profiles.names()).includes(name)) return null;
  await ctx.store(name);
  return { name };
}

export function profileOf(session: { readonly profile: string }): Profile {
  return { name: session.profile };
}

export function isDefault(parent: Profile, _: unknown, ctx: Context): boolean {
  return parent.name === ctx.services.profiles.defaultProfile;
}

export type StoreView = StoreStatus & { readonly writable: boolean };

export async function storeOf(parent: Profile, _: unknown, ctx: Context): Promise<StoreView> {
  return statusOf(await ctx.store(parent.name), ctx);
}

export async function statusOf(store: SessionStore, ctx: Context): Promise<StoreView> {
  return { ...(await ctx.loaders(store.profile).status.load({})), writable: ctx.services.writable };
}

export interface UsageArguments {
  readonly profile?: string | null | undefined;
  readonly filter?:
    | {
        since?: number | null | undefined;
        before?: number | null | undefined;
        sources?: readonly string[] | null | undefined;
        sessionId?: string | null | undefined;
      }
    | null
    | undefined;
  readonly groupBy: readonly UsageDimension[];
}

export async function usage(_: unknown, args: UsageArguments, ctx: Context): Promise<readonly UsageBucket[]> {
  if (args.groupBy.length === 0) throw new InvalidInput('groupBy needs at least one dimension.');
  const store = await ctx.store(args.profile);
  const { since = null, before = null, sources = null, sessionId = null } = args.filter ?? {};
  return store.usage({ since, before, sources, sessionId }, args.groupBy);
}

/** Of a session that isn't there. */
export const GONE_LIVENESS: Liveness = {
  state: 'UNKNOWN',
  certainty: 'LOW',
  evidence: ['The session is gone.'],
  lastSignalAt: null,
  basis: 'NOTHING',
  holderPid: null,
};

export async function liveness(session: StoredSession, _: unknown, ctx: Context): Promise<Liveness> {
  const found = await ctx.loaders(session.profile).liveness.load(session.id);
  return found ?? GONE_LIVENESS;
}

const MOST_DELEGATIONS = 200;

export async function delegations(
  _: unknown,
  args: { profile?: string | null | undefined; parentSessionId?: string | null | undefined },
  ctx: Context,
): Promise<readonly Delegation[]> {
  const parents = args.parentSessionId == null ? null : [args.parentSessionId];
  return (await ctx.store(args.profile)).delegations(parents, MOST_DELEGATIONS);
}

export async function turnLeases(_: unknown, args: { profile?: string | null | undefined }, ctx: Context): Promise<readonly Hold[]> {
  return (await ctx.store(args.profile)).turnLeases();
}

export async function compressionLocks(_: unknown, args: { profile?: string | null | undefined }, ctx: Context): Promise<readonly Hold[]> {
  return (await ctx.store(args.profile)).compressionLocks();
}

export async function backends(_: unknown, args: { profile?: string | null | undefined }, ctx: Context): Promise<readonly Backend[]> {
  return (await ctx.store(args.profile)).backends();
}

export interface ServerInfo {
  readonly version: string;
  readonly writable: boolean;
  readonly subscribers: number;
}

export function server(_: unknown, __: unknown, ctx: Context): ServerInfo {
  const { version, writable, feed, liveTurns } = ctx.services;
  return { version, writable, subscribers: feed.subscribers + liveTurns.subscribers };
}
