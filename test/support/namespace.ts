/**
 * A program in a mount namespace of its own, where it may fill a small disk or make it read-only without anybody else noticing.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from './stores.ts';

const PROGRAM = fileURLToPath(new URL('./small-disk-process.ts', import.meta.url));
/** Mounts over the folder that is its first argument, then becomes the program. */
const MOUNT = 'mount -t tmpfs -o size=2m,mode=0700 none "$0" && exec "$@"';

/** Whether this machine lets a process have mounts of its own; a container may not. */
export const HAS_NAMESPACES =
  process.platform === 'linux' && spawnSync('unshare', ['-rm', 'sh', '-c', MOUNT, temporaryFolder(), 'true']).status === 0;

/** Runs one scenario of `small-disk-process.ts` with 2 MiB of disk; gives what it reports. */
export function onSmallDisk(scenario: string): Record<string, unknown> {
  const folder = temporaryFolder();
  const { stdout, stderr, status } = spawnSync('unshare', ['-rm', 'sh', '-c', MOUNT, folder, process.execPath, PROGRAM, scenario, folder], {
    encoding: 'utf8',
    env: { ...process.env, TMPDIR: folder },
  });
  if (status !== 0) throw new Error(`the scenario ${scenario} ended with ${status}:\n${stderr}`);
  return JSON.parse(stdout) as Record<string, unknown>;
}
