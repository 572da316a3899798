/**
 * A writer of files that is killed in the middle: one command in a process of its own, which ends without a chance to clean up.
 *
 *   const steps = await killedFileWrite({ path, command: 'updateSession', input, clientMutationId: 'm', killAt: null });
 *   for (let n = 1; n <= steps; n++) await killedFileWrite({ ..., killAt: n });
 */
import { fork } from 'node:child_process';
import type { CommandName } from '../../src/writing/commands.ts';
import { COMPILE_CACHE } from './program-start.ts';

export interface KilledFileWrite {
  /** Of the state.db beside the folder `webui`. */
  readonly path: string;
  readonly command: CommandName;
  readonly input: unknown;
  readonly clientMutationId: string;
  /** The number of the call of the file system before which the process ends; null: not at all. */
  readonly killAt: number | null;
}

/** Gives the calls of a write that wasn't killed, else null. Throws when the process ends in any other way. */
export function killedFileWrite(write: KilledFileWrite): Promise<number | null> {
  const child = fork(new URL('./killed-file-writer-process.ts', import.meta.url), [JSON.stringify(write)], {
    execArgv: [],
    env: { ...process.env, ...COMPILE_CACHE },
  });
  let calls: number | null = null;
  child.once('message', (message) => {
    calls = Number(message);
  });
  return new Promise((resolve, reject) => {
    child.once('exit', (code, signal) => {
      if (signal === 'SIGKILL' || (code === 0 && write.killAt === null)) resolve(calls);
      else reject(new Error(`the writer ended with ${code ?? signal}; it was to be killed at ${String(write.killAt)}`));
    });
  });
}
