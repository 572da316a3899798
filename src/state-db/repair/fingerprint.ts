/**
 * What the bytes of a store's file say without SQLite (`spec/state-db-writes.md` H6, Q6). Only for a process that has no connection to
 * the store: closing such a descriptor drops the locks that the process holds on the file (W11).
 */
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const SAMPLE_BYTES = 65_536;
/** The change counter and the number of the version that wrote last: both move without the content. */
const VOLATILE: readonly (readonly [start: number, end: number])[] = [
  [24, 28],
  [92, 96],
];
const DIGITS = 32;
const MAGIC = Buffer.from('SQLite format 3\0', 'latin1');
const HEADER_BYTES = 100;
const WRITE_VERSION_OFFSET = 18;
const WAL_VERSION = 2;

export type HeaderState = 'MISSING' | 'EMPTY' | 'ZEROED' | 'GARBAGE' | 'DATABASE';

/** `<size>:<digits>`, equal for a store that nobody changed meanwhile; null when the file can't be read. */
export function storeFingerprint(path: string): string | null {
  try {
    return withFile(path, (file, size) => {
      const head = readAt(file, 0, Math.min(size, SAMPLE_BYTES));
      for (const [start, end] of VOLATILE) head.fill(0, start, end);
      const hash = createHash('sha256').update(head);
      if (size > SAMPLE_BYTES) hash.update(readAt(file, size - SAMPLE_BYTES, SAMPLE_BYTES));
      return `${size}:${hash.digest('hex').slice(0, DIGITS)}`;
    });
  } catch {
    // No file, no permission, or a disk that doesn't read: there is nothing to compare by.
    return null;
  }
}

/** What the file begins with. Throws for a file that is there and can't be read. */
export function readHeaderState(path: string): HeaderState {
  const header = readHeader(path);
  if (header === null) return 'MISSING';
  if (header.length === 0) return 'EMPTY';
  if (header.subarray(0, MAGIC.length).equals(MAGIC)) return 'DATABASE';
  return header.every((byte) => byte === 0) ? 'ZEROED' : 'GARBAGE';
}

/** Whether the file is nothing but an empty or zeroed shell of a store. */
export function isZeroed(path: string): boolean {
  const state = readHeaderState(path);
  return state === 'EMPTY' || state === 'ZEROED';
}

/** The journal mode that the file says it has; null for a file that is no database. */
export function storedJournalMode(path: string): 'wal' | 'delete' | null {
  const header = readHeader(path);
  if (header === null || !header.subarray(0, MAGIC.length).equals(MAGIC)) return null;
  return header[WRITE_VERSION_OFFSET] === WAL_VERSION ? 'wal' : 'delete';
}

function readHeader(path: string): Buffer | null {
  try {
    return withFile(path, (file, size) => readAt(file, 0, Math.min(size, HEADER_BYTES)));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

function withFile<T>(path: string, work: (file: number, size: number) => T): T {
  const file = openSync(path, 'r');
  try {
    return work(file, fstatSync(file).size);
  } finally {
    closeSync(file);
  }
}

function readAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const read = readSync(file, bytes, filled, length - filled, position + filled);
    if (read === 0) break;
    filled += read;
  }
  return bytes.subarray(0, filled);
}
