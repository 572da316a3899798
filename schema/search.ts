import * as resolve from '../resolvers/search.ts';
import type { FoundMessage } from '../src/session-store.ts';
import { builder, pageComplexity } from './builder.ts';
import { Message, MessageRole } from './message.ts';
import { PageInfo } from './paging.ts';
import { Session } from './session.ts';

const SearchOrder = builder.enumType('SearchOrder', {
  description: 'Order of hits.',
  values: {
    RANK: { description: 'Best first; substring searches have no rank and give the newest first.' },
    NEWEST: { description: 'Newest first.' },
    OLDEST: { description: 'Oldest first.' },
  } as const,
});

const SearchRoute = builder.enumType('SearchRoute', {
  description: 'How a search was answered.',
  values: {
    FTS: { description: 'By the word index; a word without hits was tried as a substring too.' },
    CJK: { description: 'By the index for Chinese, Japanese and Korean.' },
    TRIGRAM: { description: 'By the index of substrings.' },
    LIKE: { description: 'By reading the rows: slower.' },
    EMPTY: { description: 'Nothing searchable was left of the query.' },
  } as const,
});

const SearchFilter = builder.inputType('SearchFilter', {
  description: 'Where to search. Rows that are never shown are never found.',
  fields: (t) => ({
    sessionId: t.string({ description: 'Only in this stored session.' }),
    sources: t.stringList({ description: 'Only these sources; an empty list finds nothing.' }),
    excludeSources: t.stringList({ description: 'Not these sources.' }),
    roles: t.field({
      type: [MessageRole],
      description: 'Only these roles; with TOOL the rows are read, since tool results are indexed in part only.',
    }),
    includeInactive: t.boolean({ defaultValue: false, description: 'Rewound rows too.' }),
    includeReasoning: t.boolean({ defaultValue: false, description: 'Search what the model thought too; slower.' }),
    since: t.field({ type: 'DateTime', description: 'Said at or after.' }),
    before: t.field({ type: 'DateTime', description: 'Said before.' }),
  }),
});

const SearchHit = builder.objectRef<FoundMessage>('SearchHit').implement({
  description: 'A message that was found.',
  fields: (t) => ({
    message: t.field({ type: Message, description: 'The message.', resolve: (hit) => hit.message }),
    session: t.field({ type: Session, description: 'Its session.', resolve: (hit) => hit.session }),
    snippet: t.exposeString('snippet', { description: 'The piece that was found, words marked >>>so<<<. Text, not markup: escape it.' }),
    context: t.field({
      type: [Message],
      description: 'The hit and what was said before and after it in its session.',
      args: { around: t.arg.int({ defaultValue: 1, description: 'Messages on each side, 0 to 10.' }) },
      resolve: async (hit, args, ctx) => [...(await resolve.hitContext(hit, args, ctx))],
    }),
  }),
});

const SearchEdge = builder.objectRef<FoundMessage>('SearchEdge').implement({
  description: 'A hit in a list.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', { description: 'Opaque; give it as `after`.' }),
    node: t.field({ type: SearchHit, description: 'The hit.', resolve: (hit) => hit }),
  }),
});

const SearchConnection = builder.objectRef<resolve.SearchConnection>('SearchConnection').implement({
  description: 'A page of hits.',
  fields: (t) => ({
    edges: t.field({
      type: [SearchEdge],
      description: 'Hits with their cursors.',
      complexity: { multiplier: 1 },
      resolve: (page) => [...page.hits],
    }),
    nodes: t.field({ type: [SearchHit], description: 'Hits alone.', complexity: { multiplier: 1 }, resolve: (page) => [...page.hits] }),
    pageInfo: t.field({
      type: PageInfo,
      description: 'Where the page lies.',
      resolve: (page) => ({
        hasNextPage: page.hasNextPage,
        hasPreviousPage: page.hasPreviousPage,
        startCursor: page.hits[0]?.cursor ?? null,
        endCursor: page.hits.at(-1)?.cursor ?? null,
      }),
    }),
    route: t.field({ type: SearchRoute, description: 'How it was answered.', resolve: (page) => page.route }),
    degraded: t.exposeBoolean('degraded', {
      description: 'The word index could not be used in full: it is missing, stale, damaged, or being rebuilt.',
    }),
    indexPercent: t.exposeInt('indexPercent', { description: 'How much of the store is indexed, 0 to 100.' }),
  }),
});

builder.queryField('searchMessages', (t) =>
  t.field({
    type: SearchConnection,
    description: 'Messages that contain words, "phrases", prefix*, joined by AND, OR, NOT. At most 2,048 characters.',
    args: {
      query: t.arg.string({ required: true, description: 'What to search for.' }),
      first: t.arg.int({ description: 'Hits, 1 to 200; 50 by default.' }),
      after: t.arg.string({ description: 'Only hits after this cursor.' }),
      profile: t.arg.string({ description: 'Default: the profile that this server was started for.' }),
      filter: t.arg({ type: SearchFilter, description: 'Where to search.' }),
      orderBy: t.arg({ type: SearchOrder, defaultValue: 'RANK', description: 'In which order.' }),
    },
    complexity: (args) => ({ field: 200, multiplier: pageComplexity(args).multiplier }),
    resolve: resolve.searchMessages,
  }),
);
