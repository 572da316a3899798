/**
 * What is wrong with files beside a store, as far as they have to be read whole: backups, the spool, and, for a deep look, session files and
 * journals (`spec/webui-sidecars.md` 4.1, 7.1; `spec/webui-recovery.md` 13.1; `spec/live-turns.md` 3.5). A job for another process. Writes
 * nothing; what can't be read is told by other means and left out here.
 */
import { lstatSync } from 'node:fs';
import { systemCode } from '../../live/journal/open-journal.ts';
import { SpoolDirectory } from '../../transcript/spool-directory.ts';
import type { SpoolEntry } from '../../transcript/spool-entry.ts';
import { inspectBackup } from '../backup.ts';
import { readSidecar } from '../sidecar/read-sidecar.ts';
import type { SidecarHealth } from '../sidecar/sidecar-row.ts';
import { unlessUnreadable } from '../sidecar-file.ts';
import { readSidecarTail } from '../sidecar-head.ts';
import { type ExaminedRun, type ExaminedTurns, examineRuns, examineTurns } from './examine-journals.ts';

export interface FilesRequest {
  /** Null: no Web UI keeps sessions here; then there is only the spool. */
  readonly sessionsDir: string | null;
  /** Of the profile. */
  readonly home: string;
  readonly deep: boolean;
  /** Sessions whose backups are compared. */
  readonly backups: readonly string[];
  /** Sessions whose files are read whole, and their journals; only for a deep look. */
  readonly sessions: readonly string[];
}

export interface ExaminedBackup {
  readonly id: string;
  readonly advised: boolean;
  readonly liveMessages: number;
  /** -1: it can't be used. */
  readonly backupMessages: number;
}

export interface ExaminedSidecar {
  readonly id: string;
  readonly health: SidecarHealth;
  /** The run whose journal is to be looked at again (13.1); null: none waits. */
  readonly retryOf: string | null;
}

export interface FilesExamination {
  readonly backups: readonly ExaminedBackup[];
  /** Null: its folder can't be listed. */
  readonly spool: readonly SpoolEntry[] | null;
  readonly sidecars: readonly ExaminedSidecar[];
  readonly runs: readonly ExaminedRun[];
  readonly turns: readonly ExaminedTurns[];
}

export async function examineFiles({ sessionsDir, home, deep, backups, sessions }: FilesRequest): Promise<FilesExamination> {
  const spool = spoolOf(home);
  const nothing = { backups: [], spool, sidecars: [], runs: [], turns: [] };
  if (sessionsDir === null) return nothing;
  const compared = await each(backups, (id) => examineBackup(sessionsDir, id));
  if (!deep) return { ...nothing, backups: compared };
  return {
    spool,
    backups: compared,
    sidecars: await each(sessions, (id) => examineSidecar(sessionsDir, id)),
    runs: await examineRuns(sessionsDir),
    turns: await examineTurns(sessionsDir),
  };
}

function spoolOf(home: string): readonly SpoolEntry[] | null {
  const spool = new SpoolDirectory(home, { namedProfile: true });
  try {
    // Nothing is written to what is no folder of its own.
    const isOther = lstatSync(spool.folder, { throwIfNoEntry: false })?.isDirectory() === false;
    return isOther ? null : spool.list().entries;
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return null;
  }
}

/** One after the other: whole files are large. Nulls are left out. */
async function each<T>(ids: readonly string[], examine: (id: string) => Promise<T | null>): Promise<T[]> {
  const found: T[] = [];
  for (const id of ids) {
    const one = await examine(id);
    if (one !== null) found.push(one);
  }
  return found;
}

async function examineBackup(sessionsDir: string, id: string): Promise<ExaminedBackup | null> {
  const found = await inspectBackup(sessionsDir, id).catch(unlessUnreadable);
  if (found === null) return null;
  const { liveMessages, backupMessages, recommendation } = found;
  return { id, advised: recommendation === 'RESTORE', liveMessages, backupMessages };
}

async function examineSidecar(sessionsDir: string, id: string): Promise<ExaminedSidecar | null> {
  const whole = await readSidecar(sessionsDir, id).catch(unlessUnreadable);
  if (whole === null) return null;
  const tail = await readSidecarTail(sessionsDir, id).catch(unlessUnreadable);
  const waits = tail?.recovered?.pendingRetry === true;
  return { id, health: whole.row.health, retryOf: waits ? (tail.recovered?.runId ?? '') : null };
}
