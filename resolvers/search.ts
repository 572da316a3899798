/**
 * Searching messages.
 */
import { InvalidInput } from '../src/errors.ts';
import { pageRequest } from '../src/paging.ts';
import type { FoundMessage, SearchResult, StoredMessage } from '../src/session-store.ts';
import { LONGEST_QUERY } from '../src/state-db/search/sanitize.ts';
import type { SearchOrder } from '../src/state-db/search/search.ts';
import type { Context } from './context.ts';
import { checkedWindow, type MessageRole } from './messages.ts';

export interface SearchArguments {
  readonly query: string;
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly profile?: string | null | undefined;
  readonly orderBy?: SearchOrder | null | undefined;
  readonly filter?: SearchFilter | null | undefined;
}

export interface SearchFilter {
  readonly sessionId?: string | null | undefined;
  readonly sources?: readonly string[] | null | undefined;
  readonly excludeSources?: readonly string[] | null | undefined;
  readonly roles?: readonly MessageRole[] | null | undefined;
  readonly includeInactive?: boolean | null | undefined;
  readonly includeReasoning?: boolean | null | undefined;
  readonly since?: number | null | undefined;
  readonly before?: number | null | undefined;
}

export interface SearchConnection extends SearchResult {
  readonly hasPreviousPage: boolean;
}

const STORED_ROLES: Readonly<Record<MessageRole, readonly string[]>> = {
  USER: ['user'],
  ASSISTANT: ['assistant'],
  TOOL: ['tool'],
  SYSTEM: ['system'],
  OTHER: ['session_meta', 'unknown'],
};

export async function searchMessages(_: unknown, args: SearchArguments, ctx: Context): Promise<SearchConnection> {
  const store = await ctx.store(args.profile);
  const page = pageRequest({ first: args.first, after: args.after });
  const { filter } = args;
  const result = await store.search({
    text: checkedQuery(args.query),
    order: args.orderBy ?? 'RANK',
    limit: page.size,
    after: page.after,
    sessionId: filter?.sessionId ?? null,
    sources: filter?.sources ?? null,
    excludeSources: filter?.excludeSources ?? null,
    roles: filter?.roles ? filter.roles.flatMap((role) => STORED_ROLES[role]) : null,
    includeInactive: filter?.includeInactive ?? false,
    includeReasoning: filter?.includeReasoning ?? false,
    since: filter?.since ?? null,
    before: filter?.before ?? null,
  });
  return { ...result, hasPreviousPage: page.after !== null };
}

const LARGEST_CONTEXT = 10;

/** The hit and its neighbours in time, by default one on each side (`spec/state-db.md` 10.4). */
export function hitContext(
  hit: FoundMessage,
  args: { around?: number | null | undefined },
  ctx: Context,
): Promise<readonly StoredMessage[]> {
  const { profile, sessionId, rowId } = hit.message;
  return ctx.loaders(profile).around.load({ sessionId, rowId, window: checkedWindow('around', args.around ?? 1, LARGEST_CONTEXT) });
}

function checkedQuery(query: string): string {
  if (query.trim() === '') throw new InvalidInput('Give something to search for.');
  const length = [...query].length;
  if (length > LONGEST_QUERY)
    throw new InvalidInput(`A search may have at most ${LONGEST_QUERY} characters; this one has ${length}.`, { longest: LONGEST_QUERY });
  return query;
}
