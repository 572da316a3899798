/**
 * Conversations that are followed, one hub each, however many follow it (`spec/live-turns.md` 12, 16): the way from a session of a store to
 * the frames of its conversation.
 */

import { ROOT_PROFILE } from '../profiles.ts';
import type { CacheStats } from '../recently-used.ts';
import type { SessionStore, SessionsEvent } from '../session-store.ts';
import { readSidecarTail } from '../web-ui/sidecar-head.ts';
import { SidecarHeads } from '../web-ui/sidecar-heads.ts';
import { SidecarWatch } from '../web-ui/sidecar-watch.ts';
import type { ConversationIds } from './conversation/conversation.ts';
import type { LiveEventOf } from './conversation/events.ts';
import type { LiveFrame } from './conversation/frame-group.ts';
import { ConversationHub, type HubSources } from './conversation/hub.ts';
import type { LiveOptions } from './conversation/options.ts';
import { decodeLiveCursor, foreignCursor, type LiveCursor } from './conversation/position.ts';
import { runJournalRoot, turnJournalRoot } from './journal/ids.ts';
import { processLife } from './liveness/process-life.ts';
import { TurnEvidenceReader } from './liveness/turn-evidence.ts';
import type { StoreWatches } from './store-watches.ts';

export interface LiveTurnsOptions {
  readonly watches: StoreWatches;
  /** Default: one of its own. */
  readonly sidecarWatch?: SidecarWatch;
  /** The Web UI's folder `sessions`, shared by all profiles. */
  readonly sessionsDir: string;
  /** Epoch seconds. */
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
  /** A hub that nobody needs is kept so long, in milliseconds. */
  readonly lingerMs?: number;
  /** How often it is looked at what time alone brings, in milliseconds. */
  readonly tickMs?: number;
}

export interface LiveTurnsStatus {
  /** That are followed, or were a moment ago; and those in which something goes on. */
  readonly conversations: number;
  readonly active: number;
  readonly subscribers: number;
  readonly logBytes: number;
  readonly sidecars: 'WATCH' | 'POLL';
  readonly stores: readonly { readonly profile: string; readonly users: number; readonly mode: 'WATCH' | 'POLL' }[];
  /** Journals that are followed now. */
  readonly journals: {
    readonly files: number;
    readonly bytesRead: number;
    readonly malformed: number;
    readonly duplicates: number;
    readonly generations: number;
    readonly holes: number;
  };
}

const LINGER_MS = 30_000;
const TICK_MS = 1000;
/** Conversations in which nothing goes on that are looked at in one tick, when the store was written to. */
const QUIET_AT_A_TIME = 100;

interface Followed {
  readonly store: SessionStore;
  readonly hubs: Map<string, ConversationHub>;
  readonly release: () => void;
  readonly stopListening: () => void;
  stamp: string | null;
  /** Hubs that have still to be looked at since the store was written to. */
  readonly stale: Set<ConversationHub>;
}

export class LiveTurns {
  readonly #options: LiveTurnsOptions;
  readonly #sidecarWatch: SidecarWatch;
  readonly #heads: SidecarHeads;
  readonly #evidence: TurnEvidenceReader;
  readonly #stores = new Map<SessionStore, Followed>();
  readonly #starting = new Map<string, Promise<ConversationHub>>();
  #timer: NodeJS.Timeout | null = null;

  constructor(options: LiveTurnsOptions) {
    this.#options = options;
    this.#sidecarWatch = options.sidecarWatch ?? new SidecarWatch({ sessionsDir: options.sessionsDir });
    this.#heads = new SidecarHeads(options.sessionsDir);
    this.#evidence = new TurnEvidenceReader(turnJournalRoot(options.sessionsDir));
  }

  get hubs(): readonly ConversationHub[] {
    return [...this.#stores.values()].flatMap(({ hubs }) => [...hubs.values()]);
  }

  /** Subscriptions that are open now. */
  get subscribers(): number {
    return this.hubs.reduce((total, hub) => total + hub.subscribers, 0);
  }

  /** How following goes, over all conversations. */
  get status(): LiveTurnsStatus {
    const hubs = this.hubs;
    const journals = hubs.flatMap((hub) => hub.journals);
    const sum = (of: (journal: (typeof journals)[number]) => number) => journals.reduce((total, journal) => total + of(journal), 0);
    return {
      conversations: hubs.length,
      active: hubs.filter(({ isActive }) => isActive).length,
      subscribers: this.subscribers,
      logBytes: hubs.reduce((total, hub) => total + hub.log.bytes, 0),
      sidecars: this.#sidecarWatch.mode,
      stores: this.#options.watches.all.map(({ store, watcher }) => ({ profile: store.profile, users: watcher.users, mode: watcher.mode })),
      journals: {
        files: journals.length,
        bytesRead: sum(({ bytesRead }) => bytesRead),
        malformed: sum(({ malformed }) => malformed),
        duplicates: sum(({ duplicates }) => duplicates),
        generations: sum(({ generations }) => generations),
        holes: sum(({ holes }) => holes),
      },
    };
  }

  get caches(): { readonly heads: CacheStats; readonly turns: CacheStats } {
    return { heads: this.#heads.cache, turns: this.#evidence.cache };
  }

  /** Watches of folders that are open now; for tests that nothing leaks. */
  get watches(): number {
    return this.#sidecarWatch.watches + this.hubs.reduce((sum, hub) => sum + hub.watches, 0);
  }

  /**
   * Frames of a conversation, named by any of its sessions; one that isn't there yet is waited for. Throws `InvalidInput` with
   * CURSOR_INVALID or CURSOR_FOREIGN, `StoreUnreadable` when the store can't be read at the start.
   */
  async follow(
    store: SessionStore,
    sessionId: string,
    after: string | null,
    options: LiveOptions,
    signal: AbortSignal,
  ): Promise<AsyncIterableIterator<LiveFrame>> {
    const cursor = after === null ? null : decodeLiveCursor(after, store.profile);
    return this.#withHub(store, sessionId, cursor, (hub, own) => hub.follow(options, sessionId, own, signal));
  }

  /** What a subscriber would hold now. Throws as `follow`. */
  async snapshot(store: SessionStore, sessionId: string): Promise<LiveEventOf<'LiveSnapshot'>> {
    return this.#withHub(store, sessionId, null, (hub) => hub.snapshot());
  }

  /** One frame of what came after a cursor, of `most` events or some more. Throws as `follow`. */
  async eventsAfter(store: SessionStore, sessionId: string, after: string, most: number): Promise<LiveFrame> {
    const cursor = decodeLiveCursor(after, store.profile);
    return this.#withHub(store, sessionId, cursor, (hub, own) => hub.eventsAfter(own ?? cursor, sessionId, most));
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    for (const followed of this.#stores.values()) {
      for (const hub of followed.hubs.values()) hub.close();
      followed.release();
      followed.stopListening();
    }
    this.#stores.clear();
  }

  async #withHub<T>(
    store: SessionStore,
    sessionId: string,
    cursor: LiveCursor | null,
    work: (hub: ConversationHub, own: LiveCursor | null) => Promise<T>,
  ): Promise<T> {
    const ids = await this.#idsOf(store, sessionId);
    const own = cursor === null ? null : ownCursor(cursor, ids);
    const hub = await this.#hub(store, ids);
    const release = hub.use();
    try {
      return await work(hub, own);
    } finally {
      release();
    }
  }

  async #idsOf(store: SessionStore, sessionId: string): Promise<ConversationIds & { segmentIds: readonly string[]; tipId: string }> {
    const conversation = (await store.conversations([sessionId])).get(sessionId);
    if (conversation === undefined) return { conversationId: sessionId, sessionId, segmentIds: [sessionId], tipId: sessionId };
    const segmentIds = conversation.segments.map(({ id }) => id);
    return { conversationId: conversation.root.id, sessionId, segmentIds, tipId: segmentIds.at(-1) ?? sessionId };
  }

  /** The hub of a conversation's live end: all ancestors share it. */
  async #hub(store: SessionStore, ids: ConversationIds & { readonly tipId: string }): Promise<ConversationHub> {
    const followed = this.#followed(store);
    for (const hub of followed.hubs.values()) if (hub.tipId === ids.tipId) return hub;
    const key = JSON.stringify([store.profile, ids.tipId]);
    const starting = this.#starting.get(key);
    if (starting !== undefined) return starting;
    const made = ConversationHub.start(this.#sources(store), { conversationId: ids.conversationId, sessionId: ids.tipId })
      .then((hub) => {
        followed.hubs.set(key, hub);
        return hub;
      })
      .finally(() => {
        this.#starting.delete(key);
        this.#leaveUnused();
      });
    this.#starting.set(key, made);
    return made;
  }

  #sources(store: SessionStore): HubSources {
    const { sessionsDir, now, onError } = this.#options;
    return {
      store,
      journalRoot: runJournalRoot(sessionsDir),
      sidecarWatch: this.#sidecarWatch,
      head: async (sessionId) => {
        const head = await this.#heads.get(sessionId);
        return head === null || (head.profile ?? ROOT_PROFILE) === store.profile ? head : 'FOREIGN';
      },
      tail: (sessionId) => readSidecarTail(sessionsDir, sessionId),
      turnEvidence: (sessionIds, runId) => this.#evidence.read(sessionIds, runId),
      processLife,
      now,
      onError,
    };
  }

  #followed(store: SessionStore): Followed {
    const known = this.#stores.get(store);
    if (known !== undefined) return known;
    const followed: Followed = {
      store,
      hubs: new Map(),
      release: this.#options.watches.of(store).use(),
      stopListening: store.onSessions((event) => this.#onSessions(followed, event)),
      stamp: null,
      stale: new Set(),
    };
    this.#stores.set(store, followed);
    this.#timer ??= setInterval(() => void this.#tick().catch(this.#options.onError), this.#options.tickMs ?? TICK_MS);
    this.#timer.unref();
    return followed;
  }

  /** A conversation hears at once of what concerns one of its sessions, or a session that came from one of them. */
  #onSessions({ hubs }: Followed, event: SessionsEvent): void {
    if (event.kind === 'RESET') {
      for (const hub of hubs.values()) hub.mark('rows', 'sidecars', 'life');
      return;
    }
    const touched = new Set(event.changes.flatMap(({ before, after }) => [before?.id, after?.id, after?.parentId]));
    for (const hub of hubs.values()) {
      if (hub.segmentIds.some((id) => touched.has(id)) || hub.childIds.some((id) => touched.has(id))) hub.mark('rows');
    }
  }

  /**
   * Once a second: conversations in which something goes on are looked at for what time brings; the others when the store was written to,
   * for what no session's row tells.
   */
  async #tick(): Promise<void> {
    for (const followed of this.#stores.values()) {
      const stamp = await followed.store.commitStamp().catch(() => null);
      const hubs = [...followed.hubs.values()];
      for (const hub of hubs) if (stamp !== followed.stamp || hub.owesLook) followed.stale.add(hub);
      followed.stamp = stamp;
      let quiet = 0;
      for (const hub of hubs) {
        hub.tick();
        if (hub.isActive) hub.mark('rows', 'sidecars', 'runs', 'life');
        else if (followed.stale.has(hub) && quiet++ < QUIET_AT_A_TIME) hub.mark('rows');
        else continue;
        followed.stale.delete(hub);
      }
    }
    this.#leaveUnused();
  }

  #leaveUnused(): void {
    const linger = this.#options.lingerMs ?? LINGER_MS;
    for (const [store, followed] of this.#stores) {
      for (const [key, hub] of followed.hubs) {
        if (hub.idleMs <= linger) continue;
        hub.close();
        followed.hubs.delete(key);
        followed.stale.delete(hub);
      }
      if (followed.hubs.size > 0 || this.#starting.size > 0) continue;
      followed.release();
      followed.stopListening();
      this.#stores.delete(store);
    }
    if (this.#stores.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}

/** The cursor as far as it is of the conversation. Throws CURSOR_FOREIGN for one of another. */
function ownCursor(
  cursor: LiveCursor,
  { conversationId, segmentIds, sessionId }: ConversationIds & { readonly segmentIds: readonly string[] },
): LiveCursor {
  const { position } = cursor;
  const own = position.rows.segmentId;
  const isOwn =
    position.conversationId === conversationId || position.conversationId === sessionId || (own !== null && segmentIds.includes(own));
  if (!isOwn) throw foreignCursor();
  // Anybody can make a cursor: it opens no journals but those of its conversation.
  const ids = new Set([...segmentIds, conversationId, sessionId]);
  return { ...cursor, position: { ...position, runs: position.runs.filter((run) => ids.has(run.sessionId)) } };
}
