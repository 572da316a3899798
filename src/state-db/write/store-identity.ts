/**
 * Whether the file behind a path is still the one that is open for writing (`spec/state-db-writes.md` Q1, Q2). A writer that goes on after a
 * replacement puts conversations into a file that nobody will find again.
 */
import { closeSync, fstatSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs';
import { WriteRefused } from '../../write-refused.ts';
import { type FileIdentity, fileIdentity, isSameFile, walPathOf } from '../health.ts';

const APPLICATION_ID_OFFSET = 68;
const DESCRIPTORS = '/proc/self/fd';

/**
 * Descriptors of store files, by path and inode, kept until the process ends: closing one would drop every lock that SQLite holds on the
 * file (W11).
 */
const headers = new Map<string, number>();

export class StoreIdentity {
  readonly #path: string;
  #walPath = '';
  #header: number | null = null;
  #file: FileIdentity | null = null;
  #applicationId = 0;
  #sidecars: { readonly wal: FileIdentity | null; readonly shm: FileIdentity | null } | null = null;

  /** To be made before the process opens the store with SQLite. */
  constructor(path: string) {
    this.#path = path;
    this.#adopt();
  }

  /** Remembers the -wal and -shm of the connection that was just opened; `isWal` is its journal mode. */
  recordSidecars(isWal: boolean): void {
    if (!isWal) {
      this.#sidecars = null;
      return;
    }
    if (hasDeletedSidecars(this.#walPath)) throw new WriteRefused('WAL_GENERATION_LOST');
    const wal = fileIdentity(this.#walPath);
    const shm = fileIdentity(shmPathOf(this.#walPath));
    this.#sidecars = wal === null || shm === null ? null : { wal, shm };
  }

  /** After an orderly close: the next connection makes files of its own. */
  forgetSidecars(): void {
    this.#sidecars = null;
  }

  /** Throws STORE_REPLACED or WAL_GENERATION_LOST, and STORE_UNREADABLE while there never was a file. An inode of 0 and an application id of 0 say nothing. */
  check(): void {
    if (this.#file === null && !this.#adopt()) throw new WriteRefused('STORE_UNREADABLE', 'There is no state.db.');
    const now = fileIdentity(this.#path);
    if (now === null || !isSameFile(this.#file, now)) throw new WriteRefused('STORE_REPLACED');
    const applicationId = this.#readApplicationId();
    if (this.#applicationId !== 0 && applicationId !== 0 && applicationId !== this.#applicationId) throw new WriteRefused('STORE_REPLACED');
    if (this.#applicationId === 0) this.#applicationId = applicationId;
    if (this.#sidecars === null) return;
    const isSame = (before: FileIdentity | null, path: string) => {
      const found = fileIdentity(path);
      return found !== null && isSameFile(before, found);
    };
    const { wal, shm } = this.#sidecars;
    if (!isSame(wal, this.#walPath) || !isSame(shm, shmPathOf(this.#walPath))) throw new WriteRefused('WAL_GENERATION_LOST');
  }

  /** Takes the file that is there for the one to write to; false where there is none. */
  #adopt(): boolean {
    this.#file = fileIdentity(this.#path);
    if (this.#file === null) return false;
    this.#walPath = walPathOf(this.#path);
    this.#header = headerOf(this.#path, this.#file);
    this.#applicationId = this.#readApplicationId();
    return true;
  }

  #readApplicationId(): number {
    const bytes = Buffer.alloc(4);
    if (this.#header === null || readSync(this.#header, bytes, 0, 4, APPLICATION_ID_OFFSET) < 4) return 0;
    return bytes.readUInt32BE(0);
  }
}

function headerOf(path: string, file: FileIdentity): number | null {
  const key = `${file.device}:${file.inode}`;
  const known = headers.get(key);
  if (known !== undefined) return known;
  try {
    const descriptor = openSync(path, 'r');
    if (!fstatSync(descriptor).isFile()) {
      closeSync(descriptor);
      return null;
    }
    headers.set(key, descriptor);
    return descriptor;
  } catch {
    // What can't be opened here can't be opened by SQLite either, and that says why.
    return null;
  }
}

function shmPathOf(walPath: string): string {
  return walPath.replace(/-wal$/, '-shm');
}

/** Linux only: whether this process holds a -wal or -shm of the store that no path names any more. */
function hasDeletedSidecars(walPath: string): boolean {
  const deleted = [walPath, shmPathOf(walPath)].map((path) => `${path} (deleted)`);
  try {
    return readdirSync(DESCRIPTORS).some((descriptor) => {
      try {
        return deleted.includes(readlinkSync(`${DESCRIPTORS}/${descriptor}`));
      } catch {
        // Closed meanwhile, as the one of this listing is.
        return false;
      }
    });
  } catch {
    // No such folder on other systems; the files themselves are compared all the same.
    return false;
  }
}
