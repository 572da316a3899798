/**
 * What a process did not come to that ended right after a commit: its receipts are done, but not settled (`spec/state-db-writes.md` K18, K29).
 */
import { isJsonObject } from '../state-db/decode.ts';
import type { CommandHost } from './command.ts';
import { forgetPending } from './forget-pending.ts';
import { forgetSessions } from './session-files.ts';

/** Mutations after which nothing that waited may come back, and those that leave files behind. */
const FORGETFUL = ['rewindSession', 'rewriteTranscript', 'clearSession', 'deleteSession', 'deleteSessions'] as const;

/** Before the first write of a process: finishes what follows such changes, and settles their receipts. */
export async function finishLeftovers(host: CommandHost): Promise<void> {
  const receipts = host.receipts();
  for (const { clientMutationId, result, createdAt } of receipts.unsettled(host.profile, FORGETFUL)) {
    const planned: unknown = result === null ? null : JSON.parse(result);
    const { sessionId, madeAt, deletedIds } = isJsonObject(planned) ? planned : {};
    if (Array.isArray(deletedIds)) await forgetSessions(host, deletedIds.map(String));
    else if (typeof sessionId === 'string') await forgetPending(host, sessionId, typeof madeAt === 'number' ? madeAt : createdAt);
    receipts.settled(clientMutationId);
  }
}
