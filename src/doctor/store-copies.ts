/**
 * Private copies of stores for a process that must not leave a trace: SQLite makes -wal and -shm files beside whatever it opens, even to
 * read (`spec/state-db.md` 2.2). Only for a process that has no connection to a store: closing a file drops the locks of its process.
 */
import { constants } from 'node:fs';
import { chmod, copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CaduceusError } from '../errors.ts';
import { systemCode } from '../live/journal/open-journal.ts';
import { type FileIdentity, fileIdentity, walPathOf } from '../state-db/health.ts';
import { headroom, volumeOf } from '../state-db/repair/free-space.ts';

/** A store that is written to all the time is read in place: its writers have made those files. */
const TRIES = 3;
const PRIVATE = 0o600;

export class StoreCopies {
  readonly #folders: string[] = [];
  readonly #known = new Map<string, Promise<string>>();

  /**
   * Where to read the store: a copy of it with what its -wal holds, or its own path where there is nothing to copy, or it never holds still.
   * Throws NO_SPACE.
   */
  pathFor(storePath: string): Promise<string> {
    const known = this.#known.get(storePath) ?? this.#copy(storePath);
    this.#known.set(storePath, known);
    return known;
  }

  /** Removes the copies. Nothing may have them open any more. */
  async close(): Promise<void> {
    await Promise.all(this.#folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })));
  }

  async #copy(storePath: string): Promise<string> {
    if ((fileIdentity(storePath)?.size ?? 0n) === 0n) return storePath;
    const folder = await mkdtemp(join(tmpdir(), 'caduceus-doctor-'));
    this.#folders.push(folder);
    const copy = join(folder, 'state.db');
    const parts = [
      [storePath, copy],
      [walPathOf(storePath), `${copy}-wal`],
    ] as const;
    requireRoom(storePath, copy);
    for (let attempt = 1; attempt <= TRIES; attempt++) {
      const before = parts.map(([from]) => fileIdentity(from));
      if (!(await copyAll(parts))) return storePath;
      const after = parts.map(([from]) => fileIdentity(from));
      if (before.every((identity, index) => isUnchanged(identity, after[index] ?? null))) return copy;
    }
    return storePath;
  }
}

/** False: the system refuses to read it, which whoever reads it in place is told too. */
async function copyAll(parts: readonly (readonly [from: string, to: string])[]): Promise<boolean> {
  for (const [from, to] of parts) {
    await rm(to, { force: true });
    if (fileIdentity(from) === null) continue;
    try {
      await copyFile(from, to, constants.COPYFILE_FICLONE);
      await chmod(to, PRIVATE);
    } catch (error) {
      if (systemCode(error) === null) throw error;
      return false;
    }
  }
  return true;
}

function isUnchanged(a: FileIdentity | null, b: FileIdentity | null): boolean {
  if (a === null || b === null) return a === b;
  return a.inode === b.inode && a.size === b.size && a.modifiedNs === b.modifiedNs;
}

function requireRoom(storePath: string, copy: string): void {
  const volume = volumeOf(copy);
  const needed = Number((fileIdentity(storePath)?.size ?? 0n) + (fileIdentity(walPathOf(storePath))?.size ?? 0n));
  if (volume.free - needed > Math.min(headroom(volume), volume.free / 2)) return;
  throw new CaduceusError(
    'NO_SPACE',
    `${Math.ceil(needed / 1024 / 1024)} MiB are needed in ${tmpdir()} for a copy of the store. Set TMPDIR to a folder with more room.`,
  );
}
