/**
 * Follows the journal of one run (`spec/live-turns.md` 8.2, 8.3): reads what was added, delivers records in order, and tells when the
 * file is another one. Whoever watches the directory calls `poke`; no time passes here but for gaps and for the pause between reads.
 */
import { generationOf } from './generation.ts';
import { runJournalPath } from './ids.ts';
import { type JournalRecord, parseLine, type RunName, recordMarker } from './line.ts';
import { JournalUnreadable, type OpenJournal, openJournal, systemCode } from './open-journal.ts';
import { ReadState, type ResetReason } from './read-state.ts';
import { type Delivery, Reorder } from './reorder.ts';
import { findResume, type RunPosition } from './resume.ts';

/** At most one read in this time on average (15.2), the first at once. */
const READ_PAUSE_MS = 10;
/** Reads may be early by so much after a quiet time: without it lines at that very pace would each wait for the next slot. */
const EARLY_MS = 30;
/** A file that couldn't be read is tried again after this. */
const RETRY_MS = 1000;
export type TailEvent =
  | { readonly kind: 'RECORDS'; readonly generation: string; readonly deliveries: readonly Delivery<JournalRecord>[] }
  /** What was delivered is void: the next records begin again with the first. */
  | { readonly kind: 'RESET'; readonly reason: ResetReason }
  /** There was a file, or a position in it, and there is none now. */
  | { readonly kind: 'GONE' }
  /** The file can't be read now; it is tried again every second. */
  | { readonly kind: 'FAILED'; readonly error: JournalUnreadable };

export interface RunTailerOptions extends RunName {
  /** The directory `_run_journal`. */
  readonly root: string;
  readonly onEvent: (event: TailEvent) => void;
  /** Where a client has come to; without it everything is delivered. */
  readonly after?: RunPosition;
  readonly now?: () => number;
}

export interface TailStatistics {
  bytesRead: number;
  records: number;
  malformed: number;
  generations: number;
}

export class RunTailer {
  readonly statistics: TailStatistics = { bytesRead: 0, records: 0, malformed: 0, generations: 0 };
  readonly #run: RunName;
  readonly #path: string | null;
  readonly #onEvent: (event: TailEvent) => void;
  readonly #now: () => number;
  #after: RunPosition | null;
  #file: ReadState | null = null;
  #generation: string | null = null;
  #reorder = new Reorder<JournalRecord>();
  /** The last record that was delivered in order. */
  #last: { readonly seq: number; readonly end: number } | null = null;
  /** Something was told of a file: that it is gone, or another one, has to be told as well. */
  #told: 'NOTHING' | 'POSITION' | 'GONE';
  /** A resumed position must turn up in the file when that is read from its beginning. */
  #awaited: number | null = null;
  #reading: Promise<void> | null = null;
  #dirty = false;
  #retryAt: number | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** The slot of the last read. */
  #lastDueAt = Number.NEGATIVE_INFINITY;
  #closed = false;

  constructor({ root, sessionId, runId, onEvent, after, now }: RunTailerOptions) {
    this.#run = { sessionId, runId };
    this.#path = runJournalPath(root, sessionId, runId);
    this.#onEvent = onEvent;
    this.#after = after ?? null;
    this.#told = after === undefined ? 'NOTHING' : 'POSITION';
    this.#now = now ?? (() => performance.now());
  }

  /** The position after what was delivered; null before the file has a first line. */
  get position(): RunPosition | null {
    if (this.#generation === null) return null;
    const seq = this.#reorder.next - 1;
    const offset = this.#last?.seq === seq && this.#reorder.waiting === 0 ? this.#last.end : null;
    return { generation: this.#generation, seq, holes: this.#reorder.holes, offset };
  }

  /** Bytes after the last newline: a line that is being written, or a torn one. */
  get carried(): number {
    return this.#file?.carried ?? 0;
  }

  get duplicates(): number {
    return this.#reorder.duplicates;
  }

  /** The file may have changed. Reads at once, or as soon as the pause after the last read is over. */
  poke(): void {
    if (this.#closed) return;
    if (this.#reading !== null) {
      this.#dirty = true;
      return;
    }
    const wait = this.#lastDueAt + READ_PAUSE_MS - performance.now();
    if (wait > 0) this.#wakeIn(wait);
    else this.#read();
  }

  /** Reads what is there now, whatever the pause, and resolves when it has been told. */
  async drain(): Promise<void> {
    await this.settled();
    if (this.#closed) return;
    const lastDueAt = this.#lastDueAt;
    this.#read();
    await this.#reading;
    // It was asked for: it takes no turn away from the reads that follow what is written.
    this.#lastDueAt = lastDueAt;
  }

  /** Resolves when no read is under way. */
  async settled(): Promise<void> {
    while (this.#reading !== null) await this.#reading;
  }

  close(): void {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #wakeIn(ms: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.poke();
    }, Math.ceil(ms));
  }

  #read(): void {
    this.#dirty = false;
    this.#retryAt = null;
    this.#lastDueAt = Math.max(this.#lastDueAt + READ_PAUSE_MS, performance.now() - EARLY_MS);
    this.#reading = this.#tick()
      .catch((error: unknown) => {
        if (!(error instanceof JournalUnreadable) && systemCode(error) === null) throw error;
        this.#retryAt = this.#now() + RETRY_MS;
        this.#emit({ kind: 'FAILED', error: error instanceof JournalUnreadable ? error : new JournalUnreadable(error) });
      })
      .finally(() => {
        this.#reading = null;
        this.#scheduleNext();
      });
  }

  #scheduleNext(): void {
    if (this.#closed) return;
    if (this.#dirty) {
      this.poke();
      return;
    }
    const due = [this.#retryAt, this.#reorder.dueAt, this.#file?.dueAt ?? null].filter((at) => at !== null);
    if (due.length > 0) this.#wakeIn(Math.max(READ_PAUSE_MS, Math.min(...due) - this.#now()));
  }

  async #tick(): Promise<void> {
    const file = this.#path === null ? null : await openJournal(this.#path);
    if (file === null) {
      this.#onGone();
      return;
    }
    try {
      const reason = this.#file === null ? null : await this.#file.difference(file, this.#now());
      if (reason !== null) this.#reset(reason);
      this.#file ??= await this.#begin(file);
      await this.#readOn(file, this.#file);
    } finally {
      await file.handle.close();
    }
  }

  #onGone(): void {
    if (this.#told !== 'POSITION') return;
    this.#forget();
    this.#told = 'GONE';
    this.#emit({ kind: 'GONE' });
  }

  #reset(reason: ResetReason): void {
    this.#forget();
    this.#emit({ kind: 'RESET', reason });
  }

  #forget(): void {
    this.#file = null;
    this.#generation = null;
    this.#after = null;
    this.#last = null;
    this.#awaited = null;
    this.#reorder = new Reorder();
  }

  async #begin(file: OpenJournal): Promise<ReadState> {
    const resume = this.#after === null ? null : await findResume(file, this.#after, this.#run);
    if (this.#after !== null && resume === null) this.#reset('REWRITTEN');
    else if (this.#told === 'GONE') this.#reset('RECREATED');
    this.#reorder = resume === null ? new Reorder() : new Reorder(resume.seq + 1, resume.holes);
    this.#generation = resume?.generation ?? null;
    this.#last = resume === null || resume.offset === 0 ? null : { seq: resume.seq, end: resume.offset };
    this.#after = null;
    this.#told = 'POSITION';
    this.#awaited = resume !== null && resume.offset === 0 && resume.seq > 0 ? resume.seq : null;
    this.statistics.generations++;
    return new ReadState(file, recordMarker(this.#run), resume?.offset ?? 0);
  }

  async #readOn(file: OpenJournal, state: ReadState): Promise<void> {
    // A look that finds nothing new costs little and takes no turn away.
    if (state.offset >= file.size) this.#lastDueAt -= READ_PAUSE_MS;
    const buffer = Buffer.allocUnsafe(state.nextLength(file));
    while (state.offset < file.size && !this.#closed) {
      const chunk = await state.next(file, buffer);
      if (chunk === null) {
        this.#beginAnew();
        return;
      }
      if (chunk.length === 0) break;
      this.#take(chunk, state);
    }
    if (this.#awaited !== null) {
      // The file was cut behind the client's back and has not come so far again.
      this.#beginAnew();
      return;
    }
    this.#reorder.reachedEnd();
    this.#deliver(this.#reorder.expire(this.#now()));
  }

  /** With the next read, from the first line. */
  #beginAnew(): void {
    this.#reset('REWRITTEN');
    this.#dirty = true;
  }

  #take(chunk: Buffer, state: ReadState): void {
    this.statistics.bytesRead += chunk.length;
    const deliveries: Delivery<JournalRecord>[] = [];
    for (const line of state.take(chunk)) {
      this.#generation ??= generationOf(state.ino, line.bytes);
      const { record, malformed } = parseLine(line, this.#run);
      if (malformed !== null) this.statistics.malformed++;
      if (record === null) continue;
      if (this.#awaited !== null && record.seq >= this.#awaited) this.#awaited = null;
      deliveries.push(...this.#reorder.push(record, this.#now()));
    }
    this.#deliver(deliveries);
  }

  #deliver(deliveries: readonly Delivery<JournalRecord>[]): void {
    if (deliveries.length === 0 || this.#generation === null) return;
    this.statistics.records += deliveries.length;
    const last = deliveries.findLast(({ late }) => !late)?.record;
    if (last !== undefined) this.#last = { seq: last.seq, end: last.end };
    this.#emit({ kind: 'RECORDS', generation: this.#generation, deliveries });
  }

  #emit(event: TailEvent): void {
    if (!this.#closed) this.#onEvent(event);
  }
}
