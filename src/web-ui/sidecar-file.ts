/**
 * The file in which the Web UI keeps one session (`spec/webui-sidecars.md` 1.2, 2): how it is named, and opening it for reading.
 * Below the sessions directory symbolic links are not followed.
 */
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { CaduceusError } from '../errors.ts';
import { JournalUnreadable, type OpenJournal, openJournal, systemCode } from '../live/journal/open-journal.ts';
import { WriteRefused } from '../write-refused.ts';

const EXTENSION = '.json';
const BACKUP = '.bak';
/** Names that begin with `_` or `.` are the owner's other files; a temporary file ends otherwise. */
const SAFE_ID = /^[0-9A-Za-z-][0-9A-Za-z_-]*$/;
const ALPHABET = /^[0-9A-Za-z_-]+$/;
/** The longest name that file systems take. */
const LONGEST_NAME = 255;

/** A sidecar is there but can't be read. The cause has the system's code. */
export class SidecarUnreadable extends CaduceusError {
  override readonly name = 'SidecarUnreadable';
  constructor(cause: unknown) {
    super('SIDECAR_UNREADABLE', `A session file of the Web UI can't be read (${systemCode(cause) ?? 'unknown reason'}).`, { cause });
  }
}

/** For `catch`, where one file that the system refuses, or that is over the limit, is not to take the others down. */
export function unlessUnreadable(error: unknown): null {
  if (error instanceof SidecarUnreadable || (error instanceof WriteRefused && error.code === 'SIDECAR_TOO_LARGE')) return null;
  throw error;
}

/** Whether the id may name a sidecar. */
export function isSidecarId(id: string): boolean {
  return SAFE_ID.test(id) && id.length + EXTENSION.length <= LONGEST_NAME;
}

/** Whether files of any kind may be named after the session (2): one that begins with `_` has no sidecar, but may have a transcript. */
export function isSessionFileId(id: string): boolean {
  return ALPHABET.test(id);
}

/** The name of the session's file in the sessions directory. The id must be one. */
export function sidecarName(sessionId: string): string {
  return sessionId + EXTENSION;
}

/** The session whose sidecar has this name; null for any other file. */
export function sessionIdOfSidecar(name: string): string | null {
  if (!name.endsWith(EXTENSION)) return null;
  const id = name.slice(0, -EXTENSION.length);
  return isSidecarId(id) ? id : null;
}

/** The open file, which the caller closes; null when there is none or the id is no id. Throws `SidecarUnreadable`. */
export async function openSidecar(sessionsDir: string, sessionId: string): Promise<OpenJournal | null> {
  return isSidecarId(sessionId) ? openBeside(sessionsDir, sidecarName(sessionId)) : null;
}

/** The backup that a save with fewer messages left, else as `openSidecar`. */
export async function openBackup(sessionsDir: string, sessionId: string): Promise<OpenJournal | null> {
  return isSidecarId(sessionId) ? openBeside(sessionsDir, `${sidecarName(sessionId)}${BACKUP}`) : null;
}

async function openBeside(sessionsDir: string, name: string): Promise<OpenJournal | null> {
  try {
    // The directory itself may be a link, what is in it may not.
    return await openJournal(join(await realpath(sessionsDir), name), true);
  } catch (error) {
    if (error instanceof JournalUnreadable) throw new SidecarUnreadable(error.cause);
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw new SidecarUnreadable(error);
  }
}

/** Another for every save: the owner replaces the file. */
export function sidecarVersion(file: Pick<OpenJournal, 'dev' | 'ino' | 'size' | 'mtimeNs' | 'ctimeNs'>): string {
  return [file.dev, file.ino, file.size, file.mtimeNs, file.ctimeNs].join(':');
}
