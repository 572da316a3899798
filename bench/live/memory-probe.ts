/** Loaded into a measured server before anything else: says, when asked, what it holds after garbage collections. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Memory beside the heap is given back behind a collection, by another thread, and some only by the next one. */
const COLLECTIONS = 3;
const PAUSE_MS = 50;

process.on('message', async () => {
  for (let count = 0; count < COLLECTIONS; count++) {
    globalThis.gc?.();
    await sleep(PAUSE_MS);
  }
  const { heapUsed, external } = process.memoryUsage();
  process.send?.(heapUsed + external);
});
process.channel?.unref();
