import * as resolve from '../resolvers/message-changes.ts';
import type { UnseenReaction as Unseen } from '../src/state-db/write/reactions.ts';
import type { RefusalCode } from '../src/write-refused.ts';
import { builder } from './builder.ts';
import { Message } from './message.ts';
import { mutation, OF_MESSAGES } from './mutation.ts';
import {
  clientMutationIdField,
  dryRunField,
  leaseTokenField,
  payloadFields,
  profileField,
  sessionField,
  sessionIdField,
} from './write-fields.ts';

// ---------------------------------------------------------------- words of a person

const OF_USER_ROWS: readonly RefusalCode[] = [
  ...OF_MESSAGES,
  'ROW_VERSION_CONFLICT',
  'ROW_NOT_LIVE',
  'ROW_NOT_REWRITABLE',
  'SESSION_BUSY',
  'COMPRESSION_IN_PROGRESS',
  'SESSION_CLOSED',
  'TURN_LEASE_LOST',
];

const ROW_VERSION = 'As it was read.';

const UserRowPayload = (name: string) =>
  builder.objectRef<resolve.UserRowPayload>(name).implement({
    description: 'The message after the change.',
    fields: (t) => ({
      ...payloadFields(t),
      alreadyApplied: t.exposeBoolean('alreadyApplied', { description: 'It was so already, and nothing was written.' }),
      rowVersion: t.exposeString('rowVersion', { description: 'The version that the row has now.' }),
      message: t.field({ type: Message, nullable: true, description: 'Null when it is gone.', resolve: resolve.messageOf }),
      session: sessionField(t),
    }),
  });

mutation('editUserMessage', {
  description: 'Change the words of a message of a person. What the model was given in their place is dropped; what followed stays.',
  input: builder.inputType('EditUserMessageInput', {
    description: 'New words.',
    fields: (t) => ({
      rowId: t.id({ required: true, description: 'A live message of a person.' }),
      rowVersion: t.string({ required: true, description: ROW_VERSION }),
      content: t.field({ type: 'JSON', required: true, description: 'Text, or a list of parts.' }),
      profile: profileField(t),
      leaseToken: leaseTokenField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: UserRowPayload('EditUserMessagePayload'),
  refusals: OF_USER_ROWS,
  resolve: resolve.editUserMessage,
});

mutation('deactivateMessage', {
  description: 'Take a message of a person out of the transcript. It stays on disk, hidden.',
  input: builder.inputType('DeactivateMessageInput', {
    description: 'The message.',
    fields: (t) => ({
      rowId: t.id({ required: true, description: 'A message of a person.' }),
      rowVersion: t.string({ required: true, description: ROW_VERSION }),
      profile: profileField(t),
      leaseToken: leaseTokenField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: UserRowPayload('DeactivateMessagePayload'),
  refusals: OF_USER_ROWS,
  resolve: resolve.deactivateMessage,
});

mutation('setApiContent', {
  description:
    'Note the exact text that a provider was given in place of a message of a person. Nothing is written when the message says something else by now.',
  input: builder.inputType('SetApiContentInput', {
    description: 'The message, and the text.',
    fields: (t) => ({
      sessionId: sessionIdField(t),
      profile: profileField(t),
      rowId: t.id({ description: 'Default: the newest live message of a person.' }),
      content: t.field({ type: 'JSON', required: true, description: 'What the message says.' }),
      apiContent: t.string({ description: 'What the provider was given; null for the message itself.' }),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.ApiContentPayload>('SetApiContentPayload').implement({
    description: 'The message that was meant.',
    fields: (t) => ({
      ...payloadFields(t),
      message: t.field({ type: Message, nullable: true, description: 'Null when none says this.', resolve: resolve.messageOf }),
    }),
  }),
  refusals: OF_MESSAGES,
  resolve: resolve.setApiContent,
});

// ---------------------------------------------------------------- reactions

mutation('setMessageReaction', {
  description: 'Set what an author thinks of a message. It is no toggle: a repeat changes nothing.',
  input: builder.inputType('SetMessageReactionInput', {
    description: 'The message and the reaction.',
    fields: (t) => ({
      sessionId: sessionIdField(t),
      rowId: t.id({ required: true, description: 'A message that is shown in the conversation.' }),
      profile: profileField(t),
      desired: t.string({ description: 'The emoji from now on; null for none.' }),
      author: t.string({ defaultValue: 'user', description: 'Whose reaction it is; each author has one.' }),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.ReactionPayload>('SetMessageReactionPayload').implement({
    description: 'The message after the change.',
    fields: (t) => ({
      ...payloadFields(t),
      changed: t.exposeBoolean('changed', { description: 'False: it was so already.' }),
      message: t.field({ type: Message, nullable: true, description: 'Null when it is gone.', resolve: resolve.messageOf }),
    }),
  }),
  refusals: [...OF_MESSAGES, 'ROW_NOT_REWRITABLE'],
  resolve: resolve.setMessageReaction,
});

const UnseenReaction = builder.objectRef<Unseen>('UnseenReaction').implement({
  description: 'A reaction that the agent was not told of before.',
  fields: (t) => ({
    rowId: t.exposeID('rowId', { description: 'Of the message.' }),
    role: t.exposeString('role', { description: 'Of the message.' }),
    emoji: t.exposeString('emoji', { description: 'The reaction.' }),
    author: t.exposeString('author', { description: 'Whose it is.' }),
    text: t.exposeString('text', { description: 'What the message says.' }),
  }),
});

mutation('takeUnseenReactions', {
  description:
    'Reactions that the agent was not told of, each once. Give a clientMutationId, so that an answer that was lost can be had again.',
  input: builder.inputType('TakeUnseenReactionsInput', {
    description: 'The session.',
    fields: (t) => ({
      sessionId: sessionIdField(t),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.UnseenPayload>('TakeUnseenReactionsPayload').implement({
    description: 'What to tell the agent.',
    fields: (t) => ({
      ...payloadFields(t),
      reactions: t.field({ type: [UnseenReaction], description: 'Oldest message first.', resolve: ({ reactions }) => [...reactions] }),
    }),
  }),
  refusals: OF_MESSAGES,
  resolve: resolve.takeUnseenReactions,
});
