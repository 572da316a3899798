/**
 * Recoveries of a session file, from bytes to bytes (`spec/webui-recovery.md` 11 to 14): what is to be done, and the file afterwards. Pure, so that
 * it can run in any thread.
 */
import { isUtf8 } from 'node:buffer';
import { isJsonObject } from '../../state-db/decode.ts';
import { type Fields, listOf, word } from '../sidecar/coercions.ts';
import { type EditOutcome, editSidecar } from '../sidecar/edit-sidecar.ts';
import { decodeText } from '../sidecar/parse-sidecar.ts';
import { parseSidecarJson } from '../sidecar/sidecar-json.ts';
import { lastMessageTime } from '../sidecar/sidecar-messages.ts';
import { queuedRetry } from './markers.ts';
import { isUser, type PendingPrompt } from './matching.ts';
import type { RecoverRequest, RepairRequest, RetryRequest, SyncRequest, UndoRequest } from './recover-request.ts';
import { countsOf, fieldsOf, noReport, type RecoverOutcome, type RecoveryReport, reportOf } from './recovery-report.ts';
import { CLEARED, promptOf, repairTurn } from './repair-turn.ts';
import { retryJournal } from './retry-journal.ts';
import { SessionDraft } from './session-draft.ts';
import { syncMessages } from './sync-messages.ts';
import { undoTurns } from './undo-turns.ts';

export interface Recovered {
  readonly report: RecoveryReport;
  readonly edit: EditOutcome;
}

interface Plan {
  readonly report: RecoveryReport;
  /** Null: nothing is written. */
  readonly draft: SessionDraft | null;
  readonly set: Fields;
  readonly updatedAt: number | null;
}

/** REFUSED as `editSidecar` where the file is no session, UNCHANGED where the recovery has nothing to do. */
export function recoverSidecar(bytes: Buffer, request: RecoverRequest): Recovered {
  const fields = isUtf8(bytes) ? parseSidecarJson(decodeText(bytes).text) : null;
  const plan =
    isJsonObject(fields) && Array.isArray(fields.messages) ? planOf(fields, request) : nothing({}, request, 'CHANGED_UNDERNEATH');
  const edit = editSidecar(bytes, {
    id: request.id,
    set: plan.set,
    arrange: plan.draft?.arrangement() ?? {},
    updatedAt: plan.draft === null ? null : plan.updatedAt,
    refuse: { readOnly: request.kind === 'UNDO', underWay: false },
  });
  return { report: plan.report, edit };
}

function planOf(fields: Fields, request: RecoverRequest): Plan {
  if (request.kind === 'RETRY') return retryPlan(fields, request);
  if (request.kind === 'FIND_RETRY') return findRetry(fields);
  if (request.kind === 'UNDO') return undoPlan(fields, request);
  const prompt = promptOf(fields);
  const streamId = word(fields.active_stream_id);
  if (request.kind === 'SYNC' && request.isIdle) {
    return prompt === null && streamId === null ? syncPlan(fields, request) : nothing(fields, request, 'CHANGED_UNDERNEATH');
  }
  if (prompt === null && streamId === null) {
    return nothing(
      fields,
      request,
      request.kind === 'REPAIR' ? 'NOT_PENDING' : request.kind === 'SYNC' ? 'CHANGED_UNDERNEATH' : 'NO_UNFINISHED_TURN',
    );
  }
  if (streamId !== request.streamId) return nothing(fields, request, 'CHANGED_UNDERNEATH');
  if (request.kind === 'SYNC') return syncPlan(fields, request);
  if (request.kind === 'REPAIR') return prompt === null ? nothing(fields, request, 'NOT_PENDING') : repairPlan(fields, prompt, request);
  if (prompt !== null) return nothing(fields, request, 'CHANGED_UNDERNEATH');
  const cleared = { ...noReport(fields, request, 'CLEARED'), streamId };
  return { report: cleared, draft: null, set: CLEARED, updatedAt: null };
}

function repairPlan(fields: Fields, prompt: PendingPrompt, request: RepairRequest): Plan {
  const { id, journal, cause, now, touches } = request;
  const core = listOf(fields.messages).length > 0 ? null : request.core;
  if (core === 'UNREADABLE') return nothing(fields, request, 'CORE_UNREADABLE');
  const repaired = repairTurn(fields, prompt, { sessionId: id, journal, core, cause, now });
  return { report: reportOf(fields, repaired), draft: repaired.draft, set: repaired.set, updatedAt: touches ? now : null };
}

function syncPlan(fields: Fields, request: SyncRequest): Plan {
  const { id, journal, cause, now, rows, summary, isIdle } = request;
  const messages = listOf(fields.messages);
  const isAhead = summary.count > messages.length || (summary.lastAt ?? 0) > (lastMessageTime(messages) ?? 0);
  const draft = isAhead ? syncMessages(fields, rows) : null;
  if (draft === null) return nothing(fields, request, 'NOT_AHEAD');
  const tail = draft.messages.findLast((row) => row.fields?.role !== 'tool')?.fields ?? null;
  if (isIdle || !isUser(tail)) {
    const report = { ...noReport(fields, request, 'SYNCED'), ...countsOf(fields, draft), streamId: word(fields.active_stream_id) };
    return { report, draft, set: isIdle ? {} : CLEARED, updatedAt: now };
  }
  // Only the prompt came to the store: what the run made of it is in the journal (D10).
  const prompt = promptOf(fields) ?? promptOfRow(tail);
  const repaired = repairTurn(fields, prompt, { sessionId: id, journal, core: null, cause, now }, draft);
  return { report: { ...reportOf(fields, repaired), outcome: 'SYNCED' }, draft, set: repaired.set, updatedAt: now };
}

function promptOfRow(row: Fields): PendingPrompt {
  const text = typeof row.content === 'string' ? row.content : '';
  return { text, attachments: listOf(row.attachments), startedAt: row.timestamp, source: word(row._source) ?? 'webui' };
}

function findRetry(fields: Fields): Plan {
  const queued = queuedRetry(new SessionDraft(fields).messages);
  return nothing(fields, { streamId: queued?.streamId ?? null }, queued === null ? 'NO_RETRY_QUEUED' : 'WAITING');
}

function undoPlan(fields: Fields, request: UndoRequest): Plan {
  if (promptOf(fields) !== null || word(fields.active_stream_id) !== null) return nothing(fields, request, 'TURN_UNDER_WAY');
  const undone = undoTurns(fields, request.turns, request.generation);
  if (undone === null) return nothing(fields, request, 'NOTHING_TO_UNDO');
  const { draft, set, prompt } = undone;
  const report = { ...noReport(fields, request, 'UNDONE'), ...countsOf(fields, draft), undone: prompt };
  return { report, draft, set, updatedAt: request.now };
}

function retryPlan(fields: Fields, request: RetryRequest): Plan {
  const retried = retryJournal(fields, request.id, request.journal, request.now);
  const { outcome, draft, streamId, attemptsBefore, attemptsAfter } = retried;
  // The marker named another run when its journal was read.
  if (streamId !== request.streamId) return nothing(fields, request, 'CHANGED_UNDERNEATH');
  const report = {
    ...noReport(fields, request, outcome),
    ...(draft === null ? {} : countsOf(fields, draft)),
    streamId,
    attemptsBefore,
    attemptsAfter,
    recovered: retried.recovered.map(fieldsOf),
    marker: retried.marker === null ? null : fieldsOf(retried.marker),
    error: retried.error === null ? null : fieldsOf(retried.error),
  };
  return { report, draft, set: {}, updatedAt: null };
}

function nothing(fields: Fields, request: Pick<RecoverRequest, 'streamId'>, outcome: RecoverOutcome): Plan {
  return { report: noReport(fields, request, outcome), draft: null, set: {}, updatedAt: null };
}
