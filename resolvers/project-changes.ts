/**
 * Changes of the Web UI's projects.
 */

import type { OwnedProject } from '../src/web-ui/projects/owned-projects.ts';
import type { SystemProject } from '../src/web-ui/projects/projects-file.ts';
import type { DeletedProject, ProjectResult, SystemProjectResult } from '../src/writing/project-commands.ts';
import type { Context } from './context.ts';
import { isAnswered, requireWebUi, writeFiles } from './file-writes.ts';
import type { WriteArguments, WritePayload } from './writes.ts';

export type ProjectPayload = ProjectResult & WritePayload;
export type SystemProjectPayload = SystemProjectResult & WritePayload;
export type DeletedProjectPayload = DeletedProject & WritePayload;

interface CreateArguments extends WriteArguments {
  readonly name: string;
  readonly color?: string | null | undefined;
}

export async function createProject(args: CreateArguments, ctx: Context): Promise<ProjectPayload> {
  if (!isAnswered(ctx, args)) await requireWebUi(ctx);
  return writeFiles(ctx, 'createProject', args, { name: args.name, color: args.color ?? null });
}

export async function ensureSystemProject(
  args: WriteArguments & { readonly system: SystemProject },
  ctx: Context,
): Promise<SystemProjectPayload> {
  if (!isAnswered(ctx, args)) await requireWebUi(ctx);
  return writeFiles(ctx, 'ensureSystemProject', args, { system: args.system });
}

interface RenameArguments extends CreateArguments {
  readonly projectId: string;
}

/** A colour that is left out stays; null takes it away. */
export async function renameProject(args: RenameArguments, ctx: Context): Promise<ProjectPayload> {
  const { projectId, name, color } = args;
  if (!isAnswered(ctx, args)) await requireWebUi(ctx);
  return writeFiles(ctx, 'renameProject', args, { projectId, name, color: color === undefined ? null : { color } });
}

export async function deleteProject(args: WriteArguments & { readonly projectId: string }, ctx: Context): Promise<DeletedProjectPayload> {
  if (!isAnswered(ctx, args)) await requireWebUi(ctx);
  return writeFiles(ctx, 'deleteProject', args, { projectId: args.projectId });
}

/** The project after the change; null after a dry run that would have made it, or when it is gone. */
export async function changedProject(
  payload: ProjectPayload | SystemProjectPayload,
  _: unknown,
  ctx: Context,
): Promise<OwnedProject | null> {
  return payload.projectId === null ? null : ctx.loaders(payload.profile).project.load(payload.projectId);
}
