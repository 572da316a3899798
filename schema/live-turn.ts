/**
 * One conversation as it goes on (`docs/live-protocol.md`): the subscription, and the same for those who poll.
 */
import * as resolve from '../resolvers/live-turn.ts';
import type { LiveFrame } from '../src/live/conversation/frame-group.ts';
import { builder } from './builder.ts';
import { LiveEventType } from './live-event.ts';
import './live-notice-events.ts';
import { LiveSnapshot } from './live-snapshot.ts';
import './live-transcript-events.ts';
import './live-turn-events.ts';

const LiveTextMode = builder.enumType('LiveTextMode', {
  description: 'How text comes.',
  values: {
    DELTA: { description: 'What was added.' },
    SNAPSHOT: { description: 'The whole segment each time, as a STATE with offset 0.' },
    NONE: { description: 'Not at all.' },
  } as const,
});

const LiveMessageMode = builder.enumType('LiveMessageMode', {
  description: 'How new rows come.',
  values: { IDS: { description: 'Their ids.' }, FULL: { description: 'The messages themselves.' } } as const,
});

const DelegateMode = builder.enumType('DelegateMode', {
  description: 'What is told of sub-agents.',
  values: {
    NONE: { description: 'Nothing.' },
    STATE: { description: 'That they began, how far they are, that they are done.' },
    MESSAGES: { description: 'Their rows as well, with their depth.' },
  } as const,
});

const LiveOptions = builder.inputType('LiveOptions', {
  description: 'What a subscriber wants to hear.',
  fields: (t) => ({
    coalesceMs: t.int({
      defaultValue: 50,
      description: 'Milliseconds between frames, 0 to 1,000; 0: a frame each time something was read.',
    }),
    text: t.field({ type: LiveTextMode, defaultValue: 'DELTA', description: 'How text comes.' }),
    reasoning: t.field({ type: LiveTextMode, defaultValue: 'DELTA', description: 'How reasoning comes.' }),
    toolArgs: t.boolean({ defaultValue: true, description: 'Whether ToolStarted shows arguments.' }),
    metering: t.boolean({ defaultValue: true, description: 'Whether figures come while the turn runs.' }),
    messages: t.field({ type: LiveMessageMode, defaultValue: 'IDS', description: 'How new rows come.' }),
    delegates: t.field({ type: DelegateMode, defaultValue: 'STATE', description: 'What is told of sub-agents.' }),
    followContinuations: t.boolean({
      defaultValue: true,
      description: 'Go on in the sessions that continue the conversation; else only SessionContinued tells of them.',
    }),
    maxFrameBytes: t.int({ defaultValue: 262144, description: 'Bytes of a frame, about; 4,096 to 4,194,304.' }),
  }),
});

const Frame = builder.objectRef<LiveFrame>('LiveFrame').implement({
  description: 'Events up to a moment. A frame is taken as a whole: between its events there is no position.',
  fields: (t) => ({
    cursor: t.field({
      type: 'LiveCursor',
      description: 'Give the last one back as `after` to go on without a gap.',
      resolve: (frame) => frame.cursor,
    }),
    events: t.field({
      type: [LiveEventType],
      description: 'In the order in which they are to be applied.',
      complexity: { multiplier: 20 },
      resolve: (frame) => [...frame.events],
    }),
    catchUp: t.exposeBoolean('catchUp', { description: 'There is more to tell at once.' }),
    sourceLagMs: t.int({
      nullable: true,
      description: 'Milliseconds from the newest time of a source in the frame to its sending; null when no source told one.',
      resolve: (frame) => frame.sourceLagMs,
    }),
  }),
});

const SESSION = "Any session of the conversation, by the store's own id. One that is not there yet is waited for.";
const PROFILE = 'Default: the profile that this server was started for.';
const CURSOR = 'The cursor of the last frame received. Errors: CURSOR_INVALID, CURSOR_FOREIGN.';

builder.subscriptionField('liveTurn', (t) =>
  t.field({
    type: Frame,
    description: 'Follow one conversation. Without `after` the first frame holds a LiveSnapshot; with it, what was missed.',
    args: {
      sessionId: t.arg.string({ required: true, description: SESSION }),
      profile: t.arg.string({ description: PROFILE }),
      after: t.arg({ type: 'LiveCursor', description: CURSOR }),
      options: t.arg({ type: LiveOptions, description: 'What to tell.' }),
    },
    subscribe: resolve.liveTurn,
    resolve: (frame) => frame,
  }),
);

builder.queryFields((t) => ({
  liveState: t.field({
    type: LiveSnapshot,
    nullable: true,
    description:
      'What a subscriber would hold now, with all of the text; null when there is no such session. For pollers and for GraphiQL.',
    args: {
      sessionId: t.arg.string({ required: true, description: "Any session of the conversation, by the store's own id." }),
      profile: t.arg.string({ description: PROFILE }),
    },
    complexity: 20,
    resolve: resolve.liveState,
  }),
  liveEvents: t.field({
    type: Frame,
    description: 'What came after a cursor, as one frame; `catchUp` says that there is more. The subscription for those who poll.',
    args: {
      sessionId: t.arg.string({ required: true, description: "Any session of the conversation, by the store's own id." }),
      profile: t.arg.string({ description: PROFILE }),
      after: t.arg({ type: 'LiveCursor', required: true, description: CURSOR }),
      first: t.arg.int({ defaultValue: 200, description: 'Events, 1 to 2,000; some more come when they belong together.' }),
    },
    complexity: 20,
    resolve: resolve.liveEvents,
  }),
}));
