/**
 * Examining the Web UI's folder and tidying it up.
 */

import type { TombstoneKind } from '../src/state-db/beside.ts';
import type { Cleanup, OrphanReport } from '../src/web-ui/cleanup.ts';
import type { AuditItem, RecoveryAudit } from '../src/web-ui/recovery-audit.ts';
import type { Sweep } from '../src/web-ui/temporary-files.ts';
import type { IndexRebuild } from '../src/writing/upkeep-commands.ts';
import type { Context } from './context.ts';
import { isAnswered, requireWebUi, writeFiles } from './file-writes.ts';
import type { WriteArguments, WritePayload } from './writes.ts';

export type IndexRebuildPayload = IndexRebuild & WritePayload;
export type StaleFilesPayload = Sweep & WritePayload;
export type CleanupPayload = Cleanup & WritePayload;
export type OrphansPayload = OrphanReport & WritePayload;
export type TombstonePayload = { readonly cleared: boolean } & WritePayload;
export type Audit = RecoveryAudit;
export type AuditFinding = AuditItem;

export async function rebuildSessionIndex(args: WriteArguments, ctx: Context): Promise<IndexRebuildPayload> {
  await present(args, ctx);
  return writeFiles(ctx, 'rebuildSessionIndex', args, {});
}

/** Null where no Web UI keeps sessions. */
export async function webUiAudit(_: unknown, args: { profile?: string | null | undefined }, ctx: Context): Promise<Audit | null> {
  const store = await ctx.store(args.profile);
  if ((await ctx.services.webUiHome.facts()) === null) return null;
  // With a dry run nothing can be changed.
  return ctx.services.writers.run({ profile: store.profile, path: store.path }, 'auditWebUi', {}, { dryRun: true, clientMutationId: null });
}

const STALE_SECONDS = 3600;
const SHORTEST_SECONDS = 60;

export async function cleanStaleTempFiles(
  args: WriteArguments & { readonly olderThanSeconds?: number | null | undefined },
  ctx: Context,
): Promise<StaleFilesPayload> {
  await present(args, ctx);
  // A younger one may be in the hands of its writer.
  const olderThanSeconds = Math.max(SHORTEST_SECONDS, args.olderThanSeconds ?? STALE_SECONDS);
  return writeFiles(ctx, 'cleanStaleTempFiles', args, { olderThanSeconds });
}

export async function cleanupEmptySessions(
  args: WriteArguments & { readonly zeroOnly?: boolean | null | undefined },
  ctx: Context,
): Promise<CleanupPayload> {
  await present(args, ctx);
  const profiles = await ctx.services.profiles.names();
  return writeFiles(ctx, 'cleanupEmptySessions', args, { zeroOnly: args.zeroOnly ?? false, profiles });
}

export async function pruneZeroMessageOrphans(args: WriteArguments, ctx: Context): Promise<OrphansPayload> {
  await present(args, ctx);
  return writeFiles(ctx, 'pruneZeroMessageOrphans', args, { profiles: await ctx.services.profiles.names() });
}

export async function clearTombstone(
  args: WriteArguments & { readonly sessionId: string; readonly kind: TombstoneKind },
  ctx: Context,
): Promise<TombstonePayload> {
  await present(args, ctx);
  return writeFiles(ctx, 'clearTombstone', args, { sessionId: args.sessionId, kind: args.kind });
}

async function present(args: WriteArguments, ctx: Context): Promise<void> {
  if (!isAnswered(ctx, args)) await requireWebUi(ctx);
}
