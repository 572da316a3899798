/**
 * Sessions whose messages are in a file of the Web UI or a transcript of Claude Code, also: which sessions these are, and what to open for
 * a list of their messages. Everything else is answered by the store alone.
 */
import type { MessageScope, StoredSession } from '../src/session-store.ts';
import type { MessageView } from '../src/state-db/visibility.ts';
import type { OpenKey } from '../src/web-ui/open-sessions.ts';
import type { OpenView } from '../src/web-ui/transcript/open-transcripts.ts';
import { type OpenedList, openedList } from '../src/web-ui/transcript/opened-list.ts';
import type { OpenedSession, OpenedStoredMessage } from '../src/web-ui/transcript/opened-session.ts';
import type { Context } from './context.ts';
import { conversation } from './session.ts';

const VIEWS: Readonly<Record<MessageView, OpenView>> = { DISPLAY: 'DISPLAY', AUDIT: 'DISPLAY', LIVE: 'CONTEXT' };

/** Whether a file has messages of the session. */
export function isOfFile({ beside }: StoredSession): boolean {
  return beside !== null && (beside.origins.includes('WEB_UI') || beside.origins.includes('CLAUDE_CODE'));
}

export function isInStore({ beside }: StoredSession): boolean {
  return beside === null || beside.origins.includes('STATE_DB');
}

/** One session, opened. */
export function openSession(session: StoredSession, view: OpenView, ctx: Context): Promise<OpenedSession> {
  return ctx.loaders(session.profile).opened.load(keyOf([session], view, isOfFile(session)));
}

export interface OpenedQuery {
  readonly view: MessageView;
  readonly scope: MessageScope;
  /** Files also of sessions that the store has. */
  readonly merged: boolean;
}

/** The messages of a session and of the segments around it, each from where it lives; null where rows of the store are all of them. */
export async function openMessages(
  session: StoredSession,
  { view, scope, merged }: OpenedQuery,
  ctx: Context,
): Promise<OpenedList<OpenedStoredMessage> | null> {
  if (view === 'AUDIT' && isInStore(session)) return null;
  const segments = scope === 'SEGMENT' ? [session] : (await conversation(session, ctx)).segments;
  const isFromFile = (segment: StoredSession) => isOfFile(segment) && (merged || !isInStore(segment));
  if (!segments.some(isFromFile)) return null;
  const { opened } = ctx.loaders(session.profile);
  const parts = runsOf(segments, isFromFile).map(async ({ run, fromFile }) => {
    const { messages } = await opened.load(keyOf(run, VIEWS[view], fromFile));
    return { id: run[0]?.id ?? '', messages };
  });
  return openedList(await Promise.all(parts));
}

interface Run {
  readonly run: StoredSession[];
  readonly fromFile: boolean;
}

/** Segments whose rows are shown are read together with those beside them: copies in several of them are shown once. */
function runsOf(segments: readonly StoredSession[], isFromFile: (segment: StoredSession) => boolean): Run[] {
  const runs: Run[] = [];
  for (const segment of segments) {
    const last = runs.at(-1);
    const fromFile = isFromFile(segment);
    if (last !== undefined && !fromFile && !last.fromFile) last.run.push(segment);
    else runs.push({ run: [segment], fromFile });
  }
  return runs;
}

function keyOf(run: readonly StoredSession[], view: OpenView, fromFile: boolean): OpenKey {
  const [first] = run;
  const file = first?.beside?.origins.includes('WEB_UI') === true ? 'FILE' : 'CLAUDE_CODE';
  return { kind: fromFile ? file : 'ROWS', sessionIds: run.map(({ id }) => id), isInStore: first === undefined || isInStore(first), view };
}

const FILE_MESSAGE = /^f:([A-Za-z0-9_-]{1,40}\.\d{1,9}):(.+)$/s;

/** The local part of the global id of a message that no row names. */
export function fileMessageId(key: string, sessionId: string): string {
  return `f:${key}:${sessionId}`;
}

/** The message of a file by that id; null when it has gone, or for a text that is none. */
export async function fileMessage(id: string, profile: string, ctx: Context): Promise<OpenedStoredMessage | null> {
  const [, key, sessionId] = FILE_MESSAGE.exec(id) ?? [];
  if (key === undefined || sessionId === undefined) return null;
  const session = await ctx.loaders(profile).session.load(sessionId);
  if (session === null || !isOfFile(session)) return null;
  const found = (await openSession(session, 'DISPLAY', ctx)).byKey.get(key);
  return found ?? (await openSession(session, 'CONTEXT', ctx)).byKey.get(key) ?? null;
}
