/** Findings on the Web UI's files. */
import type { Kind } from './kind.ts';
import { call, DRY, onProfile, onSession } from './remedy.ts';

const ERROR = { area: 'FILES', severity: 'ERROR' } as const;
const WARNING = { area: 'FILES', severity: 'WARNING' } as const;
const INFO = { area: 'FILES', severity: 'INFO' } as const;

const restoreFromBackup = onSession('restoreFromBackup');
const rebuildSessionIndex = onProfile('rebuildSessionIndex', DRY);

export const FILES = {
  SIDECAR_CORRUPT: {
    ...ERROR,
    message: 'The session file is no JSON object, torn or overwritten. A backup beside it may have the messages.',
    remedy: (place) => (place.values.backup === 'yes' ? restoreFromBackup(place) : null),
  },
  SIDECAR_UNREADABLE: { ...ERROR, message: 'The session file can not be read: check its permissions.' },
  SIDECAR_ENCODING: { ...WARNING, message: 'The session file has bytes that are not UTF-8: it is shown without them, and never written.' },
  SIDECAR_TOO_LARGE: { ...WARNING, message: 'The session file is too large to be read whole; only its metadata is shown.' },
  SIDECAR_ID_MISMATCH: {
    ...WARNING,
    message: 'The session file tells another id than its name: it was copied or renamed. The name counts.',
  },
  SIDECAR_ODD_VALUES: { ...INFO, message: 'Values in the session file have a wrong type, or are out of range; they are shown as unknown.' },
  SIDECAR_DUPLICATE: { ...INFO, message: 'Another file of the same session has as many messages, or more, and stands for it.' },
  SIDECAR_MISSING: {
    ...WARNING,
    message: 'The store has messages of a session of the Web UI whose file is gone, so that the Web UI does not list it.',
    remedy: ({ profile, subject }) =>
      subject === null ? null : onProfile('materializeSidecars', { ids: [subject], ...DRY })({ profile, subject, values: {} }),
  },
  STORE_ORPHAN: {
    ...INFO,
    message: 'A session of the Web UI has neither a file nor a message in the store.',
    remedy: onProfile('pruneZeroMessageOrphans', DRY),
  },
  SIDECAR_BEHIND_STORE: {
    ...WARNING,
    message: 'A turn was left behind in the session file, and the store has more messages than it.',
    remedy: onSession('syncSidecarFromStateDb'),
  },
  STALE_PENDING_TURN: {
    ...WARNING,
    message: 'The session file waits for a turn that nobody runs any more: the prompt is in no transcript yet.',
    // A prompt without a run is settled by force alone.
    remedy: ({ profile, subject, values }) =>
      subject === null
        ? null
        : call('repairStalePending', { profile, sessionId: subject, ...(values.force === 'yes' ? { force: true } : {}), dryRun: true }),
  },
  STALE_STREAM: {
    ...WARNING,
    message: 'The session file names a run as under way that is over.',
    remedy: onSession('clearStaleStream'),
  },
  PENDING_TURN_CONTINUED: {
    ...INFO,
    message: 'The session file waits for a turn, and the conversation went on in another session: repairs leave it alone.',
  },
  FILE_IGNORED: { ...INFO, message: 'A file looks like a session file, and its name is none that a session can have.' },
  FILES_UNLISTABLE: { ...ERROR, message: "The Web UI's folder of sessions can not be listed: check its permissions." },
  SESSION_INDEX_MISSING: {
    ...INFO,
    message: "The Web UI's index of its sessions is not there: it builds it anew.",
    remedy: rebuildSessionIndex,
  },
  SESSION_INDEX_CORRUPT: { ...WARNING, message: "The Web UI's index of its sessions can not be used.", remedy: rebuildSessionIndex },
  SESSION_INDEX_GHOST: { ...WARNING, message: "The Web UI's index has a session whose file is gone.", remedy: rebuildSessionIndex },
  SESSION_INDEX_LACKS: { ...WARNING, message: "The Web UI's index lacks a session whose file is there.", remedy: rebuildSessionIndex },
  SESSION_INDEX_BEHIND: { ...INFO, message: "The Web UI's index tells another count or time than the file.", remedy: rebuildSessionIndex },
  SESSION_INDEX_DOUBLE: { ...INFO, message: "The Web UI's index has a session more than once.", remedy: rebuildSessionIndex },
  BACKUP_HAS_MORE: {
    ...WARNING,
    message: 'The backup of the session file has more messages than the file, and nothing says that they were removed on purpose.',
    remedy: restoreFromBackup,
  },
  BACKUP_ORPHAN: { ...WARNING, message: 'There is a backup of a session file that is gone.', remedy: restoreFromBackup },
  BACKUP_UNUSABLE: { ...INFO, message: 'There is a backup without its session file, and it can not be used or its session is unknown.' },
  TOMBSTONES_NEWER: {
    ...WARNING,
    message: "The Web UI's list of deleted or empty sessions is of a newer version: it is ignored and never written.",
  },
  TOMBSTONES_UNREADABLE: {
    ...WARNING,
    message: "The Web UI's list of deleted or empty sessions can not be read: what was deleted may be shown again.",
  },
  PROJECTS_UNREADABLE: {
    ...WARNING,
    message: 'projects.json can not be read: projects are not shown, and the file is never written over.',
  },
  SESSION_DATABASE: {
    ...WARNING,
    message:
      'The Web UI keeps sessions in a database of its own (_sessions.sqlite3): changes of session files are refused without `force`.',
  },
} as const satisfies Record<string, Kind>;
