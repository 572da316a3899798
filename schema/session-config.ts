import * as resolve from '../resolvers/session-config.ts';
import { builder } from './builder.ts';
import { mutation } from './mutation.ts';
import { clientMutationIdField, dryRunField, payloadFields, profileField, sessionField, sessionIdField } from './write-fields.ts';

mutation('patchSessionConfig', {
  description: "Set keys of a session's modelConfig, or take them away; all others stay.",
  input: builder.inputType('PatchSessionConfigInput', {
    description: 'The keys.',
    fields: (t) => ({
      sessionId: sessionIdField(t),
      profile: profileField(t),
      patch: t.field({
        type: 'JSON',
        required: true,
        description: 'An object; null takes a key away. Keys that start with _ belong to the owning programs and are refused.',
      }),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.ConfigPayload>('PatchSessionConfigPayload').implement({
    description: 'The session after the change.',
    fields: (t) => ({
      ...payloadFields(t),
      changed: t.exposeBoolean('changed', { description: 'False: it was so already.' }),
      session: sessionField(t),
    }),
  }),
  refusals: [],
  resolve: resolve.patchSessionConfig,
});
