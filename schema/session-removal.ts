import * as resolve from '../resolvers/session-removal.ts';
import { sessionsOf } from '../resolvers/writes.ts';
import { DEFAULT_IDLE_DAYS } from '../src/state-db/write/archive-stale.ts';
import { MOST_DELETED } from '../src/state-db/write/delete-sessions.ts';
import { DEFAULT_RETENTION_DAYS } from '../src/state-db/write/prune-sessions.ts';
import { builder } from './builder.ts';
import { mutation, OF_MESSAGES } from './mutation.ts';
import { Session } from './session.ts';
import { clientMutationIdField, dryRunField, payloadFields, profileField, sessionField, sessionIdField } from './write-fields.ts';

export const EXPECTED = 'The ids that a dry run gave; refused when they are others by now.';
export const DELETED = 'What was deleted, or would be: with everything that the sessions delegated.';
export const ORPHANED = 'Sessions that stay and have no parent any more.';
export const DRY = 'True: nothing was changed.';

mutation('deleteSessions', {
  description: 'Delete several sessions, all or none. Ids that are not in the store are skipped.',
  input: builder.inputType('DeleteSessionsInput', {
    description: 'Delete several sessions.',
    fields: (t) => ({
      ids: t.stringList({ required: true, description: `At most ${MOST_DELETED}.` }),
      expectedDeleteIds: t.stringList({ description: EXPECTED }),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.DeleteManyPayload>('DeleteSessionsPayload').implement({
    description: 'What became of them.',
    fields: (t) => ({
      ...payloadFields(t),
      deletedIds: t.exposeStringList('deletedIds', { description: DELETED }),
      orphanedIds: t.exposeStringList('orphanedIds', { description: ORPHANED }),
      skippedIds: t.exposeStringList('skippedIds', { description: 'Not in the store.' }),
      dryRun: t.exposeBoolean('dryRun', { description: DRY }),
    }),
  }),
  refusals: [...OF_MESSAGES, 'DELETE_SET_CHANGED', 'SESSION_WRITE_GUARDED', 'TOO_MANY'],
  resolve: resolve.deleteSessions,
});

mutation('deleteEmptySessions', {
  description: 'Delete every session that ended, is not archived and holds no message.',
  input: builder.inputType('DeleteEmptySessionsInput', {
    description: 'Delete empty sessions.',
    fields: (t) => ({
      expectedDeleteIds: t.stringList({ description: EXPECTED }),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.Removing>('DeleteEmptySessionsPayload').implement({
    description: 'What became of them.',
    fields: (t) => ({
      ...payloadFields(t),
      count: t.int({ description: 'How many.', resolve: ({ deletedIds }) => deletedIds.length }),
      ids: t.stringList({ description: 'Which.', resolve: ({ deletedIds }) => [...deletedIds] }),
      orphanedIds: t.exposeStringList('orphanedIds', { description: ORPHANED }),
      dryRun: t.exposeBoolean('dryRun', { description: DRY }),
    }),
  }),
  refusals: [...OF_MESSAGES, 'DELETE_SET_CHANGED', 'SESSION_WRITE_GUARDED'],
  resolve: resolve.deleteEmptySessions,
});

mutation('clearSession', {
  description: 'Delete every message of a session; the session stays. There is no way back.',
  input: builder.inputType('ClearSessionInput', {
    description: 'Empty a session.',
    fields: (t) => ({
      sessionId: sessionIdField(t),
      confirm: t.boolean({ required: true, description: 'Has to be true.' }),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.ClearPayload>('ClearSessionPayload').implement({
    description: 'What became of it.',
    fields: (t) => ({
      ...payloadFields(t),
      deletedMessages: t.exposeInt('deletedMessages', { description: 'Rows of any state.' }),
      session: sessionField(t),
    }),
  }),
  refusals: [...OF_MESSAGES, 'SESSION_WRITE_GUARDED'],
  resolve: resolve.clearSession,
});

const PruneFilter = builder.enumType('PruneFilter', {
  description: 'Which sessions are pruned. What is pinned never is.',
  values: {
    INACTIVE: { description: 'Ended, and untouched for that long. A compressed segment goes only together with what continues it.' },
    GHOSTS: { description: 'Of the terminal: ended a day ago or more, untitled, without a message.' },
    NEVER_ACTIVE: {
      description: 'Open, of a gateway conversation, in which nothing ever happened. Their routes go too: only while no gateway runs.',
    },
  } as const,
});

mutation('pruneSessions', {
  description:
    'Delete sessions that nobody needs any more. Those in which a turn or a compression is under way are skipped. Ask with dryRun first, and give the ids that it names as expectedIds.',
  input: builder.inputType('PruneSessionsInput', {
    description: 'Prune sessions.',
    fields: (t) => ({
      filter: t.field({ type: PruneFilter, defaultValue: 'INACTIVE', description: 'Which.' }),
      olderThanDays: t.float({ defaultValue: DEFAULT_RETENTION_DAYS, description: 'Untouched for so many days; 0 or more.' }),
      source: t.string({ description: 'Only sessions of this source.' }),
      closeStale: t.boolean({
        defaultValue: false,
        description: 'Also end open sessions, untouched for that long, of runtimes that leave them open when they die.',
      }),
      expectedIds: t.stringList({ description: EXPECTED }),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.PrunePayload>('PruneSessionsPayload').implement({
    description: 'What became of them.',
    fields: (t) => ({
      ...payloadFields(t),
      ids: t.stringList({ description: 'What was deleted, or would be.', resolve: ({ deletedIds }) => [...deletedIds] }),
      count: t.int({ description: 'How many.', resolve: ({ deletedIds }) => deletedIds.length }),
      orphanedIds: t.exposeStringList('orphanedIds', { description: ORPHANED }),
      skippedGuarded: t.exposeStringList('skippedGuarded', { description: 'A turn or a compression is under way in them.' }),
      closedIds: t.exposeStringList('closedIds', { description: 'Ended, since their runtime left them open.' }),
      vacuumDue: t.exposeBoolean('vacuumDue', {
        description: 'More than a quarter of the file is empty, and it was not compacted for 30 days: optimizing it is worth while.',
      }),
      dryRun: t.exposeBoolean('dryRun', { description: DRY }),
    }),
  }),
  refusals: [...OF_MESSAGES, 'SET_CHANGED', 'SESSION_WRITE_GUARDED', 'GATEWAY_ONLINE'],
  resolve: resolve.pruneSessions,
});

mutation('archiveStaleSessions', {
  description: 'Put conversations that rest into the archive. They come back when they live again, unless a person archives them too.',
  input: builder.inputType('ArchiveStaleSessionsInput', {
    description: 'Archive what rests.',
    fields: (t) => ({
      idleDays: t.float({ defaultValue: DEFAULT_IDLE_DAYS, description: 'Untouched for so many days; 0 or more.' }),
      expectedIds: t.stringList({ description: 'The tipIds that a dry run gave; refused when they are others by now.' }),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.SweepPayload>('ArchiveStaleSessionsPayload').implement({
    description: 'What became of them.',
    fields: (t) => ({
      ...payloadFields(t),
      sessionIds: t.exposeStringList('sessionIds', { description: 'Every session that was archived, or would be.' }),
      tipIds: t.exposeStringList('tipIds', { description: 'The last segment of each conversation.' }),
      count: t.int({ description: 'How many conversations.', resolve: ({ tipIds }) => tipIds.length }),
    }),
  }),
  refusals: ['SET_CHANGED'],
  resolve: resolve.archiveStaleSessions,
});

mutation('finalizeOrphanedCompressions', {
  description:
    'End continuations that older programs left behind: open and untouched for seven days, with messages and without a call of a model.',
  input: builder.inputType('FinalizeOrphanedCompressionsInput', {
    description: 'End continuations that were left behind.',
    fields: (t) => ({ profile: profileField(t), dryRun: dryRunField(t), clientMutationId: clientMutationIdField(t) }),
  }),
  payload: builder.objectRef<resolve.FinalizePayload>('FinalizeOrphanedCompressionsPayload').implement({
    description: 'What became of them.',
    fields: (t) => ({
      ...payloadFields(t),
      sessionIds: t.exposeStringList('sessionIds', { description: 'Those that were ended, or would be.' }),
      sessions: t.field({ type: [Session], description: 'These sessions.', resolve: sessionsOf }),
    }),
  }),
  refusals: [],
  resolve: resolve.finalizeOrphanedCompressions,
});

mutation('importSessions', {
  description:
    'Bring in sessions from an export, all or none. A session whose id exists is skipped. At most 500 sessions, 10,000 messages and 5 MiB each, 50,000 messages and 25 MiB in all.',
  input: builder.inputType('ImportSessionsInput', {
    description: 'Import sessions.',
    fields: (t) => ({
      sessions: t.field({ type: ['JSON'], required: true, description: 'Objects as an export has them, one a session.' }),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.ImportPayload>('ImportSessionsPayload').implement({
    description: 'What became of them.',
    fields: (t) => ({
      ...payloadFields(t),
      imported: t.int({ description: 'How many are new.', resolve: ({ importedIds }) => importedIds.length }),
      skipped: t.int({ description: 'How many were there already.', resolve: ({ skippedIds }) => skippedIds.length }),
      detached: t.int({ description: 'How many lost their parent.', resolve: ({ detachedIds }) => detachedIds.length }),
      messageCount: t.exposeInt('messageCount', { description: 'Rows that came with them.' }),
      importedIds: t.exposeStringList('importedIds', { description: 'New in the store.' }),
      skippedIds: t.exposeStringList('skippedIds', { description: 'There already, and left as they are.' }),
      detachedIds: t.exposeStringList('detachedIds', {
        description: 'Without the parent that they name: there is none, or it descends from them.',
      }),
      retitledIds: t.exposeStringList('retitledIds', { description: 'Under another title, since theirs was taken.' }),
    }),
  }),
  refusals: [...OF_MESSAGES, 'IMPORT_TOO_LARGE', 'IMPORT_INVALID'],
  resolve: resolve.importSessions,
});
