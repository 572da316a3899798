import { int32 } from '../resolvers/numbers.ts';
import * as resolve from '../resolvers/session-facts.ts';
import type { DailyUsage, TaskUsage } from '../src/state-db/auxiliary-usage.ts';
import type { RecentTurn } from '../src/state-db/recent-turns.ts';
import type { RoutingEntry } from '../src/state-db/routing.ts';
import type { Origin } from '../src/state-db/session-details.ts';
import type { Activity } from '../src/state-db/session-state.ts';
import { builder } from './builder.ts';
import { Session } from './session.ts';
import { Usage } from './usage.ts';

const LifecycleStatus = builder.enumType('LifecycleStatus', {
  description: 'How the last turn of a session ended, by its newest row.',
  values: {
    EMPTY: { description: 'There is no row.' },
    ERROR: { description: 'With an error.' },
    INTERRUPTED: { description: 'Not at all: a question, a call or a result stands last.' },
    COMPLETE: { description: 'With an answer.' },
  } as const,
});

const ActivityType = builder.objectRef<Activity>('SessionActivity').implement({
  description: 'The last heartbeat of a session.',
  fields: (t) => ({
    at: t.field({ type: 'DateTime', nullable: true, description: 'When.', resolve: (activity) => activity.at }),
    description: t.exposeString('description', { description: 'What it was doing; empty when it was done.' }),
    provenance: t.exposeString('provenance', { description: 'unknown, or what part of the agent wrote it.' }),
  }),
});

const OriginType = builder.objectRef<Origin>('SessionPeer').implement({
  description: 'Where the messages of a gateway session come from.',
  fields: (t) => ({
    platform: t.exposeString('platform', { nullable: true, description: 'telegram, discord, ...' }),
    chatId: t.exposeString('chatId', { nullable: true, description: "The platform's id of the chat." }),
    chatName: t.exposeString('chatName', { nullable: true, description: 'Name of the chat.' }),
    chatType: t.exposeString('chatType', { nullable: true, description: 'dm, group, channel or thread.' }),
    userId: t.exposeString('userId', { nullable: true, description: "The platform's id of the person." }),
    userName: t.exposeString('userName', { nullable: true, description: 'Name of the person.' }),
    threadId: t.exposeString('threadId', { nullable: true, description: "The platform's id of the thread." }),
  }),
});

const Handoff = builder.objectRef<resolve.Handoff>('Handoff').implement({
  description: 'A hand-over of a session to another platform.',
  fields: (t) => ({
    state: t.exposeString('state', { description: 'pending, running, completed or failed.' }),
    platform: t.exposeString('platform', { nullable: true, description: 'Where to.' }),
  }),
});

const TaskUsageType = builder.objectRef<TaskUsage>('TaskUsage').implement({
  description: 'Usage of auxiliary work.',
  fields: (t) => ({
    task: t.exposeString('task', { description: 'title_generation, compression, vision, ...' }),
    usage: t.field({ type: Usage, description: 'Sums.', resolve: (row) => row }),
  }),
});

const DailyUsageType = builder.objectRef<DailyUsage>('DailyUsage').implement({
  description: 'Usage of one day.',
  fields: (t) => ({
    day: t.exposeString('day', { description: 'YYYY-MM-DD, in the time zone of the writer.' }),
    usage: t.field({ type: Usage, description: 'Sums.', resolve: (row) => row }),
  }),
});

const Turn = builder.objectRef<RecentTurn>('RecentTurn').implement({
  description: 'Something a person said.',
  fields: (t) => ({
    rowId: t.exposeID('rowId', { description: 'Of the message.' }),
    timestamp: t.field({ type: 'DateTime', nullable: true, description: 'When.', resolve: (turn) => turn.timestamp }),
    preview: t.exposeString('preview', { description: 'At most 80 characters.' }),
  }),
});

builder.objectFields(Session, (t) => ({
  status: t.field({ type: LifecycleStatus, description: 'How its last turn ended.', resolve: resolve.status }),
  activity: t.field({
    type: ActivityType,
    nullable: true,
    description: 'Its last heartbeat; null when it never had one.',
    resolve: resolve.activity,
  }),
  workspace: t.string({ nullable: true, description: 'The repository, else the folder it works in.', resolve: resolve.workspace }),
  sessionKey: t.exposeString('sessionKey', { nullable: true, description: 'Routing key of a gateway session.' }),
  peer: t.field({
    type: OriginType,
    nullable: true,
    description: 'Where its messages come from; null for other than gateway sessions.',
    complexity: 2,
    resolve: resolve.origin,
  }),
  handoff: t.field({ type: Handoff, nullable: true, description: 'A hand-over to another platform.', resolve: resolve.handoff }),
  rewindCount: t.int({ nullable: true, description: 'Rewinds so far.', resolve: (session) => int32(session.rewindCount) }),
  systemPrompt: t.string({
    nullable: true,
    description: 'What the model was told. Private: ask for it only to show it.',
    complexity: 5,
    resolve: resolve.systemPrompt,
  }),
  modelConfig: t.field({
    type: 'JSON',
    nullable: true,
    description: 'Settings that are known to be harmless; null when there are none or they are no JSON object.',
    complexity: 2,
    resolve: resolve.modelConfig,
  }),
  toolNames: t.stringList({
    description: 'Tools that the session was given.',
    complexity: 2,
    resolve: async (session, args, ctx) => [...(await resolve.toolNames(session, args, ctx))],
  }),
  auxiliaryUsage: t.field({
    type: [TaskUsageType],
    description: 'Auxiliary work (titles, compression, vision) of it and of what it continues, up to the nearest branch.',
    complexity: 2,
    resolve: async (session, args, ctx) => [...(await resolve.auxiliaryUsage(session, args, ctx))],
  }),
  dailyUsage: t.field({
    type: [DailyUsageType],
    description: 'Usage by day; empty in stores that do not count by day.',
    complexity: 2,
    resolve: async (session, args, ctx) => [...(await resolve.dailyUsage(session, args, ctx))],
  }),
  recentTurns: t.field({
    type: [Turn],
    description: 'What a person said last, newest first.',
    args: { first: t.arg.int({ defaultValue: 10, description: '1 to 20.' }) },
    complexity: 3,
    resolve: async (session, args, ctx) => [...(await resolve.recentTurns(session, args, ctx))],
  }),
  resumeTarget: t.field({
    type: Session,
    description: 'Where a resume would land: the tip, or beyond it where only unmarked children have messages.',
    resolve: resolve.resumeTarget,
  }),
}));

const Routing = builder.objectRef<RoutingEntry>('RoutingEntry').implement({
  description: 'Which session a gateway conversation is routed to.',
  fields: (t) => ({
    sessionKey: t.exposeString('sessionKey', { description: 'The routing key.' }),
    scope: t.exposeString('scope', { description: '"" as a rule.' }),
    sessionId: t.exposeString('sessionId', { description: 'The current session.' }),
    displayName: t.exposeString('displayName', { nullable: true, description: 'For people.' }),
    platform: t.exposeString('platform', { nullable: true, description: 'telegram, discord, ...' }),
    suspended: t.exposeBoolean('suspended', { description: 'Put to rest.' }),
    hasActiveTurn: t.exposeBoolean('hasActiveTurn', { description: 'A turn is under way.' }),
    activeTurnStartedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Its start, where told.',
      resolve: (entry) => entry.activeTurnStartedAt,
    }),
    updatedAt: t.field({ type: 'DateTime', nullable: true, description: 'Last change.', resolve: (entry) => entry.updatedAt }),
  }),
});

const PROFILE = 'Default: the profile that this server was started for.';

builder.queryFields((t) => ({
  routing: t.field({
    type: [Routing],
    description: 'The routing index of a gateway; entries that are damaged are left out.',
    args: { profile: t.arg.string({ description: PROFILE }), scope: t.arg.string({ description: 'Only this scope.' }) },
    resolve: async (parent, args, ctx) => [...(await resolve.routing(parent, args, ctx))],
  }),
  cronRuns: t.field({
    type: [Session],
    description: 'The runs of a scheduled job, newest start first.',
    args: {
      jobId: t.arg.string({ required: true, description: 'Id of the job.' }),
      first: t.arg.int({ defaultValue: 50, description: 'Runs, 1 to 200.' }),
      profile: t.arg.string({ description: PROFILE }),
    },
    complexity: (args) => ({ field: 5, multiplier: Math.max(1, args.first ?? 50) }),
    resolve: async (parent, args, ctx) => [...(await resolve.cronRuns(parent, args, ctx))],
  }),
}));
