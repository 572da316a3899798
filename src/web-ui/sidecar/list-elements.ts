/** Where the elements of a JSON list stand in its text: the text must have been parsed before. */

export interface Span {
  readonly start: number;
  readonly end: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENING = new Set([0x7b, 0x5b]);
const CLOSING = new Set([0x7d, 0x5d]);
const BLANKS = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** Of the list that begins at `from`, in order; without the blanks around them. */
export function listElements(bytes: Buffer, from: number): Span[] {
  const spans: Span[] = [];
  let depth = 0;
  let start: number | null = null;
  let end = from;
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (BLANKS.has(byte)) continue;
    const closes = CLOSING.has(byte);
    if (depth === 1 && (byte === COMMA || closes)) {
      if (start !== null) spans.push({ start, end });
      start = null;
      if (closes) return spans;
      continue;
    }
    if (depth === 1) start ??= at;
    if (byte === QUOTE) at = endOfString(bytes, at);
    else if (OPENING.has(byte)) depth += 1;
    else if (closes) depth -= 1;
    end = at + 1;
  }
  return spans;
}

function endOfString(bytes: Buffer, from: number): number {
  for (let at = from + 1; at < bytes.length; at += 1) {
    if (bytes[at] === BACKSLASH) at += 1;
    else if (bytes[at] === QUOTE) return at;
  }
  return bytes.length;
}
