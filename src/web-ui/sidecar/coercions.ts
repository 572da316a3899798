/**
 * Values of the Web UI's files as their owner takes them (`spec/webui-sidecars.md` 0). Nothing here throws.
 */
import { inWindow, isJsonObject } from '../../state-db/decode.ts';
import { trimSpace } from '../../state-db/whitespace.ts';

export type Fields = Readonly<Record<string, unknown>>;

export const NO_FIELDS: Fields = Object.freeze({});

/** What is falsy to the owner: null, false, 0, "", an empty list, an empty object. */
export function truthy(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isJsonObject(value)) return Object.keys(value).length > 0;
  // NaN is truthy to the owner.
  return Boolean(value) || Number.isNaN(value);
}

const DECIMAL = /^[0-9]+(?:_[0-9]+)*$/;
const NUMERAL = /^[-+]?(?:[0-9]+(?:_[0-9]+)*\.?(?:[0-9]+)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$/;

/** `nnint`: a non-negative integer; floats are cut, decimal text is read. */
export function nonNegativeInteger(value: unknown): number | null {
  const read = typeof value === 'string' ? decimal(trimSpace(value)) : typeof value === 'boolean' ? Number(value) : value;
  if (typeof read !== 'number' || !Number.isFinite(read)) return null;
  const whole = Math.trunc(read);
  return whole >= 0 ? Math.abs(whole) : null;
}

function decimal(text: string): number | null {
  const digits = text.startsWith('+') ? text.slice(1) : text;
  return DECIMAL.test(digits) ? Number(digits.replaceAll('_', '')) : null;
}

/** `num`: a number or numeric text, null when it is none or not finite. */
export function finiteNumber(value: unknown): number | null {
  if (typeof value === 'boolean') return Number(value);
  const trimmed = typeof value === 'string' ? trimSpace(value) : null;
  const read = trimmed === null ? value : NUMERAL.test(trimmed) ? Number(trimmed.replaceAll('_', '')) : null;
  return typeof read === 'number' && Number.isFinite(read) ? read : null;
}

/** Epoch seconds; null for 0, which the owner takes for missing, and for what is no time. */
export function epochSeconds(value: unknown): number | null {
  const read = inWindow(finiteNumber(value));
  return read === null || read === 0 ? null : read;
}

/** Text that isn't empty. */
export function word(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Text, trimmed; null when nothing is left. */
export function trimmedWord(value: unknown): string | null {
  return typeof value === 'string' ? word(trimSpace(value)) : null;
}

/** `lower`: text, trimmed and in lower case; '' for anything else. */
export function lowered(value: unknown): string {
  return typeof value === 'string' ? trimSpace(value).toLowerCase() : '';
}

export function objectOf(value: unknown): Fields {
  return isJsonObject(value) ? value : NO_FIELDS;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Half goes to the even neighbour, as the owner rounds (10). */
export function roundHalfEven(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  if (rest !== 0.5) return rest < 0.5 ? below : below + 1;
  return below % 2 === 0 ? below : below + 1;
}
