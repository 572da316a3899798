import { int32 } from '../resolvers/numbers.ts';
import * as resolve from '../resolvers/stores.ts';
import type { Backend, Delegation, Hold, Liveness } from '../src/state-db/liveness.ts';
import { builder } from './builder.ts';

const LivenessState = builder.enumType('LivenessState', {
  description: 'Whether a turn is running.',
  values: {
    LIVE: { description: 'Evidence says so: a lease, a lock, a gateway turn, a fresh heartbeat.' },
    STARTING: { description: 'A turn was submitted and has not shown itself yet.' },
    SUSPECT: { description: 'It was running a short while ago, and nothing says so any more.' },
    STALE: { description: 'It was left behind as running; nothing has moved for minutes.' },
    IDLE: { description: 'Open, and nothing is running.' },
    ENDED: { description: 'The session was ended.' },
    UNKNOWN: { description: "It can't be told." },
  } as const,
});

export const LivenessType = builder.objectRef<Liveness>('Liveness').implement({
  description: 'Whether a turn is running, and what speaks for it.',
  fields: (t) => ({
    state: t.field({ type: LivenessState, description: 'The verdict.', resolve: (liveness) => liveness.state }),
    certainty: t.exposeString('certainty', { description: 'CERTAIN, HIGH, MEDIUM or LOW.' }),
    evidence: t.exposeStringList('evidence', { description: 'Sentences for people.' }),
    lastSignalAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'The newest sign of life.',
      resolve: (liveness) => liveness.lastSignalAt,
    }),
  }),
});

const HoldType = builder.objectRef<Hold>('Hold').implement({
  description: 'A turn lease or a compression lock.',
  fields: (t) => ({
    key: t.exposeString('key', { description: 'The session id it lies under; for a turn lease the first segment of the conversation.' }),
    holderPid: t.exposeFloat('holderPid', { nullable: true, description: 'Process id on the host of the holder, as written.' }),
    platform: t.exposeString('platform', { nullable: true, description: 'Surface of the holder, when it says so.' }),
    acquiredAt: t.field({ type: 'DateTime', nullable: true, description: 'Taken.', resolve: (hold) => hold.acquiredAt }),
    expiresAt: t.field({ type: 'DateTime', nullable: true, description: 'Runs out.', resolve: (hold) => hold.expiresAt }),
    live: t.exposeBoolean('live', { description: 'It has not run out by the clock of this host.' }),
  }),
});

const DelegationType = builder.objectRef<Delegation>('Delegation').implement({
  description: 'A background sub-agent.',
  fields: (t) => ({
    delegationId: t.exposeString('delegationId', { description: 'Its own id.' }),
    parentSessionId: t.exposeString('parentSessionId', { nullable: true, description: 'The session that sent it.' }),
    state: t.exposeString('state', { description: 'As stored: running, finalizing, completed, error, ...' }),
    running: t.exposeBoolean('running', { description: 'Running or finalizing.' }),
    undelivered: t.exposeBoolean('undelivered', { description: 'Done, and its result has not reached the conversation.' }),
    goal: t.exposeString('goal', { nullable: true, description: 'What it was told to do.' }),
    dispatchedAt: t.field({ type: 'DateTime', nullable: true, description: 'Sent.', resolve: (row) => row.dispatchedAt }),
    completedAt: t.field({ type: 'DateTime', nullable: true, description: 'Done.', resolve: (row) => row.completedAt }),
    updatedAt: t.field({ type: 'DateTime', nullable: true, description: 'Last change.', resolve: (row) => row.updatedAt }),
    deliveryState: t.exposeString('deliveryState', { description: 'pending, delivered or dropped.' }),
    deliveryAttempts: t.int({ nullable: true, description: 'Tries to deliver the result.', resolve: (row) => int32(row.deliveryAttempts) }),
  }),
});

const BackendState = builder.enumType('BackendState', {
  description: 'How old the last heartbeat of a back end is.',
  values: {
    FRESH: { description: 'At most 90 seconds.' },
    STALE: { description: 'At most 12 hours.' },
    DEAD: { description: 'Older, or unknown.' },
  } as const,
});

const BackendType = builder.objectRef<Backend>('Backend').implement({
  description: 'A program of the Hermes Agent that reports to the store.',
  fields: (t) => ({
    backendId: t.exposeString('backendId', { description: 'Its own id.' }),
    pid: t.exposeFloat('pid', { nullable: true, description: 'Process id on its host.' }),
    host: t.exposeString('host', { nullable: true, description: 'Its host.' }),
    profile: t.exposeString('profile', { nullable: true, description: 'Its profile.' }),
    startedAt: t.field({ type: 'DateTime', nullable: true, description: 'Started.', resolve: (row) => row.startedAt }),
    lastHeartbeatAt: t.field({ type: 'DateTime', nullable: true, description: 'Last heartbeat.', resolve: (row) => row.lastHeartbeat }),
    state: t.field({ type: BackendState, description: 'By the age of the heartbeat.', resolve: (row) => row.state }),
  }),
});

const PROFILE = 'Default: the profile that this server was started for.';

builder.queryFields((t) => ({
  turnLeases: t.field({
    type: [HoldType],
    description: 'Turn leases of a store, live and run out.',
    args: { profile: t.arg.string({ description: PROFILE }) },
    resolve: resolve.turnLeases,
  }),
  compressionLocks: t.field({
    type: [HoldType],
    description: 'Compression locks of a store, live and run out.',
    args: { profile: t.arg.string({ description: PROFILE }) },
    resolve: resolve.compressionLocks,
  }),
  backends: t.field({
    type: [BackendType],
    description: 'Programs that report to a store.',
    args: { profile: t.arg.string({ description: PROFILE }) },
    resolve: resolve.backends,
  }),
  delegations: t.field({
    type: [DelegationType],
    description: 'Background sub-agents, newest first, at most 200.',
    args: {
      profile: t.arg.string({ description: PROFILE }),
      parentSessionId: t.arg.string({ description: 'Only those that this session sent.' }),
    },
    resolve: resolve.delegations,
  }),
}));
