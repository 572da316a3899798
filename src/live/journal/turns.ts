/**
 * Turns of a session by its turn journal (`spec/webui-recovery.md` 4): where each stands, and what was asked. Pure.
 */
import { cutText } from './bounded-json.ts';
import { text, word } from './payload.ts';
import { deriveTurnStates, type TurnJournalEvent } from './turn-journal.ts';

const STATES = {
  submitted: 'SUBMITTED',
  worker_started: 'WORKER_STARTED',
  assistant_started: 'ASSISTANT_STARTED',
  completed: 'COMPLETED',
  interrupted: 'INTERRUPTED',
} as const;

/** OTHER: of later versions of the owner. */
export type TurnState = (typeof STATES)[keyof typeof STATES] | 'OTHER';

export interface JournaledTurn {
  readonly turnId: string;
  /** Its run. */
  readonly streamId: string | null;
  readonly state: TurnState;
  /** The name of the latest event, as written. */
  readonly event: string;
  readonly terminal: boolean;
  /** Why it was interrupted. */
  readonly reason: string | null;
  /** Times in epoch seconds. */
  readonly submittedAt: number | null;
  readonly changedAt: number | null;
  /** The prompt, at most 65,536 characters of it; null where it was never submitted, or its line is too long. */
  readonly content: string | null;
  /** The process that ran it. */
  readonly pid: number | null;
  /** Its ends, where there are more than one; the first 16. */
  readonly collisions: readonly TurnJournalEvent[];
}

const LONGEST_CONTENT = 64 * 1024;
/** Of ids and names, which nobody writes longer. */
const LONGEST_WORD = 256;
const MOST_ENDS = 16;

/** The newest first. `events` as `readTurnJournal` gives them. */
export function turnsOf(events: readonly TurnJournalEvent[]): JournaledTurn[] {
  const { states, collisions } = deriveTurnStates(events);
  const ends = new Map(collisions.map((collision) => [collision.turnId, collision.events]));
  const lines = Map.groupBy(events, ({ turnId }) => turnId);
  const turns = [...states].map(([turnId, latest]) => turnOf(turnId, latest, lines.get(turnId) ?? [], ends.get(turnId) ?? []));
  return turns.sort(byNewest);
}

function turnOf(
  turnId: string,
  latest: TurnJournalEvent,
  lines: readonly TurnJournalEvent[],
  collisions: readonly TurnJournalEvent[],
): JournaledTurn {
  const submitted = lines.find(({ event }) => event === 'submitted');
  const content = submitted === undefined ? null : text(submitted.fields, 'content');
  return {
    turnId: cutText(turnId, LONGEST_WORD),
    streamId: short(lines.find(({ streamId }) => streamId !== null)?.streamId ?? null),
    state: Object.hasOwn(STATES, latest.event) ? STATES[latest.event as keyof typeof STATES] : 'OTHER',
    event: cutText(latest.event, LONGEST_WORD),
    terminal: latest.terminal,
    reason: short(word(latest.fields, 'reason')),
    submittedAt: timeOf(submitted),
    changedAt: timeOf(latest),
    content: content === null ? null : cutText(content, LONGEST_CONTENT),
    pid: lines.findLast(({ pid }) => pid !== null)?.pid ?? null,
    collisions: collisions.slice(0, MOST_ENDS),
  };
}

function short(name: string | null): string | null {
  return name === null ? null : cutText(name, LONGEST_WORD);
}

function timeOf(event: TurnJournalEvent | undefined): number | null {
  return event === undefined || event.createdAt === 0 ? null : event.createdAt;
}

function byNewest(a: JournaledTurn, b: JournaledTurn): number {
  const time = (turn: JournaledTurn) => turn.submittedAt ?? turn.changedAt ?? 0;
  const difference = time(b) - time(a);
  return difference !== 0 ? difference : a.turnId < b.turnId ? 1 : -1;
}
