/**
 * One followed conversation, shared by everybody who follows it (`spec/live-turns.md` 16): what watches its files, its log, and the groups
 * of its subscribers.
 */
import type { SidecarWatch } from '../../web-ui/sidecar-watch.ts';
import { RunDirectory } from '../journal/run-directory.ts';
import { coalesce } from './coalesce.ts';
import { Conversation, type ConversationIds, type Due } from './conversation.ts';
import type { LiveEvent, LiveEventOf, ResetReason, ResetScope } from './events.ts';
import { FrameGroup, type FrameSource, frameOf, type LiveFrame, type Replayed, type Start } from './frame-group.ts';
import { ConversationLog } from './log.ts';
import { chosen, DEFAULT_OPTIONS, type LiveOptions } from './options.ts';
import { encodeLiveCursor, isAsFar, isSamePosition, type LiveCursor, type LivePosition } from './position.ts';
import type { ConversationSources } from './sources.ts';
import { StatePace } from './state-pace.ts';

export interface HubSources extends ConversationSources {
  readonly sidecarWatch: SidecarWatch;
}

/** More than this is not replayed, but told by a snapshot (14.3; live-protocol 3.3). */
const MOST_REPLAYED_EVENTS = 2000;
const MOST_REPLAYED_BYTES = 1024 * 1024;
/** How often two readings are compared before the one is given up for a snapshot: they differ only when something is written in between. */
const MOST_TRIES = 20;

export class ConversationHub {
  readonly log = new ConversationLog();
  readonly #sources: HubSources;
  readonly #conversation: Conversation;
  readonly #groups = new Map<string, FrameGroup>();
  readonly #directories = new Map<string, { readonly directory: RunDirectory; readonly stopSidecar: () => void }>();
  readonly #followedRuns = new Map<string, () => void>();
  readonly #pace = new StatePace();
  #paceTimer: NodeJS.Timeout | null = null;
  #turn: Promise<unknown> = Promise.resolve();
  #scheduled = false;
  #closed = false;
  /** Subscribers and others that need the hub, and since when there are none any more (steady clock). */
  #users = 0;
  #idleSince: number | null = null;

  private constructor(sources: HubSources, conversation: Conversation) {
    this.#sources = sources;
    this.#conversation = conversation;
  }

  /** At the present. Throws `StoreUnreadable`. */
  static async start(sources: HubSources, ids: ConversationIds): Promise<ConversationHub> {
    let hub: ConversationHub | null = null;
    const conversation = await Conversation.start(sources, ids, () => hub?.schedule());
    hub = new ConversationHub(sources, conversation);
    hub.log.push([], conversation.position);
    try {
      await hub.#watch();
    } catch (error) {
      hub.close();
      throw error;
    }
    return hub;
  }

  get segmentIds(): readonly string[] {
    return this.#conversation.segmentIds;
  }

  get tipId(): string {
    return this.#conversation.tipId;
  }

  get childIds(): readonly string[] {
    return this.#conversation.childIds;
  }

  get isActive(): boolean {
    return this.#conversation.isActive;
  }

  get owesLook(): boolean {
    return this.#conversation.owesLook;
  }

  get subscribers(): number {
    return [...this.#groups.values()].reduce((sum, group) => sum + group.size, 0);
  }

  /** Watches of directories that are open for it. */
  get watches(): number {
    return this.#directories.size;
  }

  get journals() {
    return this.#conversation.journals;
  }

  /** Milliseconds without anybody who needs it; 0 while there is somebody. */
  get idleMs(): number {
    return this.#idleSince === null ? 0 : performance.now() - this.#idleSince;
  }

  /** Keeps the hub until the returned function is called. */
  use(): () => void {
    this.#users++;
    this.#idleSince = null;
    let released = false;
    return () => {
      if (released) return;
      released = true;
      if (--this.#users === 0) this.#idleSince = performance.now();
    };
  }

  /** What may have changed is read soon. */
  mark(...what: Due[]): void {
    this.#conversation.mark(...what);
    this.schedule();
  }

  schedule(): void {
    if (this.#scheduled || this.#closed) return;
    this.#scheduled = true;
    void this.#alone(async () => {
      this.#scheduled = false;
      await this.#pump();
    }).catch((error: unknown) => {
      // What was under way when everything was closed has nobody to tell.
      if (!this.#closed) this.#sources.onError(error);
    });
  }

  /** Frames from now on, or from a cursor on. Throws `StoreUnreadable`. */
  async follow(
    options: LiveOptions,
    sessionId: string,
    after: LiveCursor | null,
    signal: AbortSignal,
  ): Promise<AsyncIterableIterator<LiveFrame>> {
    const release = this.use();
    try {
      return await this.#alone(async () => {
        const start = after === null ? await this.#present() : await this.#resume(after);
        const group = this.#groupOf(options, sessionId);
        const events = coalesce(chosen(start.events, options, this.#facts(sessionId)));
        return group.join({ ...start, events }, signal, release);
      });
    } catch (error) {
      release();
      throw error;
    }
  }

  /** What would be told first to a new subscriber. */
  async snapshot(): Promise<LiveEventOf<'LiveSnapshot'>> {
    return this.#alone(async () => {
      await this.#catchUp();
      const event = this.#conversation.snapshotEvent('INITIAL', true);
      return { ...event, cursor: this.#cursorAt(this.#conversation.position, this.log.end) };
    });
  }

  /** One frame of what came after a cursor; `most`: events, about, since a telling is taken as a whole. */
  async eventsAfter(after: LiveCursor, sessionId: string, most: number): Promise<LiveFrame> {
    return this.#alone(async () => {
      await this.#catchUp();
      const start = await this.#resume(after);
      const events = [...start.events];
      let { index, position } = start;
      while (index < this.log.end && events.length < most) {
        const batch = this.log.range(index, index + 1)[0];
        if (batch === undefined) break;
        events.push(...batch.events);
        position = batch.position;
        index++;
      }
      const told = coalesce(chosen(events, DEFAULT_OPTIONS, this.#facts(sessionId)));
      const catchUp = index < this.log.end || this.#conversation.isDue;
      return frameOf(told, this.#cursorAt(position, index), catchUp, this.#sources.now());
    });
  }

  /** Once a second: what time alone brings, and what no event told. */
  tick(): void {
    this.log.trim();
    // What failed the last time is tried again.
    if (this.#conversation.isDue) this.schedule();
    for (const group of this.#groups.values()) group.tick();
  }

  close(): void {
    this.#closed = true;
    if (this.#paceTimer !== null) clearTimeout(this.#paceTimer);
    for (const group of this.#groups.values()) group.close();
    for (const { directory, stopSidecar } of this.#directories.values()) {
      directory.close();
      stopSidecar();
    }
    this.#directories.clear();
    for (const release of this.#followedRuns.values()) release();
    this.#followedRuns.clear();
    this.#conversation.close();
  }

  /** One after another: tellings, and whoever needs that none comes in between. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#turn.then(work);
    this.#turn = next.catch(() => undefined);
    return next;
  }

  async #pump(): Promise<void> {
    if (this.#closed) return;
    const before = this.#conversation.position;
    const events = this.#pace.take(await this.#conversation.pump(), performance.now());
    const { position } = this.#conversation;
    if (events.length > 0 || !isSamePosition(before, position)) this.#log(events, position);
    await this.#watch();
    if (this.#conversation.isDue) this.schedule();
  }

  #log(events: readonly LiveEvent[], position: LivePosition): void {
    if (this.#closed) return;
    this.log.push(events, position);
    for (const group of this.#groups.values()) group.onBatch();
    const { dueAt } = this.#pace;
    if (dueAt === null || this.#paceTimer !== null) return;
    // States that were held back come in the log when their time has come: so everybody gets them, whenever he looks.
    this.#paceTimer = setTimeout(
      () => {
        this.#paceTimer = null;
        this.#log(this.#pace.take([], performance.now()), this.#conversation.position);
      },
      Math.max(0, dueAt - performance.now()),
    );
  }

  /** Tells everything that is there. */
  async #catchUp(): Promise<void> {
    this.#conversation.mark('rows', 'sidecars', 'runs');
    for (let tries = 0; tries < MOST_TRIES && this.#conversation.isDue; tries++) await this.#pump();
  }

  /** What the hub has come to know; news that are on their way are told behind it (live-protocol 3.1). */
  async #present(): Promise<Start> {
    return { index: this.log.end, position: this.#conversation.position, events: [this.#conversation.snapshotEvent('INITIAL')] };
  }

  async #resume({ position, mark }: LiveCursor): Promise<Start> {
    if (mark !== null && mark.log === this.log.id && this.log.has(mark.index)) return { index: mark.index, position, events: [] };
    return this.#replay(position);
  }

  /** What came after a position, read again from the sources and brought to where this conversation is (live-protocol 3.2, 3.3). */
  async #replay(from: LivePosition): Promise<Replayed> {
    for (const mark of from.runs) await this.#conversation.adopt(mark);
    this.#conversation.mark('life');
    await this.#catchUp();
    const { conversationId } = this.#conversation.ids;
    const events: LiveEvent[] = [];
    const other = await Conversation.resume(this.#sources, { conversationId, sessionId: from.rows.segmentId ?? this.tipId }, from);
    try {
      if (other.reset !== null) return this.#resetTo(other.reset, 'TRANSCRIPT');
      events.push(...(await other.conversation.pump(other.missed)));
      for (let tries = 0; tries < MOST_TRIES && !isTooMuch(events); tries++) {
        if (!other.conversation.isDue) {
          const { position } = this.#conversation;
          if (isAsFar(other.conversation.position, position)) return { events, index: this.log.end, position };
          other.conversation.mark('rows', 'sidecars', 'runs');
          await this.#catchUp();
        }
        events.push(...(await other.conversation.pump()));
      }
    } finally {
      other.conversation.close();
    }
    const reset = events.find((event) => event.kind === 'StreamReset');
    if (reset !== undefined) return this.#resetTo(reset.reason, reset.scope);
    return { events: [this.#conversation.snapshotEvent('CATCH_UP')], index: this.log.end, position: this.#conversation.position };
  }

  #resetTo(reason: ResetReason, scope: ResetScope): Replayed {
    const events = this.#conversation.resetEvents(reason, reason === 'DB_REPLACED' ? 'ALL' : scope);
    return { events, index: this.log.end, position: this.#conversation.position };
  }

  #groupOf(options: LiveOptions, sessionId: string): FrameGroup {
    const key = JSON.stringify([options, options.followContinuations ? null : sessionId]);
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const group = new FrameGroup(this.#frameSource(sessionId), options, () => this.#groups.delete(key));
    this.#groups.set(key, group);
    return group;
  }

  #frameSource(sessionId: string): FrameSource {
    const facts = () => this.#facts(sessionId);
    return {
      log: this.log,
      get facts() {
        return facts();
      },
      now: this.#sources.now,
      cursorAt: (position, index) => this.#cursorAt(position, index),
      replay: (position) =>
        this.#alone(() => this.#replay(position)).catch((error: unknown) => {
          this.#sources.onError(error);
          return null;
        }),
      isDue: () => this.#conversation.isDue,
    };
  }

  #facts(sessionId: string) {
    const { segmentIds } = this.#conversation;
    return { segmentIds, sessionId, segmentText: this.#conversation.segmentText };
  }

  #cursorAt(position: LivePosition, index: number): string {
    const { profile } = this.#sources.store;
    return encodeLiveCursor({ profile, issuedAt: this.#sources.now(), position, mark: { log: this.log.id, index } });
  }

  /** Watches what the conversation has come to be; leaves what it has left. */
  async #watch(): Promise<void> {
    if (this.#closed) return;
    const wanted = new Set(this.#conversation.watchedIds);
    for (const [id, { directory, stopSidecar }] of this.#directories) {
      if (wanted.has(id)) continue;
      directory.close();
      stopSidecar();
      this.#directories.delete(id);
    }
    for (const id of wanted) if (!this.#closed && !this.#directories.has(id)) await this.#watchSession(id);
    if (!this.#closed) this.#followRuns();
  }

  async #watchSession(sessionId: string): Promise<void> {
    const directory = new RunDirectory({
      root: this.#sources.journalRoot,
      sessionId,
      onChange: ({ kind, runId }) => {
        if (kind === 'ADDED') this.mark('runs');
        this.#conversation.poke(runId);
      },
    });
    const stopSidecar = this.#sources.sidecarWatch.follow(sessionId, () => this.mark('sidecars', 'life'));
    this.#directories.set(sessionId, { directory, stopSidecar });
    await directory.start();
  }

  /** The sweep looks at the journals of runs that go on. */
  #followRuns(): void {
    const open = new Map(this.#conversation.openRuns.map(({ runId, sessionId }) => [`${sessionId} ${runId}`, { runId, sessionId }]));
    for (const [key, release] of this.#followedRuns) {
      if (open.has(key)) continue;
      release();
      this.#followedRuns.delete(key);
    }
    for (const [key, { runId, sessionId }] of open) {
      const directory = this.#directories.get(sessionId)?.directory;
      if (directory !== undefined && !this.#followedRuns.has(key)) this.#followedRuns.set(key, directory.follow(runId));
    }
  }
}

function isTooMuch(events: readonly LiveEvent[]): boolean {
  const bytes = events.reduce((sum, event) => sum + ('text' in event && typeof event.text === 'string' ? event.text.length : 0), 0);
  if (bytes > MOST_REPLAYED_BYTES) return true;
  return events.length > MOST_REPLAYED_EVENTS && coalesce(events).length > MOST_REPLAYED_EVENTS;
}
