/**
 * Every command of the process that writes to a store, by name.
 */
import { acquireTurnLease, releaseTurnLease, renewTurnLease } from '../state-db/write/turn-leases.ts';
import { type Command, operationCommand } from './command.ts';
import { SESSION_COMMANDS } from './session-commands.ts';

export const COMMANDS = {
  acquireTurnLease: operationCommand('acquireTurnLease', acquireTurnLease),
  renewTurnLease: operationCommand('renewTurnLease', renewTurnLease),
  releaseTurnLease: operationCommand('releaseTurnLease', releaseTurnLease),
  ...SESSION_COMMANDS,
} as const;

export type CommandName = keyof typeof COMMANDS;
type TypesOf<K extends CommandName> = (typeof COMMANDS)[K] extends Command<infer Input, infer Result> ? [Input, Result] : never;
export type CommandInput<K extends CommandName> = TypesOf<K>[0];
export type CommandResult<K extends CommandName> = TypesOf<K>[1];
