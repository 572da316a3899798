/**
 * A session as the lists know it, from what its file, its transcript or its store say: one entry a session, wherever it lives
 * (`spec/webui-listing.md` 4, 9, 14). Pure.
 */
import type { Beside, SessionOrigin, UnlistedReason } from '../state-db/beside.ts';
import { type DataWarning, isJsonObject } from '../state-db/decode.ts';
import { decodeSession, type RowStats, type SessionEntry, toEntry } from '../state-db/session-record.ts';
import type { Known } from './known-session.ts';
import { isBlank, type ListOrigin, type ListRow, sidecarRow, type VisibilityState } from './list/list-row.ts';
import { UNTITLED } from './list/list-titles.ts';
import { rowTime } from './list/row-order.ts';
import { fold } from './list/source-class.ts';
import { claimOf } from './session-claim.ts';
import type { SidecarHealth, SidecarRow } from './sidecar/sidecar-row.ts';

/** How a file without a number of messages counts where only "none" matters. */
const UNKNOWN_COUNT = 1;

/** A session file as a row of the list; the same object for the same row. */
export function listRowOf(row: SidecarRow): ListRow {
  const known = LIST_ROWS.get(row);
  if (known !== undefined) return known;
  const made = sidecarRow({
    id: row.id,
    profile: row.profile,
    title: row.title ?? UNTITLED,
    workspace: row.workspace,
    model: row.model,
    modelProvider: row.modelProvider,
    isCliSession: row.isCliSession,
    readOnly: row.readOnly,
    isSnapshot: row.isCompressionSnapshot,
    messageCount: row.messageCount ?? UNKNOWN_COUNT,
    userMessageCount: row.userMessageCount,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt ?? savedAt(row),
    lastMessageAt: row.lastMessageAt,
    pinned: row.pinned,
    archived: row.archived,
    projectId: row.projectId,
    activeStreamId: row.activeStreamId,
    hasPending: row.pending !== null,
    pendingStartedAt: row.pending?.startedAt ?? null,
    worktreePath: row.worktree?.path ?? null,
    parentSessionId: row.parentSessionId,
    sourceTag: row.sourceTag,
    rawSource: row.rawSource,
    sessionSource: row.sessionSource,
    sourceLabel: row.sourceLabel,
  });
  LIST_ROWS.set(row, made);
  return made;
}

const LIST_ROWS = new WeakMap<SidecarRow, ListRow>();

/** Epoch seconds of the last save. */
function savedAt({ signature }: SidecarRow): number {
  return Number(signature.mtimeNs / 1_000_000n) / 1000;
}

const ORIGINS: Readonly<Record<ListOrigin, SessionOrigin>> = {
  SIDECAR: 'WEB_UI',
  INDEX: 'WEB_UI',
  STATE_DB: 'STATE_DB',
  CLAUDE_CODE: 'CLAUDE_CODE',
};

const UNLISTED: Readonly<Record<VisibilityState, UnlistedReason | null>> = {
  VISIBLE: null,
  RESCUED: null,
  // What these say, filters of their own say too.
  ARCHIVED: null,
  OUTSIDE_WINDOW: null,
  OTHER_PROFILE: null,
  PROJECT_ONLY: 'BACKGROUND',
  BACKGROUND_HIDDEN: 'BACKGROUND',
  SNAPSHOT_HIDDEN: 'SNAPSHOT',
  EMPTY_DRAFT: 'EMPTY',
  ZERO_MESSAGES: 'EMPTY',
  TOMBSTONED: 'TOMBSTONED',
  CLI_HIDDEN: 'TERMINAL',
  CLI_SWITCHED_OFF: 'TERMINAL',
  SOURCE_FILTERED: 'SOURCE_FILTERED',
  PREVIOUS_MESSAGING_SEGMENT: 'PREVIOUS_SEGMENT',
  ORPHAN_IMPORT: 'ORPHAN_IMPORT',
  REPRESENTED: 'SEGMENT',
};

/** What other places than the store say of a session. `stored` is its row there; undefined without one. */
export function besideOf(known: Known, stored: SessionEntry | undefined): Beside {
  const { row, sidecar, claude, tombstones } = known;
  const origins = [...new Set([...row.origins].map((origin) => ORIGINS[origin]))];
  const { title, messageCount, source, lastMessageAt } = row.provenance;
  return {
    origins,
    unlisted: UNLISTED[row.visibility.state],
    isRescued: row.visibility.state === 'RESCUED',
    isContinuation: row.lineageRootId !== null && row.lineageRootId !== row.id,
    projectId: row.projectId,
    isTerminal: row.isCliSession,
    readOnly: row.readOnly || claude !== null,
    displayTitle: row.displayTitle,
    messageCount: sidecar !== null && sidecar.messageCount === null ? null : row.messageCount,
    fileMessages: sidecar?.storedMessageCount ?? null,
    isCutBack: (sidecar?.truncation.watermark ?? null) !== null,
    tombstones,
    claim: claimOf(known, stored),
    provenance: { title, messageCount, source, lastMessageAt },
  };
}

/** The entry of a session that the store has: its own values, with the title, the flags and the time of the list. `parent`: what is known of its parent. */
export function overlaid(stored: SessionEntry, known: Known, parent: Known | undefined): SessionEntry {
  const { row } = known;
  const own = beginsAnew(known, parent) ? asBranch(stored) : stored;
  const takesTitle = row.provenance.title !== 'STATE_DB' && row.provenance.title !== 'DERIVED' && isTitle(row.title);
  return {
    ...own,
    title: takesTitle ? row.title : stored.title,
    archived: stored.archived || row.archived,
    pinned: stored.pinned || row.pinned,
    recency: laterOf(stored.recency, row.origins.has('SIDECAR') ? rowTime(row) || null : null),
    beside: inStore(besideOf(known, stored)),
    warnings: known.sidecar === null ? stored.warnings : [...stored.warnings, ...warningsOf(known.sidecar)],
  };
}

/**
 * A fork of a user, whatever became of its parent (`spec/webui-listing.md` 5.1, K2), or a session that begins anew where the context of another
 * was exhausted, and shows nothing of it (`spec/webui-recovery.md` 19.3).
 */
function beginsAnew({ sidecar }: Known, parent: Known | undefined): boolean {
  if (sidecar === null) return false;
  return isFork(sidecar, parent?.sidecar ?? null) || sidecar.compressionRecovery.sourceSessionId !== null;
}

/** The continuation of a fork keeps the fork's source, and is none itself (`spec/webui-recovery.md` 11.2). */
export function isFork({ sessionSource }: Sourced, parent: Sourced | null): boolean {
  return fold(sessionSource) === 'fork' && fold(parent?.sessionSource) !== 'fork';
}

type Sourced = Pick<SidecarRow, 'sessionSource'>;

/** The entry with its parent as what it was branched from, unless it names another. */
export function asBranch(entry: SessionEntry): SessionEntry {
  return { ...entry, branchedFrom: entry.branchedFrom ?? entry.parentId };
}

/** The store has the session, also where its list leaves the row out. */
function inStore(beside: Beside): Beside {
  return beside.origins.includes('STATE_DB') ? beside : { ...beside, origins: [...beside.origins, 'STATE_DB'] };
}

/** The entry of a session that the store does not have: it goes on where its parent is a file that was compressed. */
export function outsideEntry(known: Known, parent: Known | undefined): SessionEntry {
  const { row, sidecar } = known;
  // What has a parent in another file and is no continuation is a conversation of its own.
  const continues = parent?.row.isSnapshot === true && !beginsAnew(known, parent);
  const branchedFrom = row.parentSessionId !== null && !continues ? row.parentSessionId : null;
  const record = decodeSession({
    id: row.id,
    source: sourceOf(row),
    model: row.model,
    parent_session_id: row.parentSessionId,
    started_at: row.createdAt,
    ended_at: row.isSnapshot ? row.updatedAt : null,
    end_reason: row.isSnapshot ? 'compression' : null,
    model_config: branchedFrom === null ? null : JSON.stringify({ _branched_from: branchedFrom }),
    title: isTitle(row.title) ? row.title : null,
    cwd: known.claude?.cwd ?? row.workspace,
    message_count: sidecar?.messageCount === null ? 0 : row.messageCount,
    input_tokens: sidecar?.usage.inputTokens ?? 0,
    output_tokens: sidecar?.usage.outputTokens ?? 0,
    cache_read_tokens: sidecar?.usage.cacheReadTokens ?? 0,
    cache_write_tokens: sidecar?.usage.cacheWriteTokens ?? 0,
    estimated_cost_usd: sidecar?.usage.estimatedCost ?? null,
    billing_provider: row.modelProvider,
    profile_name: row.profile,
    archived: Number(row.archived),
    pinned: Number(row.pinned),
  });
  const time = rowTime(row) || row.createdAt;
  const entry = toEntry(record, statsOf(known));
  const warnings = sidecar === null ? record.warnings : [...record.warnings, ...warningsOf(sidecar)];
  return { ...entry, recency: time, beside: besideOf(known, undefined), warnings };
}

function statsOf({ row, sidecar }: Known): RowStats | null {
  if (sidecar !== null && sidecar.messageCount === null) return null;
  return { total: row.messageCount, live: row.messageCount, lastTimestamp: row.lastMessageAt };
}

function sourceOf(row: ListRow): string {
  const stored = [row.rawSource, row.sourceTag].find((name) => !isBlank(name));
  return stored ?? (row.isCliSession ? 'cli' : 'webui');
}

function isTitle(title: string): boolean {
  return !isBlank(title) && title !== UNTITLED;
}

function laterOf(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.max(a, b);
}

const HEALTH: Readonly<Record<Exclude<SidecarHealth, 'OK' | 'UNKNOWN'>, Pick<DataWarning, 'code' | 'message'>>> = {
  CORRUPT: {
    code: 'SIDECAR_CORRUPT',
    message: 'The session file is no JSON object; what it held is not shown. A backup may lie beside it.',
  },
  DAMAGED_ENCODING: {
    code: 'SIDECAR_DAMAGED_ENCODING',
    message: 'The session file holds bytes that are no UTF-8; they are left out, and the file is not written.',
  },
  TOO_LARGE: { code: 'SIDECAR_TOO_LARGE', message: 'The session file is over the limit for reading it whole; its metadata is shown.' },
  UNREADABLE: { code: 'SIDECAR_UNREADABLE', message: 'The system refuses to read the session file.' },
};

function warningsOf({ health, warnings }: SidecarRow): DataWarning[] {
  const problem = health === 'OK' || health === 'UNKNOWN' ? [] : [{ ...HEALTH[health], field: null }];
  const values = warnings.map(
    ({ code, field }): DataWarning => ({ code: 'SIDECAR_VALUE', message: `${code} in the session file.`, field }),
  );
  return [...problem, ...values];
}

/** Whether two values of plain members are the same. */
export function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, index) => isSame(item, b[index]));
  if (a instanceof Set) return b instanceof Set && a.size === b.size && [...a].every((item) => b.has(item));
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => isSame(a[key], b[key]));
}
