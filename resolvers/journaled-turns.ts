/**
 * Turns of a session by the turn journal of the Web UI.
 */
import { decodeCursor, encodeCursor } from '../src/cursor.ts';
import { InvalidInput } from '../src/errors.ts';
import type { JournaledTurn } from '../src/live/journal/turns.ts';
import { type Page, pageRequest } from '../src/paging.ts';
import type { StoredSession } from '../src/session-store.ts';
import type { Context } from './context.ts';
import type { JournaledTurns } from './loaders.ts';

export interface TurnPage extends Page<JournaledTurn>, Omit<JournaledTurns, 'turns'> {}

/** Newest first. Throws `InvalidInput` for a cursor whose turn is gone, `JournalUnreadable`. */
export async function turns(
  session: StoredSession,
  args: { first?: number | null | undefined; after?: string | null | undefined },
  ctx: Context,
): Promise<TurnPage> {
  const page = pageRequest({ first: args.first, after: args.after });
  const { turns: all, ...about } = (await ctx.loaders(session.profile).turnJournal.load(session.id)) ?? NO_JOURNAL;
  const start = page.after === null ? 0 : startAfter(page.after, session.id, all);
  return {
    ...about,
    items: all.slice(start, start + page.size).map((turn) => ({ cursor: encodeCursor('turns', session.id, [turn.turnId]), node: turn })),
    hasNextPage: start + page.size < all.length,
    hasPreviousPage: start > 0,
  };
}

const NO_JOURNAL: JournaledTurns = { turns: [], malformed: [], malformedCount: 0, truncated: false };

function startAfter(cursor: string, sessionId: string, all: readonly JournaledTurn[]): number {
  const [turnId] = decodeCursor(cursor, 'turns', sessionId);
  const at = all.findIndex((turn) => turn.turnId === turnId);
  if (at === -1) throw new InvalidInput('The turn of this cursor is gone. Start again without it.', {}, 'STALE_CURSOR');
  return at + 1;
}
