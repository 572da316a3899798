/**
 * Commands that examine the Web UI's folder and tidy it up (`spec/webui-sidecars.md` 1.4, 7.4, 8, 9).
 */

import type { TombstoneKind } from '../state-db/beside.ts';
import { idList } from '../state-db/connection.ts';
import { type Cleanup, cleanupEmptySessions, type OrphanReport, pruneOrphans } from '../web-ui/cleanup.ts';
import { readIndex } from '../web-ui/index-file/index-file.ts';
import { type IndexHealth, indexHealth, rebuildIndex } from '../web-ui/index-file/rebuild-index.ts';
import { ownProfile } from '../web-ui/own-sidecars.ts';
import { auditRecovery, type RecoveryAudit } from '../web-ui/recovery-audit.ts';
import { duplicateSidecars, listSidecars } from '../web-ui/sidecar/list-sidecars.ts';
import { readMetadata } from '../web-ui/sidecar/read-metadata.ts';
import { isNoSession, type SidecarRow } from '../web-ui/sidecar/sidecar-row.ts';
import { unlessUnreadable } from '../web-ui/sidecar-file.ts';
import { type Sweep, sweepTemporaryFiles } from '../web-ui/temporary-files.ts';
import { clearTombstone, readTombstones } from '../web-ui/tombstones.ts';
import { WriteRefused } from '../write-refused.ts';
import { asked, auditedStore } from './audited-store.ts';
import type { CommandHost } from './command.ts';
import { fileCommand, sessionsDirOf } from './file-command.ts';

export interface IndexRebuild {
  /** How the index was before. */
  readonly before: IndexHealth;
  /** Rows that the index has, or would have. */
  readonly rows: number;
  /** Files that are no sessions, and so have no row. */
  readonly skippedIds: readonly string[];
  /** Files that another file of the same session stands for. */
  readonly duplicateIds: readonly string[];
  /** Old temporary files that went, or would go. */
  readonly sweptFiles: readonly string[];
}

/** The names of all profiles: the folder is shared, and only files of the own one are judged by its store. */
export interface OfProfile {
  readonly profiles: readonly string[];
}

const HAS_MESSAGES = 'SELECT 1 FROM messages WHERE session_id = ? LIMIT 1';
const WITHOUT_MESSAGES = `SELECT id, lower(trim(source)) AS source FROM sessions WHERE id IN (SELECT value FROM json_each(?))
  AND NOT EXISTS (SELECT 1 FROM messages WHERE session_id = sessions.id)`;

export const UPKEEP_COMMANDS = {
  rebuildSessionIndex: fileCommand<object, IndexRebuild>('rebuildSessionIndex', {
    work: async (host, _, dryRun) => {
      const dir = sessionsDirOf(host);
      const rows = await readRows(host);
      const before = indexHealth(await readIndex(dir), rows);
      const swept = (await sweepTemporaryFiles(dir, { dryRun: true, now: host.now })).files.map(({ name }) => name);
      if (dryRun) {
        const skippedIds = [...rows.values()].filter(isNoSession).map(({ id }) => id);
        const duplicateIds = duplicateSidecars(rows);
        const listed = rows.size - skippedIds.length - duplicateIds.length;
        return { before, rows: listed, skippedIds, duplicateIds, sweptFiles: swept };
      }
      const rebuilt = await rebuildIndex(dir);
      return { before, rows: rebuilt.rows, skippedIds: rebuilt.skipped, duplicateIds: rebuilt.duplicates, sweptFiles: swept };
    },
  }),

  /** Changes nothing. */
  auditWebUi: fileCommand<object, RecoveryAudit>('auditWebUi', {
    work: async (host) => auditRecovery(sessionsDirOf(host), await auditedStore(host)),
  }),

  cleanStaleTempFiles: fileCommand<{ readonly olderThanSeconds: number }, Sweep>('cleanStaleTempFiles', {
    work: (host, { olderThanSeconds }, dryRun) => sweepTemporaryFiles(sessionsDirOf(host), { olderThanSeconds, dryRun, now: host.now }),
  }),

  cleanupEmptySessions: fileCommand<OfProfile & { readonly zeroOnly: boolean }, Cleanup>('cleanupEmptySessions', {
    work: (host, { zeroOnly, profiles }, dryRun) => {
      const isOwn = ownProfile(host.profile, profiles);
      const hasTranscript = async (id: string) => {
        const row = await readMetadata(sessionsDirOf(host), id);
        return row === null || !isOwn(row.profile) || (await hasMessages(host, id));
      };
      return cleanupEmptySessions(sessionsDirOf(host), { dryRun, zeroOnly, hasTranscript });
    },
  }),

  pruneZeroMessageOrphans: fileCommand<OfProfile, OrphanReport>('pruneZeroMessageOrphans', {
    work: async (host, { profiles }, dryRun) => {
      const isOwn = ownProfile(host.profile, profiles);
      const own = [...(await readRows(host)).values()].filter((row) => isOwn(row.profile));
      return pruneOrphans(sessionsDirOf(host), own, { dryRun, withoutMessages: (ids) => withoutMessages(host, ids) });
    },
  }),

  clearTombstone: fileCommand<{ readonly sessionId: string; readonly kind: TombstoneKind }, { readonly cleared: boolean }>(
    'clearTombstone',
    {
      work: async (host, { sessionId, kind }, dryRun) => {
        const { ids, status } = await readTombstones(sessionsDirOf(host), kind);
        if (status === 'UNSUPPORTED' || status === 'UNREADABLE') throw new WriteRefused('TOMBSTONES_UNSUPPORTED');
        return { cleared: dryRun ? ids.has(sessionId) : await clearTombstone(sessionsDirOf(host), kind, sessionId) };
      },
    },
  ),
} as const;

/** What every file says of its session. Files that the system refuses are left out. */
export async function readRows(host: CommandHost): Promise<Map<string, SidecarRow>> {
  const rows = new Map<string, SidecarRow>();
  for (const id of (await listSidecars(sessionsDirOf(host))).ids) {
    const row = await readMetadata(sessionsDirOf(host), id).catch(unlessUnreadable);
    if (row !== null) rows.set(id, row);
  }
  return rows;
}

/** Doubt counts as yes: nothing is removed then. */
function hasMessages(host: CommandHost, id: string): Promise<boolean> {
  return asked(host, (store) => store.all(HAS_MESSAGES, [id]).length > 0, true);
}

/** Null where the store can't be read: nothing is done then. */
async function withoutMessages(host: CommandHost, ids: readonly string[]): Promise<ReadonlyMap<string, string> | null> {
  const found = await asked(host, (store) => store.all(WITHOUT_MESSAGES, [idList(ids)]), null);
  return found === null ? null : new Map(found.map(({ id, source }) => [String(id), String(source)]));
}
