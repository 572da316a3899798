/**
 * Bringing lost or shrunken files of the Web UI back, and going on from an exhausted session.
 */
import type { RestoreObjection } from '../src/web-ui/backup.ts';
import { FOCUSED_CONTINUATION, isExhausted } from '../src/web-ui/compression-recovery.ts';
import { ownProfile } from '../src/web-ui/own-sidecars.ts';
import { WriteRefused } from '../src/write-refused.ts';
import type { Materialization, MaterializedSession as Materialized } from '../src/writing/materialize-sidecars.ts';
import type { LeftSession as Left, SafeRepair } from '../src/writing/repair-safe.ts';
import type { RestoredSession } from '../src/writing/restore-from-backup.ts';
import type { StartedRecovery } from '../src/writing/start-compression-recovery.ts';
import type { Context } from './context.ts';
import { isAnswered, requireFile, requireWebUi, writeFiles } from './file-writes.ts';
import type { WriteArguments, WritePayload } from './writes.ts';

type Maybe<T> = T | null | undefined;

export type { RestoreObjection };
export type RestoredPayload = RestoredSession & WritePayload;
export type MaterializedPayload = Materialization & WritePayload;
/** For the session behind it. */
export type MaterializedSession = Materialized & WritePayload;
export type RepairPayload = SafeRepair & WritePayload;
export type LeftSession = Left;
export type StartedPayload = StartedRecovery & WritePayload;

interface RestoreArguments extends WriteArguments {
  readonly sessionId: string;
  readonly force?: Maybe<boolean>;
  readonly ifSignature?: Maybe<string>;
}

export async function restoreFromBackup(args: RestoreArguments, ctx: Context): Promise<RestoredPayload> {
  const { sessionId, force, ifSignature = null } = args;
  const { profile } = await ctx.store(args.profile);
  if (!isAnswered(ctx, args)) {
    await requireWebUi(ctx);
    if (await isBusy(ctx, profile, sessionId)) throw new WriteRefused('SESSION_BUSY');
  }
  const profiles = await ctx.services.profiles.names();
  return writeFiles(ctx, 'restoreFromBackup', args, { sessionId, force: force ?? false, ifSignature, profiles });
}

export async function materializeSidecars(
  args: WriteArguments & { readonly ids?: Maybe<readonly (string | number)[]> },
  ctx: Context,
): Promise<MaterializedPayload> {
  if (!isAnswered(ctx, args)) await requireWebUi(ctx);
  return writeFiles(ctx, 'materializeSidecars', args, { ids: args.ids?.map(String) ?? null });
}

export function materializedSessions({ sessions, profile, clientMutationId }: MaterializedPayload): MaterializedSession[] {
  return sessions.map((session) => ({ ...session, profile, clientMutationId }));
}

export async function repairSafe(args: WriteArguments, ctx: Context): Promise<RepairPayload> {
  const { profile } = await ctx.store(args.profile);
  if (!isAnswered(ctx, args)) await requireWebUi(ctx);
  return writeFiles(ctx, 'repairSafe', args, { busyIds: await busyIds(ctx, profile) });
}

export async function startCompressionRecovery(
  args: WriteArguments & { readonly sessionId: string },
  ctx: Context,
): Promise<StartedPayload> {
  const { sessionId, clientMutationId = null } = args;
  const { profile } = await ctx.store(args.profile);
  if (!isAnswered(ctx, args)) {
    const source = await requireFile(ctx, profile, sessionId);
    // The Web UI may have begun one just now.
    ctx.services.webUiHome.invalidate();
    const childId = await ctx.loaders(profile).recoveryChild.load(sessionId);
    if (childId !== null && isExhausted(source.compressionRecovery))
      return { created: false, sessionId: childId, sourceSessionId: sessionId, action: FOCUSED_CONTINUATION, profile, clientMutationId };
  }
  return writeFiles(ctx, 'startCompressionRecovery', args, { sessionId, profiles: await ctx.services.profiles.names() });
}

/** Whether a turn runs in the session, which owns the next save of its file. */
async function isBusy(ctx: Context, profile: string, sessionId: string): Promise<boolean> {
  const state = (await ctx.loaders(profile).liveness.load(sessionId))?.state;
  return state === 'LIVE' || state === 'STARTING';
}

/** Sessions whose files name a run that goes on; of other profiles all whose files name one. */
async function busyIds(ctx: Context, profile: string): Promise<string[]> {
  // A turn may have begun just now.
  ctx.services.webUiHome.invalidate();
  const facts = await ctx.services.webUiHome.facts();
  const isOwn = ownProfile(profile, await ctx.services.profiles.names());
  const named = [...(facts?.sidecars.rows.values() ?? [])].filter(({ activeStreamId }) => activeStreamId !== null);
  const busy = await Promise.all(named.map((row) => (isOwn(row.profile) ? isBusy(ctx, profile, row.id) : true)));
  return named.flatMap(({ id }, index) => (busy[index] === true ? [id] : []));
}
