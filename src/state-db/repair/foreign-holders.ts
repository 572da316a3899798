/**
 * Who else has a store open (`spec/state-db-writes.md` X7): told by the descriptors of all processes, which Linux shows in /proc. Where
 * that can't be told, the answer is that it isn't known, and whoever asks refuses.
 */
import { readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { WriteRefused } from '../../write-refused.ts';
import { type FileIdentity, fileIdentity } from '../health.ts';

const SUFFIXES = ['', '-wal', '-shm'] as const;
const DELETED = ' (deleted)';
const OWNER_PROGRAM = /hermes/i;
const HOME_FLAG = /^(?:--home|--hermes-home|HERMES_HOME)(?:=(.+))?$/s;

export interface Holder {
  readonly pid: number;
  /** False: its descriptors can't be seen, but it looks like a program of the owner that may serve this home. */
  readonly certain: boolean;
}

export type HolderScan = { readonly known: true; readonly holders: readonly Holder[] } | { readonly known: false };

export interface HolderOptions {
  /** Processes that belong to us beside this one: the server, its readers and jobs. */
  readonly ours?: ReadonlySet<number>;
  /** Default `/proc`. */
  readonly proc?: string;
  /** Whether all processes are shown to this one, whatever the mount hides. */
  readonly isRoot?: boolean;
  readonly listDescriptors?: (folder: string) => string[];
}

/** What one descriptor can be recognised by: where its link leads, and the file itself. */
interface Target {
  readonly paths: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
  readonly files: readonly FileIdentity[];
}

/** Every other process that has the store, its -wal or its -shm open, also as files that were deleted. */
export function scanHolders(storePath: string, options: HolderOptions = {}): HolderScan {
  const { ours = new Set<number>(), proc = '/proc', isRoot = process.getuid?.() === 0, listDescriptors } = options;
  const pids = listPids(proc);
  // A /proc that doesn't show this very process, or hides those of others, tells nothing.
  if (!pids.includes(process.pid) || (!isRoot && hidesOthers(proc))) return { known: false };
  const target = targetOf(storePath);
  const holders: Holder[] = [];
  for (const pid of pids) {
    if (pid === process.pid || ours.has(pid)) continue;
    const open = hasOpen(join(proc, String(pid), 'fd'), target, listDescriptors);
    if (open === true) holders.push({ pid, certain: true });
    else if (open === null && mayServe(join(proc, String(pid)), dirname(storePath))) holders.push({ pid, certain: false });
  }
  return { known: true, holders };
}

/** Throws WriteRefused FOREIGN_HOLDERS (details: `count`, null where it isn't known) unless nobody else has the store open. */
export function refuseHolders(storePath: string, options: HolderOptions = {}): void {
  const scan = scanHolders(storePath, options);
  if (!scan.known) {
    throw new WriteRefused('FOREIGN_HOLDERS', 'This system does not tell which processes have it open.', { details: { count: null } });
  }
  const count = scan.holders.length;
  if (count > 0) throw new WriteRefused('FOREIGN_HOLDERS', `Processes: ${count}.`, { details: { count } });
}

/** Whether this process has the store open itself; reading its bytes would then drop SQLite's locks (`spec/state-db-writes.md` W11). */
export function isOpenHere(storePath: string): boolean {
  return hasOpen('/proc/self/fd', targetOf(storePath)) === true;
}

function listPids(proc: string): number[] {
  try {
    return readdirSync(proc)
      .filter((name) => /^[1-9][0-9]*$/.test(name))
      .map(Number)
      .sort((a, b) => a - b);
  } catch {
    // A system without /proc.
    return [];
  }
}

function hidesOthers(proc: string): boolean {
  try {
    const mounts = readFileSync(join(proc, 'self', 'mounts'), 'utf8');
    return mounts.split('\n').some((line) => /^\S+ \/proc proc .*hidepid=(?!0|off)/.test(line));
  } catch {
    return true;
  }
}

function targetOf(storePath: string): Target {
  const real = realPath(storePath);
  const paths = SUFFIXES.map((suffix) => real + suffix);
  const files = paths.map(fileIdentity).filter((file) => file !== null);
  return { paths: new Set(paths), names: new Set(paths.map((path) => basename(path))), files };
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // The store itself is gone; processes may still have it open under this name.
    return resolve(path);
  }
}

/** Null when the descriptors of that process can't be seen. A process that ended meanwhile holds nothing. */
function hasOpen(folder: string, target: Target, list: (folder: string) => string[] = readFolder): boolean | null {
  let names: string[];
  try {
    names = list(folder);
  } catch (error) {
    return isDenied(error) ? null : false;
  }
  return names.some((name) => leadsTo(join(folder, name), target));
}

function readFolder(folder: string): string[] {
  return readdirSync(folder);
}

function leadsTo(link: string, { paths, names, files }: Target): boolean {
  try {
    const shown = readlinkSync(link);
    const path = shown.endsWith(DELETED) ? shown.slice(0, -DELETED.length) : shown;
    if (paths.has(path)) return true;
    // The same file by another way: a bind mount, or a container's own view.
    if (!names.has(basename(path))) return false;
    const { dev, ino } = statSync(link, { bigint: true });
    return files.some((file) => file.device === dev && file.inode === ino);
  } catch {
    // Closed between the listing and the look.
    return false;
  }
}

function isDenied(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EACCES' || error.code === 'EPERM');
}

/** Whether a process that can't be inspected looks like one of the owner's, and isn't shown to serve another home. */
function mayServe(processFolder: string, home: string): boolean {
  let words: string[];
  try {
    words = readFileSync(join(processFolder, 'cmdline'), 'utf8').split('\0');
  } catch (error) {
    return isDenied(error);
  }
  if (!words.some((word) => OWNER_PROGRAM.test(word))) return false;
  const named = homeOf(words);
  return named === null || realPath(named) === realPath(home);
}

/** The absolute home that a command line names; null when it names none, or a relative one. */
function homeOf(words: readonly string[]): string | null {
  for (const [index, word] of words.entries()) {
    const match = HOME_FLAG.exec(word);
    const named = match === null ? undefined : (match[1] ?? words[index + 1]);
    if (named?.startsWith('/')) return named;
  }
  return null;
}
