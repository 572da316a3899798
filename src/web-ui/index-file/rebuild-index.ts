/**
 * Building the Web UI's index anew from the session files (`spec/webui-sidecars.md` 8.3), and what is wrong with the one that is there.
 */

import type { Fields } from '../sidecar/coercions.ts';
import { finiteNumber, nonNegativeInteger } from '../sidecar/coercions.ts';
import { duplicateSidecars, listSidecars } from '../sidecar/list-sidecars.ts';
import { readCompact } from '../sidecar/read-compact.ts';
import { inOrder } from '../sidecar/session-queue.ts';
import type { SidecarRow } from '../sidecar/sidecar-row.ts';
import { isSidecarId, unlessUnreadable } from '../sidecar-file.ts';
import { sweepTemporaryFiles } from '../temporary-files.ts';
import { type IndexReading, indexPath, writeIndex } from './index-file.ts';

export interface IndexHealth {
  /** STALE: rows without files, files without rows, rows twice, or rows that lag behind their files. */
  readonly status: 'OK' | 'MISSING' | 'CORRUPT' | 'EMPTY_WITH_FILES' | 'STALE';
  readonly rows: number;
  /** Ids of rows whose files are gone. */
  readonly missingFiles: readonly string[];
  /** Ids of files without a row. */
  readonly missingRows: readonly string[];
  /** Ids of rows that tell another count or time than their files. */
  readonly laggingRows: readonly string[];
  readonly duplicateIds: readonly string[];
  /** When it was written, epoch seconds. */
  readonly generatedAt: number | null;
}

export interface RebuiltIndex {
  readonly rows: number;
  /** Ids of files that could not be read as sessions, and are not in the index. */
  readonly skipped: readonly string[];
  readonly duplicates: readonly string[];
  readonly ignoredFiles: readonly string[];
}

/** `rows`: of the session files. */
export function indexHealth(index: IndexReading, rows: ReadonlyMap<string, SidecarRow>): IndexHealth {
  const missingFiles = [...index.rows.keys()].filter((id) => !rows.has(id));
  const missingRows = [...rows.keys()].filter((id) => !index.rows.has(id));
  const laggingRows = [...rows.values()].filter((row) => isBehind(index.rows.get(row.id), row)).map(({ id }) => id);
  const { duplicateIds } = index;
  const isStale = [missingFiles, missingRows, laggingRows, duplicateIds].some((ids) => ids.length > 0) || index.oddRows > 0;
  return { status: statusOf(), rows: index.rows.size, missingFiles, missingRows, laggingRows, duplicateIds, generatedAt: index.writtenAt };

  function statusOf(): IndexHealth['status'] {
    if (index.status === 'MISSING') return 'MISSING';
    if (index.status !== 'OK') return 'CORRUPT';
    if (index.rows.size === missingFiles.length && rows.size > 0) return 'EMPTY_WITH_FILES';
    return isStale ? 'STALE' : 'OK';
  }
}

function isBehind(indexed: Fields | undefined, row: SidecarRow): boolean {
  if (indexed === undefined || row.health === 'CORRUPT' || row.health === 'UNREADABLE') return false;
  if (row.messageCount !== null && nonNegativeInteger(indexed.message_count) !== row.messageCount) return true;
  return (finiteNumber(indexed.updated_at) || null) !== row.updatedAt;
}

/** Sweeps old temporary files, reads every session file whole and writes the index. Throws `WriteRefused`, `SidecarUnreadable`. */
export async function rebuildIndex(sessionsDir: string): Promise<RebuiltIndex> {
  await sweepTemporaryFiles(sessionsDir, { dryRun: false });
  const { ids, ignoredFiles } = await listSidecars(sessionsDir);
  const found = new Map<string, { row: SidecarRow; compact: Fields }>();
  for (const id of ids) {
    const read = await readCompact(sessionsDir, id).catch(unlessUnreadable);
    if (read !== null) found.set(id, read);
  }
  const duplicates = new Set(duplicateSidecars(new Map([...found].map(([id, { row }]) => [id, row]))));
  const rows = [...found].flatMap(([id, { compact }]) => (duplicates.has(id) ? [] : [compact]));
  await inOrder(indexPath(sessionsDir), () => writeIndex(sessionsDir, rows));
  return { rows: rows.length, skipped: ids.filter((id) => isSidecarId(id) && !found.has(id)), duplicates: [...duplicates], ignoredFiles };
}
