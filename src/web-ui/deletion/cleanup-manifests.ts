/**
 * What deletions leave behind to be cleaned up: `.cleanup_manifest_<hex>.json` in the `sessions` folder of a Hermes home, a list of the ids whose
 * rows are gone (`spec/webui-transcript.md` 19.5). Running Web UIs write and read them too, so their form is fixed.
 */
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CaduceusError } from '../../errors.ts';
import { systemCode } from '../../live/journal/open-journal.ts';
import { parseJson } from '../../state-db/decode.ts';
import { pythonJson } from '../../state-db/write/python-json.ts';
import { isSessionFileId } from '../sidecar-file.ts';

export interface CleanupManifest {
  readonly name: string;
  /** In the order of the file; none unless `status` is OK. */
  readonly sessionIds: readonly string[];
  /** MALFORMED: no list of texts. UNREADABLE: the system refuses, or it is too large. Both stay until a person removes them. */
  readonly status: 'OK' | 'MALFORMED' | 'UNREADABLE';
}

/** The folder that may hold manifests can't be listed. */
export class ManifestsUnreadable extends CaduceusError {
  override readonly name = 'ManifestsUnreadable';
  constructor(reason: string, cause: unknown) {
    super('MANIFESTS_UNREADABLE', `The folder of transcripts in the Hermes home can't be listed (${reason}).`, { cause });
  }
}

const NAME = /^\.cleanup_manifest_.*\.json$/s;
const MAX_BYTES = 16 * 1024 * 1024;
const PRIVATE_FILE = 0o600;

/** Where a home keeps them, beside the transcripts of its sessions. */
export function artifactsDir(home: string): string {
  return join(home, 'sessions');
}

/** Those of a Hermes home, by name; none without a folder. Only reads. Throws `ManifestsUnreadable` for a folder that can't be listed. */
export async function cleanupManifests(home: string): Promise<CleanupManifest[]> {
  const folder = artifactsDir(home);
  let names: string[];
  try {
    names = (await readdir(folder)).filter((name) => NAME.test(name)).sort();
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw code === null ? error : new ManifestsUnreadable(code, error);
  }
  const found: CleanupManifest[] = [];
  for (const name of names) found.push(await readManifest(folder, name));
  return found;
}

async function readManifest(folder: string, name: string): Promise<CleanupManifest> {
  const path = join(folder, name);
  try {
    const seen = await lstat(path);
    if (!seen.isFile() || seen.size > MAX_BYTES) return { name, sessionIds: [], status: 'UNREADABLE' };
    const value = parseJson(await readFile(path, 'utf8'));
    const isList = Array.isArray(value) && value.every((id) => typeof id === 'string');
    return isList ? { name, sessionIds: value, status: 'OK' } : { name, sessionIds: [], status: 'MALFORMED' };
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return { name, sessionIds: [], status: 'UNREADABLE' };
  }
}

/**
 * Puts the ids on the disk for good, before the rows of their sessions go. An id that names no file is left out: no program could ever cross
 * it off. `token`: 32 hexadecimal digits. Without returning to the event loop, since a transaction is open. Throws an error of the system.
 */
export function publishManifest(home: string, token: string, sessionIds: readonly string[]): void {
  const folder = artifactsDir(home);
  mkdirSync(folder, { recursive: true });
  replaceManifest(folder, manifestName(token), sessionIds.filter(isSessionFileId).sort());
}

function manifestName(token: string): string {
  return `.cleanup_manifest_${token}.json`;
}

/** Writes the ids that are left. Throws an error of the system. */
export function replaceManifest(folder: string, name: string, sessionIds: readonly string[]): void {
  const path = join(folder, name);
  const temporary = `${path.slice(0, -'.json'.length)}.tmp`;
  try {
    writeFlushed(temporary, pythonJson(sessionIds));
    renameSync(temporary, path);
    flushFolder(folder);
  } catch (error) {
    discard(temporary);
    throw error;
  }
}

function writeFlushed(path: string, text: string): void {
  const descriptor = openSync(path, 'w', PRIVATE_FILE);
  try {
    writeFileSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function flushFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function discard(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It was never made, or was renamed.
  }
}
