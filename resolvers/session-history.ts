/**
 * The rows of a session as the Web UI reads them, in figures: rounds, counts, what proves that an end can be read alone, the agent's revision.
 */
import { InvalidInput } from '../src/errors.ts';
import type { FoundAnchor, ShownSnapshot, ShownTail } from '../src/session-history.ts';
import type { StoredSession } from '../src/session-store.ts';
import { inWindow } from '../src/state-db/decode.ts';
import { transcriptTooLarge } from '../src/state-db/message-store.ts';
import type { ContextDelta } from '../src/web-ui/file-jobs.ts';
import { anchorTime } from '../src/web-ui/transcript/compaction-anchor.ts';
import type { TranscriptRevision } from '../src/web-ui/transcript/revision.ts';
import { HANDOFF_ROUNDS } from '../src/web-ui/transcript/rounds.ts';
import type { PrefixSummary, SessionSummary } from '../src/web-ui/transcript/session-summaries.ts';
import { isMessage, textOf } from '../src/web-ui/transcript/values.ts';
import type { Context } from './context.ts';
import { sidecarOf } from './sidecar.ts';

export interface ConversationRounds {
  readonly count: number;
  readonly threshold: number;
  readonly shouldOfferHandoff: boolean;
}

/** `spec/webui-transcript.md` C25. */
export async function conversationRounds(
  session: StoredSession,
  args: { since?: number | null | undefined; activeOnly?: boolean | null | undefined },
  ctx: Context,
): Promise<ConversationRounds> {
  const key = { sessionId: session.id, since: args.since ?? null, activeOnly: args.activeOnly ?? true };
  const count = await ctx.loaders(session.profile).rounds.load(key);
  return { count, threshold: HANDOFF_ROUNDS, shouldOfferHandoff: count >= HANDOFF_ROUNDS };
}

/** C9. */
export async function messageSummary(session: StoredSession, _: unknown, ctx: Context): Promise<SessionSummary> {
  const found = await ctx.loaders(session.profile).messageSummary.load(session.id);
  return found ?? { messageCount: 0, activeCount: 0, lastMessageAt: 0 };
}

export function lastMessageAt({ lastMessageAt: time }: SessionSummary): number | null {
  return time === 0 ? null : inWindow(time);
}

export type MessagePrefix = PrefixSummary & { readonly session: StoredSession; readonly before: number };

/** C8; null where the store can't tell. */
export async function messagePrefix(session: StoredSession, { before }: { before: number }, ctx: Context): Promise<MessagePrefix | null> {
  const found = await ctx.loaders(session.profile).messagePrefix.load({ sessionId: session.id, before });
  return found === null ? null : { ...found, session, before };
}

/** Throws TRANSCRIPT_TOO_LARGE: every row is read for it. */
export function prefixKeys({ session, before, count }: MessagePrefix, _: unknown, ctx: Context): Promise<readonly string[] | null> {
  const { largest } = ctx.services.openSessions;
  if (largest > 0 && count > largest) throw transcriptTooLarge(largest);
  return ctx.loaders(session.profile).messagePrefixKeys.load({ sessionId: session.id, before });
}

/** C7. */
export function historyRevision(session: StoredSession, _: unknown, ctx: Context): Promise<TranscriptRevision | null> {
  return ctx.loaders(session.profile).historyRevision.load(session.id);
}

export interface StateMessagesArguments {
  readonly stitch?: boolean | null | undefined;
  readonly since?: number | null | undefined;
  readonly includeInactive?: boolean | null | undefined;
  readonly limit?: number | null | undefined;
}

/** C4, C5, C6. Throws `InvalidInput` for a limit below 1, TRANSCRIPT_TOO_LARGE. */
export function stateMessages(session: StoredSession, args: StateMessagesArguments, ctx: Context): Promise<ShownSnapshot> {
  const limit = args.limit ?? null;
  if (limit !== null && limit < 1) throw new InvalidInput(`limit must be 1 or more; it was ${limit}.`);
  const { stitch, since, includeInactive } = args;
  return ctx.loaders(session.profile).stateMessages.load({
    sessionId: session.id,
    stitch: stitch ?? false,
    since: since ?? null,
    includeInactive: includeInactive ?? false,
    limit,
  });
}

export interface Chain {
  readonly sessions: readonly StoredSession[];
  readonly truncated: boolean;
}

/** C6: oldest first, the session itself last. */
export async function continuationChain(session: StoredSession, _: unknown, ctx: Context): Promise<Chain> {
  const loaders = ctx.loaders(session.profile);
  const { ids, truncated } = (await loaders.continuationChain.load(session.id)) ?? { ids: [session.id], truncated: false };
  const found = await Promise.all(ids.map((id) => (id === session.id ? session : loaders.session.load(id))));
  return { sessions: found.flatMap((segment) => segment ?? []), truncated };
}

/** C10; null where nothing can be proven. Throws TRANSCRIPT_TOO_LARGE. */
export function regenerationTail(session: StoredSession, { floor }: { floor: number }, ctx: Context): Promise<ShownTail | null> {
  return ctx.loaders(session.profile).regenerationTail.load({ sessionId: session.id, floor });
}

export interface CompressionAnchor {
  readonly role: string;
  /** Epoch seconds. */
  readonly timestamp: number | null;
  readonly text: string;
  readonly found: FoundAnchor | null;
}

/** C18: the message up to which the Web UI compacted; null without a file or without an anchor in it. Throws TRANSCRIPT_TOO_LARGE. */
export async function compressionAnchor(session: StoredSession, _: unknown, ctx: Context): Promise<CompressionAnchor | null> {
  const anchor = (await sidecarOf(session, _, ctx))?.compression.anchorMessageKey;
  if (!isMessage(anchor)) return null;
  const time = anchorTime(anchor);
  const found = await ctx.loaders(session.profile).anchor.load({ sessionId: session.id, anchor });
  return { role: textOf(anchor.role), timestamp: time === null ? null : inWindow(time), text: textOf(anchor.text), found };
}

/** C17: the live rows that are newer than the context in the session's file; null without a file. Throws SIDECAR_..., TRANSCRIPT_TOO_LARGE. */
export async function contextDelta(session: StoredSession, _: unknown, ctx: Context): Promise<ContextDelta | null> {
  const file = await sidecarOf(session, _, ctx);
  return file === null ? null : ctx.loaders(session.profile).contextDelta.load({ sessionId: session.id, size: file.signature.size });
}
