/**
 * JSON text read without losing what `JSON.parse` loses: floats that are whole, large integers, the place of keys that look like integers
 * (`spec/state-db-writes.md` V4). It takes what the owning programs take: also NaN and Infinity, no byte order mark.
 */

/** Values nested deeper are neither read nor written; the owning programs give up at about the same depth. */
export const MAX_DEPTH = 900;
/** Integers with more digits are no JSON to the owning programs. */
const MAX_DIGITS = 4300;

const SPACE = /[ \t\n\r]*/y;
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const NUMBER = /(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][-+]?[0-9]+)?/y;
const WORDS = /null|true|false|NaN|-?Infinity/y;
const FOUR_HEX = /[0-9a-fA-F]{4}/y;

const WORD_VALUES: Readonly<Record<string, unknown>> = {
  null: null,
  true: true,
  false: false,
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  '-Infinity': Number.NEGATIVE_INFINITY,
};

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/** A float that is whole, such as 1.0: as a number it would be taken for an integer. */
export class IntegralFloat {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

const orders = new WeakMap<object, readonly string[]>();

/** The keys of an object in the order in which they were given; JavaScript puts those that look like integers first. */
export function keyOrder(object: object): readonly string[] {
  return orders.get(object) ?? Object.keys(object);
}

/** An object whose keys keep their order; of a repeated key the last value, in the first place. */
export function orderedObject<T>(entries: Iterable<readonly [string, T]>): Record<string, T> {
  const values = new Map(entries);
  const object: Record<string, T> = Object.fromEntries(values);
  const keys = [...values.keys()];
  if (keys.some((key) => /^[0-9]/.test(key))) orders.set(object, keys);
  return object;
}

/**
 * The value of JSON text, undefined when it is none. Integers beyond 2^53 are bigints, whole floats are `IntegralFloat`s; objects are plain,
 * and `pythonJson` writes their keys in the order of the text.
 */
export function parsePythonJson(text: string): unknown {
  try {
    return new Reader(text).whole();
  } catch (error) {
    if (error instanceof Malformed) return undefined;
    throw error;
  }
}

class Malformed extends Error {
  override readonly name = 'Malformed';
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): unknown {
    this.#take(SPACE);
    const value = this.#value(0);
    this.#take(SPACE);
    if (this.#at < this.#text.length) throw new Malformed();
    return value;
  }

  #value(depth: number): unknown {
    const first = this.#text[this.#at];
    if (first === '"') return this.#string();
    if (first === '{' || first === '[') {
      if (depth >= MAX_DEPTH) throw new Malformed();
      return first === '{' ? this.#object(depth + 1) : this.#list(depth + 1);
    }
    const word = this.#take(WORDS);
    if (word !== null) return WORD_VALUES[word[0]];
    return this.#number();
  }

  #object(depth: number): Record<string, unknown> {
    const entries: [string, unknown][] = [];
    this.#at += 1;
    this.#take(SPACE);
    if (this.#accept('}')) return {};
    for (;;) {
      if (this.#text[this.#at] !== '"') throw new Malformed();
      const key = this.#string();
      this.#take(SPACE);
      this.#expect(':');
      this.#take(SPACE);
      entries.push([key, this.#value(depth)]);
      this.#take(SPACE);
      if (this.#accept('}')) return orderedObject(entries);
      this.#expect(',');
      this.#take(SPACE);
    }
  }

  #list(depth: number): unknown[] {
    const items: unknown[] = [];
    this.#at += 1;
    this.#take(SPACE);
    if (this.#accept(']')) return items;
    for (;;) {
      items.push(this.#value(depth));
      this.#take(SPACE);
      if (this.#accept(']')) return items;
      this.#expect(',');
      this.#take(SPACE);
    }
  }

  #string(): string {
    this.#at += 1;
    let text = '';
    for (;;) {
      text += this.#take(PLAIN)?.[0] ?? '';
      if (this.#accept('"')) return text;
      this.#expect('\\');
      text += this.#escape();
    }
  }

  #escape(): string {
    const letter = this.#text[this.#at] ?? '';
    this.#at += 1;
    if (letter !== 'u') {
      if (!Object.hasOwn(ESCAPES, letter)) throw new Malformed();
      return ESCAPES[letter] ?? '';
    }
    const hex = this.#take(FOUR_HEX);
    if (hex === null) throw new Malformed();
    return String.fromCharCode(Number.parseInt(hex[0], 16));
  }

  #number(): unknown {
    const found = this.#take(NUMBER);
    if (found === null) throw new Malformed();
    const [lexeme, integer = '', fraction, exponent] = found;
    if (fraction === undefined && exponent === undefined) {
      if (integer.length > MAX_DIGITS) throw new Malformed();
      const number = Number(integer);
      return Number.isSafeInteger(number) ? number + 0 : BigInt(integer);
    }
    const number = Number(lexeme);
    return Number.isSafeInteger(number) && !Object.is(number, -0) ? new IntegralFloat(number) : number;
  }

  #take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found !== null) this.#at = pattern.lastIndex;
    return found;
  }

  #accept(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #expect(character: string): void {
    if (!this.#accept(character)) throw new Malformed();
  }
}
