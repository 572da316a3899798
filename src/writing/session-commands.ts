/**
 * Commands on sessions as a whole: their life, titles, flags, deletion, routes and import.
 */
import { archiveStaleSessions } from '../state-db/write/archive-stale.ts';
import { clearSession } from '../state-db/write/clear-session.ts';
import { createSession } from '../state-db/write/create-session.ts';
import { deleteEmptySessions, deleteSessions } from '../state-db/write/delete-sessions.ts';
import { endSession, markSessionReset } from '../state-db/write/end-session.ts';
import { finalizeOrphanedCompressions } from '../state-db/write/finalize-orphans.ts';
import { healCompressionRoute } from '../state-db/write/heal-route.ts';
import { importSessions } from '../state-db/write/import-sessions.ts';
import { pruneSessions } from '../state-db/write/prune-sessions.ts';
import { reopenOrphanedCompressionParent, reopenSession } from '../state-db/write/reopen-session.ts';
import { setSessionArchived, setSessionFlags } from '../state-db/write/session-flags.ts';
import { setSessionTitle } from '../state-db/write/session-title.ts';
import { operationCommand } from './command.ts';
import { deleteSessionCommand, previewDeletion } from './delete-session.ts';
import { forgetPending } from './forget-pending.ts';
import { dropRoutes, moveRoute } from './routes-file.ts';
import { forgetSessions, logArchive } from './session-files.ts';

export const SESSION_COMMANDS = {
  createSession: operationCommand('createSession', createSession),
  endSession: operationCommand('endSession', endSession),
  markSessionReset: operationCommand('markSessionReset', markSessionReset),
  reopenSession: operationCommand('reopenSession', reopenSession),
  reopenOrphanedCompressionParent: operationCommand('reopenOrphanedCompressionParent', reopenOrphanedCompressionParent),
  finalizeOrphanedCompressions: operationCommand('finalizeOrphanedCompressions', finalizeOrphanedCompressions),
  setSessionTitle: operationCommand('setSessionTitle', setSessionTitle),
  setSessionArchived: operationCommand('setSessionArchived', setSessionArchived, { afterwards: logArchive }),
  setSessionFlags: operationCommand('setSessionFlags', setSessionFlags),
  deleteSession: deleteSessionCommand,
  previewDeletion,
  deleteSessions: operationCommand('deleteSessions', deleteSessions, {
    withReceipt: (result) => result,
    afterwards: (host, { deletedIds }) => forgetSessions(host, deletedIds),
  }),
  deleteEmptySessions: operationCommand('deleteEmptySessions', deleteEmptySessions, {
    afterwards: (host, { deletedIds }) => forgetSessions(host, deletedIds),
  }),
  clearSession: operationCommand('clearSession', clearSession, {
    excludesAppends: true,
    withReceipt: (result) => result,
    afterwards: (host, { sessionId, madeAt }) => forgetPending(host, sessionId, madeAt ?? host.now()),
  }),
  pruneSessions: operationCommand('pruneSessions', pruneSessions, {
    afterwards: async (host, { deletedIds, dropsRoutes }) => {
      if (dropsRoutes) dropRoutes(host.home, deletedIds);
      await forgetSessions(host, deletedIds);
    },
  }),
  archiveStaleSessions: operationCommand('archiveStaleSessions', archiveStaleSessions),
  healCompressionRoute: operationCommand('healCompressionRoute', healCompressionRoute, {
    afterwards: (host, { changed, sessionKey, expectedSessionId, sessionId }) => {
      if (changed) moveRoute(host.home, sessionKey, expectedSessionId, sessionId);
    },
  }),
  importSessions: operationCommand('importSessions', importSessions),
} as const;
