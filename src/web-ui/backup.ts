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
import { putIndexRow } from './index-file/patch-index.ts';
import { createFile, replaceFile } from './replace-file.ts';
import { type Fields, listOf, word } from './sidecar/coercions.ts';
import { decodeText, parseSidecar } from './sidecar/parse-sidecar.ts';
import { MAX_WHOLE_BYTES, readSteadily, signatureText, wholeFiles, withBackup, withSidecar } from './sidecar/read-sidecar.ts';
import { isLikelyInMemory, refuseOverlay, replaceSidecar, type SaveOptions } from './sidecar/save-sidecar.ts';
import { inOrder } from './sidecar/session-queue.ts';
import { parseSidecarJson } from './sidecar/sidecar-json.ts';
import { lastMessageTime } from './sidecar/sidecar-messages.ts';
import type { SidecarSignature } from './sidecar/sidecar-row.ts';
import { isSidecarId, sidecarName } from './sidecar-file.ts';
import { clearTombstones } from './tombstones.ts';

export interface SidecarBackup extends BackupAdvice {
  readonly exists: boolean;
  /** When the backup was written, epoch seconds. */
  readonly modifiedAt: number | null;
  /** The session has messages that are newer than the last one in the backup; restoring needs force. */
  readonly liveIsNewer: boolean;
}

/** Why a backup is not restored: what the advice says, or what the caller found. Force goes over all of them. */
export type RestoreObjection =
  | NonNullable<BackupAdvice['reason']>
  | 'NO_BACKUP'
  | 'BACKUP_HAS_NO_MORE_MESSAGES'
  | 'LIVE_IS_NEWER'
  | 'DELETED'
  | 'NO_STATE_ROW';

export interface RestoredBackup {
  readonly restored: boolean;
  /** Null where it was, or would be, restored. */
  readonly objection: RestoreObjection | null;
  readonly before: SidecarBackup;
  /** Messages of the session afterwards; -1: no session. */
  readonly messages: number;
  /** The name of the copy of what was there; null when nothing was kept. */
  readonly keptAs: string | null;
  readonly mayBeOverwritten: boolean;
}

export interface RestoreOptions extends SaveOptions {
  readonly forceRestore?: boolean;
  /** What speaks against a backup without a file, by the store and the tombstones. */
  readonly ofOrphan?: 'DELETED' | 'NO_STATE_ROW' | null;
  /** Asked of the profile that the session names, before anything is written. May throw. */
  readonly ofProfile?: (profile: string | null) => void;
  /** Called before the first write, with what the answer will be. */
  readonly planned?: (result: RestoredBackup) => void;
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
 * Puts the backup in the place of the session's file, unless it is not the better copy. What was there is kept beside it. Throws
 * `WriteRefused`: NOT_FOUND without a file and a backup, SIDECAR_CORRUPT for a backup that is no session, CONFLICT, and those of
 * `replaceFile`.
 */
export async function restoreBackup(sessionsDir: string, id: string, options: RestoreOptions = {}): Promise<RestoredBackup> {
  if (!isSidecarId(id)) throw new InvalidInput('That is no session id.', {}, 'BAD_SESSION_ID');
  await refuseOverlay(sessionsDir, options);
  return inOrder(join(sessionsDir, id), async () => {
    const { live, backup } = await bothCopies(sessionsDir, id);
    const { ifSignature } = options;
    if (live === null && backup === null) throw new WriteRefused('NOT_FOUND');
    options.ofProfile?.(word((live?.fields ?? backup?.fields)?.profile));
    if (typeof ifSignature === 'string' && (live === null || signatureText(live.signature) !== ifSignature))
      throw new WriteRefused('CONFLICT');
    const before = inspected(live, backup);
    const mayBeOverwritten = live !== null && holdsAnother(live, id, before, options);
    const isUsable = backup !== null && before.backupMessages >= 0;
    if (backup !== null && (!isUsable || !isUtf8(backup.bytes)))
      throw new WriteRefused('SIDECAR_CORRUPT', 'It is the backup that is damaged.');
    const found = objectionTo(before, live === null ? (options.ofOrphan ?? null) : null);
    const objection = found !== 'NO_BACKUP' && options.forceRestore === true ? null : found;
    if (backup === null || objection !== null)
      return { restored: false, objection, before, messages: before.liveMessages, keptAs: null, mayBeOverwritten };
    const path = join(await realpath(sessionsDir), sidecarName(id));
    const keptAs = live === null ? null : asideOf(path, options);
    const result = {
      restored: true,
      objection,
      before,
      messages: before.backupMessages,
      keptAs: keptAs === null ? null : basename(keptAs),
      mayBeOverwritten,
    };
    if (options.dryRun === true) return result;
    options.planned?.(result);
    if (live === null || keptAs === null) await createFile(path, backup.bytes);
    else {
      await replaceFile(keptAs, live.bytes, { tempStem: `${basename(path)}.before-restore` });
      await replaceSidecar(path, backup.bytes, live.signature);
    }
    await followRestore(sessionsDir, id, result.messages);
    return result;
  });
}

/** What belongs to a restored file beside it. It may run twice. */
export async function followRestore(sessionsDir: string, id: string, messages: number): Promise<void> {
  await putIndexRow(sessionsDir, id);
  if (messages > 0) await clearTombstones(sessionsDir, id);
}

/** A running Web UI reads a file again that has more messages than it knows, unless a turn is under way (`spec/webui-recovery.md` 16.5). */
function holdsAnother({ bytes, signature }: Copy, id: string, { liveMessages, backupMessages }: SidecarBackup, options: SaveOptions) {
  const { row } = parseSidecar(bytes, id, signature);
  if (backupMessages > liveMessages) return row.activeStreamId !== null || row.pending !== null;
  return isLikelyInMemory(row, options);
}

function objectionTo(
  { exists, reason, recommendation, liveIsNewer }: SidecarBackup,
  ofOrphan: 'DELETED' | 'NO_STATE_ROW' | null,
): RestoreObjection | null {
  if (!exists) return 'NO_BACKUP';
  if (ofOrphan !== null) return ofOrphan;
  if (reason !== null) return reason;
  if (recommendation !== 'RESTORE') return 'BACKUP_HAS_NO_MORE_MESSAGES';
  return liveIsNewer ? 'LIVE_IS_NEWER' : null;
}

function asideOf(path: string, options: SaveOptions): string {
  return `${path}.before-restore-${Math.trunc(options.now?.() ?? Date.now() / 1000)}`;
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
