/**
 * Which file it is that a run's records stand in (`spec/live-turns.md` 8.3, 14.1 `g`): the same for every process that reads the file,
 * another after the owner began anew.
 */
import { createHash } from 'node:crypto';

const HASHED_BYTES = 512;

/** `firstLine`: the first line without its newline, or its beginning; the owner's header with the time it was written is in there. */
export function generationOf(ino: bigint, firstLine: Buffer): string {
  const hash = createHash('sha256').update(`${ino}:`).update(firstLine.subarray(0, HASHED_BYTES));
  return hash.digest('hex').slice(0, 8);
}
