import * as resolve from '../resolvers/recovery.ts';
import type { LivenessEvidence } from '../src/web-ui/recovery/live-state.ts';
import type { OutputPreview } from '../src/web-ui/recovery/output-preview.ts';
import { builder } from './builder.ts';
import { RecoveredMessage, RecoveredToolCall } from './recovery.ts';
import { Run } from './run.ts';
import { Session } from './session.ts';

const Evidence = builder.objectRef<LivenessEvidence>('TurnEvidence').implement({
  description: 'One thing that speaks for whether a turn runs.',
  fields: (t) => ({
    code: t.exposeString('code', {
      description:
        'WEB_UI_STREAMS, WEB_UI_STARTED_LATER, PROCESS_GONE, RUN_ENDED, TURN_SETTLED, CHANGED_RECENTLY, PROCESS_RUNS or NOTHING_CHANGED.',
    }),
    sentence: t.exposeString('sentence', { description: 'The same for people.' }),
  }),
});

const Output = builder.objectRef<OutputPreview>('RecoverableOutput').implement({
  description: 'What of the answer of a run lies in its journal. A look; nothing is written.',
  fields: (t) => ({
    messages: t.field({ type: [RecoveredMessage], description: 'Its rows, in their order.', resolve: ({ messages }) => [...messages] }),
    toolCalls: t.field({ type: [RecoveredToolCall], description: 'Calls of tools.', resolve: ({ toolCalls }) => [...toolCalls] }),
    visible: t.exposeBoolean('visible', { description: 'There is something to see.' }),
    truncated: t.exposeBoolean('truncated', { description: 'There is more than 8 MiB; the rest stays in the journal.' }),
    terminalError: t.field({
      type: RecoveredMessage,
      nullable: true,
      description: 'An error that ended the run and that could not be saved.',
      resolve: ({ error }) => error,
    }),
  }),
});

const PendingTurn = builder.objectRef<resolve.PendingTurn>('PendingTurn').implement({
  description: "A turn that a session's file names and that is not among its messages yet: one that runs, or one that was cut off.",
  fields: (t) => ({
    text: t.string({
      nullable: true,
      description: 'The prompt; null where only a run is named.',
      resolve: ({ pending }) => pending?.text ?? null,
    }),
    attachments: t.field({
      type: 'JSON',
      nullable: true,
      description: 'What was attached, as the browser stored it.',
      resolve: ({ pending }) => (pending === null ? null : [...pending.attachments]),
    }),
    startedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it began.',
      resolve: ({ pending }) => pending?.startedAt ?? null,
    }),
    ageSeconds: t.float({
      nullable: true,
      description: 'How long ago that is.',
      resolve: ({ pending, now }) => (pending?.startedAt == null ? null : now - pending.startedAt),
    }),
    source: t.string({
      nullable: true,
      description: 'webui for a person, process_wakeup for a background process, fork in a branch.',
      resolve: ({ pending }) => pending?.source ?? null,
    }),
    streamId: t.exposeString('streamId', { nullable: true, description: 'Its run.' }),
    identityProven: t.boolean({
      description: 'The agent was given the prompt with exactly this time.',
      resolve: ({ pending }) => pending?.identity != null,
    }),
    liveState: t.string({
      description: 'LIVE, DEAD or UNKNOWN; what can not be told counts as running.',
      resolve: ({ judged }) => judged.live,
    }),
    evidence: t.field({
      type: [Evidence],
      description: 'What speaks for it, the strongest first.',
      resolve: ({ judged }) => [...judged.evidence],
    }),
    terminalState: t.string({
      nullable: true,
      description: 'How its run ended by the journal, as in `Run.terminalState`; null without a journal.',
      resolve: ({ judged }) => judged.terminalState,
    }),
    wouldRepair: t.boolean({
      description: '`repairStalePending` settles it.',
      resolve: ({ judged, pending }) => judged.block === null && pending !== null,
    }),
    blockedBy: t.string({ nullable: true, description: 'The outcome that it would have instead.', resolve: ({ judged }) => judged.block }),
    graceEndsAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Of WITHIN_GRACE: when it can be settled.',
      resolve: ({ judged }) => judged.graceEndsAt,
    }),
    cause: t.string({
      nullable: true,
      description: 'Why it stopped: PROCESS_RESTART, LOST_WORKER_BOOKKEEPING or UNKNOWN; null unless it is dead.',
      resolve: ({ judged }) => (judged.live === 'DEAD' ? judged.cause : null),
    }),
    recoverableOutput: t.field({
      type: Output,
      nullable: true,
      description: 'What of its answer lies in the journal; null without a journal.',
      complexity: 20,
      resolve: resolve.recoverableOutput,
    }),
  }),
});

builder.objectField(Session, 'pendingTurn', (t) =>
  t.field({
    type: PendingTurn,
    nullable: true,
    description: 'The turn that its file in the Web UI names as under way, running or cut off; null without one.',
    complexity: 10,
    resolve: resolve.pendingTurn,
  }),
);

builder.objectField(Run, 'recoverableOutput', (t) =>
  t.field({
    type: Output,
    nullable: true,
    description: 'What of the answer lies in the journal, as a recovery would put it; null when the journal is gone.',
    complexity: 20,
    resolve: resolve.outputOfRun,
  }),
);
