/**
 * Tuples as the owning programs' language prints them (`spec/state-db-writes.md` D7): identities are made over this text. What counts as
 * printable depends on the Unicode version of the runtime (D8): newer characters are escaped there and not here.
 */
import type { SqlValue } from '../decode.ts';
import { pythonFloat } from './python-float.ts';

/** What a string literal does not show as it is, besides its quote. */
const UNPRINTABLE = /\\|[[\p{C}\p{Z}]--[ ]]/gv;
const SHORT: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** The literal of a tuple of cells read with safe integers: bigints are integers, numbers are floats, bytes are bytes. */
export function pythonTuple(cells: readonly SqlValue[]): string {
  const literals = cells.map(literal);
  return literals.length === 1 ? `(${literals[0]},)` : `(${literals.join(', ')})`;
}

function literal(cell: SqlValue): string {
  if (cell === null) return 'None';
  if (typeof cell === 'number') return pythonFloat(cell);
  if (typeof cell === 'bigint') return String(cell);
  return typeof cell === 'string' ? stringLiteral(cell) : bytesLiteral(cell);
}

function stringLiteral(text: string): string {
  const quote = quoteFor(text);
  const escaped = text.replace(UNPRINTABLE, escapeOf);
  return quote + (quote === "'" ? escaped.replaceAll("'", "\\'") : escaped) + quote;
}

function bytesLiteral(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  const quote = quoteFor(text);
  const escaped = text.replace(/[\\\u0000-\u001f\u007f-\u00ff]/g, escapeOf);
  return `b${quote}${quote === "'" ? escaped.replaceAll("'", "\\'") : escaped}${quote}`;
}

function quoteFor(text: string): '"' | "'" {
  return text.includes("'") && !text.includes('"') ? '"' : "'";
}

function escapeOf(character: string): string {
  const short = SHORT[character];
  if (short !== undefined) return short;
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code <= 0xff) return `\\x${hex.padStart(2, '0')}`;
  return code <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}
