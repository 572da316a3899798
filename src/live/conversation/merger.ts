/**
 * Events of journals and of rows into those of one conversation (`spec/live-turns.md` 12, 13): a turn that both tell of begins once and
 * ends once (M4, M5), a tool starts and finishes once (M9), and rows say which parts of the overlay they take the place of (`docs/live-protocol.md` 5, 7.2).
 */
import type { EventOf, JournalEvent } from '../journal/events.ts';
import { type AppendedRow, derivedId, type RowEvent, type RowEventOf } from '../rows/events.ts';
import { isTurnStart } from '../rows/turn-state.ts';
import type { Correlated } from './correlation.ts';
import {
  type LiveEvent,
  type LiveEventBase,
  type LiveEventFields,
  type LiveEventKind,
  type LiveEventOf,
  liveEvent,
  type TurnPhase,
} from './events.ts';
import type { RowTurn } from './row-turn.ts';
import type { RunTurn, ToldEnd } from './run-turn.ts';

/** Lease and user row of a run come seconds after its beginning, or just before when clocks differ. */
const SAME_TURN_SECONDS = 5;

type Ending = Pick<LiveEventFields['TurnEnded'], 'outcome' | 'certainty'>;

export class TurnMerger {
  readonly #conversation: { readonly conversationId: string; readonly profile: string };
  /** The newest run that is not over. */
  run: RunTurn | null = null;
  rowTurn: RowTurn | null = null;
  #phase: TurnPhase | null = null;

  constructor(conversation: { readonly conversationId: string; readonly profile: string }, rowTurn: RowTurn | null) {
    this.#conversation = conversation;
    this.rowTurn = rowTurn;
  }

  /** What the turn does, where no journal tells. */
  get rowPhase(): TurnPhase | null {
    return this.rowTurn === null || this.rowTurn.covered ? null : (this.#phase ?? 'THINKING');
  }

  /** A run of the Web UI begins. A turn that rows told of a moment before is the same one; an older one is over by that. */
  begin(run: RunTurn): LiveEvent[] {
    this.run = run;
    const open = this.rowTurn === null || this.rowTurn.covered ? null : this.rowTurn;
    const isSame = open !== null && open.startedAt >= run.startedAt - SAME_TURN_SECONDS;
    if (this.rowTurn !== null) this.rowTurn = { ...this.rowTurn, covered: true };
    if (isSame) run.startedId = open.eventId;
    return [...(open === null || isSame ? [] : [this.#supersede(open, run)]), this.#started(run, isSame)];
  }

  takeRow(event: RowEvent): LiveEvent[] {
    switch (event.kind) {
      case 'TurnStarted':
        return this.#rowTurnStarted(event);
      case 'TurnEnded':
        return this.#rowTurnEnded(event);
      case 'MessagesAppended':
        return this.#appended(event);
      case 'ToolStarted':
        return this.#rowTool(event, 'ToolStarted');
      case 'ToolFinished':
        return this.#rowTool(event, 'ToolFinished');
      case 'UsageChanged':
        return [liveEvent('UsageChanged', this.#base(event), { live: null, settled: event.usage, final: event.final })];
      case 'CompressionStarted':
        return [
          liveEvent('CompressionStarted', this.#base(event), { holderPid: event.holderPid, provenance: event.provenance, message: null }),
          ...this.#enter('COMPRESSING', event),
        ];
      case 'TranscriptCompacted':
      case 'SessionContinued':
        this.run?.renameRows(event.carried);
        return [this.#same(event)];
      default:
        return [this.#same(event)];
    }
  }

  takeJournal(run: RunTurn, event: JournalEvent): LiveEvent[] {
    switch (event.kind) {
      case 'TurnEnded':
        return this.#runEnded(run, event);
      case 'ToolStarted': {
        const told = run.correlation.journalStarted(event);
        return [this.#tool('ToolStarted', this.#journalBase(event, run), told)];
      }
      case 'ToolFinished': {
        const told = run.correlation.journalFinished(event);
        return [this.#tool('ToolFinished', this.#journalBase(event, run), told)];
      }
      case 'UsageChanged':
        return [liveEvent('UsageChanged', this.#journalBase(event, run), { live: event.usage, settled: null, final: event.usage.final })];
      case 'CompressionStarted':
        return [
          liveEvent('CompressionStarted', this.#journalBase(event, run), { holderPid: null, provenance: null, message: event.message }),
        ];
      default:
        // The other kinds have the same fields; the compiler can't see that per member.
        return [{ ...event, ...this.#journalBase(event, run) } as unknown as LiveEvent];
    }
  }

  /**
   * The end of a run by other evidence than a terminal line (9); nothing when one was told before: what the next turns leave behind is no
   * evidence of this one. `lastSign`: by the store, so that whoever judges it names it the same.
   */
  endRun(run: RunTurn, ending: Ending, { evidence, lastSign }: { evidence: string; lastSign: number | null }, at: number): LiveEvent[] {
    const { outcome, certainty } = ending;
    if (run.ended !== null) return [];
    const id = derivedId('TurnEnded', run.runId, [outcome, run.turn.lastSeq, lastSign]);
    run.ended = { outcome, certainty, eventId: id };
    this.#over(run);
    const base = { ...this.#place(run, at), id, class: 'CONTENT', origin: 'DERIVED' } as const;
    return [
      liveEvent('TurnEnded', base, { ...this.#endOf(run), outcome, certainty, evidence, error: null, recovery: null, corrects: null }),
    ];
  }

  /** A reader was told of an end that nothing here shows: it was inferred. */
  settle(run: RunTurn, end: Pick<ToldEnd, 'outcome' | 'certainty'>): void {
    run.ended ??= { ...end, eventId: null };
    this.#over(run);
  }

  /** A run that was taken for over goes on. */
  revive(run: RunTurn): void {
    run.ended = null;
    if (this.run === null || this.run.startedAt <= run.startedAt) this.run = run;
  }

  #supersede({ turnId, sessionId }: RowTurn, run: RunTurn): LiveEvent {
    const id = derivedId('TurnEnded', sessionId, [turnId, run.runId]);
    const base: LiveEventBase = { ...this.#place(run, run.startedAt), id, class: 'CONTENT', sessionId, runId: null, origin: 'DERIVED' };
    const nothing = { error: null, usage: null, recovery: null, firstMessageId: null, lastMessageId: null, continuationSessionId: null };
    const how = { outcome: 'SUPERSEDED', certainty: 'LOW', evidence: 'NEXT_TURN', corrects: null } as const;
    return liveEvent('TurnEnded', base, { ...nothing, ...how, turnId });
  }

  #started(run: RunTurn, update: boolean): LiveEvent {
    const { pending } = run;
    const base: LiveEventBase = {
      ...this.#place(run, run.startedAt),
      id: run.startedId,
      class: update ? 'STATE' : 'CONTENT',
      origin: pending === null ? 'RUN_JOURNAL' : 'SIDECAR',
    };
    return liveEvent('TurnStarted', base, {
      turnId: run.runId,
      userMessageId: run.userMessageId,
      pendingText: pending?.text ?? null,
      pendingAttachments: pending?.attachments ?? null,
      source: pending?.source ?? null,
      baseMessageId: run.baseMessageId,
      model: pending?.model ?? null,
      executor: 'WEBUI',
      platform: 'webui',
    });
  }

  #rowTurnStarted(event: RowEventOf<'TurnStarted'>): LiveEvent[] {
    const covered = this.run !== null;
    this.rowTurn = { turnId: event.turnId, sessionId: event.sessionId, startedAt: event.at, eventId: event.id, covered };
    this.#phase = null;
    if (covered) return [];
    const { turnId, userMessageId, source, baseMessageId, model, executor, platform } = event;
    const fields = { turnId, userMessageId, pendingText: null, pendingAttachments: null, source, baseMessageId, model, executor, platform };
    return [liveEvent('TurnStarted', this.#base(event), fields)];
  }

  #rowTurnEnded(event: RowEventOf<'TurnEnded'>): LiveEvent[] {
    const covered = this.rowTurn?.covered ?? this.run !== null;
    this.rowTurn = null;
    this.#phase = null;
    if (covered) return [];
    const { turnId, outcome, certainty, evidence, firstMessageId, lastMessageId } = event;
    const nothing = { error: null, usage: null, recovery: null, continuationSessionId: null, corrects: null };
    return [liveEvent('TurnEnded', this.#base(event), { ...nothing, turnId, outcome, certainty, evidence, firstMessageId, lastMessageId })];
  }

  #appended(event: RowEventOf<'MessagesAppended'>): LiveEvent[] {
    const { ids, rows, carried } = event;
    const run = carried.length > 0 ? null : this.run;
    const news = run === null ? [] : rows.flatMap((row) => this.#rowOfRun(run, row, event));
    const supersedes = run === null ? [] : rows.flatMap((row) => run.correlation.cover(row, run.turn));
    return [liveEvent('MessagesAppended', this.#base(event), { ids, rows, carried, supersedes, full: false }), ...news];
  }

  /** The user's row of a run is known later than its beginning. */
  #rowOfRun(run: RunTurn, row: AppendedRow, event: RowEvent): LiveEvent[] {
    run.takeRow(row);
    if (run.userMessageId !== null || !isTurnStart(row)) return [];
    run.userMessageId = row.id;
    return event.depth === 0 ? [this.#started(run, true)] : [];
  }

  #rowTool(event: RowEventOf<'ToolStarted'> | RowEventOf<'ToolFinished'>, kind: 'ToolStarted' | 'ToolFinished'): LiveEvent[] {
    if (this.run !== null && event.kind === 'ToolStarted')
      return [this.#tool('ToolStarted', this.#base(event), this.run.correlation.rowStarted(event))];
    if (this.run !== null && event.kind === 'ToolFinished')
      return [this.#tool('ToolFinished', this.#base(event), this.run.correlation.rowFinished(event))];
    const phase = kind === 'ToolStarted' ? 'TOOL' : 'THINKING';
    if (event.kind === 'ToolStarted')
      return [liveEvent('ToolStarted', this.#base(event), { ...event, segment: null }), ...this.#enter(phase, event)];
    return [this.#same(event), ...this.#enter(phase, event)];
  }

  #tool<K extends 'ToolStarted' | 'ToolFinished'>(kind: K, base: LiveEventBase, told: Correlated<LiveEventFields[K]>): LiveEvent {
    const event = liveEvent(kind, { ...base, id: told.id, class: told.update ? 'STATE' : 'CONTENT' }, told.fields);
    return event as LiveEventOf<'ToolStarted'> | LiveEventOf<'ToolFinished'>;
  }

  #runEnded(run: RunTurn, event: EventOf<'TurnEnded'>): LiveEvent[] {
    const { outcome, certainty, error, recovery, continuationSessionId, corrects } = event;
    // What was inferred before needs no second telling when it was right.
    const known = run.ended;
    run.ended = { outcome, certainty, eventId: known?.outcome === outcome ? known.eventId : event.id };
    this.#over(run);
    if (known?.outcome === outcome && known.eventId !== corrects) return [];
    const fields = { ...this.#endOf(run), outcome, certainty, evidence: null, error, recovery, continuationSessionId };
    return [liveEvent('TurnEnded', this.#journalBase(event, run), { ...fields, corrects: corrects ?? known?.eventId ?? null })];
  }

  #endOf(
    run: RunTurn,
  ): Pick<LiveEventFields['TurnEnded'], 'turnId' | 'usage' | 'firstMessageId' | 'lastMessageId' | 'continuationSessionId'> {
    const { runId: turnId, firstMessageId, lastMessageId, turn } = run;
    return { turnId, usage: turn.usage, firstMessageId, lastMessageId, continuationSessionId: turn.continuationSessionId };
  }

  #over(run: RunTurn): void {
    if (this.run === run) this.run = null;
  }

  /** Phases of a turn that no journal tells of. */
  #enter(phase: TurnPhase, event: RowEvent): LiveEvent[] {
    if (this.run !== null || this.rowTurn === null || this.rowTurn.covered || event.depth > 0 || this.#phase === phase) return [];
    this.#phase = phase;
    const id = `${event.id}:phase`;
    const base: LiveEventBase = { ...this.#base(event), id, class: 'STATE', origin: 'DERIVED' };
    return [liveEvent('TurnPhaseChanged', base, { phase, detail: event.kind === 'ToolStarted' ? event.name : null })];
  }

  #base(event: RowEvent): LiveEventBase {
    const { id, class: eventClass, sessionId, depth, at, origin } = event;
    const runId = depth === 0 ? (this.run?.runId ?? null) : null;
    return { id, class: eventClass, sessionId, ...this.#conversation, depth, runId, at, origin, late: false };
  }

  #journalBase(event: JournalEvent, run: RunTurn): LiveEventBase {
    const { id, class: eventClass, sessionId, runId, origin, late } = event;
    return {
      id,
      class: eventClass,
      sessionId,
      ...this.#conversation,
      depth: 0,
      runId,
      at: event.at ?? run.turn.lastAt ?? run.startedAt,
      origin,
      late,
    };
  }

  #place(run: RunTurn, at: number) {
    return { sessionId: run.sessionId, ...this.#conversation, depth: 0, runId: run.runId, at, late: false };
  }

  #same(event: RowEvent): LiveEvent {
    // The remaining kinds have the same fields; the compiler can't see that per member.
    return { ...event, ...this.#base(event) } as unknown as LiveEvent;
  }

  /** A session of which only its sidecar was there. */
  deleted(sessionId: string, at: number): LiveEvent {
    const event = this.derived('SessionDeleted', sessionId, null, at, sessionId, {});
    return { ...event, class: 'CONTENT', origin: 'SIDECAR' };
  }

  /** An event that the conversation's own state tells. */
  derived<K extends LiveEventKind>(
    kind: K,
    sessionId: string,
    run: RunTurn | null,
    at: number,
    says: unknown,
    fields: LiveEventFields[K],
  ): LiveEventOf<K> {
    const scope = run?.runId ?? sessionId;
    const base: LiveEventBase = {
      id: `s:${kind}:${scope}:${derivedId('TurnEnded', '', says).slice(-8)}`,
      class: 'STATE',
      sessionId,
      ...this.#conversation,
      depth: 0,
      runId: run?.runId ?? null,
      at,
      origin: 'DERIVED',
      late: false,
    };
    return liveEvent(kind, base, fields);
  }
}
