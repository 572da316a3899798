import type { FieldMap, ObjectFieldBuilder } from '@pothos/core';
import * as resolve from '../resolvers/recovery.ts';
import { type Fields, finiteNumber, truthy, word } from '../src/web-ui/sidecar/coercions.ts';
import { builder, type Types } from './builder.ts';
import { mutation, OF_FILES } from './mutation.ts';
import { clientMutationIdField, dryRunField, payloadFields, profileField, sessionField, sessionIdField } from './write-fields.ts';

const OUTCOMES = {
  NOT_PENDING: { description: 'No prompt waits, and no run is named.' },
  NO_STREAM: { description: 'The file names no run of the prompt; `force` settles it without one.' },
  STREAM_LIVE: { description: 'The turn runs. Nothing overrides this.' },
  LIVENESS_UNKNOWN: { description: 'Whether the turn runs can not be told; `force` takes it for dead.' },
  PRE_COMPRESSION_SNAPSHOT: { description: 'The session is the archived part of a compressed conversation.' },
  HAS_CONTINUATION: { description: 'Another session goes on from this one.' },
  WITHIN_GRACE: { description: 'The turn began less than 30 seconds ago, or its start lies ahead of the clock.' },
  LOCKED: { description: 'The file is being written just now.' },
  CHANGED_UNDERNEATH: { description: 'The file changed while it was looked at; look again.' },
  CORE_UNREADABLE: { description: "The agent's own transcript of the session can not be read; `ignoreCore` leaves it aside." },
  CLEARED: { description: 'The run was taken out of the file; nothing else changed.' },
  CLEARED_COMPLETED: { description: 'The turn had ended well: what was missing of it was added, without a marker.' },
  RECOVERED_OUTPUT: { description: 'The answer, as far as it had come, was taken from the journal; a marker follows it.' },
  RECOVERED_TERMINAL_ERROR: { description: 'The error that ended the turn was taken from the journal.' },
  CORE_SYNCED: { description: "The agent's own transcript was taken over." },
  MARKED_RETRY: { description: 'The prompt was kept, with a marker; `retryJournalRecovery` looks for the answer again.' },
  MARKED_NO_OUTPUT: { description: 'The prompt was kept, with a marker; no run could be looked at.' },
  NO_RETRY_QUEUED: { description: 'No marker asks for another look.' },
  RECOVERED: { description: 'The answer came after all; it stands above the marker.' },
  TERMINAL_ERROR: { description: 'The error came after all; it stands in the place of the marker.' },
  ALREADY_PRESENT: { description: 'The answer is there already; the marker says so now.' },
  WAITING: { description: 'There is no journal yet. Nothing was written.' },
  COUNTED: { description: 'The journal has nothing of an answer; the attempt was counted.' },
  DEMOTED: { description: 'After the last attempt: the marker asks for no more.' },
  SYNCED: { description: 'Rows of the store were added, and the turn was settled.' },
  NOT_AHEAD: { description: 'The store has nothing that the file lacks.' },
  NO_ROWS: { description: 'The store has no rows of the session.' },
  UNDONE: { description: 'The turns were taken back.' },
  NOTHING_TO_UNDO: { description: 'No message of a person is there.' },
  TURN_UNDER_WAY: { description: 'The file names a turn, one that runs or one that was cut off.' },
  NO_UNFINISHED_TURN: { description: 'No turn waits: the file is left to the Web UI.' },
} as const;

const RecoveryOutcome = builder.enumType('RecoveryOutcome', {
  description: 'What became of a recovery. That it may not be done is an answer, and no error.',
  values: OUTCOMES,
});

export const RecoveredMessage = builder.objectRef<Fields>('RecoveredMessage').implement({
  description: 'A message that a recovery adds to a session file.',
  fields: (t) => ({
    role: t.string({ description: 'user or assistant.', resolve: ({ role }) => (typeof role === 'string' ? role : '') }),
    text: t.string({
      description: 'What it says; of a list of parts the JSON.',
      resolve: ({ content }) => (typeof content === 'string' ? content : JSON.stringify(content ?? '')),
    }),
    reasoning: t.string({ nullable: true, description: 'Of the model.', resolve: ({ reasoning }) => word(reasoning) }),
    createdAt: t.field({ type: 'DateTime', nullable: true, description: 'When.', resolve: ({ timestamp }) => finiteNumber(timestamp) }),
    isError: t.boolean({ description: 'It tells an error or an interruption.', resolve: ({ _error }) => truthy(_error) }),
    cause: t.string({
      nullable: true,
      description: 'Why the turn stopped, of a marker.',
      resolve: ({ interruption_cause: cause }) => word(cause)?.toUpperCase() ?? null,
    }),
  }),
});

export const RecoveredToolCall = builder.objectRef<Fields>('RecoveredToolCall').implement({
  description: 'A call of a tool from the journal of a run.',
  fields: (t) => ({
    name: t.string({ description: 'Of the tool.', resolve: ({ name }) => word(name) ?? 'tool' }),
    preview: t.string({ description: 'The beginning of its result, or of the call.', resolve: ({ preview }) => word(preview) ?? '' }),
    args: t.field({ type: 'JSON', description: 'At most four arguments, cut.', resolve: ({ args }) => args ?? {} }),
    done: t.boolean({ description: 'It came back.', resolve: ({ done }) => truthy(done) }),
    isError: t.boolean({ description: 'It failed.', resolve: ({ is_error: isError }) => truthy(isError) }),
    messageIndex: t.int({
      nullable: true,
      description: 'The message that it hangs on, by its place.',
      resolve: ({ assistant_msg_idx: place }) => (typeof place === 'number' ? place : null),
    }),
  }),
});

const MAY_BE_OVERWRITTEN =
  'A running Web UI may hold the session in memory, and not notice the change: its next save of the session undoes it.';

/** What every recovery answers. */
function recoveryFields(t: ObjectFieldBuilder<Types, resolve.RecoveryPayload>): FieldMap {
  return {
    ...payloadFields(t),
    sessionId: t.exposeString('sessionId', { description: 'The session.' }),
    outcome: t.field({ type: RecoveryOutcome, description: 'What became of it.', resolve: ({ outcome }) => outcome }),
    applied: t.exposeBoolean('applied', { description: 'The file was changed; of a dry run: would be.' }),
    dryRun: t.exposeBoolean('dryRun', { description: 'True: nothing was written.' }),
    streamId: t.exposeString('streamId', { nullable: true, description: 'The run.' }),
    cause: t.string({ nullable: true, description: 'Why the turn stopped.', resolve: ({ judged }) => judged?.cause ?? null }),
    terminalState: t.string({
      nullable: true,
      description: 'How the run ended by its journal; null without one.',
      resolve: ({ judged }) => judged?.terminalState ?? null,
    }),
    liveState: t.string({
      nullable: true,
      description: 'LIVE, DEAD or UNKNOWN; null where it does not matter.',
      resolve: ({ judged }) => judged?.live ?? null,
    }),
    evidence: t.stringList({
      description: 'What speaks for the state, the strongest first.',
      resolve: ({ judged }) => (judged?.evidence ?? []).map(({ sentence }) => sentence),
    }),
    graceEndsAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Of WITHIN_GRACE: when it may be done.',
      resolve: ({ judged }) => judged?.graceEndsAt ?? null,
    }),
    recoveredMessages: t.int({ description: 'Messages of the answer that are new.', resolve: ({ recovered }) => recovered.length }),
    recovered: t.field({ type: [RecoveredMessage], description: 'These messages.', resolve: ({ recovered }) => [...recovered] }),
    toolCallsAdded: t.exposeInt('toolCallsAdded', { description: 'Calls of tools that are new.' }),
    marker: t.field({
      type: RecoveredMessage,
      nullable: true,
      description: 'The message that tells of the interruption, as it is now.',
      resolve: ({ marker }) => marker,
    }),
    terminalError: t.field({
      type: RecoveredMessage,
      nullable: true,
      description: 'The error that ended the turn.',
      resolve: ({ error }) => error,
    }),
    messageCountBefore: t.exposeInt('countBefore', { description: 'Messages in the file before.' }),
    messageCountAfter: t.exposeInt('countAfter', { description: 'Messages in the file now, or as it would be.' }),
    truncated: t.exposeBoolean('truncated', { description: 'The answer has more than 8 MiB in the journal; the rest stays there.' }),
    mayBeOverwritten: t.exposeBoolean('mayBeOverwritten', { description: MAY_BE_OVERWRITTEN }),
    session: sessionField(t),
  };
}

const FORCE = 'Take a turn for dead of which it can not be told, and settle a prompt without a run. A turn that runs is never touched.';
const IGNORE_CORE = "Leave the agent's own transcript aside.";
const TOUCH = 'Move the session in lists, as if it had been used now.';

const RepairPayload = builder.objectRef<resolve.RecoveryPayload>('RepairStalePendingPayload').implement({
  description: 'What became of a turn that was cut off.',
  fields: (t) => ({
    ...recoveryFields(t),
    source: t.exposeString('source', { description: "SIDECAR, or CORE where the agent's own transcript was taken over." }),
    promptAppended: t.exposeBoolean('promptAppended', { description: 'The prompt was not among the messages.' }),
    contextRowsAdded: t.exposeInt('contextRowsAdded', { description: 'Messages that the next turn sends to the model besides.' }),
  }),
});

mutation('repairStalePending', {
  description:
    'Settle a turn of the Web UI that was cut off: its prompt and what it had answered, by its journal, become messages, once. Look at a dry run first.',
  input: builder.inputType('RepairStalePendingInput', {
    description: 'Of which session.',
    fields: (t) => ({
      sessionId: sessionIdField(t),
      force: t.boolean({ defaultValue: false, description: FORCE }),
      ignoreCore: t.boolean({ defaultValue: false, description: IGNORE_CORE }),
      touchUpdatedAt: t.boolean({ defaultValue: false, description: TOUCH }),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: RepairPayload,
  refusals: OF_FILES,
  resolve: resolve.repairStalePending,
});

const Failed = builder.objectRef<resolve.ManyPayload['failed'][number]>('FailedRecovery').implement({
  description: 'A session file that could not be changed at all.',
  fields: (t) => ({
    sessionId: t.exposeString('sessionId', { description: 'The session.' }),
    code: t.exposeString('code', { description: 'Of the refusal.' }),
    message: t.exposeString('message', { description: 'What it means.' }),
  }),
});

mutation('repairStalePendingMany', {
  description: 'Settle the turns of several sessions, each for itself. A dry run unless you say otherwise.',
  input: builder.inputType('RepairStalePendingManyInput', {
    description: 'Of which sessions.',
    fields: (t) => ({
      sessionIds: t.stringList({ description: 'At most 500; none: every session of the profile in which a prompt waits.' }),
      force: t.boolean({ defaultValue: false, description: FORCE }),
      ignoreCore: t.boolean({ defaultValue: false, description: IGNORE_CORE }),
      touchUpdatedAt: t.boolean({ defaultValue: false, description: TOUCH }),
      profile: profileField(t),
      dryRun: t.boolean({ defaultValue: true, description: 'Only say what would be done. Works without --allow-writes.' }),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.ManyPayload>('RepairStalePendingManyPayload').implement({
    description: 'What became of them.',
    fields: (t) => ({
      ...payloadFields(t),
      results: t.field({ type: [RepairPayload], description: 'One for each session.', resolve: ({ recoveries }) => [...recoveries] }),
      applied: t.int({
        description: 'Files that were changed, or would be.',
        resolve: ({ recoveries }) => recoveries.filter((recovery) => recovery.applied).length,
      }),
      failed: t.field({ type: [Failed], description: 'Files that could not be changed.', resolve: ({ failed }) => [...failed] }),
    }),
  }),
  refusals: OF_FILES,
  resolve: resolve.repairStalePendingMany,
});

mutation('clearStaleStream', {
  description: 'Free a session of a run that is over and that no prompt waits for. With a prompt it is the same as `repairStalePending`.',
  input: builder.inputType('ClearStaleStreamInput', {
    description: 'Of which session.',
    fields: (t) => ({
      sessionId: sessionIdField(t),
      force: t.boolean({ defaultValue: false, description: FORCE }),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.RecoveryPayload>('ClearStaleStreamPayload').implement({
    description: 'What became of it.',
    fields: (t) => ({
      ...recoveryFields(t),
      repaired: t.boolean({
        description: 'A prompt waited, and the turn was settled, or would be.',
        resolve: ({ outcome, applied }) => applied && outcome !== 'CLEARED',
      }),
    }),
  }),
  refusals: OF_FILES,
  resolve: resolve.clearStaleStream,
});

mutation('retryJournalRecovery', {
  description: 'Look again into the journal of a turn that was settled without its answer, where its marker asks for it.',
  input: builder.inputType('RetryJournalRecoveryInput', {
    description: 'Of which session.',
    fields: (t) => ({
      sessionId: sessionIdField(t),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.RecoveryPayload>('RetryJournalRecoveryPayload').implement({
    description: 'What became of it.',
    fields: (t) => ({
      ...recoveryFields(t),
      attemptsBefore: t.exposeInt('attemptsBefore', { description: 'Looks that found nothing so far.' }),
      attemptsAfter: t.exposeInt('attemptsAfter', { description: 'The same now; 0 when no more are asked for.' }),
    }),
  }),
  refusals: OF_FILES,
  resolve: resolve.retryJournalRecovery,
});

mutation('syncSidecarFromStateDb', {
  description: 'Add to a session file what only the store has, and settle the turn that was unfinished. Nothing of the file goes.',
  input: builder.inputType('SyncSidecarFromStateDbInput', {
    description: 'Of which session.',
    fields: (t) => ({
      sessionId: sessionIdField(t),
      includeIdle: t.boolean({
        defaultValue: false,
        description: 'Also where no turn is unfinished: another program went on with the session.',
      }),
      force: t.boolean({ defaultValue: false, description: FORCE }),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.RecoveryPayload>('SyncSidecarFromStateDbPayload').implement({
    description: 'What became of it.',
    fields: (t) => ({
      ...recoveryFields(t),
      addedMessages: t.int({
        description: 'Messages that the file has more.',
        resolve: ({ countBefore, countAfter }) => countAfter - countBefore,
      }),
    }),
  }),
  refusals: OF_FILES,
  resolve: resolve.syncSidecarFromStateDb,
});

mutation('undoSidecarTurns', {
  description:
    'Take the last turns of a person out of the Web UI file of a session, as its own undo does; the old file is kept as its backup. Rows of the store stay, hidden by the file. `rewindSession` undoes in the store.',
  input: builder.inputType('UndoSidecarTurnsInput', {
    description: 'Of which session.',
    fields: (t) => ({
      sessionId: sessionIdField(t),
      turns: t.int({ defaultValue: 1, description: 'How many; 1 at least. More than there are is all.' }),
      profile: profileField(t),
      dryRun: dryRunField(t),
      clientMutationId: clientMutationIdField(t),
    }),
  }),
  payload: builder.objectRef<resolve.RecoveryPayload>('UndoSidecarTurnsPayload').implement({
    description: 'What became of it.',
    fields: (t) => ({
      ...recoveryFields(t),
      removedMessages: t.int({
        description: 'Messages that went, or would go.',
        resolve: ({ countBefore, countAfter }) => countBefore - countAfter,
      }),
      prompt: t.field({
        type: RecoveredMessage,
        nullable: true,
        description: 'The first prompt that was taken back: what a client offers to send again.',
        resolve: ({ undone }) => undone,
      }),
    }),
  }),
  refusals: OF_FILES,
  resolve: resolve.undoSidecarTurns,
});
