/**
 * Sessions created, ended and opened again; routes put right.
 */
import type { Context } from './context.ts';
import { type WriteArguments, type WritePayload, write } from './writes.ts';

type Maybe<T> = T | null | undefined;

export interface CreatePayload extends WritePayload {
  readonly sessionId: string;
  readonly created: boolean;
}

interface CreateArguments extends WriteArguments {
  readonly id?: Maybe<string>;
  readonly source?: Maybe<string>;
  readonly model?: Maybe<string>;
  readonly parentSessionId?: Maybe<string>;
  readonly title?: Maybe<string>;
  readonly cwd?: Maybe<string>;
  readonly kind?: Maybe<'ROOT' | 'BRANCH'>;
  readonly modelConfig?: unknown;
  readonly systemPrompt?: Maybe<string>;
}

/** The source of sessions whose creator names none. */
export const DEFAULT_SOURCE = 'api_server';

export function createSession(args: CreateArguments, ctx: Context): Promise<CreatePayload> {
  return write(ctx, 'createSession', args, {
    id: args.id ?? null,
    source: args.source ?? DEFAULT_SOURCE,
    model: args.model ?? null,
    parentSessionId: args.parentSessionId ?? null,
    title: args.title ?? null,
    cwd: args.cwd ?? null,
    kind: args.kind ?? 'ROOT',
    modelConfig: args.modelConfig ?? null,
    systemPrompt: args.systemPrompt ?? null,
  });
}

export interface ChangedPayload extends WritePayload {
  readonly sessionId: string;
  readonly changed: boolean;
}

export function endSession(
  args: WriteArguments & { readonly sessionId: string; readonly reason: string },
  ctx: Context,
): Promise<ChangedPayload> {
  return write(ctx, 'endSession', args, { sessionId: args.sessionId, reason: args.reason });
}

export function markSessionReset(
  args: WriteArguments & { readonly sessionId: string; readonly reason?: Maybe<string> },
  ctx: Context,
): Promise<ChangedPayload> {
  return write(ctx, 'markSessionReset', args, { sessionId: args.sessionId, reason: args.reason ?? 'session_reset' });
}

export interface ReopenPayload extends ChangedPayload {
  readonly clearedReason: string | null;
}

interface ReopenArguments extends WriteArguments {
  readonly sessionId: string;
  readonly explicitCloseOnly?: Maybe<boolean>;
  readonly expectedEndReason?: Maybe<string>;
}

export function reopenSession(args: ReopenArguments, ctx: Context): Promise<ReopenPayload> {
  return write(ctx, 'reopenSession', args, {
    sessionId: args.sessionId,
    explicitCloseOnly: args.explicitCloseOnly ?? false,
    expectedEndReason: args.expectedEndReason ?? null,
  });
}

export interface OrphanedParentPayload extends WritePayload {
  readonly sessionId: string;
  readonly reopened: boolean;
}

export function reopenOrphanedCompressionParent(
  args: WriteArguments & { readonly sessionId: string },
  ctx: Context,
): Promise<OrphanedParentPayload> {
  return write(ctx, 'reopenOrphanedCompressionParent', args, { sessionId: args.sessionId });
}

export interface HealPayload extends WritePayload {
  readonly scope: string;
  readonly sessionKey: string;
  readonly sessionId: string;
  readonly changed: boolean;
}

interface HealArguments extends WriteArguments {
  readonly sessionKey: string;
  readonly expectedSessionId: string;
  readonly scope?: Maybe<string>;
}

export function healCompressionRoute(args: HealArguments, ctx: Context): Promise<HealPayload> {
  const { sessionKey, expectedSessionId } = args;
  return write(ctx, 'healCompressionRoute', args, { sessionKey, expectedSessionId, scope: args.scope ?? null });
}
