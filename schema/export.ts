import * as resolve from '../resolvers/export.ts';
import { builder } from './builder.ts';
import { mutation } from './mutation.ts';
import { profileField, sessionIdField } from './write-fields.ts';

const ExportScope = builder.enumType('ExportScope', {
  description: 'How much of a conversation is exported.',
  values: {
    SEGMENT: { description: 'The session alone.' },
    LINEAGE: { description: 'Every segment of its conversation, in one object.' },
  } as const,
});

mutation('exportSession', {
  description:
    'Write a session to a file that can be fetched, in the form in which the Hermes Agent exports it. Changes no store, so it works without --allow-writes.',
  input: builder.inputType('ExportSessionInput', {
    description: 'What to export.',
    fields: (t) => ({
      sessionId: sessionIdField(t),
      profile: profileField(t),
      scope: t.field({ type: ExportScope, defaultValue: 'SEGMENT', description: 'How much of the conversation.' }),
      includeArchivedRows: t.boolean({
        defaultValue: false,
        description: 'Also messages that a compression archived; never what was taken back.',
      }),
    }),
  }),
  payload: builder.objectRef<resolve.ExportPayload>('ExportSessionPayload').implement({
    description: 'A file with one JSON object a line.',
    fields: (t) => ({
      url: t.exposeString('url', { description: 'Where it is on this server, for an hour; fetch it with the same token.' }),
      bytes: t.exposeFloat('bytes', { description: 'Its size.' }),
      sha256: t.exposeString('sha256', { description: 'Of its content, in hexadecimal digits.' }),
      messageCount: t.exposeInt('messages', { description: 'Messages in it.' }),
      expiresAt: t.field({ type: 'DateTime', description: 'Until when.', resolve: ({ expiresAt }) => expiresAt }),
    }),
  }),
  refusals: ['EXPORT_TOO_LARGE'],
  resolve: resolve.exportSession,
});
