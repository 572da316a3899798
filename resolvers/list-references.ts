/** What a list does not show and its entries hang below (`spec/webui-listing.md` 9.6). */
import type { StoredSession } from '../src/session-store.ts';
import type { Context } from './context.ts';
import type { SessionConnection } from './sessions.ts';

/** Steps from an entry upwards, and sessions in one answer. */
const MOST_HOPS = 20;
const MOST_REFERENCES = 200;

/**
 * Archived sessions above the entries of the page, nearest first, at most 200; none where the list shows archived ones itself. Earlier segments
 * of an entry's own conversation are none.
 */
export async function references({ items, hasArchived }: SessionConnection, _: unknown, ctx: Context): Promise<StoredSession[]> {
  if (hasArchived) return [];
  const shown = items.map(({ node }) => node);
  const seen = new Set(shown.map(keyOf));
  const ownConversations = new Set(shown.map(conversationOf));
  const found: StoredSession[] = [];
  let level = shown;
  for (let hop = 0; hop < MOST_HOPS && level.length > 0; hop++) {
    const parents = await Promise.all(
      level.map(({ parentId, profile }) => (parentId === null ? null : ctx.loaders(profile).session.load(parentId))),
    );
    level = [];
    for (const parent of parents) {
      if (parent === null || seen.has(keyOf(parent))) continue;
      seen.add(keyOf(parent));
      level.push(parent);
      if (parent.archived && !ownConversations.has(conversationOf(parent))) found.push(parent);
    }
  }
  return found.slice(0, MOST_REFERENCES);
}

function keyOf({ profile, id }: StoredSession): string {
  return `${profile}/${id}`;
}

function conversationOf({ profile, conversationId }: StoredSession): string {
  return `${profile}/${conversationId}`;
}
