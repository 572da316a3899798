/**
 * The lineage of a session: its chain, its family, and what is wrong with it. The lineage of a session is the session, looked at this way.
 */
import type { StoredSession } from '../src/session-store.ts';
import { type Family, mermaid } from '../src/state-db/family.ts';
import type { Context } from './context.ts';
import { conversation } from './session.ts';

export function lineage(session: StoredSession): StoredSession {
  return session;
}

export async function segments(session: StoredSession, _: unknown, ctx: Context): Promise<StoredSession[]> {
  return [...(await conversation(session, ctx)).segments];
}

export async function liveContinuation(session: StoredSession, _: unknown, ctx: Context): Promise<StoredSession | null> {
  return (await conversation(session, ctx)).liveContinuation;
}

export async function nodes(session: StoredSession, _: unknown, ctx: Context): Promise<StoredSession[]> {
  return [...(await familyOf(session, ctx)).nodes];
}

export async function edges(session: StoredSession, _: unknown, ctx: Context): Promise<Family<StoredSession>['edges'][number][]> {
  return [...(await familyOf(session, ctx)).edges];
}

export async function problems(session: StoredSession, _: unknown, ctx: Context): Promise<Family<StoredSession>['problems'][number][]> {
  return [...(await familyOf(session, ctx)).problems];
}

export async function chart(session: StoredSession, _: unknown, ctx: Context): Promise<string> {
  const family = await familyOf(session, ctx);
  return mermaid(
    family.nodes.map((node) => ({ id: node.id, label: node.title ?? node.id, live: node.endedAt === null && node.endReason === null })),
    family.edges,
  );
}

async function familyOf(session: StoredSession, ctx: Context): Promise<Family<StoredSession>> {
  return (await ctx.loaders(session.profile).family.load(session.id)) ?? { nodes: [session], edges: [], problems: [] };
}
