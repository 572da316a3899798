/** Findings on a store as a whole and on the machine that it lies on. */
import type { Kind } from './kind.ts';
import { DRY, onProfile } from './remedy.ts';

const checkStore = onProfile('checkStore');
const rebuildSearchIndex = onProfile('rebuildSearchIndex', DRY);

const ERROR = { area: 'STORE', severity: 'ERROR' } as const;
const WARNING = { area: 'STORE', severity: 'WARNING' } as const;
const INFO = { area: 'STORE', severity: 'INFO' } as const;

export const STORES = {
  STORE_MISSING: {
    ...WARNING,
    message: 'There is no state.db. The agent has not run with this profile yet, or --home names another folder.',
  },
  STORE_EMPTY: { ...ERROR, message: 'state.db has no tables: it was emptied, or its owner has not written yet. Look for a backup first.' },
  STORE_NOT_A_DATABASE: {
    ...ERROR,
    message: 'state.db is no database of the Hermes Agent: its header or its tables are missing. Restore a backup.',
  },
  STORE_SCHEMA_MALFORMED: {
    ...ERROR,
    message: 'The schema of state.db is damaged; the rows are probably intact. `checkStore` tells what `repairStore` needs.',
    remedy: checkStore,
  },
  STORE_CORRUPT: {
    ...ERROR,
    message: 'Pages of state.db are damaged. Stop the writers and keep a copy; `checkStore` says whether `repairStore` can help.',
    remedy: checkStore,
  },
  STORE_BUSY: { ...WARNING, message: 'Another program holds state.db locked, so nothing could be said of its contents.' },
  STORE_UNREADABLE: { ...ERROR, message: 'state.db can not be read: the path, its permissions, or the disk.' },
  STORE_REPLACED: { ...WARNING, message: 'state.db was replaced while it was looked at.' },
  STORE_WAL_LOST: {
    ...ERROR,
    message: 'The -wal file of state.db was removed while a program still writes to it. Stop all writers before anything else.',
  },
  STORE_SCHEMA_OLD: {
    ...INFO,
    message: 'The store was written by an older Hermes Agent: columns are missing and their defaults are shown. Its owner migrates it.',
  },
  STORE_SCHEMA_NEWER: { ...INFO, message: 'The store was written by a newer Hermes Agent: there are columns that this server ignores.' },
  STORE_WAL_LARGE: {
    ...WARNING,
    message: 'The -wal file has grown large: a reader that never ends, or a writer that never checkpoints, keeps it from shrinking.',
  },
  SEARCH_INDEX_DAMAGED: {
    area: 'INDEX',
    severity: 'WARNING',
    message: 'A full-text index is damaged. Search is incomplete, and the next write of a message may fail.',
    remedy: rebuildSearchIndex,
  },
  SEARCH_INDEX_MISSING: {
    area: 'INDEX',
    severity: 'WARNING',
    message: 'There is no full-text index: search reads all messages.',
  },
  SEARCH_INDEX_STALE: {
    area: 'INDEX',
    severity: 'WARNING',
    message: 'Its owner gave the full-text index up, and new messages are not in it.',
    remedy: rebuildSearchIndex,
  },
  SEARCH_INDEX_REBUILDING: { area: 'INDEX', severity: 'INFO', message: 'The full-text index is being rebuilt.' },
  SEARCH_TRIGGERS_MISSING: {
    area: 'INDEX',
    severity: 'WARNING',
    message: 'Triggers that keep a full-text index in step are missing: what is written is not found.',
    remedy: rebuildSearchIndex,
  },
  DISK_FULL: {
    area: 'MACHINE',
    severity: 'WARNING',
    message: 'There is hardly room on the disk of the store: writers will fail, and a repair has no place to work.',
  },
  FLOCK_MISSING: {
    area: 'MACHINE',
    severity: 'WARNING',
    message: 'The program flock is not on this machine: `repairStore`, `rebuildSearchIndex` and `optimizeStore` refuse to run.',
  },
  READABLE_BY_OTHERS: {
    area: 'MACHINE',
    severity: 'INFO',
    message: 'Other users of this machine may read it. `chmod go-rwx` keeps conversations private.',
  },
  CHECK_FAILED: { area: 'DOCTOR', severity: 'WARNING', message: 'A check could not be completed; the others are not affected.' },
} as const satisfies Record<string, Kind>;
