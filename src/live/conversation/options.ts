/**
 * What a subscriber wants to hear (`spec/live-turns.md` 12 `LiveOptions`). Options choose among what is told; they don't change it
 * (`docs/live-protocol.md` 8.4).
 */
import type { LiveEvent } from './events.ts';

export type TextMode = 'DELTA' | 'SNAPSHOT' | 'NONE';
export type MessageMode = 'IDS' | 'FULL';
export type DelegateMode = 'NONE' | 'STATE' | 'MESSAGES';

export interface LiveOptions {
  /** Milliseconds between frames, 0 to 1000; 0: a frame for each telling. */
  readonly coalesceMs: number;
  readonly text: TextMode;
  readonly reasoning: TextMode;
  readonly toolArgs: boolean;
  readonly metering: boolean;
  readonly messages: MessageMode;
  readonly delegates: DelegateMode;
  readonly followContinuations: boolean;
  /** Bytes of a frame, about. */
  readonly maxFrameBytes: number;
}

export const DEFAULT_OPTIONS: LiveOptions = {
  coalesceMs: 50,
  text: 'DELTA',
  reasoning: 'DELTA',
  toolArgs: true,
  metering: true,
  messages: 'IDS',
  delegates: 'STATE',
  followContinuations: true,
  maxFrameBytes: 256 * 1024,
};

/** What the conversation knows beyond its events. */
export interface FilterFacts {
  /** Root first. */
  readonly segmentIds: readonly string[];
  /** The session that the subscriber asked for. */
  readonly sessionId: string;
  /** The whole text of a segment; null when the run isn't known any more. */
  readonly segmentText: (runId: string, kind: 'TextDelta' | 'ReasoningDelta', segment: number) => string | null;
}

/** The events that the options let through, in their order. */
export function chosen(events: readonly LiveEvent[], options: LiveOptions, facts: FilterFacts): LiveEvent[] {
  const own = facts.segmentIds.indexOf(facts.sessionId);
  const beyond = new Set(options.followContinuations || own === -1 ? [] : facts.segmentIds.slice(own + 1));
  return events.flatMap((event) => {
    if (beyond.has(event.sessionId) && event.kind !== 'LiveSnapshot' && event.kind !== 'StreamReset')
      return isWayOut(event, facts) ? [event] : [];
    return one(event, options, facts) ?? [];
  });
}

/** That the conversation goes on elsewhere is told also to those who stay. */
function isWayOut(event: LiveEvent, { sessionId }: FilterFacts): boolean {
  return event.kind === 'SessionContinued' && event.fromSessionId === sessionId;
}

function one(event: LiveEvent, options: LiveOptions, { segmentText }: FilterFacts): LiveEvent | null {
  if (event.depth > 0 && options.delegates !== 'MESSAGES')
    return options.delegates === 'STATE' && event.kind !== 'MessagesAppended' ? event : null;
  switch (event.kind) {
    case 'TextDelta':
    case 'ReasoningDelta': {
      const mode = event.kind === 'TextDelta' ? options.text : options.reasoning;
      if (mode === 'NONE') return null;
      const whole = mode === 'DELTA' || event.runId === null ? null : segmentText(event.runId, event.kind, event.segment);
      return whole === null ? event : { ...event, class: 'STATE', offset: 0, text: whole };
    }
    case 'MessagesAppended':
      return options.messages === 'FULL' ? { ...event, full: true } : event;
    case 'ToolStarted':
      return options.toolArgs ? event : { ...event, argsPreview: null, argsComplete: false };
    case 'UsageChanged':
      return options.metering || event.live === null || event.final ? event : null;
    case 'DelegationStarted':
    case 'DelegationProgress':
    case 'DelegationFinished':
      return options.delegates === 'NONE' ? null : event;
    default:
      return event;
  }
}
