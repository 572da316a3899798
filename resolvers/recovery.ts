/**
 * Turns that were cut off: what there is to say of them, and what settles them.
 */
import type { RunSummary } from '../src/live/journal/run-summary.ts';
import type { StoredSession } from '../src/session-store.ts';
import { originsOf } from '../src/state-db/listing.ts';
import { ownSidecars } from '../src/web-ui/own-sidecars.ts';
import type { JudgedTurn } from '../src/web-ui/recovery/judge-turn.ts';
import type { OutputPreview } from '../src/web-ui/recovery/output-preview.ts';
import type { SidecarPending } from '../src/web-ui/sidecar/sidecar-row.ts';
import { WriteRefused } from '../src/write-refused.ts';
import type { RecoveredMany, RecoveredSession } from '../src/writing/recovery-commands.ts';
import type { Context } from './context.ts';
import { isAnswered, requireFile, requireWebUi, writeFiles } from './file-writes.ts';
import { checkedCount } from './numbers.ts';
import type { WriteArguments, WritePayload } from './writes.ts';

type Maybe<T> = T | null | undefined;

export interface PendingTurn {
  readonly profile: string;
  readonly sessionId: string;
  readonly streamId: string | null;
  readonly pending: SidecarPending | null;
  readonly judged: JudgedTurn;
  /** Epoch seconds. */
  readonly now: number;
}

/** Null where neither a prompt waits nor a run is named; for a session without a file of the Web UI too. */
export async function pendingTurn(session: StoredSession, _: unknown, ctx: Context): Promise<PendingTurn | null> {
  if (!originsOf(session).includes('WEB_UI')) return null;
  const loaders = ctx.loaders(session.profile);
  const row = await loaders.sidecar.load(session.id);
  if (row === null || (row.pending === null && row.activeStreamId === null)) return null;
  const judged = await loaders.judgedTurn.load(session.id);
  if (judged === null) return null;
  const { pending, activeStreamId } = row;
  return { profile: session.profile, sessionId: session.id, streamId: activeStreamId, pending, judged, now: Date.now() / 1000 };
}

/** Null without a journal of the run. */
export function recoverableOutput({ profile, sessionId, streamId }: PendingTurn, _: unknown, ctx: Context): Promise<OutputPreview | null> {
  return streamId === null ? Promise.resolve(null) : preview(ctx, profile, sessionId, streamId);
}

/** Journals are one folder for all profiles: any writing process can read them. */
export async function outputOfRun({ sessionId, runId }: RunSummary, _: unknown, ctx: Context): Promise<OutputPreview | null> {
  return preview(ctx, (await ctx.store(null)).profile, sessionId, runId);
}

async function preview(ctx: Context, profile: string, sessionId: string, runId: string): Promise<OutputPreview | null> {
  const { path } = await ctx.store(profile);
  const envelope = { dryRun: true, clientMutationId: null };
  return ctx.services.writers.run({ profile, path }, 'previewRunOutput', { sessionId, runId }, envelope);
}

export type RecoveryPayload = RecoveredSession & WritePayload & { readonly dryRun: boolean };

interface RecoverArguments extends WriteArguments {
  readonly sessionId: string;
  readonly force?: Maybe<boolean>;
  readonly ignoreCore?: Maybe<boolean>;
  readonly touchUpdatedAt?: Maybe<boolean>;
  readonly includeIdle?: Maybe<boolean>;
}

type Recovery = 'repairStalePending' | 'clearStaleStream' | 'retryJournalRecovery' | 'syncSidecarFromStateDb';

export const repairStalePending = recovering('repairStalePending');
export const clearStaleStream = recovering('clearStaleStream');
export const retryJournalRecovery = recovering('retryJournalRecovery');
export const syncSidecarFromStateDb = recovering('syncSidecarFromStateDb');

function recovering(command: Recovery) {
  return async (args: RecoverArguments, ctx: Context): Promise<RecoveryPayload> => {
    const { sessionId } = args;
    const { profile } = await ctx.store(args.profile);
    if (!isAnswered(ctx, args)) await requireFile(ctx, profile, sessionId);
    const result = await writeFiles(ctx, command, args, { sessionId, ...optionsOf(args) });
    return { ...result, dryRun: args.dryRun ?? false };
  };
}

function optionsOf({ force, ignoreCore, touchUpdatedAt, includeIdle }: Omit<RecoverArguments, 'sessionId'>) {
  return {
    force: force ?? false,
    ignoreCore: ignoreCore ?? false,
    touchesUpdatedAt: touchUpdatedAt ?? false,
    includeIdle: includeIdle ?? false,
  };
}

export async function undoSidecarTurns(
  args: WriteArguments & { readonly sessionId: string; readonly turns?: Maybe<number> },
  ctx: Context,
): Promise<RecoveryPayload> {
  const { sessionId } = args;
  const turns = args.turns ?? 1;
  if (turns < 1) throw new WriteRefused('VALIDATION', 'At least one turn is taken back.');
  const { profile } = await ctx.store(args.profile);
  if (!isAnswered(ctx, args)) await requireFile(ctx, profile, sessionId);
  const result = await writeFiles(ctx, 'undoSidecarTurns', args, { sessionId, turns });
  return { ...result, dryRun: args.dryRun ?? false };
}

const MOST_AT_ONCE = 500;

export type ManyPayload = WritePayload & { readonly recoveries: readonly RecoveryPayload[] } & Pick<RecoveredMany, 'failed'>;

interface ManyArguments extends Omit<RecoverArguments, 'sessionId'> {
  readonly sessionIds?: Maybe<readonly string[]>;
}

/** Without ids every session of the profile that a prompt waits in. */
export async function repairStalePendingMany(args: ManyArguments, ctx: Context): Promise<ManyPayload> {
  const { profile } = await ctx.store(args.profile);
  const dryRun = args.dryRun ?? true;
  const facts = await ctx.services.webUiHome.facts();
  if (facts === null && !isAnswered(ctx, args)) await requireWebUi(ctx);
  const own = ownSidecars(facts?.sidecars.rows ?? new Map(), profile, await ctx.services.profiles.names());
  const named = args.sessionIds ?? [...own.values()].filter(({ pending }) => pending !== null).map(({ id }) => id);
  checkedCount('sessionIds', named.length, MOST_AT_ONCE);
  const sessionIds = [...new Set(named)].filter((id) => own.has(id)).sort();
  const { recoveries, failed, ...identity } = await writeFiles(
    ctx,
    'repairStalePendingMany',
    { ...args, dryRun },
    {
      sessionIds,
      ...optionsOf(args),
    },
  );
  const missing = named.filter((id) => !own.has(id));
  return {
    ...identity,
    recoveries: recoveries.map((recovery) => ({ ...recovery, ...identity, dryRun })),
    failed: [...failed, ...missing.map((sessionId) => ({ sessionId, code: 'SIDECAR_MISSING', message: 'The session has no file.' }))],
  };
}
