import { int32 } from '../resolvers/numbers.ts';
import * as resolve from '../resolvers/runs.ts';
import type { LiveMessage } from '../src/live/journal/live-message.ts';
import type { LiveTool } from '../src/live/journal/live-turn.ts';
import type { Replay, RunEvent } from '../src/live/journal/replay.ts';
import type { MalformedLine } from '../src/live/journal/run-events.ts';
import { inWindow } from '../src/state-db/decode.ts';
import { builder, pageComplexity } from './builder.ts';
import { PAGE_DOCS, PageInfo, pageInfo } from './paging.ts';
import { Run } from './run.ts';
import { Session } from './session.ts';

// ---------------------------------------------------------------- events

const Event = builder.objectRef<RunEvent>('RunEvent').implement({
  description: 'One line of a run journal.',
  fields: (t) => ({
    id: t.id({
      description: 'The id of its writer, <run>:<number>; give it as `after`.',
      resolve: ({ runId, record }) => `${runId}:${record.seq}`,
    }),
    runId: t.exposeString('runId', { description: 'Its run.' }),
    seq: t.int({
      nullable: true,
      description: 'Its number in the run, from 1; null above 2,147,483,647.',
      resolve: ({ record }) => int32(record.seq),
    }),
    event: t.string({
      description: 'What happened, as written: token, tool, done, ... Empty without a name.',
      resolve: ({ record }) => record.event,
    }),
    createdAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When, by the clock of its writer.',
      resolve: ({ record }) => inWindow(record.createdAt),
    }),
    terminal: t.boolean({ description: 'It says that the run is over.', resolve: ({ record }) => record.terminal }),
    terminalState: t.string({ nullable: true, description: 'How it ended, as of the run.', resolve: ({ record }) => record.terminalState }),
    payload: t.field({
      type: 'JSON',
      description:
        'What it holds, cut to 64 items a list, depth 8 and 64 Ki characters in all, without private members. The end of a run holds the whole session: that is left out.',
      resolve: (event) => resolve.eventPayload(event) as never,
    }),
    truncated: t.boolean({
      description: 'Its line is over 256 KiB: of the payload only the first short members are here.',
      resolve: ({ record }) => record.truncated,
    }),
    sizeBytes: t.float({ description: 'Bytes of its line.', resolve: ({ record }) => record.bytes }),
  }),
});

const MalformedReason = builder.enumType('RunLineProblem', {
  description: 'Why a line of a run journal is no event.',
  values: {
    NOT_JSON: { description: 'It is no JSON: torn, or written by something else.' },
    NOT_AN_OBJECT: { description: 'It is JSON, and no object.' },
    FOREIGN: { description: 'It names another session or run.' },
    BAD_SEQ: { description: 'Its number is none.' },
    TORN_BEFORE_RECORD: { description: 'A torn line stands before an event on the same line; the event was read.' },
  } as const,
});

const Malformed = builder.objectRef<MalformedLine>('MalformedRunLine').implement({
  description: 'A line of a run journal that is no event.',
  fields: (t) => ({
    line: t.int({ nullable: true, description: 'Its number in the file, from 1.', resolve: ({ line }) => int32(line) }),
    reason: t.field({ type: MalformedReason, description: 'Why.', resolve: ({ reason }) => reason }),
  }),
});

const Edge = builder.objectRef<{ cursor: string; node: RunEvent }>('RunEventEdge').implement({
  description: 'An event in a list.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', { description: 'The id of the event.' }),
    node: t.field({ type: Event, description: 'The event.', resolve: (edge) => edge.node }),
  }),
});

const Connection = builder.objectRef<resolve.RunEvents>('RunEventConnection').implement({
  description: 'A page of events, in the order of their numbers; each number once.',
  fields: (t) => ({
    edges: t.field({
      type: [Edge],
      description: 'Events with their cursors.',
      complexity: { multiplier: 1 },
      resolve: (page) => [...page.items],
    }),
    nodes: t.field({
      type: [Event],
      description: 'Events alone.',
      complexity: { multiplier: 1 },
      resolve: (page) => page.items.map((item) => item.node),
    }),
    pageInfo: t.field({ type: PageInfo, description: 'Where the page lies.', resolve: pageInfo }),
    malformed: t.field({
      type: [Malformed],
      description: 'Lines that are no event, from the beginning of the file to where it was read for this page; the first 100.',
      resolve: (page) => [...page.malformed],
    }),
    malformedCount: t.int({ description: 'All of them.', resolve: (page) => int32(page.malformedCount) ?? 0 }),
  }),
});

// ---------------------------------------------------------------- the message so far

const ToolCall = builder.objectRef<LiveTool>('LiveMessageTool').implement({
  description: 'A call in the message that a run writes.',
  fields: (t) => ({
    toolCallId: t.exposeString('toolCallId', { description: "The provider's id, or journal-<number> without one." }),
    name: t.exposeString('name', { description: 'The tool.' }),
    argsPreview: t.expose('argsPreview', { type: 'JSON', nullable: true, description: 'Its arguments, cut.' }),
    done: t.exposeBoolean('done', { description: 'It is over.' }),
    resultPreview: t.exposeString('resultPreview', {
      nullable: true,
      description: 'The beginning of its result, at most 4,000 characters.',
    }),
    isError: t.exposeBoolean('isError', { nullable: true, description: 'It failed; null when that is not known.' }),
    durationMs: t.exposeFloat('durationMs', { nullable: true, description: 'Milliseconds.' }),
  }),
});

const Live = builder.objectRef<LiveMessage>('LiveMessage').implement({
  description: 'What a run has written so far, as one message.',
  fields: (t) => ({
    content: t.exposeString('content', { description: 'Its text.' }),
    reasoning: t.exposeString('reasoning', { description: 'What the model thought.' }),
    toolCalls: t.field({ type: [ToolCall], description: 'Its calls, in the order in which they began.', resolve: (m) => [...m.toolCalls] }),
    lastEventId: t.id({ description: 'The newest event that is in it.', resolve: ({ runId, lastSeq }) => `${runId}:${lastSeq}` }),
    lastSeq: t.int({ nullable: true, description: 'Its number.', resolve: ({ lastSeq }) => int32(lastSeq) }),
    truncated: t.exposeBoolean('truncated', {
      description: 'Over 8 Mi units of text, or 4,096 stretches and calls: only the beginning is here.',
    }),
  }),
});

builder.objectFields(Run, (t) => ({
  events: t.field({
    type: Connection,
    nullable: true,
    description: 'Its events. Every page reads the file up to its end: `liveTurn` is for following.',
    args: {
      first: t.arg.int({ description: PAGE_DOCS.first }),
      after: t.arg.id({ description: 'Only events after the one with this id.' }),
    },
    complexity: (args) => ({ field: 20, multiplier: pageComplexity(args).multiplier }),
    resolve: resolve.runEvents,
  }),
  liveMessage: t.field({
    type: Live,
    nullable: true,
    description: 'What it has written so far; null without any event and once it has ended: then the transcript has it.',
    complexity: 20,
    resolve: resolve.liveMessage,
  }),
}));

// ---------------------------------------------------------------- replay

const ReplayStatus = builder.enumType('ReplayStatus', {
  description: 'Whether a client can be brought to the present by events alone. Anything but OK: read the transcript again.',
  values: {
    OK: { description: 'It can.' },
    CURSOR_INVALID: { description: 'The cursor is not <run>:<number> with a number from 1.' },
    REPLAY_LIMIT_BYTES: { description: 'The runs of the session have more than 4 MiB.' },
    REPLAY_LIMIT_ROWS: { description: 'They have more than 4,096 lines.' },
    REPLAY_MALFORMED: { description: 'A line of one of them is no event.' },
    REPLAY_NONCONTIGUOUS: { description: 'Numbers are missing, out of order, or of another run.' },
    CURSOR_SESSION_MISMATCH: { description: 'The run is of another session.' },
    CURSOR_RUN_MISSING: { description: 'There is no such run.' },
    CURSOR_EVENT_MISSING: { description: 'The run does not go that far.' },
  } as const,
});

const ReplayType = builder.objectRef<Replay>('RunReplay').implement({
  description: 'All that came after an event, or why that can not be told.',
  fields: (t) => ({
    status: t.field({ type: ReplayStatus, description: 'OK, or what is in the way.', resolve: ({ status }) => status }),
    events: t.field({
      type: [Event],
      description: 'The rest of the run, then the later runs of the session. Empty unless the status is OK.',
      complexity: { multiplier: 200 },
      resolve: ({ events }) => [...events],
    }),
  }),
});

builder.objectField(Session, 'runReplay', (t) =>
  t.field({
    type: ReplayType,
    nullable: true,
    description:
      "What the Web UI's own clients get when they come back: everything after an event, or a reason for reading the transcript again. One hole or damaged line in any run is such a reason; `liveEvents` goes on past them.",
    args: { after: t.arg.string({ required: true, description: 'The id of the last event; empty gives none.' }) },
    complexity: 20,
    resolve: resolve.runReplay,
  }),
);
