/**
 * Changes of many sessions at state level: one watcher a store feeds any number of subscribers; each holds only which sessions changed
 * since it last looked, and the newest state of each (`spec/live-turns.md` 12, 15, 16; `docs/live-protocol.md` 12).
 */
import { randomUUID } from 'node:crypto';
import { StoreUnreadable } from '../errors.ts';
import type { SessionChange, SessionStore, SessionsEvent, StoredSession } from '../session-store.ts';
import { decodeSessionsCursor, encodeSessionsCursor } from './live-cursor.ts';
import { PushStream } from './push-stream.ts';
import type { StoreWatcher } from './store-watcher.ts';
import { StoreWatches } from './store-watches.ts';
import type { WebUiTurns } from './web-ui-turns.ts';

export type SessionChangeKind = 'STATE' | 'ADDED' | 'ROTATED' | 'UPDATED' | 'MESSAGES' | 'TURN' | 'ENDED' | 'REOPENED' | 'DELETED';

export interface LiveSessionChange {
  readonly profile: string;
  readonly sessionId: string;
  readonly conversationId: string;
  readonly kinds: readonly SessionChangeKind[];
  /** The session that this one continues, where it took over. */
  readonly previousSessionId: string | null;
  readonly session: StoredSession | null;
  readonly deleted: boolean;
}

export interface LiveSessionsFrame {
  readonly cursor: string;
  readonly changes: readonly LiveSessionChange[];
  /** True when everything was sent anew, because the cursor could not be continued. */
  readonly reset: boolean;
}

export interface FollowOptions {
  /** Only these sessions; null follows all. */
  readonly sessionIds: readonly string[] | null;
  readonly after: string | null;
  /** Frames a second at most. */
  readonly maxRateHz: number;
}

/** Changes that a store's ring keeps for subscribers that come back. */
const RING_LENGTH = 4096;
/** A store that could not be read after a reset is tried again after this; the store itself refuses to for a little less. */
const RETRY_MS = 250;

interface Hub {
  readonly store: SessionStore;
  readonly watcher: StoreWatcher;
  readonly subscribers: Set<(change: LiveSessionChange | null) => void>;
  ring: { position: number; change: LiveSessionChange }[];
  position: number;
  stopListening: () => void;
  /** While somebody follows. */
  stopTurns: (() => void) | null;
}

export class SessionFeed {
  readonly #watches: StoreWatches;
  readonly #turns: WebUiTurns | null;
  readonly #boot = randomUUID().slice(0, 8);
  readonly #hubs = new Map<SessionStore, Hub>();
  #streams = 0;

  /** `turns`: null where nothing is known of a Web UI. */
  constructor(watches: StoreWatches = new StoreWatches(), turns: WebUiTurns | null = null) {
    this.#watches = watches;
    this.#turns = turns;
  }

  /** Subscriptions that are open now. */
  get subscribers(): number {
    return this.#streams;
  }

  /** Watches that are open now; for tests that nothing leaks. */
  get watches(): number {
    return [...this.#hubs.values()].filter((hub) => hub.watcher.users > 0).length;
  }

  /**
   * Frames of changes, the first at once: the state of the sessions asked for, or what the cursor missed. Throws `InvalidInput` for a
   * cursor that is none, TOO_MANY_SESSIONS where changes can't be told, `StoreUnreadable` when the store can't be read at the start.
   */
  async follow(store: SessionStore, options: FollowOptions, signal: AbortSignal): Promise<AsyncIterableIterator<LiveSessionsFrame>> {
    const cursor = options.after === null ? null : decodeSessionsCursor(options.after, store.profile);
    const hub = this.#hubOf(store);
    const release = hub.watcher.use();
    const pending = new Map<string, LiveSessionChange>();
    let wanted: Set<string> | null = null;
    let reset = false;
    let generation: string;
    try {
      await store.check();
      await store.ensureFollowable();
      if (options.sessionIds !== null) wanted = await withContinuations(store, options.sessionIds);
      generation = await store.generation();
      const missed = cursor === null ? null : this.#missed(hub, cursor, generation);
      reset = cursor !== null && missed === null;
      const start = missed ?? (wanted !== null || reset ? await this.#states(store, wanted) : []);
      for (const change of start)
        if (isWanted(wanted, change)) pending.set(change.sessionId, merged(pending.get(change.sessionId), change));
    } catch (error) {
      release();
      throw error;
    }
    return this.#stream(hub, { pending, wanted, generation, reset, intervalMs: 1000 / options.maxRateHz, release }, signal);
  }

  /** The store's status now and after every change of its health. */
  followHealth(store: SessionStore, signal: AbortSignal): AsyncIterableIterator<SessionStore> {
    const hub = this.#hubOf(store);
    const release = hub.watcher.use();
    let due = true;
    let stopListening = () => {};
    const stream = new PushStream<SessionStore>(
      () => {
        if (!due) return null;
        due = false;
        return store;
      },
      () => {
        this.#streams--;
        stopListening();
        release();
      },
      signal,
    );
    this.#streams++;
    if (signal.aborted) return stream;
    stopListening = store.onHealth(() => {
      due = true;
      stream.wake();
    });
    return stream;
  }

  close(): void {
    for (const hub of this.#hubs.values()) {
      hub.stopListening();
      hub.stopTurns?.();
    }
    this.#hubs.clear();
  }

  #stream(
    hub: Hub,
    state: {
      pending: Map<string, LiveSessionChange>;
      wanted: Set<string> | null;
      generation: string;
      reset: boolean;
      intervalMs: number;
      release: () => void;
    },
    signal: AbortSignal,
  ): AsyncIterableIterator<LiveSessionsFrame> {
    let first = true;
    let lastFrameAt = Number.NEGATIVE_INFINITY;
    let timer: NodeJS.Timeout | null = null;
    let { generation, reset } = state;
    const take = (): LiveSessionsFrame | null => {
      // No frame goes out before what a reset owes.
      if (anew.owed) return null;
      if (!first && state.pending.size === 0 && !reset) return null;
      const wait = lastFrameAt + state.intervalMs - performance.now();
      if (!first && wait > 0) {
        timer ??= setTimeout(() => {
          timer = null;
          stream.wake();
        }, wait);
        return null;
      }
      first = false;
      lastFrameAt = performance.now();
      const changes = [...state.pending.values()];
      state.pending.clear();
      const cursor = encodeSessionsCursor({ profile: hub.store.profile, generation, boot: this.#boot, position: hub.position });
      const frame = { cursor, changes, reset };
      reset = false;
      return frame;
    };
    const anew = new OwedReading(
      () => {
        // What is read from here on is at least as new; what comes meanwhile is newer, and the cursor counts it.
        state.pending.clear();
        return Promise.all([hub.store.generation(), this.#states(hub.store, state.wanted)]);
      },
      ([fresh, states]) => {
        const meanwhile = [...state.pending.values()];
        state.pending.clear();
        for (const change of [...states, ...meanwhile])
          state.pending.set(change.sessionId, merged(state.pending.get(change.sessionId), change));
        generation = fresh;
        reset = true;
        stream.wake();
      },
      (error) => stream.fail(error),
    );
    const listener = (change: LiveSessionChange | null) => {
      // Another file was opened: everything may be different, so the followed sessions are sent anew.
      if (change === null) return anew.start();
      if (!isWanted(state.wanted, change)) return;
      state.pending.set(change.sessionId, merged(state.pending.get(change.sessionId), change));
      stream.wake();
    };
    const stream = new PushStream(
      take,
      () => {
        this.#streams--;
        if (timer !== null) clearTimeout(timer);
        anew.stop();
        hub.subscribers.delete(listener);
        if (hub.subscribers.size === 0) {
          hub.stopTurns?.();
          hub.stopTurns = null;
        }
        state.release();
      },
      signal,
    );
    this.#streams++;
    if (signal.aborted) return stream;
    hub.subscribers.add(listener);
    hub.stopTurns ??= this.#turns?.listen(hub.store.profile, (sessionId) => void this.#onTurn(hub, sessionId)) ?? null;
    return stream;
  }

  /** Changes after the cursor, or null when this process can't tell them. */
  #missed(hub: Hub, cursor: { generation: string; boot: string; position: number }, generation: string): LiveSessionChange[] | null {
    if (cursor.boot !== this.#boot || cursor.generation !== generation || cursor.position > hub.position) return null;
    const oldest = hub.ring[0]?.position ?? hub.position + 1;
    if (cursor.position + 1 < oldest && cursor.position < hub.position) return null;
    return hub.ring.filter((entry) => entry.position > cursor.position).map((entry) => entry.change);
  }

  async #states(store: SessionStore, ids: ReadonlySet<string> | null): Promise<LiveSessionChange[]> {
    // A session that is followed from now on, as the continuation of another, was not asked for here: it isn't gone.
    const asked = [...(ids ?? [])];
    const sessions = ids === null ? await store.allSessions() : [...(await store.sessions(asked)).values()];
    const present = sessions.map((session) => toChange(store.profile, session, ['STATE'], null));
    const known = new Set(sessions.map((session) => session.id));
    const gone = asked.filter((id) => !known.has(id));
    return [...present, ...gone.map((id) => ({ ...GONE, profile: store.profile, sessionId: id, conversationId: id }))];
  }

  #hubOf(store: SessionStore): Hub {
    const known = this.#hubs.get(store);
    if (known !== undefined) return known;
    const hub: Hub = {
      store,
      watcher: this.#watches.of(store),
      subscribers: new Set(),
      ring: [],
      position: 0,
      stopListening: () => {},
      stopTurns: null,
    };
    hub.stopListening = store.onSessions((event) => this.#onEvent(hub, event));
    this.#hubs.set(store, hub);
    return hub;
  }

  #onEvent(hub: Hub, event: SessionsEvent): void {
    if (event.kind === 'RESET') {
      hub.ring = [];
      hub.position++;
      for (const subscriber of hub.subscribers) subscriber(null);
      return;
    }
    for (const each of event.changes) {
      const change = describe(hub.store.profile, each);
      if (change !== null) this.#tell(hub, change);
    }
  }

  /** A turn of the Web UI began or ended: its sidecar says so before any row does. */
  async #onTurn(hub: Hub, sessionId: string): Promise<void> {
    const session = await hub.store.sessions([sessionId]).then(
      (found) => found.get(sessionId) ?? null,
      // A store that can't be read says nothing of its sessions; its health is told elsewhere.
      () => null,
    );
    if (session !== null) this.#tell(hub, toChange(hub.store.profile, session, ['TURN'], null));
  }

  #tell(hub: Hub, change: LiveSessionChange): void {
    hub.ring.push({ position: ++hub.position, change });
    for (const subscriber of hub.subscribers) subscriber(change);
    if (hub.ring.length > RING_LENGTH) hub.ring = hub.ring.slice(-RING_LENGTH);
  }
}

/** A reading that is owed until it succeeds. Another start, or the end, makes the one under way void. */
class OwedReading<T> {
  readonly #read: () => Promise<T>;
  readonly #onRead: (value: T) => void;
  readonly #onDefect: (error: Error) => void;
  #current: symbol | null = null;
  #retry: NodeJS.Timeout | null = null;

  /** `read` is called again after a while when it throws `StoreUnreadable`; with any other error the reading ends. */
  constructor(read: () => Promise<T>, onRead: (value: T) => void, onDefect: (error: Error) => void) {
    this.#read = read;
    this.#onRead = onRead;
    this.#onDefect = onDefect;
  }

  get owed(): boolean {
    return this.#current !== null;
  }

  start(): void {
    this.stop();
    const own = Symbol();
    this.#current = own;
    this.#read().then(
      (value) => {
        if (this.#current !== own) return;
        this.#current = null;
        this.#onRead(value);
      },
      (error: unknown) => {
        if (this.#current !== own) return;
        if (error instanceof StoreUnreadable) this.#retry = setTimeout(() => this.start(), RETRY_MS).unref();
        else this.#onDefect(error instanceof Error ? error : new Error('The store could not be read.', { cause: error }));
      },
    );
  }

  stop(): void {
    this.#current = null;
    if (this.#retry !== null) clearTimeout(this.#retry);
    this.#retry = null;
  }
}

const GONE = { kinds: ['DELETED'], previousSessionId: null, session: null, deleted: true } as const;

function toChange(
  profile: string,
  session: StoredSession,
  kinds: readonly SessionChangeKind[],
  previousSessionId: string | null,
): LiveSessionChange {
  return { profile, sessionId: session.id, conversationId: session.conversationId, kinds, previousSessionId, session, deleted: false };
}

/** The sessions and those that continue them. */
async function withContinuations(store: SessionStore, ids: readonly string[]): Promise<Set<string>> {
  const wanted = new Set(ids);
  for (const [id, { segments }] of await store.conversations(ids)) {
    const own = segments.findIndex((segment) => segment.id === id);
    for (const segment of segments.slice(own + 1)) wanted.add(segment.id);
  }
  return wanted;
}

/** Null follows all. A session that continues a followed one is followed from then on. */
function isWanted(wanted: Set<string> | null, { sessionId, previousSessionId }: LiveSessionChange): boolean {
  if (wanted === null || wanted.has(sessionId)) return true;
  if (previousSessionId === null || !wanted.has(previousSessionId)) return false;
  wanted.add(sessionId);
  return true;
}

/** Pure: what a change of a session's state means to a list; null for none that it could show. */
export function describe(profile: string, { before, after }: SessionChange): LiveSessionChange | null {
  if (after === null) {
    return { ...GONE, profile, sessionId: before?.id ?? '', conversationId: before?.conversationId ?? '' };
  }
  const previous = after.edgeKind === 'COMPRESSION' ? after.parentId : null;
  if (before === null) return toChange(profile, after, [previous === null ? 'ADDED' : 'ROTATED'], previous);
  const kinds: SessionChangeKind[] = [];
  if (before.endedAt === null && after.endedAt !== null) kinds.push('ENDED');
  if (before.endedAt !== null && after.endedAt === null) kinds.push('REOPENED');
  if (before.stats?.total !== after.stats?.total || before.stats?.live !== after.stats?.live) kinds.push('MESSAGES');
  if (kinds.length === 0) {
    if (JSON.stringify(before) === JSON.stringify(after)) return null;
    kinds.push('UPDATED');
  }
  return toChange(profile, after, kinds, null);
}

/** The newest state, with everything that happened since the last frame. */
function merged(earlier: LiveSessionChange | undefined, later: LiveSessionChange): LiveSessionChange {
  if (earlier === undefined || later.deleted) return later;
  return {
    ...later,
    kinds: [...new Set([...earlier.kinds, ...later.kinds])],
    previousSessionId: later.previousSessionId ?? earlier.previousSessionId,
  };
}
