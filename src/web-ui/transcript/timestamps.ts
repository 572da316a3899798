/**
 * When a message was: two readings of its fields and a key of whole seconds (`spec/webui-transcript.md` 1.2). Epoch seconds throughout.
 */
import { isBlankValue, isMessage, numberOf, textOf } from './values.ts';

/** A time that is absent is valid; one that can't be read is not. */
export interface ExactTime {
  readonly value: number | null;
  readonly valid: boolean;
}

const ABSENT: ExactTime = { value: null, valid: true };
const INVALID: ExactTime = { value: null, valid: false };

export function exactTime(value: unknown): ExactTime {
  if (isBlankValue(value)) return ABSENT;
  const number = numberOf(value);
  return number !== null && Number.isFinite(number) ? { value: number, valid: true } : INVALID;
}

/** By `timestamp`, else by `_ts`; a bad `timestamp` doesn't fall back. */
export function exactTimestamp(message: unknown): ExactTime {
  if (!isMessage(message)) return ABSENT;
  return exactTime(isBlankValue(message.timestamp) ? message._ts : message.timestamp);
}

/** By `timestamp` alone: what the order of the merge looks at. */
export function mergeTimestamp(message: unknown): number | null {
  return isMessage(message) ? exactTime(message.timestamp).value : null;
}

/** The whole second as text: "" for none, text that is no number as it is, and a marker for what is not finite. */
export function secondKey(value: unknown): string {
  if (isBlankValue(value)) return '';
  const number = numberOf(value);
  if (number === null) return textOf(value);
  if (!Number.isFinite(number)) return `<invalid:${number}>`;
  const whole = Math.trunc(number);
  return Number.isSafeInteger(whole) ? String(whole === 0 ? 0 : whole) : BigInt(whole).toString();
}

const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)?\s*(Z|[+-]\d\d:?\d\d(?::?\d\d)?)?$/i;

/** Epoch seconds of ISO-8601 text; without an offset local time, or null where an offset is needed. */
export function isoSeconds(text: string, withoutOffset: 'LOCAL' | 'REFUSED'): number | null {
  const parts = ISO.exec(text.trim());
  if (parts === null) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.slice(1, 7).map((part) => Number(part ?? 0));
  const fraction = Number(`0.${parts[7] ?? 0}`);
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second, 0);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day || date.getUTCHours() !== hour || minute > 59 || second > 59)
    return null;
  const zone = parts[8];
  if (zone !== undefined) return date.getTime() / 1000 + fraction - offsetSeconds(zone);
  if (withoutOffset === 'REFUSED') return null;
  const local = new Date(0);
  local.setFullYear(year, month - 1, day);
  local.setHours(hour, minute, second, 0);
  return local.getTime() / 1000 + fraction;
}

function offsetSeconds(zone: string): number {
  if (/^z$/i.test(zone)) return 0;
  const digits = zone.slice(1).replaceAll(':', '');
  const seconds = Number(digits.slice(0, 2)) * 3600 + Number(digits.slice(2, 4)) * 60 + Number(digits.slice(4, 6) || 0);
  return zone.startsWith('-') ? -seconds : seconds;
}
