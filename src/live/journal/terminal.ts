/**
 * How a run ended (`spec/live-turns.md` 3.5): terminal states, the line whose word counts, and the outcome of section 12.
 */
import type { Payload } from './payload.ts';

/** What is written on terminal lines. Other states may come with later versions of the owner. */
export type TerminalState = 'completed' | 'tool_limit_reached' | 'interrupted-by-user' | 'interrupted-by-crash' | 'errored';

export type TurnOutcome =
  | 'COMPLETED'
  | 'TOOL_LIMIT'
  | 'CANCELLED'
  | 'FAILED'
  | 'INTERRUPTED'
  | 'SUPERSEDED'
  | 'SESSION_DELETED'
  | 'UNKNOWN';

export const TRANSPORT_END = 'stream_end';

/** The state that the owner writes for an event; null for events that end nothing. */
export function terminalStateOf(event: string, payload: Payload | null): TerminalState | null {
  switch (event) {
    case 'done':
    case TRANSPORT_END:
      return lowered(payload?.terminal_state) === 'tool_limit_reached' ? 'tool_limit_reached' : 'completed';
    case 'cancel':
      return 'interrupted-by-user';
    case 'apperror':
    case 'error':
      return stateOfError(lowered(payload?.type));
    default:
      return null;
  }
}

function stateOfError(type: string): TerminalState {
  if (type === 'tool_limit_reached') return 'tool_limit_reached';
  if (type === 'cancelled' || type === 'canceled') return 'interrupted-by-user';
  return type === 'interrupted' ? 'interrupted-by-crash' : 'errored';
}

function lowered(value: unknown): string {
  return typeof value === 'string' ? value.trim().toLowerCase() : '';
}

const OUTCOMES: ReadonlyMap<string, TurnOutcome> = new Map([
  ['completed', 'COMPLETED'],
  ['tool_limit_reached', 'TOOL_LIMIT'],
  ['interrupted-by-user', 'CANCELLED'],
  ['interrupted-by-crash', 'INTERRUPTED'],
  ['errored', 'FAILED'],
]);

/** The outcome that a terminal line stands for; UNKNOWN for a state of later versions. */
export function outcomeOf(terminalState: string | null): TurnOutcome {
  return OUTCOMES.get(terminalState ?? '') ?? 'UNKNOWN';
}

export interface TerminalLine {
  readonly seq: number;
  readonly event: string;
  readonly terminal: boolean;
}

/**
 * Whether the later of two terminal lines takes the word from the earlier one: the last that isn't `stream_end` counts, and
 * `stream_end` only when nothing else does.
 */
export function overrules(candidate: TerminalLine, current: TerminalLine | null): boolean {
  if (!candidate.terminal) return false;
  if (current === null) return true;
  if ((candidate.event === TRANSPORT_END) !== (current.event === TRANSPORT_END)) return current.event === TRANSPORT_END;
  return candidate.seq > current.seq;
}

/** The terminal line that tells how the run ended, or null for a run without one. */
export function authoritativeTerminal<T extends TerminalLine>(records: Iterable<T>): T | null {
  let found: T | null = null;
  for (const record of records) if (overrules(record, found)) found = record;
  return found;
}
