/**
 * What waits for a session when its transcript becomes another one (`spec/state-db-writes.md` 10.2, RW3, J3): forgotten in memory, set aside in
 * the spool, so that nothing that was undone comes back.
 */
import { SpoolUnwritable } from '../transcript/spool-files.ts';
import { supersedeSessions } from '../transcript/spool-retirement.ts';
import type { CommandHost } from './command.ts';

export interface ForgetOptions {
  /** Also what a person sent and no turn began with. */
  readonly wasDeleted?: boolean;
}

/**
 * After the commit, for messages that were taken up to `madeAt` (epoch seconds): what came later belongs to the new transcript. It may run
 * twice, and never throws for a file: the change is made, and the operator is told what is left.
 */
export async function forgetPending(host: CommandHost, sessionId: string, madeAt: number, options: ForgetOptions = {}): Promise<void> {
  const { queue, spool, onEvent } = host.transcript();
  queue.forget(sessionId, madeAt);
  try {
    const { held } = supersedeSessions(spool, [sessionId], { pendingInput: options.wasDeleted === true, writtenUntil: Math.floor(madeAt) });
    if (held.length > 0) onEvent({ code: 'SPOOL_HELD', sessionId, count: held.length, reason: null });
  } catch (error) {
    if (!(error instanceof SpoolUnwritable)) throw error;
    onEvent({ code: 'SPOOL_HELD', sessionId, count: 1, reason: error.reason });
  }
}
