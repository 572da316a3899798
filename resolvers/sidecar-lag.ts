/**
 * How far a session's file is behind the store, and whether the Web UI has something left to recover (`spec/webui-recovery.md` 13.1, 14).
 */
import type { StoredSession } from '../src/session-store.ts';
import { originsOf } from '../src/state-db/listing.ts';
import type { JournalRetry } from '../src/web-ui/interruption.ts';
import type { Context } from './context.ts';

export interface SidecarLag {
  readonly stateDbAhead: boolean;
  readonly rowsAhead: number;
  readonly secondsAhead: number;
}

/** By what lists know of the file and one statement for all that ask; null without a file, and where only all of it would tell. */
export async function sidecarLag(session: StoredSession, _: unknown, ctx: Context): Promise<SidecarLag | null> {
  if (!originsOf(session).includes('WEB_UI')) return null;
  const [facts, rows] = await Promise.all([ctx.services.webUiHome.facts(), ctx.loaders(session.profile).messageSummary.load(session.id)]);
  const file = facts?.sidecars.rows.get(session.id);
  if (file === undefined || file.storedMessageCount === null || rows === null) return null;
  // Without rows there is nothing that it could lag behind (Y5).
  if (rows.messageCount === 0) return { stateDbAhead: false, rowsAhead: 0, secondsAhead: 0 };
  const rowsAhead = Math.max(0, rows.messageCount - file.storedMessageCount);
  const secondsAhead = Math.max(0, rows.lastMessageAt - (file.lastMessageAt ?? 0));
  return { stateDbAhead: rowsAhead > 0 || secondsAhead > 0, rowsAhead, secondsAhead };
}

/** Null without a file, and where nothing is queued. */
export async function journalRetry(session: StoredSession, _: unknown, ctx: Context): Promise<JournalRetry | null> {
  return originsOf(session).includes('WEB_UI') ? ctx.loaders(session.profile).journalRetry.load(session.id) : null;
}
