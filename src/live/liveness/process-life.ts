/**
 * Whether the process that executes a run lives (`spec/live-turns.md` 9, `P`): a process id alone may belong to another by now, so a
 * process that began after the run is not the one.
 */
import { readFile } from 'node:fs/promises';
import { systemCode } from '../journal/open-journal.ts';

export type ProcessLife = 'ALIVE' | 'DEAD' | 'UNKNOWN';

/** Of the kernel's clock against the times that the owner writes. */
const SLACK_SECONDS = 2;
/** USER_HZ, the same on all platforms of Linux. */
const TICKS_PER_SECOND = 100;

/** `runStartedAt`: epoch seconds; null leaves out the check for a process id that was used again. */
export async function processLife(pid: number, runStartedAt: number | null): Promise<ProcessLife> {
  // Zero and below are groups of processes.
  if (!Number.isSafeInteger(pid) || pid < 1) return 'UNKNOWN';
  if (process.platform !== 'linux') return bySignal(pid);
  try {
    const [own, system] = await Promise.all([readFile(`/proc/${pid}/stat`, 'utf8'), readFile('/proc/stat', 'utf8')]);
    return lifeByStat(own, bootTime(system), runStartedAt);
  } catch (error) {
    if (systemCode(error) === null) throw error;
    // Hidden (hidepid) is not gone; whose it is can't be told then.
    return bySignal(pid) === 'DEAD' ? 'DEAD' : 'UNKNOWN';
  }
}

/** Pure: from the text of `/proc/<pid>/stat` and the epoch seconds of the boot. */
export function lifeByStat(stat: string, bootedAt: number | null, runStartedAt: number | null): ProcessLife {
  // The second field is the program's name in parentheses, which may hold anything.
  const [state, ...fields] = stat
    .slice(stat.lastIndexOf(')') + 1)
    .trim()
    .split(/\s+/);
  if (state === undefined || !/^[A-Za-z]$/.test(state)) return 'UNKNOWN';
  if (state === 'Z' || state === 'X' || state === 'x') return 'DEAD';
  if (runStartedAt === null) return 'ALIVE';
  const ticks = fields[STARTTIME_FIELD];
  if (ticks === undefined || !/^\d+$/.test(ticks) || bootedAt === null) return 'UNKNOWN';
  return bootedAt + Number(ticks) / TICKS_PER_SECOND <= runStartedAt + SLACK_SECONDS ? 'ALIVE' : 'DEAD';
}

/** Field 22; the fields here begin with number 4. */
const STARTTIME_FIELD = 18;

function bootTime(system: string): number | null {
  const seconds = /^btime (\d+)$/m.exec(system)?.[1];
  return seconds === undefined ? null : Number(seconds);
}

function bySignal(pid: number): ProcessLife {
  try {
    process.kill(pid, 0);
    return 'ALIVE';
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ESRCH') return 'DEAD';
    return code === 'EPERM' ? 'ALIVE' : 'UNKNOWN';
  }
}
