/**
 * Undoing turns, and taking that back.
 */
import type { StoredMessage } from '../src/session-store.ts';
import type { RestoredRewind } from '../src/state-db/write/restore-rewind.ts';
import type { RewoundSession } from '../src/state-db/write/rewind-session.ts';
import type { Context } from './context.ts';
import { type WriteArguments, type WritePayload, write } from './writes.ts';

export interface RewindArguments extends WriteArguments {
  readonly sessionId: string;
  readonly turns?: number | null | undefined;
  readonly expectedRevision?: string | null | undefined;
  readonly expectedActiveIds?: readonly string[] | null | undefined;
  readonly expectedTargetId?: string | null | undefined;
  readonly requireRetryable?: boolean | null | undefined;
  readonly leaseToken?: string | null | undefined;
}

export type RewindPayload = RewoundSession & WritePayload;

export function rewindSession(args: RewindArguments, ctx: Context): Promise<RewindPayload> {
  return write(ctx, 'rewindSession', args, {
    sessionId: args.sessionId,
    turns: args.turns ?? 1,
    expectedRevision: args.expectedRevision ?? null,
    expectedActiveIds: args.expectedActiveIds ?? null,
    expectedTargetId: args.expectedTargetId ?? null,
    requireRetryable: args.requireRetryable ?? false,
    leaseToken: args.leaseToken ?? null,
  });
}

export function newHead({ profile, newHeadId }: RewindPayload, _: unknown, ctx: Context): Promise<StoredMessage | null> | null {
  return newHeadId === null ? null : ctx.loaders(profile).message.load(newHeadId);
}

export function replacementMessage(
  { profile, replacementId }: RewindPayload,
  _: unknown,
  ctx: Context,
): Promise<StoredMessage | null> | null {
  return replacementId === null ? null : ctx.loaders(profile).message.load(replacementId);
}

export interface RestoreArguments extends WriteArguments {
  readonly receipt: string;
  readonly leaseToken?: string | null | undefined;
}

export type RestorePayload = RestoredRewind & WritePayload;

export function restoreRewind(args: RestoreArguments, ctx: Context): Promise<RestorePayload> {
  return write(ctx, 'restoreRewind', args, { receipt: args.receipt, leaseToken: args.leaseToken ?? null });
}
