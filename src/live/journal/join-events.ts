/**
 * Fewer events that say the same (`spec/live-turns.md` 15): deltas of one segment join, of a state only the latest stays, content is
 * never dropped. Joining what was joined gives the same as joining all at once.
 */
import type { EventOf, JournalEvent } from './events.ts';

type Delta = EventOf<'TextDelta'> | EventOf<'ReasoningDelta'>;

/** The events in their order; a joined delta stands where its first part was, a state where its latest was. */
export function joinEvents(events: readonly JournalEvent[]): JournalEvent[] {
  const latest = latestStates(events);
  const joined: (JournalEvent | null)[] = [];
  let lastContent = -1;
  for (const event of events) {
    if (event.class === 'STATE') {
      if (latest.get(stateScope(event)) === event) joined.push(event);
      continue;
    }
    const before = joined[lastContent] ?? null;
    const whole = before === null ? null : join(before, event);
    if (whole !== null) joined[lastContent] = whole;
    else {
      if (event.kind === 'TurnEnded') removeCorrected(joined, event);
      lastContent = joined.push(event) - 1;
    }
  }
  return joined.filter((event) => event !== null);
}

function latestStates(events: readonly JournalEvent[]): Map<string, JournalEvent> {
  const latest = new Map<string, JournalEvent>();
  for (const event of events) {
    if (event.class !== 'STATE') continue;
    const scope = stateScope(event);
    const before = latest.get(scope);
    if (before === undefined || event.seqTo >= before.seqTo) latest.set(scope, event);
  }
  return latest;
}

/** What a later event of the same scope makes superfluous. */
function stateScope(event: JournalEvent): string {
  const scope = `${event.runId} ${event.kind}`;
  switch (event.kind) {
    case 'InteractionClosed':
      return `${scope} ${event.interactionId}`;
    case 'StateSaved':
      return `${scope} ${event.what} ${event.name}`;
    case 'RunWarning':
      return `${scope} ${event.type}`;
    default:
      return scope;
  }
}

function join(before: JournalEvent, event: JournalEvent): JournalEvent | null {
  return isDelta(before) && isDelta(event) ? joinDeltas<Delta>(before, event) : null;
}

interface Joinable {
  readonly kind: string;
  readonly runId: string | null;
  readonly late: boolean;
  readonly segment: number;
  readonly offset: number;
  readonly text: string;
  readonly seqFrom: number;
}

/** Two stretches of one segment as one; null when the second doesn't begin where the first ends, or one of them came late. */
export function joinDeltas<D extends Joinable>(before: D, event: D): D | null {
  if (before.kind !== event.kind || before.runId !== event.runId || before.segment !== event.segment) return null;
  if (before.late || event.late || before.offset + before.text.length !== event.offset) return null;
  const { offset, seqFrom } = before;
  return { ...event, offset, seqFrom, text: before.text + event.text };
}

function isDelta(event: JournalEvent): event is Delta {
  return event.kind === 'TextDelta' || event.kind === 'ReasoningDelta';
}

/** An end that was told and corrected at once is told once. */
function removeCorrected(joined: (JournalEvent | null)[], event: EventOf<'TurnEnded'>): void {
  const index = joined.findIndex((each) => each?.id === event.corrects);
  if (event.corrects !== null && index !== -1) joined[index] = null;
}
