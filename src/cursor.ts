/**
 * Opaque cursors of lists: the sort key of an item, the list it belongs to, and the generation of the store (`spec/state-db.md` 7.3, 15).
 * They hold nothing of this process, so they survive a restart.
 */
import { InvalidInput } from './errors.ts';

export type CursorKey = readonly (string | number | boolean | null)[];

interface CursorBody {
  /** Which list and order: a cursor of one list means nothing in another. */
  readonly l: string;
  /** The generation of the store file. */
  readonly g: string;
  readonly k: CursorKey;
}

const LONGEST_CURSOR = 4096;

export function encodeCursor(list: string, generation: string, key: CursorKey): string {
  return Buffer.from(JSON.stringify({ l: list, g: generation, k: key } satisfies CursorBody)).toString('base64url');
}

/** Throws `InvalidInput` with code BAD_CURSOR for what isn't a cursor of this list, STALE_CURSOR for one of a replaced store. */
export function decodeCursor(cursor: string, list: string, generation: string): CursorKey {
  const body = parse(cursor);
  if (body === null)
    throw new InvalidInput('The cursor is damaged or was not made by this server. Start again without it.', {}, 'BAD_CURSOR');
  if (body.l !== list) {
    throw new InvalidInput(
      'The cursor belongs to a list with other arguments (order, view or query). Start again without it.',
      {},
      'BAD_CURSOR',
    );
  }
  if (body.g !== generation) {
    throw new InvalidInput('The store was replaced since the cursor was made. Start again without it.', {}, 'STALE_CURSOR');
  }
  return body.k;
}

function parse(cursor: string): CursorBody | null {
  if (cursor.length > LONGEST_CURSOR || !/^[A-Za-z0-9_-]+$/.test(cursor)) return null;
  try {
    const body: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    return isBody(body) ? body : null;
  } catch {
    return null;
  }
}

function isBody(value: unknown): value is CursorBody {
  if (typeof value !== 'object' || value === null) return false;
  const { l, g, k } = value as Record<string, unknown>;
  const isKeyPart = (part: unknown) => part === null || typeof part === 'string' || typeof part === 'number' || typeof part === 'boolean';
  return typeof l === 'string' && typeof g === 'string' && Array.isArray(k) && k.every(isKeyPart);
}
