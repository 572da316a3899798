/**
 * Text that weighs in a full-text index what real text weighs: words by Zipf's law, lines of programs and logs, some Chinese. Made once,
 * handed out in slices, so that hundreds of megabytes take seconds.
 */
import type { SeededRandom } from '../src/demo/random.ts';

/** Only in the dozen messages in which the generator puts it. */
export const RARE_WORD = 'quetzalcoatlus';
/** In a good part of the tool results, as in any real store. */
export const COMMON_WORD = 'error';
/** In nearly every message that is prose. */
export const VERY_COMMON_WORD = 'the';

const POOL_CHARACTERS = 3_000_000;
const VOCABULARY = 30_000;
/** Of a thousand lines of a tool's output, so many name an error. */
const ERROR_LINES_PER_THOUSAND = 6;

const STOP_WORDS = (
  'the of and to in is it you that for on with as be at this have from or by not but what can all your when we there use an each which ' +
  'do how if will then file test change function value build release line page server table row should would before after same first last'
).split(' ');
const ONSETS = 'b br c ch cl d dr f fl g gr h j k l m n p pl qu r s sh st str t th tr v w z'.split(' ');
const VOWELS = 'a e i o u ai ea ee io ou'.split(' ');
const CODAS = ['', 'n', 'r', 's', 't', 'l', 'm', 'ck', 'nd', 'st', 'x'];
const CHINESE =
  '的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运';

export class TextPool {
  readonly #random: SeededRandom;
  readonly #words: readonly string[];
  readonly #prose: string;
  readonly #output: string;

  constructor(random: SeededRandom) {
    this.#random = random;
    this.#words = vocabulary(random);
    this.#prose = this.#fill((words) => `${sentence(words, random)} `);
    this.#output = this.#fill((words) => `${outputLine(words, random)}\n`);
  }

  word(): string {
    return zipf(this.#words, this.#random);
  }

  /** Prose of about so many characters, whole words. */
  prose(length: number): string {
    return slice(this.#prose, length, ' ', this.#random);
  }

  /** What a tool prints: source text, search results, logs; whole lines. Texts longer than the pool repeat it. */
  output(length: number): string {
    return slice(this.#output, length, '\n', this.#random);
  }

  chinese(length: number): string {
    let text = '';
    while (text.length < length) {
      text += CHINESE[Math.floor(this.#random.next() ** 2 * CHINESE.length)] ?? '';
      if (this.#random.next() < 0.08) text += '，';
    }
    return text;
  }

  #fill(piece: (words: readonly string[]) => string): string {
    const pieces: string[] = [];
    for (let length = 0; length < POOL_CHARACTERS; ) {
      const next = piece(this.#words);
      pieces.push(next);
      length += next.length;
    }
    return pieces.join('');
  }
}

function vocabulary(random: SeededRandom): string[] {
  const words = new Set(STOP_WORDS);
  while (words.size < VOCABULARY) {
    let word = '';
    for (let syllables = 1 + Math.floor(random.next() * 3); syllables > 0; syllables--) {
      word += pick(ONSETS, random) + pick(VOWELS, random) + pick(CODAS, random);
    }
    words.add(word);
  }
  return [...words];
}

/** The n-th word is about n times rarer than the first. */
function zipf(words: readonly string[], random: SeededRandom): string {
  return words[Math.floor(words.length ** random.next()) - 1] ?? words[0] ?? '';
}

function sentence(words: readonly string[], random: SeededRandom): string {
  const chosen = Array.from({ length: 5 + Math.floor(random.next() * 16) }, () => zipf(words, random));
  const text = chosen.join(random.next() < 0.1 ? ', ' : ' ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${random.next() < 0.1 ? '?' : '.'}`;
}

function outputLine(words: readonly string[], random: SeededRandom): string {
  const word = () => zipf(words, random);
  if (random.next() * 1000 < ERROR_LINES_PER_THOUSAND) return `${COMMON_WORD}: ${word()} ${word()} is not a ${word()} (${random.hex(6)})`;
  const line = Math.floor(random.next() * 900);
  switch (Math.floor(random.next() * 5)) {
    case 0:
      return `src/${word()}/${word()}.ts:${line}:  const ${word()} = await ${word()}(${word()}, ${word()});`;
    case 1:
      return `  if (${word()}.${word()} !== ${word()}) return ${word()}(${line});`;
    case 2:
      return `2026-0${1 + (line % 9)}-1${line % 10}T0${line % 10}:12:${10 + (line % 49)}Z INFO ${word()} ${word()} ${word()} id=${random.hex(8)}`;
    case 3:
      return `{"${word()}": "${word()} ${word()}", "${word()}": ${line}, "ok": true}`;
    default:
      return `  ok ${word()} ${word()} ${word()} ${word()} (${line} ms)`;
  }
}

function slice(pool: string, length: number, separator: string, random: SeededRandom): string {
  let text = '';
  while (text.length < length) {
    const from = pool.indexOf(separator, Math.floor(random.next() * (pool.length - 300_000))) + 1;
    text += pool.slice(from, pool.indexOf(separator, from + Math.min(length - text.length, 250_000)));
    if (text.length < length) text += separator;
  }
  return text;
}

function pick<T>(items: readonly [T, ...T[]] | readonly T[], random: SeededRandom): T {
  return items[Math.floor(random.next() * items.length)] as T;
}
