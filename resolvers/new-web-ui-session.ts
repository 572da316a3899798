/**
 * New sessions of the Web UI.
 */
import type { NewWebUiSession } from '../src/writing/create-web-ui-session.ts';
import type { Context } from './context.ts';
import { isAnswered, requireProject, requireWebUi, writeFiles } from './file-writes.ts';
import type { WriteArguments, WritePayload } from './writes.ts';

type Maybe<T> = T | null | undefined;

export type NewWebUiSessionPayload = NewWebUiSession & WritePayload;

interface CreateArguments extends WriteArguments {
  readonly title?: Maybe<string>;
  readonly workspace?: Maybe<string>;
  readonly model?: Maybe<string>;
  readonly provider?: Maybe<string>;
  readonly projectId?: Maybe<string>;
  readonly personality?: Maybe<string>;
  readonly toolsets?: Maybe<readonly string[]>;
}

export async function createWebUiSession(args: CreateArguments, ctx: Context): Promise<NewWebUiSessionPayload> {
  const { profile } = await ctx.store(args.profile);
  if (!isAnswered(ctx, args)) {
    await requireWebUi(ctx);
    if (args.projectId != null) await requireProject(ctx, profile, args.projectId);
  }
  return writeFiles(ctx, 'createWebUiSession', args, {
    title: args.title ?? null,
    workspace: args.workspace ?? null,
    model: args.model ?? null,
    provider: args.provider ?? null,
    projectId: args.projectId ?? null,
    personality: args.personality ?? null,
    toolsets: args.toolsets ?? null,
  });
}
