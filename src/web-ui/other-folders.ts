/**
 * Whether another folder than the named one may be the Web UI's (`spec/webui-sidecars.md` 1.1).
 */
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { systemCode } from '../live/journal/open-journal.ts';
import { trimSpace } from '../state-db/whitespace.ts';
import { indexPath } from './index-file/index-file.ts';
import { listSidecars } from './sidecar/list-sidecars.ts';

const SESSIONS = 'sessions';
const EMPTY_INDEX = new Set(['', '{}', '[]', 'null']);

/** Names of folders beside this one that hold sessions while this one holds none. Throws `SidecarUnreadable`. */
export async function foldersWithSessions(stateDir: string): Promise<string[]> {
  const sessionsDir = join(stateDir, SESSIONS);
  const { ids, ignoredFiles } = await listSidecars(sessionsDir);
  const isEmpty = ids.length === 0 && ignoredFiles.length === 0 && (await isIndexEmpty(sessionsDir));
  return isEmpty ? siblingsWithSessions(stateDir) : [];
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
