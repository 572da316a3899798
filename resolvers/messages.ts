/**
 * Messages of sessions, and the fields of a message.
 */

import { InvalidInput } from '../src/errors.ts';
import { type Page, type PageArguments, pageRequest } from '../src/paging.ts';
import type { MessageScope, MessagesQuery, StoredMessage, StoredSession, StoredTranscript } from '../src/session-store.ts';
import { type ContentPart, contentParts, contentText } from '../src/state-db/content.ts';
import { type DataWarning, isJsonObject, parseJson } from '../src/state-db/decode.ts';
import { transcriptTooLarge } from '../src/state-db/message-store.ts';
import { parseRowId } from '../src/state-db/messages.ts';
import { isSummaryCarrier } from '../src/state-db/summary-markers.ts';
import type { TranscriptView } from '../src/state-db/transcript.ts';
import type { MessageView } from '../src/state-db/visibility.ts';
import { wakeupMeta } from '../src/web-ui/recovery/wakeup-meta.ts';
import type { Fields } from '../src/web-ui/sidecar/coercions.ts';
import { openedPage } from '../src/web-ui/transcript/opened-list.ts';
import type { Context } from './context.ts';
import { fileMessageId, isOfFile, openMessages, openSession } from './opened.ts';

export interface MessagesArguments extends PageArguments {
  readonly view?: MessageView | null | undefined;
  readonly scope?: MessageScope | null | undefined;
  readonly merged?: boolean | null | undefined;
}

export interface MessageConnection extends Page<StoredMessage> {
  readonly query: MessagesQuery;
  readonly profile: string;
  /** Of a list that is known whole. */
  readonly total?: number;
}

export async function messages(session: StoredSession, args: MessagesArguments, ctx: Context): Promise<MessageConnection> {
  const page = pageRequest(args);
  const query: MessagesQuery = { sessionId: session.id, view: args.view ?? 'DISPLAY', scope: args.scope ?? 'CONVERSATION' };
  const merged = args.merged ?? false;
  const opened = await openMessages(session, { ...query, merged }, ctx);
  if (opened !== null) {
    // Named by its first segment, which stays when the session id rotates.
    const name = `opened:${query.view}:${merged}:${opened.parts[0]?.id ?? ''}`;
    return { ...openedPage(opened, name, page), query, profile: session.profile, total: opened.places.length };
  }
  const found = await ctx.loaders(session.profile).messagePage.load({ ...query, page });
  return { ...found, query, profile: session.profile };
}

export function messageTotal(connection: MessageConnection, _: unknown, ctx: Context): Promise<number> | number {
  return connection.total ?? ctx.loaders(connection.profile).messageCount.load(connection.query);
}

/** Of a session of files: of this session alone, since its file has what came before a compression. */
export async function transcript(
  session: StoredSession,
  args: { view?: TranscriptView | null | undefined },
  ctx: Context,
): Promise<StoredTranscript> {
  const view = args.view ?? 'DISPLAY';
  if (!isOfFile(session)) return ctx.loaders(session.profile).transcript.load({ sessionId: session.id, view });
  const opened = await openSession(session, view, ctx);
  const { largest } = ctx.services.openSessions;
  if (largest > 0 && opened.messages.length > largest) throw transcriptTooLarge(largest);
  return opened;
}

export async function message(
  _: unknown,
  args: { rowId: string; profile?: string | null | undefined },
  ctx: Context,
): Promise<StoredMessage | null> {
  const store = await ctx.store(args.profile);
  return ctx.loaders(store.profile).message.load(parseRowId(args.rowId));
}

const LARGEST_WINDOW = 100;

export async function messagesAround(
  _: unknown,
  args: { rowId: string; window?: number | null | undefined; profile?: string | null | undefined },
  ctx: Context,
): Promise<readonly StoredMessage[]> {
  const store = await ctx.store(args.profile);
  const anchor = await ctx.loaders(store.profile).message.load(parseRowId(args.rowId));
  if (anchor === null) return [];
  const window = checkedWindow('window', args.window ?? 5, LARGEST_WINDOW);
  const [rows] = await store.messagesAround([{ sessionId: anchor.sessionId, rowId: anchor.rowId, window }], 'ROW');
  return rows ?? [];
}

export function checkedWindow(name: string, value: number, largest: number): number {
  if (value < 0 || value > largest) throw new InvalidInput(`${name} must be between 0 and ${largest}; it was ${value}.`);
  return value;
}

// ---------------------------------------------------------------- fields of a message

/** What names a message within its profile: its row, or its place in a file. */
export function localId({ rowId, sessionId, opened }: StoredMessage): string {
  return opened?.key == null ? rowId : fileMessageId(opened.key, sessionId);
}

/** The session of a message. A row whose session is gone is never reached through a list; by its row id it is an error. */
export async function sessionOf(row: StoredMessage, _: unknown, ctx: Context): Promise<StoredSession> {
  const session = await ctx.loaders(row.profile).session.load(row.sessionId);
  if (session === null) throw new InvalidInput('The session of this message no longer exists.', {}, 'SESSION_ROW_MISSING');
  return session;
}

const ROLES = { user: 'USER', assistant: 'ASSISTANT', tool: 'TOOL', system: 'SYSTEM' } as const;

export type MessageRole = 'USER' | 'ASSISTANT' | 'TOOL' | 'SYSTEM' | 'OTHER';

export function role(row: StoredMessage): MessageRole {
  return Object.hasOwn(ROLES, row.role) ? ROLES[row.role as keyof typeof ROLES] : 'OTHER';
}

export function text(row: StoredMessage): string {
  return contentText(row.content);
}

/** A part that is JSON's null says nothing and is left out. */
export function parts(row: StoredMessage): ContentPart[] {
  return contentParts(row.content).filter((part) => part.kind !== 'other' || part.json != null);
}

export function isSummary(row: StoredMessage): boolean {
  return row.compressedSummary || isSummaryCarrier(row);
}

/** reasoning, else reasoning_content: writers fill one or both. */
export function reasoning(row: StoredMessage): string | null {
  return row.reasoning || row.reasoningContent || null;
}

/** What a prompt tells of a background process that gave it; null for any other message (`spec/webui-sidecars.md` 11.2). */
export function wakeupOf(row: StoredMessage): Fields | null {
  return row.role === 'user' ? wakeupMeta(text(row)) : null;
}

/** Changes with the columns that a rewrite owns; null where the row can't be rewritten (`spec/state-db.md` 8.5). */
export function rowVersion(row: StoredMessage, _: unknown, ctx: Context): Promise<string | null> | null {
  return row.state === 'LIVE' && row.rowId !== '' ? ctx.loaders(row.profile).rowVersion.load(row.rowId) : null;
}

/** What was sent to the provider differs from the text and is stored (`spec/webui-transcript.md` C16). */
export function hasProviderPayload(row: StoredMessage): boolean {
  return row.hasPayload ?? Boolean(row.apiContent);
}

export function warnings(row: StoredMessage): readonly DataWarning[] {
  return row.warnings;
}

export interface Reaction {
  readonly emoji: string;
  readonly author: string;
  /** Epoch seconds. */
  readonly at: number | null;
}

/** Reactions out of display_metadata; entries of another shape are left out (`spec/state-db.md` 4.10). */
export function reactions(row: StoredMessage): Reaction[] {
  const list = row.displayMetadata?.reactions;
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry) => {
    if (!isJsonObject(entry) || typeof entry.emoji !== 'string' || typeof entry.author !== 'string') return [];
    const at = typeof entry.at === 'number' && entry.at >= 0 && entry.at <= 4_200_000_000 ? entry.at : null;
    return [{ emoji: entry.emoji, author: entry.author, at }];
  });
}

// ---------------------------------------------------------------- tool calls

export interface ToolCall {
  readonly row: StoredMessage;
  readonly toolCallId: string | null;
  readonly name: string;
  /** Parsed; null when they are not JSON. */
  readonly arguments: unknown;
  readonly rawArguments: string | null;
}

/** The calls of an assistant message; entries of another shape keep their place with what they have. */
export function toolCalls(row: StoredMessage): ToolCall[] {
  return row.toolCalls.map((entry) => {
    const call = isJsonObject(entry) ? entry : {};
    const fn = isJsonObject(call.function) ? call.function : call;
    const rawArguments = typeof fn.arguments === 'string' ? fn.arguments : fn.arguments === undefined ? null : JSON.stringify(fn.arguments);
    return {
      row,
      toolCallId: firstText(call.id, call.call_id, call.tool_call_id),
      name: firstText(fn.name, call.name) ?? '',
      arguments: rawArguments === null ? null : (parseJson(rawArguments) ?? null),
      rawArguments,
    };
  });
}

/** The message that answers the call; null while it runs, and when the result is gone. */
export function toolResult(call: ToolCall, _: unknown, ctx: Context): Promise<StoredMessage | null> | StoredMessage | null {
  if (call.toolCallId === null) return null;
  if (call.row.opened !== undefined) return call.row.opened.answerTo(call.toolCallId);
  const { profile, sessionId, rowId, active } = call.row;
  return ctx.loaders(profile).toolResult.load({ sessionId, rowId, toolCallId: call.toolCallId, live: active });
}

function firstText(...values: unknown[]): string | null {
  for (const value of values) if (typeof value === 'string' && value !== '') return value;
  return null;
}
