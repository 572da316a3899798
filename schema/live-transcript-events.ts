/**
 * Events of rows and sessions: what was added, changed, taken back; compaction and rotation; sub-agents (`docs/live-protocol.md`).
 */
import * as resolve from '../resolvers/live-turn.ts';
import type { SegmentRef } from '../src/live/conversation/events.ts';
import type { CarriedRow } from '../src/live/rows/events.ts';
import { builder } from './builder.ts';
import { eventRef, LiveEventType } from './live-event.ts';
import { Message } from './message.ts';
import { Session } from './session.ts';

const interfaces = [LiveEventType];

const Carried = builder.objectRef<CarriedRow>('CarriedRow').implement({
  description: 'A row that takes the place of an older copy of the same message: no new message.',
  fields: (t) => ({
    oldId: t.exposeID('oldId', { description: 'The copy.' }),
    newId: t.exposeID('newId', { description: 'The row.' }),
    retired: t.exposeBoolean('retired', { description: 'Nobody sees the older copy any more.' }),
  }),
});

const Segment = builder.objectRef<SegmentRef>('SegmentRef').implement({
  description: 'A part of the overlay that a row covers: drop it.',
  fields: (t) => ({
    runId: t.exposeString('runId', { description: 'The run.' }),
    part: t.exposeString('part', { description: 'TEXT, REASONING or TOOL.' }),
    segment: t.int({ nullable: true, description: 'Of text and reasoning.', resolve: (ref) => ref.segment }),
    toolCallId: t.exposeString('toolCallId', { nullable: true, description: 'Of a tool.' }),
  }),
});

eventRef('MessagesAppended').implement({
  description: 'A row was added.',
  interfaces,
  fields: (t) => ({
    ids: t.exposeIDList('ids', { description: 'Row ids.' }),
    messages: t.field({
      type: [Message],
      nullable: true,
      description: 'With `messages: FULL` the messages; else null. One that is gone already is missing.',
      complexity: { multiplier: 2 },
      resolve: resolve.appendedMessages,
    }),
    carried: t.field({
      type: [Carried],
      description: 'When the row repeats an older one: no new message.',
      resolve: (event) => [...event.carried],
    }),
    supersedes: t.field({
      type: [Segment],
      description: 'Parts of the overlay that the row covers. None: keep the overlay until TurnEnded.',
      resolve: (event) => [...event.supersedes],
    }),
  }),
});

eventRef('MessagesUpdated').implement({
  description: 'Rows were changed under their ids: read them again.',
  interfaces,
  fields: (t) => ({
    ids: t.exposeIDList('ids', { description: 'Row ids.' }),
    fields: t.stringList({ description: 'CONTENT, TOOL_CALLS, DISPLAY or UNKNOWN.', resolve: (event) => [...event.fields] }),
    cause: t.exposeString('cause', { description: 'PRUNE, DISPLAY, CLEANUP or UNKNOWN.' }),
  }),
});

eventRef('MessagesRetracted').implement({
  description: 'Rows were taken back.',
  interfaces,
  fields: (t) => ({
    fromId: t.exposeID('fromId', { description: 'The first of them.' }),
    ids: t.exposeIDList('ids', { description: 'Row ids.' }),
    cause: t.exposeString('cause', { description: 'REWIND, REPLACED or DELETED.' }),
  }),
});

eventRef('MessagesRestored').implement({
  description: 'Rows that had been taken back are there again.',
  interfaces,
  fields: (t) => ({
    fromId: t.exposeID('fromId', { description: 'The first of them.' }),
    ids: t.exposeIDList('ids', { description: 'Row ids.' }),
    cause: t.exposeString('cause', { description: 'REWIND.' }),
    carried: t.field({ type: [Carried], description: 'Those that there is a copy of.', resolve: (event) => [...event.carried] }),
  }),
});

eventRef('TranscriptReplaced').implement({
  description: 'All rows were taken out and others put in: read the messages again.',
  interfaces,
  fields: (t) => ({
    newIds: t.exposeIDList('newIds', { description: 'The rows that are there now.' }),
    activeCount: t.exposeInt('activeCount', { description: 'How many are live.' }),
    carried: t.field({ type: [Carried], description: 'Those that repeat older ones.', resolve: (event) => [...event.carried] }),
  }),
});

eventRef('TranscriptCompacted').implement({
  description: 'Older rows were summarised in place. They stay readable.',
  interfaces,
  fields: (t) => ({
    archivedCount: t.exposeInt('archivedCount', { description: 'Rows that the model does not see any more.' }),
    firstArchivedId: t.exposeID('firstArchivedId', { nullable: true, description: 'The first of them.' }),
    lastArchivedId: t.exposeID('lastArchivedId', { nullable: true, description: 'The last of them.' }),
    summaryIds: t.exposeIDList('summaryIds', { description: 'The rows of the summary.' }),
    carried: t.field({ type: [Carried], description: 'Rows that were kept under new ids.', resolve: (event) => [...event.carried] }),
    activeCount: t.exposeInt('activeCount', { description: 'How many rows are live now.' }),
  }),
});

eventRef('SessionContinued').implement({
  description: 'The conversation goes on in another session. Comes before everything of that session.',
  interfaces,
  fields: (t) => ({
    fromSessionId: t.exposeString('fromSessionId', { description: 'The session so far.' }),
    toSessionId: t.exposeString('toSessionId', { description: 'The session from now on.' }),
    handoffIds: t.exposeIDList('handoffIds', { description: 'The rows of the summary.' }),
    carried: t.field({ type: [Carried], description: 'Rows that were taken along under new ids.', resolve: (event) => [...event.carried] }),
  }),
});

eventRef('CompressionStarted').implement({
  description: 'The conversation is being compacted.',
  interfaces,
  fields: (t) => ({
    holderPid: t.exposeFloat('holderPid', { nullable: true, description: 'The process, on its host.' }),
    provenance: t.exposeString('provenance', { nullable: true, description: 'As the heartbeat says.' }),
    message: t.exposeString('message', { nullable: true, description: 'For people.' }),
  }),
});

eventRef('CompressionFailed').implement({
  description: 'It was not compacted.',
  interfaces,
  fields: (t) => ({
    error: t.exposeString('error', { nullable: true, description: 'As stored.' }),
    cooldownUntil: t.field({ type: 'DateTime', nullable: true, description: 'Not tried before.', resolve: (event) => event.cooldownUntil }),
  }),
});

eventRef('SessionChanged').implement({
  description: "Something of the session's row changed.",
  interfaces,
  fields: (t) => ({
    changed: t.stringList({
      description:
        'ENDED, REOPENED, MODEL, SOURCE, WORKSPACE, ARCHIVED, PINNED, HIDDEN, READ, HANDOFF, PARENT, ROUTING; UNKNOWN after a gap.',
      resolve: (event) => [...event.changed],
    }),
    session: t.field({ type: Session, nullable: true, description: 'As it is now; null when it is gone.', resolve: resolve.eventSession }),
  }),
});

eventRef('TitleChanged').implement({
  description: 'A title was given.',
  interfaces,
  fields: (t) => ({
    title: t.exposeString('title', { nullable: true, description: 'The title.' }),
    status: t.exposeString('status', { nullable: true, description: 'How it goes with finding one.' }),
    reason: t.exposeString('reason', { nullable: true, description: 'Why.' }),
    automatic: t.exposeBoolean('automatic', { description: 'Not by a person.' }),
  }),
});

eventRef('ActivityHeartbeat').implement({
  description: 'A sign of life, at most one a minute.',
  interfaces,
  fields: (t) => ({
    description: t.exposeString('description', { description: 'What is being done; "" right after the end.' }),
    provenance: t.exposeString('provenance', { nullable: true, description: 'Who says so.' }),
    lastActivityAt: t.field({ type: 'DateTime', nullable: true, description: 'When.', resolve: (event) => event.lastActivityAt }),
    leaseExpiresAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the lease runs out.',
      resolve: (event) => event.leaseExpiresAt,
    }),
    holderPid: t.exposeFloat('holderPid', { nullable: true, description: 'The process, on its host.' }),
    platform: t.exposeString('platform', { nullable: true, description: 'The surface.' }),
  }),
});

eventRef('DelegationStarted').implement({
  description: 'A sub-agent was given a task.',
  interfaces,
  fields: (t) => ({
    delegationId: t.exposeString('delegationId', { description: "The registry's id, or the child's session id." }),
    childSessionId: t.exposeString('childSessionId', { nullable: true, description: 'Its session, once it has one.' }),
    goal: t.exposeString('goal', { nullable: true, description: 'What it was told to do.' }),
    background: t.exposeBoolean('background', { description: 'The conversation does not wait for it.' }),
    toolCallId: t.exposeString('toolCallId', { nullable: true, description: 'The call that sent it.' }),
  }),
});

eventRef('DelegationProgress').implement({
  description: 'How far a sub-agent has come.',
  interfaces,
  fields: (t) => ({
    delegationId: t.exposeString('delegationId', { description: 'As DelegationStarted named it.' }),
    childSessionId: t.exposeString('childSessionId', { nullable: true, description: 'Its session.' }),
    messageCount: t.exposeInt('messageCount', { description: 'Its messages.' }),
    apiCalls: t.exposeInt('apiCalls', { description: 'Its calls of the provider.' }),
    lastTool: t.exposeString('lastTool', { nullable: true, description: 'The tool that it used last.' }),
    deliveredMessageId: t.exposeID('deliveredMessageId', { nullable: true, description: 'The row that brought its result.' }),
  }),
});

eventRef('DelegationFinished').implement({
  description: 'A sub-agent is done.',
  interfaces,
  fields: (t) => ({
    delegationId: t.exposeString('delegationId', { description: 'As DelegationStarted named it.' }),
    childSessionId: t.exposeString('childSessionId', { nullable: true, description: 'Its session.' }),
    status: t.exposeString('status', { description: 'As stored: completed, error, timeout, interrupted, ...' }),
    summary: t.exposeString('summary', { nullable: true, description: 'Its result, cut.' }),
  }),
});

eventRef('TranscriptRepaired').implement({
  description: 'The Web UI put what it could recover of a lost turn into the session.',
  interfaces,
  fields: (t) => ({
    recoveredFromRunId: t.exposeString('recoveredFromRunId', { nullable: true, description: 'The lost run.' }),
    count: t.exposeInt('count', { description: 'Messages that were recovered, as far as the end of the file shows.' }),
    pendingRetry: t.exposeBoolean('pendingRetry', { description: 'It will try again.' }),
  }),
});

eventRef('SessionDeleted').implement({ description: 'The session is gone.', interfaces });
