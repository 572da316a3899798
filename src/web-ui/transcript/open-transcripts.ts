/**
 * Opens sessions whose messages are in files: reads the file and the rows, puts them together (`spec/webui-transcript.md` 17), and gives
 * plain values. For a process where nothing else waits: a file of tens of megabytes takes seconds.
 */

import { createHash } from 'node:crypto';
import { StoreUnreadable } from '../../errors.ts';
import { patiently, type StoreConnection } from '../../state-db/connection.ts';
import type { DataWarning } from '../../state-db/decode.ts';
import type { MessageRecord } from '../../state-db/message-row.ts';
import { readTranscripts, replayOf, revisionOf } from '../../state-db/transcript.ts';
import { LastSidecar, type SidecarReading } from '../sidecar/last-sidecar.ts';
import type { WholeSidecar } from '../sidecar/parse-sidecar.ts';
import { signatureOf, signatureText, withSidecar } from '../sidecar/read-sidecar.ts';
import { SidecarUnreadable } from '../sidecar-file.ts';
import { fileRecord, heldRecord, markOf } from './file-message.ts';
import type { RowDecision } from './merge-decision.ts';
import { type MessageFacts, messageFacts } from './message-facts.ts';
import { type ReconciledTranscript, reconcile, type TranscriptSource } from './reconcile.ts';
import { rowsOfMessages } from './row-matches.ts';
import { noRows, readRows, rowsOf, type SessionRows } from './session-rows.ts';
import { DAMAGED, type Instead, instead, toWarning } from './transcript-warnings.ts';
import { isMessage, payloadOf } from './values.ts';

/** DISPLAY for people; CONTEXT what the model is sent; REPLAY the same as an agent would be given it. */
export type OpenView = 'DISPLAY' | 'CONTEXT' | 'REPLAY';

export interface OpenRequest {
  /** One session with a file, or segments in a row that only the store has, root first. */
  readonly sessionIds: readonly string[];
  readonly hasFile: boolean;
  /** The store has the session too: its rows can be shown when the file can't be read. */
  readonly isInStore: boolean;
  readonly view: OpenView;
  /** Messages that it may have; 0 is no limit. */
  readonly largest: number;
  /** The revision that the caller has already; null: none. */
  readonly known: string | null;
}

export interface OpenedMessage extends MessageRecord {
  /** What the message says (`markOf`); equal texts have equal marks. */
  readonly mark: string;
  /** From the file and not from the store; it may be held by rows all the same. */
  readonly isOfFile: boolean;
  /** Rows that hold it. */
  readonly copies: number;
  /** What was sent to the provider is stored, by the file or by a row; it is not told itself. */
  readonly hasPayload: boolean;
  /** What the Web UI keeps beside it; null where that is nothing. */
  readonly facts: MessageFacts | null;
}

export interface OpenedTranscript {
  readonly kind: 'OPENED';
  readonly messages: readonly OpenedMessage[];
  /** Changes when the file is saved and when any row of the session changes. */
  readonly revision: string;
  /** Of the rows alone; null without a part of the store. */
  readonly storeRevision: string | null;
  /** Of the file that was read; null without one. */
  readonly fileSignature: string | null;
  readonly source: TranscriptSource | 'STATE_DB';
  readonly repairCount: number;
  readonly warnings: readonly DataWarning[];
  /** What became of each row, in order; of REPLAY as of CONTEXT, with places before the repair. */
  readonly decisions: readonly RowDecision[];
  /** The row of each decision. */
  readonly rowIds: readonly (string | null)[];
  /** Roughly, in characters. */
  readonly size: number;
}

export type OpenFailure = 'SIDECAR_CORRUPT' | 'SIDECAR_UNREADABLE' | 'SIDECAR_TOO_LARGE';

/** SAME: the revision that the caller has is still right. */
export type OpenAnswer =
  | OpenedTranscript
  | { readonly kind: 'SAME'; readonly fileSignature: string | null }
  | { readonly kind: 'TOO_LARGE' }
  | { readonly kind: 'FAILED'; readonly code: OpenFailure };

/**
 * In the order of the requests. A constant number of statements, whatever the number of requests; files are read one after the other. Rows
 * are read before files: what is written meanwhile is in the file, and the file's copy wins.
 */
export async function openTranscripts(
  connect: () => StoreConnection,
  sessionsDir: string,
  requests: readonly OpenRequest[],
): Promise<OpenAnswer[]> {
  const signatures = await Promise.all(requests.map((request) => signatureNow(sessionsDir, request)));
  const rows = await liveRows(connect, requests);
  const answers: (OpenAnswer | StoreDisplay)[] = [];
  const files = new LastSidecar(sessionsDir);
  // Several views of one session are together, so that its file is read once.
  for (const [index, request] of inOrderOfSessions(requests)) {
    const found = readsLiveRows(request) ? rowsOf(rows, request) : 'NOT_READ';
    const signature = signatures[index] ?? null;
    if (found === null) answers[index] = { kind: 'TOO_LARGE' };
    else if (found === 'NOT_READ') answers[index] = { kind: 'STORE_DISPLAY', warnings: [] };
    else if (!request.hasFile) answers[index] = rowsAlone(found.records, request, []);
    else if (request.known !== null && request.known === mergedRevision(signature, found))
      answers[index] = { kind: 'SAME', fileSignature: signature };
    else answers[index] = withFile(await files.read(request.sessionIds[0] ?? ''), request, found);
  }
  const shown = await withDisplayed(answers, requests, connect);
  // Also of a file that can't be used: it need not be read again while it is the same.
  return shown.map((answer, index) =>
    answer.kind === 'OPENED' && answer.fileSignature === null ? { ...answer, fileSignature: signatures[index] ?? null } : answer,
  );
}

async function signatureNow(sessionsDir: string, { hasFile, sessionIds }: OpenRequest): Promise<string | null> {
  if (!hasFile) return null;
  try {
    return await withSidecar(sessionsDir, sessionIds[0] ?? '', async (file) => signatureText(signatureOf(file)));
  } catch (error) {
    if (error instanceof SidecarUnreadable) return null;
    throw error;
  }
}

/** Files of sessions that are not in the store can be read also while it can't. */
async function liveRows(connect: () => StoreConnection, requests: readonly OpenRequest[]): Promise<ReadonlyMap<string, SessionRows>> {
  const wanted = requests.filter(readsLiveRows);
  try {
    return await patiently(() => readRows(connect(), wanted));
  } catch (error) {
    const needsStore = requests.some(({ hasFile, isInStore }) => isInStore || !hasFile);
    if (!(error instanceof StoreUnreadable) || needsStore) throw error;
    return noRows(wanted);
  }
}

/** Segments that only the store has are shown as the store shows them. */
function readsLiveRows({ hasFile, view }: OpenRequest): boolean {
  return hasFile || view !== 'DISPLAY';
}

/** In the place of an answer that is to come from the store's own display. */
interface StoreDisplay {
  readonly kind: 'STORE_DISPLAY';
  readonly warnings: readonly DataWarning[];
}

function withFile(file: SidecarReading, request: OpenRequest, rows: SessionRows): OpenAnswer | StoreDisplay {
  if (file === 'UNREADABLE') return withoutFile(request, rows, 'SIDECAR_UNREADABLE');
  if (file === null) return withoutFile(request, rows, 'SIDECAR_GONE');
  if (file.row.health === 'CORRUPT') return withoutFile(request, rows, 'SIDECAR_CORRUPT');
  if (file.row.health === 'TOO_LARGE') return { kind: 'FAILED', code: 'SIDECAR_TOO_LARGE' };
  const count = Math.max(file.messages.length, file.contextMessages.length) + rows.records.length;
  if (request.largest > 0 && count > request.largest) return { kind: 'TOO_LARGE' };
  return merged(request, file, rows);
}

function inOrderOfSessions(requests: readonly OpenRequest[]): [number, OpenRequest][] {
  return [...Map.groupBy(requests.entries(), ([, { sessionIds }]) => sessionIds[0]).values()].flat();
}

function withoutFile(request: OpenRequest, { records }: SessionRows, code: Instead): OpenAnswer | StoreDisplay {
  if (!request.isInStore) return { kind: 'FAILED', code: code === 'SIDECAR_GONE' ? 'SIDECAR_UNREADABLE' : code };
  const warnings = [instead(code)];
  return request.view === 'DISPLAY' ? { kind: 'STORE_DISPLAY', warnings } : rowsAlone(records, request, warnings);
}

function merged({ sessionIds, view, isInStore }: OpenRequest, file: WholeSidecar, rows: SessionRows): OpenedTranscript {
  const sessionId = sessionIds[0] ?? '';
  const session = { ...file.fields, messages: file.messages };
  const found = reconcile(session, rows.state, view === 'DISPLAY' ? 'DISPLAY' : 'CONTEXT');
  const messages = openedMessages(found, sessionId, rows);
  const { messages: shown, repairCount } = view === 'REPLAY' ? replayed(messages) : { messages, repairCount: 0 };
  const signature = signatureText(file.row.signature);
  return {
    kind: 'OPENED',
    messages: shown.map(light),
    revision: mergedRevision(signature, rows),
    storeRevision: isInStore ? revisionOf(rows.records) : null,
    fileSignature: signature,
    source: found.source,
    repairCount,
    warnings: [...(file.row.health === 'DAMAGED_ENCODING' ? [DAMAGED] : []), ...found.warnings.map(toWarning)],
    decisions: found.decisions,
    rowIds: rows.state.rowIds,
    size: sizeOf(shown),
  };
}

function openedMessages(found: ReconciledTranscript, sessionId: string, { state, records }: SessionRows): OpenedMessage[] {
  const rowMarks = state.messages.map((message) => markOf(message, 'STATE'));
  const marks = found.messages.map((message, at) => {
    const origin = found.origins[at];
    return origin?.from === 'STATE' ? (rowMarks[origin.index] ?? '') : markOf(message, 'LITERAL');
  });
  const byRowId = new Map(records.map((record) => [record.rowId, record]));
  const rows = rowsOfMessages({ origins: found.origins, decisions: found.decisions, marks, rowMarks });
  return found.messages.map((message, at) => {
    const indexes = rows[at] ?? [];
    const row = byRowId.get(state.rowIds[indexes[0] ?? -1] ?? '');
    const isOfFile = found.origins[at]?.from === 'LOCAL';
    const own = fileRecord(message, sessionId);
    const record = row === undefined ? own : isOfFile ? heldRecord(own, row) : row;
    const apiContent = isMessage(message) ? (payloadOf(message) ?? record.apiContent) : null;
    return {
      ...record,
      apiContent,
      mark: marks[at] ?? '',
      isOfFile,
      copies: indexes.length,
      hasPayload: false,
      facts: messageFacts(message),
    };
  });
}

/** As the store replays its own rows: places take the part of row ids. */
export function replayed(messages: readonly OpenedMessage[]): { messages: OpenedMessage[]; repairCount: number } {
  const placed = messages.map((message, at) => ({ ...message, rowId: String(at) }));
  const replay = replayOf(placed);
  const shown = replay.messages.flatMap((record): OpenedMessage[] => {
    const message = messages[Number(record.rowId)];
    return message === undefined ? [] : [{ ...message, ...record, rowId: message.rowId }];
  });
  return { messages: shown, repairCount: replay.repairCount };
}

function rowsAlone(records: readonly MessageRecord[], { view }: OpenRequest, warnings: readonly DataWarning[]): OpenedTranscript {
  const { messages, repairCount } = view === 'REPLAY' ? replayOf(records) : { messages: records, repairCount: 0 };
  return ofStore(messages, { revision: revisionOf(records), repairCount, warnings });
}

function ofStore(
  records: readonly MessageRecord[],
  { revision, repairCount, warnings }: Pick<OpenedTranscript, 'revision' | 'repairCount' | 'warnings'>,
): OpenedTranscript {
  const of = { isOfFile: false, copies: 1, hasPayload: false, facts: null };
  const messages = records.map((record) => ({ ...record, mark: recordMark(record), ...of }));
  return {
    kind: 'OPENED',
    revision,
    storeRevision: revision,
    repairCount,
    warnings,
    messages: messages.map(light),
    fileSignature: null,
    source: 'STATE_DB',
    decisions: [],
    rowIds: [],
    size: sizeOf(messages),
  };
}

/** Takes the store's own display where that is to stand: two statements for all of them. */
async function withDisplayed(
  answers: readonly (OpenAnswer | StoreDisplay)[],
  requests: readonly OpenRequest[],
  connect: () => StoreConnection,
): Promise<OpenAnswer[]> {
  const asked = requests.filter((_, index) => answers[index]?.kind === 'STORE_DISPLAY');
  const wanted = asked.map(({ sessionIds }) => ({ view: 'DISPLAY' as const, sessionIds }));
  const largest = asked.some((request) => request.largest === 0) ? 0 : Math.max(0, ...asked.map((request) => request.largest));
  const found = asked.length === 0 ? [] : await patiently(() => readTranscripts(connect(), wanted, largest));
  const displays = found.values();
  return answers.map((answer): OpenAnswer => {
    if (answer.kind !== 'STORE_DISPLAY') return answer;
    const shown = displays.next().value ?? 'TOO_LARGE';
    return shown === 'TOO_LARGE' ? { kind: 'TOO_LARGE' } : ofStore(shown.messages, { ...shown, warnings: answer.warnings });
  });
}

/** Everything that a row holds has a part in what is shown. */
function mergedRevision(signature: string | null, { records }: SessionRows): string {
  const hash = createHash('sha256').update(String(signature));
  for (const record of records) hash.update(`\0${JSON.stringify(record)}`);
  return hash.digest('base64url').slice(0, REVISION_LENGTH);
}

const REVISION_LENGTH = 22;

function recordMark({ role, content, toolCallId, toolCalls }: MessageRecord): string {
  return markOf({ role, content, tool_call_id: toolCallId, tool_calls: toolCalls }, 'STATE');
}

/** Without what nobody is shown, and what is there a second time: it all crosses to the process that answers. */
function light(message: OpenedMessage): OpenedMessage {
  return { ...message, ...NOT_SHOWN, hasPayload: Boolean(message.apiContent) };
}

const NOT_SHOWN = {
  rawContent: null,
  rawToolCalls: null,
  apiContent: null,
  rawReasoningDetails: null,
  rawCodexReasoningItems: null,
  rawCodexMessageItems: null,
} as const;

function sizeOf(messages: readonly Pick<OpenedMessage, 'rawContent' | 'rawToolCalls' | 'reasoning' | 'facts'>[]): number {
  return messages.reduce(
    (sum, { rawContent, rawToolCalls, reasoning, facts }) =>
      sum + PER_MESSAGE + lengthOf(rawContent) + lengthOf(rawToolCalls) + lengthOf(reasoning) + lengthOf(facts && JSON.stringify(facts)),
    0,
  );
}

/** What a message costs beside its text. */
const PER_MESSAGE = 500;

function lengthOf(text: string | null): number {
  return text?.length ?? 0;
}
