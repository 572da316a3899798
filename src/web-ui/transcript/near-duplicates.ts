/**
 * The last resort of matching: one text inside the other, or its words inside the other's (`spec/webui-transcript.md` 8.8, 9). Tool calls
 * aren't compared, and short texts match almost anything of the same role: hazards H1 and H2, kept as the reference has them.
 */
import type { VisibleKey } from './message-keys.ts';

/** More known keys, or a longer text, and only equal keys match: the search would be quadratic. */
const MOST_KEYS = 1000;
const LONGEST_TEXT = 200_000;

const WORDS = /[\p{L}\p{N}_]+/gu;

/** The words of a text in one case, joined by single spaces. */
export function looseText(text: string): string {
  const folded = text.normalize('NFC').toLowerCase().replaceAll('ß', 'ss');
  return folded.match(WORDS)?.join(' ') ?? '';
}

export class VisibleKeys {
  readonly #known = new Map<string, VisibleKey>();
  readonly #loose = new WeakMap<VisibleKey, string>();

  add(key: VisibleKey): void {
    if (!this.#known.has(key.key)) this.#known.set(key.key, key);
  }

  /** The known key that is equal or a near duplicate, the first one added; null when there is none. */
  find(key: VisibleKey): VisibleKey | null {
    const equal = this.#known.get(key.key);
    if (equal !== undefined) return equal;
    if (!key.text || this.#known.size > MOST_KEYS) return null;
    for (const known of this.#known.values()) if (this.isNear(key, known)) return known;
    return null;
  }

  /** Whether two keys are equal, or near duplicates of each other. */
  matches(key: VisibleKey, known: VisibleKey): boolean {
    return key.key === known.key || this.isNear(key, known);
  }

  private isNear(key: VisibleKey, known: VisibleKey): boolean {
    if (!key.text || !known.text || key.role !== known.role || key.payload !== known.payload) return false;
    if (Math.max(lengthOf(key.text), lengthOf(known.text)) > LONGEST_TEXT) return false;
    if (key.text.includes(known.text) || known.text.includes(key.text)) return true;
    const [one, other] = [this.#looseOf(key), this.#looseOf(known)];
    return one !== '' && other !== '' && (one.includes(other) || other.includes(one));
  }

  #looseOf(key: VisibleKey): string {
    const known = this.#loose.get(key);
    if (known !== undefined) return known;
    const text = looseText(key.text ?? '');
    this.#loose.set(key, text);
    return text;
  }
}

/** In characters: UTF-16 units are counted only where they can matter. */
function lengthOf(text: string): number {
  if (text.length <= LONGEST_TEXT || text.length > 2 * LONGEST_TEXT) return text.length;
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}
