/** Searches of a golden store as the arguments of upstream's calls ask for them. */
import { flattenContent } from '../../src/state-db/content.ts';
import { messagesAround, messagesByRowId } from '../../src/state-db/messages.ts';
import { type SearchAnswer, type SearchHit, type SearchOrder, search } from '../../src/state-db/search/search.ts';
import type { GoldenCase } from '../support/golden.ts';
import type { Upstream, UpstreamRow } from './upstream.ts';

export const GENERATION = 'golden';

/** The first hits, or those after a cursor. */
export function searchPage({ connection }: Upstream, args: GoldenCase['args'], limit: number, after: string | null): SearchAnswer {
  const list = (key: string) => (Array.isArray(args[key]) ? (args[key] as string[]) : null);
  const order: SearchOrder = args.sort === 'newest' ? 'NEWEST' : args.sort === 'oldest' ? 'OLDEST' : 'RANK';
  const query = {
    text: String(args.query),
    order,
    limit,
    after,
    sessionIds: null,
    sources: list('source_filter'),
    excludeSources: list('exclude_sources'),
    roles: list('role_filter'),
    includeInactive: args.include_inactive === true,
    includeReasoning: false,
    since: null,
    before: null,
  };
  return search(connection, query, GENERATION);
}

/** The page that limit and offset name; an offset is a page before the page. */
export function hitsOf(upstream: Upstream, args: GoldenCase['args']): SearchAnswer {
  const limit = typeof args.limit === 'number' ? args.limit : 20;
  const offset = typeof args.offset === 'number' ? args.offset : 0;
  const after = offset === 0 ? null : (searchPage(upstream, args, offset, null).hits.at(-1)?.cursor ?? null);
  if (offset > 0 && searchPage(upstream, args, offset, null).hits.length < offset)
    return { ...searchPage(upstream, args, limit, null), hits: [] };
  return searchPage(upstream, args, limit, after);
}

/** Hits as upstream's rows. */
export function rowsOf({ connection, catalogue }: Upstream, hits: readonly SearchHit[]): UpstreamRow[] {
  const messages = messagesByRowId(connection, new Set(hits.map(({ rowId }) => rowId)));
  const contexts = messagesAround(
    connection,
    hits.map(({ rowId, sessionId }) => ({ rowId, sessionId, window: 1 })),
    'CLOCK',
  );
  return hits.map(({ rowId, sessionId, snippet }, index) => {
    const message = messages.get(rowId);
    const session = catalogue.get(sessionId);
    const context = (contexts[index] ?? []).map(({ role, content }) => ({ role, content: firstCharacters(flattenContent(content)) }));
    return {
      id: Number(rowId),
      session_id: sessionId,
      role: message?.role,
      snippet,
      timestamp: message?.timestamp,
      tool_name: message?.toolName,
      source: session?.source,
      model: session?.model,
      session_started: session?.startedAt,
      context,
    };
  });
}

function firstCharacters(text: string): string {
  return [...text].slice(0, 200).join('');
}

/** All of `search_messages` in one: the rows of a page. */
export function searched(upstream: Upstream, query: string): UpstreamRow[] {
  return rowsOf(upstream, hitsOf(upstream, { query }).hits);
}
