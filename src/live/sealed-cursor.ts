/**
 * What all live cursors are: opaque texts with a checksum that tells damage and invention apart from a cursor (`spec/live-turns.md` 14.1). It
 * is no right to anything.
 */
import { createHash } from 'node:crypto';
import { InvalidInput } from '../errors.ts';
import { parseJson } from '../state-db/decode.ts';

/** Longer texts are not looked at: a cursor of very long ids may be over the 1,024 characters that it should keep to. */
const LONGEST_READ = 2048;
const CHECKSUM_LENGTH = 11;

export function seal(parts: readonly unknown[]): string {
  const body = JSON.stringify(parts);
  return Buffer.from(checksum(body) + body).toString('base64url');
}

/** What was sealed; undefined for what is no such text. */
export function unseal(text: string): unknown {
  if (text.length > LONGEST_READ) return undefined;
  const raw = Buffer.from(text, 'base64url').toString('utf8');
  const body = raw.slice(CHECKSUM_LENGTH);
  return checksum(body) === raw.slice(0, CHECKSUM_LENGTH) ? parseJson(body) : undefined;
}

export function invalidCursor(): InvalidInput {
  return new InvalidInput('The live cursor is damaged or was not made by this server. Subscribe again without it.', {}, 'CURSOR_INVALID');
}

function checksum(body: string): string {
  return createHash('sha256').update(`caduceus live cursor ${body}`).digest('base64url').slice(0, CHECKSUM_LENGTH);
}
