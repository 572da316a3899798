/**
 * Bytes of a journal into lines (`spec/live-turns.md` 3.2, 8.3): split on the byte 0x0A only, what follows the last one is kept until
 * its end arrives. Of a line over 256 KiB only its beginning is held, and that of a record which was glued to it.
 */
export const LONGEST_LINE = 256 * 1024;
const NEWLINE = 0x0a;

export interface RawLine {
  /** Without the newline; the first 256 KiB of a longer line. */
  readonly bytes: Buffer;
  /** Of the whole line. */
  readonly length: number;
  /** The record that begins last inside a line over 256 KiB, as far as it is held (3.4: a record after a torn tail). */
  readonly glued: HeldBytes | null;
  /** Where the next line begins in the file. */
  readonly end: number;
}

export interface HeldBytes {
  readonly bytes: Buffer;
  readonly length: number;
}

export class LineSplitter {
  readonly #marker: Buffer;
  #line = new Held();
  #glued: Held | null = null;
  /** The last bytes of a long line, in which the marker may have begun. */
  #overlap: Buffer = Buffer.alloc(0);
  #position: number;

  /** `marker`: how every record of the journal begins. `position`: where the first byte that is fed stands in the file. */
  constructor(marker: string, position = 0) {
    this.#marker = Buffer.from(marker);
    this.#position = position;
  }

  /** Bytes after the last newline. */
  get carried(): number {
    return this.#line.length;
  }

  /** Bytes that are held of them; never much over 512 KiB. */
  get held(): number {
    return this.#line.kept + (this.#glued?.kept ?? 0);
  }

  /** The lines that end in the chunk, to be taken to the end. They may share its memory: use them before it is filled again. */
  *feed(chunk: Buffer): Generator<RawLine> {
    let from = 0;
    for (let to = chunk.indexOf(NEWLINE); to !== -1; to = chunk.indexOf(NEWLINE, from)) {
      const part = chunk.subarray(from, to);
      this.#position += part.length + 1;
      from = to + 1;
      if (this.#line.length === 0 && part.length <= LONGEST_LINE) {
        yield { bytes: part, length: part.length, glued: null, end: this.#position };
        continue;
      }
      this.#extend(part);
      yield { bytes: this.#line.bytes(), length: this.#line.length, glued: this.#gluedBytes(), end: this.#position };
      this.#line = new Held();
      this.#glued = null;
    }
    const rest = chunk.subarray(from);
    this.#position += rest.length;
    this.#extend(rest);
  }

  #extend(part: Buffer): void {
    const wasLong = this.#line.length > LONGEST_LINE;
    this.#line.push(part);
    if (this.#line.length <= LONGEST_LINE) return;
    if (wasLong) this.#search(part);
    else this.#searchFromStart(part);
  }

  /** The line has become long: what was held of it is searched, and what of the new part is beyond that. */
  #searchFromStart(part: Buffer): void {
    const held = this.#line.bytes();
    // The first byte begins the line itself, so a marker there glues nothing.
    this.#overlap = Buffer.alloc(0);
    this.#search(held.subarray(1));
    const beyond = this.#line.length - held.length;
    this.#search(part.subarray(part.length - beyond));
  }

  #search(part: Buffer): void {
    const reach = this.#marker.length - 1;
    const seam = Buffer.concat([this.#overlap, part.subarray(0, reach)]);
    const inPart = part.lastIndexOf(this.#marker);
    const inSeam = inPart === -1 ? seam.lastIndexOf(this.#marker) : -1;
    if (inPart !== -1 || inSeam !== -1) this.#glued = new Held();
    if (inSeam !== -1) this.#glued?.push(this.#overlap.subarray(inSeam));
    this.#glued?.push(inPart === -1 ? part : part.subarray(inPart));
    const end = part.length < reach ? seam : part;
    this.#overlap = Buffer.from(end.subarray(Math.max(0, end.length - reach)));
  }

  #gluedBytes(): HeldBytes | null {
    return this.#glued === null ? null : { bytes: this.#glued.bytes(), length: this.#glued.length };
  }
}

/** A copy of the beginning of something, and how long it is. */
class Held {
  #parts: Buffer[] = [];
  kept = 0;
  length = 0;

  push(part: Buffer): void {
    this.length += part.length;
    const room = LONGEST_LINE - this.kept;
    if (room <= 0 || part.length === 0) return;
    this.#parts.push(Buffer.from(part.subarray(0, room)));
    this.kept += Math.min(room, part.length);
  }

  bytes(): Buffer {
    if (this.#parts.length !== 1) this.#parts = [Buffer.concat(this.#parts)];
    return this.#parts[0] ?? Buffer.alloc(0);
  }
}
