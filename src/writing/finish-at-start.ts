/**
 * What an earlier process of this server, or a Web UI, left unfinished is finished when the server starts, and not only before the next write: a
 * session that was deleted is to be gone (`spec/webui-transcript.md` 19.7).
 */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { cleanupManifests, ManifestsUnreadable } from '../web-ui/deletion/cleanup-manifests.ts';
import { Receipts } from './receipts.ts';
import type { StoreAddress, StoreWriters } from './store-writers.ts';
import { unfinished } from './unfinished.ts';

/** The stores in which something is left; none where stores may not be changed. */
export async function storesWithLeftovers(writers: StoreWriters, stores: readonly StoreAddress[], now: number): Promise<StoreAddress[]> {
  if (!writers.allowWrites) return [];
  const left = profilesWithReceipts(writers.receiptsPath, stores, now);
  const found: StoreAddress[] = [];
  for (const { profile, path } of stores) {
    if (left.has(profile) || (await hasManifests(dirname(path)))) found.push({ profile, path });
  }
  return found;
}

/** Starts the writing process of each. Throws `WriteRefused` for the first in which it can't be done now; the next write tries it again. */
export async function finishAtStart(writers: StoreWriters, stores: readonly StoreAddress[]): Promise<void> {
  for (const store of stores) await writers.run(store, 'finishLeftovers', {}, { dryRun: false, clientMutationId: null });
}

function profilesWithReceipts(path: string, stores: readonly StoreAddress[], now: number): Set<string> {
  if (!existsSync(path)) return new Set();
  const receipts = Receipts.open(path, now);
  try {
    const isLeft = (profile: string) => Object.values(unfinished(receipts, profile)).some((found) => found.length > 0);
    return new Set(stores.map(({ profile }) => profile).filter(isLeft));
  } finally {
    receipts.close();
  }
}

async function hasManifests(home: string): Promise<boolean> {
  try {
    return (await cleanupManifests(home)).some(({ status }) => status === 'OK');
  } catch (error) {
    if (error instanceof ManifestsUnreadable) return false;
    throw error;
  }
}
