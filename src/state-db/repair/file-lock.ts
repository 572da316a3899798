/**
 * Advisory lock files that the owner's programs take with flock (`spec/state-db-writes.md` X6, H3). Node.js has no flock, so the program
 * of util-linux puts the lock on a descriptor that stays open here: a lock belongs to the open file, not to the process that asked for
 * it, and is gone with this process however that ends.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, constants, fstatSync, ftruncateSync, openSync, readFileSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { delay } from '../connection.ts';
import { fileIdentity, isSameFile } from '../health.ts';

const POLL_MS = 100;
/** To take a lock again whose file a dead holder left behind. */
const RETAKE_MS = 5000;
const PROGRAM_LIMIT_MS = 10_000;
const LONGEST_STAMP = 1024;
/** What flock exits with when somebody else has the lock. */
const CONFLICT = 1;

/** Not a link to elsewhere: what is truncated and written must be the lock file itself. */
const OPEN_FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW;

export interface LockOptions {
  /** Milliseconds to wait for another holder; 0 tries once. */
  readonly waitMs: number;
  /** Write who holds it into the file, and take it over from a stamped holder that is provably dead. Default false. */
  readonly stamped?: boolean;
  /** Default `flock`, found on the path. */
  readonly program?: string;
}

/** `HELD`: by somebody else. `UNAVAILABLE`: no flock, no such file, or a file system that does not keep the lock. */
export type LockAttempt = FileLock | 'HELD' | 'UNAVAILABLE';

/** A lock that is held; released at the latest when the process ends. */
export class FileLock {
  readonly #descriptor: number;
  readonly #stamped: boolean;
  #open = true;

  constructor(descriptor: number, stamped: boolean) {
    this.#descriptor = descriptor;
    this.#stamped = stamped;
  }

  release(): void {
    if (!this.#open) return;
    this.#open = false;
    if (this.#stamped) ftruncateSync(this.#descriptor);
    closeSync(this.#descriptor);
  }
}

/** The lock at `path`, or why it isn't to be had; whoever gets no lock does nothing (`spec/state-db-writes.md` X6: fail closed). */
export async function acquireFileLock(path: string, options: LockOptions): Promise<LockAttempt> {
  const first = await pollForLock(path, options, options.waitMs);
  if (first !== 'HELD' || !options.stamped || options.waitMs === 0) return first;
  return removeStaleLock(path) ? pollForLock(path, options, RETAKE_MS) : first;
}

/** Ticks since boot at which a process started; null where that can't be told. Two processes of one pid differ in it. */
export function startTicks(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name of the program may hold spaces and parentheses; the fields that follow it do not. Starttime is field 22.
    const ticks = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
    return Number.isSafeInteger(ticks) ? ticks : null;
  } catch {
    // No such process, or a system without /proc.
    return null;
  }
}

async function pollForLock(path: string, options: LockOptions, waitMs: number): Promise<LockAttempt> {
  const deadline = Date.now() + waitMs;
  for (;;) {
    const attempt = tryLock(path, options);
    if (attempt !== 'HELD' || Date.now() >= deadline) return attempt;
    await delay(Math.min(POLL_MS, Math.max(1, deadline - Date.now())));
  }
}

function tryLock(path: string, { stamped = false, program = 'flock' }: LockOptions): LockAttempt {
  const descriptor = openLockFile(path);
  if (descriptor === null) return 'UNAVAILABLE';
  const outcome = flockOn(descriptor, program);
  const isOurs = outcome === 'LOCKED' && isFileAt(path, descriptor);
  if (isOurs && isKept(path, program)) {
    if (stamped) writeStamp(descriptor);
    return new FileLock(descriptor, stamped);
  }
  closeSync(descriptor);
  if (outcome === 'FAILED' || isOurs) return 'UNAVAILABLE';
  return 'HELD';
}

function openLockFile(path: string): number | null {
  try {
    return openSync(path, OPEN_FLAGS, 0o600);
  } catch {
    // No folder, no permission, or a link: whatever it is, there is no lock to be had.
    return null;
  }
}

function flockOn(descriptor: number, program: string): 'LOCKED' | 'CONFLICT' | 'FAILED' {
  const { status } = spawnSync(program, ['-x', '-n', '3'], {
    stdio: ['ignore', 'ignore', 'ignore', descriptor],
    timeout: PROGRAM_LIMIT_MS,
  });
  if (status === 0) return 'LOCKED';
  return status === CONFLICT ? 'CONFLICT' : 'FAILED';
}

/** A file that was removed and made again while we waited is another file: its lock says nothing about ours. */
function isFileAt(path: string, descriptor: number): boolean {
  const { dev, ino } = fstatSync(descriptor, { bigint: true });
  const there = fileIdentity(path);
  return there !== null && there.device === dev && there.inode === ino;
}

/** Network file systems may tie the lock to the process that asked, which has ended by now: then a second attempt succeeds. */
function isKept(path: string, program: string): boolean {
  const again = openLockFile(path);
  if (again === null) return false;
  try {
    return flockOn(again, program) === 'CONFLICT';
  } finally {
    closeSync(again);
  }
}

function writeStamp(descriptor: number): void {
  const stamp = { pid: process.pid, start_ticks: startTicks(process.pid), acquired_at: Date.now() / 1000 };
  ftruncateSync(descriptor);
  writeSync(descriptor, JSON.stringify(stamp), 0);
}

/** Removes a lock file whose stamped holder is provably dead: its pid is free, or another process has it now. */
function removeStaleLock(path: string): boolean {
  const before = fileIdentity(path);
  const stamp = readStamp(path);
  if (stamp === null || !isDead(stamp.pid, stamp.startTicks) || !isSameFile(before, fileIdentity(path))) return false;
  unlinkSync(path);
  return true;
}

function readStamp(path: string): { pid: number; startTicks: number | null } | null {
  const descriptor = openLockFile(path);
  if (descriptor === null) return null;
  try {
    const bytes = Buffer.alloc(LONGEST_STAMP);
    const stamp: unknown = JSON.parse(bytes.toString('utf8', 0, readSync(descriptor, bytes, 0, LONGEST_STAMP, 0)));
    if (typeof stamp !== 'object' || stamp === null || !('pid' in stamp) || !Number.isSafeInteger(stamp.pid)) return null;
    const ticks = 'start_ticks' in stamp && typeof stamp.start_ticks === 'number' ? stamp.start_ticks : null;
    const pid = Number(stamp.pid);
    return pid > 0 ? { pid, startTicks: ticks } : null;
  } catch {
    // Empty, torn or written by something else: it proves nothing about the holder.
    return null;
  } finally {
    closeSync(descriptor);
  }
}

function isDead(pid: number, recorded: number | null): boolean {
  const now = startTicks(pid);
  if (now !== null && recorded !== null && now !== recorded) return true;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH';
  }
}
