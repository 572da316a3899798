/**
 * One record on its way into a turn: the turn as it becomes, and the events that it gives (`spec/live-turns.md` 12, 13).
 */
import { EVENT_CLASS, type EventFields, type EventKind, type EventOf, type JournalEvent, type TurnPhase } from './events.ts';
import type { JournalRecord } from './line.ts';
import type { HolePlace, LiveTurn } from './live-turn.ts';
import type { Payload } from './payload.ts';

export class FoldStep {
  readonly record: JournalRecord;
  /** Where a late record belongs; null for one that comes in order. */
  readonly place: HolePlace | null;
  readonly events: JournalEvent[] = [];
  /** A copy that only this step has yet. */
  readonly turn: LiveTurn;

  /** `turn` is the caller's own copy: it changes. */
  constructor(turn: LiveTurn, record: JournalRecord, place: HolePlace | null) {
    this.turn = turn;
    this.record = record;
    this.place = place;
  }

  get payload(): Payload {
    return this.record.payload;
  }

  get late(): boolean {
    return this.place !== null;
  }

  set(change: Partial<LiveTurn>): void {
    Object.assign(this.turn, change);
  }

  /** `part` tells the events of one record apart; the one that the record is about has none. Returns the event's id. */
  emit<K extends EventKind>(kind: K, fields: EventFields[K], part = ''): string {
    const { runId, generation } = this.turn;
    const { seq } = this.record;
    const id = `j:${runId}:${generation}:${seq}${part === '' ? '' : `:${part}`}`;
    this.#push({ id, origin: 'RUN_JOURNAL' }, kind, fields);
    return id;
  }

  /** An event that no line tells but that follows from this one. */
  derive<K extends EventKind>(id: string, kind: K, fields: EventFields[K]): void {
    this.#push({ id, origin: 'DERIVED' }, kind, fields);
  }

  #push<K extends EventKind>(base: Pick<JournalEvent, 'id' | 'origin'>, kind: K, fields: EventFields[K]): void {
    const { sessionId, runId } = this.turn;
    const { seq, createdAt } = this.record;
    const at = createdAt ?? this.turn.lastAt;
    const whole = { ...base, kind, class: EVENT_CLASS[kind], sessionId, runId, seqFrom: seq, seqTo: seq, at, late: this.late, ...fields };
    // The compiler can't see that the union has this very member.
    this.events.push(whole satisfies EventOf<K> as unknown as JournalEvent);
  }

  /** What the turn does now. An open question outweighs it, a told end settles it, a late record says nothing of now. */
  enter(wanted: TurnPhase, detail: string | null = null): void {
    if (this.late) return;
    const open = this.turn.interactions.at(-1);
    const asked = open?.kind === 'APPROVAL' ? 'AWAITING_APPROVAL' : 'AWAITING_CLARIFY';
    const phase = this.turn.end !== null ? 'FINALIZING' : open !== undefined ? asked : wanted;
    const phaseDetail = phase === wanted ? detail : null;
    if (phase === this.turn.phase && phaseDetail === this.turn.phaseDetail) return;
    this.set({ phase, phaseDetail });
    this.emit('TurnPhaseChanged', { phase, detail: phaseDetail }, 'phase');
  }
}
