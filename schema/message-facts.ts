import { wakeupOf } from '../resolvers/messages.ts';
import { int32 } from '../resolvers/numbers.ts';
import type { StoredMessage } from '../src/session-store.ts';
import type { Interruption, JournalRetry } from '../src/web-ui/interruption.ts';
import { MOST_ATTEMPTS } from '../src/web-ui/recovery/markers.ts';
import { type Fields, word } from '../src/web-ui/sidecar/coercions.ts';
import { type MediaSnapshot, type MessageFacts, type MessageTurn, NO_FACTS } from '../src/web-ui/transcript/message-facts.ts';
import { builder } from './builder.ts';
import { LiveUsageType } from './live-snapshot.ts';
import { Message } from './message.ts';

const Turn = builder.objectRef<MessageTurn>('TurnMetadata').implement({
  description: 'Figures of the turn that an answer ended, as the Web UI keeps them with it.',
  fields: (t) => ({
    durationMs: t.exposeFloat('durationMs', { nullable: true, description: 'Milliseconds.' }),
    tokensPerSecond: t.exposeFloat('tokensPerSecond', { nullable: true, description: 'Tokens a second.' }),
    firstTokenMs: t.exposeFloat('firstTokenMs', { nullable: true, description: 'Milliseconds to the first token.' }),
    usedModel: t.exposeString('usedModel', { nullable: true, description: 'The model that answered.' }),
    usage: t.field({ type: LiveUsageType, nullable: true, description: 'Its figures.', resolve: ({ usage }) => usage }),
    routing: t.field({
      type: 'JSON',
      nullable: true,
      description: 'How a gateway chose the model, as stored, cut to 64 Ki characters.',
      resolve: ({ routing }) => routing as never,
    }),
    statusCard: t.field({
      type: 'JSON',
      nullable: true,
      description: 'What the browser drew beside it, as stored, cut to 64 Ki characters.',
      resolve: ({ statusCard }) => statusCard as never,
    }),
    streamId: t.exposeString('streamId', { nullable: true, description: 'The run that its work log is of.' }),
  }),
});

const Wakeup = builder.objectRef<Fields>('MessageWakeup').implement({
  description: 'What a prompt that a finished background process gave tells of it.',
  fields: (t) => ({
    type: t.string({ description: '`completion`: it ended. `watch_match`: its output matched.', resolve: ({ type }) => String(type) }),
    taskId: t.string({ description: 'The process, by the id that the agent gave it.', resolve: ({ task_id }) => String(task_id) }),
    command: t.string({ description: 'What ran.', resolve: ({ command }) => String(command) }),
    exitCode: t.string({
      nullable: true,
      description: 'How it ended, as written: mostly a number. Null for a match.',
      resolve: ({ exit_code: code }) => (code === undefined ? null : String(code)),
    }),
    pattern: t.string({ nullable: true, description: 'What matched.', resolve: ({ pattern }) => word(pattern) }),
  }),
});

const Snapshot = builder.objectRef<MediaSnapshot>('MediaSnapshot').implement({
  description: 'A file that a message shows, as it was.',
  fields: (t) => ({
    path: t.exposeString('path', { description: 'Where it lay.' }),
    digest: t.exposeString('digest', { description: 'Of what was in it.' }),
  }),
});

export const JournalRetryType = builder.objectRef<JournalRetry>('JournalRetry').implement({
  description: "The Web UI will look into a run's journal again when the session is opened there.",
  fields: (t) => ({
    streamId: t.exposeString('streamId', { nullable: true, description: 'The run; without one it gives up at once.' }),
    attempts: t.int({ description: 'Looks so far that found nothing.', resolve: ({ attempts }) => int32(attempts) ?? 0 }),
    maxAttempts: t.int({ description: 'Looks after which it gives up.', resolve: () => MOST_ATTEMPTS }),
    firstSeenAt: t.field({ type: 'DateTime', nullable: true, description: 'When it began to.', resolve: ({ firstSeenAt }) => firstSeenAt }),
    givesUpAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it gives up, whatever the number of looks.',
      resolve: ({ givesUpAt }) => givesUpAt,
    }),
  }),
});

const Cause = builder.enumType('InterruptionCause', {
  description: 'Why a turn was cut off, as far as the Web UI could tell.',
  values: {
    PROCESS_RESTART: { description: 'The Web UI was started after the turn began.' },
    STREAM_RUN_SPLIT_BRAIN: { description: 'The channel to the browser was closed while the worker still ran.' },
    LOST_WORKER_BOOKKEEPING: { description: 'Neither a channel nor a worker was left, and no end was written.' },
    UNKNOWN: { description: 'It could not be told.' },
  } as const,
});

const InterruptionType = builder.objectRef<Interruption>('Interruption').implement({
  description: 'A message that stands where a turn was cut off.',
  fields: (t) => ({
    cause: t.field({ type: Cause, description: 'Why.', resolve: ({ cause }) => cause }),
    pendingJournalRecovery: t.boolean({
      description: 'The Web UI has not given up recovering the rest.',
      resolve: ({ retry }) => retry !== null,
    }),
    retry: t.field({
      type: JournalRetryType,
      nullable: true,
      description: 'How it goes on; null once it does not.',
      resolve: ({ retry }) => retry,
    }),
  }),
});

const factsOf = (row: StoredMessage): MessageFacts => row.facts ?? NO_FACTS;

builder.objectFields(Message, (t) => ({
  turn: t.field({
    type: Turn,
    nullable: true,
    description:
      'Figures of its turn. This and what follows is kept by files of the Web UI: `transcript` and `messages(merged: true)` have it.',
    resolve: (row) => factsOf(row).turn,
  }),
  mediaSnapshots: t.field({
    type: [Snapshot],
    description: 'Files that it shows, at most 256.',
    resolve: (row) => [...factsOf(row).mediaSnapshots],
  }),
  recovered: t.boolean({ description: 'It was put back after a crash.', resolve: (row) => factsOf(row).recovered }),
  recoveredFromRun: t.string({
    nullable: true,
    description: 'The run from whose journal it was rebuilt.',
    resolve: (row) => factsOf(row).recoveredFromRun,
  }),
  recoveredEventId: t.id({
    nullable: true,
    description: 'The event of a run that it was taken from.',
    resolve: (row) => factsOf(row).recoveredEventId,
  }),
  partial: t.boolean({ description: 'The beginning of an answer that failed.', resolve: (row) => factsOf(row).partial }),
  isError: t.boolean({
    description: 'Written by the Web UI about an error; the model never sees it.',
    resolve: (row) => factsOf(row).isError,
  }),
  source: t.string({
    nullable: true,
    description: 'Who submitted it, as written: fork, process_wakeup, ... Null for a person in the browser.',
    resolve: (row) => factsOf(row).source,
  }),
  wakeup: t.field({
    type: Wakeup,
    nullable: true,
    description: 'What it tells of a background process; null for any other message.',
    resolve: wakeupOf,
  }),
  interruption: t.field({
    type: InterruptionType,
    nullable: true,
    description: 'What it says of a turn that was cut off; null for any other message.',
    resolve: (row) => factsOf(row).interruption,
  }),
}));
