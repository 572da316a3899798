/**
 * Subscribers of one conversation with equal options: they get the same frames at the same moments (`spec/live-turns.md` 15, 16). A
 * subscriber holds no content, only where it is; one that is behind gets a frame of its own, from there to the others (`docs/live-protocol.md` 8.1, 8.3, 10.1).
 */
import { CaduceusError } from '../../errors.ts';
import { SHARED, type SharedPayload } from '../../shared-payload.ts';
import { PushStream } from '../push-stream.ts';
import { coalesce } from './coalesce.ts';
import type { LiveEvent } from './events.ts';
import type { Batch, ConversationLog } from './log.ts';
import { chosen, type FilterFacts, type LiveOptions } from './options.ts';
import type { LivePosition } from './position.ts';

export interface LiveFrame extends SharedPayload {
  readonly cursor: string;
  readonly events: readonly LiveEvent[];
  /** There is more to tell now. */
  readonly catchUp: boolean;
  /** From the newest time of a source in the frame until now; null when no source told a time. */
  readonly sourceLagMs: number | null;
}

/** What a group needs of its conversation. */
export interface FrameSource {
  readonly log: ConversationLog;
  readonly facts: FilterFacts;
  /** Epoch seconds. */
  readonly now: () => number;
  readonly cursorAt: (position: LivePosition, index: number) => string;
  /** What a reader at a position has missed, up to the present; null when the sources can't be read now. */
  readonly replay: (position: LivePosition) => Promise<Replayed | null>;
  readonly isDue: () => boolean;
}

export interface Replayed {
  readonly events: readonly LiveEvent[];
  /** In the log, where the events end. */
  readonly index: number;
  readonly position: LivePosition;
}

/** Where a subscriber begins. */
export interface Start {
  readonly index: number;
  readonly position: LivePosition;
  /** Told first, when there is something to tell. */
  readonly events: readonly LiveEvent[];
}

/** Data that wait so long for somebody who doesn't ask for them end his stream (live-protocol 10.2). */
const TOO_SLOW_MS = 300_000;

/** Keeps no frame that was taken: while a socket does not take it on, the text that is sent is all there is of it. */
interface Member {
  readonly stream: PushStream<LiveFrame>;
  index: number;
  position: LivePosition;
  /** A frame for this one alone. */
  own: LiveFrame | null;
  isCatchingUp: boolean;
  askedAt: number;
}

/** The newest frame of a group: from one place in the log to another; null when the options let nothing of it through. */
interface SharedFrame {
  readonly from: number;
  readonly to: number;
  readonly position: LivePosition;
  readonly frame: LiveFrame | null;
}

export class FrameGroup {
  readonly #source: FrameSource;
  readonly #options: LiveOptions;
  readonly #members = new Set<Member>();
  readonly #onEmpty: () => void;
  /** In the log: how far frames were made. */
  #at: number;
  #shared: SharedFrame | null = null;
  #lastFrameAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;

  constructor(source: FrameSource, options: LiveOptions, onEmpty: () => void) {
    this.#source = source;
    this.#options = options;
    this.#onEmpty = onEmpty;
    this.#at = source.log.end;
  }

  get size(): number {
    return this.#members.size;
  }

  join({ index, position, events }: Start, signal: AbortSignal, onLeave: () => void): AsyncIterableIterator<LiveFrame> {
    const leave = () => {
      this.#members.delete(member);
      onLeave();
      this.#closeWhenEmpty();
    };
    if (signal.aborted) {
      // Gone while its start was read.
      onLeave();
      this.#closeWhenEmpty();
      return new PushStream<LiveFrame>(
        () => null,
        () => {},
        signal,
      );
    }
    const own = events.length === 0 ? null : this.#frame(events, position, index, index < this.#source.log.end || this.#source.isDue());
    const stream: PushStream<LiveFrame> = new PushStream(() => this.#take(member), leave, signal);
    const member: Member = { stream, index, position, own, isCatchingUp: false, askedAt: performance.now() };
    this.#members.add(member);
    this.onBatch();
    return stream;
  }

  /** The log has grown. */
  onBatch(): void {
    if (this.#members.size === 0 || this.#at >= this.#source.log.end) return;
    const wait = this.#lastFrameAt + this.#options.coalesceMs - performance.now();
    if (wait <= 0 || this.#source.log.isUrgent(this.#at)) this.#advance();
    else this.#wakeIn(wait);
  }

  /** Ends the streams of those who ask for nothing although there is something; those who wait for what couldn't be read try again. */
  tick(): void {
    const now = performance.now();
    for (const { stream, own, index, isCatchingUp, askedAt } of this.#members) {
      if (isCatchingUp || (own === null && index >= this.#at)) continue;
      if (stream.isWaiting) stream.wake();
      else if (now - askedAt > TOO_SLOW_MS) stream.fail(tooSlow());
    }
  }

  close(): void {
    this.#stopTimer();
    for (const { stream } of this.#members) stream.stop();
  }

  #advance(): void {
    this.#stopTimer();
    const { log } = this.#source;
    if (!log.has(this.#at)) this.#at = log.end;
    const from = this.#at;
    const batches = this.#upTo(log.range(from, log.end));
    const last = batches.at(-1);
    const events = coalesce(this.#chosen(batches));
    if (last === undefined) return;
    const { position } = last;
    const to = from + batches.length;
    const more = to < log.end || this.#source.isDue();
    this.#shared = { from, to, position, frame: events.length === 0 ? null : this.#frame(events, position, to, more) };
    this.#at = to;
    if (events.length > 0) this.#lastFrameAt = performance.now();
    for (const { stream } of this.#members) stream.wake();
    if (to < log.end) this.#wakeIn(0);
  }

  #take(member: Member): LiveFrame | null {
    member.askedAt = performance.now();
    if (member.own !== null) {
      const { own } = member;
      member.own = null;
      return own;
    }
    if (member.isCatchingUp) return null;
    const shared = this.#shared;
    if (shared !== null && member.index === shared.from) {
      member.index = shared.to;
      member.position = shared.position;
      return shared.frame;
    }
    if (member.index >= this.#at) return null;
    return this.#source.log.has(member.index) ? this.#catchUp(member) : this.#reread(member);
  }

  /** From where the member is towards where the others are. */
  #catchUp(member: Member): LiveFrame | null {
    while (member.index < this.#at) {
      const batches = this.#upTo(this.#source.log.range(member.index, this.#at));
      const last = batches.at(-1);
      if (last === undefined) return null;
      member.index += batches.length;
      member.position = last.position;
      const events = coalesce(this.#chosen(batches));
      if (events.length > 0) return this.#frame(events, last.position, member.index, member.index < this.#source.log.end);
    }
    return null;
  }

  /** The log doesn't go back so far. When the sources can't be read now, it is tried again with the next tick. */
  #reread(member: Member): null {
    member.isCatchingUp = true;
    this.#source
      .replay(member.position)
      .then((replayed) => {
        member.isCatchingUp = false;
        if (replayed === null) return;
        const { events, index, position } = replayed;
        member.index = index;
        member.position = position;
        const own = coalesce(chosen(events, this.#options, this.#source.facts));
        member.own = own.length === 0 ? null : this.#frame(own, position, index, false);
        member.stream.wake();
      })
      .catch((error: unknown) => member.stream.fail(error instanceof Error ? error : new Error(String(error))));
    return null;
  }

  #chosen(batches: readonly Batch[]): LiveEvent[] {
    return chosen(
      batches.flatMap(({ events }) => events),
      this.#options,
      this.#source.facts,
    );
  }

  /** So many that the frame isn't too large, but one at least. */
  #upTo(batches: readonly Batch[]): readonly Batch[] {
    let bytes = 0;
    const end = batches.findIndex((batch, index) => {
      bytes += batch.bytes;
      return bytes > this.#options.maxFrameBytes && index > 0;
    });
    return end === -1 ? batches : batches.slice(0, end);
  }

  #frame(events: readonly LiveEvent[], position: LivePosition, index: number, catchUp: boolean): LiveFrame {
    return frameOf(events, this.#source.cursorAt(position, index), catchUp, this.#source.now());
  }

  #wakeIn(ms: number): void {
    this.#timer ??= setTimeout(
      () => {
        this.#timer = null;
        this.#advance();
      },
      Math.max(0, ms),
    );
  }

  #closeWhenEmpty(): void {
    if (this.#members.size > 0) return;
    this.#stopTimer();
    this.#onEmpty();
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}

/** `now`: epoch seconds. */
export function frameOf(events: readonly LiveEvent[], cursor: string, catchUp: boolean, now: number): LiveFrame {
  const placed = events.map((event) => (event.kind === 'LiveSnapshot' ? { ...event, cursor } : event));
  return { [SHARED]: true, cursor, events: placed, catchUp, sourceLagMs: lagOf(events, now) };
}

function tooSlow(): CaduceusError {
  return new CaduceusError('TOO_SLOW', 'Nothing was read from this subscription for five minutes. Subscribe again with the last cursor.');
}

/** By times that a source told; those of this server say nothing. */
function lagOf(events: readonly LiveEvent[], now: number): number | null {
  const times = events.flatMap(({ at, origin }) => (origin === 'RUN_JOURNAL' || origin === 'STATE_DB' ? [at] : []));
  return times.length === 0 ? null : Math.max(0, Math.round((now - Math.max(...times)) * 1000));
}
