/**
 * How mutations reach the Web UI's files: through the process that writes to the store of the profile, and seen by the next read.
 */

import { StoreUnreadable } from '../src/errors.ts';
import { pinQuota } from '../src/web-ui/list/pin-quota.ts';
import { ownProfile, ownSidecars } from '../src/web-ui/own-sidecars.ts';
import type { SidecarRow } from '../src/web-ui/sidecar/sidecar-row.ts';
import { WriteRefused } from '../src/write-refused.ts';
import type { CommandInput, CommandName, CommandResult } from '../src/writing/commands.ts';
import { findReceipt } from '../src/writing/receipts.ts';
import type { Context } from './context.ts';
import { sidecarMissing, unlessGone } from './lost-files.ts';
import { type WriteArguments, type WritePayload, write } from './writes.ts';

/** Runs a command on files. Throws `WriteRefused`. */
export async function writeFiles<K extends CommandName>(
  ctx: Context,
  command: K,
  args: WriteArguments,
  input: CommandInput<K>,
): Promise<CommandResult<K> & WritePayload> {
  try {
    return await write(ctx, command, args, input);
  } finally {
    if (args.dryRun !== true) ctx.services.webUiHome.changed();
  }
}

/**
 * Whether the mutation was done before, so that its answer is there whatever became of the session since: what is looked at before a command
 * is looked at once.
 */
export function isAnswered(ctx: Context, { clientMutationId }: WriteArguments): boolean {
  return clientMutationId != null && findReceipt(ctx.services.writers.receiptsPath, clientMutationId)?.state === 'DONE';
}

/** Throws NOT_FOUND where no Web UI keeps sessions. */
export async function requireWebUi(ctx: Context): Promise<void> {
  if ((await ctx.services.webUiHome.facts()) === null) throw new WriteRefused('NOT_FOUND', 'There is no Web UI.');
}

/** The files of these sessions that belong to the profile. */
export async function filesOf(ctx: Context, profile: string, ids: readonly string[]): Promise<SidecarRow[]> {
  const isOwn = ownProfile(profile, await ctx.services.profiles.names());
  const rows = await Promise.all(ids.map((id) => ctx.services.webUiHome.sidecars.get(id)));
  return rows.flatMap((row) => (row !== null && isOwn(row.profile) ? [row] : []));
}

/**
 * Throws NOT_FOUND for a session that is nowhere in the profile or was deleted in the Web UI, SIDECAR_MISSING for one that only the store has:
 * `materialisable` says whether `materializeSidecars` makes its file.
 */
export async function requireFile(ctx: Context, profile: string, sessionId: string): Promise<SidecarRow> {
  const [row] = await filesOf(ctx, profile, [sessionId]);
  if (row !== undefined) return row;
  const stored = await ctx.loaders(profile).session.load(sessionId);
  if (stored === null) throw new WriteRefused('NOT_FOUND');
  if (unlessGone(stored) === null) throw new WriteRefused('NOT_FOUND', 'It was deleted in the Web UI.', { details: { reason: 'DELETED' } });
  throw new WriteRefused('SIDECAR_MISSING', '', { details: { materialisable: await sidecarMissing(stored, undefined, ctx) } });
}

/** Throws NOT_FOUND for a project that is not the profile's. */
export async function requireProject(ctx: Context, profile: string, projectId: string): Promise<void> {
  const project = await ctx.loaders(profile).project.load(projectId);
  if (project === null) throw new WriteRefused('NOT_FOUND', 'There is no such project in this profile.');
}

/**
 * Throws PIN_LIMIT where as many conversations of the profile are pinned as the settings of the Web UI allow. Archived sessions and those that its
 * list leaves out as background work don't count (`spec/webui-listing.md` 13.5).
 */
export async function requirePinQuota(ctx: Context, profile: string, sessionId: string): Promise<void> {
  const facts = await ctx.services.webUiHome.facts();
  if (facts === null) return;
  const files = ownSidecars(facts.sidecars.rows, profile, await ctx.services.profiles.names());
  const pinned = [...files.values()].filter((row) => row.pinned && !row.archived);
  // Where the store can't be read each file counts for itself.
  const load = (id: string) => ctx.loaders(profile).session.load(id).catch(noneUnreadable);
  const [session, ...sessions] = await Promise.all([load(sessionId), ...pinned.map(({ id }) => load(id))]);
  const counted = pinned.flatMap(({ id }, at) => {
    const each = sessions[at] ?? null;
    return each?.beside?.unlisted === 'BACKGROUND' ? [] : [each?.conversationId ?? id];
  });
  const { allowed, used, limit } = pinQuota(session?.conversationId ?? sessionId, counted, facts.settings.pinnedLimit);
  if (!allowed) throw new WriteRefused('PIN_LIMIT', '', { details: { pinned: used, limit } });
}

function noneUnreadable(error: unknown): null {
  if (error instanceof StoreUnreadable) return null;
  throw error;
}
