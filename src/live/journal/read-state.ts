/**
 * What is known of a file that is being followed, and whether it still is that file (`spec/live-turns.md` 8.2, 8.3).
 */
import { crc32 } from 'node:zlib';
import { LineSplitter, type RawLine } from './line-splitter.ts';
import { type OpenJournal, readRange } from './open-journal.ts';
import { CHUNK_BYTES } from './scan.ts';

/** Another time stamp with the same size: looked at again after this, and when it stays the content is compared. */
const RECHECK_MS = 50;
/** The end of what was read is compared with each read, in case that the file was cut and grew beyond it. */
const GUARD_BYTES = 64;

export type ResetReason = 'RECREATED' | 'TRUNCATED' | 'REWRITTEN';

export class ReadState {
  readonly ino: bigint;
  readonly #dev: bigint;
  readonly #start: number;
  readonly #splitter: LineSplitter;
  #offset: number;
  #checksum = 0;
  #guard = Buffer.alloc(0);
  #mtimeNs: bigint;
  #ctimeNs: bigint;
  #suspectSince: number | null = null;

  /** `start`: where reading begins, 0 or a position that is resumed. */
  constructor(file: OpenJournal, marker: string, start: number) {
    this.ino = file.ino;
    this.#dev = file.dev;
    this.#start = start;
    this.#offset = start;
    this.#splitter = new LineSplitter(marker, start);
    this.#mtimeNs = file.mtimeNs;
    this.#ctimeNs = file.ctimeNs;
  }

  /** How far the file was read, the carried bytes included. */
  get offset(): number {
    return this.#offset;
  }

  /** Bytes after the last newline. */
  get carried(): number {
    return this.#splitter.carried;
  }

  /** When the file should be looked at again although nothing announces a change; null when it needn't. */
  get dueAt(): number | null {
    return this.#suspectSince === null ? null : this.#suspectSince + RECHECK_MS;
  }

  /** Why what was read is no longer what the file holds, as far as its size and times tell; null while it is. */
  async difference(file: OpenJournal, now: number): Promise<ResetReason | null> {
    if (file.dev !== this.#dev || file.ino !== this.ino) return 'RECREATED';
    if (file.size < this.#offset) return 'TRUNCATED';
    const sameTimes = file.mtimeNs === this.#mtimeNs && file.ctimeNs === this.#ctimeNs;
    if (file.size === this.#offset && !sameTimes) return (await this.#staysDifferent(file, now)) ? 'REWRITTEN' : null;
    this.#accept(file);
    return null;
  }

  /** The size of the buffer that `next` needs, at most 256 KiB; it may be used again until the end. */
  nextLength(file: OpenJournal): number {
    return Math.max(0, Math.min(CHUNK_BYTES, this.#guard.length + file.size - this.#offset));
  }

  /** The next bytes of the file; null when what stands before them is not what was read. */
  async next(file: OpenJournal, buffer: Buffer): Promise<Buffer | null> {
    const known = this.#guard.length;
    const length = Math.min(buffer.length, known + file.size - this.#offset);
    const bytes = await readRange(file, buffer, this.#offset - known, length);
    return bytes.subarray(0, known).equals(this.#guard) ? bytes.subarray(known) : null;
  }

  /** The lines that end in those bytes. */
  take(chunk: Buffer): Iterable<RawLine> {
    this.#offset += chunk.length;
    this.#checksum = crc32(chunk, this.#checksum);
    const end = chunk.length < GUARD_BYTES ? Buffer.concat([this.#guard, chunk]) : chunk;
    this.#guard = Buffer.from(end.subarray(-GUARD_BYTES));
    return this.#splitter.feed(chunk);
  }

  /** Other times at the same size. The owner's next append looks like that for a moment, so only what stays is compared in full. */
  async #staysDifferent(file: OpenJournal, now: number): Promise<boolean> {
    this.#suspectSince ??= now;
    if (now - this.#suspectSince < RECHECK_MS) return false;
    this.#accept(file);
    let checksum = 0;
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    for (let at = this.#start; at < this.#offset; ) {
      const chunk = await readRange(file, buffer, at, Math.min(CHUNK_BYTES, this.#offset - at));
      if (chunk.length === 0) return true;
      checksum = crc32(chunk, checksum);
      at += chunk.length;
    }
    return checksum !== this.#checksum;
  }

  #accept(file: OpenJournal): void {
    this.#mtimeNs = file.mtimeNs;
    this.#ctimeNs = file.ctimeNs;
    this.#suspectSince = null;
  }
}
