import * as resolve from '../resolvers/cleanup.ts';
import { builder } from './builder.ts';
import { mutation } from './mutation.ts';
import { ARTIFACTS, FORCE, MANIFESTS } from './session-deletion.ts';
import { clientMutationIdField, dryRunField, payloadFields, profileField } from './write-fields.ts';

const ManifestStatus = builder.enumType('CleanupManifestStatus', {
  description: 'Whether a record of a clean-up can be processed.',
  values: {
    OK: { description: 'It can.' },
    MALFORMED: { description: 'It is no list of ids.' },
    UNREADABLE: { description: 'The system refuses to read it, or it is too large.' },
  } as const,
});

const Manifest = builder.objectRef<resolve.Manifest>('CleanupManifest').implement({
  description: 'A record of deleted sessions whose files in the Hermes home may still be there.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name of its file.' }),
    sessionIds: t.exposeStringList('sessionIds', { description: 'Of which sessions.' }),
    status: t.field({ type: ManifestStatus, description: 'Whether it can be processed.', resolve: ({ status }) => status }),
  }),
});

builder.queryFields((t) => ({
  cleanupManifests: t.field({
    type: [Manifest],
    description: 'What deletions of this server and of the Web UI left to be cleaned up, by name.',
    args: { profile: t.arg.string({ description: 'Default: the profile that this server was started for.' }) },
    complexity: 10,
    resolve: resolve.cleanupManifests,
  }),
}));

mutation('drainCleanupManifests', {
  description: 'Clean up what deletions left behind: the next deletion would do the same. Sessions that are in the store keep their files.',
  input: builder.inputType('DrainCleanupManifestsInput', {
    description: 'In which profile.',
    fields: (t) => ({ profile: profileField(t), dryRun: dryRunField(t), clientMutationId: clientMutationIdField(t) }),
  }),
  payload: builder.objectRef<resolve.DrainPayload>('DrainCleanupManifestsPayload').implement({
    description: 'What became of it.',
    fields: (t) => ({
      ...payloadFields(t),
      manifests: t.field({ type: [Manifest], description: 'As they were before.', resolve: ({ manifests }) => [...manifests] }),
      drained: t.exposeStringList('drained', { description: 'Those that are done with, and gone. Empty after a dry run.' }),
      pendingArtifacts: t.stringList({ description: ARTIFACTS, resolve: ({ pendingIds }) => [...pendingIds] }),
      blockedManifests: t.exposeStringList('blockedManifests', { description: MANIFESTS }),
    }),
  }),
  refusals: ['CLEANUP_LOCK_UNAVAILABLE'],
  resolve: resolve.drainCleanupManifests,
});

const JOURNAL_REFUSALS = ['SESSION_BUSY', 'FILE_NOT_WRITTEN'] as const;

function journalInput(name: string) {
  return builder.inputType(name, {
    description: 'Of which session.',
    fields: (t) => ({
      sessionId: t.string({ required: true, description: 'Also one that is gone.' }),
      force: t.boolean({ defaultValue: false, description: FORCE }),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  });
}

function journalPayload(name: string) {
  return builder.objectRef<resolve.JournalPayload>(name).implement({
    description: 'What became of it.',
    fields: (t) => ({
      ...payloadFields(t),
      files: t.exposeInt('files', { description: 'Files that went, or would go.' }),
      bytes: t.exposeFloat('bytes', { description: 'How large they were.' }),
      removed: t.exposeBoolean('removed', { description: 'False: there was none.' }),
    }),
  });
}

mutation('deleteRunJournal', {
  description: "Delete the journals of a session's runs; the session stays. Without them an interrupted answer can not be recovered.",
  input: journalInput('DeleteRunJournalInput'),
  payload: journalPayload('DeleteRunJournalPayload'),
  refusals: JOURNAL_REFUSALS,
  resolve: resolve.deleteRunJournal,
});

mutation('deleteTurnJournal', {
  description: "Delete the journals of a session's turns, those of every process; the session stays.",
  input: journalInput('DeleteTurnJournalInput'),
  payload: journalPayload('DeleteTurnJournalPayload'),
  refusals: JOURNAL_REFUSALS,
  resolve: resolve.deleteTurnJournal,
});
