/**
 * What is wrong with the files of the Web UI beside each other and beside the store (`spec/webui-sidecars.md` 7.4). Only reads.
 */
import { turnJournalRoot } from '../live/journal/ids.ts';
import { deriveTurnStates, readTurnJournal, sessionsWithTurnJournals } from '../live/journal/turn-journal.ts';
import { isJsonObject } from '../state-db/decode.ts';
import { collapseSpace } from '../state-db/whitespace.ts';
import { inspectBackup } from './backup.ts';

import { readIndex } from './index-file/index-file.ts';
import { word } from './sidecar/coercions.ts';
import { listSidecars } from './sidecar/list-sidecars.ts';
import { readMetadata } from './sidecar/read-metadata.ts';
import { readSidecar } from './sidecar/read-sidecar.ts';
import { isNoSession } from './sidecar/sidecar-row.ts';
import { isSidecarId, unlessUnreadable } from './sidecar-file.ts';
import { readTombstones } from './tombstones.ts';

/** Each kind with what may be done about it. */
export const AUDIT_KINDS = {
  SHRUNKEN_LIVE: ['REPAIRABLE', 'RESTORE_FROM_BAK'],
  MALFORMED_ORPHAN_BACKUP: ['UNSAFE_TO_REPAIR', 'MANUAL_REVIEW'],
  STATE_DB_DELETED_WEBUI_TOMBSTONE: ['UNSAFE_TO_REPAIR', 'DELETED_SESSION_SKIPPED'],
  ORPHAN_BACKUP: ['REPAIRABLE', 'RESTORE_FROM_BAK'],
  ORPHAN_BACKUP_WITHOUT_STATE_ROW: ['UNSAFE_TO_REPAIR', 'MANUAL_REVIEW'],
  INDEX_MISSING_FILE: ['REPAIRABLE', 'REBUILD_INDEX'],
  INDEX_MISSING_ENTRY: ['REPAIRABLE', 'REBUILD_INDEX'],
  STATE_DB_ORPHAN_WEBUI_ROW: ['UNSAFE_TO_REPAIR', 'MANUAL_REVIEW'],
  STATE_DB_MISSING_SIDECAR: ['REPAIRABLE', 'MATERIALIZE_FROM_STATE_DB'],
  TURN_JOURNAL_PENDING_TURN: ['REPAIRABLE', 'AUDIT_ONLY_PENDING_TURN_JOURNAL'],
} as const satisfies Record<string, readonly [category: 'REPAIRABLE' | 'UNSAFE_TO_REPAIR', recommendation: string]>;

export type AuditKind = keyof typeof AUDIT_KINDS;

export interface AuditItem {
  readonly sessionId: string;
  readonly kind: AuditKind;
  readonly category: 'REPAIRABLE' | 'UNSAFE_TO_REPAIR';
  readonly recommendation: (typeof AUDIT_KINDS)[AuditKind][1];
  /** -1: no file, or one that is no session. */
  readonly liveMessages: number;
  readonly backupMessages: number;
  /** Of a turn in the journal. */
  readonly turnId: string | null;
  /** Its latest event. */
  readonly event: string | null;
}

export interface RecoveryAudit {
  readonly status: 'OK' | 'WARN' | 'NEEDS_MANUAL_REVIEW';
  readonly liveSidecars: number;
  readonly repairable: number;
  readonly unsafeToRepair: number;
  readonly items: readonly AuditItem[];
}

/** What the audit asks the store; null when the store can't be read, and then nothing is said about its rows. */
export interface AuditedStore {
  /** Sessions whose source is `webui`, with the number of their live messages. */
  readonly webUiSessions: ReadonlyMap<string, number>;
  has(id: string): boolean;
}

/** Throws `SidecarUnreadable`, `JournalUnreadable`. */
export async function auditRecovery(sessionsDir: string, store: AuditedStore | null): Promise<RecoveryAudit> {
  const [listing, index, deleted] = await Promise.all([
    listSidecars(sessionsDir),
    readIndex(sessionsDir),
    readTombstones(sessionsDir, 'DELETED'),
  ]);
  const files = new Set(listing.ids);
  const items: AuditItem[] = [];
  const reported = new Set<string>();
  const add = (sessionId: string, kind: AuditKind, more: Partial<AuditItem> = {}) => {
    const [category, recommendation] = AUDIT_KINDS[kind];
    items.push({ sessionId, kind, category, recommendation, liveMessages: -1, backupMessages: -1, turnId: null, event: null, ...more });
  };
  const addDeleted = (id: string, more: Partial<AuditItem> = {}) => {
    if (!reported.has(id)) add(id, 'STATE_DB_DELETED_WEBUI_TOMBSTONE', more);
    reported.add(id);
  };

  for (const id of listing.backups) {
    const found = await inspectBackup(sessionsDir, id).catch(unlessUnreadable);
    if (found === null) continue;
    const { liveMessages, backupMessages } = found;
    if (files.has(id)) {
      if (found.recommendation === 'RESTORE') add(id, 'SHRUNKEN_LIVE', { liveMessages, backupMessages });
    } else if (deleted.ids.has(id)) addDeleted(id, { backupMessages });
    else if (backupMessages < 0) add(id, 'MALFORMED_ORPHAN_BACKUP');
    else add(id, store?.has(id) === false ? 'ORPHAN_BACKUP_WITHOUT_STATE_ROW' : 'ORPHAN_BACKUP', { backupMessages });
  }
  for (const id of index.rows.keys()) if (!files.has(id) && !deleted.ids.has(id)) add(id, 'INDEX_MISSING_FILE');
  for (const id of listing.ids) {
    if (!index.rows.has(id)) add(id, 'INDEX_MISSING_ENTRY', { liveMessages: await countMessages(sessionsDir, id) });
  }
  for (const [id, messages] of [...(store?.webUiSessions ?? [])].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (files.has(id)) continue;
    if (deleted.ids.has(id)) addDeleted(id);
    else add(id, messages > 0 ? 'STATE_DB_MISSING_SIDECAR' : 'STATE_DB_ORPHAN_WEBUI_ROW');
  }
  for (const turn of await pendingTurns(sessionsDir, files)) add(turn.sessionId, 'TURN_JOURNAL_PENDING_TURN', turn);
  return auditSummary(items, files.size);
}

/** What findings come to. */
export function auditSummary(items: readonly AuditItem[], liveSidecars: number): RecoveryAudit {
  const unsafeToRepair = items.filter(({ category }) => category === 'UNSAFE_TO_REPAIR').length;
  const repairable = items.length - unsafeToRepair;
  const status = unsafeToRepair > 0 ? 'NEEDS_MANUAL_REVIEW' : repairable > 0 ? 'WARN' : 'OK';
  return { status, liveSidecars, repairable, unsafeToRepair, items };
}

async function countMessages(sessionsDir: string, id: string): Promise<number> {
  const row = await readMetadata(sessionsDir, id).catch(unlessUnreadable);
  return row === null || isNoSession(row) ? -1 : (row.storedMessageCount ?? 0);
}

type PendingTurn = Pick<AuditItem, 'sessionId' | 'liveMessages' | 'turnId' | 'event'>;

/** Turns that were begun and not ended, whose prompt is not among the user's messages. */
async function pendingTurns(sessionsDir: string, files: ReadonlySet<string>): Promise<PendingTurn[]> {
  const found: PendingTurn[] = [];
  const root = turnJournalRoot(sessionsDir);
  for (const sessionId of (await sessionsWithTurnJournals(root)).filter(isSidecarId)) {
    const { events } = await readTurnJournal(root, sessionId);
    const open = [...deriveTurnStates(events).states].filter(([, { terminal }]) => !terminal);
    const prompts = new Map(
      events.map(({ turnId, fields }) => [turnId, word(fields.content)] as const).filter(([, text]) => text !== null),
    );
    const waiting = open.filter(([turnId]) => prompts.has(turnId));
    if (waiting.length === 0 || !files.has(sessionId)) continue;
    const session = await readSidecar(sessionsDir, sessionId);
    if (session === null || session.row.health === 'CORRUPT') continue;
    const said = new Set(
      session.messages
        .filter(isJsonObject)
        .filter(({ role }) => role === 'user')
        .map(({ content }) => plainText(content)),
    );
    for (const [turnId, { event }] of waiting) {
      if (said.has(collapseSpace(prompts.get(turnId) ?? ''))) continue;
      found.push({ sessionId, liveMessages: session.row.storedMessageCount ?? 0, turnId, event });
    }
  }
  return found;
}

function plainText(content: unknown): string {
  if (typeof content === 'string') return collapseSpace(content);
  if (!Array.isArray(content)) return '';
  return collapseSpace(content.map((part) => (isJsonObject(part) && typeof part.text === 'string' ? part.text : '')).join(' '));
}
