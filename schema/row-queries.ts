import * as resolve from '../resolvers/row-queries.ts';
import { builder } from './builder.ts';

const PROFILE = 'Default: the profile that this server was started for.';

const HeldRowInput = builder.inputType('HeldRowInput', {
  description: 'A row that a client holds: by its id, or by the lasting id and the role of its message.',
  fields: (t) => ({
    rowId: t.id({ description: 'In digits.' }),
    messageUid: t.string({ description: 'Means the newest live row with it.' }),
    role: t.string({ description: 'user, assistant or tool.' }),
    rowVersion: t.string({ required: true, description: 'As it was read.' }),
  }),
});

builder.queryFields((t) => ({
  staleHeldRows: t.idList({
    description:
      'Which of these rows say something else by now. Rows that are gone or not live are not reported. It can be overtaken: guarded mutations look again.',
    complexity: 5,
    args: {
      sessionId: t.arg.string({ required: true, description: "The store's own id of the session." }),
      held: t.arg({ type: [HeldRowInput], required: true, description: 'At most 1,000.' }),
      profile: t.arg.string({ description: PROFILE }),
    },
    resolve: async (parent, args, ctx) => [...(await resolve.staleHeldRows(parent, args, ctx))],
  }),
  inputOwnerExists: t.boolean({
    description:
      'Whether an inbound event was stored as a message of a person already, in the newest segment of the conversation or what was compressed into it. TRANSCRIPT_UNREADABLE is not a no.',
    args: {
      sessionId: t.arg.string({ required: true, description: "The store's own id of any segment." }),
      owner: t.arg.string({ required: true, description: 'As displayMetadata.gateway_input_owner has it.' }),
      profile: t.arg.string({ description: PROFILE }),
    },
    resolve: resolve.inputOwnerExists,
  }),
  platformMessageExists: t.boolean({
    description: 'Whether any row of the session has the id that a chat platform gave a message.',
    args: {
      sessionId: t.arg.string({ required: true, description: "The store's own id of the session." }),
      platformMessageId: t.arg.string({ required: true, description: "The platform's id." }),
      profile: t.arg.string({ description: PROFILE }),
    },
    resolve: resolve.platformMessageExists,
  }),
}));
