import * as resolve from '../resolvers/rewrite.ts';
import { builder } from './builder.ts';
import { mutation, OF_MESSAGES } from './mutation.ts';
import { TranscriptMessageInput } from './transcript-input.ts';
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

const RewriteMode = builder.enumType('RewriteMode', {
  description: 'What becomes of the rows that a rewrite replaces.',
  values: {
    ARCHIVE_DROPPED: { description: 'Rows that begin the same stay. From the first difference on they are hidden, not deleted.' },
    ACTIVE_ONLY: { description: 'The live rows are deleted; archived history stays. Needs an expected state, or force.' },
    DESTRUCTIVE: { description: 'Every row is deleted, the history and its search entries too. Needs an expected state and force.' },
  } as const,
});

mutation('rewriteTranscript', {
  description: 'Write the transcript of a session anew. Prefer ARCHIVE_DROPPED for anything that a person can regret.',
  input: builder.inputType('RewriteTranscriptInput', {
    description: 'The whole transcript as it is to be.',
    fields: (t) => ({
      sessionId: sessionIdField(t),
      profile: profileField(t),
      mode: t.field({ type: RewriteMode, required: true, description: 'What becomes of the rows that are there.' }),
      messages: t.field({
        type: [TranscriptMessageInput],
        required: true,
        description: 'All of it, in order. Give messages that were there before their messageUid.',
      }),
      expectedRevision: expectedRevisionField(t),
      expectedActiveIds: expectedActiveIdsField(t),
      force: t.boolean({ defaultValue: false, description: 'Yes, delete. See the modes.' }),
      leaseToken: leaseTokenField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.RewritePayload>('RewriteTranscriptPayload').implement({
    description: 'What became of the rows.',
    fields: (t) => ({
      ...payloadFields(t),
      kept: t.exposeInt('kept', { description: 'Messages whose rows stayed.' }),
      inserted: t.exposeInt('inserted', { description: 'Messages with new rows.' }),
      insertedIds: t.exposeStringList('insertedIds', { description: 'Their row ids, in order; none in a dry run.' }),
      retiredIds: t.exposeStringList('retiredIds', { description: 'Row ids of what is hidden now.' }),
      deletedCount: t.int({ description: 'Rows that are gone.', resolve: resolve.deletedCount }),
      session: sessionField(t),
    }),
  }),
  refusals: [...OF_MESSAGES, 'SESSION_BUSY', 'TURN_LEASE_LOST', 'COMPRESSION_IN_PROGRESS', 'SESSION_CLOSED', 'TRANSCRIPT_CHANGED'],
  resolve: resolve.rewriteTranscript,
});
