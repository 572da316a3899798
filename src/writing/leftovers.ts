/**
 * What a process did not come to that ended right after a commit: its receipts are done, but not settled (`spec/state-db-writes.md` K18, K29);
 * or in the middle of a deletion of files: its receipt is planned, and manifests may be left (`spec/webui-transcript.md` 19.7).
 */
import { isJsonObject } from '../state-db/decode.ts';
import { WriteRefused } from '../write-refused.ts';
import { drainManifests, hasManifests, withCleanupLock } from './cleanup.ts';
import type { CommandHost } from './command.ts';
import { finishDeletion } from './delete-web-ui-session.ts';
import { forgetPending } from './forget-pending.ts';
import { forgetSessions } from './session-files.ts';
import { unfinished } from './unfinished.ts';

/**
 * Before the first write of a process: finishes what follows such changes, and settles their receipts. `drains`: also cleans up by the manifests
 * that are there; not before somebody who asks for just that and wants to hear of it.
 */
export async function finishLeftovers(host: CommandHost, drains = true): Promise<void> {
  const receipts = host.receipts();
  const { unsettled, deletions } = unfinished(receipts, host.profile);
  for (const { clientMutationId, result, createdAt } of unsettled) {
    const planned: unknown = result === null ? null : JSON.parse(result);
    const { sessionId, madeAt, deletedIds } = isJsonObject(planned) ? planned : {};
    if (Array.isArray(deletedIds)) await forgetSessions(host, deletedIds.map(String));
    else if (typeof sessionId === 'string') await forgetPending(host, sessionId, typeof madeAt === 'number' ? madeAt : createdAt);
    receipts.settled(clientMutationId);
  }
  for (const { clientMutationId, result } of deletions) {
    const planned: unknown = result === null ? null : JSON.parse(result);
    const isFinished = await unlessRefused(() => finishDeletion(host, planned));
    if (isFinished !== true) continue;
    receipts.done(clientMutationId, planned);
    receipts.settled(clientMutationId);
  }
  if (drains && (await hasManifests(host))) {
    await unlessRefused(() => withCleanupLock(host, () => drainManifests(host, 'RECOVERY')));
  }
}

/** What can't be finished now is left to the next process, and keeps nobody from writing. */
async function unlessRefused<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof WriteRefused) return null;
    throw error;
  }
}
