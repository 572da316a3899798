/**
 * The one-call repair of the Web UI's files (`spec/webui-recovery.md` 20.3): what the audit finds and what can be mended without losing
 * anything. Everything that needs a person stays, and so do turns of the journal.
 */
import { type RestoreObjection, restoreBackup } from '../web-ui/backup.ts';
import { type IndexReading, readIndex } from '../web-ui/index-file/index-file.ts';
import { indexHealth, rebuildIndex } from '../web-ui/index-file/rebuild-index.ts';
import { type AuditItem, auditRecovery, auditSummary, type RecoveryAudit } from '../web-ui/recovery-audit.ts';
import { refuseOverlay } from '../web-ui/sidecar/save-sidecar.ts';
import { isNoSession, type SidecarRow } from '../web-ui/sidecar/sidecar-row.ts';
import { type RefusalCode, WriteRefused } from '../write-refused.ts';
import { auditedStore } from './audited-store.ts';
import type { CommandHost } from './command.ts';
import { fileCommand, refusing, repeatedly, sessionsDirOf } from './file-command.ts';
import { materialize, type NotMaterialized } from './materialize-sidecars.ts';
import { objectionToOrphan } from './restore-from-backup.ts';
import { readRows } from './upkeep-commands.ts';

export interface RepairSafeInput {
  /** Sessions with a turn under way: their files are left alone. */
  readonly busyIds: readonly string[];
}

/** A finding that a mutation mends and that was left. */
export interface LeftSession {
  readonly sessionId: string;
  readonly reason: RefusalCode | NotMaterialized | RestoreObjection;
}

export interface SafeRepair {
  readonly before: RecoveryAudit;
  /** After a dry run: as it would be. */
  readonly after: RecoveryAudit;
  readonly restoredIds: readonly string[];
  readonly materializedIds: readonly string[];
  readonly indexRebuilt: boolean;
  readonly left: readonly LeftSession[];
  /** Restored and materialized. */
  readonly repaired: number;
  /** The second audit has no finding. */
  readonly clean: boolean;
}

const FROM_BACKUP: ReadonlySet<string> = new Set(['SHRUNKEN_LIVE', 'ORPHAN_BACKUP']);
const OF_INDEX: ReadonlySet<string> = new Set(['INDEX_MISSING_FILE', 'INDEX_MISSING_ENTRY']);

/** What is mended already is no finding any more, so it may run again after any step. */
export const repairSafe = fileCommand<RepairSafeInput, SafeRepair>('repairSafe', {
  // Which turns are under way is another thing at every call.
  asked: () => ({}),
  work: async (host, { busyIds }, dryRun) => {
    const dir = sessionsDirOf(host);
    await refuseOverlay(dir, {});
    const before = await audit(host);
    const { restoredIds, left } = await restoreAll(host, before, new Set(busyIds), dryRun);
    const others = left.map(({ sessionId }) => sessionId);
    const wanted = before.items.filter(({ kind }) => kind === 'STATE_DB_MISSING_SIDECAR').map(({ sessionId }) => sessionId);
    const made = await materialize(host, without(wanted, [...restoredIds, ...others]), { dryRun });
    const materializedIds = made.filter(({ materialized }) => materialized).map(({ sessionId }) => sessionId);
    for (const { sessionId, reason, refusal } of made) if (reason !== null) left.push({ sessionId, reason: refusal ?? reason });
    const repaired = restoredIds.length + materializedIds.length;
    const rows = await readRows(host);
    const indexRebuilt = repaired > 0 || isUnsound(await readIndex(dir), rows);
    if (indexRebuilt && !dryRun) await rebuildIndex(dir);
    const after = dryRun ? expected(before, [...restoredIds, ...materializedIds], rows) : await audit(host);
    return { before, after, restoredIds, materializedIds, indexRebuilt, left, repaired, clean: after.items.length === 0 };
  },
});

async function audit(host: CommandHost): Promise<RecoveryAudit> {
  return auditRecovery(sessionsDirOf(host), await auditedStore(host));
}

function without(ids: readonly string[], others: readonly string[]): string[] {
  return ids.filter((id) => !others.includes(id));
}

async function restoreAll(
  host: CommandHost,
  { items }: RecoveryAudit,
  busy: ReadonlySet<string>,
  dryRun: boolean,
): Promise<{ restoredIds: string[]; left: LeftSession[] }> {
  const restoredIds: string[] = [];
  const left: LeftSession[] = [];
  for (const { sessionId, kind } of items) {
    if (!FROM_BACKUP.has(kind)) continue;
    const reason = busy.has(sessionId) ? 'SESSION_BUSY' : await restore(host, sessionId, dryRun);
    if (reason === null) restoredIds.push(sessionId);
    else left.push({ sessionId, reason });
  }
  return { restoredIds, left };
}

/** Why it was not; null when it was, or would be. One that fails does not keep the others back. */
async function restore(host: CommandHost, sessionId: string, dryRun: boolean): Promise<LeftSession['reason'] | null> {
  try {
    const { objection } = await repeatedly(false, async () =>
      refusing(async () =>
        restoreBackup(sessionsDirOf(host), sessionId, { dryRun, now: host.now, ofOrphan: await objectionToOrphan(host, sessionId) }),
      ),
    );
    return objection;
  } catch (error) {
    if (error instanceof WriteRefused) return error.code;
    throw error;
  }
}

/** What an index lacks because a file is no session can't be mended by another. */
function isUnsound(index: IndexReading, rows: ReadonlyMap<string, SidecarRow>): boolean {
  const sessions = new Map([...rows].filter(([, row]) => !isNoSession(row)));
  return indexHealth(index, sessions).status !== 'OK';
}

function expected(
  { items, liveSidecars }: RecoveryAudit,
  repairedIds: readonly string[],
  rows: ReadonlyMap<string, SidecarRow>,
): RecoveryAudit {
  const isMended = ({ sessionId, kind }: AuditItem) => {
    if (FROM_BACKUP.has(kind) || kind === 'STATE_DB_MISSING_SIDECAR') return repairedIds.includes(sessionId);
    const row = rows.get(sessionId);
    return OF_INDEX.has(kind) && (row === undefined || !isNoSession(row));
  };
  const made = repairedIds.filter((id) => !rows.has(id)).length;
  return auditSummary(
    items.filter((item) => !isMended(item)),
    liveSidecars + made,
  );
}
