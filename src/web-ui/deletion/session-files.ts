/**
 * Everything that the Web UI keeps of one session, and taking it away step by step (`spec/webui-transcript.md` 19.1, `spec/webui-sidecars.md`
 * 9.4). Every step may run again after it was cut off.
 */

import { access, lstat, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { RUN_JOURNALS, TURN_JOURNALS } from '../../live/journal/ids.ts';
import { JournalUnreadable, systemCode } from '../../live/journal/open-journal.ts';
import { WriteRefused } from '../../write-refused.ts';
import { pruneIndexRow } from '../index-file/patch-index.ts';
import { signatureOf, signatureText } from '../sidecar/read-sidecar.ts';
import { inOrder } from '../sidecar/session-queue.ts';
import { isSidecarId, sidecarName } from '../sidecar-file.ts';
import { recordTombstone } from '../tombstones.ts';
import {
  type FileSum,
  removeFile,
  removeRunJournal,
  removeTree,
  removeTurnJournal,
  removing,
  runJournalDir,
  sumOf,
  turnJournalFiles,
} from './journal-files.ts';

export type SessionFileKind = 'SIDECAR' | 'BACKUP' | 'ATTACHMENTS' | 'TURN_JOURNAL' | 'RUN_JOURNAL' | 'TRANSCRIPT' | 'REQUEST_DUMP';

/** A file of a session, or a whole directory of it. */
export interface SessionFile extends FileSum {
  /** Of which folder `path` is a part: the Web UI's, its attachments', or the Hermes home of the profile. */
  readonly home: 'WEB_UI' | 'ATTACHMENTS' | 'PROFILE';
  readonly path: string;
  readonly kind: SessionFileKind;
}

/** Where the Web UI keeps its files. */
export interface WebUiPlaces {
  /** Its folder, which holds `sessions`. */
  readonly stateDir: string;
  /** The folder that has one of attachments for each session. */
  readonly attachments: string;
}

/** The Web UI cuts the names of longer ids there: such a folder may be another session's. */
const LONGEST_ATTACHMENT_NAME = 120;

export function webUiPlaces(stateDir: string, env: Readonly<Record<string, string | undefined>>): WebUiPlaces {
  return { stateDir, attachments: env.HERMES_WEBUI_ATTACHMENT_DIR?.trim() || join(stateDir, 'attachments') };
}

/** What there is of the session, in the order in which it goes. */
export async function webUiFiles({ stateDir, attachments }: WebUiPlaces, id: string): Promise<SessionFile[]> {
  const sessionsDir = join(stateDir, 'sessions');
  const sidecar = isSidecarId(id) ? join('sessions', sidecarName(id)) : null;
  const isJournalled = runJournalDir(sessionsDir, id) !== null;
  const shards = (await turnJournalFiles(sessionsDir, id).catch(noneIfUnreadable)).map((path) =>
    join('sessions', TURN_JOURNALS, basename(path)),
  );
  const places: readonly [SessionFileKind, string | null][] = [
    ['SIDECAR', sidecar],
    ['BACKUP', sidecar === null ? null : `${sidecar}.bak`],
    ['ATTACHMENTS', attachmentsOf(attachments, id) === null ? null : id],
    ...shards.map((path): [SessionFileKind, string] => ['TURN_JOURNAL', path]),
    ['RUN_JOURNAL', isJournalled ? join('sessions', RUN_JOURNALS, id) : null],
  ];
  const found: SessionFile[] = [];
  for (const [kind, path] of places) {
    if (path === null) continue;
    const home = kind === 'ATTACHMENTS' ? 'ATTACHMENTS' : 'WEB_UI';
    const sum = await sumOf(join(home === 'ATTACHMENTS' ? attachments : stateDir, path));
    if (sum !== null) found.push({ home, path, kind, ...sum });
  }
  return found;
}

/** They are told as left when the session is deleted. */
function noneIfUnreadable(error: unknown): string[] {
  if (error instanceof JournalUnreadable) return [];
  throw error;
}

function attachmentsOf(root: string, id: string): string | null {
  return isSidecarId(id) && id.length <= LONGEST_ATTACHMENT_NAME ? join(root, id) : null;
}

export interface RemoveOptions {
  /** The signature of the session file when the deletion was decided on; null: there was none. */
  readonly signature: string | null;
  /** Whether the session is to be noted as deleted. */
  readonly tombstone: boolean;
}

/**
 * Takes everything away. LIVES: the session file is another than when that was decided, and nothing was done. LEFT: some of the rest can't be
 * removed. Throws `WriteRefused` (FILE_NOT_WRITTEN) where the session file itself can't be; nothing was done then.
 */
export async function removeWebUiFiles(
  places: WebUiPlaces,
  id: string,
  { signature, tombstone }: RemoveOptions,
): Promise<'GONE' | 'LIVES' | 'LEFT'> {
  const sessionsDir = join(places.stateDir, 'sessions');
  if (!isSidecarId(id) || !(await isThere(sessionsDir))) return 'GONE';
  if (!(await removing(() => removeSidecar(sessionsDir, id, signature)))) return 'LIVES';
  const attachments = attachmentsOf(places.attachments, id);
  const steps: readonly (() => Promise<unknown>)[] = [
    () => pruneIndexRow(sessionsDir, id),
    () => removeFile(join(sessionsDir, `${sidecarName(id)}.bak`)),
    async () => tombstone && recordTombstone(sessionsDir, 'DELETED', id),
    async () => attachments !== null && removeTree(attachments),
    () => removeTurnJournal(sessionsDir, id),
    () => removeRunJournal(sessionsDir, id),
  ];
  let isLeft = false;
  for (const step of steps) {
    try {
      await removing(step);
    } catch (error) {
      if (!(error instanceof WriteRefused)) throw error;
      isLeft = true;
    }
  }
  return isLeft ? 'LEFT' : 'GONE';
}

/** Whether no file of the session is there afterwards. */
function removeSidecar(sessionsDir: string, id: string, expected: string | null): Promise<boolean> {
  return inOrder(join(sessionsDir, id), async () => {
    const path = join(await realpath(sessionsDir), sidecarName(id));
    try {
      const seen = await lstat(path, { bigint: true });
      if (signatureText(signatureOf({ ...seen, size: Number(seen.size) })) !== expected) return false;
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') throw error;
      return true;
    }
    await removeFile(path);
    return true;
  });
}

async function isThere(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return false;
  }
}
