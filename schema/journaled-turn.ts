import * as resolve from '../resolvers/journaled-turns.ts';
import { int32 } from '../resolvers/numbers.ts';
import type { TurnJournal, TurnJournalEvent } from '../src/live/journal/turn-journal.ts';
import type { JournaledTurn } from '../src/live/journal/turns.ts';
import type { PageItem } from '../src/paging.ts';
import { inWindow } from '../src/state-db/decode.ts';
import { builder, pageComplexity } from './builder.ts';
import { PAGE_DOCS, PageInfo, pageInfo } from './paging.ts';
import { Session } from './session.ts';

const TurnState = builder.enumType('TurnState', {
  description: 'The latest that was written of a turn.',
  values: {
    SUBMITTED: { description: 'It was accepted. Turns that run in a gateway stay so.' },
    WORKER_STARTED: { description: 'Its worker runs, or ran when its process went.' },
    ASSISTANT_STARTED: { description: 'An answer was put into the transcript.' },
    COMPLETED: { description: 'The session was saved with the answer.' },
    INTERRUPTED: { description: 'It was cut off; see reason.' },
    OTHER: { description: 'Something that this server does not know; see event.' },
  } as const,
});

const End = builder.objectRef<TurnJournalEvent>('TurnEnd').implement({
  description: 'One of several ends that were written of a turn.',
  fields: (t) => ({
    event: t.exposeString('event', { description: 'completed or interrupted.' }),
    at: t.field({ type: 'DateTime', nullable: true, description: 'When.', resolve: ({ createdAt }) => inWindow(createdAt) }),
    pid: t.exposeFloat('pid', { nullable: true, description: 'The process that wrote it.' }),
  }),
});

const Turn = builder.objectRef<JournaledTurn>('Turn').implement({
  description: 'A turn as the Web UI accepted and settled it.',
  fields: (t) => ({
    turnId: t.exposeString('turnId', {
      description: 'Its id. After a rotation the end of a turn stands under another, in the other session.',
    }),
    streamId: t.exposeString('streamId', { nullable: true, description: 'The id of its run.' }),
    state: t.field({ type: TurnState, description: 'Where it stands.', resolve: ({ state }) => state }),
    event: t.exposeString('event', { description: 'The latest event, as written.' }),
    terminal: t.exposeBoolean('terminal', { description: 'It is over. A crash leaves no end behind.' }),
    reason: t.exposeString('reason', { nullable: true, description: 'Why it was interrupted, as written.' }),
    submittedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was accepted.',
      resolve: ({ submittedAt }) => inWindow(submittedAt),
    }),
    changedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the latest was written.',
      resolve: ({ changedAt }) => inWindow(changedAt),
    }),
    content: t.exposeString('content', { nullable: true, description: 'The prompt, at most 64 Ki characters of it.' }),
    pid: t.exposeFloat('pid', { nullable: true, description: 'The process of the Web UI that ran it; null in files of older versions.' }),
    collisions: t.field({
      type: [End],
      description: 'Its ends, where more than one was written, the first 16; the latest counts.',
      resolve: ({ collisions }) => [...collisions],
    }),
  }),
});

const Malformed = builder.objectRef<TurnJournal['malformed'][number]>('MalformedTurnLine').implement({
  description: 'A line of a turn journal that is no event.',
  fields: (t) => ({
    shard: t.exposeString('shard', { description: 'The file.' }),
    line: t.int({ nullable: true, description: 'Its number in the file, from 1.', resolve: ({ line }) => int32(line) }),
  }),
});

const Edge = builder.objectRef<PageItem<JournaledTurn>>('TurnEdge').implement({
  description: 'A turn in a list.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', { description: 'Opaque; give it as `after`.' }),
    node: t.field({ type: Turn, description: 'The turn.', resolve: (edge) => edge.node }),
  }),
});

const Connection = builder.objectRef<resolve.TurnPage>('TurnConnection').implement({
  description: 'A page of turns, newest first.',
  fields: (t) => ({
    edges: t.field({
      type: [Edge],
      description: 'Turns with their cursors.',
      complexity: { multiplier: 1 },
      resolve: (page) => [...page.items],
    }),
    nodes: t.field({
      type: [Turn],
      description: 'Turns alone.',
      complexity: { multiplier: 1 },
      resolve: (page) => page.items.map((item) => item.node),
    }),
    pageInfo: t.field({ type: PageInfo, description: 'Where the page lies.', resolve: pageInfo }),
    malformed: t.field({
      type: [Malformed],
      description: "Lines of the session's files that are no event; the first 100.",
      resolve: (page) => [...page.malformed],
    }),
    malformedCount: t.int({ description: 'All of them.', resolve: (page) => int32(page.malformedCount) ?? 0 }),
    truncated: t.exposeBoolean('truncated', { description: 'The files have more than 64 MiB or 100,000 lines, and were not read whole.' }),
  }),
});

builder.objectField(Session, 'turns', (t) =>
  t.field({
    type: Connection,
    nullable: true,
    description: 'Turns that the Web UI accepted in this session, newest first, by its turn journal.',
    args: { first: t.arg.int({ description: PAGE_DOCS.first }), after: t.arg.string({ description: PAGE_DOCS.after }) },
    complexity: (args) => ({ field: 20, multiplier: pageComplexity(args).multiplier }),
    resolve: resolve.turns,
  }),
);
