/**
 * The cursor of a live feed: positions in what the server can read again, with a checksum that tells damage (`spec/live-turns.md` 14).
 */
import { createHash } from 'node:crypto';
import { InvalidInput } from '../errors.ts';

export interface SessionsCursor {
  readonly profile: string;
  /** The generation of the store file. */
  readonly generation: string;
  /** The server process that counted, and how far it had. */
  readonly boot: string;
  readonly position: number;
}

const VERSION = 1;
const LONGEST = 1024;

export function encodeSessionsCursor(cursor: SessionsCursor): string {
  const body = JSON.stringify([VERSION, 's', cursor.profile, cursor.generation, cursor.boot, cursor.position]);
  return Buffer.from(checksum(body) + body).toString('base64url');
}

/** Throws `InvalidInput` with CURSOR_INVALID for what is no such cursor, CURSOR_FOREIGN for one of another profile. */
export function decodeSessionsCursor(text: string, profile: string): SessionsCursor {
  const body = text.length > LONGEST ? null : open(text);
  if (body === null)
    throw new InvalidInput('The live cursor is damaged or was not made by this server. Subscribe again without it.', {}, 'CURSOR_INVALID');
  if (body.profile !== profile)
    throw new InvalidInput('The live cursor belongs to another profile. Subscribe again without it.', {}, 'CURSOR_FOREIGN');
  return body;
}

function open(text: string): SessionsCursor | null {
  const raw = Buffer.from(text, 'base64url').toString('utf8');
  const body = raw.slice(CHECKSUM_LENGTH);
  if (checksum(body) !== raw.slice(0, CHECKSUM_LENGTH)) return null;
  try {
    const parts: unknown = JSON.parse(body);
    if (!Array.isArray(parts)) return null;
    const [version, kind, profile, generation, boot, position] = parts as unknown[];
    if (version !== VERSION || kind !== 's' || typeof profile !== 'string' || typeof generation !== 'string') return null;
    if (typeof boot !== 'string' || typeof position !== 'number' || !Number.isSafeInteger(position)) return null;
    return { profile, generation, boot, position };
  } catch {
    return null;
  }
}

const CHECKSUM_LENGTH = 11;

/** Tells damage and invention apart from a cursor; it is no right to anything. */
function checksum(body: string): string {
  return createHash('sha256').update(`caduceus live cursor ${body}`).digest('base64url').slice(0, CHECKSUM_LENGTH);
}
