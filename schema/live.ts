import * as resolve from '../resolvers/live.ts';
import { statusOf } from '../resolvers/stores.ts';
import type { LiveSessionChange, LiveSessionsFrame } from '../src/live/session-feed.ts';
import { builder } from './builder.ts';
import { LivenessType } from './liveness.ts';
import { Session } from './session.ts';
import { Store } from './store.ts';

const ChangeKind = builder.enumType('LiveSessionChangeKind', {
  description: 'What happened to a session since the last frame.',
  values: {
    STATE: { description: 'Nothing: this is how it is at the start.' },
    ADDED: { description: 'It appeared.' },
    ROTATED: { description: 'It appeared and continues previousSessionId.' },
    UPDATED: { description: 'Title, flags, usage, heartbeat or another column changed.' },
    TURN: { description: 'A turn of the Web UI began or ended; other turns show by their messages.' },
    MESSAGES: { description: 'Messages were added or taken back.' },
    ENDED: { description: 'It was ended.' },
    REOPENED: { description: 'It was opened again.' },
    DELETED: { description: 'It is gone.' },
  } as const,
});

const Change = builder.objectRef<LiveSessionChange>('LiveSessionChange').implement({
  description: 'The newest state of one session.',
  fields: (t) => ({
    sessionId: t.exposeString('sessionId', { description: "The store's own id." }),
    conversationId: t.exposeString('conversationId', { description: 'Stays when the session id rotates: the key for a list.' }),
    kinds: t.field({ type: [ChangeKind], description: 'What happened since the last frame.', resolve: (change) => [...change.kinds] }),
    previousSessionId: t.exposeString('previousSessionId', {
      nullable: true,
      description: 'Of a rotation: the session that it continues.',
    }),
    session: t.field({
      type: Session,
      nullable: true,
      description: 'As it is now; null when it is gone.',
      resolve: (change) => change.session,
    }),
    deleted: t.exposeBoolean('deleted', { description: 'It is gone.' }),
    runId: t.string({
      nullable: true,
      description: 'The run of the Web UI that owns the session; null when none does.',
      resolve: resolve.changeRunId,
    }),
    liveness: t.field({ type: LivenessType, nullable: true, description: 'Whether a turn is running.', resolve: resolve.changeLiveness }),
  }),
});

const Frame = builder.objectRef<LiveSessionsFrame>('LiveSessionsFrame').implement({
  description: 'Changes up to a moment; a frame is taken as a whole.',
  fields: (t) => ({
    cursor: t.field({
      type: 'LiveCursor',
      description: 'Give the last one back as `after` to go on without a gap.',
      resolve: (frame) => frame.cursor,
    }),
    changes: t.field({
      type: [Change],
      description: 'At most one for each session.',
      complexity: { multiplier: 50 },
      resolve: (frame) => [...frame.changes],
    }),
    reset: t.exposeBoolean('reset', {
      description: 'The cursor could not be continued: all followed sessions are in this frame, forget the others.',
    }),
  }),
});

builder.subscriptionType({ description: 'Live feeds, over WebSocket (graphql-transport-ws) and SSE.' });

builder.subscriptionFields((t) => ({
  liveSessions: t.field({
    type: Frame,
    description:
      'Follow many sessions at state level, for lists and badges. The first frame comes at once: with sessionIds their state, with `after` what was missed. Each session comes once a frame, in its newest state.',
    args: {
      profile: t.arg.string({ description: 'Default: the profile that this server was started for.' }),
      sessionIds: t.arg.stringList({ description: 'Only these sessions, at most 10,000, and those that continue them; all by default.' }),
      after: t.arg({ type: 'LiveCursor', description: 'The cursor of the last frame received.' }),
      maxRateHz: t.arg.float({ defaultValue: 2, description: 'Frames a second at most, 0.01 to 50. The first change comes at once.' }),
    },
    subscribe: resolve.liveSessions,
    resolve: (frame) => frame,
  }),
  storeHealthChanged: t.field({
    type: Store,
    description: 'The state of a store: now, and after every change of its health.',
    args: { profile: t.arg.string({ description: 'Default: the profile that this server was started for.' }) },
    subscribe: resolve.storeHealthChanged,
    resolve: (store, _, ctx) => statusOf(store, ctx),
  }),
}));
