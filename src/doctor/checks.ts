/** All checks, in the order in which a report lists them. */
import type { Check } from './check.ts';
import { backups } from './checks/backups.ts';
import { sessionFiles, wholeFiles } from './checks/files.ts';
import { searchIndex } from './checks/indexes.ts';
import { journals, orphanJournals, turnJournals } from './checks/journals.ts';
import { leases } from './checks/leases.ts';
import { cleanupManifests, temporaryFiles } from './checks/leftovers.ts';
import { machine } from './checks/machine.ts';
import { pendingTurns } from './checks/pending-turns.ts';
import { deepRows, routes, rows } from './checks/rows.ts';
import { missingFiles, sessionIndex, smallFiles } from './checks/session-index.ts';
import { spool } from './checks/spool.ts';
import { stores } from './checks/stores.ts';

export type { Check };

export const CHECKS: readonly Check[] = [
  stores,
  searchIndex,
  rows,
  deepRows,
  routes,
  leases,
  sessionFiles,
  wholeFiles,
  pendingTurns,
  sessionIndex,
  missingFiles,
  smallFiles,
  backups,
  orphanJournals,
  journals,
  turnJournals,
  spool,
  temporaryFiles,
  cleanupManifests,
  machine,
];
