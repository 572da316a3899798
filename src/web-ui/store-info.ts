/**
 * Where the Web UI's files are and how they look as a whole (`spec/webui-sidecars.md` 1.1, 1.4, 15).
 */
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { systemCode } from '../live/journal/open-journal.ts';
import { trimSpace } from '../state-db/whitespace.ts';
import { indexPath } from './index-file/index-file.ts';
import { listSidecars } from './sidecar/list-sidecars.ts';
import { hasOverlayStore } from './sidecar/save-sidecar.ts';
import { type StaleFile, staleTemporaryFiles } from './temporary-files.ts';

export interface WebUiStoreInfo {
  readonly stateDir: string;
  readonly sessionsDir: string;
  readonly sessions: number;
  readonly ignoredFiles: readonly string[];
  readonly staleTempFiles: readonly StaleFile[];
  /** Sessions may live in a database of the Web UI's own; the files are not written to. */
  readonly overlayStore: boolean;
  /** Names of folders beside this one that hold sessions while this one holds none: the wrong one may be in use. */
  readonly emptyStoreHint: readonly string[];
}

const SESSIONS = 'sessions';
const EMPTY_INDEX = new Set(['', '{}', '[]', 'null']);

/** Throws `SidecarUnreadable`. */
export async function describeStore(stateDir: string): Promise<WebUiStoreInfo> {
  const sessionsDir = join(stateDir, SESSIONS);
  const { ids, ignoredFiles } = await listSidecars(sessionsDir);
  const isEmpty = ids.length === 0 && ignoredFiles.length === 0 && (await isIndexEmpty(sessionsDir));
  return {
    stateDir,
    sessionsDir,
    sessions: ids.length,
    ignoredFiles,
    staleTempFiles: await staleTemporaryFiles(sessionsDir),
    overlayStore: await hasOverlayStore(sessionsDir),
    emptyStoreHint: isEmpty ? await siblingsWithSessions(stateDir) : [],
  };
}

async function isIndexEmpty(sessionsDir: string): Promise<boolean> {
  try {
    return EMPTY_INDEX.has(trimSpace(await readFile(indexPath(sessionsDir), 'utf8')));
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return true;
  }
}

async function siblingsWithSessions(stateDir: string): Promise<string[]> {
  const found: string[] = [];
  for (const name of await namesIn(dirname(stateDir))) {
    if (name === basename(stateDir)) continue;
    const names = await namesIn(join(dirname(stateDir), name, SESSIONS));
    if (names.some((file) => file.endsWith('.json') && !file.startsWith('_'))) found.push(name);
  }
  return found;
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return [];
  }
}
