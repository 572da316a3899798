/** Numbers that look random and are the same every time: the demo's content must not differ from one making to the next. */
export class SeededRandom {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** The next number in 0..1 (mulberry32). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = this.state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A number from `low` to `high`, with fraction. */
  between(low: number, high: number): number {
    return low + this.next() * (high - low);
  }

  /** `digits` hexadecimal digits. */
  hex(digits: number): string {
    let text = '';
    while (text.length < digits) text += Math.floor(this.next() * 16).toString(16);
    return text;
  }
}

/** The same for every call with the same text: a seed that doesn't depend on how much was drawn elsewhere (FNV-1a). */
export function seedOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return hash >>> 0;
}
