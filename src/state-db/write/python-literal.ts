/**
 * Tuples as the owning programs' language prints them (`spec/state-db-writes.md` D7): identities are made over this text. What counts as
 * printable depends on the Unicode version of the runtime (D8): newer characters are escaped there and not here.
 */
import { isJsonObject, type SqlValue } from '../decode.ts';
import { pythonFloat } from './python-float.ts';
import { IntegralFloat, keyOrder } from './python-json-value.ts';

/** What a string literal does not show as it is, besides its quote. */
const UNPRINTABLE = /\\|[[\p{C}\p{Z}]--[ ]]/gv;
const SHORT: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** The literal of a tuple of cells read with safe integers: bigints are integers, numbers are floats, bytes are bytes. */
export function pythonTuple(cells: readonly SqlValue[]): string {
  const literals = cells.map(literal);
  return literals.length === 1 ? `(${literals[0]},)` : `(${literals.join(', ')})`;
}

/** A value of JSON, read by `parsePythonJson`, as the owning programs make text of it: text as it is, anything else as its literal. */
export function pythonText(value: unknown): string {
  return typeof value === 'string' ? value : jsonLiteral(value);
}

function jsonLiteral(value: unknown): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'string') return stringLiteral(value);
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'bigint') return String(value);
  if (value instanceof IntegralFloat) return pythonFloat(value.value);
  if (typeof value === 'number') return Number.isSafeInteger(value) && !Object.is(value, -0) ? String(value) : pythonFloat(value);
  if (Array.isArray(value)) return `[${value.map(jsonLiteral).join(', ')}]`;
  if (!isJsonObject(value)) return String(value);
  return `{${keyOrder(value)
    .map((key) => `${stringLiteral(key)}: ${jsonLiteral(value[key])}`)
    .join(', ')}}`;
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
