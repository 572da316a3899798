/**
 * Every command of the process that writes to a store, by name.
 */
import { rewindSession } from '../state-db/write/rewind-session.ts';
import { rewriteTranscript } from '../state-db/write/rewrite-transcript.ts';
import { acquireTurnLease, releaseTurnLease, renewTurnLease } from '../state-db/write/turn-leases.ts';
import { forgetPending } from '../transcript/forget-pending.ts';
import { type Command, operationCommand } from './command.ts';
import { restoreRewind } from './restore-rewind.ts';

export const COMMANDS = {
  acquireTurnLease: operationCommand('acquireTurnLease', acquireTurnLease),
  renewTurnLease: operationCommand('renewTurnLease', renewTurnLease),
  releaseTurnLease: operationCommand('releaseTurnLease', releaseTurnLease),
  rewindSession: operationCommand('rewindSession', rewindSession, {
    withReceipt: (result, receipt) => ({ ...result, receipt }),
    afterwards: (host, { sessionId, madeAt }) => forgetPending(host, sessionId, madeAt ?? host.now()),
  }),
  restoreRewind,
  rewriteTranscript: operationCommand('rewriteTranscript', rewriteTranscript, {
    afterwards: (host, { sessionId, madeAt }) => forgetPending(host, sessionId, madeAt ?? host.now()),
  }),
} as const;

export type CommandName = keyof typeof COMMANDS;
type TypesOf<K extends CommandName> = (typeof COMMANDS)[K] extends Command<infer Input, infer Result> ? [Input, Result] : never;
export type CommandInput<K extends CommandName> = TypesOf<K>[0];
export type CommandResult<K extends CommandName> = TypesOf<K>[1];
