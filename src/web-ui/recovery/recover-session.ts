/**
 * Recoveries of the file of one session (`spec/webui-recovery.md` 11 to 14, 21). A recovery that may not be done is an answer, not an error; one
 * that is done is one replacement of the file.
 */

import { runJournalRoot } from '../../live/journal/ids.ts';
import { WriteRefused } from '../../write-refused.ts';
import type { Fields } from '../sidecar/coercions.ts';
import { readMetadata } from '../sidecar/read-metadata.ts';
import { MAX_INLINE_BYTES, signatureText } from '../sidecar/read-sidecar.ts';
import { isBeingSaved, type SavedSidecar, saveEdited } from '../sidecar/save-sidecar.ts';
import { isNoSession, type SidecarRow } from '../sidecar/sidecar-row.ts';
import { inSidecarThread } from '../sidecar/sidecar-threads.ts';
import { type JudgedTurn, judgeTurn, type TurnSources } from './judge-turn.ts';
import type { RecoverRequest, StoredSummary } from './recover-request.ts';
import { type Recovered, recoverSidecar } from './recover-sidecar.ts';
import { nothingDone, type RecoveryReport } from './recovery-report.ts';
import { isWithinGrace, type RepairBlock } from './repair-guards.ts';
import { type RunJournal, readRunJournal } from './run-lines.ts';

export interface RecoverySources extends TurnSources {
  /** The agent's own transcript of the session. */
  readonly core: (sessionId: string) => Promise<Fields | null | 'UNREADABLE'>;
  /** All rows of the session in the store, the hidden ones too; null: there is no such session. */
  readonly summary: (sessionId: string) => Promise<StoredSummary | null>;
  /** Its live rows as messages. */
  readonly rows: (sessionId: string) => Promise<readonly unknown[]>;
}

export type BlockedOutcome = RepairBlock | 'LOCKED' | 'NO_ROWS';

export interface SessionRecovery extends Omit<RecoveryReport, 'outcome'> {
  readonly outcome: RecoveryReport['outcome'] | BlockedOutcome;
  /** The file was, or would be, written. */
  readonly applied: boolean;
  readonly judged: JudgedTurn | null;
  /** The answer in the journal was longer than may be taken. */
  readonly truncated: boolean;
  readonly mayBeOverwritten: boolean;
}

export interface RecoveryOptions {
  readonly dryRun: boolean;
  readonly force?: boolean;
  readonly ignoreCore?: boolean;
  readonly touchesUpdatedAt?: boolean;
  /** A file is synced also where no turn is unfinished. */
  readonly includeIdle?: boolean;
}

export interface UndoOptions extends RecoveryOptions {
  readonly turns: number;
  /** 32 hex digits of a random UUID, another for every undo. */
  readonly generation: string;
}

/** For a file that another program goes on writing. */
const TRIES = 3;

/** Settles a turn that was cut off. Throws `WriteRefused` where the file can't be changed at all, `JournalUnreadable`, `SidecarUnreadable`. */
export function repairSession(sources: RecoverySources, id: string, options: RecoveryOptions): Promise<SessionRecovery> {
  return asOneMoment(sources, id, (row) => repair(sources, row, options));
}

/** Frees a session of a run that is over and that no prompt waits for; with a prompt the same as `repairSession`. */
export function clearStaleRun(sources: RecoverySources, id: string, options: RecoveryOptions): Promise<SessionRecovery> {
  return asOneMoment(sources, id, async (row) => {
    if (row.pending !== null) return repair(sources, row, options);
    const judged = await judgeTurn(sources, row, { ...options, needsPrompt: false });
    if (judged.block !== null) return blocked(judged.block, row, judged);
    return saved(sources, { kind: 'CLEAR', id, streamId: row.activeStreamId, now: sources.now() }, { row, judged }, options);
  });
}

/** Looks into the journal again of a turn that was settled without its output. */
export function retrySession(sources: RecoverySources, id: string, options: RecoveryOptions): Promise<SessionRecovery> {
  return asOneMoment(sources, id, async (row) => {
    const seen = { row, judged: null };
    const found = await saved(sources, { kind: 'FIND_RETRY', id, streamId: null, now: sources.now() }, seen, { dryRun: true });
    if (found.outcome !== 'WAITING') return found;
    const { streamId } = found;
    const journal = await journalOf(sources, id, streamId);
    return saved(sources, { kind: 'RETRY', id, streamId, journal, now: sources.now() }, seen, options);
  });
}

/** Takes the last turns of a person out of the file; the file that was is kept as its backup. */
export function undoSession(sources: RecoverySources, id: string, options: UndoOptions): Promise<SessionRecovery> {
  const { turns, generation } = options;
  return asOneMoment(sources, id, (row) => {
    const request = { kind: 'UNDO', id, streamId: null, turns, generation, now: sources.now() } as const;
    return saved(sources, request, { row, judged: null }, options);
  });
}

/** Adds what the store has of an unfinished turn to the file, and settles the turn. */
export function syncSession(sources: RecoverySources, id: string, options: RecoveryOptions): Promise<SessionRecovery> {
  return asOneMoment(sources, id, async (row) => {
    const now = sources.now();
    const isIdle = row.pending === null && row.activeStreamId === null;
    if (isIdle && options.includeIdle !== true) return blocked('NO_UNFINISHED_TURN', row, null);
    const judged = isIdle ? null : await judgeTurn(sources, row, { ...options, force: true, needsPrompt: false });
    const block = judged === null ? null : syncBlock(row, judged, now, options.force ?? false);
    if (block !== null) return blocked(block, row, judged);
    const summary = await sources.summary(id);
    if (summary === null || summary.count === 0) return blocked('NO_ROWS', row, judged);
    const rows = await sources.rows(id);
    if (rows.length === 0) return blocked('NO_ROWS', row, judged);
    const journal = await journalOf(sources, id, row.activeStreamId);
    const of = { id, streamId: row.activeStreamId, journal, now };
    return saved(sources, { ...of, kind: 'SYNC', isIdle, cause: judged?.cause ?? 'UNKNOWN', summary, rows }, { row, judged }, options);
  });
}

async function repair(sources: RecoverySources, row: SidecarRow, options: RecoveryOptions): Promise<SessionRecovery> {
  const { ignoreCore = false, touchesUpdatedAt = false } = options;
  const { id, activeStreamId: streamId } = row;
  const judged = await judgeTurn(sources, row, options);
  if (judged.block !== null) return blocked(judged.block, row, judged);
  const journal = await journalOf(sources, id, streamId);
  const core = ignoreCore || (row.storedMessageCount ?? 0) > 0 ? null : await sources.core(id);
  const of = { id, streamId, now: sources.now(), journal };
  const request = { ...of, kind: 'REPAIR', core, cause: judged.cause, touches: touchesUpdatedAt } as const;
  return saved(sources, request, { row, judged }, options);
}

/**
 * The whole recovery, judgement too, is of one state of the file: another's save in between begins it again (G9 to G11), unless the file then
 * waits for another run than the one that it was asked for.
 */
async function asOneMoment(
  sources: RecoverySources,
  id: string,
  recover: (row: SidecarRow) => Promise<SessionRecovery>,
): Promise<SessionRecovery> {
  const first = await rowOf(sources, id);
  for (let tries = 1, row = first; ; tries += 1) {
    try {
      return await recover(row);
    } catch (error) {
      if (!(error instanceof WriteRefused) || error.code !== 'CONFLICT') throw error;
      row = await rowOf(sources, id);
      const isUnfinished = row.pending !== null || row.activeStreamId !== null;
      if (tries === TRIES || (isUnfinished && row.activeStreamId !== first.activeStreamId)) return blocked('CHANGED_UNDERNEATH', row, null);
    }
  }
}

function syncBlock(row: SidecarRow, { live }: JudgedTurn, now: number, force: boolean): RepairBlock | null {
  if (row.activeStreamId === null) return null;
  if (live === 'LIVE') return 'STREAM_LIVE';
  if (live === 'UNKNOWN' && !force) return 'LIVENESS_UNKNOWN';
  return isWithinGrace(row.pending?.startedAt ?? null, now) ? 'WITHIN_GRACE' : null;
}

async function rowOf({ sessionsDir }: RecoverySources, id: string): Promise<SidecarRow> {
  const row = await readMetadata(sessionsDir, id);
  if (row === null) throw new WriteRefused('SIDECAR_MISSING');
  if (isNoSession(row)) throw new WriteRefused('SIDECAR_CORRUPT');
  return row;
}

function journalOf({ sessionsDir }: RecoverySources, sessionId: string, runId: string | null): Promise<RunJournal | null> {
  return runId === null ? Promise.resolve(null) : readRunJournal(runJournalRoot(sessionsDir), { sessionId, runId });
}

/** What a recovery rests on. */
interface Seen {
  readonly row: SidecarRow;
  readonly judged: JudgedTurn | null;
}

/** Throws `WriteRefused`, CONFLICT where the file is another than the one that was seen. */
async function saved(
  { sessionsDir, now }: RecoverySources,
  request: RecoverRequest,
  { row, judged }: Seen,
  { dryRun }: RecoveryOptions,
): Promise<SessionRecovery> {
  const truncated = 'journal' in request && request.journal?.truncated === true;
  if (isBeingSaved(sessionsDir, request.id)) return { ...blocked('LOCKED', row, judged), truncated };
  let report: RecoveryReport | null = null;
  const edit = async (bytes: Buffer) => {
    const recovered = await recovering(bytes, request);
    report = recovered.report;
    return recovered.edit;
  };
  const mayDrop = request.kind === 'RETRY' || request.kind === 'UNDO';
  const options = { dryRun, now, ifSignature: signatureText(row.signature) };
  const result = await saveEdited(sessionsDir, request.id, { edit, mayDrop }, options);
  return told(report, result, judged, truncated);
}

function recovering(bytes: Buffer, request: RecoverRequest): Recovered | Promise<Recovered> {
  return bytes.length <= MAX_INLINE_BYTES ? recoverSidecar(bytes, request) : inSidecarThread({ task: 'RECOVER', bytes, request });
}

function told(report: RecoveryReport | null, result: SavedSidecar, judged: JudgedTurn | null, truncated: boolean): SessionRecovery {
  if (report === null) throw new Error('A session file was saved without a recovery.');
  // A Web UI that holds the session reads it again where it has more messages (16.5).
  const mayBeOverwritten = result.mayBeOverwritten && result.changed && report.countAfter <= report.countBefore;
  return { ...report, applied: result.changed, judged, truncated, mayBeOverwritten };
}

function blocked(outcome: SessionRecovery['outcome'], row: SidecarRow, judged: JudgedTurn | null): SessionRecovery {
  const nothing = nothingDone(row.storedMessageCount ?? 0, row.activeStreamId);
  return { ...nothing, outcome, applied: false, judged, truncated: false, mayBeOverwritten: false };
}
