/**
 * Bulk removal of what holds nothing (`spec/webui-sidecars.md` 8.9, 9.2): empty session files, rows of the index without a file, sessions
 * without any message in either place. Everything with a dry run.
 */
import { lstat, realpath, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../live/journal/open-journal.ts';
import { readIndex } from './index-file/index-file.ts';
import { pruneIndexRow, pruneIndexRows } from './index-file/patch-index.ts';
import { isBlank } from './list/list-row.ts';
import { listSidecars } from './sidecar/list-sidecars.ts';
import { readMetadata } from './sidecar/read-metadata.ts';
import { isSameSignature, readSidecar, signatureOf } from './sidecar/read-sidecar.ts';
import { refuseOverlay, type SaveOptions } from './sidecar/save-sidecar.ts';
import { inOrder } from './sidecar/session-queue.ts';
import type { SidecarRow } from './sidecar/sidecar-row.ts';
import { sidecarName, unlessUnreadable } from './sidecar-file.ts';
import { clearTombstone, readTombstones, recordTombstone } from './tombstones.ts';

export interface CleanupOptions extends Pick<SaveOptions, 'force'> {
  readonly dryRun: boolean;
  /** Also empty sessions that have a title. */
  readonly zeroOnly?: boolean;
  /** Whether the store has messages of the session, or can't tell: then its file stays. */
  readonly hasTranscript: (id: string) => boolean | Promise<boolean>;
}

export interface Cleanup {
  /** Ids of the files that went, or would go. */
  readonly files: readonly string[];
  /** Ids of the rows that went, or would go. */
  readonly rows: readonly string[];
}

const UNTITLED = 'Untitled';

/** Throws `WriteRefused` (SIDECAR_OVERLAY, and those of `replaceFile`), `SidecarUnreadable`. */
export async function cleanupEmptySessions(sessionsDir: string, options: CleanupOptions): Promise<Cleanup> {
  if (!options.dryRun) await refuseOverlay(sessionsDir, options);
  const { ids } = await listSidecars(sessionsDir);
  const files: string[] = [];
  for (const id of ids) if (await removeIfEmpty(sessionsDir, id, options)) files.push(id);
  const left = new Set(ids.filter((id) => !files.includes(id)));
  const rows = [...(await readIndex(sessionsDir)).rows.keys()].filter((id) => !left.has(id));
  if (!options.dryRun && rows.length > 0) await pruneIndexRows(sessionsDir, (id) => !left.has(id));
  return { files, rows };
}

async function removeIfEmpty(sessionsDir: string, id: string, options: CleanupOptions): Promise<boolean> {
  const head = await readMetadata(sessionsDir, id).catch(unlessUnreadable);
  if (head === null || !isEmptyShell(head, options)) return false;
  const { row } = (await readSidecar(sessionsDir, id).catch(unlessUnreadable)) ?? {};
  // The count in a file may be wrong, and it is the messages that must not be there.
  if (row === undefined || row.health !== 'OK' || !isEmptyShell(row, options) || (await options.hasTranscript(id))) return false;
  if (options.dryRun) return true;
  return inOrder(join(sessionsDir, id), async () => {
    const path = join(await realpath(sessionsDir), sidecarName(id));
    try {
      const now = await lstat(path, { bigint: true });
      if (!isSameSignature(signatureOf({ ...now, size: Number(now.size) }), row.signature)) return false;
      await unlink(path);
      return true;
    } catch (error) {
      if (systemCode(error) === null) throw error;
      return false;
    }
  });
}

/** Spares what a person or a program may still want (8.9). */
function isEmptyShell(row: SidecarRow, { zeroOnly }: CleanupOptions): boolean {
  if (row.storedMessageCount !== 0 || (row.title !== UNTITLED && zeroOnly !== true)) return false;
  if (row.activeStreamId !== null || row.pending !== null || row.worktree !== null || row.readOnly) return false;
  return row.composerDraft.text === '' && row.composerDraft.files.length === 0;
}

export interface OrphanOptions {
  readonly dryRun: boolean;
  /** Of these ids those that the store has with no message at all, with their sources; null when it can't tell (9.2). */
  readonly withoutMessages: (ids: readonly string[]) => Promise<ReadonlyMap<string, string> | null>;
}

export interface OrphanReport {
  /** Sessions that lists leave out. */
  readonly hidden: readonly string[];
  /** Of them those whose row and tombstone were, or would be, written. */
  readonly pruned: readonly string[];
  /** Tombstones that went, or would go: the sessions have messages again. */
  readonly healed: readonly string[];
}

/** Whether the session may be one that has a title and no message anywhere (9.2). */
export function isOrphanCandidate(row: SidecarRow): boolean {
  const names = [row.sourceTag, row.rawSource, row.sessionSource];
  // The Web UI writes no source into its own files.
  if (!names.includes('webui') && !names.every(isBlank)) return false;
  if (row.activeStreamId !== null || row.pending !== null || row.worktree !== null) return false;
  return row.title !== UNTITLED || (row.messageCount ?? 0) > 0;
}

/** What is to be done about a candidate; a tombstone alone never hides one. */
export function judgeOrphan(facts: {
  readonly emptyInStore: boolean;
  readonly hasMessages: boolean;
  readonly hasTombstone: boolean;
}): 'KEEP' | 'HEAL' | 'HIDE' | 'PRUNE' {
  if (facts.emptyInStore && !facts.hasMessages) return facts.hasTombstone ? 'HIDE' : 'PRUNE';
  return facts.hasTombstone ? 'HEAL' : 'KEEP';
}

/** Looks through these sessions; writes nothing on a dry run, and nothing on a second pass. Throws as `cleanupEmptySessions`. */
export async function pruneOrphans(sessionsDir: string, rows: Iterable<SidecarRow>, options: OrphanOptions): Promise<OrphanReport> {
  const candidates = [...rows].filter(isOrphanCandidate);
  const empty = await options.withoutMessages(candidates.map(({ id }) => id));
  if (empty === null) return { hidden: [], pruned: [], healed: [] };
  const { ids: tombstones } = await readTombstones(sessionsDir, 'ORPHAN');
  const hidden: string[] = [];
  const pruned: string[] = [];
  const healed: string[] = [];
  for (const { id, sourceTag, rawSource, sessionSource } of candidates) {
    const emptyInStore = [empty.get(id), sourceTag, rawSource, sessionSource].includes('webui') && empty.has(id);
    const file = emptyInStore ? await readSidecar(sessionsDir, id).catch(unlessUnreadable) : null;
    // What its file holds, nobody knows.
    if (emptyInStore && file === null) continue;
    const hasMessages = (file?.row.storedMessageCount ?? 0) > 0;
    const verdict = judgeOrphan({ emptyInStore, hasMessages, hasTombstone: tombstones.has(id) });
    if (verdict === 'HIDE' || verdict === 'PRUNE') hidden.push(id);
    if (verdict === 'PRUNE') pruned.push(id);
    if (verdict === 'HEAL') healed.push(id);
    if (options.dryRun) continue;
    if (verdict === 'PRUNE') {
      await pruneIndexRow(sessionsDir, id);
      await recordTombstone(sessionsDir, 'ORPHAN', id);
    } else if (verdict === 'HEAL') await clearTombstone(sessionsDir, 'ORPHAN', id);
  }
  return { hidden, pruned, healed };
}
