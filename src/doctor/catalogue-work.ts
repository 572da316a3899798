/** Findings on journals, leases, what waits in the spool, and what writers left behind. */
import type { Kind } from './kind.ts';
import { DRY, onProfile, onSession, withValues } from './remedy.ts';

const drainSpool = onProfile('drainSpool', DRY);

export const WORK = {
  LEASE_EXPIRED: { area: 'LEASES', severity: 'INFO', message: 'A turn lease ran out and was not given back. It holds up nobody.' },
  LEASE_HOLDER_DEAD: {
    area: 'LEASES',
    severity: 'WARNING',
    message: 'The process that holds a turn lease is gone: turns of the conversation wait until it runs out.',
  },
  LOCK_EXPIRED: { area: 'LEASES', severity: 'INFO', message: 'A compression lock ran out and was not given back. It holds up nobody.' },
  LOCK_HOLDER_DEAD: {
    area: 'LEASES',
    severity: 'WARNING',
    message: 'The process that holds a compression lock is gone: the session is not compressed until it runs out.',
  },
  JOURNAL_RETRY_WAITING: {
    area: 'JOURNALS',
    severity: 'WARNING',
    message: 'A turn was interrupted and its output is to be taken from its journal, which has not happened yet.',
    remedy: onSession('retryJournalRecovery'),
  },
  JOURNAL_MALFORMED: { area: 'JOURNALS', severity: 'INFO', message: 'Lines of the run journal can not be read and are passed over.' },
  JOURNAL_WITHOUT_END: { area: 'JOURNALS', severity: 'INFO', message: 'The run journal tells no end, and nobody runs it any more.' },
  JOURNAL_ORPHAN: {
    area: 'JOURNALS',
    severity: 'INFO',
    message: 'There are run journals of a session that is nowhere.',
    remedy: onSession('deleteRunJournal'),
  },
  TURN_NOT_ENDED: {
    area: 'JOURNALS',
    severity: 'INFO',
    message: 'The turn journal has turns that were begun and never ended, and nobody runs them.',
  },
  TURN_JOURNAL_MALFORMED: { area: 'JOURNALS', severity: 'INFO', message: 'Lines of the turn journal can not be read and are passed over.' },
  SPOOL_WAITING: { area: 'SPOOL', severity: 'INFO', message: 'Messages wait in the spool to be written to the store.', remedy: drainSpool },
  SPOOL_OLD: {
    area: 'SPOOL',
    severity: 'WARNING',
    message: 'Messages have waited in the spool for more than an hour: transcripts lack them.',
    remedy: drainSpool,
  },
  SPOOL_INVALID: {
    area: 'SPOOL',
    severity: 'WARNING',
    message: 'A file of the spool can not be used, and holds up those behind it.',
    remedy: withValues('retireSpoolEntry'),
  },
  SPOOL_UNREADABLE: {
    area: 'SPOOL',
    severity: 'WARNING',
    message: 'The folder of the spool can not be listed: nobody knows what waits in it.',
  },
  SPOOL_DEAD: { area: 'SPOOL', severity: 'WARNING', message: 'A message in the spool has no session that takes it. A person has to look.' },
  SPOOL_SUPERSEDED: {
    area: 'SPOOL',
    severity: 'INFO',
    message: 'Files of the spool belong to transcripts that were rewritten; nothing writes them.',
  },
  TEMPORARY_FILE: {
    area: 'LEFTOVERS',
    severity: 'INFO',
    message: 'A writer left a temporary file behind.',
    remedy: onProfile('cleanStaleTempFiles', DRY),
  },
  RESTORE_LEFTOVER: {
    area: 'LEFTOVERS',
    severity: 'INFO',
    message: 'A restore left a file behind. Nothing removes it, since it may still be wanted.',
  },
  CLEANUP_PENDING: {
    area: 'LEFTOVERS',
    severity: 'WARNING',
    message: 'A deletion left files of deleted sessions to be removed.',
    remedy: onProfile('drainCleanupManifests', DRY),
  },
  CLEANUP_MALFORMED: {
    area: 'LEFTOVERS',
    severity: 'WARNING',
    message: 'The record of a deletion can not be read, so that nothing is removed by it. A person has to look.',
  },
} as const satisfies Record<string, Kind>;
