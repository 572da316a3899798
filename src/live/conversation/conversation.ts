/**
 * One conversation as it goes on: reads its rows, its runs' journals and its sidecars, and tells what happened as one stream of events
 * (`spec/live-turns.md` 9, 13). It watches nothing and holds no timer of its own; whoever owns it says what may have changed, and pumps.
 */
import type { JournalEvent } from '../journal/events.ts';
import { closeInteractions } from '../journal/fold-interactions.ts';
import { joinEvents } from '../journal/join-events.ts';
import { ConversationRows } from '../rows/conversation-rows.ts';
import { derivedId, type RowEvent } from '../rows/events.ts';
import type { OpenTurn } from '../rows/turn-state.ts';
import { childRowEvents, finishedIn } from './child-rows.ts';
import type { LiveEvent, LiveEventOf, ResetReason, ResetScope, SnapshotReason } from './events.ts';
import { interleave, type RunEntry, waitsForRows } from './interleave.ts';
import { LifeWatch } from './life.ts';
import { type RowTurn, TurnMerger } from './merger.ts';
import type { LivePosition, RunMark } from './position.ts';
import type { RunFollower } from './run-follower.ts';
import { RunSet } from './run-set.ts';
import type { RunTurn } from './run-turn.ts';
import { type SidecarChange, Sidecars } from './sidecars.ts';
import type { ConversationSnapshot } from './snapshot.ts';
import type { ConversationSources } from './sources.ts';
import { rowSnapshot, runSnapshot } from './take-snapshot.ts';

/** Sidecars and journals of so many of the newest segments are looked at. */
const WATCHED_SEGMENTS = 4;
/** Passes for one telling; the rest comes with the next. */
const MOST_PASSES = 20;

/** What can be looked at again. */
export type Due = 'rows' | 'sidecars' | 'runs' | 'life';

export interface ConversationIds {
  readonly conversationId: string;
  /** The session that was asked for. */
  readonly sessionId: string;
}

export class Conversation {
  readonly ids: ConversationIds;
  readonly #sources: ConversationSources;
  readonly #sidecars: Sidecars;
  readonly #runs: RunSet;
  readonly #life: LifeWatch;
  #rows: ConversationRows;
  #merger: TurnMerger;
  #due = { rows: false, sidecars: false, runs: false, life: false };
  /** The last row that was told, for the turn that begins behind it. */
  #lastRowId: string | null;
  #toldRepair: string | null = null;

  private constructor(
    sources: ConversationSources,
    ids: ConversationIds,
    rows: ConversationRows,
    since: number,
    rowTurn: RowTurn | null,
    onUnread: () => void,
  ) {
    this.ids = ids;
    this.#sources = sources;
    this.#rows = rows;
    this.#sidecars = new Sidecars(sources);
    this.#runs = new RunSet(sources, since, onUnread);
    this.#life = new LifeWatch(sources);
    this.#merger = new TurnMerger({ conversationId: ids.conversationId, profile: sources.store.profile }, rowTurn);
    this.#lastRowId = rows.head?.maxMessageId ?? null;
  }

  /** As it is now; nothing is told of what was before. `onUnread`: a journal has grown. Throws `StoreUnreadable`. */
  static async start(sources: ConversationSources, ids: ConversationIds, onUnread: () => void = () => {}): Promise<Conversation> {
    const since = sources.now();
    const rows = await ConversationRows.start(sources.store, ids.sessionId, { now: sources.now });
    const conversation = new Conversation(sources, ids, rows, since, rowTurnNow(rows, ids), onUnread);
    await conversation.#begin();
    return conversation;
  }

  /**
   * From where a reader stood: the first telling, with `missed`, is what he doesn't know yet. `reset`: why he can't go on there; the
   * conversation then stands at the present. Throws `StoreUnreadable`.
   */
  static async resume(
    sources: ConversationSources,
    ids: ConversationIds,
    position: LivePosition,
    onUnread: () => void = () => {},
  ): Promise<{ readonly conversation: Conversation; readonly missed: readonly RowEvent[]; readonly reset: ResetReason | null }> {
    const fresh = async (reset: ResetReason) => ({ conversation: await Conversation.start(sources, ids, onUnread), missed: [], reset });
    if ((await sources.store.generation()) !== position.generation) return fresh('DB_REPLACED');
    const resumed = await ConversationRows.resume(sources.store, ids.sessionId, position.rows, { now: sources.now });
    if (resumed.kind === 'RESET') return fresh(resumed.reason);
    if (resumed.replaced) return fresh('DB_REPLACED');
    const told = rowTurnAt(position, resumed.rows, ids);
    const conversation = new Conversation(sources, ids, resumed.rows, position.since, told, onUnread);
    await conversation.#catchUp(position);
    conversation.#due = { rows: resumed.more, sidecars: true, runs: true, life: true };
    const delegations = [...finishedIn(resumed.events), ...resumed.rows.delegations];
    const children = await childRowEvents(sources.store, delegations, position.rows.maxRowId, resumed.position.maxRowId);
    return { conversation, missed: [...resumed.events, ...children], reset: null };
  }

  /** Where a reader stands who was told everything so far. */
  get position(): LivePosition {
    return {
      conversationId: this.ids.conversationId,
      rows: this.#rows.position,
      generation: this.#rows.generation,
      runs: this.#runs.marks,
      since: this.#runs.since,
      covered: this.#merger.rowTurn?.covered ?? false,
    };
  }

  /** Root first; the session that was asked for while the store has none of it. */
  get segmentIds(): readonly string[] {
    const { segmentIds } = this.#rows;
    return segmentIds.length > 0 ? segmentIds : [this.ids.sessionId];
  }

  /** The live end. */
  get tipId(): string {
    return this.segmentIds.at(-1) ?? this.ids.sessionId;
  }

  /** Sessions whose sidecars and journals belong to what goes on. */
  get watchedIds(): readonly string[] {
    return [...new Set([...this.segmentIds.slice(-WATCHED_SEGMENTS), ...this.#runs.all.map(({ run }) => run.sessionId)])];
  }

  /** Sessions of sub-agents. */
  get childIds(): readonly string[] {
    return this.#rows.delegations.flatMap(({ sessionIds }) => sessionIds);
  }

  /** Whether time alone may bring something. */
  get isActive(): boolean {
    const { lease, locks } = this.#rows.signs;
    const holds = lease?.live === true || locks.some(({ live }) => live);
    return holds || this.#merger.rowTurn !== null || this.#runs.isActive || this.#rows.delegations.some(({ finished }) => !finished);
  }

  /** Something was committed that may have changed what only a thorough look finds, and none was due yet. */
  get owesLook(): boolean {
    return this.#rows.owesLook;
  }

  /** Runs that go on, or may. */
  get openRuns(): readonly { readonly runId: string; readonly sessionId: string }[] {
    return this.#runs.all.filter(({ endedAt }) => endedAt === null).map(({ run }) => run);
  }

  /** The whole text of a segment of a run that is known; null else. */
  readonly segmentText = (runId: string, kind: 'TextDelta' | 'ReasoningDelta', segment: number): string | null => {
    const turn = this.#runs.get(runId)?.run.turn;
    return (kind === 'TextDelta' ? turn?.segments : turn?.reasoning)?.[segment]?.text ?? null;
  };

  get journals() {
    return this.#runs.all.map(({ statistics, run }) => ({ ...statistics, holes: run.turn.holes.length }));
  }

  /** What may have changed; time alone lets everything be looked at. */
  mark(...what: Due[]): void {
    for (const each of what) this.#due[each] = true;
  }

  /** The journal of a run may have grown; `onUnread` tells when it has. */
  poke(runId: string): void {
    this.#runs.get(runId)?.poke();
  }

  /** Whether another telling may find something at once. */
  get isDue(): boolean {
    const { rows, sidecars, runs, life } = this.#due;
    return rows || sidecars || runs || life || this.#runs.all.some(({ unread }) => unread.length > 0);
  }

  /** Reads what may have changed, and tells it in order. One at a time. Throws `StoreUnreadable`. */
  async pump(missed: readonly RowEvent[] = []): Promise<readonly LiveEvent[]> {
    const due = this.#due;
    this.#due = { rows: false, sidecars: false, runs: false, life: false };
    const changes = due.sidecars ? await this.#lookAtSidecars() : [];
    if (due.runs) await this.#runs.look(this.watchedIds);
    const rows: RowEvent[] = [...missed];
    if (due.rows || missed.length > 0 || this.#hasWaiting()) {
      const found = await this.#pass();
      if (found === 'REPLACED') return this.#beginAnew();
      rows.push(...found);
      if (rows.some(({ kind }) => kind === 'TurnStarted') && this.#merger.run === null) changes.push(...(await this.#lookForTurn()));
      // Text was journaled before the row that settles it was committed (0 fact 2), so it is told before it.
      if (rows.length > 0) await this.#runs.drain();
    }
    const events = [...(await this.#revive()), ...this.#tell(this.#entries(false), rows)];
    if (due.life || changes.length > 0) events.push(...(await this.#judge()));
    for (const change of changes) events.push(...this.#ofSidecar(change));
    this.#runs.leaveOld(this.#sidecars);
    return events;
  }

  /** Takes in a run that a reader knows and that nothing showed when following began, without telling it. */
  async adopt({ ended, ...mark }: RunMark): Promise<void> {
    if (ended?.certainty === 'CERTAIN' || this.#runs.get(mark.runId) !== null) return;
    const follower = await this.#runs.adopt({ ...mark, ended });
    const { run } = follower;
    for (const entry of follower.unread) if (entry.kind === 'RECORD') run.fold(entry.record, entry.generation);
    follower.unread = [];
    const end = run.turn.end;
    if (end !== null) run.ended = { outcome: end.outcome, certainty: 'CERTAIN', eventId: end.eventId };
    else if (ended !== null) run.ended = { ...ended, eventId: null };
    else this.#merger.run ??= run;
    this.#noteEnds();
  }

  snapshot(whole = false): ConversationSnapshot {
    const { run, rowPhase } = this.#merger;
    const told = run === null ? null : runSnapshot(run, this.#life.phaseOf(run), whole);
    const open = this.#rows.turn;
    return {
      profile: this.#sources.store.profile,
      sessionId: this.tipId,
      conversationId: this.ids.conversationId,
      turn: told?.turn ?? (open === null || rowPhase === null ? null : rowSnapshot(open, rowPhase)),
      head: this.#rows.head,
      delegations: this.#rows.delegations,
      hasEarlier: told?.hasEarlier ?? false,
    };
  }

  /** `whole`: with all of the text, however long. */
  snapshotEvent(reason: SnapshotReason, whole = false): LiveEventOf<'LiveSnapshot'> {
    const { run } = this.#merger;
    const fields = { reason, snapshot: this.snapshot(whole), cursor: '' };
    return this.#merger.derived('LiveSnapshot', this.tipId, run, this.#sources.now(), [reason, this.position], fields);
  }

  /** A reset, and the snapshot from which a reader goes on (M7). */
  resetEvents(reason: ResetReason, scope: ResetScope, run: RunTurn | null = this.#merger.run): LiveEvent[] {
    const reset = this.#merger.derived('StreamReset', this.tipId, run, this.#sources.now(), [reason, this.position], { reason, scope });
    return [reset, this.snapshotEvent('RESET')];
  }

  close(): void {
    this.#runs.close();
  }

  /** Takes in what is under way, without telling it. */
  async #begin(): Promise<void> {
    await this.#sidecars.look(this.watchedIds);
    await this.#runs.begin(this.watchedIds, this.#sidecars);
    this.#tell(this.#entries(true), this.#rows.tail);
    await this.#judge();
  }

  /** Takes in what a reader at the position knows, without telling it. */
  async #catchUp(position: LivePosition): Promise<void> {
    const followers: RunFollower[] = [];
    for (const mark of position.runs) {
      const follower = await this.#runs.resume(mark);
      followers.push(follower);
      if (mark.ended?.certainty !== 'CERTAIN') this.#merger.run = follower.run;
    }
    this.#tell(this.#entries(true), this.#rows.tail);
    for (const [index, { ended }] of position.runs.entries()) {
      const follower = followers[index];
      if (follower === undefined || ended === null) continue;
      this.#merger.settle(follower.run, ended);
      follower.endedAt = this.#sources.now();
    }
  }

  async #beginAnew(): Promise<readonly LiveEvent[]> {
    this.#runs.close();
    this.#rows = await ConversationRows.start(this.#sources.store, this.ids.sessionId, { now: this.#sources.now });
    this.#merger = new TurnMerger({ conversationId: this.ids.conversationId, profile: this.#sources.store.profile }, null);
    await this.#begin();
    return this.resetEvents('DB_REPLACED', 'ALL');
  }

  async #pass(): Promise<RowEvent[] | 'REPLACED'> {
    const events: RowEvent[] = [];
    for (let count = 0; count < MOST_PASSES; count++) {
      this.#runs.passes++;
      const before = { after: this.#rows.position.maxRowId, delegations: this.#rows.delegations };
      const pass = await this.#rows.pass();
      if (pass.replaced) return 'REPLACED';
      const delegations = [...before.delegations, ...this.#rows.delegations];
      events.push(...pass.events, ...(await childRowEvents(this.#sources.store, delegations, before.after, pass.position.maxRowId)));
      if (!pass.more) return events;
    }
    this.#due.rows = true;
    return events;
  }

  /** Records that wait for rows which were committed before them (M3). */
  #hasWaiting(): boolean {
    return this.#runs.all.some(({ unread }) => unread.some((entry) => entry.kind === 'RECORD' && waitsForRows(entry.record)));
  }

  /** What the journals gave, in order; what waits for rows stays where it is. `all`: nothing waits. */
  #entries(all: boolean): RunEntry[] {
    return this.#runs.all.flatMap((follower): RunEntry[] => {
      const { run, unread } = follower;
      const waiting = unread.findIndex(
        (entry) => entry.kind === 'RECORD' && waitsForRows(entry.record) && entry.passes >= this.#runs.passes,
      );
      const now = all || waiting === -1 ? unread : unread.slice(0, waiting);
      follower.unread = unread.slice(now.length);
      if (follower.unread.length > 0) this.#due.rows = true;
      const begin: RunEntry[] = follower.begun ? [] : [{ kind: 'BEGIN', run }];
      follower.begun = true;
      return [...begin, ...now.map((entry): RunEntry => ({ ...entry, run }))];
    });
  }

  #tell(entries: readonly RunEntry[], rows: readonly RowEvent[]): LiveEvent[] {
    const told: LiveEvent[] = [];
    let joined: { run: RunTurn; events: JournalEvent[] } | null = null;
    const flush = () => {
      for (const event of joinEvents(joined?.events ?? [])) if (joined !== null) told.push(...this.#merger.takeJournal(joined.run, event));
      joined = null;
    };
    for (const step of interleave(entries, rows)) {
      if (step.kind === 'RECORD') {
        const events = step.run.fold(step.record, step.generation);
        if (joined !== null && joined.run !== step.run) flush();
        joined ??= { run: step.run, events: [] };
        joined.events.push(...events);
        continue;
      }
      flush();
      if (step.kind === 'ROW') {
        if (step.event.kind === 'MessagesAppended' && step.event.depth === 0) this.#lastRowId = step.event.ids.at(-1) ?? this.#lastRowId;
        told.push(...this.#merger.takeRow(step.event), ...this.#answered(step.event));
      } else if (step.kind === 'BEGIN') {
        step.run.baseMessageId = this.#lastRowId;
        told.push(...this.#merger.begin(step.run));
      } else told.push(...this.#reset(step.run, step.kind));
    }
    flush();
    this.#noteEnds();
    return told;
  }

  /** A run whose file is another one begins anew, behind the reset (M7). That the file of one is gone whose end was told is no loss. */
  #reset(run: RunTurn, kind: 'RESET' | 'GONE'): LiveEvent[] {
    if (kind === 'RESET') {
      run.restart();
      this.#merger.revive(run);
      return this.resetEvents('RUN_REWRITTEN', 'RUN', run);
    }
    run.lose();
    return run.endWasTold || this.#sidecars.of(run.sessionId) === 'GONE' ? [] : this.resetEvents('RUN_GONE', 'RUN', run);
  }

  #noteEnds(): void {
    for (const follower of this.#runs.all) {
      if (follower.run.ended === null) follower.endedAt = null;
      else follower.endedAt ??= this.#sources.now();
    }
  }

  /** A question was answered when the row of its tool is there (9). */
  #answered(event: RowEvent): LiveEvent[] {
    const { run } = this.#merger;
    if (run === null || event.kind !== 'ToolFinished' || event.depth > 0) return [];
    const open = run.turn.interactions.find(({ kind, tool }) => (kind === 'CLARIFY' ? event.name === 'clarify' : tool === event.name));
    if (open === undefined) return [];
    return this.#closeInteractions(run, { answered: open.interactionId });
  }

  #closeInteractions(run: RunTurn, evidence: Parameters<typeof closeInteractions>[1]): LiveEvent[] {
    const { state, events } = closeInteractions(run.turn, evidence);
    run.turn = state;
    return events.flatMap((event) => this.#merger.takeJournal(run, event));
  }

  async #lookAtSidecars(): Promise<SidecarChange[]> {
    const changes = await this.#sidecars.look(this.watchedIds);
    for (const { before } of changes) {
      const run = before?.activeStreamId == null ? null : (this.#runs.get(before.activeStreamId)?.run ?? null);
      if (run !== null && !this.#sidecars.owns(run.runId)) run.disownedAt ??= this.#sources.now();
    }
    this.#runs.followOwners(this.#sidecars);
    if (changes.length > 0) await this.#runs.drain();
    return changes;
  }

  /** Rows tell that a turn began: is it one of the Web UI (M4)? */
  async #lookForTurn(): Promise<SidecarChange[]> {
    const changes = await this.#lookAtSidecars();
    await this.#runs.look(this.watchedIds);
    return changes;
  }

  /** What a sidecar alone tells: a repair, or that the session is gone of which the store knows nothing. */
  #ofSidecar({ sessionId, before, after, tail }: SidecarChange): LiveEvent[] {
    const now = this.#sources.now();
    const recovered = tail?.recovered ?? null;
    if (recovered !== null && before !== null && JSON.stringify(recovered) !== this.#toldRepair) {
      this.#toldRepair = JSON.stringify(recovered);
      const { runId: recoveredFromRunId, count, pendingRetry } = recovered;
      const fields = { recoveredFromRunId, count, pendingRetry };
      return [this.#merger.derived('TranscriptRepaired', sessionId, null, now, fields, fields)];
    }
    if (after !== null || before === null || this.#rows.segmentIds.includes(sessionId)) return [];
    return [this.#merger.deleted(sessionId, now)];
  }

  /** Runs that were taken for over and go on: that is told before what they say. */
  async #revive(): Promise<LiveEvent[]> {
    const events: LiveEvent[] = [];
    for (const { run, unread } of this.#runs.all) {
      const goesOn = unread.some(({ kind }) => kind === 'RECORD');
      if (goesOn && run.ended !== null && run.turn.end === null)
        events.push(...(await this.#life.judge(run, this.#merger, this.#rows, this.#sidecars)));
    }
    return events;
  }

  /** Life and death of the runs, and what has run out. */
  async #judge(): Promise<LiveEvent[]> {
    const events: LiveEvent[] = [];
    for (const { run, begun } of this.#runs.all) {
      if (!begun || run.turn.end !== null || run.endWasTold) continue;
      events.push(...this.#closeInteractions(run, { now: this.#sources.now() }));
      events.push(...(await this.#life.judge(run, this.#merger, this.#rows, this.#sidecars)));
    }
    this.#noteEnds();
    return events;
  }
}

function rowTurnNow({ turn }: ConversationRows, { sessionId }: ConversationIds): RowTurn | null {
  return turn === null ? null : rowTurnOf(turn, sessionId, false);
}

/** The turn that a reader at the position was told of. When it is over by now, its beginning isn't known any more, but that it was before. */
function rowTurnAt(
  { rows: { turnId, at }, covered }: LivePosition,
  rows: ConversationRows,
  { sessionId }: ConversationIds,
): RowTurn | null {
  if (turnId === null) return null;
  const startedAt = rows.turn?.turnId === turnId ? rows.turn.startedAt : at;
  return rowTurnOf({ turnId, startedAt }, sessionId, covered);
}

function rowTurnOf({ turnId, startedAt }: Pick<OpenTurn, 'turnId' | 'startedAt'>, sessionId: string, covered: boolean): RowTurn {
  return { turnId, sessionId, startedAt, eventId: derivedId('TurnStarted', sessionId, turnId), covered };
}
