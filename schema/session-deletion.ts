import * as resolve from '../resolvers/session-deletion.ts';
import { builder } from './builder.ts';
import { mutation, OF_MESSAGES } from './mutation.ts';
import { DELETED, DRY, EXPECTED, ORPHANED } from './session-removal.ts';
import { clientMutationIdField, dryRunField, payloadFields, profileField, sessionIdField } from './write-fields.ts';

export const FORCE = 'Also where it can not be told whether a turn still runs. One that runs is never cut off.';
export const MANIFESTS = 'Records of earlier clean-ups that no program can process; a person has to look at them.';
export const ARTIFACTS = 'Sessions of whose transcripts or request dumps something is left; a later clean-up tries again.';

const DeleteScope = builder.enumType('DeleteScope', {
  description: 'How much of a conversation is deleted.',
  values: {
    SEGMENT: { description: 'The session alone, with what it delegated. What continues it stays, without a parent.' },
    LINEAGE: { description: 'Every segment of the conversation, with what they delegated. Branches stay.' },
  } as const,
});

const DeletionRules = builder.enumType('DeletionRules', {
  description: 'By whose rules a session is deleted: they differ in which descendants go with it.',
  values: {
    AGENT: { description: "Those of the Hermes Agent: only its store has the session. The Web UI's files are not touched." },
    WEB_UI: { description: 'Those of the Web UI: it keeps a file of the session, or the session is one of its own.' },
  } as const,
});

const FileKind = builder.enumType('SessionFileKind', {
  description: 'What a file of a session is.',
  values: {
    SIDECAR: { description: "The Web UI's session file." },
    BACKUP: { description: 'Its backup.' },
    ATTACHMENTS: { description: 'The folder of attachments.' },
    TURN_JOURNAL: { description: "A process's journal of turns." },
    RUN_JOURNAL: { description: 'The folder of journals of runs.' },
    TRANSCRIPT: { description: 'A transcript in the Hermes home.' },
    REQUEST_DUMP: { description: 'A dump of a request in the Hermes home.' },
  } as const,
});

const FileHome = builder.enumType('SessionFileHome', {
  description: 'Where a path begins.',
  values: {
    WEB_UI: { description: "The Web UI's folder." },
    ATTACHMENTS: { description: "The Web UI's folder of attachments." },
    PROFILE: { description: 'The Hermes home of the profile.' },
  } as const,
});

const SessionFileType = builder.objectRef<resolve.FileOfSession>('SessionFile').implement({
  description: 'A file of a session, or a folder of it with everything inside.',
  fields: (t) => ({
    home: t.field({ type: FileHome, description: 'Where the path begins.', resolve: ({ home }) => home }),
    path: t.exposeString('path', { description: 'Relative to that.' }),
    kind: t.field({ type: FileKind, description: 'What it is.', resolve: ({ kind }) => kind }),
    files: t.exposeInt('files', { description: 'How many files: more than one only in a folder.' }),
    bytes: t.exposeFloat('bytes', { description: 'How large they are.' }),
  }),
});

const DeletionRefusal = builder.objectRef<resolve.DeletePreviewPayload['refusals'][number]>('DeletionRefusal').implement({
  description: 'Why a deletion would be refused.',
  fields: (t) => ({
    code: t.exposeString('code', { description: 'As the mutation would have it.' }),
    message: t.exposeString('message', { description: 'For people.' }),
  }),
});

mutation('deleteSession', {
  description:
    'Delete a session, wherever it is kept, with its messages, usage and files. There is no way back: ask with dryRun first, and give the ids that it names as expectedDeleteIds.',
  input: builder.inputType('DeleteSessionInput', {
    description: 'Delete a session.',
    fields: (t) => ({
      sessionId: sessionIdField(t),
      scope: t.field({ type: DeleteScope, defaultValue: 'SEGMENT', description: 'How much of the conversation.' }),
      expectedDeleteIds: t.stringList({ description: EXPECTED }),
      onlyIfEmpty: t.boolean({
        defaultValue: false,
        description: 'Delete nothing unless it has no row, no title and no children, and its file no message, prompt or draft.',
      }),
      keepStateDb: t.boolean({
        defaultValue: false,
        description: "Of a session that the Web UI keeps: only the Web UI's files; rows stay.",
      }),
      force: t.boolean({ defaultValue: false, description: FORCE }),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.DeletePayload>('DeleteSessionPayload').implement({
    description: 'What became of it.',
    fields: (t) => ({
      ...payloadFields(t),
      deletedIds: t.stringList({ description: DELETED, resolve: ({ deletion }) => [...deletion.deletedIds] }),
      orphanedIds: t.stringList({ description: ORPHANED, resolve: ({ deletion }) => [...deletion.orphanedIds] }),
      rules: t.field({ type: DeletionRules, description: 'By whose rules.', resolve: ({ deletion }) => rulesOf(deletion) }),
      rowsDeleted: t.boolean({
        description: 'Rows of the store went, or would go. False for a chat, whose rows the Web UI never deletes.',
        resolve: ({ deletion: { webUi, deletedIds } }) => webUi?.rowsDeleted ?? deletedIds.length > 0,
      }),
      removedFiles: t.field({
        type: [SessionFileType],
        description: 'Files that went, or would go, of a session that the Web UI keeps. Those of `pendingIds` may still be there.',
        resolve: ({ deletion }) => [...(deletion.webUi?.files ?? [])],
      }),
      pendingIds: t.stringList({
        description: 'Sessions of which something could not be deleted yet: the next process that writes finishes it.',
        resolve: ({ deletion }) => [...(deletion.webUi?.pendingIds ?? [])],
      }),
      pendingArtifacts: t.stringList({ description: ARTIFACTS, resolve: ({ deletion }) => [...(deletion.webUi?.pendingArtifacts ?? [])] }),
      blockedManifests: t.stringList({ description: MANIFESTS, resolve: ({ deletion }) => [...(deletion.webUi?.blockedManifests ?? [])] }),
      keptWorktrees: t.stringList({
        description: 'Folders of git worktrees of the sessions, which stay.',
        resolve: ({ deletion }) => [...(deletion.webUi?.keptWorktrees ?? [])],
      }),
      mayBeOverwritten: t.boolean({
        description: 'A running Web UI may hold the session in memory and write its file again.',
        resolve: ({ deletion }) => deletion.webUi?.mayBeOverwritten ?? false,
      }),
      dryRun: t.exposeBoolean('dryRun', { description: DRY }),
    }),
  }),
  refusals: [
    ...OF_MESSAGES,
    'CONFLICT',
    'DELETE_SET_CHANGED',
    'SESSION_WRITE_GUARDED',
    'SESSION_BUSY',
    'SESSION_READ_ONLY',
    'SIDECAR_UNREADABLE',
    'SIDECAR_OVERLAY',
    'TOMBSTONES_UNSUPPORTED',
    'CLEANUP_LOCK_UNAVAILABLE',
    'FILE_NOT_WRITTEN',
    'NO_SPACE',
  ],
  resolve: resolve.deleteSession,
});

function rulesOf({ webUi }: { readonly webUi?: object | null }): 'AGENT' | 'WEB_UI' {
  return webUi == null ? 'AGENT' : 'WEB_UI';
}

const DeletePreview = builder.objectRef<resolve.DeletePreviewPayload>('DeletePreview').implement({
  description: 'What a deletion would do. Nothing was changed.',
  fields: (t) => ({
    sessionId: t.exposeString('sessionId', { description: 'Of which session.' }),
    rules: t.field({ type: DeletionRules, description: 'By whose rules.', resolve: rulesOf }),
    deletedIds: t.exposeStringList('deletedIds', { description: 'What would be deleted: with everything that the sessions delegated.' }),
    orphanedIds: t.exposeStringList('orphanedIds', { description: 'Sessions that would stay and have no parent any more.' }),
    files: t.field({ type: [SessionFileType], description: 'Files that would go.', resolve: ({ files }) => [...files] }),
    keptWorktrees: t.stringList({
      description: 'Folders of git worktrees, which would stay.',
      resolve: ({ webUi }) => [...(webUi?.keptWorktrees ?? [])],
    }),
    refusals: t.field({
      type: [DeletionRefusal],
      description: 'Every reason for which it would be refused now; empty: it would not be.',
      resolve: ({ refusals }) => [...refusals],
    }),
  }),
});

builder.queryFields((t) => ({
  deletePreview: t.field({
    type: DeletePreview,
    nullable: true,
    description: 'What `deleteSession` would do with a session, and why it would be refused; null for one that is nowhere.',
    args: {
      sessionId: t.arg.string({ required: true, description: 'Of which session.' }),
      scope: t.arg({ type: DeleteScope, defaultValue: 'SEGMENT', description: 'How much of the conversation.' }),
      keepStateDb: t.arg.boolean({ defaultValue: false, description: 'As the mutation has it.' }),
      force: t.arg.boolean({ defaultValue: false, description: 'As the mutation has it.' }),
      profile: t.arg.string({ description: 'Default: the profile that this server was started for.' }),
    },
    complexity: 20,
    resolve: resolve.deletePreview,
  }),
}));
