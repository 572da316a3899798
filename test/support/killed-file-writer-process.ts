/**
 * The process behind `killed-file-writer.ts`: runs one command, and ends as by a crash before a call of the file system that changes something.
 */
import fs from 'node:fs';
import { flushCompileCache, syncBuiltinESMExports } from 'node:module';
import type { CommandName } from '../../src/writing/commands.ts';
import type { KilledFileWrite } from './killed-file-writer.ts';

const { path, command, input, clientMutationId, killAt } = JSON.parse(process.argv[2] ?? '') as KilledFileWrite;
let calls = 0;
let isArmed = false;

function step(): void {
  if (!isArmed) return;
  calls += 1;
  if (calls === killAt) process.kill(process.pid, 'SIGKILL');
}

type Method = (...args: unknown[]) => unknown;

/** Counts every call of these functions. */
function watch(owner: object, names: readonly string[], isCounted: (args: unknown[]) => boolean = () => true): void {
  const methods = owner as Record<string, Method>;
  for (const name of names) {
    const original = methods[name];
    if (original === undefined) throw new Error(`there is no ${name}`);
    methods[name] = function (this: unknown, ...args: unknown[]) {
      if (isCounted(args)) step();
      return original.apply(this, args);
    };
  }
}

const handle = await fs.promises.open(path, 'r');
watch(Object.getPrototypeOf(handle) as object, ['writeFile', 'sync', 'chmod']);
await handle.close();
watch(fs.promises, ['open'], ([, flags]) => flags === 'wx');
watch(fs.promises, ['unlink', 'link', 'rm']);
watch(fs, ['renameSync', 'unlinkSync', 'fsyncSync']);
syncBuiltinESMExports();

const { commandHost } = await import('./command-host.ts');
flushCompileCache();
const host = commandHost(path);
// The folder of receipts is made before.
host.receipts();
isArmed = true;
await host.run(command as CommandName, input as never, { clientMutationId });
isArmed = false;
host.close();
process.send?.(calls);
