import * as resolve from '../resolvers/append.ts';
import type { QueuedEntry } from '../src/transcript/append-queue.ts';
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

const AppendStatus = builder.enumType('AppendStatus', {
  description: 'What became of a message.',
  values: {
    COMMITTED: { description: 'It is in the store.' },
    DUPLICATE: { description: 'It was in the store already; nothing was written.' },
    QUEUED: { description: 'It waits, in memory or in the spool, and will be written in order; no need to send it again.' },
    DIVERTED: { description: 'The store must not be written to any more; it was kept in the spool and beside it.' },
  } as const,
});

const WriteProblem = builder.objectRef<{ readonly code: string; readonly message: string }>('WriteProblem').implement({
  description: 'Why something waits.',
  fields: (t) => ({
    code: t.exposeString('code', { description: 'As the code of an error.' }),
    message: t.exposeString('message', { description: 'For people.' }),
  }),
});

mutation('appendMessage', {
  description: 'Put a message at the end of a session. While the store can not be written to it waits, and later arrives in order, once.',
  input: builder.inputType('AppendMessageInput', {
    description: 'A message for the end of a session.',
    fields: (t) => ({
      sessionId: sessionIdField(t),
      profile: profileField(t),
      message: t.field({ type: TranscriptMessageInput, required: true, description: 'The message.' }),
      messageUid: t.string({ description: 'Its lasting id: a repeat with it is a DUPLICATE. Default: a new one, which the answer tells.' }),
      leaseToken: leaseTokenField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.AppendPayload>('AppendMessagePayload').implement({
    description: 'What became of it.',
    fields: (t) => ({
      ...payloadFields(t),
      status: t.field({ type: AppendStatus, description: 'Where it is now.', resolve: ({ status }) => status }),
      messageUid: t.exposeString('messageUid', { description: 'Its lasting id.' }),
      message: t.field({
        type: Message,
        nullable: true,
        description: 'The stored message; null while it waits.',
        resolve: resolve.appendedMessage,
      }),
      session: sessionField(t),
      effectiveSessionId: t.exposeString('sessionId', {
        description: 'Where it went: the continuation, when the session was compressed.',
      }),
      queueDepth: t.exposeInt('queueDepth', { description: 'Messages of the session that wait in memory.' }),
      failureCount: t.exposeInt('failureCount', { description: 'Attempts in a row that failed.' }),
      problem: t.field({ type: WriteProblem, nullable: true, description: 'Why it waits.', resolve: ({ problem }) => problem }),
    }),
  }),
  refusals: [...OF_MESSAGES, 'NO_LIVE_CONTINUATION', 'TURN_LEASE_LOST', 'QUEUE_FULL', 'TRANSCRIPT_CHANGED'],
  resolve: resolve.appendMessage,
});

const QueuedMessage = builder.objectRef<QueuedEntry>('QueuedMessage').implement({
  description: 'A message that waits in memory.',
  fields: (t) => ({
    messageUid: t.exposeString('messageUid', { description: 'Its lasting id.' }),
    role: t.exposeString('role', { description: 'As given.' }),
    enqueuedAt: t.field({ type: 'DateTime', description: 'Since when.', resolve: ({ enqueuedAt }) => enqueuedAt }),
  }),
});

const RetryQueue = builder.objectRef<resolve.RetryQueue>('RetryQueue').implement({
  description: 'What waits in memory for a session.',
  fields: (t) => ({
    depth: t.exposeInt('depth', { description: 'Messages.' }),
    failures: t.exposeInt('failures', { description: 'Attempts in a row that failed.' }),
    oldestEnqueuedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Since when the oldest waits.',
      resolve: ({ oldestEnqueuedAt }) => oldestEnqueuedAt,
    }),
    entries: t.field({ type: [QueuedMessage], description: 'Oldest first, at most 200.', resolve: ({ entries }) => entries }),
  }),
});

builder.queryField('retryQueue', (t) =>
  t.field({
    type: RetryQueue,
    description: 'What waits in memory for a session to be written.',
    complexity: 10,
    args: {
      sessionId: t.arg.string({ required: true, description: "The store's own id of the session." }),
      profile: t.arg.string({ description: 'Default: the profile that this server was started for.' }),
    },
    resolve: resolve.retryQueue,
  }),
);

mutation('flushRetryQueue', {
  description: 'Try now what waits for a session, from memory and from the spool.',
  input: builder.inputType('FlushRetryQueueInput', {
    description: 'Which session.',
    fields: (t) => ({ sessionId: sessionIdField(t), profile: profileField(t), clientMutationId: clientMutationIdField(t) }),
  }),
  payload: builder.objectRef<resolve.FlushPayload>('FlushRetryQueuePayload').implement({
    description: 'What was written.',
    fields: (t) => ({
      ...payloadFields(t),
      committed: t.exposeInt('committed', { description: 'Messages that left the queue.' }),
      remaining: t.exposeInt('remaining', { description: 'Messages that still wait in memory.' }),
      lastError: t.field({ type: WriteProblem, nullable: true, description: 'Why they do.', resolve: ({ lastError }) => lastError }),
    }),
  }),
  refusals: OF_MESSAGES,
  resolve: resolve.flushRetryQueue,
});

mutation('discardRetryQueue', {
  description: 'Give up what waits in memory for a session. Nothing brings it back.',
  input: builder.inputType('DiscardRetryQueueInput', {
    description: 'Which session, and how much you know to be lost.',
    fields: (t) => ({
      sessionId: sessionIdField(t),
      profile: profileField(t),
      confirmDepth: t.int({ required: true, description: 'The depth that you were shown; refused when it is another by now.' }),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.DiscardPayload>('DiscardRetryQueuePayload').implement({
    description: 'What was given up.',
    fields: (t) => ({ ...payloadFields(t), discarded: t.exposeInt('discarded', { description: 'Messages.' }) }),
  }),
  refusals: ['CONFLICT'],
  resolve: resolve.discardRetryQueue,
});
