/**
 * One value of a message as its cell (`spec/state-db-writes.md` V3 to V8). Values come from clients and files and are not trusted: what no
 * cell can hold is refused with `VALIDATION`. Numbers that stay numbers are REALs, whole ones become bigints.
 */
import { WriteRefused } from '../../write-refused.ts';
import { STRUCTURED_PREFIX } from '../content.ts';
import { EARLIEST_TIME, isJsonObject, LATEST_TIME, type SqlValue } from '../decode.ts';
import { trimSpace } from '../whitespace.ts';
import { canonicalJson, NotJson, pythonJson } from './python-json.ts';
import { IntegralFloat, parsePythonJson } from './python-json-value.ts';

const HIGHEST_INTEGER = 2n ** 63n - 1n;
const DECIMAL = /^[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$/;

/** Whether a value counts as given: not null, false, zero, nor an empty text, list or object. */
export function isGiven(value: unknown): boolean {
  if (value instanceof IntegralFloat) return value.value !== 0;
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length > 0;
  if (isJsonObject(value) && !(value instanceof Date)) return Object.keys(value).length > 0;
  return Number.isNaN(value) || Boolean(value);
}

export function nonEmptyString(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value.toWellFormed() : null;
}

/** Text with lone surrogates replaced (V7), null for anything that is no text. */
export function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value.toWellFormed() : null;
}

/** A value as it is: text, a number, a flag, bytes. Lists and objects are refused. */
export function scalarCell(value: unknown, column: string): SqlValue {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value === 'boolean') return value ? 1n : 0n;
  if (typeof value === 'number') return Number.isSafeInteger(value) && !Object.is(value, -0) ? BigInt(value) : value;
  if (typeof value === 'bigint' && value >= -HIGHEST_INTEGER - 1n && value <= HIGHEST_INTEGER) return value;
  if (value instanceof IntegralFloat) return value.value;
  if (value instanceof Uint8Array) return value;
  throw new WriteRefused('VALIDATION', `${column} of a message is no text and no number that a store can hold.`);
}

/** V3: lists and objects as JSON behind the prefix, anything else as it is. */
export function contentCell(content: unknown): SqlValue {
  const isStructured = Array.isArray(content) || (isJsonObject(content) && !isScalarObject(content));
  if (isStructured) return STRUCTURED_PREFIX + jsonText(content, 'content');
  return typeof content === 'function' || typeof content === 'symbol' ? String(content) : scalarCell(content, 'content');
}

function isScalarObject(value: object): boolean {
  return value instanceof Uint8Array || value instanceof IntegralFloat;
}

/** JSON text of a list of calls: text is read and written anew, and null when there are none. Text that is no JSON is not stored, as the owning programs do it. */
export function toolCallsCell(toolCalls: unknown): string | null {
  if (!isGiven(toolCalls)) return null;
  const parsed = parsedToolCalls(toolCalls);
  return isGiven(parsed) ? jsonText(parsed, 'tool_calls') : null;
}

/** How much a message adds to the counter of its session (W16). Takes a value of a message or the text of a cell. */
export function toolCallCount(toolCalls: unknown): number {
  const parsed = parsedToolCalls(toolCalls);
  if (Array.isArray(parsed)) return parsed.length;
  return isGiven(parsed === undefined ? toolCalls : parsed) ? 1 : 0;
}

/** The provider's ids of the calls that a message makes, in order; null for a call without one. */
export function toolCallIds(toolCalls: unknown): (string | null)[] {
  const parsed = parsedToolCalls(toolCalls);
  if (!Array.isArray(parsed)) return [];
  return parsed.map((call: unknown) => (isJsonObject(call) ? (nonEmptyString(call.id) ?? nonEmptyString(call.call_id)) : null));
}

/** Undefined for text that is no JSON. */
function parsedToolCalls(toolCalls: unknown): unknown {
  return typeof toolCalls === 'string' ? parsePythonJson(toolCalls) : toolCalls;
}

/** V8: text as it is, anything else as JSON, null when there is nothing. */
export function structuredCell(value: unknown, column: string): string | null {
  if (!isGiven(value)) return null;
  return typeof value === 'string' ? value.toWellFormed() : jsonText(value, column);
}

/** V5: an object, or the text of one, as JSON; `isRefused` when text was given that is none. */
export function displayMetadataCell(value: unknown): { readonly cell: string | null; readonly isRefused: boolean } {
  if (!isGiven(value)) return { cell: null, isRefused: false };
  if (typeof value === 'string') {
    const isObject = isJsonObject(parsePythonJson(value));
    return { cell: isObject ? canonicalJson(value) : null, isRefused: !isObject };
  }
  const isObject = isJsonObject(value) && !isScalarObject(value) && !(value instanceof Date);
  return { cell: isObject ? jsonText(value, 'display_metadata') : null, isRefused: false };
}

/** V6: epoch seconds of a number, numeric text or a date inside the accepted window, else null. */
export function epochSeconds(value: unknown): number | null {
  const seconds = toNumber(value);
  return seconds !== null && seconds >= EARLIEST_TIME && seconds <= LATEST_TIME ? seconds + 0 : null;
}

function toNumber(value: unknown): number | null {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof IntegralFloat) return value.value;
  if (value instanceof Date) return value.getTime() / 1000;
  if (typeof value !== 'string') return null;
  const text = trimSpace(value);
  return DECIMAL.test(text) ? Number(text) : null;
}

function jsonText(value: unknown, column: string): string {
  try {
    return pythonJson(value);
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    throw new WriteRefused('VALIDATION', `${column} of a message can not be written as JSON.`, { cause: error });
  }
}
