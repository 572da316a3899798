import * as resolve from '../resolvers/sidecar-changes.ts';
import { builder } from './builder.ts';
import { mutation, OF_FILES } from './mutation.ts';
import { clientMutationIdField, dryRunField, payloadFields, profileField, sessionField, sessionIdField } from './write-fields.ts';

const SIGNATURE = 'The `sidecar.signature` that you saw; refused with CONFLICT when the file is another by now.';
const MAY_BE_OVERWRITTEN =
  'A running Web UI may hold the session in memory and write it again without this change: a turn is under way, or the file was saved in the last ten minutes.';

export const FileChange = builder.objectRef<resolve.FileChange>('SessionFileChange').implement({
  description: "What became of the Web UI's file of a session. What was changed in the store stands, whatever became of the file.",
  fields: (t) => ({
    sessionId: t.exposeString('sessionId', { description: 'Whose file.' }),
    changed: t.exposeBoolean('changed', { description: 'False: it said so already, or it was refused.' }),
    signature: t.exposeString('signature', { nullable: true, description: 'Of the file now; null when it was refused.' }),
    mayBeOverwritten: t.exposeBoolean('mayBeOverwritten', { description: MAY_BE_OVERWRITTEN }),
    refusalCode: t.string({
      nullable: true,
      description: 'Why the file was left as it is.',
      resolve: ({ refusal }) => refusal?.code ?? null,
    }),
    refusalMessage: t.string({ nullable: true, description: 'The same for people.', resolve: ({ refusal }) => refusal?.message ?? null }),
  }),
});

function filePayload(name: string, description: string) {
  return builder.objectRef<resolve.FilePayload>(name).implement({
    description,
    fields: (t) => ({
      ...payloadFields(t),
      changed: t.exposeBoolean('changed', { description: 'False: the file said so already.' }),
      signature: t.exposeString('signature', { description: 'Of the file now; of the one that is there after a dry run.' }),
      mayBeOverwritten: t.exposeBoolean('mayBeOverwritten', { description: MAY_BE_OVERWRITTEN }),
      session: sessionField(t),
    }),
  });
}

const ComposerDraftInput = builder.inputType('ComposerDraftInput', {
  description: 'What was typed and not sent; what is left out stays.',
  fields: (t) => ({
    text: t.string({ description: 'At most 50,000 characters.' }),
    files: t.field({ type: ['JSON'], description: 'Attached files, as the browser keeps them; at most 50.' }),
  }),
});

mutation('updateSession', {
  description:
    "Change what the Web UI keeps of a session in its file, as one save; what is left out stays, and so does every member that this server doesn't know. Rows of state.db are not touched.",
  input: builder.inputType('UpdateSessionInput', {
    description: 'What to change.',
    fields: (t) => ({
      sessionId: sessionIdField(t),
      title: t.string({ description: 'At most 80 characters are kept; null or blank: Untitled.' }),
      pinned: t.boolean({ description: 'Pinned in the Web UI, which allows so many conversations: PIN_LIMIT.' }),
      archived: t.boolean({ description: 'Put away.' }),
      projectId: t.id({ description: 'Into a project of the same profile; null takes it out.' }),
      personality: t.string({ description: 'Null or blank: none.' }),
      enabledToolsets: t.stringList({ description: 'Null: those of the profile. At most 256.' }),
      composerDraft: t.field({ type: ComposerDraftInput, description: 'Null empties it.' }),
      ifSignature: t.string({ description: SIGNATURE }),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: filePayload('UpdateSessionPayload', 'What became of it.'),
  refusals: [...OF_FILES, 'PIN_LIMIT'],
  resolve: resolve.updateSession,
});

mutation('moveSession', {
  description: 'Put a session of the Web UI into a project of its profile, or take it out. It keeps its place in lists.',
  input: builder.inputType('MoveSessionInput', {
    description: 'Where to.',
    fields: (t) => ({
      sessionId: sessionIdField(t),
      projectId: t.id({ description: 'The project; null or left out: none.' }),
      ifSignature: t.string({ description: SIGNATURE }),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: filePayload('MoveSessionPayload', 'What became of it.'),
  refusals: OF_FILES,
  resolve: resolve.moveSession,
});

mutation('clearWakeupPause', {
  description: 'End the pause of automatic turns of a session.',
  input: builder.inputType('ClearWakeupPauseInput', {
    description: 'Of which session.',
    fields: (t) => ({
      sessionId: sessionIdField(t),
      ifSignature: t.string({ description: SIGNATURE }),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: filePayload('ClearWakeupPausePayload', 'What became of it.'),
  refusals: OF_FILES,
  resolve: resolve.clearWakeupPause,
});

mutation('persistCollapsedPartials', {
  description:
    "Take partial answers that repeat the one before out of a session's file. The old file is kept as its backup. Refused while a turn is under way.",
  input: builder.inputType('PersistCollapsedPartialsInput', {
    description: 'Of which session.',
    fields: (t) => ({
      sessionId: sessionIdField(t),
      ifSignature: t.string({ description: SIGNATURE }),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.FilePayload>('PersistCollapsedPartialsPayload').implement({
    description: 'What became of it.',
    fields: (t) => ({
      ...payloadFields(t),
      changed: t.exposeBoolean('changed', { description: 'False: nothing repeats.' }),
      droppedMessages: t.exposeInt('droppedMessages', { description: 'Messages that went, or would go.' }),
      signature: t.exposeString('signature', { description: 'Of the file now; of the one that is there after a dry run.' }),
      mayBeOverwritten: t.exposeBoolean('mayBeOverwritten', { description: MAY_BE_OVERWRITTEN }),
      session: sessionField(t),
    }),
  }),
  refusals: [...OF_FILES, 'SESSION_BUSY'],
  resolve: resolve.persistCollapsedPartials,
});

mutation('recoverWorkspace', {
  description:
    "Write the folder that stands in for one that is gone into a session's file, where `workspaceBinding` says `recovered`. Nothing else of the file changes. Refused with VALIDATION where nothing may stand in; `details.state` has the state of the folder.",
  input: builder.inputType('RecoverWorkspaceInput', {
    description: 'Of which session.',
    fields: (t) => ({
      sessionId: sessionIdField(t),
      expected: t.string({
        required: true,
        description: 'The `workspaceBinding.stored` that you saw; refused with CONFLICT when the file has another folder by now.',
      }),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.RecoveredPayload>('RecoverWorkspacePayload').implement({
    description: 'What became of it.',
    fields: (t) => ({
      ...payloadFields(t),
      changed: t.exposeBoolean('changed', { description: 'False: the folder can be used, or the file has the other one already.' }),
      workspace: t.exposeString('workspace', { nullable: true, description: 'The folder as the file has it now, or would have it.' }),
      signature: t.exposeString('signature', { description: 'Of the file now; of the one that is there after a dry run.' }),
      mayBeOverwritten: t.exposeBoolean('mayBeOverwritten', { description: MAY_BE_OVERWRITTEN }),
      session: sessionField(t),
    }),
  }),
  refusals: OF_FILES,
  resolve: resolve.recoverWorkspace,
});

mutation('importSession', {
  description:
    "Take a session of another program, which only the store has, into the Web UI: a file under the same id with the messages of its conversation so far. Where there is a file, it gets the messages that the program added since, if it begins with the ones of the file, what they tell of tools, and where it came from; nothing that the file says goes. Runs of sub-agents and Claude Code's transcripts get no file. Refused with SESSION_BUSY where messages would come while a turn is under way.",
  input: builder.inputType('ImportSessionInput', {
    description: 'Which session.',
    fields: (t) => ({
      sessionId: sessionIdField(t),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.ImportedPayload>('ImportSessionPayload').implement({
    description: 'What became of it.',
    fields: (t) => ({
      ...payloadFields(t),
      imported: t.exposeBoolean('imported', { description: 'A file was, or would be, made.' }),
      changed: t.exposeBoolean('changed', { description: 'The file that was there was, or would be, changed.' }),
      readOnlyBecause: t.exposeString('readOnlyBecause', {
        nullable: true,
        description: 'Why it can only be looked at, as `Session.claimable` says it; null where its conversation may be gone on with.',
      }),
      messageCount: t.exposeInt('messageCount', { description: 'Messages of its transcript, or of its file where it has one.' }),
      addedMessages: t.exposeInt('addedMessages', { description: 'How many of them the file did not have before.' }),
      mayBeOverwritten: t.exposeBoolean('mayBeOverwritten', { description: MAY_BE_OVERWRITTEN }),
      session: sessionField(t),
    }),
  }),
  refusals: [...OF_FILES, 'SESSION_BUSY', 'PROJECTS_UNREADABLE'],
  resolve: resolve.importSession,
});
