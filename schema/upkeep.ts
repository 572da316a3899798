import * as resolve from '../resolvers/upkeep.ts';
import type { IndexHealth } from '../src/web-ui/index-file/rebuild-index.ts';
import type { StaleFile } from '../src/web-ui/temporary-files.ts';
import { builder } from './builder.ts';
import { mutation } from './mutation.ts';
import { clientMutationIdField, dryRunField, payloadFields, profileField } from './write-fields.ts';

const OF_FOLDER = ['CONFLICT', 'SIDECAR_UNREADABLE', 'FILE_NOT_WRITTEN', 'NO_SPACE'] as const;

const IndexHealthType = builder.objectRef<IndexHealth>('SessionIndexHealth').implement({
  description: "The Web UI's list of its sessions, `_index.json`, beside the files. It is a cache: lists here never need it.",
  fields: (t) => ({
    status: t.exposeString('status', { description: 'OK, MISSING, CORRUPT, EMPTY_WITH_FILES or STALE.' }),
    rows: t.exposeInt('rows', { description: 'Rows in it.' }),
    missingFiles: t.exposeStringList('missingFiles', { description: 'Sessions in it whose files are gone.' }),
    missingRows: t.exposeStringList('missingRows', { description: 'Sessions whose files are there and that it lacks.' }),
    laggingRows: t.exposeStringList('laggingRows', { description: 'Sessions of which it tells another count or time than the file.' }),
    duplicateIds: t.exposeStringList('duplicateIds', { description: 'Sessions that are in it more than once.' }),
    generatedAt: t.field({ type: 'DateTime', nullable: true, description: 'When it was written.', resolve: (index) => index.generatedAt }),
  }),
});

mutation('rebuildSessionIndex', {
  description: "Make the Web UI's index of its sessions anew from the files. A dry run says what is wrong with the one that is there.",
  input: builder.inputType('RebuildSessionIndexInput', {
    description: 'How.',
    fields: (t) => ({ profile: profileField(t), dryRun: dryRunField(t), clientMutationId: clientMutationIdField(t) }),
  }),
  payload: builder.objectRef<resolve.IndexRebuildPayload>('RebuildSessionIndexPayload').implement({
    description: 'What became of it. The folder, and so its index, is one for all profiles.',
    fields: (t) => ({
      ...payloadFields(t),
      before: t.field({ type: IndexHealthType, description: 'How it was before.', resolve: ({ before }) => before }),
      rows: t.exposeInt('rows', { description: 'Rows that it has, or would have.' }),
      skippedIds: t.exposeStringList('skippedIds', { description: 'Files that are no sessions, and so have no row.' }),
      duplicateIds: t.exposeStringList('duplicateIds', { description: 'Files that another file of the same session stands for.' }),
      sweptFiles: t.exposeStringList('sweptFiles', { description: 'Temporary files, older than an hour, that went, or would go.' }),
    }),
  }),
  refusals: OF_FOLDER,
  resolve: resolve.rebuildSessionIndex,
});

export const StaleFileType = builder.objectRef<StaleFile>('StaleTempFile').implement({
  description: 'A temporary file that a writer left behind.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    ageSeconds: t.exposeFloat('ageSeconds', { description: 'How old it is.' }),
  }),
});

mutation('cleanStaleTempFiles', {
  description: "Remove temporary files that writers left behind in the Web UI's folder. Those of restores stay.",
  input: builder.inputType('CleanStaleTempFilesInput', {
    description: 'Which.',
    fields: (t) => ({
      olderThanSeconds: t.int({ defaultValue: 3600, description: 'Only older ones; at least 60.' }),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.StaleFilesPayload>('CleanStaleTempFilesPayload').implement({
    description: 'What became of it.',
    fields: (t) => ({
      ...payloadFields(t),
      files: t.field({ type: [StaleFileType], description: 'Those that went, or would go.', resolve: ({ files }) => [...files] }),
      kept: t.field({
        type: [StaleFileType],
        description: 'Those of restores, as old, which stay: one may still be wanted.',
        resolve: ({ kept }) => [...kept],
      }),
    }),
  }),
  refusals: OF_FOLDER,
  resolve: resolve.cleanStaleTempFiles,
});

mutation('cleanupEmptySessions', {
  description:
    'Remove session files of the profile that hold nothing, and rows of the index without a file. Spared are a prompt that waits, a turn, a worktree, a draft, and messages in the store.',
  input: builder.inputType('CleanupEmptySessionsInput', {
    description: 'Which. Look at a dry run first.',
    fields: (t) => ({
      zeroOnly: t.boolean({ defaultValue: false, description: 'Also sessions that have a title.' }),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.CleanupPayload>('CleanupEmptySessionsPayload').implement({
    description: 'What became of it.',
    fields: (t) => ({
      ...payloadFields(t),
      sessionIds: t.stringList({ description: 'Sessions whose files went, or would go.', resolve: ({ files }) => [...files] }),
      indexRows: t.stringList({ description: 'Sessions whose rows went, or would go.', resolve: ({ rows }) => [...rows] }),
    }),
  }),
  refusals: [...OF_FOLDER, 'SIDECAR_OVERLAY'],
  resolve: resolve.cleanupEmptySessions,
});

mutation('pruneZeroMessageOrphans', {
  description:
    "Take sessions of the profile without a message anywhere out of the Web UI's index and note them, and forget the note of those that have messages again. Files stay.",
  input: builder.inputType('PruneZeroMessageOrphansInput', {
    description: 'Of which profile. Look at a dry run first.',
    fields: (t) => ({ profile: profileField(t), dryRun: dryRunField(t), clientMutationId: clientMutationIdField(t) }),
  }),
  payload: builder.objectRef<resolve.OrphansPayload>('PruneZeroMessageOrphansPayload').implement({
    description: 'What became of it.',
    fields: (t) => ({
      ...payloadFields(t),
      hidden: t.exposeStringList('hidden', { description: 'Sessions that lists leave out.' }),
      pruned: t.exposeStringList('pruned', { description: 'Of these the ones that were, or would be, noted now.' }),
      healed: t.exposeStringList('healed', { description: 'Sessions whose note went, or would go.' }),
    }),
  }),
  refusals: [...OF_FOLDER, 'TOMBSTONES_UNSUPPORTED'],
  resolve: resolve.pruneZeroMessageOrphans,
});

export const TombstoneKind = builder.enumType('TombstoneKind', {
  description: "The Web UI's two lists of ids.",
  values: {
    ORPHAN: { description: 'Sessions without a message, taken out of its index.' },
    DELETED: { description: 'Sessions that were deleted.' },
  } as const,
});

mutation('clearTombstone', {
  description: "Take a session out of one of the Web UI's lists of ids, so that it may be shown again.",
  input: builder.inputType('ClearTombstoneInput', {
    description: 'Which.',
    fields: (t) => ({
      sessionId: t.string({ required: true, description: 'Of which session.' }),
      kind: t.field({ type: TombstoneKind, required: true, description: 'Of which list.' }),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.TombstonePayload>('ClearTombstonePayload').implement({
    description: 'What became of it.',
    fields: (t) => ({ ...payloadFields(t), cleared: t.exposeBoolean('cleared', { description: 'False: it was not in it.' }) }),
  }),
  refusals: [...OF_FOLDER, 'TOMBSTONES_UNSUPPORTED'],
  resolve: resolve.clearTombstone,
});

// ---------------------------------------------------------------- audit

const AuditFinding = builder.objectRef<resolve.AuditFinding>('WebUiFinding').implement({
  description: 'Something that does not fit.',
  fields: (t) => ({
    sessionId: t.exposeString('sessionId', { description: 'About which session.' }),
    kind: t.exposeString('kind', {
      description:
        'SHRUNKEN_LIVE, MALFORMED_ORPHAN_BACKUP, STATE_DB_DELETED_WEBUI_TOMBSTONE, ORPHAN_BACKUP, ORPHAN_BACKUP_WITHOUT_STATE_ROW, INDEX_MISSING_FILE, INDEX_MISSING_ENTRY, STATE_DB_ORPHAN_WEBUI_ROW, STATE_DB_MISSING_SIDECAR or TURN_JOURNAL_PENDING_TURN.',
    }),
    category: t.exposeString('category', { description: 'REPAIRABLE or UNSAFE_TO_REPAIR.' }),
    recommendation: t.exposeString('recommendation', {
      description:
        'RESTORE_FROM_BAK, REBUILD_INDEX, MATERIALIZE_FROM_STATE_DB, AUDIT_ONLY_PENDING_TURN_JOURNAL, DELETED_SESSION_SKIPPED or MANUAL_REVIEW.',
    }),
    liveMessages: t.int({
      nullable: true,
      description: 'Messages in the file; null without one, or when it was not looked at.',
      resolve: ({ liveMessages }) => (liveMessages < 0 ? null : liveMessages),
    }),
    backupMessages: t.int({
      nullable: true,
      description: 'Messages in the backup; null without one, or when it was not looked at.',
      resolve: ({ backupMessages }) => (backupMessages < 0 ? null : backupMessages),
    }),
    turnId: t.exposeString('turnId', { nullable: true, description: 'Of a turn in the journal.' }),
    event: t.exposeString('event', { nullable: true, description: 'Its latest event.' }),
  }),
});

export const Audit = builder.objectRef<resolve.Audit>('WebUiAudit').implement({
  description: "What is wrong with the Web UI's files beside each other and beside the rows of the profile's store. Changes nothing.",
  fields: (t) => ({
    status: t.exposeString('status', { description: 'OK, WARN, or NEEDS_MANUAL_REVIEW.' }),
    liveSidecars: t.exposeInt('liveSidecars', { description: 'Session files.' }),
    repairable: t.exposeInt('repairable', { description: 'Findings that a mutation mends.' }),
    unsafeToRepair: t.exposeInt('unsafeToRepair', { description: 'Findings for a person.' }),
    items: t.field({ type: [AuditFinding], description: 'The findings.', resolve: ({ items }) => [...items] }),
  }),
});

builder.queryFields((t) => ({
  webUiAudit: t.field({
    type: Audit,
    nullable: true,
    description: "What is wrong with the Web UI's files; null where there are none. Every backup is read whole for it.",
    args: {
      profile: t.arg.string({ description: 'Whose store they are compared with. Default: the profile that this server was started for.' }),
    },
    complexity: 100,
    resolve: resolve.webUiAudit,
  }),
}));
