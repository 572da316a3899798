/**
 * Sessions whose file of the Web UI is lost, and those that were deleted there: one answer for queries and mutations
 * (`spec/webui-recovery.md` 18, D22, `spec/field-cases.md` F25).
 */
import type { StoredSession } from '../src/session-store.ts';
import type { SidecarBackup } from '../src/web-ui/backup.ts';
import { isGone, isOfWebUi, isRowOfWebUi, mayLackFile } from '../src/web-ui/sidecar-missing.ts';
import type { Context } from './context.ts';

/** Null where it was deleted in the Web UI, and only rows are left of it. */
export function unlessGone(session: StoredSession | null): StoredSession | null {
  return session !== null && isGone(session) ? null : session;
}

/** The store has messages of a session of the Web UI, and no file does. */
export async function sidecarMissing(session: StoredSession, _: unknown, ctx: Context): Promise<boolean> {
  if (!mayLackFile(session)) return false;
  return isOfWebUi(session.source) || isRowOfWebUi((await ctx.loaders(session.profile).indexed.load(session.id)) ?? undefined);
}

/** Null without a backup; a session without a file may have one too. */
export function backup(session: StoredSession, _: unknown, ctx: Context): Promise<SidecarBackup | null> {
  return ctx.loaders(session.profile).backup.load(session.id);
}

export interface SessionGone {
  readonly sessionId: string;
  readonly reason: 'DELETED' | 'SIDECAR_MISSING';
}

/** Null for a session that is there, and for an id that nothing knows. */
export async function sessionGone(
  _: unknown,
  { sessionId, profile }: { readonly sessionId: string; readonly profile?: string | null | undefined },
  ctx: Context,
): Promise<SessionGone | null> {
  const store = await ctx.store(profile);
  const loaders = ctx.loaders(store.profile);
  const session = await loaders.session.load(sessionId);
  if (session !== null) return isGone(session) ? { sessionId, reason: 'DELETED' } : null;
  const facts = await ctx.services.webUiHome.facts();
  // A file of another profile is a session there.
  if (facts === null || facts.sidecars.rows.has(sessionId)) return null;
  if (facts.deleted.has(sessionId)) return { sessionId, reason: 'DELETED' };
  return (await loaders.indexed.load(sessionId)) === null ? null : { sessionId, reason: 'SIDECAR_MISSING' };
}
