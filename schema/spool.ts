import * as resolve from '../resolvers/append.ts';
import type { Page } from '../src/paging.ts';
import type { SpoolEntry } from '../src/transcript/spool-entry.ts';
import type { FoundReceipt } from '../src/writing/receipts.ts';
import { builder, pageComplexity } from './builder.ts';
import { mutation, OF_MESSAGES } from './mutation.ts';
import { PAGE_DOCS, PageInfo, pageInfo } from './paging.ts';
import { clientMutationIdField, dryRunField, payloadFields, profileField } from './write-fields.ts';

const SpoolState = builder.enumType('SpoolState', {
  description: 'What becomes of a file of the spool.',
  values: {
    PENDING: { description: 'It is to be written.' },
    INVALID: { description: 'It can not be used; a person has to look.' },
    CLAIMED: { description: 'A program is writing it.' },
    SUPERSEDED: { description: 'It belongs to a transcript that was rewritten; nothing writes it.' },
    DEAD: { description: 'No session takes it: the conversation has no open continuation.' },
  } as const,
});

const SpoolEntryType = builder.objectRef<SpoolEntry>('SpoolEntry').implement({
  description: 'A file with messages that a store did not take.',
  fields: (t) => ({
    spoolId: t.exposeString('spoolId', { description: 'Of the file.' }),
    state: t.field({ type: SpoolState, description: 'What becomes of it.', resolve: ({ state }) => state }),
    kind: t.exposeString('kind', { description: 'CAP_DROP, DEAD_LETTER, HISTORY_DUMP, PENDING_INPUT, INVALID or UNPARSEABLE.' }),
    problem: t.exposeString('problem', { nullable: true, description: 'Why it can not be used.' }),
    reason: t.exposeString('reason', { nullable: true, description: 'As its writer gave it.' }),
    sessionId: t.exposeString('sessionId', { nullable: true, description: 'The session that its messages were for.' }),
    preview: t.exposeString('preview', { nullable: true, description: 'The beginning of what it says.' }),
    ts: t.field({ type: 'DateTime', nullable: true, description: 'When it was written.', resolve: ({ ts }) => (ts > 0 ? ts : null) }),
    seq: t.exposeFloat('seq', { description: 'Its place among those of one second.' }),
    bytes: t.exposeFloat('bytes', { description: 'Its size.' }),
    digest: t.exposeString('digest', { description: 'Of its content, for `retireSpoolEntry`.' }),
  }),
});

type SpoolPage = Page<SpoolEntry> & { readonly total: number };

const SpoolEntryEdge = builder.objectRef<SpoolPage['items'][number]>('SpoolEntryEdge').implement({
  description: 'A file in a list.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', { description: 'Its place.' }),
    node: t.field({ type: SpoolEntryType, description: 'The file.', resolve: ({ node }) => node }),
  }),
});

const SpoolEntryConnection = builder.objectRef<SpoolPage>('SpoolEntryConnection').implement({
  description: 'A page of files of the spool, in the order in which they would be written.',
  fields: (t) => ({
    edges: t.field({ type: [SpoolEntryEdge], description: 'Files with cursors.', complexity: 1, resolve: ({ items }) => [...items] }),
    nodes: t.field({ type: [SpoolEntryType], description: 'Files.', complexity: 1, resolve: ({ items }) => items.map(({ node }) => node) }),
    pageInfo: t.field({ type: PageInfo, description: 'Where the page lies.', resolve: pageInfo }),
    totalCount: t.exposeInt('total', { description: 'Files in all.' }),
  }),
});

const ReceiptState = builder.enumType('ReceiptState', {
  description: 'How far a mutation came.',
  values: {
    RUNNING: { description: 'It is under way.' },
    DONE: { description: 'It was done; `result` is what it answered.' },
    INDETERMINATE: {
      description: 'Its process ended in the middle. Repeat it with the same id: that finds out, and does it at most once.',
    },
  } as const,
});

const MutationReceipt = builder.objectRef<FoundReceipt>('MutationReceipt').implement({
  description: 'What became of a mutation. Kept for 90 days by the server that ran it.',
  fields: (t) => ({
    clientMutationId: t.exposeString('clientMutationId', { description: 'As given.' }),
    mutation: t.exposeString('mutation', { description: 'Its name.' }),
    profile: t.exposeString('profile', { description: 'The profile whose store it changed.' }),
    state: t.field({ type: ReceiptState, description: 'How far it came.', resolve: ({ state }) => state }),
    result: t.field({
      type: 'JSON',
      nullable: true,
      description: 'What it answered, in words of the store; null until it is done.',
      resolve: ({ result }) => result,
    }),
    createdAt: t.field({ type: 'DateTime', description: 'When it was asked for.', resolve: ({ createdAt }) => createdAt }),
  }),
});

builder.queryFields((t) => ({
  spoolEntries: t.field({
    type: SpoolEntryConnection,
    description: 'Messages that a store did not take and that wait in files. Reading changes nothing.',
    complexity: pageComplexity,
    args: {
      sessionId: t.arg.string({ description: 'Only those of this session.' }),
      profile: t.arg.string({ description: 'Default: the profile that this server was started for.' }),
      first: t.arg.int({ description: PAGE_DOCS.first }),
      after: t.arg.string({ description: PAGE_DOCS.after }),
    },
    resolve: resolve.spoolEntries,
  }),
  mutationReceipt: t.field({
    type: MutationReceipt,
    nullable: true,
    description: 'What became of a mutation, for example after a timeout; null for an id that nothing was done under.',
    args: { clientMutationId: t.arg.string({ required: true, description: 'As it was given to the mutation.' }) },
    resolve: resolve.mutationReceipt,
  }),
}));

const ReplayedMessage = builder.objectRef<resolve.DrainPayload['replayed'][number]>('ReplayedMessage').implement({
  description: 'A file whose message is in the store.',
  fields: (t) => ({
    spoolId: t.exposeString('spoolId', { description: 'Of the file.' }),
    rowId: t.exposeID('messageId', {
      nullable: true,
      description: 'The row; null in a dry run, and where a whole session was written at once.',
    }),
    duplicate: t.exposeBoolean('duplicate', { description: 'It was there before.' }),
  }),
});

const DrainStop = builder.objectRef<resolve.DrainPayload['stoppedBy'][number]>('DrainStop').implement({
  description: 'Why a session was not drained to the end.',
  fields: (t) => ({
    code: t.exposeString('code', { description: 'For programs, for example NO_LIVE_CONTINUATION, SPOOL_INVALID or STORE_BUSY.' }),
    spoolId: t.exposeString('spoolId', { nullable: true, description: 'The file at which it stopped.' }),
    sessionId: t.exposeString('sessionId', { nullable: true, description: 'The session.' }),
  }),
});

mutation('drainSpool', {
  description: 'Write what waits in the spool, in order, each message once; a file goes when its message is in the store.',
  input: builder.inputType('DrainSpoolInput', {
    description: 'How much of the spool.',
    fields: (t) => ({
      profile: profileField(t),
      sessionId: t.string({ description: 'Only this session and what it continues. Default: every session.' }),
      limit: t.int({ description: 'At most so many files; only with a sessionId.' }),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.DrainPayload>('DrainSpoolPayload').implement({
    description: 'What was written.',
    fields: (t) => ({
      ...payloadFields(t),
      replayed: t.field({ type: [ReplayedMessage], description: 'Files that are done.', resolve: ({ replayed }) => [...replayed] }),
      remaining: t.exposeInt('remaining', { description: 'Files that are left.' }),
      stoppedBy: t.field({ type: [DrainStop], description: 'What kept sessions back.', resolve: ({ stoppedBy }) => [...stoppedBy] }),
    }),
  }),
  refusals: [...OF_MESSAGES, 'NO_LIVE_CONTINUATION'],
  resolve: resolve.drainSpool,
});

mutation('retireSpoolEntry', {
  description: 'Set a file of the spool aside, so that nothing writes it. The file stays.',
  input: builder.inputType('RetireSpoolEntryInput', {
    description: 'Which file.',
    fields: (t) => ({
      profile: profileField(t),
      spoolId: t.string({ required: true, description: 'Of the file.' }),
      expectedDigest: t.string({ required: true, description: 'The digest that you were shown; refused when the file is another by now.' }),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.RetirePayload>('RetireSpoolEntryPayload').implement({
    description: 'The file as it is now.',
    fields: (t) => ({
      ...payloadFields(t),
      entry: t.field({ type: SpoolEntryType, description: 'The file.', resolve: ({ entry }) => entry }),
    }),
  }),
  refusals: ['CONFLICT'],
  resolve: resolve.retireSpoolEntry,
});
