/**
 * Follows one conversation in a store: a picture at first, then what each pass finds (`spec/live-turns.md` 7.3). It holds no timer and no
 * watch: whoever owns it calls `pass` when the store may have changed, and once a second while somebody watches.
 */
import type { SessionStore } from '../../session-store.ts';
import type { BaselineProbe, PassProbe } from '../../state-db/live-reading.ts';
import type { LiveRow } from '../../state-db/live-rows.ts';
import { appendedEvents, appendedRow } from './appended.ts';
import { type Classified, classify, rowsBack } from './classify.ts';
import { type Delegation, delegatesProbe } from './delegation-state.ts';
import { deletedOffline } from './deletion.ts';
import type { RowEvent } from './events.ts';
import { digestKey, type Picture, pictureOf, positionOf, type RowsPosition, tipOf } from './picture.ts';
import { missedStates } from './session-changes.ts';
import { isTurnStart, type OpenTurn } from './turn-state.ts';

export interface FollowOptions {
  /** Go on in the sessions that continue the conversation; default true. */
  readonly followContinuations?: boolean;
  /** STATE: tell of sub-agents by their sessions and the registry (default). NONE: don't look. */
  readonly delegates?: 'STATE' | 'NONE';
  /** Milliseconds of a steady clock, for the pace of thorough passes. */
  readonly clock?: () => number;
  /** The wall clock in epoch seconds, for what time alone brings. */
  readonly now?: () => number;
}

/** What a pass found, and where the reader stands when he has it. */
export interface Pass {
  readonly events: readonly RowEvent[];
  readonly position: RowsPosition;
  /** There is more to tell now. */
  readonly more: boolean;
  /** Another file is in the place of the store: nothing that was told before holds. */
  readonly replaced: boolean;
}

export type Resumed =
  | ({ readonly kind: 'CONTINUED'; readonly rows: ConversationRows } & Pass)
  | { readonly kind: 'RESET'; readonly reason: 'DB_REPLACED' | 'TRANSCRIPT_REWRITTEN_OFFLINE'; readonly rows: ConversationRows };

/** Between two comparisons of lengths, and the largest share of the time that they may take. */
const THOROUGH_MS = 1000;
const SHARE = 20;

type Reader = Pick<SessionStore, 'readRows'>;

export class ConversationRows {
  readonly #store: Reader;
  readonly #options: Required<FollowOptions>;
  #picture: Picture;
  #passing: Promise<unknown> = Promise.resolve();
  #replay: boolean;
  /** What the rows of the last turn told, as far as they were there when following began. */
  readonly tail: readonly RowEvent[];
  /** Of the last thorough pass: when, what it cost, and the stamp that it saw. */
  #thorough: { at: number; cost: number; stamp: string | null };

  private constructor(store: Reader, options: Required<FollowOptions>, picture: Picture, tail: readonly LiveRow[], replay: boolean) {
    this.#store = store;
    this.tail = lastTurn(tail, picture.at);
    this.#options = options;
    this.#picture = picture;
    this.#replay = replay;
    this.#thorough = { at: options.clock(), cost: 0, stamp: picture.stamp };
  }

  /** The conversation as it is now. Any of its sessions names it; one that isn't there yet is waited for. Throws `StoreUnreadable`. */
  static async start(store: Reader, sessionId: string, options: FollowOptions = {}): Promise<ConversationRows> {
    const complete = withDefaults(options);
    const reading = await readBaseline(store, sessionId, null, complete);
    return new ConversationRows(store, complete, pictureOf(sessionId, reading, null), reading.rows, false);
  }

  /**
   * From where a reader stood (14.1 `m` and `d`): what he missed when only rows were appended, else why he has to begin anew. Either way
   * the follower that comes with it stands at the present. Throws `StoreUnreadable`.
   */
  static async resume(store: Reader, sessionId: string, position: RowsPosition, options: FollowOptions = {}): Promise<Resumed> {
    const complete = withDefaults(options);
    const reading = await readBaseline(store, position.segmentId ?? sessionId, position.maxRowId, {
      ...complete,
      followContinuations: false,
    });
    const reset = async (reason: 'DB_REPLACED' | 'TRANSCRIPT_REWRITTEN_OFFLINE'): Promise<Resumed> => {
      return { kind: 'RESET', reason, rows: await ConversationRows.start(store, sessionId, options) };
    };
    if (BigInt(reading.highestRowId) < BigInt(position.maxRowId)) return reset('DB_REPLACED');
    const picture = pictureOf(sessionId, reading, position);
    const segment = picture.segments.at(-1);
    if (position.segmentId !== null && segment === undefined) {
      const rows = await ConversationRows.start(store, sessionId, options);
      if (rows.segmentIds.length > 0) return { kind: 'RESET', reason: 'TRANSCRIPT_REWRITTEN_OFFLINE', rows };
      const events = deletedOffline(position.segmentId, position.turnId, reading.generation, reading.at);
      return { kind: 'CONTINUED', rows, events, position: rows.position, more: false, replaced: false };
    }
    if (segment !== undefined && position.segmentId !== null && digestKey(segment) !== position.digest)
      return reset('TRANSCRIPT_REWRITTEN_OFFLINE');
    const start = position.segmentId === null ? { ...picture, segments: [] } : picture;
    const rows = new ConversationRows(store, complete, start, reading.rows, true);
    const pass = await rows.pass();
    const tip = rows.signs.tip;
    const missed = tip === null || tip.id !== position.segmentId ? [] : missedStates(position.views, tip, reading.at, rows.turn === null);
    return { kind: 'CONTINUED', rows, ...pass, events: [...pass.events, ...missed] };
  }

  /** Reads what is new, on one snapshot, and tells it in order. Passes that are asked for at once run one after the other. */
  pass(): Promise<Pass> {
    const next = this.#passing.then(() => this.#pass());
    this.#passing = next.catch(() => undefined);
    return next;
  }

  get position(): RowsPosition {
    return positionOf(this.#picture);
  }

  /** Names the file of the store. */
  get generation(): string {
    return this.#picture.generation;
  }

  /** Root first. */
  get segmentIds(): readonly string[] {
    return this.#picture.segments.map(({ session }) => session.id);
  }

  /** Where the transcript stands (12, `TranscriptHead`); null while there is no session. */
  get head(): { sessionId: string; maxMessageId: string | null; activeCount: number; rewindCount: number; digest: string } | null {
    const tip = this.#picture.segments.at(-1);
    if (tip === undefined) return null;
    const { session, rows } = tip;
    return {
      sessionId: session.id,
      maxMessageId: rows.lastRowId,
      activeCount: rows.liveCount,
      rewindCount: session.rewindCount,
      digest: digestKey(tip),
    };
  }

  /** The turn that the database shows to be under way. */
  get turn(): OpenTurn | null {
    return this.#picture.turns.open;
  }

  /** Sub-agents at work, and those whose results have not been delivered. */
  get delegations(): readonly Delegation[] {
    return [...this.#picture.delegations.tasks.values()];
  }

  /** What speaks for life: the lease, and the tip's row with its last heartbeat. */
  get signs(): Pick<Picture, 'lease' | 'locks'> & { readonly tip: ReturnType<typeof tipOf> } {
    return { lease: this.#picture.lease, locks: this.#picture.locks, tip: tipOf(this.#picture) };
  }

  /** Something was committed that may have changed what only a thorough pass finds, and none was due yet. */
  get owesLook(): boolean {
    return this.#thorough.stamp !== this.#picture.stamp;
  }

  async #pass(): Promise<Pass> {
    const { clock, now, followContinuations } = this.#options;
    const begun = clock();
    const due = begun - this.#thorough.at >= Math.max(THOROUGH_MS, this.#thorough.cost * SHARE);
    const probe = this.#probe(due);
    let reading = await this.#store.readRows(probe);
    const back = reading === null ? [] : rowsBack(this.#picture, reading);
    if (back.length > 0) reading = await this.#store.readRows({ ...probe, back, stamp: null });
    if (reading !== null && (reading.generation !== this.#picture.generation || BigInt(reading.highestRowId) < BigInt(this.#picture.after)))
      return { events: [], position: this.position, more: false, replaced: true };
    if (due) this.#thorough = { at: begun, cost: clock() - begun, stamp: reading?.stamp ?? this.#thorough.stamp };
    const found: Classified = classify(this.#picture, reading, { now: reading?.at ?? now(), followContinuations, replay: this.#replay });
    this.#picture = found.picture;
    const more = reading?.more ?? false;
    this.#replay = this.#replay && more;
    return { events: found.events, position: this.position, more, replaced: false };
  }

  #probe(thorough: boolean): PassProbe {
    const { segments, stamp, continuedTo, sessionId, after, delegations } = this.#picture;
    const { followContinuations, delegates } = this.#options;
    return {
      kind: 'PASS',
      sessionId,
      segments: segments.map(({ session, rows }) => ({ sessionId: session.id, digest: rows.digest() })),
      after,
      continuations: followContinuations || continuedTo === null,
      thorough,
      delegates: delegates === 'NONE' ? null : delegatesProbe(delegations),
      back: [],
      // A commit that only a quick pass has seen may have changed what only a thorough one finds.
      stamp: thorough && this.#thorough.stamp !== stamp ? null : stamp,
    };
  }
}

function lastTurn(rows: readonly LiveRow[], at: number): readonly RowEvent[] {
  const start = rows.findLastIndex((row) => isTurnStart(appendedRow(row)));
  return rows.slice(Math.max(0, start)).flatMap((row) => appendedEvents(row, [], false, at));
}

function withDefaults(options: FollowOptions): Required<FollowOptions> {
  return { followContinuations: true, delegates: 'STATE', clock: () => performance.now(), now: () => Date.now() / 1000, ...options };
}

async function readBaseline(store: Reader, sessionId: string, upTo: string | null, options: Required<FollowOptions>) {
  const delegates = options.delegates === 'NONE' ? null : { settledSessions: [], knownSessions: [], knownDelegations: [] };
  const probe: BaselineProbe = { kind: 'BASELINE', sessionId, followContinuations: options.followContinuations, upTo, delegates };
  const reading = await store.readRows(probe);
  if (reading === null) throw new Error('a baseline is always answered');
  return reading;
}
