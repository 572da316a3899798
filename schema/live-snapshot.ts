/**
 * What a subscriber holds at a moment: the overlay of the turn under way, and where the transcript stands.
 */

import * as resolve from '../resolvers/live-turn.ts';
import { int32 } from '../resolvers/numbers.ts';
import type { SnapshotSegment, SnapshotTool, SnapshotTurn, TranscriptHead } from '../src/live/conversation/snapshot.ts';
import type { LiveUsage, Todo } from '../src/live/journal/events.ts';
import type { Interaction } from '../src/live/journal/live-turn.ts';
import type { Delegation } from '../src/live/rows/delegation-state.ts';
import { builder } from './builder.ts';
import { eventRef, LiveEventType, LivenessVerdict, TurnPhase } from './live-event.ts';
import { LivenessType } from './liveness.ts';

export const TodoType = builder.objectRef<Todo>('LiveTodo').implement({
  description: 'An item of the list that the agent keeps for itself.',
  fields: (t) => ({
    id: t.exposeString('id', { description: "The agent's own id." }),
    content: t.exposeString('content', { description: 'What is to be done.' }),
    status: t.exposeString('status', { description: 'As the agent writes it: pending, in_progress, completed, cancelled.' }),
  }),
});

export const LiveUsageType = builder.objectRef<LiveUsage>('LiveUsage').implement({
  description: 'Figures of a run, as its program estimates them.',
  fields: (t) => ({
    inputTokens: t.exposeFloat('inputTokens', { nullable: true, description: 'Tokens.' }),
    outputTokens: t.exposeFloat('outputTokens', { nullable: true, description: 'Tokens.' }),
    cacheReadTokens: t.exposeFloat('cacheReadTokens', { nullable: true, description: 'Tokens.' }),
    cacheWriteTokens: t.exposeFloat('cacheWriteTokens', { nullable: true, description: 'Tokens.' }),
    cacheHitPercent: t.exposeFloat('cacheHitPercent', { nullable: true, description: 'Percent.' }),
    contextLength: t.exposeFloat('contextLength', { nullable: true, description: 'Tokens that the model can take.' }),
    thresholdTokens: t.exposeFloat('thresholdTokens', { nullable: true, description: 'Tokens at which the conversation is compacted.' }),
    lastPromptTokens: t.exposeFloat('lastPromptTokens', { nullable: true, description: 'Tokens of the last prompt.' }),
    estimatedCostUsd: t.float({ nullable: true, description: 'US dollars.', resolve: (usage) => usage.estimatedCost }),
    tokensPerSecond: t.exposeFloat('tokensPerSecond', { nullable: true, description: 'Tokens a second.' }),
    timeToFirstTokenMs: t.exposeFloat('timeToFirstTokenMs', { nullable: true, description: 'Milliseconds.' }),
    durationSeconds: t.exposeFloat('durationSeconds', { nullable: true, description: 'Seconds.' }),
    model: t.exposeString('model', { nullable: true, description: 'The model that answered.' }),
    final: t.exposeBoolean('final', { description: 'Those of the finished turn.' }),
  }),
});

const Segment = builder.objectRef<SnapshotSegment>('LiveSegment').implement({
  description: 'A stretch of text or reasoning of a turn.',
  fields: (t) => ({
    index: t.exposeInt('index', { description: 'Its number in the turn; deltas name it.' }),
    seq: t.exposeInt('seq', { description: 'Its place among text, reasoning and tools: what has the lower number came first.' }),
    offset: t.exposeInt('offset', { description: 'UTF-16 units before `text`: over 0 when only the end of a long segment is here.' }),
    text: t.exposeString('text', { description: 'What was written so far.' }),
    sealed: t.exposeBoolean('sealed', { description: 'Nothing more comes.' }),
    messageId: t.exposeID('messageId', {
      nullable: true,
      description: "The row that covers it: don't show it any more. Null while none does.",
    }),
  }),
});

const Tool = builder.objectRef<SnapshotTool>('LiveTool').implement({
  description: 'A call of a tool.',
  fields: (t) => ({
    toolCallId: t.exposeString('toolCallId', { description: "The provider's id, or one of this server." }),
    name: t.exposeString('name', { description: 'The tool.' }),
    seq: t.int({ nullable: true, description: 'As of segments; null while only rows know the tool.', resolve: (tool) => tool.seq }),
    argsPreview: t.expose('argsPreview', { type: 'JSON', nullable: true, description: 'Its arguments, cut.' }),
    segment: t.int({ nullable: true, description: 'The text segment before it.', resolve: (tool) => tool.segment }),
    done: t.exposeBoolean('done', { description: 'It is over.' }),
    resultPreview: t.exposeString('resultPreview', {
      nullable: true,
      description: 'The beginning of its result, at most 4,000 characters.',
    }),
    isError: t.exposeBoolean('isError', { nullable: true, description: 'It failed; null when that is not known.' }),
    durationMs: t.exposeFloat('durationMs', { nullable: true, description: 'Milliseconds.' }),
    callMessageId: t.exposeID('callMessageId', { nullable: true, description: 'The row of its call.' }),
    messageId: t.exposeID('messageId', {
      nullable: true,
      description: "The row that covers it: don't show it any more. Null while none does.",
    }),
  }),
});

const InteractionType = builder.objectRef<Interaction>('LiveInteraction').implement({
  description: 'A question that waits for a person.',
  fields: (t) => ({
    interactionId: t.exposeString('interactionId', { description: 'Named by InteractionClosed.' }),
    kind: t.exposeString('kind', { description: 'APPROVAL or CLARIFY.' }),
    question: t.exposeString('question', { nullable: true, description: 'What is asked.' }),
    tool: t.exposeString('tool', { nullable: true, description: 'The tool that needs the approval.' }),
    expiresAt: t.field({ type: 'DateTime', nullable: true, description: 'When it runs out.', resolve: (asked) => asked.expiresAt }),
  }),
});

const Turn = builder.objectRef<SnapshotTurn>('LiveTurn').implement({
  description: 'The turn under way, to be shown behind the last settled message.',
  fields: (t) => ({
    turnId: t.exposeString('turnId', { description: 'Its id; that of the run, where there is one.' }),
    startedEventId: t.exposeID('startedEventId', { description: 'The id of its TurnStarted, for what is told of it later.' }),
    runId: t.exposeString('runId', { nullable: true, description: 'The run of the Web UI; null for turns that only rows tell of.' }),
    phase: t.field({ type: TurnPhase, description: 'What it does.', resolve: (turn) => turn.phase }),
    phaseDetail: t.exposeString('phaseDetail', { nullable: true, description: 'The tool, for example.' }),
    startedAt: t.field({ type: 'DateTime', description: 'When it began.', resolve: (turn) => turn.startedAt }),
    userText: t.exposeString('userText', { nullable: true, description: 'What was submitted, before it has a row.' }),
    userAttachments: t.expose('userAttachments', { type: 'JSON', nullable: true, description: 'What was attached.' }),
    userMessageId: t.exposeID('userMessageId', { nullable: true, description: "The row of the user's message." }),
    baseMessageId: t.exposeID('baseMessageId', { nullable: true, description: 'The last row before the turn.' }),
    segments: t.field({ type: [Segment], description: 'Its text.', resolve: (turn) => [...turn.segments] }),
    reasoning: t.field({ type: [Segment], description: 'Its reasoning.', resolve: (turn) => [...turn.reasoning] }),
    tools: t.field({ type: [Tool], description: 'Its calls.', resolve: (turn) => [...turn.tools] }),
    todos: t.field({ type: [TodoType], description: "The agent's list.", resolve: (turn) => [...(turn.todos?.todos ?? [])] }),
    interactions: t.field({ type: [InteractionType], description: 'Open questions.', resolve: (turn) => [...turn.interactions] }),
    usage: t.field({ type: LiveUsageType, nullable: true, description: 'The newest figures.', resolve: (turn) => turn.usage }),
    liveness: t.field({ type: LivenessVerdict, description: 'Whether it lives.', resolve: (turn) => turn.liveness }),
  }),
});

const Head = builder.objectRef<TranscriptHead>('TranscriptHead').implement({
  description: 'Where the transcript stands: another digest means that rows changed.',
  fields: (t) => ({
    sessionId: t.exposeString('sessionId', { description: 'The live end of the conversation.' }),
    maxMessageId: t.exposeID('maxMessageId', { nullable: true, description: 'Its newest row.' }),
    activeCount: t.int({ description: 'Live rows.', resolve: (head) => int32(head.activeCount) ?? 0 }),
    rewindCount: t.int({ description: 'Rewinds so far.', resolve: (head) => int32(head.rewindCount) ?? 0 }),
    digest: t.exposeString('digest', { description: 'Of all its rows.' }),
  }),
});

const DelegationType = builder.objectRef<Delegation>('LiveDelegation').implement({
  description: 'A task that a sub-agent works on.',
  fields: (t) => ({
    delegationId: t.exposeString('delegationId', { description: "The registry's id, or the child's session id." }),
    childSessionId: t.string({ nullable: true, description: 'Its session.', resolve: (task) => task.sessionIds.at(-1) ?? null }),
    goal: t.exposeString('goal', { nullable: true, description: 'What it was told to do.' }),
    background: t.exposeBoolean('background', { description: 'The conversation does not wait for it.' }),
    toolCallId: t.exposeString('toolCallId', { nullable: true, description: 'The call that sent it.' }),
    depth: t.exposeInt('depth', { description: 'Its level.' }),
    finished: t.exposeBoolean('finished', { description: 'It is over.' }),
  }),
});

const SnapshotReason = builder.enumType('LiveSnapshotReason', {
  description: 'Why a snapshot comes.',
  values: {
    INITIAL: { description: 'It is the first frame.' },
    RESUME: { description: 'A subscriber came back.' },
    CATCH_UP: { description: 'Too much was missed to be told one by one: read the messages again.' },
    RESET: { description: 'What was told before does not hold any more: read the messages again.' },
  } as const,
});

export const LiveSnapshot = eventRef('LiveSnapshot').implement({
  description: 'How everything is now; deltas that follow go on from here.',
  interfaces: [LiveEventType],
  fields: (t) => ({
    cursor: t.field({ type: 'LiveCursor', description: 'The position that it shows.', resolve: (event) => event.cursor }),
    reason: t.field({ type: SnapshotReason, description: 'Why it comes.', resolve: (event) => event.reason }),
    turn: t.field({
      type: Turn,
      nullable: true,
      description: 'The turn under way; null when none is.',
      resolve: (event) => event.snapshot.turn,
    }),
    head: t.field({
      type: Head,
      nullable: true,
      description: 'Where the transcript stands; null before the store has the session.',
      resolve: (event) => event.snapshot.head,
    }),
    delegations: t.field({
      type: [DelegationType],
      description: 'Sub-agents at work, and those whose results are still to come.',
      resolve: (event) => [...event.snapshot.delegations],
    }),
    hasEarlier: t.boolean({
      description: 'Long segments have only their last 64 Ki units here; `liveState` has all of them.',
      resolve: (event) => event.snapshot.hasEarlier,
    }),
    liveness: t.field({
      type: LivenessType,
      description: 'Whether a turn is running, and what speaks for it.',
      resolve: resolve.snapshotLiveness,
    }),
    text: t.string({
      description: 'The text of the turn under way that no row covers yet; "" when there is none.',
      resolve: resolve.snapshotText,
    }),
    messageCount: t.int({
      nullable: true,
      description: 'Live rows of the session; null before the store has it.',
      resolve: (event) => int32(event.snapshot.head?.activeCount ?? null),
    }),
  }),
});
