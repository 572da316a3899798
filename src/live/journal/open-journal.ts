/**
 * Opens one journal file for reading (`spec/live-turns.md` 8.3, 18): below its root symbolic links are not followed, and what is no
 * regular file counts as absent.
 */
import { constants } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CaduceusError } from '../../errors.ts';

/** A journal is there but can't be read. The cause has the system's code. */
export class JournalUnreadable extends CaduceusError {
  override readonly name = 'JournalUnreadable';
  constructor(cause: unknown) {
    super('JOURNAL_UNREADABLE', `A journal can't be read (${systemCode(cause) ?? 'unknown reason'}). Check the rights of the server.`, {
      cause,
    });
  }
}

export interface OpenJournal {
  readonly handle: FileHandle;
  readonly dev: bigint;
  readonly ino: bigint;
  readonly size: number;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

/** O_NONBLOCK: a named pipe in the place of a journal must not hold the thread that opens it. Windows has neither flag. */
export const JOURNAL_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EMLINK', 'ENXIO', 'EISDIR']);
/** Another process may hold a file for a moment while it renames it (Windows). */
const HELD = new Set(['EBUSY', 'EPERM', 'EACCES']);
const HELD_TRIES = 3;
const HELD_WAIT_MS = 20;

/**
 * The open file, which the caller closes, or null when there is none. `inRealFolder`: the folder's path has just been resolved. Throws
 * `JournalUnreadable`.
 */
export async function openJournal(path: string, inRealFolder = false): Promise<OpenJournal | null> {
  for (let attempt = 1; ; attempt++) {
    try {
      if (!inRealFolder && !(await lstat(dirname(path))).isDirectory()) return null;
      return await openOnce(path);
    } catch (error) {
      const code = systemCode(error);
      if (code !== null && ABSENT.has(code)) return null;
      if (process.platform !== 'win32' || code === null || !HELD.has(code) || attempt > HELD_TRIES) throw new JournalUnreadable(error);
      await sleep(HELD_WAIT_MS);
    }
  }
}

async function openOnce(path: string): Promise<OpenJournal | null> {
  const handle = await open(path, JOURNAL_FLAGS);
  try {
    const stat = await handle.stat({ bigint: true });
    if (stat.isFile()) {
      const { dev, ino, mtimeNs, ctimeNs } = stat;
      return { handle, dev, ino, size: Number(stat.size), mtimeNs, ctimeNs };
    }
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  return null;
}

/** The bytes of a range, fewer where the file ends before it. */
export async function readRange({ handle }: OpenJournal, buffer: Buffer, from: number, length: number): Promise<Buffer> {
  const { bytesRead } = await handle.read(buffer, 0, length, from);
  return buffer.subarray(0, bytesRead);
}

export function systemCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}
