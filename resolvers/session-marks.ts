/**
 * Titles and flags of sessions, in the store and in the Web UI's files.
 */
import type { TitleSource } from '../src/state-db/write/session-title.ts';
import type { Context } from './context.ts';
import { filesOf, isAnswered, requirePinQuota } from './file-writes.ts';
import { type FileChange, inBothPlaces } from './sidecar-changes.ts';
import { type WriteArguments, type WritePayload, write } from './writes.ts';

type Maybe<T> = T | null | undefined;

export interface TitlePayload extends WritePayload {
  readonly sessionId: string;
  readonly changed: boolean;
  readonly transferredFrom: string | null;
  readonly files: readonly FileChange[];
}

interface TitleArguments extends WriteArguments {
  readonly sessionId: string;
  readonly title?: Maybe<string>;
  readonly source?: Maybe<TitleSource>;
  readonly expectedTitle?: Maybe<string>;
}

/** An `expectedTitle` that is left out is none; null expects that there is no title. */
export async function setSessionTitle(args: TitleArguments, ctx: Context): Promise<TitlePayload> {
  const { sessionId, title = null } = args;
  const source = args.source ?? 'user';
  const expected = args.expectedTitle === undefined ? null : { title: args.expectedTitle };
  const { stored, files, ...identity } = await inBothPlaces(ctx, args, {
    store: () => write(ctx, 'setSessionTitle', args, { sessionId, title, source, expected }),
    fileIds: () => [sessionId],
    file: { changes: { title, titleBy: source === 'user' ? 'USER' : 'PROGRAM' }, expected, yieldsToPerson: source !== 'user' },
    // A title that ranks too low changes nothing anywhere.
    leavesFiles: ({ changed }) => !changed && source !== 'user',
  });
  const changed = stored?.changed === true || files.some((file) => file.changed);
  return { ...identity, sessionId, changed, transferredFrom: stored?.transferredFrom ?? null, files };
}

export interface ArchivedPayload extends WritePayload {
  readonly sessionId: string;
  readonly sessionIds: readonly string[];
  readonly files: readonly FileChange[];
}

interface ArchivedArguments extends WriteArguments {
  readonly sessionId: string;
  readonly archived: boolean;
  readonly expectedCascade?: Maybe<readonly string[]>;
}

export async function setSessionArchived(args: ArchivedArguments, ctx: Context): Promise<ArchivedPayload> {
  const { sessionId, archived } = args;
  const { stored, files, ...identity } = await inBothPlaces(ctx, args, {
    store: () => write(ctx, 'setSessionArchived', args, { sessionId, archived, expectedCascade: args.expectedCascade ?? null }),
    fileIds: (found) => found?.sessionIds ?? segmentIds(args, ctx),
    file: { changes: { archived } },
  });
  return { ...identity, sessionId, sessionIds: stored?.sessionIds ?? files.map((file) => file.sessionId), files };
}

export interface FlagsPayload extends WritePayload {
  readonly sessionId: string;
  readonly sessionIds: readonly string[];
  readonly files: readonly FileChange[];
}

interface FlagsArguments extends WriteArguments {
  readonly sessionId: string;
  readonly pinned?: Maybe<boolean>;
  readonly hidden?: Maybe<boolean>;
  readonly read?: Maybe<boolean>;
}

/** Files know pins alone. */
export async function setSessionFlags(args: FlagsArguments, ctx: Context): Promise<FlagsPayload> {
  const { sessionId } = args;
  const pinned = args.pinned ?? null;
  const { profile } = await ctx.store(args.profile);
  if (pinned === true && !isAnswered(ctx, args) && (await filesOf(ctx, profile, [sessionId])).length > 0) {
    await requirePinQuota(ctx, profile, sessionId);
  }
  const { stored, files, ...identity } = await inBothPlaces(ctx, args, {
    store: () => write(ctx, 'setSessionFlags', args, { sessionId, pinned, hidden: args.hidden ?? null, read: args.read ?? null }),
    fileIds: (found) => (pinned === null && found !== null ? [] : pinned === false && found !== null ? found.sessionIds : [sessionId]),
    file: { changes: pinned === null ? {} : { pinned } },
  });
  return { ...identity, sessionId, sessionIds: stored?.sessionIds ?? files.map((file) => file.sessionId), files };
}

/** The segments of a conversation that only files have. */
async function segmentIds({ sessionId, profile }: ArchivedArguments, ctx: Context): Promise<string[]> {
  const store = await ctx.store(profile);
  const found = await ctx.loaders(store.profile).conversation.load(sessionId);
  return found === null ? [sessionId] : found.segments.map(({ id }) => id);
}
