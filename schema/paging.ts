/**
 * Connections: edges with cursors, nodes, and page information, made alike for every list.
 */
import type { Page } from '../src/paging.ts';
import { builder } from './builder.ts';

export interface PageInfoShape {
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly startCursor: string | null;
  readonly endCursor: string | null;
}

export const PageInfo = builder.objectRef<PageInfoShape>('PageInfo').implement({
  description: 'Where a page lies in its list.',
  fields: (t) => ({
    hasNextPage: t.exposeBoolean('hasNextPage', { description: 'More items follow the page.' }),
    hasPreviousPage: t.exposeBoolean('hasPreviousPage', { description: 'Items come before the page.' }),
    startCursor: t.exposeString('startCursor', { nullable: true, description: 'Cursor of the first item; null on an empty page.' }),
    endCursor: t.exposeString('endCursor', { nullable: true, description: 'Cursor of the last item; null on an empty page.' }),
  }),
});

export function pageInfo<T>(page: Page<T>): PageInfoShape {
  return {
    hasNextPage: page.hasNextPage,
    hasPreviousPage: page.hasPreviousPage,
    startCursor: page.items[0]?.cursor ?? null,
    endCursor: page.items.at(-1)?.cursor ?? null,
  };
}

/** What each connection's arguments say about themselves. */
export const PAGE_DOCS = {
  first: 'Items from the front, 1 to 200. Without first and last: 50.',
  after: 'Only items after this cursor.',
  last: 'Items from the end, 1 to 200; not together with first.',
  before: 'Only items before this cursor.',
} as const;
