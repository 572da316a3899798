import * as resolve from '../resolvers/projects.ts';
import type { OwnedProject } from '../src/web-ui/projects/owned-projects.ts';
import { builder, pageComplexity } from './builder.ts';
import { Node, nodeId } from './node.ts';
import { PAGE_DOCS } from './paging.ts';
import { Session, SessionConnection } from './session.ts';
import { Profile } from './store.ts';
import { StaleFileType } from './upkeep.ts';

export const Project = builder.objectRef<OwnedProject>('Project').implement({
  description: 'A project of the Web UI: a label for sessions.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.id({ description: 'Global id.', resolve: (project) => nodeId('Project', project, project.id) }),
    projectId: t.exposeString('id', { description: "The Web UI's own id; what `SessionFilter.projectId` compares." }),
    name: t.exposeString('name', { description: 'For people.' }),
    color: t.exposeString('color', { nullable: true, description: '# and 3 to 8 hex digits.' }),
    createdAt: t.field({ type: 'DateTime', nullable: true, description: 'Creation.', resolve: ({ createdAt }) => createdAt }),
    isSystem: t.boolean({
      description: 'One that the Web UI makes by itself, for cron jobs or webhooks.',
      resolve: ({ system }) => system !== null,
    }),
    profile: t.field({ type: Profile, description: 'Whose it is.', resolve: ({ profile }) => ({ name: profile }) }),
    sessions: t.field({
      type: SessionConnection,
      description: 'Its sessions, newest activity first, one entry a conversation; background runs too, which only their project shows.',
      args: { first: t.arg.int({ description: PAGE_DOCS.first }), after: t.arg.string({ description: PAGE_DOCS.after }) },
      complexity: pageComplexity,
      resolve: resolve.projectSessions,
    }),
  }),
});

builder.objectFields(Session, (t) => ({
  project: t.field({
    type: Project,
    nullable: true,
    description: 'The project of the Web UI that it is in; null also for one that is gone.',
    resolve: resolve.projectOf,
  }),
}));

const WebUiStore = builder.objectRef<resolve.WebUiStore>('WebUiStore').implement({
  description: "The Web UI's folder of session files. All profiles share it; what is counted here is of one.",
  fields: (t) => ({
    sessionDir: t.string({
      description: 'Where it lies on this machine.',
      resolve: (_, __, ctx) => ctx.services.webUiHome.sessionsDir,
    }),
    hint: t.string({
      nullable: true,
      description: 'A sentence for people where it holds no sessions and folders beside it do: it may be the wrong one.',
      complexity: 5,
      resolve: resolve.storeHint,
    }),
    indexStatus: t.string({
      description:
        'Of its list of sessions, `_index.json`: OK, MISSING, CORRUPT, EMPTY_WITH_FILES or STALE. It is a cache: lists here are made from the files.',
      complexity: 5,
      resolve: resolve.indexStatus,
    }),
    sessionCount: t.int({ nullable: true, description: 'Session files of this profile.', resolve: resolve.sessionCount }),
    ignoredFiles: t.stringList({
      description: 'Names that look like session files and are none.',
      resolve: ({ facts }) => [...facts.sidecars.ignoredFiles],
    }),
    staleTempFiles: t.field({
      type: [StaleFileType],
      description:
        'Temporary files that writers left behind, more than an hour old; `cleanStaleTempFiles` removes those that are not of restores.',
      complexity: 5,
      resolve: resolve.staleTempFiles,
    }),
    overlayStore: t.boolean({
      description: 'The Web UI keeps sessions in a database of its own: files may be old copies, and are not written to.',
      complexity: 5,
      resolve: resolve.overlayStore,
    }),
    deletedSessionIds: t.stringList({
      description: 'Sessions that its list of deleted ones names.',
      resolve: ({ facts }) => [...facts.deleted],
    }),
    prunedSessionIds: t.stringList({
      description: 'Sessions without a message that were taken out of its index.',
      resolve: ({ facts }) => [...facts.zeroMessages],
    }),
    projectsStatus: t.string({
      description: 'Of `projects.json`: OK, MISSING or UNREADABLE; while it can not be read nothing is written to it.',
      resolve: ({ facts }) => facts.projects.status,
    }),
  }),
});

builder.objectFields(Profile, (t) => ({
  webUi: t.field({
    type: WebUiStore,
    nullable: true,
    description: "The Web UI's files; null where there are none.",
    resolve: resolve.webUiOf,
  }),
}));

builder.queryFields((t) => ({
  projects: t.field({
    type: [Project],
    description: "The projects of a profile, in the Web UI's own order.",
    args: { profile: t.arg.string({ description: 'Default: the profile that this server was started for.' }) },
    resolve: resolve.projects,
  }),
}));
