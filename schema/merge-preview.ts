import * as resolve from '../resolvers/merge-preview.ts';
import type { MergeDecision as Decision } from '../src/web-ui/transcript/merge-decision.ts';
import { builder, pageComplexity } from './builder.ts';
import { Warning } from './errors.ts';
import { Message } from './message.ts';
import { PAGE_DOCS, PageInfo, pageInfo } from './paging.ts';
import { Session } from './session.ts';

const MergeView = builder.enumType('MergeView', {
  description: 'Which transcript the rows are merged into.',
  values: {
    DISPLAY: { description: 'What a person reads.' },
    CONTEXT: { description: 'What the model is sent.' },
  } as const,
});

const DECISIONS: Readonly<Record<Decision, { description: string }>> = {
  MARKED: { description: 'Its own, though it looks like the text of a turn with images.' },
  MIRROR: { description: 'The text of a turn with images.' },
  REPLAY: { description: 'The same message at the same place.' },
  ROW_ID: { description: 'The file names the row.' },
  ABOVE_WATERMARK: { description: 'Of the part that was removed by a truncation.' },
  REPLACED: { description: 'Before the truncation, and no longer in the file.' },
  SAME_INSTANT_EDIT: { description: 'A prompt before it was edited.' },
  DUPLICATE: { description: 'The very same message.' },
  SAME_SECOND: { description: 'The same message within a second.' },
  SAME_ID: { description: 'A message with the same id.' },
  NEAR_DUPLICATE: { description: 'Nearly the same text.' },
  LATE_DROPPED: { description: 'No newer than the file, and not in it.' },
  INSERTED: { description: 'Shown where its time says.' },
  APPENDED: { description: 'Shown at the end.' },
  INTERRUPTED_TURN: { description: 'The file ends in an interrupted turn.' },
  SUPPRESSED: { description: 'Shown otherwise already.' },
  IN_CONTEXT: { description: 'Covered by the context of the model.' },
  CONTEXT_CLOSED: { description: 'Left out of a compacted context.' },
};

const MergeDecision = builder.enumType('MergeDecision', {
  description: 'The rule that decided about a row of the store.',
  values: DECISIONS,
});

const MergedRow = builder.objectRef<resolve.MergedRow>('MergedRow').implement({
  description: 'A row of the store, and what became of it.',
  fields: (t) => ({
    rowId: t.id({ nullable: true, description: "The store's own row id, in digits.", resolve: (row) => row.rowId }),
    message: t.field({ type: Message, nullable: true, description: 'The row; null when it has gone.', resolve: resolve.rowMessage }),
    decision: t.field({ type: MergeDecision, description: 'The rule that fired.', resolve: (row) => row.decision }),
    reason: t.string({ description: 'The rule in words.', resolve: resolve.reason }),
    shown: t.exposeBoolean('shown', { description: 'Whether the row itself stands in the transcript.' }),
    position: t.exposeInt('position', {
      nullable: true,
      description: 'Where it stands, or the message that it was taken for, counted from 0; null when neither is there.',
    }),
    standsFor: t.field({
      type: Message,
      nullable: true,
      description: 'The message at that position.',
      resolve: (row) => row.standsFor,
    }),
    outOfOrder: t.exposeBoolean('outOfOrder', { description: 'Older than what stands before it: no place was found.' }),
    danglingToolCall: t.exposeBoolean('danglingToolCall', { description: 'A call of a tool whose result is not shown.' }),
  }),
});

const MergedRowEdge = builder.objectRef<{ cursor: string; node: resolve.MergedRow }>('MergedRowEdge').implement({
  description: 'A row in the list.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', { description: 'Opaque; give it as `after` or `before`.' }),
    node: t.field({ type: MergedRow, description: 'The row.', resolve: (edge) => edge.node }),
  }),
});

const MergedRowConnection = builder.objectRef<resolve.MergedRows>('MergedRowConnection').implement({
  description: 'A page of rows, in the order of the store.',
  fields: (t) => ({
    edges: t.field({
      type: [MergedRowEdge],
      description: 'Rows with their cursors.',
      complexity: { multiplier: 1 },
      resolve: (page) => [...page.items],
    }),
    nodes: t.field({
      type: [MergedRow],
      description: 'Rows alone.',
      complexity: { multiplier: 1 },
      resolve: (page) => page.items.map((item) => item.node),
    }),
    pageInfo: t.field({ type: PageInfo, description: 'Where the page lies.', resolve: pageInfo }),
    totalCount: t.exposeInt('totalCount', { description: 'How many rows all pages together have.' }),
  }),
});

const MergePreview = builder.objectRef<resolve.MergePreview>('MergePreview').implement({
  description: 'How the rows of the store and a session file are put together. Nothing is changed.',
  fields: (t) => ({
    session: t.field({ type: Session, description: 'The session.', resolve: ({ session }) => session }),
    view: t.field({ type: MergeView, description: 'As asked.', resolve: ({ view }) => view }),
    source: t.string({ description: 'As of `Transcript.source`.', resolve: ({ opened }) => opened.source }),
    revision: t.string({ description: 'As of `Transcript.revision`.', resolve: ({ opened }) => opened.revision }),
    messageCount: t.int({ description: 'Messages of the merged transcript.', resolve: ({ opened }) => opened.messages.length }),
    warnings: t.field({
      type: [Warning],
      description: 'As of `Transcript.warnings`.',
      resolve: ({ opened }) => [...opened.warnings],
    }),
    rows: t.field({
      type: MergedRowConnection,
      description: 'Live rows of the session, and what became of each.',
      args: {
        first: t.arg.int({ description: PAGE_DOCS.first }),
        after: t.arg.string({ description: PAGE_DOCS.after }),
        last: t.arg.int({ description: PAGE_DOCS.last }),
        before: t.arg.string({ description: PAGE_DOCS.before }),
        decisions: t.arg({ type: [MergeDecision], description: 'Only rows with these decisions.' }),
      },
      complexity: pageComplexity,
      resolve: resolve.mergedRows,
    }),
  }),
});

builder.queryField('mergePreview', (t) =>
  t.field({
    type: MergePreview,
    nullable: true,
    description: 'Explains the merged transcript of a session that the Web UI has a file of; null for an unknown session.',
    args: {
      sessionId: t.arg.string({ required: true, description: 'Exact id.' }),
      profile: t.arg.string({ description: 'Default: the profile that this server was started for.' }),
      view: t.arg({ type: MergeView, defaultValue: 'DISPLAY', description: 'Which transcript.' }),
    },
    complexity: 20,
    resolve: resolve.mergePreview,
  }),
);
