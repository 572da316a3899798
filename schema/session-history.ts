import { int32 } from '../resolvers/numbers.ts';
import * as resolve from '../resolvers/session-history.ts';
import type { ShownSnapshot, ShownTail } from '../src/session-history.ts';
import type { ContextDelta } from '../src/web-ui/file-jobs.ts';
import type { TranscriptRevision } from '../src/web-ui/transcript/revision.ts';
import type { SessionSummary } from '../src/web-ui/transcript/session-summaries.ts';
import type { ShownStateMessage } from '../src/web-ui/transcript/shown-state-message.ts';
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
      description: 'The latest time of a row; null without rows or times, and where it is no time.',
      resolve: resolve.lastMessageAt,
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

const StateMessage = builder.objectRef<ShownStateMessage>('StateMessage').implement({
  description: 'A row of the store as the Web UI reads it.',
  fields: (t) => ({
    rowId: t.exposeID('rowId', { nullable: true, description: 'The row, in digits; null in stores without row ids.' }),
    role: t.exposeString('role', { description: 'As stored.' }),
    text: t.exposeString('text', { description: 'Its text; text parts joined by line breaks.' }),
    content: t.field({
      type: 'JSON',
      nullable: true,
      description: 'Text, or a list of parts where these can be shown, text otherwise.',
      resolve: ({ content }) => content,
    }),
    timestamp: t.field({ type: 'DateTime', nullable: true, description: 'When it was said.', resolve: ({ timestamp }) => timestamp }),
    toolCallId: t.exposeString('toolCallId', { nullable: true, description: 'Of a result: the call that it answers.' }),
    toolCalls: t.field({
      type: 'JSON',
      nullable: true,
      description: 'Calls of an assistant message; as text where they are no JSON.',
      resolve: ({ toolCalls }) => toolCalls,
    }),
    toolName: t.exposeString('toolName', { nullable: true, description: 'Of a result: the tool.' }),
    reasoning: t.exposeString('reasoning', { nullable: true, description: 'What the model thought, as far as it was kept.' }),
    hasProviderPayload: t.exposeBoolean('hasProviderPayload', {
      description: 'What was sent to the provider differs from the text, and is stored. It is never told.',
    }),
  }),
});

const Snapshot = builder.objectRef<ShownSnapshot>('StateMessageSnapshot').implement({
  description: 'Rows of the store as the Web UI reads them, as of one moment.',
  fields: (t) => ({
    messages: t.field({
      type: [StateMessage],
      description: 'In the order in which they were stored.',
      complexity: { multiplier: 200 },
      resolve: ({ messages }) => [...messages],
    }),
    revision: t.field({
      type: Revision,
      nullable: true,
      description: 'Of exactly these rows; null where they are not all live rows of this one session, or where the store can not tell.',
      resolve: ({ revision }) => revision,
    }),
    degraded: t.exposeBoolean('degraded', { description: 'Some text was damaged and shows replacement characters.' }),
    truncated: t.exposeBoolean('truncated', { description: 'Stitched: there are older segments than are read.' }),
  }),
});

const ChainType = builder.objectRef<resolve.Chain>('ContinuationChain').implement({
  description: "The sessions that one goes on from, by the Web UI's own, narrow notion of it.",
  fields: (t) => ({
    sessions: t.field({
      type: [Session],
      description: 'Oldest first; the session itself is last.',
      resolve: ({ sessions }) => [...sessions],
    }),
    truncated: t.exposeBoolean('truncated', { description: 'There are more than the 20 before it that are read.' }),
  }),
});

const Tail = builder.objectRef<ShownTail>('RegenerationTail').implement({
  description: 'The end of a session with the proof of what lies before it, from one snapshot of the store.',
  fields: (t) => ({
    count: t.int({ nullable: true, description: 'Live rows before the time.', resolve: ({ prefix }) => int32(prefix.count) }),
    nullTimestampCount: t.int({
      nullable: true,
      description: 'Live rows without a time; they are in the tail.',
      resolve: ({ prefix }) => int32(prefix.nullTimestampCount),
    }),
    prefixKeys: t.stringList({
      description: 'A key for each live row before the time, in the order in which they were stored.',
      resolve: ({ prefixKeys }) => [...prefixKeys],
    }),
    messages: t.field({
      type: [StateMessage],
      description: 'Live rows from the time on.',
      complexity: { multiplier: 200 },
      resolve: ({ tail }) => [...tail],
    }),
    messageKeys: t.stringList({ description: 'A key for each of these.', resolve: ({ tailKeys }) => [...tailKeys] }),
  }),
});

const Anchor = builder.objectRef<resolve.CompressionAnchor>('CompressionAnchor').implement({
  description: 'The message up to which the Web UI compacted a session, as its file names it.',
  fields: (t) => ({
    role: t.exposeString('role', { description: 'Who said it.' }),
    timestamp: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When; null when the file does not say.',
      resolve: ({ timestamp }) => timestamp,
    }),
    text: t.exposeString('text', { description: 'How it begins.' }),
    verified: t.boolean({ description: 'The message is among the live rows of the store.', resolve: ({ found }) => found !== null }),
    rowId: t.id({ nullable: true, description: 'Its row, in digits.', resolve: ({ found }) => found?.rowId ?? null }),
  }),
});

const Delta = builder.objectRef<ContextDelta>('ContextDelta').implement({
  description: "What the store has of a session beyond what the model was last sent by the Web UI's file.",
  fields: (t) => ({
    contextCount: t.int({
      nullable: true,
      description: 'Messages that the model was last sent.',
      resolve: ({ contextCount }) => int32(contextCount),
    }),
    isCompressed: t.exposeBoolean('isCompressed', { description: 'A summary is among them that stands for what was compacted.' }),
    messages: t.field({
      type: [StateMessage],
      description: 'Live rows that are newer; all of them where the store does not mirror what was sent.',
      complexity: { multiplier: 200 },
      resolve: ({ messages }) => [...messages],
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
  stateMessages: t.field({
    type: Snapshot,
    nullable: true,
    description: 'Its rows in the store as the Web UI reads them, all at once; `messages` shows what people read, in pages.',
    args: {
      stitch: t.arg.boolean({ defaultValue: false, description: 'With the rows of `continuationChain`.' }),
      since: t.arg.float({ description: 'Epoch seconds: rows from then on, and those without a time.' }),
      includeInactive: t.arg.boolean({
        defaultValue: false,
        description: 'With rows that were put away, for recovery: what compaction archived and what was rewound.',
      }),
      limit: t.arg.int({ description: 'At most so many of the newest; a safety net and no page.' }),
    },
    complexity: 20,
    resolve: resolve.stateMessages,
  }),
  continuationChain: t.field({
    type: ChainType,
    nullable: true,
    description: 'What it goes on from, as the Web UI sees it. `lineage` has the whole family.',
    complexity: 5,
    resolve: resolve.continuationChain,
  }),
  regenerationTail: t.field({
    type: Tail,
    nullable: true,
    description:
      'Its live rows from a time on, with keys of those before. Null where nothing can be proven: also when anything was committed meanwhile.',
    args: { floor: t.arg.float({ required: true, description: 'Epoch seconds.' }) },
    complexity: 20,
    resolve: resolve.regenerationTail,
  }),
  compressionAnchor: t.field({
    type: Anchor,
    nullable: true,
    description: 'Up to which message the Web UI compacted it; null without a file that says so.',
    complexity: 10,
    resolve: resolve.compressionAnchor,
  }),
  contextDelta: t.field({
    type: Delta,
    nullable: true,
    description:
      "The rows that follow what the Web UI's file holds as the model's context; null without a file, which is read whole for it. `mergePreview` tells what a transcript makes of them.",
    complexity: 20,
    resolve: resolve.contextDelta,
  }),
}));
