/**
 * What a compressed session goes on in (`spec/webui-recovery.md` 19).
 */
import type { StoredSession } from '../src/session-store.ts';
import { type CompressionRecovery, compressionRecoveryOf } from '../src/web-ui/compression-recovery.ts';
import type { Context } from './context.ts';

export type { CompressionRecovery };

/** Null unless the context is exhausted. */
export async function compressionRecovery(session: StoredSession, _: unknown, ctx: Context): Promise<CompressionRecovery | null> {
  const row = await ctx.loaders(session.profile).sidecarRow.load(session.id);
  return row === null ? null : compressionRecoveryOf(row);
}

export async function compressionRecoveryChild(session: StoredSession, _: unknown, ctx: Context): Promise<StoredSession | null> {
  const loaders = ctx.loaders(session.profile);
  const childId = await loaders.recoveryChild.load(session.id);
  return childId === null ? null : loaders.session.load(childId);
}

export async function continuation(session: StoredSession, _: unknown, ctx: Context): Promise<StoredSession | null> {
  const loaders = ctx.loaders(session.profile);
  const nextId = await loaders.continuation.load(session.id);
  return nextId === null ? null : loaders.session.load(nextId);
}
