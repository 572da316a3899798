/**
 * What every live event has, and the enums of live events (`docs/live-protocol.md`).
 */
import type { LiveEvent, LiveEventKind, LiveEventOf } from '../src/live/conversation/events.ts';
import { builder } from './builder.ts';

const EventClass = builder.enumType('LiveEventClass', {
  description: 'How an event may be left out.',
  values: {
    CONTENT: { description: 'Comes once, in order, and is never left out; deltas may be joined.' },
    STATE: { description: 'The latest counts; an older one may be left out. One with the id of a CONTENT event tells more of that fact.' },
  } as const,
});

export const LiveEventType = builder.interfaceRef<LiveEvent>('LiveEvent').implement({
  description: 'Something that happened in a followed conversation.',
  fields: (t) => ({
    id: t.exposeID('id', {
      description: 'The same fact has the same id, also after a reconnect. Of joined deltas it is that of the last.',
    }),
    kind: t.exposeString('kind', { description: 'The name of its type.' }),
    class: t.field({ type: EventClass, description: 'How it may be left out.', resolve: (event) => event.class }),
    sessionId: t.exposeString('sessionId', { description: 'The session that owns the fact.' }),
    conversationId: t.exposeString('conversationId', { description: 'The conversation that is followed: the id of its first session.' }),
    depth: t.exposeInt('depth', { description: '0: the conversation itself; n: its n-th level of sub-agents.' }),
    runId: t.exposeString('runId', { nullable: true, description: 'The run of the Web UI; null where there is none.' }),
    at: t.field({ type: 'DateTime', description: 'When it happened, by the clock of the source.', resolve: (event) => event.at }),
    origin: t.exposeString('origin', { description: 'RUN_JOURNAL, TURN_JOURNAL, SIDECAR, STATE_DB or DERIVED.' }),
    late: t.exposeBoolean('late', { description: 'It came after what follows it; its text belongs at its offset.' }),
  }),
  resolveType: (event) => event.kind,
});

/** The type of one kind of event; its name is the kind. */
export function eventRef<K extends LiveEventKind>(kind: K) {
  return builder.objectRef<LiveEventOf<K>>(kind);
}

export const Certainty = builder.enumType('LiveCertainty', {
  description: 'How sure something is that was inferred.',
  values: {
    CERTAIN: { description: 'The owner said so, or its process is gone.' },
    HIGH: { description: 'Several signs say so.' },
    MEDIUM: { description: 'One sign says so.' },
    LOW: { description: 'Nothing says otherwise for a long time.' },
  } as const,
});

export const TurnOutcome = builder.enumType('TurnOutcome', {
  description: 'How a turn ended.',
  values: {
    COMPLETED: { description: 'With an answer.' },
    TOOL_LIMIT: { description: 'At the limit of tool calls.' },
    CANCELLED: { description: 'By a person.' },
    FAILED: { description: 'With an error of the provider or the program.' },
    INTERRUPTED: { description: 'Its process is gone.' },
    SUPERSEDED: { description: 'Another run took over its session.' },
    SESSION_DELETED: { description: 'With its session.' },
    UNKNOWN: { description: 'It is over, and nothing says how.' },
  } as const,
});

export const TurnPhase = builder.enumType('TurnPhase', {
  description: 'What a turn does.',
  values: {
    STARTING: { description: 'It was submitted and has not shown itself yet.' },
    THINKING: { description: 'The model reasons, or is waited for.' },
    WRITING: { description: 'The model writes.' },
    TOOL: { description: 'A tool runs.' },
    COMPRESSING: { description: 'The conversation is being compacted.' },
    AWAITING_APPROVAL: { description: 'A person has to allow something.' },
    AWAITING_CLARIFY: { description: 'A person was asked something.' },
    CANCELLING: { description: 'It was told to stop.' },
    FINALIZING: { description: 'The answer is there; something is still being finished.' },
  } as const,
});

export const LivenessVerdict = builder.enumType('LiveTurnState', {
  description: 'Whether a run still lives.',
  values: {
    ALIVE: { description: 'Something says that it runs.' },
    SUSPECT: { description: 'Nothing was heard of it for a while.' },
    DEAD: { description: 'It does not run any more.' },
    UNKNOWN: { description: "It can't be told." },
  } as const,
});
