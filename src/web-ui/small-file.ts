/**
 * Small files that people write by hand. Nothing that stands in the place of one holds up whoever reads it.
 */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { systemCode } from '../live/journal/open-journal.ts';

export interface SmallFile {
  /** UNREADABLE: over the limit, no plain file, or the system refuses. */
  readonly status: 'OK' | 'MISSING' | 'UNREADABLE';
  /** Null unless OK. */
  readonly bytes: Buffer | null;
}

/** A pipe opens at once, and is then no plain file. Windows has no such flag. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
const MISSING: SmallFile = { status: 'MISSING', bytes: null };
const UNREADABLE: SmallFile = { status: 'UNREADABLE', bytes: null };

/** The whole file; links are followed. Throws nothing for what is wrong with it. */
export async function readSmallFile(path: string, maxBytes: number): Promise<SmallFile> {
  try {
    const file = await open(path, FLAGS);
    try {
      if (!(await file.stat()).isFile()) return UNREADABLE;
      // Not by the size that it tells: it may grow meanwhile.
      const room = Buffer.alloc(maxBytes + 1);
      let length = 0;
      for (;;) {
        const { bytesRead } = await file.read(room, length, room.length - length);
        length += bytesRead;
        if (length > maxBytes) return UNREADABLE;
        if (bytesRead === 0) return { status: 'OK', bytes: room.subarray(0, length) };
      }
    } finally {
      await file.close();
    }
  } catch (error) {
    const code = systemCode(error);
    if (code === null) throw error;
    return code === 'ENOENT' || code === 'ENOTDIR' ? MISSING : UNREADABLE;
  }
}
