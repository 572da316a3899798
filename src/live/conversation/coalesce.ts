/**
 * Fewer events that say the same (`spec/live-turns.md` 13 M8, 15.2): deltas of one segment join, of a state only the latest stays, an
 * update of a fact in the same frame becomes part of it. Content is never dropped (`docs/live-protocol.md` 1.3, 1.4).
 */
import { joinDeltas } from '../journal/join-events.ts';
import type { LiveEvent, LiveEventOf } from './events.ts';

type Delta = LiveEventOf<'TextDelta'> | LiveEventOf<'ReasoningDelta'>;

/** The events in their order; a joined delta stands where its first part was, a state where its latest was. */
export function coalesce(events: readonly LiveEvent[]): LiveEvent[] {
  const latest = new Map<string, LiveEvent>();
  for (const event of events) if (event.class === 'STATE') latest.set(stateScope(event), event);
  const joined: (LiveEvent | null)[] = [];
  const facts = new Map<string, number>();
  let lastContent = -1;
  for (const event of events) {
    if (event.class === 'STATE') {
      const fact = facts.get(event.id);
      const told = fact === undefined ? null : (joined[fact] ?? null);
      if (fact !== undefined && told !== null && told.kind === event.kind) joined[fact] = { ...event, class: 'CONTENT', late: told.late };
      else if (latest.get(stateScope(event)) === event) joined.push(event);
      continue;
    }
    const before = joined[lastContent] ?? null;
    const whole = before === null ? null : join(before, event);
    if (whole !== null) joined[lastContent] = whole;
    else {
      lastContent = joined.push(event) - 1;
      facts.set(event.id, lastContent);
    }
  }
  return joined.filter((event) => event !== null);
}

/** What a later state of the same scope makes superfluous. */
export function stateScope(event: LiveEvent): string {
  const scope = `${event.kind} ${event.runId} ${event.depth} ${event.sessionId}`;
  switch (event.kind) {
    case 'TextDelta':
    case 'ReasoningDelta':
      return `${scope} ${event.segment}`;
    case 'InteractionClosed':
      return `${scope} ${event.interactionId}`;
    case 'StateSaved':
      return `${scope} ${event.what} ${event.name}`;
    case 'RunWarning':
      return `${scope} ${event.type}`;
    case 'DelegationProgress':
      return `${scope} ${event.delegationId} ${event.deliveredMessageId}`;
    case 'StreamReset':
      return `${scope} ${event.scope}`;
    case 'MessagesUpdated':
      return `${scope} ${event.ids.join(' ')}`;
    case 'UsageChanged':
      return `${scope} ${event.live === null} ${event.settled === null}`;
    case 'SessionChanged':
      return `${scope} ${event.changed.join(' ')}`;
    case 'ToolStarted':
    case 'ToolFinished':
    case 'TurnStarted':
      return `${scope} ${event.id}`;
    default:
      return scope;
  }
}

function join(before: LiveEvent, event: LiveEvent): LiveEvent | null {
  return isDelta(before) && isDelta(event) ? joinDeltas<Delta>(before, event) : null;
}

function isDelta(event: LiveEvent): event is Delta {
  return event.kind === 'TextDelta' || event.kind === 'ReasoningDelta';
}
