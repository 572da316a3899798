import { int32 } from '../resolvers/numbers.ts';
import * as resolve from '../resolvers/restoring.ts';
import { builder } from './builder.ts';
import { mutation, OF_FILES } from './mutation.ts';
import { Audit } from './upkeep.ts';
import { clientMutationIdField, dryRunField, payloadFields, profileField, sessionField, sessionIdField } from './write-fields.ts';

const OF_FOLDER = ['CONFLICT', 'SIDECAR_UNREADABLE', 'SIDECAR_OVERLAY', 'FILE_NOT_WRITTEN', 'NO_SPACE'] as const;

const RestoreObjection = builder.enumType('RestoreObjection', {
  description: 'Why a backup is not restored.',
  values: {
    NO_BACKUP: { description: 'There is none.' },
    BACKUP_HAS_NO_MORE_MESSAGES: { description: 'The file has as many messages, or more.' },
    LIVE_IS_NEWER: { description: 'The file has messages that are newer than the last one in the backup.' },
    INTENTIONAL_CLEAR_TRUNCATE: { description: 'The session was cleared on purpose.' },
    INTENTIONAL_COMPRESS_SHRINK: { description: 'The session was compressed since.' },
    INTENTIONAL_MESSAGE_SHRINK: { description: 'Messages were taken out on purpose.' },
    DELETED: { description: 'There is no file, and the session was deleted in the Web UI.' },
    NO_STATE_ROW: { description: 'There is no file, and the store does not have the session.' },
  } as const,
});

const messages = (count: number) => (count < 0 ? null : int32(count));

mutation('restoreFromBackup', {
  description:
    "Put the backup of a session's file in its place; what was there is kept beside it, and the backup stays. Without `force` only one that is the better copy: else nothing is done, and `reason` says why. Refused while a turn is under way.",
  input: builder.inputType('RestoreFromBackupInput', {
    description: 'Which.',
    fields: (t) => ({
      sessionId: sessionIdField(t),
      force: t.boolean({ defaultValue: false, description: 'Also a backup that is not the better copy.' }),
      ifSignature: t.string({
        description: 'The `sidecar.signature` that you saw; refused with CONFLICT when the file is another by now.',
      }),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.RestoredPayload>('RestoreFromBackupPayload').implement({
    description: 'What became of it.',
    fields: (t) => ({
      ...payloadFields(t),
      restored: t.exposeBoolean('restored', { description: 'The backup is, or would be, the file now.' }),
      recommendation: t.exposeString('recommendation', { description: 'Of before: RESTORE, NO_ACTION or NO_BACKUP.' }),
      reason: t.field({
        type: RestoreObjection,
        nullable: true,
        description: 'Why it was not restored; null when it was.',
        resolve: ({ reason }) => reason,
      }),
      messagesBefore: t.int({
        nullable: true,
        description: 'Messages in the file before; null when it was no session.',
        resolve: ({ liveMessages }) => messages(liveMessages),
      }),
      backupMessages: t.int({
        nullable: true,
        description: 'Messages in the backup; null without one.',
        resolve: ({ backupMessages }) => messages(backupMessages),
      }),
      messagesAfter: t.int({
        nullable: true,
        description: 'Messages in the file now; null when it is no session.',
        resolve: ({ messagesAfter }) => messages(messagesAfter),
      }),
      liveIsNewer: t.exposeBoolean('liveIsNewer', {
        description: 'The file had messages that are newer than the last one in the backup.',
      }),
      keptAs: t.exposeString('keptAs', { nullable: true, description: 'The name of the copy of what was there; null when nothing was.' }),
      mayBeOverwritten: t.exposeBoolean('mayBeOverwritten', {
        description: 'A running Web UI may hold the session in memory and save that in place of the restored one.',
      }),
      session: sessionField(t),
    }),
  }),
  refusals: [...OF_FOLDER, 'SIDECAR_CORRUPT', 'SIDECAR_TOO_LARGE', 'SESSION_BUSY'],
  resolve: resolve.restoreFromBackup,
});

const SidecarSkip = builder.enumType('SidecarSkip', {
  description: 'Why no file was made of a session.',
  values: {
    FILE_EXISTS: { description: 'It has one, or got one meanwhile, which stays as it is.' },
    TOMBSTONED: { description: 'It was deleted in the Web UI.' },
    NO_MESSAGES: { description: 'The store has no live message of it.' },
    NOT_WEB_UI: { description: "It is not the Web UI's own; see `importSession`." },
    NOT_FOUND: { description: 'The store does not have it.' },
    UNSAFE_ID: { description: 'The Web UI has no files of such ids.' },
    NOT_WRITTEN: { description: 'The file could not be written; see `refusalCode`.' },
  } as const,
});

const MaterializedSession = builder.objectRef<resolve.MaterializedSession>('MaterializedSession').implement({
  description: 'What became of one session.',
  fields: (t) => ({
    sessionId: t.exposeString('sessionId', { description: 'Which.' }),
    outcome: t.string({
      description: 'MATERIALIZED: it has, or would have, a file. SKIPPED: none was made.',
      resolve: ({ materialized }) => (materialized ? 'MATERIALIZED' : 'SKIPPED'),
    }),
    reason: t.field({
      type: SidecarSkip,
      nullable: true,
      description: 'Why it was skipped; null when it was not.',
      resolve: ({ reason }) => reason,
    }),
    refusalCode: t.exposeString('refusal', { nullable: true, description: 'What the write was refused for; null unless NOT_WRITTEN.' }),
    messageCount: t.exposeInt('messages', { description: 'Messages of the file.' }),
    session: sessionField(t),
  }),
});

mutation('materializeSidecars', {
  description:
    'Make files of the Web UI anew from the store, for sessions of the Web UI whose files are lost: live messages with their tools and reasoning. A file that is there is never written over, and nothing that was deleted comes back.',
  input: builder.inputType('MaterializeSidecarsInput', {
    description: 'Which.',
    fields: (t) => ({
      ids: t.idList({ description: 'At most 500 sessions. Default: all that `webUiAudit` calls STATE_DB_MISSING_SIDECAR.' }),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.MaterializedPayload>('MaterializeSidecarsPayload').implement({
    description: 'What became of it.',
    fields: (t) => ({
      ...payloadFields(t),
      sessions: t.field({
        type: [MaterializedSession],
        description: 'Each session, in the order of the ids.',
        resolve: resolve.materializedSessions,
      }),
      materialized: t.int({
        description: 'Files that were, or would be, made.',
        resolve: ({ sessions }) => sessions.filter(({ materialized }) => materialized).length,
      }),
    }),
  }),
  refusals: [...OF_FOLDER, 'TOO_MANY'],
  resolve: resolve.materializeSidecars,
});

const LeftSession = builder.objectRef<resolve.LeftSession>('LeftSession').implement({
  description: 'A finding that can be mended, and was left.',
  fields: (t) => ({
    sessionId: t.exposeString('sessionId', { description: 'Of which session.' }),
    reason: t.exposeString('reason', {
      description: 'SESSION_BUSY, LIVE_IS_NEWER, or the reason or the code that the mutation for this one session answers with.',
    }),
  }),
});

mutation('repairSafe', {
  description:
    'Mend all that `webUiAudit` finds and that loses nothing: restore backups that are the better copies, make the index anew, make lost files from the store. What needs a person stays, as do turns of the journal. Doing it twice is doing it once.',
  input: builder.inputType('RepairSafeInput', {
    description: 'Of which profile. Look at a dry run first.',
    fields: (t) => ({ profile: profileField(t), dryRun: dryRunField(t), clientMutationId: clientMutationIdField(t) }),
  }),
  payload: builder.objectRef<resolve.RepairPayload>('RepairSafePayload').implement({
    description: 'What became of it.',
    fields: (t) => ({
      ...payloadFields(t),
      before: t.field({ type: Audit, description: 'The findings before.', resolve: ({ before }) => before }),
      after: t.field({
        type: Audit,
        description: 'The findings afterwards; after a dry run as they would be.',
        resolve: ({ after }) => after,
      }),
      restoredIds: t.exposeStringList('restoredIds', { description: 'Sessions whose backups are, or would be, their files now.' }),
      materializedIds: t.exposeStringList('materializedIds', { description: 'Sessions that have, or would have, files again.' }),
      indexRebuilt: t.exposeBoolean('indexRebuilt', { description: 'The index was, or would be, made anew.' }),
      left: t.field({ type: [LeftSession], description: 'What could be mended and was not.', resolve: ({ left }) => [...left] }),
      repaired: t.exposeInt('repaired', { description: 'Sessions that were, or would be, restored or made anew.' }),
      clean: t.exposeBoolean('clean', { description: 'No finding is left.' }),
    }),
  }),
  refusals: OF_FOLDER,
  resolve: resolve.repairSafe,
});

mutation('startCompressionRecovery', {
  description:
    'Begin the focused continuation of a session whose context could not be compressed any further: a new session without messages, in the same folder and with the same model. One that is there is given again.',
  input: builder.inputType('StartCompressionRecoveryInput', {
    description: 'Of which session.',
    fields: (t) => ({
      sessionId: sessionIdField(t),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.StartedPayload>('StartCompressionRecoveryPayload').implement({
    description: 'The continuation.',
    fields: (t) => ({
      ...payloadFields(t),
      created: t.exposeBoolean('created', { description: 'False: it was there already.' }),
      sessionId: t.exposeString('sessionId', { description: 'Its id; after a dry run the one that it would have.' }),
      sourceSessionId: t.exposeString('sourceSessionId', { description: 'The exhausted session.' }),
      action: t.exposeString('action', { description: 'What it answers: start_focused_continuation.' }),
      session: sessionField(t),
    }),
  }),
  refusals: [...OF_FILES, 'NOT_EXHAUSTED'],
  resolve: resolve.startCompressionRecovery,
});
