import * as resolve from '../resolvers/session-life.ts';
import { sessionOf } from '../resolvers/writes.ts';
import { builder } from './builder.ts';
import { mutation } from './mutation.ts';
import { Session } from './session.ts';
import { clientMutationIdField, dryRunField, payloadFields, profileField, sessionField, sessionIdField } from './write-fields.ts';

const CreateKind = builder.enumType('CreateSessionKind', {
  description: 'What a new session is to its parent.',
  values: {
    ROOT: { description: 'Itself; with a parent that a compression closed, its continuation.' },
    BRANCH: { description: 'A fork of its parent, marked as one.' },
  } as const,
});

mutation('createSession', {
  description:
    'Create a session, or complete one that exists: what it has stays, what it lacks is filled in. With a parent it takes over working folder and git facts, and the routing of a segment that it continues.',
  input: builder.inputType('CreateSessionInput', {
    description: 'A session.',
    fields: (t) => ({
      id: t.string({ description: 'Its id: up to 200 characters, no slashes. Default: one is made up.' }),
      source: t.string({ description: `Where it lives. Default: ${resolve.DEFAULT_SOURCE}.` }),
      model: t.string({ description: 'The model that it talks to.' }),
      parentSessionId: t.string({ description: 'The session that it comes from; it has to exist.' }),
      title: t.string({ description: 'A title; one that exists already keeps its own.' }),
      cwd: t.string({ description: 'The working folder. Default: that of the parent.' }),
      kind: t.field({ type: CreateKind, defaultValue: 'ROOT', description: 'What it is to its parent.' }),
      modelConfig: t.field({ type: 'JSON', description: 'Settings: an object; no key may start with _.' }),
      systemPrompt: t.string({ description: 'The system prompt.' }),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.CreatePayload>('CreateSessionPayload').implement({
    description: 'The session.',
    fields: (t) => ({
      ...payloadFields(t),
      sessionId: t.exposeString('sessionId', { description: 'Its id, also where one was made up.' }),
      created: t.exposeBoolean('created', { description: 'False: it was there.' }),
      session: sessionField(t),
    }),
  }),
  refusals: ['PARENT_NOT_FOUND', 'TITLE_IN_USE', 'TITLE_TOO_LONG'],
  resolve: resolve.createSession,
});

mutation('endSession', {
  description: 'End a session. The first reason stays: ending it again changes nothing.',
  input: builder.inputType('EndSessionInput', {
    description: 'End a session.',
    fields: (t) => ({
      sessionId: sessionIdField(t),
      reason: t.string({
        required: true,
        description: 'Why, in a word: cli_close for example. Reasons of compressions and branches are refused.',
      }),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: changedPayload('EndSessionPayload', 'False: it had ended before.'),
  refusals: ['INVALID_REASON'],
  resolve: resolve.endSession,
});

mutation('markSessionReset', {
  description: 'End a session as the boundary of its conversation; also over an end that came by an accident of the runtime.',
  input: builder.inputType('MarkSessionResetInput', {
    description: 'Mark a session as reset.',
    fields: (t) => ({
      sessionId: sessionIdField(t),
      reason: t.string({
        defaultValue: 'session_reset',
        description: 'One of session_reset, session_switch, idle, daily, suspended, resume_pending_expired.',
      }),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: changedPayload('MarkSessionResetPayload', 'False: it had ended on purpose before.'),
  refusals: ['INVALID_REASON'],
  resolve: resolve.markSessionReset,
});

mutation('reopenSession', {
  description: 'Open an ended session again. Refused where its conversation goes on in a continuation.',
  input: builder.inputType('ReopenSessionInput', {
    description: 'Open a session again.',
    fields: (t) => ({
      sessionId: sessionIdField(t),
      explicitCloseOnly: t.boolean({
        defaultValue: false,
        description: 'Change nothing unless somebody closed it on purpose: not a clean-up, a compression or a reset.',
      }),
      expectedEndReason: t.string({ description: 'Refuse when another reason ended it.' }),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.ReopenPayload>('ReopenSessionPayload').implement({
    description: 'What became of it.',
    fields: (t) => ({
      ...payloadFields(t),
      changed: t.exposeBoolean('changed', { description: 'False: it was open.' }),
      clearedReason: t.exposeString('clearedReason', { nullable: true, description: 'What had ended it.' }),
      session: sessionField(t),
    }),
  }),
  refusals: ['HAS_CONTINUATION', 'SESSION_BUSY', 'COMPRESSION_IN_PROGRESS', 'CONFLICT'],
  resolve: resolve.reopenSession,
});

mutation('reopenOrphanedCompressionParent', {
  description: 'Open a segment that a compression closed and that nothing continues, as older programs left them.',
  input: builder.inputType('ReopenOrphanedCompressionParentInput', {
    description: 'Open a segment without a continuation.',
    fields: (t) => ({
      sessionId: sessionIdField(t),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.OrphanedParentPayload>('ReopenOrphanedCompressionParentPayload').implement({
    description: 'What became of it.',
    fields: (t) => ({
      ...payloadFields(t),
      reopened: t.exposeBoolean('reopened', { description: 'False: no compression had closed it.' }),
      session: sessionField(t),
    }),
  }),
  refusals: ['HAS_CONTINUATION', 'COMPRESSION_IN_PROGRESS'],
  resolve: resolve.reopenOrphanedCompressionParent,
});

const HealedRoute = builder.objectRef<resolve.HealPayload>('HealedRoute').implement({
  description: 'Where a gateway conversation leads.',
  fields: (t) => ({
    sessionKey: t.exposeString('sessionKey', { description: 'The key of the conversation.' }),
    sessionId: t.exposeString('sessionId', { description: 'The session that its messages go to.' }),
    scope: t.exposeString('scope', { description: 'The index that the route is in.' }),
  }),
});

mutation('healCompressionRoute', {
  description:
    'Let the route of a gateway conversation lead to where a compression moved the conversation. Only while no gateway runs. Repeating it changes nothing.',
  input: builder.inputType('HealCompressionRouteInput', {
    description: 'Put a route right.',
    fields: (t) => ({
      sessionKey: t.string({ required: true, description: 'The key of the conversation.' }),
      expectedSessionId: t.string({ required: true, description: 'The session that the route leads to now.' }),
      scope: t.string({ description: 'The index that is meant. Default: the only one that has the key.' }),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.HealPayload>('HealCompressionRoutePayload').implement({
    description: 'The route.',
    fields: (t) => ({
      ...payloadFields(t),
      route: t.field({ type: HealedRoute, description: 'Where it leads.', resolve: (payload) => payload }),
      changed: t.exposeBoolean('changed', { description: 'False: it led there already.' }),
      session: t.field({ type: Session, nullable: true, description: 'The session that it leads to.', resolve: sessionOf }),
    }),
  }),
  refusals: ['ROUTE_NOT_FOUND', 'ROUTE_MOVED', 'GATEWAY_ONLINE'],
  resolve: resolve.healCompressionRoute,
});

function changedPayload(name: string, description: string) {
  return builder.objectRef<resolve.ChangedPayload>(name).implement({
    description: 'What became of it.',
    fields: (t) => ({
      ...payloadFields(t),
      changed: t.exposeBoolean('changed', { description }),
      session: sessionField(t),
    }),
  });
}
