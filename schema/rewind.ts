import * as resolve from '../resolvers/rewind.ts';
import { builder } from './builder.ts';
import { Message } from './message.ts';
import { mutation, OF_MESSAGES } from './mutation.ts';
import {
  clientMutationIdField,
  dryRunField,
  expectedActiveIdsField,
  expectedRevisionField,
  leaseTokenField,
  payloadFields,
  profileField,
  sessionField,
  sessionIdField,
} from './write-fields.ts';

const GUARDED = ['SESSION_BUSY', 'TURN_LEASE_LOST', 'COMPRESSION_IN_PROGRESS', 'SESSION_CLOSED', 'TRANSCRIPT_CHANGED'] as const;

mutation('rewindSession', {
  description:
    'Undo the last turns of a person. Their rows are hidden, not deleted, and the receipt restores them. Says with dryRun what would go.',
  input: builder.inputType('RewindSessionInput', {
    description: 'Undo turns.',
    fields: (t) => ({
      sessionId: sessionIdField(t),
      profile: profileField(t),
      turns: t.int({
        defaultValue: 1,
        description: 'How many; messages that follow each other without an answer are one. Below 1 counts as 1.',
      }),
      dryRun: dryRunField(t),
      expectedRevision: expectedRevisionField(t),
      expectedActiveIds: expectedActiveIdsField(t),
      expectedTargetId: t.string({
        description: 'Row id of the message at which the undone turns are to begin; refused when it is another.',
      }),
      requireRetryable: t.boolean({
        defaultValue: false,
        description: 'Only undo a turn that carries a summary, and only if its text can be sent again without loss.',
      }),
      leaseToken: leaseTokenField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.RewindPayload>('RewindSessionPayload').implement({
    description: 'What was undone.',
    fields: (t) => ({
      ...payloadFields(t),
      rewoundCount: t.exposeInt('rewoundCount', { description: 'Rows that were live and are hidden now.' }),
      turnsUndone: t.exposeInt('turnsUndone', { description: 'At most as many as were asked for.' }),
      targetText: t.exposeString('targetText', { description: 'What the person said in the first of them, to edit and send again.' }),
      targetId: t.exposeString('targetId', { description: 'Row id of the first of them.' }),
      retiredIds: t.exposeStringList('retiredIds', { description: 'Row ids of all that is hidden now.' }),
      receipt: t.exposeString('receipt', { nullable: true, description: 'For restoreRewind; null in a dry run.' }),
      newHead: t.field({
        type: Message,
        nullable: true,
        description: 'The newest live message afterwards; null when none is left.',
        resolve: resolve.newHead,
      }),
      replacementMessage: t.field({
        type: Message,
        nullable: true,
        description: 'The summary that the undone message carried, kept as a hidden message of its own.',
        resolve: resolve.replacementMessage,
      }),
      session: sessionField(t),
    }),
  }),
  refusals: [...OF_MESSAGES, ...GUARDED, 'NOTHING_TO_REWIND', 'NOT_RETRYABLE'],
  resolve: resolve.rewindSession,
});

mutation('restoreRewind', {
  description: 'Take a rewind back: exactly what it hid is live again, as long as the session did not go on after it.',
  input: builder.inputType('RestoreRewindInput', {
    description: 'Restore what was undone.',
    fields: (t) => ({
      receipt: t.string({ required: true, description: 'As rewindSession gave it.' }),
      profile: profileField(t),
      dryRun: dryRunField(t),
      leaseToken: leaseTokenField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.RestorePayload>('RestoreRewindPayload').implement({
    description: 'What was restored.',
    fields: (t) => ({
      ...payloadFields(t),
      restoredCount: t.exposeInt('restoredCount', { description: 'Rows that are live again.' }),
      session: sessionField(t),
    }),
  }),
  refusals: [...OF_MESSAGES, ...GUARDED, 'RECEIPT_UNKNOWN'],
  resolve: resolve.restoreRewind,
});
