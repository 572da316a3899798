/**
 * The rows of a session as the Web UI reads them, in figures: rounds, counts, what proves that an end can be read alone, the agent's revision.
 */
import type { StoredSession } from '../src/session-store.ts';
import { transcriptTooLarge } from '../src/state-db/message-store.ts';
import type { TranscriptRevision } from '../src/web-ui/transcript/revision.ts';
import { HANDOFF_ROUNDS } from '../src/web-ui/transcript/rounds.ts';
import type { PrefixSummary, SessionSummary } from '../src/web-ui/transcript/session-summaries.ts';
import type { Context } from './context.ts';

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
