/**
 * Events of a turn: its beginning and end, text, tools, questions (`docs/live-protocol.md`).
 */
import type { RunError } from '../src/live/journal/events.ts';
import type { LiveEvidence } from '../src/live/liveness/verdict.ts';
import { builder } from './builder.ts';
import { Certainty, eventRef, LiveEventType, LivenessVerdict, TurnOutcome, TurnPhase } from './live-event.ts';
import { LiveUsageType, TodoType } from './live-snapshot.ts';
import { Usage } from './usage.ts';

const interfaces = [LiveEventType];

const ResetReason = builder.enumType('StreamResetReason', {
  description: 'Why what was told before does not hold any more.',
  values: {
    DB_REPLACED: { description: 'Another file is in the place of the store.' },
    RUN_REWRITTEN: { description: 'The journal of the run began anew.' },
    RUN_GONE: { description: 'The journal of the run is gone, and its end had not been told.' },
    TRANSCRIPT_REWRITTEN_OFFLINE: { description: 'Rows that were told were changed while nobody followed.' },
    SCHEMA_CHANGED: { description: 'The store has other columns than before.' },
    CURSOR_TOO_OLD: { description: 'The cursor is older than this server goes back.' },
  } as const,
});

const ResetScope = builder.enumType('StreamResetScope', {
  description: 'What a reset is about.',
  values: {
    ALL: { description: 'Everything.' },
    TRANSCRIPT: { description: 'Rows and everything else.' },
    RUN: { description: 'The overlay of the run; rows hold.' },
  } as const,
});

eventRef('StreamReset').implement({
  description: 'Forget what was told: a LiveSnapshot follows in the same frame.',
  interfaces,
  fields: (t) => ({
    reason: t.field({ type: ResetReason, description: 'Why.', resolve: (event) => event.reason }),
    scope: t.field({ type: ResetScope, description: 'What it is about.', resolve: (event) => event.scope }),
  }),
});

const TurnExecutor = builder.enumType('TurnExecutor', {
  description: 'Who runs a turn.',
  values: {
    WEBUI: { description: 'The Web UI, or a gateway for it: text comes while it is written.' },
    OTHER: { description: 'Another surface: only its rows, lease and heartbeats are to be seen.' },
  } as const,
});

eventRef('TurnStarted').implement({
  description: 'A turn began. Comes before every other event of the turn; again, as a STATE, when more is known.',
  interfaces,
  fields: (t) => ({
    turnId: t.exposeString('turnId', { description: 'Its id; TurnEnded names it.' }),
    userMessageId: t.exposeID('userMessageId', { nullable: true, description: "The row of the user's message; null while there is none." }),
    pendingText: t.exposeString('pendingText', { nullable: true, description: 'What was submitted; null where only a row has it.' }),
    pendingAttachments: t.field({
      type: 'JSON',
      nullable: true,
      description: 'What was attached.',
      resolve: (event) => event.pendingAttachments,
    }),
    source: t.exposeString('source', { nullable: true, description: 'Where it came from, as stored.' }),
    baseMessageId: t.exposeID('baseMessageId', { nullable: true, description: 'The last row before it.' }),
    model: t.exposeString('model', { nullable: true, description: 'The model.' }),
    executor: t.field({ type: TurnExecutor, description: 'Who runs it.', resolve: (event) => event.executor }),
    platform: t.exposeString('platform', { nullable: true, description: 'The surface, as the lease or the session names it.' }),
  }),
});

eventRef('TurnPhaseChanged').implement({
  description: 'The turn does something else now.',
  interfaces,
  fields: (t) => ({
    phase: t.field({ type: TurnPhase, description: 'What it does.', resolve: (event) => event.phase }),
    detail: t.exposeString('detail', { nullable: true, description: 'The tool, for example.' }),
  }),
});

const seqFields = {
  segment: 'The segment, by its number in the turn.',
  offset: 'UTF-16 units of the segment before the text. Late text belongs there, before what is behind that offset.',
  seqFrom: "The first of the run's records in it.",
  seqTo: 'The last of them.',
} as const;

eventRef('TextDelta').implement({
  description: 'Text was written.',
  interfaces,
  fields: (t) => ({
    segment: t.exposeInt('segment', { description: seqFields.segment }),
    offset: t.exposeInt('offset', { description: seqFields.offset }),
    text: t.exposeString('text', { description: 'The text to append; with `text: SNAPSHOT` the whole segment.' }),
    seqFrom: t.exposeInt('seqFrom', { description: seqFields.seqFrom }),
    seqTo: t.exposeInt('seqTo', { description: seqFields.seqTo }),
  }),
});

eventRef('ReasoningDelta').implement({
  description: 'The model reasoned.',
  interfaces,
  fields: (t) => ({
    segment: t.exposeInt('segment', { description: seqFields.segment }),
    offset: t.exposeInt('offset', { description: seqFields.offset }),
    text: t.exposeString('text', { description: 'The text to append; with `reasoning: SNAPSHOT` the whole segment.' }),
    seqFrom: t.exposeInt('seqFrom', { description: seqFields.seqFrom }),
    seqTo: t.exposeInt('seqTo', { description: seqFields.seqTo }),
  }),
});

eventRef('SegmentSealed').implement({
  description: 'A text segment is complete.',
  interfaces,
  fields: (t) => ({
    segment: t.exposeInt('segment', { description: seqFields.segment }),
    by: t.exposeString('by', { description: 'INTERIM, TOOL or TERMINAL: what came after it.' }),
    text: t.exposeString('text', { nullable: true, description: 'A text that was not streamed; the TextDelta before has it too.' }),
    dropReasoningTail: t.exposeString('dropReasoningTail', {
      nullable: true,
      description: 'What the end of the last reasoning segment loses: it was this text.',
    }),
  }),
});

eventRef('ToolStarted').implement({
  description: 'A tool was called. Comes again as a STATE with the same id when the other source tells of it.',
  interfaces,
  fields: (t) => ({
    toolCallId: t.exposeString('toolCallId', { description: 'ToolFinished names it.' }),
    name: t.exposeString('name', { description: 'The tool.' }),
    argsPreview: t.field({ type: 'JSON', nullable: true, description: 'Its arguments, cut.', resolve: (event) => event.argsPreview }),
    argsComplete: t.exposeBoolean('argsComplete', { description: 'Nothing was cut.' }),
    segment: t.int({ nullable: true, description: 'The text segment that it follows.', resolve: (event) => event.segment }),
    messageId: t.exposeID('messageId', { nullable: true, description: 'The row of the call; null while there is none.' }),
  }),
});

eventRef('ToolFinished').implement({
  description: 'A tool is done. Comes again as a STATE with the same id when the other source tells of it.',
  interfaces,
  fields: (t) => ({
    toolCallId: t.exposeString('toolCallId', { description: 'As ToolStarted named it.' }),
    name: t.exposeString('name', { description: 'The tool.' }),
    resultPreview: t.exposeString('resultPreview', { nullable: true, description: 'At most 4,000 characters; the row has all of it.' }),
    isError: t.exposeBoolean('isError', { nullable: true, description: 'It failed; null when that is not known yet.' }),
    durationMs: t.exposeFloat('durationMs', { nullable: true, description: 'Milliseconds.' }),
    messageId: t.exposeID('messageId', { nullable: true, description: 'The row of the result; null while there is none.' }),
  }),
});

eventRef('TodoChanged').implement({
  description: "The agent's list, as a whole.",
  interfaces,
  fields: (t) => ({
    todos: t.field({ type: [TodoType], description: 'Its items.', resolve: (event) => [...event.todos] }),
    summary: t.field({ type: 'JSON', nullable: true, description: 'As the agent wrote it.', resolve: (event) => event.summary }),
    version: t.exposeFloat('version', { nullable: true, description: 'Of the list.' }),
  }),
});

eventRef('ApprovalRequested').implement({
  description: 'A person has to allow something.',
  interfaces,
  fields: (t) => ({
    approvalId: t.exposeString('approvalId', { description: 'InteractionClosed names it.' }),
    command: t.exposeString('command', { nullable: true, description: 'What would be run.' }),
    description: t.exposeString('description', { nullable: true, description: 'Why it needs an approval.' }),
    patternKeys: t.exposeStringList('patternKeys', { description: 'Rules that it falls under.' }),
    choices: t.exposeStringList('choices', { description: 'What can be answered, where the owner says so.' }),
    allowSession: t.exposeBoolean('allowSession', { nullable: true, description: 'It can be allowed for the session.' }),
    allowPermanent: t.exposeBoolean('allowPermanent', { nullable: true, description: 'It can be allowed for ever.' }),
    pendingCount: t.exposeFloat('pendingCount', { nullable: true, description: 'Questions that wait.' }),
    tool: t.exposeString('tool', { nullable: true, description: 'The tool.' }),
    riskLevel: t.exposeString('riskLevel', { nullable: true, description: 'As the owner rates it.' }),
  }),
});

eventRef('ClarifyRequested').implement({
  description: 'A person was asked something.',
  interfaces,
  fields: (t) => ({
    clarifyId: t.exposeString('clarifyId', { description: 'InteractionClosed names it.' }),
    question: t.exposeString('question', { nullable: true, description: 'The question.' }),
    choices: t.exposeStringList('choices', { description: 'Answers that are offered.' }),
    expiresAt: t.field({ type: 'DateTime', nullable: true, description: 'When it runs out.', resolve: (event) => event.expiresAt }),
  }),
});

eventRef('InteractionClosed').implement({
  description: 'A question does not wait any more. Answers are not journaled; that it was answered follows from what came after.',
  interfaces,
  fields: (t) => ({
    interactionId: t.exposeString('interactionId', { description: 'The approvalId or clarifyId.' }),
    how: t.exposeString('how', { description: 'PROGRESS, EXPIRED or TURN_ENDED.' }),
  }),
});

eventRef('UsageChanged').implement({
  description: 'Figures of the turn, or counters of the session.',
  interfaces,
  fields: (t) => ({
    live: t.field({ type: LiveUsageType, nullable: true, description: 'Of the run, as it estimates.', resolve: (event) => event.live }),
    settled: t.field({ type: Usage, nullable: true, description: 'Counters of the session as stored.', resolve: (event) => event.settled }),
    final: t.exposeBoolean('final', { description: 'No turn is under way.' }),
  }),
});

const RunErrorType = builder.objectRef<RunError>('RunError').implement({
  description: "Why a turn failed, in the owner's words.",
  fields: (t) => ({
    type: t.exposeString('type', { nullable: true, description: 'For programs, for example rate_limit.' }),
    label: t.exposeString('label', { nullable: true, description: 'A heading.' }),
    message: t.exposeString('message', { nullable: true, description: 'What happened.' }),
    hint: t.exposeString('hint', { nullable: true, description: 'What to do.' }),
    details: t.exposeString('details', { nullable: true, description: 'At most 1,200 characters.' }),
  }),
});

eventRef('TurnEnded').implement({
  description: 'A turn is over. All its rows were told before. Replace the overlay by the rows from first to last.',
  interfaces,
  fields: (t) => ({
    turnId: t.exposeString('turnId', { description: 'As TurnStarted named it.' }),
    outcome: t.field({ type: TurnOutcome, description: 'How.', resolve: (event) => event.outcome }),
    certainty: t.field({
      type: Certainty,
      description: 'How sure that is; what was inferred can be corrected.',
      resolve: (event) => event.certainty,
    }),
    evidence: t.exposeString('evidence', { nullable: true, description: 'What it was inferred from; null when the owner said so.' }),
    error: t.field({ type: RunErrorType, nullable: true, description: 'Of a failed turn.', resolve: (event) => event.error }),
    usage: t.field({ type: LiveUsageType, nullable: true, description: 'Its figures.', resolve: (event) => event.usage }),
    recovery: t.field({
      type: 'JSON',
      nullable: true,
      description: 'What the owner says of a recovery.',
      resolve: (event) => event.recovery,
    }),
    firstMessageId: t.exposeID('firstMessageId', { nullable: true, description: 'Its first row, as far as it was told.' }),
    lastMessageId: t.exposeID('lastMessageId', { nullable: true, description: 'Its last row.' }),
    continuationSessionId: t.exposeString('continuationSessionId', {
      nullable: true,
      description: 'The session that goes on after a rotation; null when it is the same.',
    }),
    corrects: t.exposeID('corrects', { nullable: true, description: 'The TurnEnded that this one takes the place of.' }),
  }),
});

const Evidence = builder.objectRef<LiveEvidence>('LiveEvidence').implement({
  description: 'Something that speaks for a verdict.',
  fields: (t) => ({
    code: t.exposeString('code', { description: 'For programs.' }),
    sentence: t.exposeString('sentence', { description: 'For people.' }),
  }),
});

eventRef('LivenessChanged').implement({
  description: 'A run seems to live, or not. An end that was only inferred is taken back by ALIVE.',
  interfaces,
  fields: (t) => ({
    state: t.field({ type: LivenessVerdict, description: 'The verdict.', resolve: (event) => event.state }),
    certainty: t.field({ type: Certainty, description: 'How sure it is.', resolve: (event) => event.certainty }),
    evidence: t.field({ type: [Evidence], description: 'What speaks for it.', resolve: (event) => [...event.evidence] }),
    lastSignalAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'The newest sign of life.',
      resolve: (event) => event.lastSignalAt,
    }),
  }),
});
