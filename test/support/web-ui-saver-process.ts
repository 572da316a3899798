/** The process behind `web-ui-saver.ts`. */
import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sidecarPath } from './sidecars.ts';
import { textOf } from './web-ui-saver.ts';

const [sessionsDir = '', ...sessionIds] = process.argv.slice(2);
const PAUSE_MS = 4;
let isStopped = false;
process.on('message', () => {
  isStopped = true;
});
process.on('disconnect', () => process.exit(0));

for (let round = 1; !isStopped; round += 1) {
  for (const id of sessionIds) {
    const temporary = join(sessionsDir, `${id}.tmp.${process.pid}.1`);
    const file = openSync(temporary, 'w');
    writeSync(file, textOf(id, round));
    fsyncSync(file);
    closeSync(file);
    renameSync(temporary, sidecarPath(sessionsDir, id));
  }
  process.send?.(round);
  await sleep(PAUSE_MS);
}
process.disconnect();
