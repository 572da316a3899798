/** Looks at the folders that sessions work in (`spec/webui-listing.md` 17.2). Reads only. */
import { access, constants, readFile, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { systemCode } from '../live/journal/open-journal.ts';
import { isJsonObject, parseJson } from '../state-db/decode.ts';
import { isBlank } from './list/list-row.ts';
import { bindWorkspace, isTrustedPath, type PathFinding, type TrustRoots, type WorkspaceBinding } from './list/workspace-binding.ts';
import { lastWorkspace } from './session-defaults.ts';
import { readTerminalBackend } from './terminal-backend.ts';

export interface WorkspaceHomes {
  /** STATE_DIR of the Web UI. */
  readonly stateDir: string;
  /** The profile's own folder, which holds its configuration. */
  readonly profileHome: string;
  readonly isRootProfile: boolean;
}

const MOST_SAVED = 1000;

/** Each stored path bound as the Web UI would bind it, by path. */
export async function bindWorkspaces(
  stored: Iterable<string | null>,
  { stateDir, profileHome, isRootProfile }: WorkspaceHomes,
): Promise<ReadonlyMap<string | null, WorkspaceBinding>> {
  const ownDir = isRootProfile ? stateDir : join(profileHome, 'webui_state');
  const terminal = await readTerminalBackend(profileHome);
  const [home, saved, last] = await Promise.all([
    realOrSame(homedir()),
    savedWorkspaces(join(ownDir, 'workspaces.json')),
    lastWorkspace({
      stateDir,
      profileHome: isRootProfile ? null : profileHome,
      config: null,
      remoteTerminal: terminal === 'REMOTE',
      serverDefault: null,
    }),
  ]);
  const roots = { home, saved, bootDefault: null };
  const lastFinding = last === null ? 'MISSING' : await lookAt(last, roots);
  const bound = await Promise.all(
    [...new Set(stored)].map(async (path) => {
      const finding = path === null || isBlank(path) ? 'MISSING' : await lookAt(path, roots);
      return [path, bindWorkspace({ stored: path, finding, terminal, last, lastFinding })] as const;
    }),
  );
  return new Map(bound);
}

/** MISSING only where the path itself is not there: what can't be looked at may well be. */
async function lookAt(path: string, roots: TrustRoots): Promise<PathFinding> {
  if (!path.startsWith('/') || path.includes('\u0000')) return 'FAILED';
  try {
    const real = await realpath(path);
    if (!(await stat(real)).isDirectory()) return 'FAILED';
    await access(real, constants.R_OK | constants.X_OK);
    return isTrustedPath(real, roots) ? 'TRUSTED' : 'UNTRUSTED';
  } catch (error) {
    const code = systemCode(error);
    if (code === null) throw error;
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'MISSING' : 'FAILED';
  }
}

/** Paths, or objects with a `path`; of a file that is missing or damaged none. */
async function savedWorkspaces(file: string): Promise<string[]> {
  try {
    const parsed = parseJson(await readFile(file, 'utf8'));
    const paths = (Array.isArray(parsed) ? parsed : []).map((item: unknown) => (isJsonObject(item) ? item.path : item));
    const texts = paths.filter((path) => typeof path === 'string').filter((path) => path.startsWith('/') && !path.includes('\u0000'));
    return Promise.all(texts.slice(0, MOST_SAVED).map(realOrSame));
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return [];
  }
}

async function realOrSame(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return path;
  }
}
