/**
 * A whole conversation at once: as a model would be given it, or as a person would read it (`spec/state-db.md` 9).
 */
import { createHash } from 'node:crypto';
import { repairAlternation } from './alternation.ts';
import { STRUCTURED_PREFIX } from './content.ts';
import { assembleConversation, type ConversationMessage } from './conversation.ts';
import { messageColumns } from './display-plan.ts';
import { decodeMessage, type MessageRecord } from './message-row.ts';
import type { StoreReading } from './store-reading.ts';
import { inViewSql } from './visibility.ts';

/** DISPLAY: every segment, what a person reads. REPLAY: the live rows of one segment with their alternation repaired. */
export type TranscriptView = 'DISPLAY' | 'REPLAY';

export interface TranscriptRequest {
  readonly view: TranscriptView;
  /** The segments to read, root first; for REPLAY the one segment. */
  readonly sessionIds: readonly string[];
}

export interface Transcript {
  readonly messages: readonly MessageRecord[];
  /** Changes when any row of the transcript does. */
  readonly revision: string;
  readonly repairCount: number;
}

/**
 * Transcripts in the order of the requests, TOO_LARGE in the place of one with more rows than `largest` (9.6; 0 is no limit), which is
 * not read. Two statements a view, whatever the number of requests.
 */
export function readTranscripts(
  connection: StoreReading,
  requests: readonly TranscriptRequest[],
  largest: number,
): (Transcript | 'TOO_LARGE')[] {
  return connection.snapshot(() => {
    const answers = requests.map((): Transcript | 'TOO_LARGE' => 'TOO_LARGE');
    for (const view of ['DISPLAY', 'REPLAY'] as const) {
      const asked = requests.flatMap((request, index) => (request.view === view ? [index] : []));
      if (asked.length === 0) continue;
      const inView = inViewSql(connection.shape, view === 'REPLAY' ? 'LIVE' : 'DISPLAY', 'm');
      const small = largest === 0 ? asked : notTooLarge(connection, requests, asked, inView, largest);
      const rows = rowsOf(connection, requests, small, inView);
      for (const index of small) answers[index] = transcriptOf(view, rows.get(index) ?? []);
    }
    return answers;
  });
}

/** The revision alone, of the rows as this connection sees them; whatever their number. */
export function transcriptRevision(connection: StoreReading, request: TranscriptRequest): string {
  const inView = inViewSql(connection.shape, request.view === 'REPLAY' ? 'LIVE' : 'DISPLAY', 'm');
  return revisionOf(rowsOf(connection, [request], [0], inView).get(0) ?? []);
}

function transcriptOf(view: TranscriptView, rows: readonly MessageRecord[]): Transcript {
  const revision = revisionOf(rows);
  if (view === 'REPLAY') return { ...replayOf(rows), revision };
  const byId = new Map(rows.map((row) => [row.rowId, row]));
  const assembled = assembleConversation(rows, { replay: false });
  return { messages: assembled.flatMap((message) => toRecord(message, byId)), revision, repairCount: 0 };
}

/** Messages of one segment as a model is given them: by row id, which must be digits, with what a replay leaves out gone (9.1, 9.5). */
export function replayOf(rows: readonly MessageRecord[]): Omit<Transcript, 'revision'> {
  const { messages, repairCount } = repairAlternation(assembleConversation(rows, { replay: true }));
  const byId = new Map(rows.map((row) => [row.rowId, row]));
  return { messages: messages.flatMap((message) => toRecord(message, byId)), repairCount };
}

/** Counts no further than the limit, so that a huge transcript costs no more than a large one. */
function notTooLarge(
  connection: StoreReading,
  requests: readonly TranscriptRequest[],
  indexes: readonly number[],
  inView: string,
  largest: number,
): number[] {
  const rows = connection.all(
    `SELECT r.value ->> 'r' AS request, (SELECT COUNT(*) FROM (
       SELECT 1 FROM messages m WHERE m.session_id IN (SELECT value FROM json_each(r.value, '$.ids')) AND ${inView} LIMIT ?)) AS n
     FROM json_each(?) r`,
    [largest + 1, requestList(requests, indexes)],
  );
  return rows.filter((row) => Number(row.n) <= largest).map((row) => Number(row.request));
}

function rowsOf(
  connection: StoreReading,
  requests: readonly TranscriptRequest[],
  indexes: readonly number[],
  inView: string,
): Map<number, MessageRecord[]> {
  const found = new Map<number, MessageRecord[]>();
  if (indexes.length === 0) return found;
  const rows = connection.all(
    `SELECT r.value ->> 'r' AS request, ${messageColumns(connection, 'm')}
     FROM json_each(?) r CROSS JOIN messages m ON m.session_id IN (SELECT value FROM json_each(r.value, '$.ids')) AND ${inView}
     ORDER BY m.id`,
    [requestList(requests, indexes)],
  );
  for (const row of rows) {
    const index = Number(row.request);
    const known = found.get(index);
    if (known === undefined) found.set(index, [decodeMessage(row)]);
    else known.push(decodeMessage(row));
  }
  return found;
}

function requestList(requests: readonly TranscriptRequest[], indexes: readonly number[]): string {
  return JSON.stringify(indexes.map((index) => ({ r: index, ids: requests[index]?.sessionIds ?? [] })));
}

/** The stored row with what assembly and repair made of it. */
function toRecord(message: ConversationMessage, rows: ReadonlyMap<string, MessageRecord>): MessageRecord[] {
  const row = rows.get(message.rowIds[0] ?? '');
  if (row === undefined) return [];
  const rawContent =
    typeof message.content === 'string' || message.content === null ? message.content : STRUCTURED_PREFIX + JSON.stringify(message.content);
  return [
    {
      ...row,
      content: message.content,
      rawContent,
      toolCalls: message.toolCalls ?? [],
      rawToolCalls: message.toolCalls === null ? null : JSON.stringify(message.toolCalls),
      reasoning: message.reasoning,
      reasoningContent: message.reasoningContent,
      finishReason: message.finishReason,
      displayKind: message.displayKind,
      displayMetadata: message.displayMetadata,
      apiContent: message.apiContent,
    },
  ];
}

/** Changes when any of the rows does. */
export function revisionOf(rows: readonly MessageRecord[]): string {
  const hash = createHash('sha256');
  for (const row of rows) {
    for (const part of [row.rowId, row.role, row.rawContent, row.rawToolCalls, row.toolCallId, row.displayKind, row.state]) {
      hash.update(part === null ? '-;' : `${part.length}:${part};`);
    }
  }
  return hash.digest('base64url').slice(0, 22);
}
