import * as resolve from '../resolvers/session-marks.ts';
import { sessionsOf } from '../resolvers/writes.ts';
import { builder } from './builder.ts';
import { mutation, OF_FILES } from './mutation.ts';
import { Session } from './session.ts';
import { FileChange } from './sidecar-changes.ts';
import { clientMutationIdField, dryRunField, payloadFields, profileField, sessionField, sessionIdField } from './write-fields.ts';

const SetTitleSource = builder.enumType('SetTitleSource', {
  description: 'Who sets a title. A title of a higher rank is not replaced.',
  values: {
    USER: { value: 'user', description: 'A person: always lands.' },
    LLM: { value: 'llm', description: 'A model: not over the title of a person.' },
    DERIVED: { value: 'derived', description: 'Made from the messages: only where there is none.' },
  } as const,
});

mutation('setSessionTitle', {
  description:
    'Set or clear the title of a session. Titles are unique: one of an earlier segment of the same conversation is handed on, one of another session refused.',
  input: builder.inputType('SetSessionTitleInput', {
    description: 'Set a title.',
    fields: (t) => ({
      sessionId: sessionIdField(t),
      title: t.string({ description: 'Up to 100 characters after cleaning; null or blank clears it.' }),
      source: t.field({ type: SetTitleSource, defaultValue: 'user', description: 'Who sets it.' }),
      expectedTitle: t.string({ description: 'Refuse when the title is another one; null expects that there is none.' }),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.TitlePayload>('SetSessionTitlePayload').implement({
    description: 'What became of it.',
    fields: (t) => ({
      ...payloadFields(t),
      changed: t.exposeBoolean('changed', { description: 'False: it was so, or the title there ranks higher.' }),
      transferredFrom: t.exposeString('transferredFrom', {
        nullable: true,
        description: 'The earlier segment that had the title until now.',
      }),
      files: t.field({ type: [FileChange], description: "What became of the Web UI's files.", resolve: ({ files }) => [...files] }),
      session: sessionField(t),
    }),
  }),
  refusals: [...OF_FILES, 'TITLE_IN_USE', 'TITLE_TOO_LONG', 'TITLE_PROTECTED'],
  resolve: resolve.setSessionTitle,
});

mutation('setSessionArchived', {
  description:
    'Put a conversation into the archive or take it out: the session, its earlier segments, and what goes on from it. A dry run says which.',
  input: builder.inputType('SetSessionArchivedInput', {
    description: 'Archive a conversation.',
    fields: (t) => ({
      sessionId: sessionIdField(t),
      archived: t.boolean({ required: true, description: 'Into the archive, or out of it.' }),
      expectedCascade: t.stringList({ description: 'The ids that a dry run gave; refused when they are others by now.' }),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.ArchivedPayload>('SetSessionArchivedPayload').implement({
    description: 'What became of it.',
    fields: (t) => ({
      ...payloadFields(t),
      sessionIds: t.exposeStringList('sessionIds', { description: 'The session and those that follow along.' }),
      cascadeCount: t.int({ description: 'How many these are.', resolve: ({ sessionIds }) => sessionIds.length }),
      sessions: t.field({ type: [Session], description: 'These sessions.', resolve: sessionsOf }),
      files: t.field({ type: [FileChange], description: "What became of the Web UI's files.", resolve: ({ files }) => [...files] }),
      session: sessionField(t),
    }),
  }),
  refusals: [...OF_FILES, 'CASCADE_CHANGED'],
  resolve: resolve.setSessionArchived,
});

mutation('setSessionFlags', {
  description: 'Pin, hide, or mark a conversation as read. What is pinned is not hidden any more.',
  input: builder.inputType('SetSessionFlagsInput', {
    description: 'Set flags of a conversation; those left out stay.',
    fields: (t) => ({
      sessionId: sessionIdField(t),
      pinned: t.boolean({ description: 'At the top of lists, and never pruned or swept into the archive.' }),
      hidden: t.boolean({ description: 'In no list.' }),
      read: t.boolean({ description: 'Read now; false: unread.' }),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.FlagsPayload>('SetSessionFlagsPayload').implement({
    description: 'What became of it.',
    fields: (t) => ({
      ...payloadFields(t),
      sessions: t.field({
        type: [Session],
        description: 'The session and those of its conversation that follow along.',
        resolve: sessionsOf,
      }),
      files: t.field({ type: [FileChange], description: "What became of the Web UI's files.", resolve: ({ files }) => [...files] }),
      session: sessionField(t),
    }),
  }),
  refusals: [...OF_FILES, 'PIN_LIMIT'],
  resolve: resolve.setSessionFlags,
});
