/**
 * Changes of the file of one session.
 */
import { originsOf } from '../src/state-db/listing.ts';
import type { SessionChanges } from '../src/web-ui/sidecar/update-session.ts';
import { isSidecarId } from '../src/web-ui/sidecar-file.ts';
import { WriteRefused } from '../src/write-refused.ts';
import type { ImportedSession } from '../src/writing/import-session.ts';
import type { RecoveredWorkspace } from '../src/writing/recover-workspace.ts';
import type { FileResult } from '../src/writing/sidecar-commands.ts';
import type { Context } from './context.ts';
import { filesOf, isAnswered, requireFile, requirePinQuota, requireProject, requireWebUi, writeFiles } from './file-writes.ts';
import type { WriteArguments, WritePayload } from './writes.ts';

type Maybe<T> = T | null | undefined;

export type FilePayload = FileResult & WritePayload;

export interface FileArguments extends WriteArguments {
  readonly sessionId: string;
  readonly ifSignature?: Maybe<string>;
}

interface UpdateArguments extends FileArguments {
  readonly title?: Maybe<string>;
  readonly pinned?: Maybe<boolean>;
  readonly archived?: Maybe<boolean>;
  readonly projectId?: Maybe<string>;
  readonly personality?: Maybe<string>;
  readonly enabledToolsets?: Maybe<readonly string[]>;
  readonly composerDraft?: Maybe<{ readonly text?: Maybe<string>; readonly files?: Maybe<readonly unknown[]> }>;
}

export async function updateSession(args: UpdateArguments, ctx: Context): Promise<FilePayload> {
  const { sessionId } = args;
  const { profile } = await ctx.store(args.profile);
  if (!isAnswered(ctx, args)) {
    await requireFile(ctx, profile, sessionId);
    if (args.projectId) await requireProject(ctx, profile, args.projectId);
    if (args.pinned === true) await requirePinQuota(ctx, profile, sessionId);
  }
  return change(ctx, args, changesOf(args));
}

interface MoveArguments extends FileArguments {
  readonly projectId?: Maybe<string>;
}

export async function moveSession(args: MoveArguments, ctx: Context): Promise<FilePayload> {
  const { profile } = await ctx.store(args.profile);
  if (!isAnswered(ctx, args)) {
    await requireFile(ctx, profile, args.sessionId);
    if (args.projectId) await requireProject(ctx, profile, args.projectId);
  }
  return change(ctx, args, { projectId: args.projectId ?? null });
}

export async function clearWakeupPause(args: FileArguments, ctx: Context): Promise<FilePayload> {
  return oneFile(ctx, 'clearWakeupPause', args);
}

export async function persistCollapsedPartials(args: FileArguments, ctx: Context): Promise<FilePayload> {
  return oneFile(ctx, 'persistCollapsedPartials', args);
}

export type RecoveredPayload = RecoveredWorkspace & WritePayload;

export async function recoverWorkspace(
  args: WriteArguments & { readonly sessionId: string; readonly expected: string },
  ctx: Context,
): Promise<RecoveredPayload> {
  const { sessionId, expected } = args;
  const { profile } = await ctx.store(args.profile);
  if (!isAnswered(ctx, args)) await requireFile(ctx, profile, sessionId);
  return writeFiles(ctx, 'recoverWorkspace', args, { sessionId, expected });
}

export type ImportedPayload = ImportedSession & WritePayload;

/** A transcript of Claude Code is shown and never copied. */
export async function importSession(args: WriteArguments & { readonly sessionId: string }, ctx: Context): Promise<ImportedPayload> {
  const { sessionId, clientMutationId = null } = args;
  const { profile } = await ctx.store(args.profile);
  if (!isAnswered(ctx, args)) {
    await requireWebUi(ctx);
    const session = await ctx.loaders(profile).session.load(sessionId);
    if (session === null || !isSidecarId(sessionId)) throw new WriteRefused('NOT_FOUND');
    if (originsOf(session).every((origin) => origin === 'CLAUDE_CODE')) {
      const messageCount = session.beside?.messageCount ?? 0;
      const nothingDone = { imported: false, changed: false, addedMessages: 0, mayBeOverwritten: false };
      return { ...nothingDone, sessionId, readOnlyBecause: 'READ_ONLY', messageCount, profile, clientMutationId };
    }
  }
  return writeFiles(ctx, 'importSession', args, { sessionId, profiles: await ctx.services.profiles.names() });
}

async function oneFile(ctx: Context, command: 'clearWakeupPause' | 'persistCollapsedPartials', args: FileArguments): Promise<FilePayload> {
  const { profile } = await ctx.store(args.profile);
  if (!isAnswered(ctx, args)) await requireFile(ctx, profile, args.sessionId);
  return writeFiles(ctx, command, args, { sessionId: args.sessionId, ifSignature: args.ifSignature ?? null });
}

function changesOf(args: UpdateArguments): SessionChanges {
  const { title, pinned, archived, projectId, personality, enabledToolsets, composerDraft } = args;
  return {
    ...(title === undefined ? {} : { title }),
    ...(pinned == null ? {} : { pinned }),
    ...(archived == null ? {} : { archived }),
    ...(projectId === undefined ? {} : { projectId }),
    ...(personality === undefined ? {} : { personality }),
    ...(enabledToolsets === undefined ? {} : { enabledToolsets }),
    ...(composerDraft === undefined ? {} : { composerDraft: draftOf(composerDraft) }),
  };
}

/** No draft at all is an empty one. */
function draftOf(draft: UpdateArguments['composerDraft']): NonNullable<SessionChanges['composerDraft']> {
  if (draft == null) return { text: '', files: [] };
  return { ...(draft.text == null ? {} : { text: draft.text }), ...(draft.files == null ? {} : { files: draft.files }) };
}

function change(ctx: Context, args: FileArguments, changes: SessionChanges): Promise<FilePayload> {
  const { sessionId, ifSignature = null } = args;
  return writeFiles(ctx, 'updateSession', args, { sessionId, changes, ifSignature, expected: null, yieldsToPerson: false });
}

/** What became of the file of a session that was changed in the store too. */
export interface FileChange {
  readonly sessionId: string;
  readonly changed: boolean;
  readonly signature: string | null;
  readonly mayBeOverwritten: boolean;
  /** Why the file was not changed; null: it was, or says the same. */
  readonly refusal: { readonly code: string; readonly message: string } | null;
}

export interface BothPlaces<R> {
  /** What the store answered; null when it has no such session. */
  readonly stored: R | null;
  readonly files: readonly FileChange[];
}

/** How the file of a session is changed beside its row. */
export interface BesideRow {
  readonly changes: SessionChanges;
  readonly expected?: { readonly title: string | null } | null;
  readonly yieldsToPerson?: boolean;
}

/**
 * Changes a session where it is: in the store, then in its files, which tell for themselves where they could not be changed; the store's change
 * stands then. A session that only a file has is changed there, and what that is refused for is thrown. A repeat with the same
 * clientMutationId gets the store's first answer and goes on with the files.
 */
export async function inBothPlaces<R extends WritePayload>(
  ctx: Context,
  args: WriteArguments & { readonly sessionId: string },
  places: {
    readonly store: () => Promise<R>;
    /** The sessions whose files are concerned, after what the store answered. */
    readonly fileIds: (stored: R | null) => readonly string[] | Promise<readonly string[]>;
    readonly file: BesideRow;
    /** Whether the files are to be left as they are. */
    readonly leavesFiles?: (stored: R) => boolean;
  },
): Promise<BothPlaces<R> & WritePayload> {
  const { profile } = await ctx.store(args.profile);
  const identity = { profile, clientMutationId: args.clientMutationId ?? null };
  const hasFile = (await filesOf(ctx, profile, [args.sessionId])).length > 0;
  let stored: R | null = null;
  try {
    stored = await places.store();
  } catch (error) {
    if (!hasFile || !(error instanceof WriteRefused) || error.code !== 'NOT_FOUND') throw error;
  }
  if (stored !== null && places.leavesFiles?.(stored) === true) return { stored, files: [], ...identity };
  const own = await filesOf(ctx, profile, [...(await places.fileIds(stored))]);
  const files: FileChange[] = [];
  for (const { id } of own) files.push(await changeFile(ctx, args, id, places.file, stored === null && id === args.sessionId));
  return { stored, files, ...identity };
}

async function changeFile(
  ctx: Context,
  args: WriteArguments,
  sessionId: string,
  { changes, expected = null, yieldsToPerson = false }: BesideRow,
  mustSucceed: boolean,
): Promise<FileChange> {
  // The store's answer has the client's own id.
  const clientMutationId = args.clientMutationId == null ? null : `${args.clientMutationId}/file:${sessionId}`;
  try {
    const input = { sessionId, changes, ifSignature: null, expected: mustSucceed ? expected : null, yieldsToPerson };
    const { changed, signature, mayBeOverwritten } = await writeFiles(ctx, 'updateSession', { ...args, clientMutationId }, input);
    return { sessionId, changed, signature, mayBeOverwritten, refusal: null };
  } catch (error) {
    if (mustSucceed || !(error instanceof WriteRefused)) throw error;
    return { sessionId, changed: false, signature: null, mayBeOverwritten: false, refusal: { code: error.code, message: error.message } };
  }
}
