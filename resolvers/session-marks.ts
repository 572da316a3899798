/**
 * Titles and flags of sessions.
 */
import type { TitleSource } from '../src/state-db/write/session-title.ts';
import type { Context } from './context.ts';
import { type WriteArguments, type WritePayload, write } from './writes.ts';

type Maybe<T> = T | null | undefined;

export interface TitlePayload extends WritePayload {
  readonly sessionId: string;
  readonly changed: boolean;
  readonly transferredFrom: string | null;
}

interface TitleArguments extends WriteArguments {
  readonly sessionId: string;
  readonly title?: Maybe<string>;
  readonly source?: Maybe<TitleSource>;
  readonly expectedTitle?: Maybe<string>;
}

/** An `expectedTitle` that is left out is none; null expects that there is no title. */
export function setSessionTitle(args: TitleArguments, ctx: Context): Promise<TitlePayload> {
  return write(ctx, 'setSessionTitle', args, {
    sessionId: args.sessionId,
    title: args.title ?? null,
    source: args.source ?? 'user',
    expected: args.expectedTitle === undefined ? null : { title: args.expectedTitle },
  });
}

export interface ArchivedPayload extends WritePayload {
  readonly sessionId: string;
  readonly sessionIds: readonly string[];
  readonly archived: boolean;
}

interface ArchivedArguments extends WriteArguments {
  readonly sessionId: string;
  readonly archived: boolean;
  readonly expectedCascade?: Maybe<readonly string[]>;
}

export function setSessionArchived(args: ArchivedArguments, ctx: Context): Promise<ArchivedPayload> {
  const { sessionId, archived } = args;
  return write(ctx, 'setSessionArchived', args, { sessionId, archived, expectedCascade: args.expectedCascade ?? null });
}

export interface FlagsPayload extends WritePayload {
  readonly sessionId: string;
  readonly sessionIds: readonly string[];
}

interface FlagsArguments extends WriteArguments {
  readonly sessionId: string;
  readonly pinned?: Maybe<boolean>;
  readonly hidden?: Maybe<boolean>;
  readonly read?: Maybe<boolean>;
}

export function setSessionFlags(args: FlagsArguments, ctx: Context): Promise<FlagsPayload> {
  return write(ctx, 'setSessionFlags', args, {
    sessionId: args.sessionId,
    pinned: args.pinned ?? null,
    hidden: args.hidden ?? null,
    read: args.read ?? null,
  });
}
