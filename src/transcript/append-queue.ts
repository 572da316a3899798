/**
 * The append path of transcripts (`spec/state-db-writes.md` 5): what could not be written yet waits in memory, oldest first, goes to the spool
 * when it waits too long, follows a conversation that was compressed, and is set aside where the store must not be written to any more.
 * Nothing that was taken leaves memory before the store or a file has it.
 */
import type { Lease } from '../state-db/write/admission.ts';
import type { AppendedMessage, AppendInput } from '../state-db/write/append-message.ts';
import type { TranscriptMessage } from '../state-db/write/message-encoding.ts';
import { type RefusalCode, WriteRefused } from '../write-refused.ts';
import { DrainLock } from './drain-lock.ts';
import { divertBacklog, moveToSpool } from './spool-backlog.ts';
import type { SpoolDirectory } from './spool-directory.ts';
import { type DrainResult, drainSession } from './spool-drain.ts';
import { SpoolUnwritable } from './spool-files.ts';

/** What the queue asks of the store. */
export interface TranscriptStore {
  /** Writes the message unless the conversation has it; `beforeCommit` hears of the row right before. Throws `WriteRefused`. */
  commit(input: AppendInput, beforeCommit?: (appended: AppendedMessage) => void): Promise<AppendedMessage>;
  /** R1: the session itself unless a compression closed it, else the open session in which it goes on; null when there is none. */
  openTip(sessionId: string): Promise<string | null>;
  /** The sessions that this one continues, nearest first. */
  ancestors(sessionId: string): Promise<readonly string[]>;
  /** A13: SKIPPED where others have the store open. */
  rebuildIndex(): Promise<'REBUILT' | 'SKIPPED'>;
}

/** COMMITTED: in the store. DUPLICATE: it was there. QUEUED: in memory or in the spool. DIVERTED: in the spool and the divert file. */
export type AppendStatus = 'COMMITTED' | 'DUPLICATE' | 'QUEUED' | 'DIVERTED';

export interface AppendOutcome {
  readonly status: AppendStatus;
  readonly messageUid: string;
  /** The row; null where there is none yet. */
  readonly rowId: string | null;
  /** Where it went: another session than the one named when that was compressed. */
  readonly sessionId: string;
  readonly queueDepth: number;
  readonly failureCount: number;
  /** Why it waits. */
  readonly problem: { readonly code: string; readonly message: string } | null;
}

export interface QueuedEntry {
  readonly messageUid: string;
  readonly role: string;
  /** Epoch seconds. */
  readonly enqueuedAt: number;
}

/** For the server's log: codes and counts, nothing of a message. */
export interface TranscriptEvent {
  readonly code: 'SPOOLED' | 'STALLED' | 'DIVERTED' | 'REROUTED' | 'DEAD_LETTER' | 'SPOOL_STOPPED' | 'SPOOL_HELD';
  readonly sessionId: string;
  readonly count: number;
  readonly reason: string | null;
}

export interface AppendQueueOptions {
  readonly store: TranscriptStore;
  readonly spool: SpoolDirectory;
  /** Epoch seconds. */
  readonly now: () => number;
  readonly onEvent: (event: TranscriptEvent) => void;
}

/** A message as it is handed in. */
export interface NewMessage {
  /** With the uid, and the time at which it was taken. */
  readonly message: TranscriptMessage;
  readonly uid: string;
  /** The uid was made up just now. */
  readonly isMinted: boolean;
  readonly lease: Lease | null;
  /** Called with the row right before the commit. */
  readonly beforeCommit?: ((appended: AppendedMessage) => void) | undefined;
  /** Called once the store or a file has the message, so that it outlives this process; it may wait there. */
  readonly onKept?: ((outcome: AppendOutcome) => void) | undefined;
}

interface Entry extends NewMessage {
  /** The session that was named, which may lead to another. */
  readonly sessionId: string;
  readonly enqueuedAt: number;
  wasTried: boolean;
  readonly waiting: ((settlement: Settlement) => void)[];
}

type Settlement = { readonly outcome: AppendOutcome } | { readonly error: unknown };

/** A3. */
const MOST_QUEUED = 200;
/** A12: failures in a row after which the backlog goes to the spool. */
const STALLED_AFTER = 3;
/** A13. */
const REBUILD_INTERVAL_SECONDS = 300;

/** The store must not be written to any more (A8). */
const QUARANTINED: ReadonlySet<string> = new Set<RefusalCode>([
  'STORE_REPLACED',
  'WAL_GENERATION_LOST',
  'STORE_CORRUPT',
  'STORE_QUARANTINED',
]);
/** No repeat of this message by this caller can succeed: it is not kept waiting. */
const HOPELESS: ReadonlySet<string> = new Set<RefusalCode>([
  'VALIDATION',
  'TURN_LEASE_LOST',
  'NOT_FOUND',
  'FTS_TOKENIZER_MISSING',
  'SCHEMA_UNSUPPORTED',
  'STORE_INVALID',
  'NO_LIVE_CONTINUATION',
]);

/** Refusals of what is in a spool file, and not of the store. */
const OF_THE_FILE: ReadonlySet<string> = new Set<RefusalCode>(['SESSION_CLOSED', 'VALIDATION']);

export class AppendQueue {
  readonly #options: AppendQueueOptions;
  readonly #lock = new DrainLock();
  readonly #queues = new Map<string, Entry[]>();
  readonly #failures = new Map<string, number>();
  readonly #problems = new Map<string, WriteRefused>();
  readonly #reroutes = new Map<string, string>();
  /** Sessions whose messages may lie in the spool; looked at before anything newer is written (A5). */
  readonly #spooled = new Set<string>();
  /** Sessions that were looked for in the spool since this process began. */
  readonly #looked = new Set<string>();
  readonly #draining = new Map<string, Promise<void>>();
  #lastRebuild: number | null = null;

  constructor(options: AppendQueueOptions) {
    this.#options = options;
  }

  /** Whether messages wait in memory. */
  get isHolding(): boolean {
    return this.#queues.size > 0;
  }

  /** Whether anything is to be tried again: what waits in memory, or what went to the spool because the store failed. */
  get hasPending(): boolean {
    return this.isHolding || [...this.#spooled].some((id) => this.#problems.has(id));
  }

  /** Whether a message waits in memory alone. */
  holds(sessionId: string, uid: string): boolean {
    return this.#queues.get(this.#follow(sessionId))?.some((entry) => entry.uid === uid) === true;
  }

  /**
   * Takes a message, which carries its uid, and answers when its fate is known: written, or waiting. Throws `WriteRefused` for a message that
   * is not taken, because no repeat could write it (A9c: after it was kept as a dead letter).
   */
  async append(sessionId: string, message: NewMessage): Promise<AppendOutcome> {
    const id = this.#follow(sessionId);
    const settled = new Promise<Settlement>((resolve) => this.#enqueue(id, { ...message, sessionId }, resolve));
    void this.#drain(id);
    const settlement = await settled;
    if ('error' in settlement) throw settlement.error;
    return settlement.outcome;
  }

  /** Runs a rewrite or a rewind while no append is under way (5, drain lock). */
  exclusive<T>(work: () => Promise<T>): Promise<T> {
    return this.#lock.run(work);
  }

  /** What waits for a session, oldest first. */
  waiting(sessionId: string): { readonly depth: number; readonly failures: number; readonly entries: readonly QueuedEntry[] } {
    const id = this.#follow(sessionId);
    const queue = this.#queues.get(id) ?? [];
    const entries = queue.map(({ uid, message, enqueuedAt }) => ({ messageUid: uid, role: String(message.role ?? 'unknown'), enqueuedAt }));
    return { depth: queue.length, failures: this.#failures.get(id) ?? 0, entries };
  }

  /** Tries what waits for a session, from the spool and from memory. */
  async flush(sessionId: string): Promise<{ readonly remaining: number; readonly problem: WriteRefused | null }> {
    const id = this.#follow(sessionId);
    await this.#tryAgain(id);
    return { remaining: this.#queues.get(id)?.length ?? 0, problem: this.#problems.get(id) ?? null };
  }

  /** Tries everything that waits in memory or that this process spooled. */
  async flushAll(): Promise<void> {
    for (const id of new Set([...this.#queues.keys(), ...this.#spooled])) await this.#tryAgain(id);
  }

  /**
   * Forgets what waits for a session and was taken up to a time (epoch seconds): its transcript was rewritten, so that it belongs to another
   * one (10.2, RW3). Gives how many messages that were.
   */
  forget(sessionId: string, upTo = Number.POSITIVE_INFINITY): number {
    const id = this.#follow(sessionId);
    const waiting = this.#queues.get(id) ?? [];
    const queue = waiting.filter(({ enqueuedAt }) => enqueuedAt <= upTo);
    this.#queues.set(
      id,
      waiting.filter(({ enqueuedAt }) => enqueuedAt > upTo),
    );
    this.#clear(id);
    for (const entry of queue) settle(entry, { error: new WriteRefused('TRANSCRIPT_CHANGED', 'The waiting message was dropped.') });
    return queue.length;
  }

  /** At the end of the process: what waits goes to the spool. Gives the number of messages that no file took. */
  spoolAll(): number {
    let lost = 0;
    for (const [id, queue] of this.#queues) {
      const entries = [...queue];
      moveToSpool(this.#options.spool, id, queue, ({ message }) => message);
      for (const entry of entries.slice(0, entries.length - queue.length)) this.#answerKept(id, entry, 'QUEUED');
      lost += queue.length;
    }
    return lost;
  }

  #follow(sessionId: string): string {
    const seen = new Set([sessionId]);
    let id = sessionId;
    for (;;) {
      const next = this.#reroutes.get(id);
      if (next === undefined || seen.has(next)) return id;
      seen.add(next);
      id = next;
    }
  }

  #enqueue(id: string, entry: NewMessage & Pick<Entry, 'sessionId'>, resolve: (settlement: Settlement) => void): void {
    const queue = this.#queues.get(id) ?? [];
    this.#queues.set(id, queue);
    const known = queue.find(({ uid }) => uid === entry.uid);
    if (known !== undefined) {
      known.waiting.push(resolve);
      return;
    }
    const { spool, now, onEvent } = this.#options;
    if (queue.length >= MOST_QUEUED) {
      // The file first, then out of memory (K5). A message is refused before one that was taken is lost.
      const [oldest] = queue;
      const moved = moveToSpool(spool, id, queue, ({ message }) => message, 1);
      if (moved.stoppedBy !== null) {
        resolve({ error: new WriteRefused('QUEUE_FULL', '', { cause: moved.stoppedBy }) });
        return;
      }
      this.#spooled.add(id);
      if (oldest !== undefined) this.#answerKept(id, oldest, 'QUEUED');
      onEvent({ code: 'SPOOLED', sessionId: id, count: 1, reason: null });
    }
    queue.push({ ...entry, enqueuedAt: now(), wasTried: false, waiting: [resolve] });
  }

  /** One that is under way may have failed already. */
  async #tryAgain(id: string): Promise<void> {
    await this.#draining.get(id);
    await this.#drain(id);
  }

  /** Works a session's queue off until it is empty or the store fails; one at a time in the store. */
  #drain(id: string): Promise<void> {
    const running = this.#draining.get(id);
    if (running !== undefined) return running;
    const drained = this.#lock
      .run(() => this.#work(id))
      .catch((error: unknown) => {
        // A defect of ours: whoever waits has to hear of it, and the messages stay.
        for (const entry of this.#queues.get(id) ?? []) settle(entry, { error });
      })
      .then(() => {
        this.#draining.delete(id);
        // One that came between the end of the work and now would wait for ever.
        return this.#queues.get(id)?.some(({ waiting }) => waiting.length > 0) ? this.#drain(id) : undefined;
      });
    this.#draining.set(id, drained);
    return drained;
  }

  async #work(id: string): Promise<void> {
    for (;;) {
      const obstacle = await this.#obstacle(id);
      if (obstacle !== null) return this.#stop(id, obstacle);
      const head = this.#queues.get(id)?.[0];
      if (head === undefined) return this.#clear(id);
      try {
        const { rowId, duplicate } = await this.#commit(id, head);
        this.#acknowledge(id, head, duplicate ? 'DUPLICATE' : 'COMMITTED', rowId, id);
      } catch (error) {
        if (error instanceof WriteRefused ? !(await this.#recover(id, head, error)) : this.#stumble(id, head, error)) return;
      }
    }
  }

  /** Why nothing newer may be written yet: older messages in the spool that can't be written either. Null: nothing is in the way. */
  async #obstacle(id: string): Promise<WriteRefused | null> {
    try {
      await this.#look(id);
      return await this.#drainSpool(id);
    } catch (error) {
      if (error instanceof WriteRefused) return error;
      throw error;
    }
  }

  #stop(id: string, error: WriteRefused): void {
    if (QUARANTINED.has(error.code)) this.#divert(id, error);
    else this.#fail(id, error);
  }

  /**
   * A defect of ours, or a store with parts that nobody foresaw. Who sent the message hears of it; it counts as a failure like any other, so that
   * it is kept in the spool in the end and does not hold up what follows for ever.
   */
  #stumble(id: string, head: Entry, error: unknown): true {
    settle(head, { error });
    this.#fail(
      id,
      new WriteRefused('INDETERMINATE', 'An older message of this session fails for a reason that nobody foresaw.', { cause: error }),
    );
    return true;
  }

  #commit(sessionId: string, entry: Entry): Promise<AppendedMessage> {
    const mayBeKnown = entry.wasTried || !entry.isMinted;
    entry.wasTried = true;
    return this.#options.store.commit({ sessionId, message: entry.message, lease: entry.lease, mayBeKnown }, entry.beforeCommit);
  }

  /** True: go on with the next head. */
  async #recover(id: string, head: Entry, error: WriteRefused): Promise<boolean> {
    if (error.code === 'SESSION_CLOSED') return this.#reroute(id, head);
    if (error.code === 'SESSION_ROW_MISSING' && this.#sendBack(id)) return true;
    if (HOPELESS.has(error.code)) return this.#refuse(id, head, error);
    if (error.code === 'FTS_INDEX_DAMAGED' && (await this.#mayRebuild())) return true;
    this.#stop(id, error);
    return false;
  }

  /**
   * The continuation to which others were led is gone: what was meant for them goes back there, and finds its way anew. False: nobody was led
   * here.
   */
  #sendBack(id: string): boolean {
    const led = [...this.#reroutes.keys()].filter((source) => this.#follow(source) === id);
    const queue = this.#queues.get(id) ?? [];
    const strays = queue.filter(({ sessionId }) => led.includes(sessionId));
    for (const source of led) this.#reroutes.delete(source);
    if (strays.length === 0) return false;
    this.#queues.set(
      id,
      queue.filter((entry) => !strays.includes(entry)),
    );
    this.#clear(id);
    for (const entry of strays) this.#queues.set(entry.sessionId, [...(this.#queues.get(entry.sessionId) ?? []), entry]);
    for (const sessionId of new Set(strays.map((entry) => entry.sessionId))) {
      if (this.#spooled.has(id)) this.#spooled.add(sessionId);
      void this.#drain(sessionId);
    }
    return true;
  }

  /** A9. */
  async #reroute(id: string, head: Entry): Promise<boolean> {
    const { store, onEvent } = this.#options;
    let tip: string | null;
    try {
      tip = await store.openTip(id);
      // Reopened meanwhile.
      if (tip === id) return true;
      if (tip !== null) {
        const { rowId, duplicate } = await this.#commit(tip, head);
        this.#acknowledge(id, head, duplicate ? 'DUPLICATE' : 'COMMITTED', rowId, tip);
      }
    } catch (error) {
      if (!(error instanceof WriteRefused)) throw error;
      // The continuation was closed meanwhile, or it fails as the store does: the message stays where it is.
      this.#stop(id, error);
      return false;
    }
    if (tip === null) return this.#refuse(id, head, new WriteRefused('NO_LIVE_CONTINUATION'));
    // Only now: a message for the continuation could otherwise overtake what waits here (O3).
    this.#reroutes.set(id, tip);
    const backlog = this.#queues.get(id) ?? [];
    const ahead = this.#queues.get(tip) ?? [];
    this.#queues.delete(id);
    if (backlog.length + ahead.length > 0) this.#queues.set(tip, [...backlog, ...ahead]);
    this.#failures.set(tip, Math.max(this.#failures.get(id) ?? 0, this.#failures.get(tip) ?? 0));
    this.#failures.delete(id);
    this.#problems.delete(id);
    if (this.#spooled.delete(id)) this.#spooled.add(tip);
    onEvent({ code: 'REROUTED', sessionId: id, count: backlog.length, reason: null });
    await this.#work(tip);
    return false;
  }

  /** Takes the head out and says why; where nobody hears it, or it can't go anywhere, it is kept as a dead letter first (Z2). */
  #refuse(id: string, head: Entry, error: WriteRefused): boolean {
    const { spool, onEvent } = this.#options;
    if (head.waiting.length === 0 || error.code === 'NO_LIVE_CONTINUATION') {
      try {
        spool.writeDeadLetter(id, head.message);
        onEvent({ code: 'DEAD_LETTER', sessionId: id, count: 1, reason: error.code });
      } catch (failure) {
        if (!(failure instanceof SpoolUnwritable)) throw failure;
        this.#fail(id, error);
        return false;
      }
    }
    this.#remove(id, head);
    settle(head, { error });
    return true;
  }

  /** A8. */
  #divert(id: string, error: WriteRefused): void {
    const { spool, onEvent } = this.#options;
    const queue = this.#queues.get(id) ?? [];
    const entries = [...queue];
    const diverted = divertBacklog(spool, id, queue, ({ message }) => message);
    const kept = new Set(queue);
    // In the divert file is safe enough to answer; in neither file it stays in memory.
    const isSafe = (entry: Entry) => !kept.has(entry) || diverted.divertFailed === null;
    this.#failures.delete(id);
    this.#problems.set(id, error);
    // Never tried again by this process.
    this.#spooled.delete(id);
    if (queue.length === 0) this.#queues.delete(id);
    for (const entry of entries) {
      if (isSafe(entry)) this.#answerKept(id, entry, 'DIVERTED');
      else this.#answer(id, entry, 'QUEUED', null, id);
    }
    if (entries.length === 0) return;
    onEvent({ code: 'DIVERTED', sessionId: id, count: entries.length, reason: error.code });
  }

  /** A11, A12. */
  #fail(id: string, error: WriteRefused): void {
    const { spool, onEvent } = this.#options;
    const queue = this.#queues.get(id) ?? [];
    const failures = (this.#failures.get(id) ?? 0) + 1;
    this.#failures.set(id, failures);
    this.#problems.set(id, error);
    const entries = [...queue];
    if (failures >= STALLED_AFTER && queue.length > 0) {
      const { written } = moveToSpool(spool, id, queue, ({ message }) => message);
      if (written.length > 0) {
        this.#spooled.add(id);
        onEvent({ code: 'STALLED', sessionId: id, count: written.length, reason: error.code });
      }
    }
    if (queue.length === 0) this.#queues.delete(id);
    for (const entry of entries) {
      if (queue.includes(entry)) this.#answer(id, entry, 'QUEUED', null, id);
      else this.#answerKept(id, entry, 'QUEUED');
    }
  }

  async #mayRebuild(): Promise<boolean> {
    const now = this.#options.now();
    if (this.#lastRebuild !== null && now - this.#lastRebuild < REBUILD_INTERVAL_SECONDS) return false;
    // What was skipped because others have the store open doesn't use the attempt up (A13).
    if ((await this.#options.store.rebuildIndex()) === 'SKIPPED') return false;
    this.#lastRebuild = now;
    return true;
  }

  /** What this process doesn't know of yet: files of this conversation that an earlier one left. */
  async #look(id: string): Promise<void> {
    if (this.#looked.has(id)) return;
    const waiting = new Set(
      this.#options.spool
        .list(['PENDING', 'CLAIMED'])
        .entries.flatMap(({ sessionId, reason }) => (sessionId !== null && reason === 'transcript_cap_drop' ? [sessionId] : [])),
    );
    const related = waiting.size === 0 ? [] : [id, ...(await this.#options.store.ancestors(id))];
    if (related.some((sessionId) => waiting.has(sessionId))) this.#spooled.add(id);
    this.#looked.add(id);
  }

  /** A5. Null: nothing older is in the way. */
  async #drainSpool(id: string): Promise<WriteRefused | null> {
    if (!this.#spooled.has(id)) return null;
    const { store, spool, onEvent } = this.#options;
    const result: DrainResult = await drainSession(
      spool,
      id,
      {
        resolveTarget: (sessionId) => store.openTip(sessionId),
        append: async (sessionId, message) => {
          const { rowId, duplicate } = await store.commit({ sessionId, message, lease: null, mayBeKnown: true });
          return { messageId: rowId, duplicate };
        },
      },
      { ancestors: await store.ancestors(id) },
    );
    if (result.remaining === 0) this.#spooled.delete(id);
    const stop = result.stoppedBy;
    if (stop === null) return null;
    onEvent({ code: 'SPOOL_STOPPED', sessionId: id, count: result.remaining, reason: stop.code });
    // A file that can't be used, or that somebody else replays, doesn't hold up the conversation; a store that fails does.
    return stop.cause instanceof WriteRefused && !OF_THE_FILE.has(stop.cause.code) ? stop.cause : null;
  }

  #acknowledge(id: string, head: Entry, status: AppendStatus, rowId: string, effective: string): void {
    this.#remove(id, head);
    if ((this.#queues.get(id)?.length ?? 0) === 0) this.#clear(id);
    this.#answerKept(id, head, status, rowId, effective);
  }

  /** For a message that the store or a file has. */
  #answerKept(id: string, entry: Entry, status: AppendStatus, rowId: string | null = null, effective = id): void {
    entry.onKept?.(this.#outcome(id, entry, status, rowId, effective));
    this.#answer(id, entry, status, rowId, effective);
  }

  #answer(id: string, entry: Entry, status: AppendStatus, rowId: string | null, effective: string): void {
    settle(entry, { outcome: this.#outcome(id, entry, status, rowId, effective) });
  }

  #outcome(id: string, entry: Entry, status: AppendStatus, rowId: string | null, effective: string): AppendOutcome {
    const problem = status === 'COMMITTED' || status === 'DUPLICATE' ? null : (this.#problems.get(id) ?? null);
    return {
      status,
      messageUid: entry.uid,
      rowId,
      sessionId: effective,
      queueDepth: this.#queues.get(id)?.length ?? 0,
      failureCount: this.#failures.get(id) ?? 0,
      problem: problem === null ? null : { code: problem.code, message: problem.message },
    };
  }

  #remove(id: string, entry: Entry): void {
    const queue = this.#queues.get(id);
    if (queue?.[0] === entry) queue.shift();
  }

  #clear(id: string): void {
    if (this.#queues.get(id)?.length === 0) this.#queues.delete(id);
    if (this.#queues.has(id)) return;
    this.#failures.delete(id);
    this.#problems.delete(id);
  }
}

function settle(entry: Entry, settlement: Settlement): void {
  for (const resolve of entry.waiting.splice(0)) resolve(settlement);
}
