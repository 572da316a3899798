/**
 * One conversation as it goes on: reads its rows, its runs' journals and its sidecars, and tells what happened as one stream of events
 * (`spec/live-turns.md` 9, 13). It watches nothing and holds no timer of its own; whoever owns it says what may have changed, and pumps.
 */
import { ConversationRows } from '../rows/conversation-rows.ts';
import type { Delegation } from '../rows/delegation-state.ts';
import type { RowEvent } from '../rows/events.ts';
import { isTurnStart } from '../rows/turn-state.ts';
import { childRowEvents, finishedIn } from './child-rows.ts';
import type { LiveEvent, LiveEventOf, ResetReason, ResetScope, SnapshotReason } from './events.ts';
import { type RunEntry, turnStarts } from './interleave.ts';
import { LifeWatch } from './life.ts';
import { TurnMerger } from './merger.ts';
import type { LivePosition, RunMark } from './position.ts';
import { type RowTurn, rowTurnAt, rowTurnNow } from './row-turn.ts';
import type { RunFollower } from './run-follower.ts';
import { RunSet } from './run-set.ts';
import type { RunTurn } from './run-turn.ts';
import { type SidecarChange, Sidecars } from './sidecars.ts';
import type { ConversationSnapshot } from './snapshot.ts';
import type { ConversationSources } from './sources.ts';
import { rowSnapshot, runSnapshot } from './take-snapshot.ts';
import { Teller } from './teller.ts';

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
  #teller: Teller;
  /** Nothing was told yet of what a reader missed. */
  #isBehind = false;
  #due = { rows: false, sidecars: false, runs: false, life: false };
  /** What was read and not told yet: more had to be read, and that failed. */
  #rowEvents: RowEvent[] = [];
  #changes: SidecarChange[] = [];
  /** Sub-agents that were at work since the row up to which theirs were told. */
  #children: { readonly atWork: Delegation[]; readonly after: string };
  #toldRepair: string | null = null;
  /** Sessions of which it was told that they are gone. */
  readonly #gone = new Set<string>();

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
    this.#children = childrenAt(rows);
    [this.#merger, this.#teller] = this.#startTelling(rowTurn);
  }

  /** As it is now; nothing is told of what was before. `onUnread`: a journal has grown. Throws `StoreUnreadable`. */
  static async start(sources: ConversationSources, ids: ConversationIds, onUnread: () => void = () => {}): Promise<Conversation> {
    const since = sources.now();
    const rows = await ConversationRows.start(sources.store, ids.sessionId, { now: sources.now });
    const conversation = new Conversation(sources, ids, rows, since, rowTurnNow(rows, ids.sessionId), onUnread);
    return conversation.#closedUnless(conversation.#begin());
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
    const told = rowTurnAt(position, resumed.rows, ids.sessionId);
    const conversation = new Conversation(sources, ids, resumed.rows, position.since, told, onUnread);
    await conversation.#closedUnless(conversation.#catchUp(position));
    conversation.#due = { rows: resumed.more, sidecars: true, runs: true, life: true };
    conversation.#isBehind = true;
    const delegations = [...finishedIn(resumed.events), ...resumed.rows.delegations];
    const missed: RowEvent[] = [...resumed.events];
    const children = childRowEvents(sources.store, delegations, position.rows.maxRowId, resumed.position.maxRowId);
    await conversation.#closedUnless(children.then((events) => missed.push(...events)));
    return { conversation, missed, reset: null };
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

  /** Those of them whose journals are this profile's: all profiles share one folder, and a session that nobody has yet is nobody's. */
  get #journalIds(): readonly string[] {
    const own = new Set([...this.#rows.segmentIds, ...this.#runs.all.map(({ run }) => run.sessionId)]);
    return this.watchedIds.filter((id) => !this.#sidecars.isForeign(id) && (own.has(id) || typeof this.#sidecars.of(id) === 'object'));
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

  /** Reads what may have changed, and tells it in order. One at a time. Throws `StoreUnreadable`; nothing is lost by that. */
  async pump(missed: readonly RowEvent[] = []): Promise<readonly LiveEvent[]> {
    const due = this.#due;
    this.#due = { rows: false, sidecars: false, runs: false, life: false };
    try {
      if (missed.length > 0) this.#rowEvents.push(...missed);
      if ((await this.#read(due)) === 'REPLACED') return await this.#beginAnew();
    } catch (error) {
      for (const what of ['rows', 'sidecars', 'runs', 'life'] as const) this.#due[what] ||= due[what];
      throw error;
    }
    const [rows, changes] = [this.#rowEvents.splice(0), this.#changes.splice(0)];
    const events = [...(await this.#revive()), ...(await this.#tellMissed(this.#teller.take(false), rows))];
    if (this.#runs.all.some(({ unread }) => unread.length > 0)) this.#due.rows = true;
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
    else {
      // One that is over is nobody's current turn, and no news to those who never heard of it.
      await this.#lookAtSidecars();
      await this.#life.judge(run, this.#merger, this.#rows, this.#sidecars);
      if (run.ended === null) this.#merger.run ??= run;
    }
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
      turn: told?.turn ?? (open === null || rowPhase === null ? null : rowSnapshot(open, rowPhase, this.#merger.rowTurn?.eventId ?? '')),
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

  /** A reset, and the snapshot from which a reader goes on (M7; live-protocol 4.1). */
  resetEvents(reason: ResetReason, scope: ResetScope, run: RunTurn | null = this.#merger.run): LiveEvent[] {
    const reset = this.#merger.derived('StreamReset', this.tipId, run, this.#sources.now(), [reason, this.position], { reason, scope });
    return [reset, this.snapshotEvent('RESET')];
  }

  close(): void {
    this.#runs.close();
  }

  /** Leaves nothing open when its beginning fails. */
  async #closedUnless(beginning: Promise<unknown>): Promise<this> {
    try {
      await beginning;
      return this;
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Takes in what is under way, without telling it. */
  async #begin(): Promise<void> {
    await this.#sidecars.look(this.watchedIds);
    await this.#runs.begin(this.#journalIds, this.#sidecars);
    this.#tell(this.#teller.take(true), this.#rows.tail);
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
    this.#tell(this.#teller.take(true), this.#rows.tail);
    for (const [index, { ended }] of position.runs.entries()) {
      const follower = followers[index];
      if (follower === undefined || ended === null) continue;
      this.#merger.settle(follower.run, ended);
      follower.endedAt = this.#sources.now();
    }
  }

  async #beginAnew(): Promise<readonly LiveEvent[]> {
    this.#runs.clear();
    this.#rows = await ConversationRows.start(this.#sources.store, this.ids.sessionId, { now: this.#sources.now });
    this.#rowEvents = [];
    this.#children = childrenAt(this.#rows);
    [this.#merger, this.#teller] = this.#startTelling(rowTurnNow(this.#rows, this.ids.sessionId));
    await this.#begin();
    return this.resetEvents('DB_REPLACED', 'ALL');
  }

  async #read(due: Readonly<Record<Due, boolean>>): Promise<'READ' | 'REPLACED'> {
    if (due.sidecars) await this.#lookAtSidecars();
    if (due.runs) await this.#runs.look(this.#journalIds);
    if (!due.rows && this.#rowEvents.length === 0 && !this.#teller.waits) return 'READ';
    if ((await this.#pass()) === 'REPLACED') return 'REPLACED';
    // Rows tell that a turn began: is it one of the Web UI (M4)?
    if (this.#rowEvents.some(beginsTurn)) {
      await this.#lookAtSidecars();
      await this.#runs.look(this.#journalIds);
    }
    // Text was journaled before the row that settles it was committed (0 fact 2), so it is told before it.
    if (this.#rowEvents.length > 0) await this.#runs.drain();
    // A turn that begins at once behind another one: the end of that mustn't wait for the next pass, or the rows would be taken for its own.
    if (this.#teller.waits && this.#runs.all.some(({ begun }) => !begun)) {
      if ((await this.#pass()) === 'REPLACED') return 'REPLACED';
      await this.#runs.drain();
    }
    return 'READ';
  }

  async #pass(): Promise<'READ' | 'REPLACED'> {
    for (let count = 0; count < MOST_PASSES; count++) {
      this.#runs.passes++;
      const pass = await this.#rows.pass();
      if (pass.replaced) return 'REPLACED';
      this.#rowEvents.push(...pass.events);
      const { atWork, after } = this.#children;
      atWork.push(...this.#rows.delegations);
      this.#rowEvents.push(...(await childRowEvents(this.#sources.store, atWork, after, pass.position.maxRowId)));
      this.#children = childrenAt(this.#rows);
      if (!pass.more) return 'READ';
    }
    this.#due.rows = true;
    return 'READ';
  }

  #startTelling(rowTurn: RowTurn | null): [TurnMerger, Teller] {
    const merger = new TurnMerger({ conversationId: this.ids.conversationId, profile: this.#sources.store.profile }, rowTurn);
    const onReset = (run: RunTurn, kind: 'RESET' | 'GONE') => this.#reset(run, kind);
    return [merger, new Teller({ runs: this.#runs, merger, lastRowId: this.#rows.head?.maxMessageId ?? null, onReset })];
  }

  #tell(entries: readonly RunEntry[], rows: readonly RowEvent[]): LiveEvent[] {
    const told = this.#teller.tell(entries, rows);
    for (const { kind, sessionId } of rows) if (kind === 'SessionDeleted') this.#gone.add(sessionId);
    this.#noteEnds();
    return told;
  }

  /**
   * What a reader missed may hold a turn behind one whose program is gone: before it is told, the runs that the reader knows are judged,
   * or its rows would be taken for theirs.
   */
  async #tellMissed(entries: readonly RunEntry[], rows: readonly RowEvent[]): Promise<LiveEvent[]> {
    const run = this.#isBehind ? this.#merger.run : null;
    this.#isBehind = false;
    const next = run === null ? undefined : turnStarts(rows)[run.userMessageId === null ? 1 : 0];
    const isPlain = run === null || next === undefined || entries.some((entry) => entry.kind === 'BEGIN' || isEnd(entry));
    if (isPlain || !(await this.#life.isOver(run, this.#rows, this.#sidecars))) return this.#tell(entries, rows);
    return [...this.#tell(entries, rows.slice(0, next)), ...(await this.#judge()), ...this.#tell([], rows.slice(next))];
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

  async #lookAtSidecars(): Promise<void> {
    const changes = await this.#sidecars.look(this.watchedIds);
    this.#changes.push(...changes);
    for (const { before } of changes) {
      const run = before?.activeStreamId == null ? null : (this.#runs.get(before.activeStreamId)?.run ?? null);
      if (run !== null && !this.#sidecars.owns(run.runId)) run.disownedAt ??= this.#sources.now();
    }
    this.#runs.followOwners(this.#sidecars);
    if (changes.length > 0) await this.#runs.drain();
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
    if (after !== null || before === null || this.#gone.has(sessionId) || this.#rows.segmentIds.includes(sessionId)) return [];
    this.#gone.add(sessionId);
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
      events.push(...this.#teller.closeInteractions(run, { now: this.#sources.now() }));
      events.push(...(await this.#life.judge(run, this.#merger, this.#rows, this.#sidecars)));
    }
    this.#noteEnds();
    return events;
  }
}

function childrenAt({ delegations, position }: ConversationRows): { atWork: Delegation[]; after: string } {
  return { atWork: [...delegations], after: position.maxRowId };
}

function beginsTurn(event: RowEvent): boolean {
  return event.kind === 'TurnStarted' || (event.kind === 'MessagesAppended' && event.depth === 0 && event.rows.some(isTurnStart));
}

function isEnd(entry: RunEntry): boolean {
  return entry.kind === 'RECORD' && entry.record.terminal;
}
