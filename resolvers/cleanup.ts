/**
 * What deletions leave behind, and journals deleted by themselves.
 */
import { dirname } from 'node:path';
import { type CleanupManifest, cleanupManifests as readManifests } from '../src/web-ui/deletion/cleanup-manifests.ts';
import { WriteRefused } from '../src/write-refused.ts';
import type { DeletedJournal, DrainedManifests } from '../src/writing/journal-commands.ts';
import type { Context } from './context.ts';
import { filesOf, isAnswered, requireWebUi, writeFiles } from './file-writes.ts';
import { turnRefusal } from './session-deletion.ts';
import type { WriteArguments, WritePayload } from './writes.ts';

type Maybe<T> = T | null | undefined;

export type Manifest = CleanupManifest;
export type JournalPayload = DeletedJournal & WritePayload;
export type DrainPayload = DrainedManifests & WritePayload;

export async function cleanupManifests(_: unknown, args: { profile?: Maybe<string> }, ctx: Context): Promise<readonly Manifest[]> {
  const { path } = await ctx.store(args.profile);
  return readManifests(dirname(path));
}

export function drainCleanupManifests(args: WriteArguments, ctx: Context): Promise<DrainPayload> {
  return writeFiles(ctx, 'drainCleanupManifests', args, {});
}

interface JournalArguments extends WriteArguments {
  readonly sessionId: string;
  readonly force?: Maybe<boolean>;
}

export function deleteRunJournal(args: JournalArguments, ctx: Context): Promise<JournalPayload> {
  return deleteJournal('deleteRunJournal', args, ctx);
}

export function deleteTurnJournal(args: JournalArguments, ctx: Context): Promise<JournalPayload> {
  return deleteJournal('deleteTurnJournal', args, ctx);
}

/** A session that is gone has no turn, whatever its journals say. */
async function deleteJournal(
  command: 'deleteRunJournal' | 'deleteTurnJournal',
  args: JournalArguments,
  ctx: Context,
): Promise<JournalPayload> {
  const { profile } = await ctx.store(args.profile);
  const { sessionId } = args;
  if (!isAnswered(ctx, args)) {
    await requireWebUi(ctx);
    await refuseOtherProfile(ctx, profile, sessionId);
    const isThere = (await ctx.loaders(profile).session.load(sessionId)) !== null;
    const refusal = isThere ? await turnRefusal(ctx, profile, sessionId, args.force ?? false) : null;
    if (refusal !== null) throw refusal;
  }
  return writeFiles(ctx, command, args, { sessionId });
}

/** Nothing is known here of the turns of another profile's session. Throws NOT_FOUND. */
async function refuseOtherProfile(ctx: Context, profile: string, sessionId: string): Promise<void> {
  const hasFile = (await ctx.services.webUiHome.sidecars.get(sessionId)) !== null;
  if (hasFile && (await filesOf(ctx, profile, [sessionId])).length === 0) throw new WriteRefused('NOT_FOUND');
}
