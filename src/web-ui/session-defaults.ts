/**
 * What a new session begins with when nothing is said (`spec/webui-listing.md` 15.1, 15.2). Configurations come in as parsed values: who
 * reads `config.yaml` passes what a YAML parser gave, or null for a file that is missing or damaged.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../live/journal/open-journal.ts';
import { isJsonObject } from '../state-db/decode.ts';
import { readSmallFile } from './small-file.ts';

type Env = Readonly<Record<string, string | undefined>>;

export interface ModelChoice {
  /** Empty when nothing names one. */
  readonly model: string;
  readonly provider: string | null;
}

/** The model and provider of a new session. A model that is asked for stands as it is, with the provider that is asked for. */
export function sessionModel(
  asked: { readonly model?: string | null; readonly provider?: string | null },
  profileConfig: unknown,
  effectiveDefault: string,
): ModelChoice {
  const model = word(asked.model);
  const provider = word(asked.provider);
  if (model !== null) return { model, provider };
  const configured = configuredModel(profileConfig);
  return { model: configured.model ?? effectiveDefault, provider: provider?.toLowerCase() ?? configured.provider };
}

/** 15.1: the model of the server's configuration, unless the environment names one. */
export function effectiveDefaultModel(serverConfig: unknown, env: Env): string {
  const named = word(env.HERMES_MODEL) ?? word(env.OPENAI_MODEL) ?? word(env.LLM_MODEL);
  return named ?? configuredModel(serverConfig).model ?? word(env.HERMES_WEBUI_DEFAULT_MODEL) ?? '';
}

/** The key `model`: a name, or an object with `default` and `provider`. */
export function configuredModel(config: unknown): { readonly model: string | null; readonly provider: string | null } {
  const value = isJsonObject(config) ? config.model : undefined;
  if (isJsonObject(value)) return { model: word(value.default), provider: word(value.provider) };
  return { model: word(value), provider: null };
}

/** 15.3: worktrees by default only where the configuration says exactly true. */
export function wantsWorktree(asked: unknown, profileConfig: unknown): boolean {
  if (asked !== undefined)
    return asked === true || (typeof asked === 'string' && ['1', 'true', 'yes', 'on'].includes(asked.trim().toLowerCase()));
  return isJsonObject(profileConfig) && profileConfig.worktree === true;
}

export interface WorkspacePlaces {
  /** STATE_DIR of the Web UI. */
  readonly stateDir: string;
  /** The profile's own home; null for the root profile. */
  readonly profileHome: string | null;
  /** The profile's configuration. */
  readonly config: unknown;
  /** The profile's terminal is on another machine: its paths can't be looked at here. */
  readonly remoteTerminal: boolean;
  readonly serverDefault: string | null;
}

const FILE_NAME = 'last_workspace.txt';
export const LONGEST_PATH = 4096;
/** Of a file that holds one path. */
const MOST_PATH_BYTES = 64 * 1024;
const LOCAL_BACKEND = 'local';

/**
 * The folder that a new session of the profile works in, the first of: the one it used last, those of its configuration, the server's.
 * Null when there is none. Another profile's last folder is never taken.
 */
export async function lastWorkspace({
  stateDir,
  profileHome,
  config,
  remoteTerminal,
  serverDefault,
}: WorkspacePlaces): Promise<string | null> {
  const file = profileHome === null ? join(stateDir, FILE_NAME) : join(profileHome, 'webui_state', FILE_NAME);
  const used = await readPath(file);
  const terminalCwd = word(terminalOf(config).cwd);
  if (remoteTerminal) {
    return used !== null && isOnTerminal(used, config) ? used : (terminalCwd ?? serverDefault);
  }
  const keys = isJsonObject(config) ? [word(config.workspace), word(config.default_workspace)] : [];
  for (const path of [used, ...keys, terminalCwd === '.' ? null : terminalCwd]) {
    if (path !== null && (await isFolder(path))) return path;
  }
  return serverDefault;
}

/** Whether the profile's commands run on another machine, or in a container: its paths say nothing about this one. */
export function hasRemoteTerminal(config: unknown): boolean {
  const backend = word(terminalOf(config).backend);
  return backend !== null && backend.toLowerCase() !== LOCAL_BACKEND;
}

/** Whether a path of another machine is in the folder that the terminal begins in there. Decided by the text alone. */
export function isOnTerminal(path: string, config: unknown): boolean {
  const root = word(terminalOf(config).cwd)?.replace(/\/+$/, '') ?? null;
  return root !== null && (path === root || path.startsWith(`${root}/`)) && !path.split('/').includes('..');
}

function terminalOf(config: unknown): Readonly<Record<string, unknown>> {
  return isJsonObject(config) && isJsonObject(config.terminal) ? config.terminal : {};
}

async function readPath(file: string): Promise<string | null> {
  const text = (await readSmallFile(file, MOST_PATH_BYTES)).bytes?.toString('utf8').trim() ?? '';
  return text === '' || text.length > LONGEST_PATH || text.includes('\u0000') ? null : text;
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return false;
  }
}

function word(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}
