import { int32 } from '../resolvers/numbers.ts';
import * as resolve from '../resolvers/session-history.ts';
import type { TranscriptRevision } from '../src/web-ui/transcript/revision.ts';
import type { SessionSummary } from '../src/web-ui/transcript/session-summaries.ts';
import { builder } from './builder.ts';
import { Session } from './session.ts';

const Rounds = builder.objectRef<resolve.ConversationRounds>('ConversationRounds').implement({
  description: 'How often a person and the agent took turns: questions that were answered, several in a row as one.',
  fields: (t) => ({
    count: t.exposeInt('count', { description: 'Rounds.' }),
    threshold: t.exposeInt('threshold', { description: 'From how many on the Web UI offers to hand the conversation over.' }),
    shouldOfferHandoff: t.exposeBoolean('shouldOfferHandoff', { description: 'There are as many.' }),
  }),
});

const Summary = builder.objectRef<SessionSummary>('MessageSummary').implement({
  description: "The rows of a session in the store, counted now; the session's own count is what its writer wrote.",
  fields: (t) => ({
    messageCount: t.int({
      nullable: true,
      description: 'Rows, those that compaction or a rewind put away too.',
      resolve: ({ messageCount }) => int32(messageCount),
    }),
    activeCount: t.int({
      nullable: true,
      description: 'Rows without those that were put away.',
      resolve: ({ activeCount }) => int32(activeCount),
    }),
    lastMessageAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'The latest time of a row; null without rows or times.',
      resolve: ({ lastMessageAt }) => lastMessageAt || null,
    }),
  }),
});

const Prefix = builder.objectRef<resolve.MessagePrefix>('MessagePrefix').implement({
  description: 'What lies before a time: who holds the same can read the rest alone.',
  fields: (t) => ({
    count: t.int({ nullable: true, description: 'Live rows before the time.', resolve: ({ count }) => int32(count) }),
    nullTimestampCount: t.int({
      nullable: true,
      description: 'Live rows without a time.',
      resolve: (prefix) => int32(prefix.nullTimestampCount),
    }),
    keys: t.stringList({
      nullable: true,
      description:
        'A key for each row before the time, by time: rows that say the same have the same. Rows that were put away are among them, unlike in `count`. Null where the store can not tell.',
      complexity: 20,
      resolve: async (prefix, args, ctx) => {
        const keys = await resolve.prefixKeys(prefix, args, ctx);
        return keys === null ? null : [...keys];
      },
    }),
  }),
});

const Revision = builder.objectRef<TranscriptRevision>('TranscriptRevision').implement({
  description:
    "The agent's own revision of a session's live rows. It changes when rows come, go or are rewound, and with what was sent to the provider; not when only the text of a row changes.",
  fields: (t) => ({
    sessionId: t.exposeID('sessionId', { description: 'Whose.' }),
    activeMessageCount: t.int({ nullable: true, description: 'Live rows.', resolve: (revision) => int32(revision.activeMessageCount) }),
    maxActiveMessageId: t.id({
      description: 'The largest row id among them, in digits; 0 without rows.',
      resolve: (revision) => String(revision.maxActiveMessageId),
    }),
    activeRowsDigest: t.exposeString('activeRowsDigest', {
      nullable: true,
      description: 'SHA-256 over what was sent to the provider; "" where nothing of it is stored, null where the store does not keep it.',
    }),
  }),
});

builder.objectFields(Session, (t) => ({
  conversationRounds: t.field({
    type: Rounds,
    nullable: true,
    description: 'Turns of a person and the agent in its rows in the store.',
    args: {
      since: t.arg.float({ description: 'Epoch seconds: only what came later, and what has no time.' }),
      activeOnly: t.arg.boolean({ defaultValue: true, description: 'Without rows that were put away. The Web UI counts them.' }),
    },
    complexity: 3,
    resolve: resolve.conversationRounds,
  }),
  messageSummary: t.field({
    type: Summary,
    nullable: true,
    description: 'Its rows in the store, counted.',
    complexity: 2,
    resolve: resolve.messageSummary,
  }),
  messagePrefix: t.field({
    type: Prefix,
    nullable: true,
    description: 'What of its rows lies before a time; null where the store can not tell.',
    args: { before: t.arg.float({ required: true, description: 'Epoch seconds.' }) },
    complexity: 2,
    resolve: resolve.messagePrefix,
  }),
  historyRevision: t.field({
    type: Revision,
    nullable: true,
    description: "The agent's revision of its live rows; null where there is none to be trusted.",
    complexity: 3,
    resolve: resolve.historyRevision,
  }),
}));
