/**
 * The Web UI's two lists of ids (`spec/webui-sidecars.md` 9): sessions that were deleted, and sessions without any message that were taken
 * out of its index.
 */
import { readFile, realpath, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../live/journal/open-journal.ts';
import type { TombstoneKind } from '../state-db/beside.ts';
import { isJsonObject } from '../state-db/decode.ts';
import { trimSpace } from '../state-db/whitespace.ts';
import { WriteRefused } from '../write-refused.ts';
import { replaceFile } from './replace-file.ts';
import { finiteNumber, truthy } from './sidecar/coercions.ts';
import { decodeText } from './sidecar/parse-sidecar.ts';
import { inOrder } from './sidecar/session-queue.ts';
import { parseSidecarJson, sidecarJson } from './sidecar/sidecar-json.ts';

export interface Tombstones {
  readonly ids: ReadonlySet<string>;
  /** UNSUPPORTED: of another version; taken for empty, and never written over. */
  readonly status: 'OK' | 'MISSING' | 'UNREADABLE' | 'UNSUPPORTED';
}

export const TOMBSTONE_CAPS: Readonly<Record<TombstoneKind, number>> = { ORPHAN: 500, DELETED: 1000 };
const FILES: Readonly<Record<TombstoneKind, string>> = {
  ORPHAN: '_pruned_webui_orphans.json',
  DELETED: '_deleted_webui_sessions.json',
};
const VERSION = 1;

/** Where the list lies. */
export function tombstonesPath(sessionsDir: string, kind: TombstoneKind): string {
  return join(sessionsDir, FILES[kind]);
}

/** The ids; none when the list is missing or can't be read. */
export async function readTombstones(sessionsDir: string, kind: TombstoneKind): Promise<Tombstones> {
  let text: string;
  try {
    text = decodeText(await readFile(tombstonesPath(sessionsDir, kind))).text;
  } catch (error) {
    const code = systemCode(error);
    if (code === null) throw error;
    return { ids: new Set(), status: code === 'ENOENT' || code === 'ENOTDIR' ? 'MISSING' : 'UNREADABLE' };
  }
  const value = parseSidecarJson(text);
  if (!isJsonObject(value)) return { ids: new Set(), status: 'UNREADABLE' };
  const version = finiteNumber(value.version);
  if (version === null || Math.trunc(version) !== VERSION) return { ids: new Set(), status: 'UNSUPPORTED' };
  if (!Array.isArray(value.ids)) return { ids: new Set(), status: 'UNREADABLE' };
  const ids = value.ids.flatMap((id) => (truthy(id) ? trimSpace(String(id)) || [] : []));
  return { ids: new Set(ids), status: 'OK' };
}

/** Whether the id was not there before. Over the cap another one goes, never this. Throws `WriteRefused` (TOMBSTONES_UNSUPPORTED, ...). */
export async function recordTombstone(sessionsDir: string, kind: TombstoneKind, id: string): Promise<boolean> {
  return changeTombstones(sessionsDir, kind, (ids) => {
    if (ids.has(id)) return null;
    const others = [...ids].sort().slice(-(TOMBSTONE_CAPS[kind] - 1));
    return new Set([...others, id]);
  });
}

/** Whether the id was there. The file goes with its last id. */
export async function clearTombstone(sessionsDir: string, kind: TombstoneKind, id: string): Promise<boolean> {
  return changeTombstones(sessionsDir, kind, (ids) => (ids.has(id) ? new Set([...ids].filter((other) => other !== id)) : null));
}

/** After a save with messages: the session is neither deleted nor empty. What fails is left, since a file beats a tombstone. */
export async function clearTombstones(sessionsDir: string, id: string): Promise<void> {
  for (const kind of ['ORPHAN', 'DELETED'] as const) {
    try {
      await clearTombstone(sessionsDir, kind, id);
    } catch (error) {
      if (!(error instanceof WriteRefused)) throw error;
    }
  }
}

async function changeTombstones(
  sessionsDir: string,
  kind: TombstoneKind,
  change: (ids: ReadonlySet<string>) => ReadonlySet<string> | null,
): Promise<boolean> {
  const path = tombstonesPath(await realpath(sessionsDir), kind);
  return inOrder(path, async () => {
    const { ids, status } = await readTombstones(sessionsDir, kind);
    const changed = change(ids);
    if (changed === null) return false;
    if (status === 'UNSUPPORTED') throw new WriteRefused('TOMBSTONES_UNSUPPORTED');
    if (changed.size === 0) await unlink(path);
    else await replaceFile(path, sidecarJson({ version: VERSION, ids: [...changed].sort() }));
    return true;
  });
}

/**
 * Whether a session without a session file counts as deleted when it is opened (9.3): sessions of other programs stay open to reading.
 * `source` is that of its row in the store, null without one.
 */
export function isDeleted(id: string, deleted: Tombstones, source: string | null, isDelegate: boolean): boolean {
  if (!deleted.ids.has(id) || isDelegate) return false;
  return source === null || source === '' || source === 'webui' || source === 'fork';
}
