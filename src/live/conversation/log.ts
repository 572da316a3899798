/**
 * What a conversation told lately, shared by all who follow it (`spec/live-turns.md` 15.2): whoever is further behind reads the sources again.
 */
import { randomUUID } from 'node:crypto';
import { type LiveEvent, URGENT } from './events.ts';
import type { LivePosition } from './position.ts';

/** Events of one telling. They are taken as a whole: between them there is no position. */
export interface Batch {
  readonly events: readonly LiveEvent[];
  /** After them. */
  readonly position: LivePosition;
  readonly bytes: number;
  /** By a steady clock, in milliseconds. */
  readonly at: number;
}

const MOST_EVENTS = 4096;
const MOST_BYTES = 8 * 1024 * 1024;
const LONGEST_MS = 120_000;
/** Of an event without its texts. */
const EVENT_BYTES = 300;

export class ConversationLog {
  /** Tells positions of this log from those of others. */
  readonly id = randomUUID().slice(0, 8);
  #batches: Batch[] = [];
  #first = 0;
  #events = 0;
  #bytes = 0;

  /** The position after the last batch. */
  get end(): number {
    return this.#first + this.#batches.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether everything after a position is still here. */
  has(index: number): boolean {
    return index >= this.#first && index <= this.end;
  }

  push(events: readonly LiveEvent[], position: LivePosition): void {
    const bytes = events.reduce((sum, event) => sum + EVENT_BYTES + textLength(event), 0);
    this.#batches.push({ events, position, bytes, at: performance.now() });
    this.#events += events.length;
    this.#bytes += bytes;
    this.trim();
  }

  /** Batches from one position to another. */
  range(from: number, to: number): readonly Batch[] {
    return this.#batches.slice(from - this.#first, to - this.#first);
  }

  /** Whether something since a position doesn't wait. */
  isUrgent(from: number): boolean {
    return this.#batches.slice(Math.max(0, from - this.#first)).some(({ events }) => events.some(({ kind }) => URGENT.has(kind)));
  }

  /** Forgets what is too much or too old, but never the last batch. */
  trim(): void {
    const oldest = performance.now() - LONGEST_MS;
    while (this.#batches.length > 1) {
      const first = this.#batches[0];
      if (first === undefined || (this.#events <= MOST_EVENTS && this.#bytes <= MOST_BYTES && first.at >= oldest)) return;
      this.#batches.shift();
      this.#first++;
      this.#events -= first.events.length;
      this.#bytes -= first.bytes;
    }
  }
}

function textLength(event: LiveEvent): number {
  switch (event.kind) {
    case 'TextDelta':
    case 'ReasoningDelta':
      return event.text.length;
    case 'LiveSnapshot':
      return event.snapshot.turn?.segments.reduce((sum, { text }) => sum + text.length, 0) ?? 0;
    case 'ToolFinished':
      return event.resultPreview?.length ?? 0;
    case 'MessagesAppended':
      return event.rows.reduce((sum, { text }) => sum + (text?.length ?? 0), 0);
    default:
      return 0;
  }
}
