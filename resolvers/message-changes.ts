/**
 * Changes of one message: a person's words, reactions, what the provider was given.
 */

import type { StoredMessage } from '../src/session-store.ts';
import type { ApiContentResult } from '../src/state-db/write/api-content.ts';
import type { SetReaction, TakenReactions } from '../src/state-db/write/reactions.ts';
import type { ChangedUserRow } from '../src/state-db/write/user-messages.ts';
import { WriteRefused } from '../src/write-refused.ts';
import type { Context } from './context.ts';
import { checkedRowId, leaseOf } from './row-input.ts';
import { transcriptMessage } from './transcript-input.ts';
import { type WriteArguments, type WritePayload, write } from './writes.ts';

interface UserRowArguments extends WriteArguments {
  readonly rowId: string;
  readonly rowVersion: string;
  readonly leaseToken?: string | null | undefined;
}

export type UserRowPayload = ChangedUserRow & WritePayload;

export async function editUserMessage(args: UserRowArguments & { readonly content?: unknown }, ctx: Context): Promise<UserRowPayload> {
  const { rowVersion, content } = args;
  if (content === null || content === undefined) throw new WriteRefused('VALIDATION', 'content is text or a list of parts.');
  transcriptMessage({ role: 'user', content }, 'content');
  return write(ctx, 'editUserMessage', args, { rowId: checkedRowId(args.rowId), rowVersion, content, lease: leaseOf(args) });
}

export async function deactivateMessage(args: UserRowArguments, ctx: Context): Promise<UserRowPayload> {
  const { rowVersion } = args;
  return write(ctx, 'deactivateMessage', args, { rowId: checkedRowId(args.rowId), rowVersion, lease: leaseOf(args) });
}

interface ApiContentArguments extends WriteArguments {
  readonly sessionId: string;
  readonly rowId?: string | null | undefined;
  readonly content?: unknown;
  readonly apiContent?: string | null | undefined;
}

export type ApiContentPayload = ApiContentResult & WritePayload;

export async function setApiContent(args: ApiContentArguments, ctx: Context): Promise<ApiContentPayload> {
  const { sessionId, content, apiContent } = args;
  transcriptMessage({ role: 'user', content, apiContent }, 'input');
  const rowId = args.rowId == null ? null : checkedRowId(args.rowId);
  return write(ctx, 'setApiContent', args, { sessionId, rowId, content: content ?? null, apiContent: apiContent ?? null });
}

const LONGEST_EMOJI = 64;
const AUTHOR = /^[A-Za-z0-9_.:@-]{1,128}$/;
const ODD_CHARACTER = /\p{Cc}/u;

interface ReactionArguments extends WriteArguments {
  readonly sessionId: string;
  readonly rowId: string;
  readonly desired?: string | null | undefined;
  readonly author?: string | null | undefined;
}

export type ReactionPayload = SetReaction & WritePayload;

export async function setMessageReaction(args: ReactionArguments, ctx: Context): Promise<ReactionPayload> {
  const { sessionId } = args;
  const desired = args.desired ?? null;
  const author = args.author ?? 'user';
  const isOdd = desired !== null && (ODD_CHARACTER.test(desired) || !desired.isWellFormed() || desired.trim() === '');
  if (isOdd || (desired ?? '').length > LONGEST_EMOJI)
    throw new WriteRefused('VALIDATION', `desired is an emoji of at most ${LONGEST_EMOJI} characters.`);
  if (!AUTHOR.test(author)) throw new WriteRefused('VALIDATION', 'author is up to 128 letters, digits and _ . : @ -');
  return write(ctx, 'setMessageReaction', args, { sessionId, rowId: checkedRowId(args.rowId), desired, author });
}

export type UnseenPayload = TakenReactions & WritePayload;

export function takeUnseenReactions(args: WriteArguments & { readonly sessionId: string }, ctx: Context): Promise<UnseenPayload> {
  return write(ctx, 'takeUnseenReactions', args, { sessionId: args.sessionId });
}

/** The row that a payload names, as it is after the change; null when it is gone, or none was named. */
export async function messageOf(
  payload: WritePayload & { readonly rowId: string | null },
  _: unknown,
  ctx: Context,
): Promise<StoredMessage | null> {
  return payload.rowId === null ? null : ctx.loaders(payload.profile).message.load(payload.rowId);
}
