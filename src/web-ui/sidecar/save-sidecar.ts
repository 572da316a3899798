/**
 * Changes of session files beside a running Web UI (`spec/webui-sidecars.md` 6, 15): always from a complete read, never over a file that
 * changed meanwhile, the old messages kept aside when there are fewer than before.
 */
import { access, lstat, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { InvalidInput } from '../../errors.ts';
import { systemCode } from '../../live/journal/open-journal.ts';
import { WriteRefused } from '../../write-refused.ts';
import { patchIndexRow } from '../index-file/patch-index.ts';
import { replaceFile } from '../replace-file.ts';
import { isSidecarId, sidecarName } from '../sidecar-file.ts';
import { clearTombstones } from '../tombstones.ts';
import type { Fields } from './coercions.ts';
import { type EditOutcome, type EditRequest, editSidecar } from './edit-sidecar.ts';
import {
  isSameSignature,
  MAX_INLINE_BYTES,
  MAX_WHOLE_BYTES,
  readSteadily,
  signatureOf,
  signatureText,
  withSidecar,
} from './read-sidecar.ts';
import { inOrder, isInUse } from './session-queue.ts';
import type { SidecarRow, SidecarSignature } from './sidecar-row.ts';
import { inSidecarThread } from './sidecar-threads.ts';

export interface SaveOptions {
  /** The signature that the caller has seen, as `signatureText` gives it; another is a CONFLICT. */
  readonly ifSignature?: string | null;
  /** Epoch seconds. */
  readonly now?: () => number;
  readonly maxBytes?: number;
  /** Also where the Web UI keeps its sessions in a database of its own. */
  readonly force?: boolean;
  /** Only say what would be saved; the row is as it would be, with the signature of the file that is there. */
  readonly dryRun?: boolean;
}

export interface SavedSidecar {
  /** False: the file said the same already, or nothing had to be done. */
  readonly changed: boolean;
  readonly row: SidecarRow;
  /** A running Web UI may hold the session in memory, and writes it again without this change. */
  readonly mayBeOverwritten: boolean;
  /** The row of the Web UI's index has the change too. */
  readonly indexPatched: boolean;
  /** Messages that went. */
  readonly dropped: number;
}

/** A file that was saved so short a time ago is likely in the memory of a running Web UI. Seconds. */
export const RECENTLY = 600;
/** In newer builds of the Web UI. */
const OVERLAY_STORE = '_sessions.sqlite3';

/**
 * Changes metadata of a session's file. Throws `WriteRefused` (SIDECAR_MISSING, SIDECAR_CORRUPT, SIDECAR_ENCODING, SIDECAR_TOO_LARGE,
 * SIDECAR_OVERLAY, SESSION_READ_ONLY, SESSION_BUSY, CONFLICT, and those of `replaceFile`), `SidecarUnreadable`, `InvalidInput` for an id
 * that is none, `NotJson`.
 */
export function saveMetadata(sessionsDir: string, request: EditRequest, options: SaveOptions = {}): Promise<SavedSidecar> {
  const mayDrop = request.collapsePartials === true;
  return saveEdited(sessionsDir, request.id, { edit: (bytes) => edit(bytes, request), mayDrop }, options);
}

export interface SidecarEdit {
  /** The bytes are the edit's own. */
  readonly edit: (bytes: Buffer) => EditOutcome | Promise<EditOutcome>;
  /** The file may come to have fewer messages. */
  readonly mayDrop: boolean;
}

/** Whether this process is about to write the session's file. */
export function isBeingSaved(sessionsDir: string, id: string): boolean {
  return isInUse(join(sessionsDir, id));
}

/** Any change of a session's file, as `saveMetadata`. */
export async function saveEdited(
  sessionsDir: string,
  id: string,
  { edit, mayDrop }: SidecarEdit,
  options: SaveOptions = {},
): Promise<SavedSidecar> {
  if (!isSidecarId(id)) throw new InvalidInput('That is no session id.', {}, 'BAD_SESSION_ID');
  await refuseOverlay(sessionsDir, options);
  return inOrder(join(sessionsDir, id), async () => {
    const read = await readForEdit(sessionsDir, id, options);
    const old = mayDrop ? Buffer.from(read.bytes) : null;
    const outcome = await edit(read.bytes);
    if (outcome.status === 'REFUSED') throw new WriteRefused(outcome.code, outcome.more);
    const before = { ...outcome.before, signature: read.signature };
    const mayBeOverwritten = isLikelyInMemory(before, options);
    if (outcome.status === 'UNCHANGED') {
      const indexPatched = options.dryRun === true ? false : await followUp(sessionsDir, before, outcome.patch);
      return { changed: false, row: before, mayBeOverwritten, indexPatched, dropped: 0 };
    }
    if (options.dryRun === true) {
      return {
        changed: true,
        row: { ...outcome.after, signature: read.signature },
        mayBeOverwritten,
        indexPatched: false,
        dropped: outcome.dropped,
      };
    }
    const path = join(await realpath(sessionsDir), sidecarName(id));
    if (outcome.dropped > 0 && old !== null) await keepBackup(path, old, read.signature);
    await replaceSidecar(path, outcome.bytes, read.signature);
    const row = { ...outcome.after, signature: await signatureNow(path) };
    const indexPatched = await followUp(sessionsDir, row, outcome.patch);
    return { changed: true, row, mayBeOverwritten, indexPatched, dropped: outcome.dropped };
  });
}

/** What belongs to a save beside the file; done again where the file says the same already, since a writer may have been stopped between. */
async function followUp(sessionsDir: string, { id, storedMessageCount }: SidecarRow, patch: Fields): Promise<boolean> {
  const indexPatched = await patchIndexRow(sessionsDir, id, patch);
  if ((storedMessageCount ?? 0) > 0) await clearTombstones(sessionsDir, id);
  return indexPatched;
}

async function readForEdit(sessionsDir: string, id: string, options: SaveOptions): Promise<{ bytes: Buffer; signature: SidecarSignature }> {
  const read = await withSidecar(sessionsDir, id, async (file) => {
    const { ifSignature } = options;
    if (typeof ifSignature === 'string' && signatureText(signatureOf(file)) !== ifSignature) throw new WriteRefused('CONFLICT');
    if (file.size > (options.maxBytes ?? MAX_WHOLE_BYTES)) throw new WriteRefused('SIDECAR_TOO_LARGE');
    return readSteadily(file);
  });
  if (read === null) throw new WriteRefused('SIDECAR_MISSING');
  return read;
}

function edit(bytes: Buffer, request: EditRequest): EditOutcome | Promise<EditOutcome> {
  return bytes.length <= MAX_INLINE_BYTES ? editSidecar(bytes, request) : inSidecarThread({ task: 'EDIT', bytes, request });
}

/** Refuses where files may be stale copies (15). */
export async function refuseOverlay(sessionsDir: string, { force }: Pick<SaveOptions, 'force'>): Promise<void> {
  if (force === true || !(await hasOverlayStore(sessionsDir))) return;
  throw new WriteRefused('SIDECAR_OVERLAY');
}

export async function hasOverlayStore(sessionsDir: string): Promise<boolean> {
  try {
    await access(join(sessionsDir, OVERLAY_STORE));
    return true;
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return false;
  }
}

/** What `mayBeOverwritten` says (15). */
export function isLikelyInMemory(row: SidecarRow, { now }: Pick<SaveOptions, 'now'> = {}): boolean {
  if (row.activeStreamId !== null || row.pending !== null) return true;
  return (now?.() ?? Date.now() / 1000) - Number(row.signature.mtimeNs / 1_000_000n) / 1000 < RECENTLY;
}

/** The old text, before a save with fewer messages (6.4). `path` is the session file's. */
export async function keepBackup(path: string, old: Uint8Array, signature: SidecarSignature): Promise<void> {
  const present = await signatureNow(path);
  if (!isSameSignature(present, signature)) throw new WriteRefused('CONFLICT');
  await replaceFile(`${path}.bak`, old, { tempStem: `${basename(path)}.bak` });
}

/** Only over the file that was read. */
export function replaceSidecar(path: string, content: string | Uint8Array, expected: SidecarSignature): Promise<void> {
  return replaceFile(path, content, {
    mayReplace: (present) => present !== null && isSameSignature(signatureOf({ ...present, size: Number(present.size) }), expected),
  });
}

export async function signatureNow(path: string): Promise<SidecarSignature> {
  try {
    const seen = await lstat(path, { bigint: true });
    return signatureOf({ ...seen, size: Number(seen.size) });
  } catch (error) {
    if (systemCode(error) === 'ENOENT') throw new WriteRefused('CONFLICT', '', { cause: error });
    throw error;
  }
}
