/**
 * Every command of the process that writes to a store, by name.
 */
import { acquireTurnLease, releaseTurnLease, renewTurnLease } from '../state-db/write/turn-leases.ts';
import { type Command, operationCommand } from './command.ts';
import {
  appendMessage,
  discardRetryQueue,
  drainSpool,
  flushRetryQueue,
  retireSpoolEntry,
  retryQueue,
  spoolEntries,
} from './transcript-commands.ts';

export const COMMANDS = {
  appendMessage,
  retryQueue,
  flushRetryQueue,
  discardRetryQueue,
  drainSpool,
  spoolEntries,
  retireSpoolEntry,
  acquireTurnLease: operationCommand('acquireTurnLease', acquireTurnLease),
  renewTurnLease: operationCommand('renewTurnLease', renewTurnLease),
  releaseTurnLease: operationCommand('releaseTurnLease', releaseTurnLease),
} as const;

export type CommandName = keyof typeof COMMANDS;
type TypesOf<K extends CommandName> = (typeof COMMANDS)[K] extends Command<infer Input, infer Result> ? [Input, Result] : never;
export type CommandInput<K extends CommandName> = TypesOf<K>[0];
export type CommandResult<K extends CommandName> = TypesOf<K>[1];
