/**
 * Turns as the database shows them: they begin with a lease or with a user's row, and end when the lease goes or by what their last row
 * is (`spec/live-turns.md` 6.2, 9 "sessions without a sidecar", 13 M4 and M5).
 */
import type { LiveSession } from '../../state-db/live-segments.ts';
import type { Hold } from '../../state-db/liveness.ts';
import { holdKey } from './activity.ts';
import { type AppendedRow, derivedId, type RowEvent, rowEvent } from './events.ts';
import {
  adopt,
  type Ending,
  endingBy,
  endingOf,
  FRESH_SECONDS,
  isTurnStart,
  type OpenTurn,
  SLACK_SECONDS,
  type TurnFacts,
  type TurnState,
} from './turn-state.ts';

/** Puts the beginnings and ends of turns where they belong among the events of a pass. */
export function followTurns(state: TurnState, events: readonly RowEvent[], facts: TurnFacts): { events: RowEvent[]; state: TurnState } {
  const walk = new TurnWalk(state, facts, lastStart(events));
  for (const event of events) walk.take(event);
  walk.finish();
  return { events: walk.events, state: { open: walk.open, ended: walk.ended, newestAt: walk.newestAt } };
}

function lastStart(events: readonly RowEvent[]): string | null {
  const starts = events.flatMap((event) => (event.kind === 'MessagesAppended' ? event.rows.filter(isTurnStart) : []));
  return starts.at(-1)?.id ?? null;
}

class TurnWalk {
  readonly events: RowEvent[] = [];
  open: OpenTurn | null;
  ended: TurnState['ended'];
  newestAt: number | null;
  readonly #facts: TurnFacts;
  readonly #lastStart: string | null;
  /** A lease that no turn has been begun for yet. */
  #lease: Hold | null = null;

  constructor(state: TurnState, facts: TurnFacts, lastTurnStart: string | null) {
    this.open = state.open;
    this.ended = state.ended;
    this.newestAt = state.newestAt;
    this.#facts = facts;
    this.#lastStart = lastTurnStart;
    const { lease } = facts;
    if (lease === null || !lease.live || facts.more) return;
    const key = holdKey(lease);
    if (this.open?.leaseKey === key) return;
    // A lease that had run out was renewed: its turn wasn't over.
    if (this.open === null && this.ended?.turn.leaseKey === key) this.#reopen();
    else this.#lease = lease;
    // Whatever comes in this pass belongs to the turn, when it is no row that a turn begins with.
    if (this.#lease !== null && this.open === null && lastTurnStart === null) this.#begin(null, lease, facts.tip?.id ?? lease.key);
  }

  take(event: RowEvent): void {
    if (event.kind === 'MessagesAppended') for (const row of event.rows) this.#take(row, event.sessionId);
    if (event.kind === 'TranscriptCompacted' || event.kind === 'SessionContinued') {
      const moved = new Map(event.carried.map(({ oldId, newId }) => [oldId, newId]));
      if (this.open !== null)
        this.open = { ...this.open, lastMessageId: moved.get(this.open.lastMessageId ?? '') ?? this.open.lastMessageId };
    }
    this.events.push(event);
  }

  finish(): void {
    if (this.#facts.more) return;
    if (this.#lease !== null) {
      if (this.open !== null && !adopt(this.open, this.#lease)) this.#end(endingBy(this.open, 'NEXT_TURN'));
      if (this.open !== null) this.open = { ...this.open, leaseKey: holdKey(this.#lease) };
      else this.#begin(null, this.#lease, this.#facts.tip?.id ?? this.#lease.key);
    }
    const ending = this.open === null ? null : endingOf(this.open, this.#facts);
    if (ending !== null) this.#end(ending);
  }

  #take(row: AppendedRow, sessionId: string): void {
    const late = row.at !== null && this.newestAt !== null && row.at < this.newestAt - SLACK_SECONDS;
    if (isTurnStart(row)) this.#onUserRow(row, sessionId, late);
    else if (!late) this.#contradict();
    if (row.at !== null && (this.newestAt === null || row.at > this.newestAt)) this.newestAt = row.at;
    if (this.open === null || (late && !this.#isFirstOf(row))) return;
    const { firstMessageId } = this.open;
    this.open = { ...this.open, firstMessageId: firstMessageId ?? row.id, lastMessageId: row.id, lastRow: row };
  }

  #isFirstOf(row: AppendedRow): boolean {
    return this.open?.userMessageId === row.id;
  }

  #onUserRow(row: AppendedRow, sessionId: string, late: boolean): void {
    const turn = this.open;
    const held = this.#facts.lease?.live === true && turn !== null && turn.leaseKey === holdKey(this.#facts.lease);
    if (turn !== null && turn.leaseKey !== null && turn.userMessageId === null && (!late || row.id === this.#lastStart)) {
      this.open = { ...turn, userMessageId: row.id };
      return;
    }
    const forLease = this.#lease !== null && row.id === this.#lastStart;
    const eligible = !late && (this.#facts.replay || !this.#facts.keepsLeases || this.#isFresh(row));
    if (held || (!forLease && !eligible)) return;
    // Two user rows in a row are one turn: somebody said more before the answer began.
    if (turn !== null && !forLease && turn.leaseKey === null && turn.lastRow?.role === 'user') return;
    if (turn !== null) this.#end(endingBy(turn, 'NEXT_TURN'));
    this.#begin(row, forLease ? this.#lease : null, sessionId);
  }

  #isFresh(row: AppendedRow): boolean {
    return row.at !== null && this.#facts.now - row.at < FRESH_SECONDS;
  }

  /** Work goes on although the turn was taken for lost. */
  #contradict(): void {
    const evidence = this.ended?.evidence;
    if (this.open === null && (evidence === 'SILENCE' || evidence === 'LEASE_EXPIRED')) this.#reopen();
  }

  #reopen(): void {
    this.open = this.ended?.turn ?? null;
    this.ended = null;
  }

  #begin(row: AppendedRow | null, lease: Hold | null, sessionId: string): void {
    const tip: LiveSession | null = this.#facts.tip;
    const leaseKey = lease === null ? null : holdKey(lease);
    const turnId = leaseKey === null ? `r:${row?.id ?? ''}` : `l:${leaseKey}`;
    const at = lease?.acquiredAt ?? row?.at ?? this.#facts.now;
    const baseMessageId = this.#before();
    this.open = {
      turnId,
      leaseKey,
      startedAt: at,
      userMessageId: row?.id ?? null,
      firstMessageId: null,
      lastMessageId: null,
      lastRow: null,
    };
    this.#lease = lease === null ? this.#lease : null;
    this.ended = null;
    this.events.push(
      rowEvent(
        'TurnStarted',
        derivedId('TurnStarted', sessionId, turnId),
        { sessionId, at },
        {
          turnId,
          userMessageId: row?.id ?? null,
          source: tip?.source ?? null,
          baseMessageId,
          model: tip?.model ?? null,
          executor: 'OTHER',
          platform: lease?.platform ?? tip?.source ?? null,
        },
      ),
    );
  }

  /** The row that the turn begins behind. */
  #before(): string | null {
    const appended = this.events.flatMap((event) => (event.kind === 'MessagesAppended' ? event.ids : []));
    return appended.at(-1) ?? this.#facts.lastKnownRow;
  }

  #end(ending: Ending): void {
    const turn = this.open;
    if (turn === null) return;
    this.open = null;
    this.ended = { turn, evidence: ending.evidence };
    const sessionId = this.#facts.tip?.id ?? this.#facts.sessionId;
    const { turnId, firstMessageId, lastMessageId } = turn;
    const id = derivedId('TurnEnded', sessionId, [turnId, ending.evidence, ending.outcome, lastMessageId]);
    this.events.push(
      rowEvent(
        'TurnEnded',
        id,
        { sessionId, at: ending.at ?? this.#facts.now },
        {
          turnId,
          outcome: ending.outcome,
          certainty: ending.certainty,
          evidence: ending.evidence,
          firstMessageId,
          lastMessageId,
        },
      ),
    );
  }
}
