/** The calls of the file system that spool and divert files are made with, each one a place at which a process can die or a disk can fail. */
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  opendirSync,
  openSync,
  readSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { CaduceusError } from '../errors.ts';

const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;

export interface FileFacts {
  readonly kind: 'FILE' | 'FOLDER' | 'OTHER';
  readonly size: number;
  /** Epoch milliseconds of the last change of the bytes. */
  readonly writtenAt: number;
  /** Epoch milliseconds of the last change of the bytes or, where the system tells it, of the name. */
  readonly changedAt: number;
  /** Differs whenever the file is another or its bytes are. */
  readonly version: string;
}

/** Every call throws what `node:fs` throws. None follows a symbolic link in the last part of the path. */
export interface SpoolFiles {
  /** `parents`: make the folders above too. */
  makeFolder(path: string, parents: boolean): void;
  restrictFolder(path: string): void;
  /** Null where there is nothing. A symbolic link is OTHER. */
  facts(path: string): FileFacts | null;
  /** Names in a folder, at most `limit`; an empty list where there is no folder. */
  names(path: string, limit: number): string[];
  /** The bytes of a regular file; null where there is none, or where it holds more than `limit`. */
  read(path: string, limit: number): Buffer | null;
  /** A new empty file, open for writing. */
  create(path: string): number;
  restrict(file: number): void;
  write(file: number, bytes: Buffer): void;
  sync(file: number): void;
  close(file: number): void;
  /** A file to append to, made when missing. */
  openToAppend(path: string): number;
  /** The last byte of an open file; null when it is empty. */
  lastByte(file: number): number | null;
  rename(from: string, to: string): void;
  remove(path: string): void;
  syncFolder(path: string): void;
}

/** A spool or divert file could not be written; what should be kept is where it was. `reason` says why. */
export class SpoolUnwritable extends CaduceusError {
  override readonly name = 'SpoolUnwritable';
  readonly reason: 'HOME_GONE' | 'NOT_A_FOLDER' | 'NO_SPACE' | 'UNSAFE_NAME' | 'NOT_EXPRESSIBLE' | 'CLAIM_LOST' | 'FAILED';
  constructor(reason: SpoolUnwritable['reason'], cause?: unknown) {
    super('SPOOL_UNWRITABLE', `The message could not be put aside on disk (${reason}).`, { cause, details: { reason } });
    this.reason = reason;
  }
}

/** The error of a call as one of ours. */
export function asUnwritable(error: unknown): SpoolUnwritable {
  if (error instanceof SpoolUnwritable) return error;
  const code = errorCode(error);
  return new SpoolUnwritable(code === 'ENOSPC' || code === 'EDQUOT' ? 'NO_SPACE' : 'FAILED', error);
}

/** The code of a system error, such as ENOENT; null for anything else. */
export function errorCode(error: unknown): string | null {
  return error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

/** The calls of the machine. */
export const NODE_FILES: SpoolFiles = {
  makeFolder: (path, parents) => {
    mkdirSync(path, { recursive: parents, mode: PRIVATE_FOLDER });
  },
  restrictFolder: (path) => chmodSync(path, PRIVATE_FOLDER),
  facts: (path) => {
    const found = lstatSync(path, { throwIfNoEntry: false });
    return found === undefined ? null : factsOf(found);
  },
  names: (path, limit) => orNull(() => readNames(path, limit)) ?? [],
  read: (path, limit) => orNull(() => readRegular(path, limit)),
  // Not followed, and a pipe that waits for its other end does not hold the process up. Windows lacks both flags.
  create: (path) => openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0), PRIVATE_FILE),
  restrict: (file) => fchmodSync(file, PRIVATE_FILE),
  write: (file, bytes) => writeFileSync(file, bytes),
  sync: (file) => fsyncSync(file),
  close: (file) => closeSync(file),
  openToAppend: (path) => {
    const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
    return openSync(path, flags, PRIVATE_FILE);
  },
  lastByte: (file) => {
    const { size } = fstatSync(file);
    const last = Buffer.alloc(1);
    return size > 0 && readSync(file, last, 0, 1, size - 1) === 1 ? last.readUInt8() : null;
  },
  rename: (from, to) => renameSync(from, to),
  remove: (path) => unlinkSync(path),
  syncFolder: (path) => {
    const folder = openSync(path, constants.O_RDONLY);
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  },
};

function factsOf(found: Stats): FileFacts {
  return {
    kind: found.isFile() ? 'FILE' : found.isDirectory() ? 'FOLDER' : 'OTHER',
    size: found.size,
    writtenAt: found.mtimeMs,
    changedAt: Math.max(found.mtimeMs, found.ctimeMs),
    version: `${found.dev}:${found.ino}:${found.size}:${found.mtimeMs}:${found.ctimeMs}`,
  };
}

function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

function readNames(path: string, limit: number): string[] {
  const folder = opendirSync(path);
  try {
    const names: string[] = [];
    while (names.length < limit) {
      const entry = folder.readSync();
      if (entry === null) break;
      names.push(entry.name);
    }
    return names;
  } finally {
    folder.closeSync();
  }
}

function readRegular(path: string, limit: number): Buffer | null {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    const found = fstatSync(file);
    if (!found.isFile() || found.size > limit) return null;
    // The size as it was: a file that grows is none of ours, and what was asked to be bounded stays so.
    const bytes = Buffer.alloc(found.size);
    let length = 0;
    while (length < bytes.length) {
      const read = readSync(file, bytes, length, bytes.length - length, length);
      if (read === 0) break;
      length += read;
    }
    return bytes.subarray(0, length);
  } finally {
    closeSync(file);
  }
}
