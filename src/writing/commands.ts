/**
 * Every command of the process that writes to a store, by name.
 */

import { setApiContent } from '../state-db/write/api-content.ts';
import { deliverResult } from '../state-db/write/deliver-result.ts';
import { pruneRows } from '../state-db/write/prune-rows.ts';
import { setMessageReaction, takeUnseenReactions } from '../state-db/write/reactions.ts';
import { rewindSession } from '../state-db/write/rewind-session.ts';
import { rewriteTranscript } from '../state-db/write/rewrite-transcript.ts';
import { patchSessionConfig } from '../state-db/write/session-config.ts';
import { acquireTurnLease, releaseTurnLease, renewTurnLease } from '../state-db/write/turn-leases.ts';
import { deactivateMessage, editUserMessage } from '../state-db/write/user-messages.ts';
import { cleanMarkersCommand } from './clean-markers.ts';
import { type Command, operationCommand } from './command.ts';
import { forgetPending } from './forget-pending.ts';
import { restoreRewind } from './restore-rewind.ts';
import { SESSION_COMMANDS } from './session-commands.ts';
import {
  appendMessage,
  appendMessages,
  discardRetryQueue,
  drainSpool,
  flushRetryQueue,
  retireSpoolEntry,
  retryQueue,
  spoolEntries,
} from './transcript-commands.ts';
import { WEB_UI_COMMANDS } from './web-ui-commands.ts';

export const COMMANDS = {
  appendMessage,
  retryQueue,
  flushRetryQueue,
  discardRetryQueue,
  drainSpool,
  spoolEntries,
  retireSpoolEntry,
  acquireTurnLease: operationCommand('acquireTurnLease', acquireTurnLease, {
    // The server makes up another holder each time that it is asked.
    asked: ({ sessionId, ttlSeconds }) => ({ sessionId, ttlSeconds }),
  }),
  renewTurnLease: operationCommand('renewTurnLease', renewTurnLease),
  releaseTurnLease: operationCommand('releaseTurnLease', releaseTurnLease),
  rewindSession: operationCommand('rewindSession', rewindSession, {
    excludesAppends: true,
    withReceipt: (result, receipt) => ({ ...result, receipt }),
    afterwards: (host, { sessionId, madeAt }) => forgetPending(host, sessionId, madeAt ?? host.now()),
  }),
  restoreRewind,
  rewriteTranscript: operationCommand('rewriteTranscript', rewriteTranscript, {
    excludesAppends: true,
    // For what is left to do after it, should this process end (K18).
    withReceipt: (result) => result,
    afterwards: (host, { sessionId, madeAt }) => forgetPending(host, sessionId, madeAt ?? host.now()),
  }),
  appendMessages,
  pruneRows: operationCommand('pruneRows', pruneRows),
  editUserMessage: operationCommand('editUserMessage', editUserMessage),
  deactivateMessage: operationCommand('deactivateMessage', deactivateMessage),
  setApiContent: operationCommand('setApiContent', setApiContent),
  setMessageReaction: operationCommand('setMessageReaction', setMessageReaction),
  takeUnseenReactions: operationCommand('takeUnseenReactions', takeUnseenReactions),
  patchSessionConfig: operationCommand('patchSessionConfig', patchSessionConfig),
  deliverDelegationResult: operationCommand('deliverDelegationResult', deliverResult),
  cleanMarkers: cleanMarkersCommand,
  /** For what every process does before its first write. */
  finishLeftovers: async () => null,
  ...SESSION_COMMANDS,
  ...WEB_UI_COMMANDS,
} as const;

export type CommandName = keyof typeof COMMANDS;
type TypesOf<K extends CommandName> = (typeof COMMANDS)[K] extends Command<infer Input, infer Result> ? [Input, Result] : never;
export type CommandInput<K extends CommandName> = TypesOf<K>[0];
export type CommandResult<K extends CommandName> = TypesOf<K>[1];
