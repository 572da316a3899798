/**
 * A writer that is killed in the middle: one command in a process of its own, which ends without a chance to clean up.
 *
 *   const statements = await killedWrite({ path, command: 'rewindSession', input, clientMutationId: 'm', killAt: null });
 *   for (let n = 1; n <= statements; n++) await killedWrite({ ..., killAt: n });
 */
import { fork } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandInput, CommandName } from '../../src/writing/commands.ts';
import { COMPILE_CACHE } from './program-start.ts';
import { temporaryFolder } from './stores.ts';

export interface KilledWrite {
  readonly path: string;
  readonly command: string;
  readonly input: unknown;
  readonly clientMutationId: string;
  /** The number of the statement before which the process ends; REPLY: after the commit, before anybody hears of it; null: not at all. */
  readonly killAt: number | 'REPLY' | null;
}

/** Gives the number of statements of a write that wasn't killed, else null. Throws when the process ends in any other way. */
export function killedWrite<K extends CommandName>(write: KilledWrite & { command: K; input: CommandInput<K> }): Promise<number | null> {
  const child = fork(new URL('./killed-writer-process.ts', import.meta.url), [JSON.stringify(write)], {
    execArgv: [],
    env: { ...process.env, ...COMPILE_CACHE },
  });
  let statements: number | null = null;
  child.once('message', (message) => {
    statements = Number(message);
  });
  return new Promise((resolve, reject) => {
    child.once('exit', (code, signal) => {
      if (signal === 'SIGKILL' || (code === 0 && write.killAt === null)) resolve(statements);
      else reject(new Error(`the writer ended with ${code ?? signal}; it was to be killed at ${String(write.killAt)}`));
    });
  });
}

/** The same store once more, in a folder of its own. No connection may be open to it. */
export function copyOf(path: string): string {
  const copy = join(temporaryFolder(), 'state.db');
  copyFileSync(path, copy);
  return copy;
}
