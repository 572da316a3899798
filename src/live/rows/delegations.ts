/**
 * Delegations as nested live turns, at state level (`spec/live-turns.md` 11.3): sub-agents that a `delegate_task` call waits for, and
 * those in the background, which the registry knows.
 */
import type { DelegateCall, DelegateSession, DelegatesReading, RegisteredDelegation } from '../../state-db/live-delegates.ts';
import { saysError } from './appended.ts';
import { type Delegation, type DelegationState, NO_DELEGATIONS } from './delegation-state.ts';
import { derivedId, type RowEvent, rowEvent, stateId } from './events.ts';
import { isOver } from './session-changes.ts';

/** Progress of one delegation is told no more often. */
const PROGRESS_SECONDS = 1;
/** A child without a first row is given so long to say what it is for. */
const GOAL_SECONDS = 5;
const HEARTBEAT_SECONDS = 90;
/** Clocks of two programs of one machine. */
const CLOCK_SECONDS = 5;

/**
 * What is under way at first, or was at a position: what came later is left to the next pass. Of what has no row only the times tell;
 * within the seconds by which clocks differ it is told again, under the same id, rather than not at all.
 */
export function delegationsAt(
  reading: DelegatesReading,
  position: { readonly maxRowId: string; readonly at: number } | null,
  now: number,
): DelegationState {
  const isLater = (rowId: string | null) => position !== null && rowId !== null && BigInt(rowId) > BigInt(position.maxRowId);
  const isLaterTime = (at: number | null) => position !== null && at !== null && at > position.at - CLOCK_SECONDS;
  const then: DelegatesReading = {
    ...reading,
    sessions: reading.sessions.filter(
      ({ goalRowId, session }) => !isLater(goalRowId) && (goalRowId !== null || !isLaterTime(session.startedAt)),
    ),
    calls: reading.calls.map((call) => (isLater(call.resultRowId) ? { ...call, resultRowId: null, result: null } : call)),
    registry: reading.registry
      .filter(({ dispatchedAt }) => !isLaterTime(dispatchedAt))
      .map((entry) => (isLaterTime(entry.completedAt) ? { ...entry, running: true } : entry)),
  };
  const since = (position?.at ?? now) - CLOCK_SECONDS;
  const walk = new DelegationWalk({ ...NO_DELEGATIONS, since }, then, now);
  walk.takeRegistry(true);
  walk.takeSessions((child, call) => (call === null ? isAtWork(child, now) : call.resultRowId === null));
  return walk.state();
}

/** Events of a pass; `deliveries`: rows that brought results into the conversation, by delegation. */
export function delegationEvents(
  state: DelegationState,
  reading: DelegatesReading | null,
  deliveries: ReadonlyMap<string, string>,
  now: number,
): { events: RowEvent[]; state: DelegationState } {
  const walk = new DelegationWalk(state, reading ?? { sessions: [], others: [], calls: [], registry: [] }, now);
  if (reading !== null) {
    walk.takeRegistry(false);
    walk.takeSessions(({ session }, call) => (session.startedAt ?? now) >= state.since || (call !== null && call.resultRowId === null));
  }
  walk.tellProgress();
  if (reading !== null) walk.finish();
  walk.deliver(deliveries);
  return { events: walk.events, state: walk.state() };
}

function isAtWork({ session }: DelegateSession, now: number): boolean {
  return !isOver(session) && (session.lastActivityDescription ?? '') !== '' && now - (session.lastActivityAt ?? 0) < HEARTBEAT_SECONDS;
}

class DelegationWalk {
  readonly events: RowEvent[] = [];
  readonly #tasks: Map<string, Delegation>;
  readonly #settled: Set<string>;
  readonly #since: number;
  readonly #reading: DelegatesReading;
  readonly #now: number;

  constructor(state: DelegationState, reading: DelegatesReading, now: number) {
    this.#tasks = new Map(state.tasks);
    this.#settled = new Set([...state.settled, ...reading.others]);
    this.#since = state.since;
    this.#reading = reading;
    this.#now = now;
  }

  state(): DelegationState {
    return { tasks: this.#tasks, settled: this.#settled, since: this.#since };
  }

  /** `atFirst`: what has ended already is only waited for to be delivered. */
  takeRegistry(atFirst: boolean): void {
    for (const entry of this.#reading.registry) {
      const goals = entry.goals.length === 0 ? [null] : entry.goals;
      goals.forEach((goal, index) => {
        const key = goals.length === 1 ? entry.delegationId : `${entry.delegationId}.${index}`;
        if (this.#tasks.has(key) || this.#settled.has(key)) return;
        const toolCallId = this.#callFor(entry.parentSessionId, goal, entry.dispatchedAt)?.toolCallId ?? null;
        const { delegationId, parentSessionId, dispatchedAt } = entry;
        const depth = (this.#reading.sessions.find(({ session }) => session.id === parentSessionId)?.depth ?? 0) + 1;
        this.#start({
          key,
          delegationId,
          parentSessionId,
          depth,
          background: true,
          goal,
          toolCallId,
          dispatchedAt,
          finished: atFirst && !entry.running,
        });
      });
    }
  }

  /** `isWanted`: whether a child that nobody knows is one to follow. */
  takeSessions(isWanted: (child: DelegateSession, call: DelegateCall | null) => boolean): void {
    const known = new Set([...this.#tasks.values()].flatMap(({ sessionIds }) => sessionIds));
    for (const child of this.#reading.sessions) {
      const { session, continues } = child;
      if (known.has(session.id)) continue;
      const parentSessionId = session.parentId ?? '';
      const owner = continues === null ? this.#backgroundTaskFor(child) : this.#taskOf(continues);
      if (owner !== null) {
        this.#set({ ...owner, sessionIds: [...owner.sessionIds, session.id] });
        continue;
      }
      const call = this.#callFor(parentSessionId, child.goal, session.startedAt);
      if (continues !== null || !isWanted(child, call)) {
        this.#settled.add(session.id);
        continue;
      }
      if (child.goal === null && this.#now - (session.startedAt ?? 0) < GOAL_SECONDS) continue;
      this.#start({
        key: session.id,
        delegationId: session.id,
        parentSessionId,
        depth: child.depth,
        background: false,
        goal: child.goal,
        toolCallId: call?.toolCallId ?? null,
        dispatchedAt: session.startedAt,
        finished: false,
        sessionIds: [session.id],
      });
    }
    for (const task of this.#tasks.values()) this.#set(this.#counted(task));
  }

  tellProgress(): void {
    for (const task of this.#tasks.values()) {
      const says = progressKey(task);
      if (task.finished || task.sessionIds.length === 0 || says === task.told || this.#now - task.toldAt < PROGRESS_SECONDS) continue;
      this.#set({ ...task, toldAt: this.#now, told: says });
      this.#tellProgressOf(task, null);
    }
  }

  finish(): void {
    for (const task of this.#tasks.values()) {
      const end = task.finished ? null : task.background ? this.#registeredEnd(task) : this.#endOfCall(task);
      if (end === null) continue;
      const id = derivedId('DelegationFinished', task.parentSessionId, task.key);
      const fields = { delegationId: task.delegationId, childSessionId: task.sessionIds[0] ?? null, ...end };
      this.events.push(rowEvent('DelegationFinished', id, this.#placeOf(task), fields));
      if (task.background) this.#set({ ...task, finished: true });
      else this.#settle(task);
    }
  }

  deliver(deliveries: ReadonlyMap<string, string>): void {
    for (const task of this.#tasks.values()) {
      const rowId = deliveries.get(task.delegationId);
      if (!task.background || rowId === undefined) continue;
      this.#tellProgressOf(task, rowId);
      if (task.finished) this.#settle(task);
    }
  }

  #start(
    task: Omit<Delegation, 'messageCount' | 'apiCalls' | 'lastTool' | 'toldAt' | 'told' | 'sessionIds'> & { sessionIds?: string[] },
  ): void {
    const started = this.#counted({ sessionIds: [], messageCount: 0, apiCalls: 0, lastTool: null, toldAt: this.#now, told: '', ...task });
    this.#set({ ...started, told: progressKey(started) });
    if (task.finished) return;
    const { delegationId, goal, background, toolCallId } = task;
    const fields = { delegationId, childSessionId: started.sessionIds[0] ?? null, goal, background, toolCallId };
    const place = { ...this.#placeOf(started), at: task.dispatchedAt ?? this.#now };
    this.events.push(rowEvent('DelegationStarted', derivedId('DelegationStarted', task.parentSessionId, task.key), place, fields));
  }

  /** The task with what its sessions say now. */
  #counted(task: Delegation): Delegation {
    const sessions = this.#reading.sessions.filter(({ session }) => task.sessionIds.includes(session.id));
    if (sessions.length === 0) return task;
    return {
      ...task,
      messageCount: sessions.reduce((sum, { session }) => sum + session.storedMessageCount, 0),
      apiCalls: sessions.reduce((sum, { session }) => sum + session.apiCallCount, 0),
      lastTool: sessions.findLast(({ lastTool }) => lastTool !== null)?.lastTool ?? task.lastTool,
    };
  }

  /** No child id is stored: a background task and its child are told together by parent, time and goal. */
  #backgroundTaskFor({ session, goal }: DelegateSession): Delegation | null {
    const waiting = [...this.#tasks.values()].filter(
      (task) =>
        task.background &&
        task.sessionIds.length === 0 &&
        task.parentSessionId === session.parentId &&
        (session.startedAt ?? 0) >= (task.dispatchedAt ?? 0) - 1,
    );
    return waiting.find((task) => isSameGoal(task.goal, goal)) ?? waiting.find((task) => task.goal === null) ?? null;
  }

  #taskOf(sessionId: string): Delegation | null {
    return [...this.#tasks.values()].find(({ sessionIds }) => sessionIds.includes(sessionId)) ?? null;
  }

  /** The call that a child was begun for: by its goal, else the newest one before it that waits for its result. */
  #callFor(parentSessionId: string, goal: string | null, at: number | null): DelegateCall | null {
    const calls = this.#reading.calls.filter(
      (call) => call.sessionId === parentSessionId && (call.at ?? 0) <= (at ?? Number.POSITIVE_INFINITY) + 1,
    );
    const byGoal = calls.findLast((call) => call.goals.some((each) => isSameGoal(each, goal)));
    return byGoal ?? calls.findLast((call) => call.resultRowId === null) ?? null;
  }

  #registeredEnd(task: Delegation): { status: string; summary: string | null } | null {
    const entry: RegisteredDelegation | undefined = this.#reading.registry.find(({ delegationId }) => delegationId === task.delegationId);
    if (entry === undefined) return { status: 'unknown', summary: null };
    return entry.running ? null : { status: entry.state, summary: entry.summary };
  }

  #endOfCall(task: Delegation): { status: string; summary: string | null } | null {
    const call = this.#reading.calls.findLast(({ toolCallId, resultRowId }) => toolCallId === task.toolCallId && resultRowId !== null);
    if (call !== undefined) return { status: saysError(call.result) === true ? 'error' : 'completed', summary: call.result };
    const child = this.#reading.sessions.findLast(({ session }) => task.sessionIds.includes(session.id));
    if (child === undefined) return { status: 'unknown', summary: null };
    const over = isOver(child.session) && child.session.endReason !== 'compression';
    return over && task.toolCallId === null ? { status: child.session.endReason ?? 'ended', summary: null } : null;
  }

  #tellProgressOf(task: Delegation, deliveredMessageId: string | null): void {
    const { delegationId, messageCount, apiCalls, lastTool } = task;
    const fields = { delegationId, childSessionId: task.sessionIds[0] ?? null, messageCount, apiCalls, lastTool, deliveredMessageId };
    this.events.push(rowEvent('DelegationProgress', stateId('DelegationProgress', task.key, fields), this.#placeOf(task), fields));
  }

  #settle(task: Delegation): void {
    this.#tasks.delete(task.key);
    this.#settled.add(task.key);
    for (const id of task.sessionIds) this.#settled.add(id);
  }

  #set(task: Delegation): void {
    this.#tasks.set(task.key, task);
  }

  #placeOf(task: Delegation): { sessionId: string; depth: number; at: number } {
    return { sessionId: task.parentSessionId, depth: task.depth, at: this.#now };
  }
}

function progressKey({ messageCount, apiCalls, lastTool, sessionIds }: Delegation): string {
  return JSON.stringify([messageCount, apiCalls, lastTool, sessionIds[0] ?? null]);
}

function isSameGoal(a: string | null, b: string | null): boolean {
  return a !== null && b !== null && a.trim() === b.trim();
}
