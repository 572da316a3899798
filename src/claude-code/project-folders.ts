/** Where Claude Code keeps its transcripts, and which of them are listed (`spec/webui-listing.md` 1, 8.1). Links are not followed. */
import { lstat, readdir, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { systemCode } from '../live/journal/open-journal.ts';
import { mapBounded } from './map-bounded.ts';

/** Larger files are not read. */
export const MOST_BYTES = 10 * 1024 * 1024;
/** Files that are listed: the newest ones, whichever project they are in. */
export const MOST_FILES = 200;
/** A folder that holds more is no folder of Claude Code. */
const MOST_ENTRIES = 20_000;
const PARALLEL = 8;

export interface TranscriptFile {
  /** Absolute, with the links above the root resolved. */
  readonly path: string;
  /** The name of the project's folder. */
  readonly project: string;
  readonly size: number;
  /** Epoch seconds. */
  readonly modifiedAt: number;
  /** mtime, size and ctime: another after every change. */
  readonly signature: string;
}

export interface ProjectScan {
  /** The newest first; equal times by path. */
  readonly files: readonly TranscriptFile[];
  /** The folders that hold transcripts, listed or not. */
  readonly folders: readonly string[];
  /** Files left out: too large, and older than the newest 200. */
  readonly tooLarge: number;
  readonly beyondCap: number;
}

const NOTHING: ProjectScan = { files: [], folders: [], tooLarge: 0, beyondCap: 0 };

/** The folder of the projects; null when it is switched off by a test's environment. */
export function claudeProjectsRoot(env: Readonly<Record<string, string | undefined>>, home = homedir()): string | null {
  const named = env.HERMES_WEBUI_CLAUDE_PROJECTS_DIR?.trim();
  if (named) return named === '~' || named.startsWith('~/') ? join(home, named.slice(1)) : resolve(named);
  return env.HERMES_WEBUI_TEST_STATE_DIR ? null : join(home, '.claude', 'projects');
}

/** The transcripts below the root: `PROJECT/NAME.jsonl`, nothing higher or deeper. What can't be looked at is left out. */
export async function scanProjects(root: string, mostFiles = MOST_FILES): Promise<ProjectScan> {
  if ((await kindOf(root)) !== 'FOLDER') return NOTHING;
  const base = await realPathOf(root);
  if (base === null) return NOTHING;
  const projects = await mapBounded(await namesIn(base), PARALLEL, async (project) => {
    const folder = join(base, project);
    return (await kindOf(folder)) === 'FOLDER' ? { folder, files: await filesIn(folder, project) } : null;
  });
  const found = projects.filter((project) => project !== null);
  const all = found.flatMap(({ files }) => files);
  const readable = all.filter((file) => file.size <= MOST_BYTES);
  readable.sort((a, b) => b.modifiedAt - a.modifiedAt || (a.path < b.path ? -1 : 1));
  return {
    files: readable.slice(0, mostFiles),
    folders: found.map(({ folder }) => folder),
    tooLarge: all.length - readable.length,
    beyondCap: Math.max(0, readable.length - mostFiles),
  };
}

async function filesIn(folder: string, project: string): Promise<TranscriptFile[]> {
  const names = (await namesIn(folder)).filter((name) => name.toLowerCase().endsWith('.jsonl'));
  const files = await mapBounded(names, PARALLEL, (name) => fileAt(join(folder, name), project));
  return files.filter((file) => file !== null);
}

async function fileAt(path: string, project: string): Promise<TranscriptFile | null> {
  try {
    const stat = await lstat(path, { bigint: true });
    if (!stat.isFile()) return null;
    const signature = `${stat.mtimeNs}:${stat.size}:${stat.ctimeNs}`;
    return { path, project, size: Number(stat.size), modifiedAt: Number(stat.mtimeNs) / 1e9, signature };
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return null;
  }
}

/** Null for one that has gone, or that the system hides. */
async function realPathOf(path: string): Promise<string | null> {
  try {
    return await realpath(path);
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return null;
  }
}

async function kindOf(path: string): Promise<'FOLDER' | 'OTHER'> {
  try {
    return (await lstat(path)).isDirectory() ? 'FOLDER' : 'OTHER';
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return 'OTHER';
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort().slice(0, MOST_ENTRIES);
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return [];
  }
}
