import * as resolve from '../resolvers/new-web-ui-session.ts';
import { builder } from './builder.ts';
import { mutation, OF_FILES } from './mutation.ts';
import { clientMutationIdField, dryRunField, payloadFields, profileField, sessionField } from './write-fields.ts';

const NewSessionWarning = builder.enumType('NewSessionWarning', {
  description: 'What a new session of the Web UI does without.',
  values: {
    PROFILE_CONFIG_UNREADABLE: {
      description: "The profile's `config.yaml` is damaged, too large or not to be read, and counted as empty.",
    },
    SERVER_CONFIG_UNREADABLE: { description: "The same of the root profile's, which has the model for profiles that name none." },
    WORKTREE_SKIPPED: { description: 'The profile wants a git worktree for each session. None was made: this server never makes one.' },
    NO_MODEL: { description: 'Nothing names a model; choose one before the first message.' },
    NO_WORKSPACE: { description: 'Nothing names a folder that is there.' },
  } as const,
});

mutation('createWebUiSession', {
  description:
    'Make a session of the Web UI: a file without messages, with what the profile begins sessions with where nothing is given. Untitled ones are drafts, which lists leave out until the first message. Rows of state.db are for `createSession`.',
  input: builder.inputType('CreateWebUiSessionInput', {
    description: 'A session.',
    fields: (t) => ({
      title: t.string({ description: 'At most 80 characters are kept. Default: Untitled.' }),
      workspace: t.string({
        description:
          'A folder that is there, by its whole path: in the home folder or among the saved workspaces. Default: the one that the profile used last, or is configured with.',
      }),
      model: t.string({ description: "Default: the one of the profile's config.yaml, else the server's." }),
      provider: t.string({ description: 'Stands as it is beside a model; alone, in place of the configured one.' }),
      projectId: t.id({ description: 'Into a project of the same profile.' }),
      personality: t.string({ description: 'Default: none.' }),
      toolsets: t.stringList({ description: 'Default: those of the profile. At most 256.' }),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.NewWebUiSessionPayload>('CreateWebUiSessionPayload').implement({
    description: 'The session.',
    fields: (t) => ({
      ...payloadFields(t),
      sessionId: t.exposeString('sessionId', { description: 'Its id; after a dry run one that it could have had.' }),
      title: t.exposeString('title', { description: 'As it was kept.' }),
      workspace: t.exposeString('workspace', { nullable: true, description: 'Where it works; the real path of one that was given.' }),
      model: t.exposeString('model', { nullable: true, description: 'The model that it begins with.' }),
      modelProvider: t.exposeString('modelProvider', { nullable: true, description: 'Who serves it; null: whoever is configured.' }),
      warnings: t.field({ type: [NewSessionWarning], description: 'What it does without.', resolve: ({ warnings }) => [...warnings] }),
      session: sessionField(t),
    }),
  }),
  refusals: OF_FILES,
  resolve: resolve.createWebUiSession,
});
