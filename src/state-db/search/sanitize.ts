/**
 * What a person types, made into something that FTS5 takes as data (`spec/state-db.md` 10.3), and what scripts it is written in.
 */

/** Characters that a query may have; more is cut here, and refused with a clear error where a client sends it. */
export const LONGEST_QUERY = 2048;

const SYNTAX = /[+{}():"^@/#&|~[\]<>,;!?$=\\']/g;
const CJK = /[一-鿿㐀-䶿\u{20000}-\u{2a6df}　-〿぀-ゟ゠-ヿ가-힯]/u;
const CJK_RUN = /[一-鿿㐀-䶿\u{20000}-\u{2a6df}　-〿぀-ゟ゠-ヿ가-힯]+/gu;
/** Words joined by dots, underscores or hyphens would be taken apart, or taken for syntax. */
const JOINED_WORD = /(?<![\p{L}\p{M}\p{N}_])[\p{L}\p{M}\p{N}_]+(?:[._-][\p{L}\p{M}\p{N}_]+)+(?![\p{L}\p{M}\p{N}_])/gu;
const UNDERSCORED_WORD = /^[\p{L}\p{M}\p{N}]+(?:[._-][\p{L}\p{M}\p{N}]+)+$/u;

/** The steps of 10.3, in order; '' when nothing searchable is left. */
export function sanitizeQuery(text: string): string {
  if (text.trim() === '') return '';
  const phrases: string[] = [];
  let query = cut(text, LONGEST_QUERY).replace(/"[^"]*"/g, (phrase) => {
    phrases.push(phrase);
    return `\uE000${phrases.length - 1}\uE001`;
  });
  query = query.replace(SYNTAX, ' ');
  if (!hasCjk(query)) query = query.replaceAll('%', ' ');
  query = query.replace(/\*+/g, '*').replace(/(^|\s)\*/g, '$1');
  query = query
    .trim()
    .replace(/^(?:AND|OR|NOT)(?=\s|$)\s*/i, '')
    .replace(/\s(?:AND|OR|NOT)\s*$/i, '')
    .trim();
  query = query.replace(JOINED_WORD, quoteJoined);
  return query.replace(/\uE000(\d+)\uE001/g, (_, index: string) => phrases[Number(index)] ?? '').trim();
}

function quoteJoined(word: string): string {
  return UNDERSCORED_WORD.test(word) ? `"${word}"` : word;
}

/** At most so many code points, never half of a surrogate pair. */
function cut(text: string, length: number): string {
  return text.length <= length ? text : [...text].slice(0, length).join('');
}

export function hasCjk(text: string): boolean {
  return CJK.test(text);
}

/** Runs of CJK characters; the length counts characters. */
export function cjkRuns(text: string): string[] {
  return text.match(CJK_RUN) ?? [];
}

export function cjkLength(text: string): number {
  return cjkRuns(text).reduce((total, run) => total + [...run].length, 0);
}

const OPERATORS = new Set(['AND', 'OR', 'NOT']);

/** Every token but the operators in quotes, for the CJK and trigram indexes, where punctuation is data. */
export function quoteTokens(query: string): string {
  return tokens(query)
    .map((token) => (OPERATORS.has(token) ? token : `"${stripQuotes(token).replaceAll('"', '""')}"`))
    .join(' ');
}

/** Tokens without the operators and without their quotes. */
export function plainTokens(query: string): string[] {
  return tokens(query)
    .filter((token) => !OPERATORS.has(token.toUpperCase()))
    .map(stripQuotes)
    .filter((token) => token !== '');
}

/** Quoted phrases and runs of other characters, quotes kept. */
export function tokens(query: string): string[] {
  return query.match(/"[^"]*"|[^\s"]+/g) ?? [];
}

function stripQuotes(token: string): string {
  return token.length >= 2 && token.startsWith('"') && token.endsWith('"') ? token.slice(1, -1) : token.replaceAll('"', '');
}
