/**
 * Notices of a run: what its program says beside the turn itself (`docs/live-protocol.md`).
 */
import { eventRef, LiveEventType } from './live-event.ts';

const interfaces = [LiveEventType];

eventRef('ContextStatus').implement({
  description: 'What the model was given to begin with.',
  interfaces,
  fields: (t) => ({
    prefill: t.field({ type: 'JSON', nullable: true, description: 'As the owner wrote it.', resolve: (event) => event.prefill }),
  }),
});

eventRef('GoalChanged').implement({
  description: 'How it goes with the goal of the session.',
  interfaces,
  fields: (t) => ({
    state: t.exposeString('state', { nullable: true, description: 'evaluating, continuing or idle.' }),
    message: t.exposeString('message', { nullable: true, description: 'For people.' }),
    messageKey: t.exposeString('messageKey', { nullable: true, description: 'For programs.' }),
    messageArgs: t.field({
      type: 'JSON',
      nullable: true,
      description: 'What belongs into the message.',
      resolve: (event) => event.messageArgs,
    }),
    decision: t.field({ type: 'JSON', nullable: true, description: 'As the judge wrote it.', resolve: (event) => event.decision }),
  }),
});

eventRef('GoalContinuation').implement({
  description: 'The goal wants another turn, which a front end has to start.',
  interfaces,
  fields: (t) => ({
    continuationPrompt: t.exposeString('continuationPrompt', { nullable: true, description: 'What to submit.' }),
    text: t.exposeString('text', { nullable: true, description: 'What to show.' }),
    message: t.exposeString('message', { nullable: true, description: 'For people.' }),
    messageKey: t.exposeString('messageKey', { nullable: true, description: 'For programs.' }),
    messageArgs: t.field({
      type: 'JSON',
      nullable: true,
      description: 'What belongs into the message.',
      resolve: (event) => event.messageArgs,
    }),
    decision: t.field({ type: 'JSON', nullable: true, description: 'As the judge wrote it.', resolve: (event) => event.decision }),
  }),
});

eventRef('StateSaved').implement({
  description: 'The agent wrote to its memory, or a skill.',
  interfaces,
  fields: (t) => ({
    what: t.exposeString('what', { nullable: true, description: 'memory or skill.' }),
    action: t.exposeString('action', { nullable: true, description: 'As the owner names it.' }),
    name: t.exposeString('name', { nullable: true, description: 'Of the skill.' }),
  }),
});

eventRef('SteerLeftover').implement({
  description: 'Something that a person said during the turn and that it did not take up.',
  interfaces,
  fields: (t) => ({ text: t.exposeString('text', { description: 'The text.' }) }),
});

eventRef('RunWarning').implement({
  description: 'Something went otherwise than wanted.',
  interfaces,
  fields: (t) => ({
    type: t.exposeString('type', { nullable: true, description: 'For programs, for example fallback.' }),
    message: t.exposeString('message', { nullable: true, description: 'For people.' }),
  }),
});

eventRef('UnknownRunEvent').implement({
  description: 'An event of the journal that this server does not know.',
  interfaces,
  fields: (t) => ({
    name: t.exposeString('name', { description: 'As written.' }),
    payload: t.field({
      type: 'JSON',
      nullable: true,
      description: 'As written, up to 8 KiB; null when it is longer.',
      resolve: (event) => event.payload,
    }),
    truncated: t.exposeBoolean('truncated', { description: 'It was longer.' }),
  }),
});
