/**
 * Where the members of a JSON object stand in its text (`spec/webui-sidecars.md` 5.1), found without parsing their values, as the text
 * comes in. What is nested, or inside a string, is passed over.
 */
import { parseJson } from '../state-db/decode.ts';

export interface Member {
  /** Offset of the key's opening quote. */
  readonly keyStart: number;
  /** Offsets of the value's bytes, with the blanks that follow. `end` is null while the value goes on behind what was read. */
  readonly start: number;
  readonly end: number | null;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPENING = new Set([0x7b, 0x5b]);
const CLOSING = new Set([0x7d, 0x5d]);
const OBJECT = 0x7b;
const BLANKS = new Set([0x20, 0x09, 0x0a, 0x0d]);

export class TopLevelScan {
  /**
   * READING until the member asked for has ended (FOUND), one to stop before was met (STOPPED), the object has ended (CLOSED), or it turns
   * out to be none (NOT_AN_OBJECT).
   */
  state: 'READING' | 'FOUND' | 'STOPPED' | 'CLOSED' | 'NOT_AN_OBJECT' = 'READING';
  readonly #members = new Map<string, Member>();
  readonly #until: string | null;
  readonly #before: ReadonlySet<string>;
  #position = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;
  #stringStart = 0;
  #key: string | null = null;
  #keyStart = 0;
  #valueStart: number | null = null;

  /** `until`: the scan needs nothing that stands behind this member. `before`: nor these members themselves. */
  constructor(until: string | null, before: ReadonlySet<string> = new Set()) {
    this.#until = until;
    this.#before = before;
  }

  /** The offset of the key that stopped the scan, or of the brace that closed the object; null as long as there is neither. */
  get end(): number | null {
    if (this.state === 'STOPPED') return this.#stringStart;
    return this.state === 'CLOSED' ? this.#position - 1 : null;
  }

  /** The keys whose members were seen to their end, in their order. */
  keys(): string[] {
    return [...this.#members.keys()];
  }

  /** The member's last occurrence, as parsers take it; null for one that was not seen. */
  member(key: string): Member | null {
    if (this.#key === key && this.#valueStart !== null) return { keyStart: this.#keyStart, start: this.#valueStart, end: null };
    return this.#members.get(key) ?? null;
  }

  /** Goes on where it stopped: `bytes` is the whole text so far. */
  scan(bytes: Buffer): void {
    if (this.#position === 0 && bytes.subarray(0, 3).equals(BYTE_ORDER_MARK)) this.#position = 3;
    for (; this.#position < bytes.length && this.state === 'READING'; this.#position++) {
      const byte = bytes[this.#position] ?? 0;
      if (this.#inString) this.#inside(byte, bytes);
      else if (!BLANKS.has(byte)) this.#structure(byte);
    }
  }

  #inside(byte: number, bytes: Buffer): void {
    if (this.#escaped) this.#escaped = false;
    else if (byte === BACKSLASH) this.#escaped = true;
    else if (byte === QUOTE) {
      this.#inString = false;
      if (this.#depth !== 1 || this.#key !== null) return;
      const key = parseJson(bytes.toString('utf8', this.#stringStart, this.#position + 1));
      this.#key = typeof key === 'string' ? key : '';
      this.#keyStart = this.#stringStart;
    }
  }

  #structure(byte: number): void {
    if (this.#depth === 0) {
      if (byte === OBJECT) this.#depth = 1;
      else this.state = 'NOT_AN_OBJECT';
      return;
    }
    if (CLOSING.has(byte) && --this.#depth === 0) {
      this.#endMember();
      this.state = this.state === 'FOUND' ? 'FOUND' : 'CLOSED';
      return;
    }
    if (this.#depth === 1 && byte === COMMA) {
      this.#endMember();
      return;
    }
    if (this.#depth === 1 && byte === COLON && this.#key !== null && this.#before.has(this.#key)) {
      this.state = 'STOPPED';
      return;
    }
    const isValue = this.#depth === 1 && this.#key !== null && byte !== COLON && !CLOSING.has(byte);
    if (isValue) this.#valueStart ??= this.#position;
    if (OPENING.has(byte)) this.#depth++;
    if (byte !== QUOTE) return;
    this.#inString = true;
    this.#stringStart = this.#position;
  }

  #endMember(): void {
    if (this.#key === null) return;
    if (this.#valueStart !== null) {
      this.#members.set(this.#key, { keyStart: this.#keyStart, start: this.#valueStart, end: this.#position });
    }
    if (this.#key === this.#until) this.state = 'FOUND';
    this.#key = null;
    this.#valueStart = null;
  }
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
