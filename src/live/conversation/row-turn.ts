/**
 * The turn that only rows and leases tell of (`spec/live-turns.md` 9 "sessions without a sidecar", 13 M4).
 */
import type { ConversationRows } from '../rows/conversation-rows.ts';
import { derivedId } from '../rows/events.ts';
import type { OpenTurn } from '../rows/turn-state.ts';
import type { LivePosition } from './position.ts';

export interface RowTurn {
  readonly turnId: string;
  readonly sessionId: string;
  /** Epoch seconds. */
  readonly startedAt: number;
  /** Of its TurnStarted. */
  readonly eventId: string;
  /** A run tells of the same turn: this one is not spoken of. */
  readonly covered: boolean;
}

/** The one that is under way. */
export function rowTurnNow({ turn }: ConversationRows, sessionId: string): RowTurn | null {
  return turn === null ? null : rowTurnOf(turn, sessionId, false);
}

/** The one that a reader at the position was told of. When it is over by now, all that is known of its beginning is that it was before. */
export function rowTurnAt({ rows: { turnId, at }, covered }: LivePosition, rows: ConversationRows, sessionId: string): RowTurn | null {
  if (turnId === null) return null;
  const startedAt = rows.turn?.turnId === turnId ? rows.turn.startedAt : at;
  return rowTurnOf({ turnId, startedAt }, sessionId, covered);
}

function rowTurnOf({ turnId, startedAt }: Pick<OpenTurn, 'turnId' | 'startedAt'>, sessionId: string, covered: boolean): RowTurn {
  return { turnId, sessionId, startedAt, eventId: derivedId('TurnStarted', sessionId, turnId), covered };
}
