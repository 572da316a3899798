/**
 * Fields of a session. What the store gave with the session is answered at once; everything else comes through the loaders.
 */
import { StoreUnreadable } from '../src/errors.ts';
import type { Conversation, StoredSession } from '../src/session-store.ts';
import type { DataWarning } from '../src/state-db/decode.ts';
import type { EdgeKind } from '../src/state-db/lineage.ts';
import { BACKGROUND_SOURCES } from '../src/state-db/listing.ts';
import type { ModelUsage, UsageFigures } from '../src/state-db/usage.ts';
import { collapseWhitespace, shownTitle } from '../src/web-ui/list/list-titles.ts';
import { familyOf, fold, normaliseSource } from '../src/web-ui/list/source-class.ts';
import { DELEGATE_TITLE } from '../src/web-ui/list/store-correction.ts';
import type { Context } from './context.ts';
import { int32 } from './numbers.ts';
import { rescueWarning } from './sidecar.ts';

export interface SessionSource {
  readonly raw: string;
  /** CLI, CHAT, WEB, API, BACKGROUND, DELEGATE, OTHER. */
  readonly family: string;
  readonly label: string;
}

const FAMILIES: Readonly<Record<string, string>> = {
  cli: 'CLI',
  tui: 'CLI',
  desktop: 'CLI',
  acp: 'CLI',
  webui: 'WEB',
  api_server: 'API',
  subagent: 'DELEGATE',
};
const LABELS: Readonly<Record<string, string>> = {
  cli: 'CLI',
  tui: 'TUI',
  acp: 'ACP',
  webui: 'Web UI',
  api_server: 'API',
  cron: 'Cron',
  subagent: 'Sub-agent',
  kanban: 'Kanban',
  webhook: 'Webhook',
  fork: 'Fork',
  claude_code: 'Claude Code',
};

/** A source as stored, with a group and a name for people; blank counts as the command line (`spec/state-db.md` 7). */
export function sourceOf(session: StoredSession): SessionSource {
  const raw = session.source;
  const key = raw.trim().toLowerCase() || 'cli';
  const isChat = session.sessionKey !== null || familyOf(normaliseSource(key)) === 'MESSAGING';
  const family = BACKGROUND_SOURCES.has(key) ? 'BACKGROUND' : (FAMILIES[key] ?? (isChat ? 'CHAT' : 'OTHER'));
  return { raw, family, label: LABELS[key] ?? key.charAt(0).toUpperCase() + key.slice(1).replaceAll('_', ' ') };
}

/**
 * Rows with active = 1, or what the Web UI's file holds when that is more; null when neither can be read. Where messages were taken back in the
 * Web UI and the file is newer than the rows, it alone counts: rows bring nothing back (`spec/webui-listing.md` 4, O4).
 */
export function messageCount(session: StoredSession): number | null {
  const { stats, beside } = session;
  const inFile = beside?.origins.includes('WEB_UI') === true ? beside.messageCount : null;
  if (inFile === null) return int32(stats?.live ?? null);
  const isCutBack = beside?.isCutBack === true && beside.provenance.messageCount === 'SIDECAR';
  return int32(isCutBack ? inFile : Math.max(stats?.live ?? 0, inFile));
}

export async function preview(session: StoredSession, _: unknown, ctx: Context): Promise<string | null> {
  const found = await ctx.loaders(session.profile).preview.load(session.id);
  return found === null || found.text === '' ? null : found.text;
}

/**
 * The title, else that of the nearest other segment, earlier ones first, else the preview, else a neutral name; never empty. A list of attachments
 * behind it is left out, and the name that every sub-agent has gives way to what it was asked (`spec/webui-listing.md` 4 O6, 12.2).
 */
export async function displayTitle(session: StoredSession, _: unknown, ctx: Context): Promise<string> {
  const listed = session.beside?.displayTitle ?? null;
  if (listed !== null && listed.trim() !== '') return shownTitle({ displayTitle: listed, title: '' });
  if (isStandIn(session)) return (await readablePreview(session, ctx)) ?? session.title;
  if (isTitled(session)) return shownTitle({ displayTitle: null, title: session.title });
  const { segments } = await conversation(session, ctx);
  const at = segments.findIndex((segment) => segment.id === session.id);
  const titled = segments.slice(0, at).findLast(isTitled) ?? segments.slice(at + 1).find(isTitled);
  return titled?.title ?? (await readablePreview(session, ctx)) ?? 'Untitled session';
}

function isStandIn(session: StoredSession): session is StoredSession & { readonly title: string } {
  return fold(session.source) === 'subagent' && isTitled(session) && collapseWhitespace(session.title) === DELEGATE_TITLE;
}

function isTitled(session: StoredSession): session is StoredSession & { readonly title: string } {
  return session.title !== null && session.title.trim() !== '';
}

/** A title is shown even where the messages can't be read; that they can't is told by the fields that show them. */
async function readablePreview(session: StoredSession, ctx: Context): Promise<string | null> {
  try {
    return await preview(session, undefined, ctx);
  } catch (error) {
    if (error instanceof StoreUnreadable) return null;
    throw error;
  }
}

export function usage(session: StoredSession): UsageFigures {
  return { ...session, apiCalls: session.apiCallCount };
}

export function modelUsage(session: StoredSession, _: unknown, ctx: Context): Promise<readonly ModelUsage[]> {
  return ctx.loaders(session.profile).modelUsage.load(session.id);
}

export function parent(session: StoredSession, _: unknown, ctx: Context): Promise<StoredSession | null> | null {
  return session.parentId === null ? null : ctx.loaders(session.profile).session.load(session.parentId);
}

export async function children(
  session: StoredSession,
  args: { kinds?: readonly EdgeKind[] | null | undefined },
  ctx: Context,
): Promise<readonly StoredSession[]> {
  const all = await ctx.loaders(session.profile).children.load(session.id);
  return args.kinds ? all.filter((child) => child.edgeKind !== null && args.kinds?.includes(child.edgeKind)) : all;
}

export async function root(session: StoredSession, _: unknown, ctx: Context): Promise<StoredSession> {
  return (await conversation(session, ctx)).root;
}

export async function tip(session: StoredSession, _: unknown, ctx: Context): Promise<StoredSession> {
  return (await conversation(session, ctx)).tip;
}

/** The conversation as seen from a session; from the session alone when it went since it was read. */
export async function conversation(session: StoredSession, ctx: Context): Promise<Conversation> {
  const found = await ctx.loaders(session.profile).conversation.load(session.id);
  return found ?? { root: session, tip: session, segments: [session], liveContinuation: null };
}

/** What could not be trusted: cells of the row, its place in the lineage, its counters (`field-cases` F13, F19, F57, F65). */
export async function warnings(session: StoredSession, _: unknown, ctx: Context): Promise<DataWarning[]> {
  const found = [...session.warnings, ...rescueWarning(session)];
  const { stats } = session;
  if (session.parentId !== null && (await parent(session, undefined, ctx)) === null) {
    found.push({ code: 'MISSING_PARENT', field: 'parent_session_id', message: 'The parent that this session names does not exist.' });
  }
  if (stats !== null && stats.total === 0 && session.storedMessageCount > 0) {
    found.push({
      code: 'ROWS_MISSING',
      field: null,
      message: `The session is said to have ${session.storedMessageCount} messages, but none are stored.`,
    });
  } else if (stats !== null && stats.live !== session.storedMessageCount) {
    const text = `The stored counter says ${session.storedMessageCount}; ${stats.live} live messages are there.`;
    found.push({ code: 'COUNT_MISMATCH', field: 'message_count', message: text });
  }
  if (session.profileName !== null && session.profileName !== session.profile) {
    found.push({
      code: 'FOREIGN_PROFILE',
      field: 'profile_name',
      message: `The row says that it belongs to profile ${session.profileName}.`,
    });
  }
  return found;
}
