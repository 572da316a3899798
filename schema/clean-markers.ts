import * as resolve from '../resolvers/clean-markers.ts';
import { builder } from './builder.ts';
import { mutation, OF_MESSAGES } from './mutation.ts';
import { clientMutationIdField, dryRunField, payloadFields, profileField } from './write-fields.ts';

mutation('cleanMarkers', {
  description: 'Empty the texts of assistants that are nothing but the name of a tool in brackets beside the calls themselves.',
  input: builder.inputType('CleanMarkersInput', {
    description: 'How to clean. Look at a dry run first.',
    fields: (t) => ({
      profile: profileField(t),
      backup: t.boolean({
        defaultValue: true,
        description: 'Keep a copy of the whole store beside it; without room for one nothing is cleaned.',
      }),
      expectedRowIds: t.idList({ description: 'The rows that the dry run named: refused when others are concerned by now.' }),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.CleanMarkersPayload>('CleanMarkersPayload').implement({
    description: 'What was cleaned.',
    fields: (t) => ({
      ...payloadFields(t),
      rowIds: t.idList({ description: 'The rows.', resolve: ({ rowIds }) => [...rowIds] }),
      backupName: t.exposeString('backupName', { nullable: true, description: 'The name of the copy; null when none was made.' }),
    }),
  }),
  refusals: [...OF_MESSAGES, 'SET_CHANGED', 'BACKUP_REFUSED'],
  resolve: resolve.cleanMarkers,
});
