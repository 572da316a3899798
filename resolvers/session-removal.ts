/**
 * Sessions deleted, emptied, pruned, swept into the archive, and brought in.
 */
import { DEFAULT_IDLE_DAYS } from '../src/state-db/write/archive-stale.ts';
import { DEFAULT_RETENTION_DAYS } from '../src/state-db/write/prune-sessions.ts';
import type { Context } from './context.ts';
import { type WriteArguments, type WritePayload, write } from './writes.ts';

type Maybe<T> = T | null | undefined;

export interface Removing extends WritePayload {
  readonly deletedIds: readonly string[];
  readonly orphanedIds: readonly string[];
  readonly dryRun: boolean;
}

export interface DeleteManyPayload extends Removing {
  readonly skippedIds: readonly string[];
}

interface DeleteManyArguments extends WriteArguments {
  readonly ids: readonly string[];
  readonly expectedDeleteIds?: Maybe<readonly string[]>;
}

export async function deleteSessions(args: DeleteManyArguments, ctx: Context): Promise<DeleteManyPayload> {
  const result = await write(ctx, 'deleteSessions', args, { ids: args.ids, expectedDeleteIds: args.expectedDeleteIds ?? null });
  return { ...result, dryRun: args.dryRun ?? false };
}

export async function deleteEmptySessions(
  args: WriteArguments & { readonly expectedDeleteIds?: Maybe<readonly string[]> },
  ctx: Context,
): Promise<Removing> {
  const result = await write(ctx, 'deleteEmptySessions', args, { expectedDeleteIds: args.expectedDeleteIds ?? null });
  return { ...result, dryRun: args.dryRun ?? false };
}

export interface ClearPayload extends WritePayload {
  readonly sessionId: string;
  readonly deletedMessages: number;
}

export function clearSession(
  args: WriteArguments & { readonly sessionId: string; readonly confirm: boolean },
  ctx: Context,
): Promise<ClearPayload> {
  return write(ctx, 'clearSession', args, { sessionId: args.sessionId, confirm: args.confirm });
}

export interface PrunePayload extends Removing {
  readonly skippedGuarded: readonly string[];
  readonly closedIds: readonly string[];
  readonly vacuumDue: boolean;
}

interface PruneArguments extends WriteArguments {
  readonly filter?: Maybe<'INACTIVE' | 'GHOSTS' | 'NEVER_ACTIVE'>;
  readonly olderThanDays?: Maybe<number>;
  readonly source?: Maybe<string>;
  readonly closeStale?: Maybe<boolean>;
  readonly expectedIds?: Maybe<readonly string[]>;
}

export async function pruneSessions(args: PruneArguments, ctx: Context): Promise<PrunePayload> {
  const result = await write(ctx, 'pruneSessions', args, {
    filter: args.filter ?? 'INACTIVE',
    olderThanDays: args.olderThanDays ?? DEFAULT_RETENTION_DAYS,
    source: args.source ?? null,
    closeStale: args.closeStale ?? false,
    expectedIds: args.expectedIds ?? null,
  });
  return { ...result, dryRun: args.dryRun ?? false };
}

export interface SweepPayload extends WritePayload {
  readonly sessionIds: readonly string[];
  readonly tipIds: readonly string[];
}

interface SweepArguments extends WriteArguments {
  readonly idleDays?: Maybe<number>;
  readonly expectedIds?: Maybe<readonly string[]>;
}

export function archiveStaleSessions(args: SweepArguments, ctx: Context): Promise<SweepPayload> {
  const idleDays = args.idleDays ?? DEFAULT_IDLE_DAYS;
  return write(ctx, 'archiveStaleSessions', args, { idleDays, expectedIds: args.expectedIds ?? null });
}

export interface FinalizePayload extends WritePayload {
  readonly sessionIds: readonly string[];
}

export function finalizeOrphanedCompressions(args: WriteArguments, ctx: Context): Promise<FinalizePayload> {
  return write(ctx, 'finalizeOrphanedCompressions', args, {});
}

export interface ImportPayload extends WritePayload {
  readonly importedIds: readonly string[];
  readonly skippedIds: readonly string[];
  readonly detachedIds: readonly string[];
  readonly retitledIds: readonly string[];
  readonly messageCount: number;
}

export function importSessions(args: WriteArguments & { readonly sessions: readonly unknown[] }, ctx: Context): Promise<ImportPayload> {
  return write(ctx, 'importSessions', args, { sessions: args.sessions });
}
