import * as resolve from '../resolvers/rows.ts';
import { messagesOf } from '../resolvers/writes.ts';
import type { AppendedRow as Appended } from '../src/state-db/write/append-batch.ts';
import type { RewrittenRow as Rewritten } from '../src/state-db/write/prune-rows.ts';
import { builder } from './builder.ts';
import { Message } from './message.ts';
import { mutation, OF_MESSAGES } from './mutation.ts';
import { TranscriptMessageInput } from './transcript-input.ts';
import {
  clientMutationIdField,
  dryRunField,
  leaseTokenField,
  payloadFields,
  profileField,
  sessionField,
  sessionIdField,
} from './write-fields.ts';

// ---------------------------------------------------------------- append

const HeldMessageInput = builder.inputType('HeldMessageInput', {
  description:
    'A message that is a row already. With the version that the row still has, the row is made to say what the message says; with an older one the row stands; without one only a blank answer is filled.',
  fields: (t) => ({
    index: t.int({ required: true, description: 'Its place in `messages`, from 0.' }),
    rowId: t.id({ description: 'Its row; else the newest live row with its messageUid and role.' }),
    rowVersion: t.string({ description: 'The version of the row that the message was read from.' }),
  }),
});

const AppendedRow = builder.objectRef<Appended>('AppendedRow').implement({
  description: 'The row of a message.',
  fields: (t) => ({
    rowId: t.exposeID('rowId', { description: 'In digits.' }),
    messageUid: t.exposeString('messageUid', { nullable: true, description: 'The lasting id; null in stores before schema 31.' }),
    rowVersion: t.exposeString('rowVersion', { description: 'For guarded changes.' }),
  }),
});

mutation('appendMessages', {
  description: 'Append the rows of a turn, all of them or none. Messages whose messageUid the conversation has are not written again.',
  input: builder.inputType('AppendMessagesInput', {
    description: 'Messages to append in their order.',
    fields: (t) => ({
      sessionId: sessionIdField(t),
      profile: profileField(t),
      messages: t.field({ type: [TranscriptMessageInput], required: true, description: `At most ${resolve.MOST_ROWS}.` }),
      held: t.field({ type: [HeldMessageInput], description: 'Those of them that are rows already.' }),
      leaseToken: leaseTokenField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.AppendPayload>('AppendMessagesPayload').implement({
    description: 'What became of the messages.',
    fields: (t) => ({
      ...payloadFields(t),
      inserted: t.field({ type: [AppendedRow], description: 'New rows.', resolve: ({ inserted }) => [...inserted] }),
      adopted: t.field({
        type: [AppendedRow],
        description: 'Rows from before that stand for a message.',
        resolve: ({ adopted }) => [...adopted],
      }),
      messages: t.field({ type: [Message], description: 'The row of each message, in order.', resolve: messagesOf }),
      session: sessionField(t),
    }),
  }),
  refusals: [...OF_MESSAGES, 'TURN_LEASE_LOST', 'SESSION_CLOSED', 'TOO_MANY'],
  resolve: resolve.appendMessages,
});

// ---------------------------------------------------------------- prune

const RowChangeInput = builder.inputType('RowChangeInput', {
  description: 'What a row is to say. A field that is left out stays as it is, null empties it.',
  fields: (t) => ({
    rowId: t.id({ required: true, description: 'A live row of an assistant or a tool.' }),
    rowVersion: t.string({ required: true, description: 'As it was read.' }),
    content: t.field({ type: 'JSON', description: 'Text, or a list of parts.' }),
    toolCalls: t.field({ type: 'JSON', description: 'The calls of an assistant.' }),
  }),
});

const RewrittenRow = builder.objectRef<Rewritten>('RewrittenRow').implement({
  description: 'A row that was rewritten in its place.',
  fields: (t) => ({
    rowId: t.exposeID('rowId', { description: 'In digits.' }),
    rowVersion: t.exposeString('rowVersion', { description: 'The version that it has now; in a dry run the one that it has still.' }),
    archivedTwinRowId: t.exposeID('archivedTwinRowId', {
      nullable: true,
      description: 'The archived row that keeps what it said; null in a dry run.',
    }),
  }),
});

mutation('pruneRows', {
  description:
    'Change what a few rows say, all of them or none, for example a long tool output into a stub. Each keeps its id and place; what it said stays beside it, archived and searchable.',
  input: builder.inputType('PruneRowsInput', {
    description: 'Rows to rewrite.',
    fields: (t) => ({
      sessionId: sessionIdField(t),
      profile: profileField(t),
      changes: t.field({ type: [RowChangeInput], required: true, description: `At most ${resolve.MOST_ROWS}, each row once.` }),
      modelConfigPatch: t.field({
        type: 'JSON',
        description: "Keys of the session's modelConfig to set, or with null to take away, together with the rows.",
      }),
      leaseToken: leaseTokenField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.PrunePayload>('PruneRowsPayload').implement({
    description: 'What became of the rows.',
    fields: (t) => ({
      ...payloadFields(t),
      rewrittenCount: t.exposeInt('rewrittenCount', { description: 'Rows that were written.' }),
      rewritten: t.field({ type: [RewrittenRow], description: 'Those rows.', resolve: ({ rewritten }) => [...rewritten] }),
      unchangedIds: t.idList({ description: 'Rows that said so already.', resolve: ({ unchangedIds }) => [...unchangedIds] }),
      alreadyApplied: t.exposeBoolean('alreadyApplied', {
        description: 'Nothing was left to do, because an earlier request did it.',
      }),
      messages: t.field({ type: [Message], description: 'All rows that were named, in order.', resolve: messagesOf }),
      session: sessionField(t),
    }),
  }),
  refusals: [...OF_MESSAGES, 'ROW_VERSION_CONFLICT', 'ROW_NOT_LIVE', 'ROW_NOT_REWRITABLE', 'TURN_LEASE_LOST', 'SESSION_CLOSED', 'TOO_MANY'],
  resolve: resolve.pruneRows,
});
