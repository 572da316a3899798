/** A maintenance job that is killed at the step it is told: `killed-job.ts repair|optimize|rebuild STORE STEP [N]`, the Nth time it gets
 * there. */
import { optimizeStore } from '../../../src/state-db/repair/optimize.ts';
import { rebuildIndex } from '../../../src/state-db/repair/rebuild-index.ts';
import { repairStore } from '../../../src/state-db/repair/repair.ts';

const [job = '', path = '', fatal = '', times = '1'] = process.argv.slice(2);
let left = Number(times);

function onStep(step: string): void {
  if (step === fatal && --left === 0) process.kill(process.pid, 'SIGKILL');
}

if (job === 'repair') await repairStore(path, { onStep });
if (job === 'optimize') await optimizeStore(path, { onStep });
if (job === 'rebuild') await rebuildIndex(path, { onProgress: ({ next }) => onStep(next ?? 'done') });
