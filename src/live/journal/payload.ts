/**
 * Fields of a record's payload, which may hold anything (`spec/live-turns.md` 3.6): what has another type counts as absent.
 */
import { isJsonObject } from '../../state-db/decode.ts';

export type Payload = Readonly<Record<string, unknown>>;

export const NO_PAYLOAD: Payload = Object.freeze({});

/** Text, also the empty one. */
export function text(payload: Payload, key: string): string | null {
  const value = payload[key];
  return typeof value === 'string' ? value : null;
}

/** Text that isn't empty. */
export function word(payload: Payload, key: string): string | null {
  return text(payload, key) || null;
}

/** The first of the keys that holds text that isn't empty. */
export function firstWord(payload: Payload, keys: readonly string[]): string | null {
  for (const key of keys) {
    const found = word(payload, key);
    if (found !== null) return found;
  }
  return null;
}

export function number(payload: Payload, key: string): number | null {
  const value = payload[key];
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

export function flag(payload: Payload, key: string): boolean | null {
  const value = payload[key];
  return typeof value === 'boolean' ? value : null;
}

export function object(payload: Payload, key: string): Payload | null {
  const value = payload[key];
  return isJsonObject(value) ? value : null;
}

/** The texts of a list; null when there is no list. */
export function texts(payload: Payload, key: string): readonly string[] | null {
  const value = payload[key];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : null;
}
