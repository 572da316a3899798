/**
 * Backups of session files, which saves with fewer messages leave (`spec/webui-sidecars.md` 7.1, 7.2): what they hold, and restoring one.
 */

import { isUtf8 } from 'node:buffer';
import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { InvalidInput } from '../errors.ts';
import { isJsonObject } from '../state-db/decode.ts';
import { WriteRefused } from '../write-refused.ts';
import { type BackupAdvice, backupAdvice } from './backup-advice.ts';
import { pruneIndexRow } from './index-file/patch-index.ts';
import { createFile, replaceFile } from './replace-file.ts';
import { type Fields, listOf } from './sidecar/coercions.ts';
import { decodeText, parseSidecar } from './sidecar/parse-sidecar.ts';
import { MAX_WHOLE_BYTES, readSteadily, signatureText, wholeFiles, withBackup, withSidecar } from './sidecar/read-sidecar.ts';
import { isLikelyInMemory, refuseOverlay, replaceSidecar, type SaveOptions, signatureNow } from './sidecar/save-sidecar.ts';
import { inOrder } from './sidecar/session-queue.ts';
import { parseSidecarJson } from './sidecar/sidecar-json.ts';
import { lastMessageTime } from './sidecar/sidecar-messages.ts';
import type { SidecarRow, SidecarSignature } from './sidecar/sidecar-row.ts';
import { isSidecarId, sidecarName } from './sidecar-file.ts';

export interface SidecarBackup extends BackupAdvice {
  readonly exists: boolean;
  /** When the backup was written, epoch seconds. */
  readonly modifiedAt: number | null;
  /** The session has messages that are newer than the last one in the backup; restoring needs force. */
  readonly liveIsNewer: boolean;
}

export interface RestoredBackup {
  readonly before: SidecarBackup;
  readonly row: SidecarRow;
  /** The name of the copy of what was there; null when nothing was. */
  readonly keptAs: string | null;
  readonly mayBeOverwritten: boolean;
}

interface Copy {
  readonly bytes: Buffer;
  readonly signature: SidecarSignature;
  readonly fields: Fields | null;
}

/** Whether there is one, whatever it holds. */
export function hasBackup(sessionsDir: string, id: string): boolean {
  return isSidecarId(id) && existsSync(join(sessionsDir, `${sidecarName(id)}.bak`));
}

/** What there is to say of the session's backup; null for an id that has neither a file nor a backup. Throws `SidecarUnreadable`. */
export async function inspectBackup(sessionsDir: string, id: string): Promise<SidecarBackup | null> {
  const { live, backup } = await bothCopies(sessionsDir, id);
  return live === null && backup === null ? null : inspected(live, backup);
}

/**
 * Puts the backup in the place of the session's file. What was there is kept beside it. Throws `WriteRefused`: NOT_FOUND without a backup,
 * SIDECAR_CORRUPT for one that is no session, RESTORE_NOT_ADVISED unless forced, CONFLICT, and those of `replaceFile`.
 */
export async function restoreBackup(
  sessionsDir: string,
  id: string,
  options: SaveOptions & { readonly forceRestore?: boolean } = {},
): Promise<RestoredBackup> {
  if (!isSidecarId(id)) throw new InvalidInput('That is no session id.', {}, 'BAD_SESSION_ID');
  await refuseOverlay(sessionsDir, options);
  return inOrder(join(sessionsDir, id), async () => {
    const { live, backup } = await bothCopies(sessionsDir, id);
    const { ifSignature } = options;
    if (typeof ifSignature === 'string' && (live === null || signatureText(live.signature) !== ifSignature))
      throw new WriteRefused('CONFLICT');
    const before = inspected(live, backup);
    if (backup === null) throw new WriteRefused('NOT_FOUND', 'The session has no backup.');
    if (before.backupMessages < 0 || !isUtf8(backup.bytes)) throw new WriteRefused('SIDECAR_CORRUPT', 'It is the backup that is damaged.');
    const isAdvised = before.recommendation === 'RESTORE' && !before.liveIsNewer;
    if (!isAdvised && options.forceRestore !== true)
      throw new WriteRefused('RESTORE_NOT_ADVISED', '', { details: { reason: reasonOf(before) } });

    const path = join(await realpath(sessionsDir), sidecarName(id));
    const keptAs = live === null ? null : await keepAside(path, live, options);
    if (live === null) await createFile(path, backup.bytes);
    else await replaceSidecar(path, backup.bytes, live.signature);
    const { row } = parseSidecar(backup.bytes, id, await signatureNow(path));
    // The list of the Web UI reads the file again where it has no row.
    await pruneIndexRow(sessionsDir, id);
    const liveRow = live === null ? null : parseSidecar(live.bytes, id, live.signature).row;
    return { before, row, keptAs, mayBeOverwritten: liveRow !== null && isLikelyInMemory(liveRow, options) };
  });
}

function reasonOf({ reason, recommendation, liveIsNewer }: SidecarBackup): string {
  if (reason !== null) return reason;
  return recommendation === 'RESTORE' && liveIsNewer ? 'LIVE_IS_NEWER' : 'BACKUP_HAS_NO_MORE_MESSAGES';
}

async function keepAside(path: string, live: Copy, options: SaveOptions): Promise<string> {
  const at = Math.trunc(options.now?.() ?? Date.now() / 1000);
  const aside = `${path}.before-restore-${at}`;
  await replaceFile(aside, live.bytes, { tempStem: `${basename(path)}.before-restore` });
  return basename(aside);
}

async function bothCopies(sessionsDir: string, id: string): Promise<{ live: Copy | null; backup: Copy | null }> {
  return wholeFiles.run(async () => ({
    live: await withSidecar(sessionsDir, id, readCopy),
    backup: await withBackup(sessionsDir, id, readCopy),
  }));
}

async function readCopy(file: Parameters<typeof readSteadily>[0]): Promise<Copy> {
  if (file.size > MAX_WHOLE_BYTES) throw new WriteRefused('SIDECAR_TOO_LARGE');
  const { bytes, signature } = await readSteadily(file);
  const value = parseSidecarJson(decodeText(bytes).text);
  return { bytes, signature, fields: isJsonObject(value) ? value : null };
}

function inspected(live: Copy | null, backup: Copy | null): SidecarBackup {
  const advice = backupAdvice(live?.fields ?? null, backup === null ? undefined : backup.fields);
  const newest = (copy: Copy | null) => lastMessageTime(listOf(copy?.fields?.messages)) ?? 0;
  return {
    ...advice,
    exists: backup !== null,
    modifiedAt: backup === null ? null : Number(backup.signature.mtimeNs / 1000n) / 1e6,
    liveIsNewer: backup !== null && newest(live) > newest(backup),
  };
}
