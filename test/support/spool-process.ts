/**
 * A process that does one thing with a spool and kills itself at a given step: a call that changes the file system, half of a write, or a
 * commit.
 * Arguments: scenario, home, the number of the step (-1: none). Each step is told in `trace` before it begins.
 */
import { appendFileSync, writeSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { divertBacklog, moveToSpool } from '../../src/transcript/spool-backlog.ts';
import { SpoolDirectory } from '../../src/transcript/spool-directory.ts';
import { drainSession } from '../../src/transcript/spool-drain.ts';
import { NODE_FILES } from '../../src/transcript/spool-files.ts';
import { recoverSpool } from '../../src/transcript/spool-recovery.ts';
import { RecordedStore, stepped, user } from './spool.ts';

const [scenario = '', home = '', fatal = '-1'] = process.argv.slice(2);
let step = 0;
// A process that is killed doesn't come to it.
flushCompileCache();

function enter(name: string): void {
  if (step === Number(fatal)) process.kill(process.pid, 'SIGKILL');
  step += 1;
  appendFileSync(join(home, 'trace'), `${name}\n`);
}

/** A process that dies at one of these leaves what it would leave at the next step. */
const READS: ReadonlySet<string> = new Set(['facts', 'names', 'read', 'lastByte']);

const files = stepped(NODE_FILES, (name, [file, bytes]) => {
  if (READS.has(name)) return;
  enter(name);
  if (name !== 'write' || typeof file !== 'number' || !Buffer.isBuffer(bytes)) return;
  if (step === Number(fatal)) writeSync(file, bytes.subarray(0, bytes.length / 2));
  enter('half');
});
const spool = new SpoolDirectory(home, { namedProfile: false, files });
const store = new RecordedStore(home, enter);
const backlog = () => ['m1', 'm2', 'm3'].map((content) => user(content, { message_uid: `uid-${content}` }));

const SCENARIOS: Readonly<Record<string, () => unknown>> = {
  move: () => moveToSpool(spool, 's', backlog(), (message) => message),
  divert: () => divertBacklog(spool, 's', backlog(), (message) => message),
  drain: () => drainSession(spool, 's', store),
  recover: () => recoverSpool(spool, store),
};
await SCENARIOS[scenario]?.();
