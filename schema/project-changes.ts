import * as resolve from '../resolvers/project-changes.ts';
import type { DeletedProject } from '../src/writing/project-commands.ts';
import { builder } from './builder.ts';
import { mutation } from './mutation.ts';
import { Project } from './project.ts';
import { clientMutationIdField, dryRunField, payloadFields, profileField } from './write-fields.ts';

const REFUSALS = ['PROJECTS_UNREADABLE', 'CONFLICT', 'FILE_NOT_WRITTEN', 'NO_SPACE'] as const;
const NAME = 'Up to 128 characters are kept; not blank.';
const COLOR = '# and 3 to 8 hex digits.';

function projectPayload(name: string) {
  return builder.objectRef<resolve.ProjectPayload>(name).implement({
    description: 'What became of it.',
    fields: (t) => ({
      ...payloadFields(t),
      changed: t.exposeBoolean('changed', { description: 'False: it was so.' }),
      project: t.field({
        type: Project,
        nullable: true,
        description: 'The project as it is now; null where there is none, as after a dry run that would have made it.',
        resolve: resolve.changedProject,
      }),
    }),
  });
}

mutation('createProject', {
  description: 'Make a project of the Web UI. Two may have one name.',
  input: builder.inputType('CreateProjectInput', {
    description: 'Which project.',
    fields: (t) => ({
      name: t.string({ required: true, description: NAME }),
      color: t.string({ description: COLOR }),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: projectPayload('CreateProjectPayload'),
  refusals: REFUSALS,
  resolve: resolve.createProject,
});

const SystemProjectEnum = builder.enumType('SystemProject', {
  description: 'Projects that the Web UI makes itself.',
  values: {
    CRON: { description: '`Cron Jobs`: only in profiles that have a project of their own.' },
    WEBHOOK: { description: '`Webhooks`.' },
  } as const,
});

mutation('ensureSystemProject', {
  description:
    'Make the project that the Web UI keeps runs of cron, or those of webhooks, in, unless it is there; one of that name without an owner becomes it. Lists never make one.',
  input: builder.inputType('EnsureSystemProjectInput', {
    description: 'Which.',
    fields: (t) => ({
      system: t.field({ type: SystemProjectEnum, required: true, description: 'Which of them.' }),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.SystemProjectPayload>('EnsureSystemProjectPayload').implement({
    description: 'What became of it.',
    fields: (t) => ({
      ...payloadFields(t),
      changed: t.exposeBoolean('changed', { description: 'It was, or would be, made, or given its owner.' }),
      project: t.field({
        type: Project,
        nullable: true,
        description: 'The project as it is now; null where there is to be none, and after a dry run that would have made it.',
        resolve: resolve.changedProject,
      }),
    }),
  }),
  refusals: REFUSALS,
  resolve: resolve.ensureSystemProject,
});

mutation('renameProject', {
  description: 'Give a project of the profile another name, and another colour.',
  input: builder.inputType('RenameProjectInput', {
    description: 'Which project, and how it is called.',
    fields: (t) => ({
      projectId: t.id({ required: true, description: "The Web UI's own id." }),
      name: t.string({ required: true, description: NAME }),
      color: t.string({ description: `${COLOR} Left out: as it is; null: none.` }),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: projectPayload('RenameProjectPayload'),
  refusals: REFUSALS,
  resolve: resolve.renameProject,
});

const FailedFile = builder.objectRef<DeletedProject['failed'][number]>('SessionFileFailure').implement({
  description: 'A file that could not be changed.',
  fields: (t) => ({
    sessionId: t.exposeString('sessionId', { description: 'Whose file.' }),
    code: t.exposeString('code', { description: 'Why, as the code of a UserError.' }),
  }),
});

mutation('deleteProject', {
  description: 'Take every session out of a project of the profile, then delete it. No session is deleted; a dry run says which are in it.',
  input: builder.inputType('DeleteProjectInput', {
    description: 'Which project.',
    fields: (t) => ({
      projectId: t.id({ required: true, description: "The Web UI's own id." }),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.DeletedProjectPayload>('DeleteProjectPayload').implement({
    description: 'What became of it.',
    fields: (t) => ({
      ...payloadFields(t),
      projectId: t.exposeString('projectId', { description: 'As given.' }),
      name: t.exposeString('name', { description: 'What it was called.' }),
      sessionIds: t.exposeStringList('sessionIds', { description: 'Sessions that were, or would be, taken out of it.' }),
      failed: t.field({
        type: [FailedFile],
        description: 'Sessions whose files could not be changed; they name a project that is gone, which shows as none.',
        resolve: ({ failed }) => [...failed],
      }),
    }),
  }),
  refusals: REFUSALS,
  resolve: resolve.deleteProject,
});
