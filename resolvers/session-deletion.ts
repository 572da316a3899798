/**
 * Deleting a session wherever it is kept, and what that would do.
 */
import { originsOf } from '../src/state-db/listing.ts';
import type { SessionFile } from '../src/web-ui/deletion/session-files.ts';
import { WriteRefused } from '../src/write-refused.ts';
import type { DeletionPreview, SessionDeletion } from '../src/writing/delete-session.ts';
import { findReceipt } from '../src/writing/receipts.ts';
import type { Context } from './context.ts';
import { writeFiles } from './file-writes.ts';
import { GONE_LIVENESS } from './stores.ts';
import type { WriteArguments, WritePayload } from './writes.ts';

type Maybe<T> = T | null | undefined;

interface DeleteArguments extends WriteArguments {
  readonly sessionId: string;
  readonly scope?: Maybe<'SEGMENT' | 'LINEAGE'>;
  readonly expectedDeleteIds?: Maybe<readonly string[]>;
  readonly onlyIfEmpty?: Maybe<boolean>;
  readonly keepStateDb?: Maybe<boolean>;
  readonly force?: Maybe<boolean>;
}

export interface DeletePayload extends WritePayload {
  readonly deletion: SessionDeletion;
  readonly dryRun: boolean;
}

/** The Web UI may write the file between the look at its turn and the deletion, this often. */
const TRIES = 5;
const MAY_RUN: ReadonlySet<string> = new Set(['SUSPECT', 'UNKNOWN']);
const RUNS: ReadonlySet<string> = new Set(['LIVE', 'STARTING']);

export async function deleteSession(args: DeleteArguments, ctx: Context): Promise<DeletePayload> {
  const { profile } = await ctx.store(args.profile);
  const { clientMutationId: id } = args;
  const question = await questionOf(args, ctx);
  const { profiles, keepStateDb, force, ...input } = question;
  // A repeat is answered whatever became of the session since.
  const isRepeat = id != null && findReceipt(ctx.services.writers.receiptsPath, id) !== null;
  let checked = isRepeat ? {} : await checkedFiles(args, ctx, profile, question);
  for (let tries = 1; ; tries += 1) {
    try {
      const { clientMutationId, ...deletion } = await writeFiles(ctx, 'deleteSession', args, {
        ...input,
        webUi: { profiles, keepStateDb, force, checked },
      });
      return { profile, clientMutationId, deletion, dryRun: args.dryRun ?? false };
    } catch (error) {
      if (!(error instanceof WriteRefused) || error.code !== 'CONFLICT' || tries >= TRIES) throw error;
      checked = await checkedFiles(args, ctx, profile, question);
    }
  }
}

type Question = Awaited<ReturnType<typeof questionOf>>;

async function questionOf(args: Omit<DeleteArguments, keyof WriteArguments>, ctx: Context) {
  return {
    sessionId: args.sessionId,
    scope: args.scope ?? 'SEGMENT',
    expectedDeleteIds: args.expectedDeleteIds ?? null,
    onlyIfEmpty: args.onlyIfEmpty ?? false,
    keepStateDb: args.keepStateDb ?? false,
    force: args.force ?? false,
    profiles: await ctx.services.profiles.names(),
  };
}

/** The signatures of the files that would go, after a look at their turns. Throws what speaks against deleting the session. */
async function checkedFiles(
  args: Pick<DeleteArguments, 'profile' | 'sessionId'>,
  ctx: Context,
  profile: string,
  question: Question,
): Promise<Record<string, string | null>> {
  ctx.reset();
  await refuseClaudeCode(ctx, profile, args.sessionId);
  const { webUi } = await preview(ctx, profile, question);
  for (const { id } of webUi?.targets ?? []) {
    const refusal = await turnRefusal(ctx, profile, id, question.force);
    if (refusal !== null) throw refusal;
  }
  return Object.fromEntries((webUi?.targets ?? []).map(({ id, signature }) => [id, signature]));
}

async function preview(ctx: Context, profile: string, question: Question): Promise<DeletionPreview> {
  const { path } = await ctx.store(profile);
  return ctx.services.writers.run({ profile, path }, 'previewDeletion', question, { dryRun: true, clientMutationId: null });
}

async function refuseClaudeCode(ctx: Context, profile: string, sessionId: string): Promise<void> {
  const session = await ctx.loaders(profile).session.load(sessionId);
  if (session === null || !originsOf(session).includes('CLAUDE_CODE')) return;
  throw new WriteRefused('SESSION_READ_ONLY', 'It is a transcript of Claude Code.');
}

/**
 * Why the session has to be left alone for a turn in its conversation, which may go on writing where it began: one that runs, or, unless
 * forced, one of which it can't be told.
 */
export async function turnRefusal(ctx: Context, profile: string, sessionId: string, force: boolean): Promise<WriteRefused | null> {
  const { conversation, liveness } = ctx.loaders(profile);
  const segments = (await conversation.load(sessionId))?.segments.map(({ id }) => id) ?? [];
  const states = await Promise.all(
    [...new Set([sessionId, ...segments])].map(async (id) => ({
      sessionId: id,
      state: ((await liveness.load(id)) ?? GONE_LIVENESS).state,
    })),
  );
  const running = states.find(({ state }) => RUNS.has(state));
  if (running !== undefined) return new WriteRefused('SESSION_BUSY', '', { details: running });
  const doubtful = force ? undefined : states.find(({ state }) => MAY_RUN.has(state));
  if (doubtful === undefined) return null;
  return new WriteRefused('SESSION_BUSY', 'Whether the turn still runs can not be told; force it if you know.', { details: doubtful });
}

export interface DeletePreviewPayload extends DeletionPreview {
  readonly sessionId: string;
}

export async function deletePreview(
  _: unknown,
  args: Omit<DeleteArguments, 'clientMutationId' | 'dryRun'>,
  ctx: Context,
): Promise<DeletePreviewPayload | null> {
  const { profile } = await ctx.store(args.profile);
  const question = await questionOf(args, ctx);
  try {
    const found = await preview(ctx, profile, question);
    const ids = found.webUi?.targets.map(({ id }) => id) ?? [];
    const turns = await Promise.all(ids.map((id) => turnRefusal(ctx, profile, id, question.force)));
    const more = [await refusalOf(() => refuseClaudeCode(ctx, profile, args.sessionId)), ...turns].flatMap((refusal) => refusal ?? []);
    return { ...found, sessionId: args.sessionId, refusals: [...more.map(told), ...found.refusals] };
  } catch (error) {
    if (!(error instanceof WriteRefused)) throw error;
    const claude = await refusalOf(() => refuseClaudeCode(ctx, profile, args.sessionId));
    if (error.code === 'NOT_FOUND' && claude === null) return null;
    return { sessionId: args.sessionId, deletedIds: [], orphanedIds: [], webUi: null, files: [], refusals: [told(claude ?? error)] };
  }
}

/** As a value: whatever is an Error would be thrown by the executor. */
function told({ code, message }: WriteRefused): DeletePreviewPayload['refusals'][number] {
  return { code, message };
}

async function refusalOf(look: () => Promise<void>): Promise<WriteRefused | null> {
  try {
    await look();
    return null;
  } catch (error) {
    if (error instanceof WriteRefused) return error;
    throw error;
  }
}

export type FileOfSession = SessionFile;
