/**
 * Taking a rewind back by its receipt (`spec/state-db-writes.md` 10.3, 13.3): the receipt tells which rows it hid.
 */

import { restoreRewind as operation, type RestoredRewind } from '../state-db/write/restore-rewind.ts';
import type { RewoundSession } from '../state-db/write/rewind-session.ts';
import { WriteRefused } from '../write-refused.ts';
import { type Command, type CommandHost, operationCommand } from './command.ts';

export interface RestoreRewindInput {
  /** As the rewind gave it. */
  readonly receipt: string;
  readonly leaseToken: string | null;
}

const restore = operationCommand('restoreRewind', operation, { excludesAppends: true });

/** A rewind is restored once: a repeat gets the first answer. Throws `WriteRefused`: RECEIPT_UNKNOWN, and what the operation refuses. */
export const restoreRewind: Command<RestoreRewindInput, RestoredRewind> = async (host, { receipt, leaseToken }, envelope) => {
  const { sessionId, retiredIds, newHeadId, replacementId } = rewindOf(host, receipt);
  const clientMutationId = envelope.clientMutationId ?? `restoreRewind:${receipt}`;
  return restore(host, { sessionId, retiredIds, newHeadId, replacementId, leaseToken }, { ...envelope, clientMutationId });
};

function rewindOf(host: CommandHost, id: string): RewoundSession {
  const receipt = host.receipts().find(id);
  if (receipt === null || receipt.mutation !== 'rewindSession' || receipt.profile !== host.profile) {
    throw new WriteRefused('RECEIPT_UNKNOWN');
  }
  const isDone = receipt.state === 'DONE' || receipt.state === 'SETTLED';
  if (!isDone || receipt.result === null) {
    throw new WriteRefused('RECEIPT_UNKNOWN', 'Its rewind was never acknowledged; repeat that first, with the same clientMutationId.');
  }
  return JSON.parse(receipt.result) as RewoundSession;
}
