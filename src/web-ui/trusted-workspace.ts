/**
 * Whether a folder that is named may be a workspace (`spec/webui-listing.md` 17.2).
 */
import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { systemCode } from '../live/journal/open-journal.ts';
import { isJsonObject, parseJson } from '../state-db/decode.ts';
import { isTrustedPath, type PathFinding } from './list/workspace-binding.ts';
import { LONGEST_PATH, type WorkspacePlaces } from './session-defaults.ts';
import { readSmallFile } from './small-file.ts';

export interface FoundWorkspace {
  readonly finding: PathFinding;
  /** The real path; null unless it is trusted. */
  readonly path: string | null;
}

const FILE = 'workspaces.json';
const MAX_BYTES = 1024 * 1024;
/** Each costs a look at the disk. */
const MOST_SAVED = 500;

/** Looks at an absolute path of this machine. Links count by where they lead to. */
export async function findWorkspace(
  path: string,
  places: Pick<WorkspacePlaces, 'stateDir' | 'profileHome' | 'serverDefault'>,
): Promise<FoundWorkspace> {
  if (!isAbsolute(path) || path.length > LONGEST_PATH || path.includes('\u0000')) return { finding: 'UNTRUSTED', path: null };
  let real: string;
  try {
    real = await realpath(path);
    if (!(await stat(real)).isDirectory()) return { finding: 'FAILED', path: null };
    await access(real, constants.R_OK | constants.X_OK);
  } catch (error) {
    const code = systemCode(error);
    if (code === null) throw error;
    return { finding: code === 'ENOENT' || code === 'ENOTDIR' ? 'MISSING' : 'FAILED', path: null };
  }
  const isTrusted = isTrustedPath(real, {
    home: await realOf(homedir()),
    saved: await Promise.all((await savedWorkspaces(places)).map(realOf)),
    bootDefault: places.serverDefault === null ? null : await realOf(places.serverDefault),
  });
  return isTrusted ? { finding: 'TRUSTED', path: real } : { finding: 'UNTRUSTED', path: null };
}

/** Entries are paths, or objects with one. */
async function savedWorkspaces({ stateDir, profileHome }: Pick<WorkspacePlaces, 'stateDir' | 'profileHome'>): Promise<string[]> {
  const { bytes } = await readSmallFile(join(profileHome === null ? stateDir : join(profileHome, 'webui_state'), FILE), MAX_BYTES);
  const entries: unknown = bytes === null ? null : parseJson(bytes.toString('utf8'));
  if (!Array.isArray(entries)) return [];
  return entries.slice(0, MOST_SAVED).flatMap((entry: unknown) => {
    const path = isJsonObject(entry) ? entry.path : entry;
    return typeof path === 'string' && isAbsolute(path) && !path.includes('\u0000') ? [path] : [];
  });
}

async function realOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return path;
  }
}
