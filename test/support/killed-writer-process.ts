/** The process behind `killed-writer.ts`: runs one command, and ends as by a crash where it is told. */
import { flushCompileCache } from 'node:module';
import type { CommandName } from '../../src/writing/commands.ts';
import { commandHost } from './command-host.ts';
import type { KilledWrite } from './killed-writer.ts';

const { path, command, input, clientMutationId, killAt } = JSON.parse(process.argv[2] ?? '') as KilledWrite;

// A process that is killed doesn't come to it.
flushCompileCache();

function die(): void {
  process.kill(process.pid, 'SIGKILL');
}

let statements = 0;
const host = commandHost(path, {
  onStatement: () => {
    statements += 1;
    if (statements === killAt) die();
  },
});
if (killAt === 'REPLY') {
  const receipts = host.receipts();
  receipts.done = die;
}
await host.run(command as CommandName, input as never, { clientMutationId });
host.close();
process.send?.(statements);
