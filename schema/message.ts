import * as resolve from '../resolvers/messages.ts';
import { int32 } from '../resolvers/numbers.ts';
import type { StoredMessage, StoredTranscript } from '../src/session-store.ts';
import type { ContentPart } from '../src/state-db/content.ts';
import { builder, pageComplexity } from './builder.ts';
import { Warning } from './errors.ts';
import { Node, nodeId } from './node.ts';
import { PAGE_DOCS, PageInfo, pageInfo } from './paging.ts';
import { Session } from './session.ts';

// ---------------------------------------------------------------- enums

const MessageView = builder.enumType('MessageView', {
  description: 'Which rows are shown.',
  values: {
    LIVE: { description: 'What the model holds. Of a session with a file of the Web UI: what the Web UI sends.' },
    DISPLAY: {
      description:
        'What a person reads: archived by compaction included, each logical message once, in its first place. Scaffolds are in it with displayKind "hidden": don\'t draw them.',
    },
    AUDIT: { description: 'Every row of the store, rewound ones too; where the store does not have the session, what its file holds.' },
  } as const,
});

const MessageScope = builder.enumType('MessageScope', {
  description: 'How far the list reaches.',
  values: {
    SEGMENT: { description: 'The rows of this stored session.' },
    CONVERSATION: { description: 'Its whole compression chain.' },
  } as const,
});

const TranscriptView = builder.enumType('TranscriptView', {
  description: 'For whom the transcript is.',
  values: {
    DISPLAY: { description: 'As a person would read it: every segment, copies once. Of a session with a file: this session alone.' },
    REPLAY: { description: 'As a model would be given it: the live rows of this segment, alternation repaired.' },
  } as const,
});

export const MessageRole = builder.enumType('MessageRole', {
  description: 'Who speaks.',
  values: {
    USER: { description: "A person, or a program in a person's place." },
    ASSISTANT: { description: 'The model.' },
    TOOL: { description: 'The result of a tool call.' },
    SYSTEM: { description: 'Instructions.' },
    OTHER: { description: 'Anything else; see rawRole.' },
  } as const,
});

const MessageState = builder.enumType('MessageState', {
  description: 'What became of a row.',
  values: {
    LIVE: { description: 'Part of the live transcript.' },
    ARCHIVED: { description: 'Summarised away by compaction; still history.' },
    REWOUND: { description: 'Taken back, undone or superseded.' },
  } as const,
});

// ---------------------------------------------------------------- content

const Part = builder.interfaceRef<ContentPart>('ContentPart').implement({
  description: 'A part of a message.',
  fields: (t) => ({ type: t.exposeString('type', { description: 'As stored, for example text or image_url.' }) }),
  resolveType: (part) => ({ text: 'TextPart', image: 'ImagePart', other: 'OtherPart' })[part.kind],
});

builder.objectRef<Extract<ContentPart, { kind: 'text' }>>('TextPart').implement({
  description: 'Text.',
  interfaces: [Part],
  fields: (t) => ({ text: t.exposeString('text', { description: 'The text.' }) }),
});

builder.objectRef<Extract<ContentPart, { kind: 'image' }>>('ImagePart').implement({
  description: 'An image; its data stay in the store.',
  interfaces: [Part],
  fields: (t) => ({
    mediaType: t.exposeString('mediaType', { nullable: true, description: 'For example image/png; null for a link.' }),
    bytes: t.int({ nullable: true, description: 'Size of embedded data in bytes; null for a link.', resolve: (part) => int32(part.bytes) }),
    url: t.exposeString('url', { nullable: true, description: 'The link; null for embedded data.' }),
  }),
});

builder.objectRef<Extract<ContentPart, { kind: 'other' }>>('OtherPart').implement({
  description: 'A part of a kind that this server does not know.',
  interfaces: [Part],
  fields: (t) => ({ json: t.field({ type: 'JSON', description: 'As stored.', resolve: (part) => part.json as never }) }),
});

const Reaction = builder.objectRef<resolve.Reaction>('Reaction').implement({
  description: 'A reaction to a message.',
  fields: (t) => ({
    emoji: t.exposeString('emoji', { description: 'The emoji.' }),
    author: t.exposeString('author', { description: 'user or agent, as stored.' }),
    at: t.field({ type: 'DateTime', nullable: true, description: 'When.', resolve: (reaction) => reaction.at }),
  }),
});

// ---------------------------------------------------------------- messages

export const Message = builder.objectRef<StoredMessage>('Message').implement({
  description: 'One message, shown by one of its rows.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.id({ description: 'Global id.', resolve: (row) => nodeId('Message', row, resolve.localId(row)) }),
    rowId: t.id({
      nullable: true,
      description: "The store's own row id, in digits. It changes when the message is copied. Null for a message that only a file has.",
      resolve: (row) => row.rowId || null,
    }),
    uid: t.exposeString('messageUid', { nullable: true, description: 'The id of the logical message, where the store has one.' }),
    session: t.field({ type: Session, description: 'The stored session that the row belongs to.', resolve: resolve.sessionOf }),
    role: t.field({ type: MessageRole, description: 'Who speaks.', resolve: resolve.role }),
    rawRole: t.exposeString('role', { description: 'As stored.' }),
    text: t.string({ description: 'All text of the message; structured content joined by line breaks.', resolve: resolve.text }),
    parts: t.field({ type: [Part], description: 'Its parts, in order.', resolve: resolve.parts }),
    toolCallId: t.exposeString('toolCallId', { nullable: true, description: 'Of a result: the call that it answers.' }),
    toolName: t.exposeString('toolName', { nullable: true, description: 'Of a result: the tool.' }),
    reasoning: t.string({ nullable: true, description: 'What the model thought, as far as it was kept.', resolve: resolve.reasoning }),
    timestamp: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was said; may run backwards. The order is that of the list.',
      resolve: (row) => row.timestamp,
    }),
    tokenCount: t.int({ nullable: true, description: 'Tokens, where counted.', resolve: (row) => int32(row.tokenCount) }),
    finishReason: t.exposeString('finishReason', { nullable: true, description: 'As stored: stop, tool_calls, length, error, ...' }),
    state: t.field({ type: MessageState, description: 'Live, archived or rewound.', resolve: (row) => row.state }),
    observed: t.exposeBoolean('observed', { description: 'Overheard in a group, not addressed to the agent.' }),
    isSummary: t.boolean({ description: 'A summary that compaction wrote.', resolve: resolve.isSummary }),
    displayKind: t.exposeString('displayKind', {
      nullable: true,
      description: 'How to draw it: null is a bubble, "hidden" is not drawn, "steer" counts as human, everything else is a note.',
    }),
    displayMetadata: t.field({
      type: 'JSON',
      nullable: true,
      description: 'More about how to draw it; always an object.',
      resolve: (row) => row.displayMetadata,
    }),
    reactions: t.field({ type: [Reaction], description: 'Reactions, one for each author.', resolve: resolve.reactions }),
    platformMessageId: t.exposeString('platformMessageId', { nullable: true, description: "The chat platform's id." }),
    copies: t.exposeInt('copies', {
      description: 'Rows that hold this message; known in DISPLAY lists, else 1. 0 where only a file has it.',
    }),
    rowVersion: t.string({
      nullable: true,
      description: "The row's version for guarded mutations; null where the row can't be rewritten.",
      complexity: 2,
      resolve: resolve.rowVersion,
    }),
    hasProviderPayload: t.boolean({
      description: 'What was sent to the provider differs from the text, and is stored. It is never told.',
      resolve: resolve.hasProviderPayload,
    }),
    warnings: t.field({ type: [Warning], description: 'Values that could not be trusted.', resolve: (row) => [...row.warnings] }),
  }),
});

const ToolCall = builder.objectRef<resolve.ToolCall>('ToolCall').implement({
  description: 'A call that the model made.',
  fields: (t) => ({
    toolCallId: t.exposeString('toolCallId', { nullable: true, description: "The provider's id of the call." }),
    name: t.exposeString('name', { description: 'The tool; "" when it is not named.' }),
    arguments: t.field({
      type: 'JSON',
      nullable: true,
      description: 'Parsed; null when they are not JSON.',
      resolve: (call) => call.arguments as never,
    }),
    rawArguments: t.exposeString('rawArguments', { nullable: true, description: 'As stored.' }),
    result: t.field({
      type: Message,
      nullable: true,
      description: 'The message that answers it; null while it runs and when it is gone.',
      resolve: resolve.toolResult,
    }),
  }),
});

builder.objectField(Message, 'toolCalls', (t) =>
  t.field({ type: [ToolCall], description: 'Calls that an assistant message makes.', resolve: resolve.toolCalls }),
);

// ---------------------------------------------------------------- lists

const MessageEdge = builder.objectRef<{ cursor: string; node: StoredMessage }>('MessageEdge').implement({
  description: 'A message in a list.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', { description: 'Opaque; give it as `after` or `before`.' }),
    node: t.field({ type: Message, description: 'The message.', resolve: (edge) => edge.node }),
  }),
});

const MessageConnection = builder.objectRef<resolve.MessageConnection>('MessageConnection').implement({
  description: 'A page of messages, oldest first.',
  fields: (t) => ({
    edges: t.field({
      type: [MessageEdge],
      description: 'Messages with their cursors.',
      complexity: { multiplier: 1 },
      resolve: (page) => [...page.items],
    }),
    nodes: t.field({
      type: [Message],
      description: 'Messages alone.',
      complexity: { multiplier: 1 },
      resolve: (page) => page.items.map((item) => item.node),
    }),
    pageInfo: t.field({ type: PageInfo, description: 'Where the page lies.', resolve: pageInfo }),
    totalCount: t.int({ description: 'How many messages all pages together have.', complexity: 10, resolve: resolve.messageTotal }),
  }),
});

const Transcript = builder.objectRef<StoredTranscript>('Transcript').implement({
  description: 'A whole conversation at once.',
  fields: (t) => ({
    messages: t.field({
      type: [Message],
      description: 'In order.',
      complexity: { multiplier: 200 },
      resolve: (transcript) => [...transcript.messages],
    }),
    revision: t.exposeString('revision', { description: 'Changes when any of its rows does, and when its file is saved.' }),
    storeRevision: t.exposeString('storeRevision', {
      nullable: true,
      description:
        'The same of the rows of the store alone: what `expectedRevision` of a mutation takes. Null where the store has none of it.',
    }),
    source: t.exposeString('source', {
      description:
        'Where it was read. STATE_DB: the store alone. Of a session with a file of the Web UI: MERGED from both; SIDECAR_ONLY; STATE_DB_ONLY, the file has no messages; CONTEXT_FAIL_CLOSED, the compacted context alone. CLAUDE_CODE: a transcript of Claude Code.',
    }),
    repairCount: t.exposeInt('repairCount', { description: 'Merges and drops that alternation needed; 0 for DISPLAY.' }),
    warnings: t.field({
      type: [Warning],
      description: 'What could not be trusted, or was left out: a damaged file, rows that have no place.',
      resolve: (transcript) => [...transcript.warnings],
    }),
  }),
});

builder.objectFields(Session, (t) => ({
  messages: t.field({
    type: MessageConnection,
    nullable: true,
    description: "Its messages, oldest first. An error at this field means that they can't be read; the session itself is fine.",
    args: {
      first: t.arg.int({ description: PAGE_DOCS.first }),
      after: t.arg.string({ description: PAGE_DOCS.after }),
      last: t.arg.int({ description: PAGE_DOCS.last }),
      before: t.arg.string({ description: PAGE_DOCS.before }),
      view: t.arg({ type: MessageView, defaultValue: 'DISPLAY', description: 'Which rows.' }),
      scope: t.arg({ type: MessageScope, defaultValue: 'CONVERSATION', description: 'Of this segment, or of all.' }),
      merged: t.arg.boolean({
        defaultValue: false,
        description:
          'Of a session that also has a file of the Web UI: merged with it, as `transcript` is. A session that only a file has is always read from it.',
      }),
    },
    complexity: pageComplexity,
    resolve: resolve.messages,
  }),
  transcript: t.field({
    type: Transcript,
    nullable: true,
    description:
      'The conversation as a model would be given it, or as a person would read it. An error at this field leaves the session as it is.',
    args: { view: t.arg({ type: TranscriptView, defaultValue: 'DISPLAY', description: 'For whom.' }) },
    complexity: 20,
    resolve: resolve.transcript,
  }),
}));

const PROFILE = 'Default: the profile that this server was started for.';

builder.queryFields((t) => ({
  message: t.field({
    type: Message,
    nullable: true,
    description: 'A message by its row id; null when there is none.',
    args: { rowId: t.arg.id({ required: true, description: 'In digits.' }), profile: t.arg.string({ description: PROFILE }) },
    resolve: resolve.message,
  }),
  messagesAround: t.field({
    type: [Message],
    description: 'A row and its neighbours in its session, every state, by row id; empty when the row is gone.',
    args: {
      rowId: t.arg.id({ required: true, description: 'The row in the middle, in digits.' }),
      window: t.arg.int({ defaultValue: 5, description: 'Rows on each side, 0 to 100.' }),
      profile: t.arg.string({ description: PROFILE }),
    },
    complexity: (args) => ({ field: 2, multiplier: 2 * Math.max(0, args.window ?? 5) + 1 }),
    resolve: async (parent, args, ctx) => [...(await resolve.messagesAround(parent, args, ctx))],
  }),
}));
