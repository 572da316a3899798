import * as resolve from '../resolvers/leases.ts';
import { DEFAULT_TTL_SECONDS } from '../src/state-db/write/admission.ts';
import { builder } from './builder.ts';
import { mutation } from './mutation.ts';
import { clientMutationIdField, payloadFields, profileField, sessionIdField } from './write-fields.ts';

const TTL = 'Seconds until the lease ends by itself, 0 to 3600. Renew it at least three times as often.';

const AcquireTurnLeaseInput = builder.inputType('AcquireTurnLeaseInput', {
  description: 'Take the turn of a conversation.',
  fields: (t) => ({
    sessionId: sessionIdField(t),
    profile: profileField(t),
    holderLabel: t.string({ description: 'Names your program to other programs: up to 64 letters, digits, _, . and -.' }),
    ttlSeconds: t.float({ defaultValue: DEFAULT_TTL_SECONDS, description: TTL }),
    waitSeconds: t.float({ defaultValue: 0, description: 'How long to wait while somebody else holds it, 0 to 1800.' }),
    clientMutationId: clientMutationIdField(t),
  }),
});

const TurnLeasePayload = (name: string) =>
  builder.objectRef<resolve.LeasePayload>(name).implement({
    description: 'A lease that is yours.',
    fields: (t) => ({
      ...payloadFields(t),
      leaseToken: t.exposeString('leaseToken', { description: 'Shows that the lease is yours; keep it to yourself.' }),
      conversationId: t.exposeString('conversationId', { description: 'The conversation that it is for: the first of its segments.' }),
      expiresAt: t.field({ type: 'DateTime', description: 'When it ends by itself.', resolve: ({ expiresAt }) => expiresAt }),
      waitedMs: t.exposeInt('waitedMs', { description: 'Milliseconds that were waited for it.' }),
    }),
  });

mutation('acquireTurnLease', {
  description: 'Take the turn lease of a conversation, so that other programs keep out of it while yours runs a turn.',
  input: AcquireTurnLeaseInput,
  payload: TurnLeasePayload('AcquireTurnLeasePayload'),
  refusals: ['LEASE_HELD'],
  resolve: resolve.acquireTurnLease,
});

mutation('renewTurnLease', {
  description: 'Keep a lease. One that ended and that nobody took comes back to life.',
  input: builder.inputType('RenewTurnLeaseInput', {
    description: 'Keep the turn of a conversation.',
    fields: (t) => ({
      sessionId: sessionIdField(t),
      profile: profileField(t),
      leaseToken: t.string({ required: true, description: 'As it was given.' }),
      ttlSeconds: t.float({ defaultValue: DEFAULT_TTL_SECONDS, description: TTL }),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: TurnLeasePayload('RenewTurnLeasePayload'),
  refusals: ['TURN_LEASE_LOST'],
  resolve: resolve.renewTurnLease,
});

mutation('releaseTurnLease', {
  description: 'Give a lease back. One that is gone already is no error.',
  input: builder.inputType('ReleaseTurnLeaseInput', {
    description: 'Give the turn of a conversation back.',
    fields: (t) => ({
      profile: profileField(t),
      leaseToken: t.string({ required: true, description: 'As it was given.' }),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.ReleasePayload>('ReleaseTurnLeasePayload').implement({
    description: 'What became of it.',
    fields: (t) => ({
      ...payloadFields(t),
      released: t.exposeBoolean('released', { description: 'False: it was gone already.' }),
    }),
  }),
  refusals: [],
  resolve: resolve.releaseTurnLease,
});
