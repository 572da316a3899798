/**
 * The cursor of a live feed: positions in what the server can read again, with a checksum that tells damage (`spec/live-turns.md` 14).
 */
import { InvalidInput } from '../errors.ts';
import { invalidCursor, seal, unseal } from './sealed-cursor.ts';

export interface SessionsCursor {
  readonly profile: string;
  /** The generation of the store file. */
  readonly generation: string;
  /** The server process that counted, and how far it had. */
  readonly boot: string;
  readonly position: number;
}

const VERSION = 1;

export function encodeSessionsCursor({ profile, generation, boot, position }: SessionsCursor): string {
  return seal([VERSION, 's', profile, generation, boot, position]);
}

/** Throws `InvalidInput` with CURSOR_INVALID for what is no such cursor, CURSOR_FOREIGN for one of another profile. */
export function decodeSessionsCursor(text: string, profile: string): SessionsCursor {
  const cursor = open(text);
  if (cursor === null) throw invalidCursor();
  if (cursor.profile !== profile)
    throw new InvalidInput('The live cursor belongs to another profile. Subscribe again without it.', {}, 'CURSOR_FOREIGN');
  return cursor;
}

function open(text: string): SessionsCursor | null {
  const parts = unseal(text);
  if (!Array.isArray(parts)) return null;
  const [version, kind, profile, generation, boot, position] = parts as unknown[];
  if (version !== VERSION || kind !== 's' || typeof profile !== 'string' || typeof generation !== 'string') return null;
  if (typeof boot !== 'string' || typeof position !== 'number' || !Number.isSafeInteger(position)) return null;
  return { profile, generation, boot, position };
}
