import * as resolve from '../resolvers/deliver-result.ts';
import { messageOf } from '../resolvers/message-changes.ts';
import { builder } from './builder.ts';
import { Message } from './message.ts';
import { mutation, OF_MESSAGES } from './mutation.ts';
import { clientMutationIdField, dryRunField, payloadFields, profileField, sessionField, sessionIdField } from './write-fields.ts';

mutation('deliverDelegationResult', {
  description: 'Deliver the result of work that was delegated and ended apart from its turn, once for each delegation and notice.',
  input: builder.inputType('DeliverDelegationResultInput', {
    description: 'The result.',
    fields: (t) => ({
      sessionId: sessionIdField(t),
      profile: profileField(t),
      delegationId: t.string({ required: true, description: 'Of the delegation; a repeat with it writes nothing.' }),
      notice: t.string({ description: 'Tells several notices of one delegation apart.' }),
      content: t.field({ type: 'JSON', required: true, description: 'What the model is told.' }),
      suppressed: t.boolean({ defaultValue: false, description: 'Tell the model and not the person.' }),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.DeliveryPayload>('DeliverDelegationResultPayload').implement({
    description: 'The notice.',
    fields: (t) => ({
      ...payloadFields(t),
      duplicate: t.exposeBoolean('duplicate', { description: 'It was delivered before, and nothing was written.' }),
      message: t.field({ type: Message, nullable: true, description: 'Null in a dry run of a new one.', resolve: messageOf }),
      session: sessionField(t),
    }),
  }),
  refusals: [...OF_MESSAGES, 'SESSION_BUSY', 'SESSION_CLOSED'],
  resolve: resolve.deliverDelegationResult,
});
